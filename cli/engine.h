/* SPDX-License-Identifier: MIT
 *
 * Runs a variant on host tensors, on a GPU where that works, and says where it ran.
 */
#ifndef MXQ_CLI_ENGINE_H
#define MXQ_CLI_ENGINE_H

#include <mxq/mxq.h>

#include "args.h"

struct engine;

/* Where and how long one tensor took. */
struct outcome {
  char device[16]; /* "cuda:0", "cpu", "none" for an empty tensor */
  char *note;      /* why the CPU had to do it, or NULL; the caller frees it */
  double seconds;  /* of the kernel, without transfers */
};

/* Whether a text is "auto", "cpu" or "cuda:N"; MXQ_INVALID_ARGUMENT otherwise. */
enum mxq_status engine_check_name(const char *device);

/* `device` passed engine_check_name. auto takes cuda:0 where there is a driver, a device and a way
 * to get kernels, else the CPU; it tells so once. MXQ_NO_DRIVER, MXQ_NO_DEVICE: there is no such
 * device. */
enum mxq_status engine_open(const struct arguments *arguments, const char *device,
                            struct engine **engine);
void engine_close(struct engine *engine); /* NULL is allowed */

/* Quantizes or dequantizes a dense host tensor. Inputs may have any alignment. A shape that no
 * kernel takes, or that does not fit into the device's memory, is computed on the CPU, with a note.
 */
enum mxq_status engine_run(struct engine *engine, const struct mxq_variant *variant,
                           const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                           struct outcome *outcome);

#endif
