/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned generation;

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) { pthread_mutex_unlock(&mutex); }
static void after_fork_in_child(void) {
  /* The waiters of the parent do not exist here. */
  static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
  released = fresh;
  ++generation;
  pthread_mutex_unlock(&mutex);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

void mxq_guard_lock(void) {
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&mutex);
}

void mxq_guard_unlock(void) { pthread_mutex_unlock(&mutex); }

void mxq_guard_claim(struct mxq_claim *claim) {
  while (claim->busy && claim->generation == generation) pthread_cond_wait(&released, &mutex);
  claim->busy = 1;
  claim->generation = generation;
}

void mxq_guard_release(struct mxq_claim *claim) {
  claim->busy = 0;
  pthread_cond_broadcast(&released);
}
