/* SPDX-License-Identifier: MIT
 *
 * A kernel of a few lines that copies tiles of bytes through shared memory, and every way in which
 * it can be told to do that wrongly: FAULT(NAME, what the emulator must say; one of several where
 * the schedule decides what shows first).
 */
#ifndef EMU_TINY_H
#define EMU_TINY_H

#define TINY_FAULTS(FAULT)                                                                       \
  FAULT(NONE, "")                                                                                \
  FAULT(READ_UNWRITTEN, "which nobody wrote")                                                    \
  FAULT(READ_UNORDERED, "with nothing between that orders the two|which nobody wrote")           \
  FAULT(WRITE_AFTER_READ, "reads (tiny.cc:|with nothing between that orders the two")            \
  FAULT(WRITE_AFTER_ONE_READ, "which thread 1 reads (tiny.cc:|which thread 0 wrote (tiny.cc:")   \
  FAULT(WRITE_AFTER_MANY_READS, "which thread 1 reads (tiny.cc:")                                \
  FAULT(WRITE_AFTER_WRITE, "which another thread wrote")                                         \
  FAULT(MISALIGNED, "no multiple of 4")                                                          \
  FAULT(ODD_WIDTH, "there are accesses of 1, 2, 4, 8 and 16")                                    \
  FAULT(PAST_SHARED, "past the block's")                                                         \
  FAULT(NO_FENCE, "did not fence")                                                               \
  FAULT(FENCE_BEFORE_WRITE, "did not fence")                                                     \
  FAULT(FENCE_AFTER_SYNC, "did not fence|fenced too late")                                       \
  FAULT(FENCE_AFTER_SYNC_BY_ONE, "did not fence|fenced too late")                                \
  FAULT(FENCE_BY_ISSUER, "did not fence")                                                        \
  FAULT(NO_SYNC_BEFORE_STORE, "map_store of shared byte")                                        \
  FAULT(STORE_UNWRITTEN, "which nobody wrote")                                                   \
  FAULT(STORE_LANDING, "before the barrier of its load")                                         \
  FAULT(STORE_UNALIGNED, "no multiple of 128")                                                   \
  FAULT(NO_READ_WAIT, "before its bulk store has read it")                                       \
  FAULT(NO_LAST_READ_WAIT, "did not wait for reading")                                           \
  FAULT(READ_WAIT_BY_OTHER, "before its bulk store has read it")                                 \
  FAULT(COMMIT_BY_OTHER, "before its bulk store has read it")                                    \
  FAULT(EXTRA_READ_WAIT, "which issues none")                                                    \
  FAULT(NO_COMMIT, "before its bulk store has read it")                                          \
  FAULT(NO_LAST_COMMIT, "was never committed")                                                   \
  FAULT(COMMIT_AFTER_WAIT, "before its bulk store has read it")                                  \
  FAULT(NO_SYNC_AFTER_WAIT,                                                                      \
        "over shared byte|did not fence|with nothing between that orders the two")               \
  FAULT(NO_LOAD_WAIT, "before the barrier of its load")                                          \
  FAULT(LOAD_WAIT_BY_ONE, "without a wait on its barrier|before the barrier of its load")        \
  FAULT(NOTE_AFTER_ARRIVAL, "which thread 0 wrote|which nobody wrote|which thread 2 reads")      \
  FAULT(LOAD_OVER_READS, "map_load over shared byte|before the barrier of its load")             \
  FAULT(LOAD_OVER_UNFENCED, "did not fence")                                                     \
  FAULT(LOAD_OVER_LOAD, "is on its way")                                                         \
  FAULT(LOAD_OVER_SOURCE, "before its bulk store has read it")                                   \
  FAULT(LOAD_NEVER_AWAITED, "the block ended while this load was on its way")                    \
  FAULT(EXPECT_LESS, "but its loads bring 1024")                                                 \
  FAULT(EXPECT_MORE, "never completes")                                                          \
  FAULT(EXPECT_TOO_MUCH, "more than 1048575")                                                    \
  FAULT(WRONG_PARITY, "before the barrier of its load|nothing between that orders|has read it:") \
  FAULT(ARRIVE_TWICE, "has all its arrivals")                                                    \
  FAULT(NO_INIT, "where none was initialized")                                                   \
  FAULT(INIT_TWICE, "a second time")                                                             \
  FAULT(INIT_NO_ARRIVALS, "with 0 arrivals")                                                     \
  FAULT(INIT_TOO_MANY, "more than the 64 barriers")                                              \
  FAULT(INIT_UNFENCED, "did not fence")                                                          \
  FAULT(INIT_UNORDERED, "barrier_wait on")                                                       \
  FAULT(BARRIER_OVERWRITTEN, "over the barrier")                                                 \
  FAULT(COPY_UNAWAITED, "before its copy (tiny.cc:")                                             \
  FAULT(COPY_NEVER_AWAITED, "the block ended while this copy was on its way")                    \
  FAULT(COPY_AWAITED_BY_OTHER, "before its copy (tiny.cc:|on its way")                           \
  FAULT(COPY_UNORDERED, "with nothing between|before its copy (tiny.cc:|which nobody wrote")     \
  FAULT(COPY_OVER_COPY, "is on its way")                                                         \
  FAULT(COPY_OVER_READS, "which thread")                                                         \
  FAULT(COPY_MISALIGNED, "from an address that is no multiple of it")                            \
  FAULT(COPY_TO_MISALIGNED, "no multiple of 4")                                                  \
  FAULT(COPY_PAST_END, "outside of its|which is only written")                                   \
  FAULT(COPY_ODD_SIZE, "there are copies of 4 and 16")                                           \
  FAULT(BARRIER_READ, "of a barrier")                                                            \
  FAULT(EARLY_RETURN, "block_sync is not reached by all threads")                                \
  FAULT(TWO_SYNCS, "is in the one at")                                                           \
  FAULT(ENDLESS, "does not end")                                                                 \
  FAULT(SHUFFLE_DIVERGED, "the whole warp|with mask 4, while|with mask 8, while")                \
  FAULT(SHUFFLE_MASK, "with mask|is in the one at")                                              \
  FAULT(SHUFFLE_APART, "is in the one at")                                                       \
  FAULT(SHUFFLE_WIDE, "mask 32: a warp has 32")                                                  \
  FAULT(SHUFFLE_ORDERS_NOTHING, "with nothing between that orders the two")                      \
  FAULT(READ_BEFORE_BEGIN, "outside of its")                                                     \
  FAULT(READ_OUTPUT, "which is only written")                                                    \
  FAULT(READ_MISALIGNED, "no multiple of 4")                                                     \
  FAULT(READ_ODD_WIDTH, "global_load of 12 bytes: there are")                                    \
  FAULT(NO_MAP, "is no encoded tensor map")                                                      \
  FAULT(MAP_UNALIGNED, "is not aligned to 64 bytes")                                             \
  FAULT(GLOBAL_PAST_END, "outside of its")                                                       \
  FAULT(GLOBAL_BEFORE_BEGIN, "outside of its")                                                   \
  FAULT(GLOBAL_READ_ONLY, "which is only read")                                                  \
  FAULT(GLOBAL_TWICE, "a second time")                                                           \
  FAULT(GLOBAL_MISALIGNED, "no multiple of 2")                                                   \
  FAULT(GLOBAL_UNWRITTEN, "was never written")

#define TINY_ENUMERATOR(NAME, text) TINY_##NAME,
enum tiny_fault { TINY_FAULTS(TINY_ENUMERATOR) TINY_COUNT };

enum {
  TINY_THREADS = 32,
  TINY_ROWS = 8,
  TINY_ROW = 128, /* bytes */
  TINY_TILE = TINY_ROWS * TINY_ROW,
  TINY_SHARED = 4096
};

#include "args.h"

struct tiny_args {
  struct mxq_tensor_map in, out; /* {128, 8, tiles} bytes */
  unsigned char *sums;           /* for each tile a byte of each thread */
  const unsigned char *input;
  unsigned tiles;
  unsigned fault;
  unsigned char *dump; /* of kernel tiny_dump: shared memory after a load */
  int x, y;            /* coordinates of that load */
};

#endif
