/* SPDX-License-Identifier: MIT
 *
 * What mxq dequantize does: the tasks and files of mxq quantize, the other way.
 */
#ifndef MXQ_CLI_DEQUANTIZE_TASK_H
#define MXQ_CLI_DEQUANTIZE_TASK_H

#include "quantize_task.h"

/* Decides which tensors become what in which file, and makes the headers. `in` is taken over also
 * on failure. MXQ_IO_ERROR: mxq quantize did not write the checkpoint. */
enum mxq_status dequantize_decide(struct checkpoint *in, const char *out,
                                  struct quantize *quantize);

/* The table, or JSON, on standard output. */
void dequantize_print(const struct quantize *quantize, double seconds);
void dequantize_print_json(const struct quantize *quantize, double seconds);

#endif
