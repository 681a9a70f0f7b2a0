/* SPDX-License-Identifier: MIT
 *
 * A copy of the program that runs tasks: one line on standard input each. For every task two lines
 * go out, JSON objects: when it begins, and its result.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "text.h"
#include "verify_run.h"

/* NVRTC's compiler recurses deeply; a thread's default may be small. */
#define STACK_BYTES ((size_t)16 << 20)

struct worker {
  int device, verbose, results;
  pthread_mutex_t reading, writing;
};

static void send(struct worker *worker, cJSON *object) {
  char *printed = cJSON_PrintUnformatted(object);
  struct text line = {0};
  text_print(&line, "%s\n", printed ? printed : "");
  for (size_t sent = 0; sent < line.length;) {
    const ssize_t count = write(worker->results, line.data + sent, line.length - sent);
    if (count < 0) _exit(EXIT_FAILED); /* nobody listens */
    sent += (size_t)count;
  }
  cJSON_free(printed);
  cJSON_Delete(object);
  text_free(&line);
}

static void send_begin(struct worker *worker, size_t index) {
  cJSON *object = json_object();
  json_add_integer(object, "task", (int64_t)index);
  pthread_mutex_lock(&worker->writing);
  send(worker, object);
  pthread_mutex_unlock(&worker->writing);
}

static void send_result(struct worker *worker, size_t index, const struct verify_task *task,
                        enum mxq_status status) {
  cJSON *object = json_object();
  json_add_integer(object, "task", (int64_t)index);
  json_add_integer(object, "state", task->state);
  json_add_integer(object, "status", (int64_t)status);
  json_add_string(object, "why", task->why);
  if (task->details) json_add(object, "details", task->details);
  pthread_mutex_lock(&worker->writing);
  send(worker, object);
  /* What other threads find from now on says nothing of their kernels. */
  if (task->state == VERIFY_WAITING) _exit(report_code(status));
  pthread_mutex_unlock(&worker->writing);
}

/* 0 at the end of the tasks. */
static int take_task(struct worker *worker, struct verify_task *task, size_t *index) {
  char line[MXQ_KERNEL_NAME_SIZE + 64];
  pthread_mutex_lock(&worker->reading);
  const int got = fgets(line, sizeof line, stdin) != NULL;
  pthread_mutex_unlock(&worker->reading);
  return got && verify_task_read(line, task, index) == MXQ_OK;
}

static void *run_tasks(void *user) {
  struct worker *worker = user;
  struct verify_runner *runner = NULL;
  struct verify_task task;
  size_t index = 0;
  enum mxq_status status = verify_runner_open(worker->device, worker->verbose, &runner);
  while (take_task(worker, &task, &index)) {
    send_begin(worker, index);
    if (runner) {
      status = verify_run(runner, &task);
    } else {
      task.why = text_format("%s", mxq_last_error());
    }
    send_result(worker, index, &task, status);
    free(task.why);
  }
  verify_runner_close(runner);
  return NULL;
}

/* Results go where standard output went; what libraries print goes to standard error. */
static int take_standard_output(void) {
  fflush(stdout);
  const int results = dup(STDOUT_FILENO);
  if (results >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  return results;
}

int verify_worker_run(int device, unsigned threads, int verbose) {
  struct worker worker = {.device = device, .verbose = verbose, .results = take_standard_output()};
  pthread_t *others = text_allocate(threads, sizeof *others);
  pthread_attr_t attributes;
  unsigned started = 0;
  unsetenv("MXQ_RECORD"); /* a check is no use */
  pthread_mutex_init(&worker.reading, NULL);
  pthread_mutex_init(&worker.writing, NULL);
  if (pthread_attr_init(&attributes) == 0) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started < threads &&
           pthread_create(&others[started], &attributes, run_tasks, &worker) == 0)
      started++;
    pthread_attr_destroy(&attributes);
  }
  if (!started) run_tasks(&worker);
  for (unsigned i = 0; i < started; i++) pthread_join(others[i], NULL);
  free(others);
  return EXIT_DONE;
}
