/* SPDX-License-Identifier: MIT
 *
 * Launches of one kernel that are made at once.
 */
#ifndef MXQ_CLI_VERIFY_BATCH_H
#define MXQ_CLI_VERIFY_BATCH_H

#include "args.h"
#include "check_region.h"
#include "verify_run.h"

/* A tensor in memory of its own (verify_apart.h): where it is in the pieces below, and its bytes.
 */
struct verify_piece {
  uint64_t offset, bytes, shift;
  void *base;
};

struct verify_runner {
  int device;
  struct arguments arguments;      /* what a context is made with */
  struct mxq_context *contexts[2]; /* without and with conversions that are not turned on */
  struct mxq_arch narrow;          /* the device's, with those */
  size_t tasks;
  mxq_stream stream; /* does not wait for the default stream */
  uint64_t bytes;    /* of each of these */
  unsigned char *expected, *actual;
  void *there;
  struct verify_piece *pieces;
  size_t piece_count, piece_room;
};

/* One launch: its tensors, and what they are filled with. */
struct verify_slot {
  const char *what; /* the case */
  struct check_region region;
  uint64_t offset; /* of the region in the piece of memory that all slots share */
  uint64_t seed;
  int idle; /* its addresses only make the plan that the next slot is launched with */
  void (*fill)(const struct check_region *region, uint64_t seed, unsigned char *base);
};

enum { VERIFY_SLOTS = 32 };

/* The launches of one kernel that are made at once. */
struct verify_batch {
  struct verify_slot slots[VERIFY_SLOTS];
  size_t count;
  uint64_t bytes;
};

/* Adds a slot behind the others; `fill` NULL: hard values. */
enum mxq_status verify_batch_add(struct verify_batch *batch, const struct verify_slot *slot);

/* Fills, uploads, launches, computes the same on the CPU, downloads and compares. Differences go to
 * task->details. */
enum mxq_status verify_batch_run(struct verify_runner *runner, const struct verify_batch *batch,
                                 struct verify_task *task);

/* Memory for `bytes` in expected, actual and there; it may already be there. */
enum mxq_status verify_runner_reserve(struct verify_runner *runner, uint64_t bytes);
/* The context of the runner, made when it is first asked for. */
enum mxq_status verify_runner_context(struct verify_runner *runner, int narrow,
                                      struct mxq_context **context);
/* One case of a task that differs. */
struct verify_detail {
  const char *what;
  const struct mxq_shape *shape;
  uint64_t seed;
};
void verify_detail_add(const struct verify_detail *detail,
                       const struct check_differences *differences, struct verify_task *task);
/* Frees the memory that batches run in. */
void verify_runner_release(struct verify_runner *runner);

#endif
