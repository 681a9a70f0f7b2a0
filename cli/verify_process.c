/* SPDX-License-Identifier: MIT */
#include "verify_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status.h"

#define PROGRAM "/proc/self/exe"

extern char **environ;

static void close_both(int pair[2]) {
  if (pair[0] >= 0) close(pair[0]);
  if (pair[1] >= 0) close(pair[1]);
}

/* In a process group of its own: Ctrl-C reaches the program that was started, which decides. */
static int spawn(const struct verify_job *job, unsigned threads, int tasks, int results,
                 pid_t *pid) {
  char count[16];
  const char *const arguments[] = {
      "mxq",
      "verify",
      "--device",
      job->device_name,
      "--worker",
      count,
      job->verbose ? "--verbose" : NULL,
      NULL,
  };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  snprintf(count, sizeof count, "%u", threads);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, tasks, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, results, STDOUT_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int wrong =
      posix_spawn(pid, PROGRAM, &files, &attributes, (char *const *)(uintptr_t)arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return wrong;
}

enum mxq_status verify_process_start(const struct verify_job *job, unsigned threads,
                                     struct verify_process *process) {
  int tasks[2] = {-1, -1}, results[2] = {-1, -1};
  int wrong = 0;
  *process = (struct verify_process){0};
  if (pipe2(tasks, O_CLOEXEC) || pipe2(results, O_CLOEXEC)) wrong = errno;
  if (!wrong) wrong = spawn(job, threads, tasks[0], results[1], &process->pid);
  if (wrong) {
    close_both(tasks);
    close_both(results);
    MXQ_FAIL(MXQ_IO_ERROR, "a copy of this program could not be started: %s", strerror(wrong));
  }
  close(tasks[0]);
  close(results[1]);
  process->tasks = tasks[1];
  process->results = results[0];
  return MXQ_OK;
}

void verify_process_send(struct verify_process *process, const struct verify_task *task,
                         size_t index) {
  struct text line = {0};
  verify_task_write(task, index, &line);
  /* Few tasks are on their way at a time: the pipe has room for all of them. */
  if (write(process->tasks, line.data, line.length) == (ssize_t)line.length) process->unanswered++;
  text_free(&line);
}

void verify_process_close_tasks(struct verify_process *process) {
  if (process->tasks >= 0) close(process->tasks);
  process->tasks = -1;
}

int verify_process_receive(struct verify_process *process) {
  char bytes[65536];
  const ssize_t count = read(process->results, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  text_append(&process->received, bytes, (size_t)count);
  return count > 0;
}

cJSON *verify_process_line(struct verify_process *process) {
  struct text *received = &process->received;
  char *end = received->length ? memchr(received->data, '\n', received->length) : NULL;
  if (!end) return NULL;
  const size_t length = (size_t)(end - received->data) + 1;
  cJSON *line = cJSON_ParseWithLength(received->data, length);
  memmove(received->data, received->data + length, received->length - length);
  received->length -= length;
  return line;
}

void verify_process_end(struct verify_process *process, char *how, size_t size) {
  int status = 0;
  verify_process_close_tasks(process);
  close(process->results);
  while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status))
    snprintf(how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(how, size, "exit code %d", WEXITSTATUS(status));
  text_free(&process->received);
  *process = (struct verify_process){0};
}

void verify_process_kill(const struct verify_process *process) { kill(process->pid, SIGKILL); }
