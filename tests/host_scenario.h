/* SPDX-License-Identifier: MIT
 *
 * Every public call that can fail, once, on tensors of device 0.
 */
#ifndef MXQ_TESTS_HOST_SCENARIO_H
#define MXQ_TESTS_HOST_SCENARIO_H

#include "device_tensors.h"

struct scenario {
  struct mxq_variant variant;
  struct mxq_shape shape;
  struct device_run run; /* tensors of device 0 */
  mxq_stream stream;
  void *moved;        /* scales in tiles, on device 0 */
  const char *failed; /* the call that did, or NULL */
};

/* The variant and shape, and the tensors if `with_tensors`. */
enum mxq_status scenario_make(struct scenario *scenario, int with_tensors);
void scenario_free(struct scenario *scenario);

/* Creates a context, uses everything, destroys it. The status of the first call that fails, whose
 * result must be untouched (else MXQ_INTERNAL). */
enum mxq_status scenario_run(struct scenario *scenario, const struct mxq_config *config);
/* Whether the outputs are what they must be; poisons them again. */
int scenario_is_right(struct scenario *scenario);
/* Whether the scales were moved, after scenario_run; poisons them again. */
int scenario_moved_right(struct scenario *scenario);

#endif
