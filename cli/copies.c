/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"
#include "text.h"

#define PROGRAM "/proc/self/exe"
extern char **environ;

/* One copy; what it reads and prints are files in memory. */
struct copy {
  pid_t pid; /* 0: it was not started */
  int in, out, said;
};

static int start(const char *const *arguments, const struct text *input, struct copy *copy) {
  posix_spawn_file_actions_t files;
  copy->in = memfd_create("in", MFD_CLOEXEC);
  copy->out = memfd_create("out", MFD_CLOEXEC);
  copy->said = memfd_create("said", MFD_CLOEXEC);
  if (copy->in < 0 || copy->out < 0 || copy->said < 0) return errno;
  if (write(copy->in, input->data, input->length) != (ssize_t)input->length) return ENOSPC;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, copy->in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, copy->out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, copy->said, STDERR_FILENO);
  const int wrong =
      posix_spawn(&copy->pid, PROGRAM, &files, NULL, (char *const *)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  return wrong;
}

static struct text contents(int file) {
  struct text text = {0};
  char bytes[4096];
  ssize_t count;
  if (file < 0 || lseek(file, 0, SEEK_SET) < 0) return text;
  while ((count = read(file, bytes, sizeof bytes)) > 0) text_append(&text, bytes, (size_t)count);
  return text;
}

/* Whether a line stands in a text of lines. */
static int has_line(const struct text *text, const char *line, size_t length) {
  for (const char *at = text->data; at && *at;) {
    const size_t next = strcspn(at, "\n");
    if (next == length && !memcmp(at, line, length)) return 1;
    at += next + (at[next] == '\n');
  }
  return 0;
}

static void say(const struct copy *copy, struct text *said) {
  struct text text = contents(copy->said);
  for (const char *line = text.data; line && *line;) {
    const size_t length = strcspn(line, "\n");
    if (!has_line(said, line, length)) {
      fprintf(stderr, "%.*s\n", (int)length, line);
      text_print(said, "%.*s\n", (int)length, line);
    }
    line += length + (line[length] == '\n');
  }
  text_free(&text);
}

static void add_result(const struct copy *copy, cJSON *results) {
  struct text text = contents(copy->out);
  cJSON *result = text.data ? cJSON_Parse(text.data) : NULL;
  if (result) json_add(results, NULL, result);
  text_free(&text);
}

/* The exit code. */
static int wait_for(const struct copy *copy) {
  int status = 0;
  if (!copy->pid) return EXIT_FAILED;
  while (waitpid(copy->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  report_note("a copy of this program ended: signal %d", WTERMSIG(status));
  return EXIT_FAILED;
}

static void close_files(const struct copy *copy) {
  const int files[] = {copy->in, copy->out, copy->said};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] >= 0) close(files[i]);
}

int copies_run(const char *const *arguments, const struct text *inputs, unsigned count,
               cJSON *results) {
  struct copy *copies = text_allocate(count, sizeof *copies);
  struct text said = {0};
  int code = EXIT_DONE;
  for (unsigned i = 0; i < count; i++) {
    const int wrong = start(arguments, &inputs[i], &copies[i]);
    if (wrong) report_note("a copy of this program could not be started: %s", strerror(wrong));
    if (wrong) copies[i].pid = 0;
  }
  for (unsigned i = 0; i < count; i++) {
    const int one = wait_for(&copies[i]);
    if (one == EXIT_DONE || one != code) say(&copies[i], &said);
    if (code == EXIT_DONE) code = one;
    add_result(&copies[i], results);
    close_files(&copies[i]);
  }
  text_free(&said);
  free(copies);
  return code;
}
