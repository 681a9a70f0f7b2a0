/* SPDX-License-Identifier: MIT
 *
 * One mutex and condition for the tables of all contexts: held for pointer updates only, never
 * while something is opened, read, compiled or loaded. A fork takes it, so that a child finds it
 * free and the tables whole.
 */
#ifndef MXQ_GUARD_H
#define MXQ_GUARD_H

void mxq_guard_lock(void);
void mxq_guard_unlock(void);

/* A piece of work that one thread does at a time: zero is free. Work that another thread of the
 * parent had begun when the process was forked is free again in the child. */
struct mxq_claim {
  int busy;
  unsigned generation; /* forks that the process descends from, when it was claimed */
};

/* Both with the guard held. Claiming waits, without the guard, until the claim is free. */
void mxq_guard_claim(struct mxq_claim *claim);
void mxq_guard_release(struct mxq_claim *claim);

#endif
