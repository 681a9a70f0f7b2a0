/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { exit_mismatch = 4 };

/* What a child says when it is done. */
struct answer {
  struct emu_totals totals;
  int done;
};

struct child {
  pid_t process;
  int pipe;
};

typedef int work_fn(const void *context, size_t job, size_t jobs, struct emu_totals *totals);

static struct child start(size_t job, size_t jobs, work_fn *work, const void *context) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const pid_t process = fork();
  if (process < 0) abort();
  if (process > 0) {
    close(ends[1]);
    return (struct child){process, ends[0]};
  }
  struct answer answer;
  memset(&answer, 0, sizeof answer);
  close(ends[0]);
  answer.done = work(context, job, jobs, &answer.totals);
  fflush(stdout);
  const ssize_t written = write(ends[1], &answer, sizeof answer);
  _exit(written == (ssize_t)sizeof answer ? 0 : 1);
}

/* A kernel that crashed has said so, and ended its process with a mismatch. */
static int finish(const struct child *child, struct emu_totals *totals) {
  struct answer answer;
  int status = 0;
  const ssize_t size = read(child->pipe, &answer, sizeof answer);
  close(child->pipe);
  while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) continue;
  if (size == (ssize_t)sizeof answer) {
    totals->kernels += answer.totals.kernels;
    totals->runs += answer.totals.runs;
    totals->bad += answer.totals.bad;
    totals->unfit += answer.totals.unfit;
    return answer.done;
  }
  totals->bad++;
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_mismatch) return 1;
  fprintf(stderr, "mxq-emulate: a process of it ended with status %d\n", status);
  return 0;
}

int emu_jobs_run(size_t jobs, work_fn *work, const void *context, struct emu_totals *totals) {
  int done = 1;
  if (jobs <= 1) return work(context, 0, 1, totals);
  struct child *children = calloc(jobs, sizeof *children);
  if (!children) abort();
  fflush(stdout);
  for (size_t i = 0; i < jobs; i++) children[i] = start(i, jobs, work, context);
  for (size_t i = 0; i < jobs; i++) done &= finish(&children[i], totals);
  free(children);
  return done;
}
