/* SPDX-License-Identifier: MIT
 *
 * An allocator that counts, and that can refuse.
 */
#ifndef MXQ_TESTS_LEDGER_H
#define MXQ_TESTS_LEDGER_H

#include <stddef.h>

struct ledger {
  size_t live;        /* blocks that are not freed */
  size_t bytes;       /* theirs */
  size_t calls;       /* that asked for memory */
  size_t refuse_from; /* number of the first call to refuse; 0: none */
  int once;           /* refuse that one alone, not those after it */
};

/* The function of struct mxq_allocator and struct mxq_config; `user` is a struct ledger. One thread
 * at a time. */
void *ledger_resize(void *user, void *pointer, size_t size);

#endif
