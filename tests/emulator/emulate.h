/* SPDX-License-Identifier: MIT
 *
 * The work of mxq-emulate.
 */
#ifndef EMU_EMULATE_H
#define EMU_EMULATE_H

#include <mxq/mxq.h>

#include "fault.h"
#include "kernel_id.h"

struct emu_request {
  char **names; /* patterns or files */
  int name_count;
  const char *templates; /* a folder, or NULL */
  struct mxq_arch arch;  /* a copy: use_narrow may differ from that of the table */
  int pairs;             /* kernels of all archs in which every pair of properties occurs */
  struct mxq_shape shape;
  int has_shape;
  int64_t ahead;    /* of a shape that is given: elements behind a multiple of 16 bytes */
  int small;        /* one small shape instead of several */
  int64_t grid;     /* -1: as the case says */
  unsigned seconds; /* of processor time, for a launch */
  int64_t seed, seeds;
  int64_t one_in;  /* of the kernels that match, one in so many */
  int64_t part[2]; /* of those, kernel number part[0] of every part[1] */
  int64_t jobs;    /* processes at once, at most */
  const struct emu_fault *fault;
  int quiet;
};

/* Returns the program's exit code. */
int emu_emulate(const struct emu_request *request);

#endif
