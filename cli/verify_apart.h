/* SPDX-License-Identifier: MIT
 *
 * Tensors in device memory of their own, so that tools see where each begins and ends and what was
 * written: compute-sanitizer knows allocations, not guards.
 */
#ifndef MXQ_CLI_VERIFY_APART_H
#define MXQ_CLI_VERIFY_APART_H

#include "verify_batch.h"

/* Memory for the `bytes` from `offset` on in the runner's expected memory, as far behind an aligned
 * address as they are there. Inputs are uploaded, all else stays unwritten. */
enum mxq_status verify_apart_add(struct verify_runner *runner, uint64_t offset, uint64_t bytes,
                                 int input);
/* Where these bytes are on the device: there, or in the piece of memory for all. */
void *verify_device_at(const struct verify_runner *runner, uint64_t offset);
/* Fetches all of them into actual memory; what is beside them there is as expected. */
enum mxq_status verify_apart_download(struct verify_runner *runner, uint64_t bytes);
void verify_apart_free(struct verify_runner *runner);

#endif
