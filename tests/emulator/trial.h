/* SPDX-License-Identifier: MIT
 *
 * One run of one kernel at one shape, held to the CPU path bit for bit.
 */
#ifndef EMU_TRIAL_H
#define EMU_TRIAL_H

#include <stdint.h>

#include "fault.h"
#include <mxq/mxq.h>

#include "kernel_id.h"
#include "machine.h"

struct emu_trial {
  struct mxq_kernel_id kernel;
  const struct mxq_arch *arch;
  void (*function)(const void *args);
  unsigned threads; /* the kernel's launch bound */
  struct mxq_shape shape;
  unsigned grid;  /* blocks; 0: one for each tile */
  unsigned ahead; /* of a generic kernel, elements that the tensors begin behind 16 bytes */
  uint64_t seed;
  const struct emu_fault *fault; /* planted into the host's plan; or NULL */
};

enum emu_verdict {
  EMU_CLEAN,
  EMU_HAZARD, /* or a difference */
  EMU_UNFIT   /* the kernel does not take the shape */
};

/* `text` says what was found. */
enum emu_verdict emu_trial_run(const struct emu_trial *trial, char text[EMU_TEXT]);

#endif
