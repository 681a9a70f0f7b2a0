/* SPDX-License-Identifier: MIT
 *
 * Hands tasks out to copies of the program, a few at a time, so that all end together. A kernel
 * that brings its process down, or does not end, takes nothing with it: what was begun there is run
 * again, each task in a process of its own.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "jobs.h"
#include "names.h"
#include "report.h"
#include "seconds.h"
#include "status.h"
#include "verify_process.h"

enum { PROCESSES = 64, POLL_MILLISECONDS = 200, TASK_SECONDS = 120, SILENT_MOST = 3 };

/* Where a task is. */
struct flight {
  unsigned char out;     /* handed to a process, 1 + its index; 0: to none */
  unsigned char suspect; /* runs alone */
  unsigned char stuck;   /* its process was killed because it did not end */
  double begun;          /* 0: not yet */
};

struct pool {
  struct verify_job *job;
  struct flight *flights;
  struct verify_process processes[PROCESSES];
  size_t process_most, done, next, failed;
  size_t silent; /* processes in a row that ended before they said anything */
  double start, shown;
  enum mxq_status missing;
};

static volatile sig_atomic_t interrupts;

static void note_interrupt(int number) {
  (void)number;
  interrupts = 1;
}

static void show_progress(struct pool *pool) {
  const double time = seconds_now(), taken = time - pool->start;
  const size_t count = pool->job->list.count;
  if (time - pool->shown < 0.2 || !pool->done) return;
  pool->shown = time;
  const unsigned left = (unsigned)(taken / (double)pool->done * (double)(count - pool->done));
  report_progress("[%zu/%zu] %zu failed, %u:%02u left", pool->done, count, pool->failed, left / 60,
                  left % 60);
}

/* ---- Handing out -------------------------------------------------------------------------- */

/* The next task that waits: alone or not; count if there is none. */
static size_t next_task(struct pool *pool, int alone) {
  const struct verify_list *list = &pool->job->list;
  for (size_t i = alone ? 0 : pool->next; i < list->count; i++) {
    const int waits = list->tasks[i].state == VERIFY_WAITING && !pool->flights[i].out;
    if (waits && pool->flights[i].suspect == alone) return i;
    if (!alone && i == pool->next) pool->next++;
  }
  return list->count;
}

static void hand_out(struct pool *pool, size_t process, size_t index) {
  pool->flights[index] =
      (struct flight){.out = (unsigned char)(process + 1), .suspect = pool->flights[index].suspect};
  verify_process_send(&pool->processes[process], &pool->job->list.tasks[index], index);
}

static unsigned threads_of(const struct pool *pool) {
  return (unsigned)((pool->job->jobs + pool->process_most - 1) / pool->process_most);
}

/* Starts what is missing and keeps two tasks for each thread on their way. */
static enum mxq_status feed(struct pool *pool) {
  const size_t count = pool->job->list.count;
  for (size_t i = 0; i < pool->process_most; i++) {
    struct verify_process *process = &pool->processes[i];
    const size_t most = 2 * threads_of(pool);
    size_t index = next_task(pool, 0);
    const size_t suspect = index == count ? next_task(pool, 1) : count;
    if (!process->pid && (index < count || suspect < count))
      MXQ_TRY(verify_process_start(pool->job, index < count ? threads_of(pool) : 1, process));
    if (!process->pid || process->alone) continue;
    if (index == count && suspect < count && !process->unanswered) {
      process->alone = 1;
      hand_out(pool, i, suspect);
      verify_process_close_tasks(process);
    }
    for (; index < count && process->unanswered < most; index = next_task(pool, 0))
      hand_out(pool, i, index);
  }
  return MXQ_OK;
}

/* ---- Results ------------------------------------------------------------------------------ */

static void settle(struct pool *pool, size_t index, enum verify_state state, const char *why) {
  struct verify_task *task = &pool->job->list.tasks[index];
  task->state = (uint8_t)state;
  if (why) task->why = text_format("%s", why);
  pool->flights[index].out = 0;
  pool->done++;
  pool->failed += state == VERIFY_FAILED;
}

static int number_in(const cJSON *line, const char *key, int otherwise) {
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(line, key);
  return cJSON_IsNumber(value) ? value->valueint : otherwise;
}

/* A fault of the process, not yet of a kernel: whoever ran alone is the one. */
static void take_broken(struct pool *pool, size_t index, enum mxq_status status, const char *why) {
  if (report_code(status) == EXIT_MISSING) {
    pool->missing = mxq_status_set(status, "%s", why);
    return;
  }
  if (pool->flights[index].suspect) settle(pool, index, VERIFY_FAILED, why);
}

static void take_line(struct pool *pool, struct verify_process *process, const cJSON *line) {
  const size_t index = (size_t)number_in(line, "task", -1);
  const int state = number_in(line, "state", -1);
  const cJSON *why = cJSON_GetObjectItemCaseSensitive(line, "why");
  if (index >= pool->job->list.count || pool->flights[index].out == 0) return;
  if (state < 0) {
    pool->flights[index].begun = seconds_now();
    return;
  }
  if (state == VERIFY_WAITING) {
    take_broken(pool, index, (enum mxq_status)number_in(line, "status", MXQ_INTERNAL),
                cJSON_IsString(why) ? why->valuestring : "no reason was given");
    return;
  }
  pool->job->list.tasks[index].details =
      cJSON_DetachItemFromObjectCaseSensitive((cJSON *)(uintptr_t)line, "details");
  pool->job->list.tasks[index].status = (enum mxq_status)number_in(line, "status", MXQ_INTERNAL);
  settle(pool, index, (enum verify_state)state, cJSON_IsString(why) ? why->valuestring : NULL);
  process->unanswered--;
}

/* What the process had begun is run again alone; what it had not goes back. */
static void reclaim(struct pool *pool, size_t process, const char *how) {
  char ended[160], stuck[64];
  snprintf(ended, sizeof ended, "the process that ran it ended: %s", how);
  snprintf(stuck, sizeof stuck, "it did not end within %d seconds", TASK_SECONDS);
  for (size_t i = 0; i < pool->job->list.count; i++) {
    struct flight *flight = &pool->flights[i];
    if (flight->out != process + 1) continue;
    flight->out = 0;
    if (flight->begun > 0 && flight->suspect)
      settle(pool, i, VERIFY_FAILED, flight->stuck ? stuck : ended);
    flight->suspect = flight->suspect || flight->begun > 0;
    flight->begun = 0;
    if (i < pool->next) pool->next = i;
  }
}

static void take_results(struct pool *pool, size_t i) {
  struct verify_process *process = &pool->processes[i];
  const int open = verify_process_receive(process);
  char how[128];
  cJSON *line;
  while ((line = verify_process_line(process))) {
    process->spoke = 1;
    take_line(pool, process, line);
    cJSON_Delete(line);
  }
  if (open) return;
  pool->silent = process->spoke ? 0 : pool->silent + 1;
  verify_process_end(process, how, sizeof how);
  reclaim(pool, i, how);
  if (pool->silent == SILENT_MOST && pool->missing == MXQ_OK)
    pool->missing = mxq_status_set(MXQ_INTERNAL, "copies of this program end at once: %s", how);
}

static void end_the_stuck(struct pool *pool) {
  const double time = seconds_now();
  for (size_t i = 0; i < pool->job->list.count; i++) {
    struct flight *flight = &pool->flights[i];
    if (!flight->out || flight->begun <= 0 || time - flight->begun < TASK_SECONDS) continue;
    report_note("%s does not end: its process is stopped",
                names_of_kernel(&pool->job->list.tasks[i].id).text);
    verify_process_kill(&pool->processes[flight->out - 1]);
    flight->begun = time;
    flight->stuck = 1;
  }
}

static void wait_for_results(struct pool *pool) {
  struct pollfd polled[PROCESSES];
  for (size_t i = 0; i < PROCESSES; i++)
    polled[i] = (struct pollfd){.fd = pool->processes[i].pid ? pool->processes[i].results : -1,
                                .events = POLLIN};
  if (poll(polled, PROCESSES, POLL_MILLISECONDS) <= 0) return;
  for (size_t i = 0; i < PROCESSES; i++)
    if (polled[i].revents) take_results(pool, i);
}

static void end_all(struct pool *pool, int kill) {
  char how[128];
  for (size_t i = 0; i < PROCESSES; i++) {
    if (!pool->processes[i].pid) continue;
    if (kill) verify_process_kill(&pool->processes[i]);
    verify_process_end(&pool->processes[i], how, sizeof how);
  }
}

static void size_pool(struct pool *pool) {
  struct verify_job *job = pool->job;
  if (job->jobs > job->list.count) job->jobs = (unsigned)job->list.count;
  if (!job->jobs) job->jobs = 1;
  pool->process_most = (job->jobs + JOBS_OF_PROCESS - 1) / JOBS_OF_PROCESS;
  if (pool->process_most > PROCESSES) pool->process_most = PROCESSES;
  for (size_t i = 0; i < job->list.count; i++)
    pool->done += job->list.tasks[i].state != VERIFY_WAITING;
}

enum mxq_status verify_pool_run(struct verify_job *job, int *interrupted) {
  struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
  struct pool *pool = text_allocate(1, sizeof *pool);
  enum mxq_status status = MXQ_OK;
  pool->job = job;
  pool->flights = text_allocate(job->list.count, sizeof *pool->flights);
  pool->start = seconds_now();
  size_pool(pool);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  while (status == MXQ_OK && pool->done < job->list.count && !interrupts) {
    status = feed(pool);
    if (status == MXQ_OK) wait_for_results(pool);
    end_the_stuck(pool);
    if (status == MXQ_OK) status = pool->missing;
    show_progress(pool);
  }
  report_progress_end();
  end_all(pool, pool->done < job->list.count);
  *interrupted = interrupts != 0;
  free(pool->flights);
  free(pool);
  return status;
}
