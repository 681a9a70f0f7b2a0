/* SPDX-License-Identifier: MIT
 *
 * What test programs on the first device share. Included after <cmocka.h>.
 */
#ifndef MXQ_TESTS_GPU_TESTS_H
#define MXQ_TESTS_GPU_TESTS_H

#include <string.h>

#include <mxq/mxq.h>

enum { gpu_device = 0 };
extern struct mxq_context *gpu_context;
extern mxq_stream gpu_stream; /* does not wait for the default stream */

#define OK(call)                                                                   \
  do {                                                                             \
    const enum mxq_status ok_status = (call);                                      \
    if (ok_status != MXQ_OK)                                                       \
      fail_msg("%s: %s: %s", #call, mxq_status_name(ok_status), mxq_last_error()); \
  } while (0)

/* Fails the test unless a call ended with `wanted` and a message that holds the text. */
#define SAYS(call, wanted, text)                                                   \
  do {                                                                             \
    const enum mxq_status says_status = (call);                                    \
    if (says_status != (wanted) || !strstr(mxq_last_error(), text))                \
      fail_msg("wanted %s with \"%s\", got %s: %s", mxq_status_name(wanted), text, \
               mxq_status_name(says_status), mxq_last_error());                    \
  } while (0)

/* 0 if there are so many devices, otherwise says what is missing and gives 77, as ctest takes it.
 */
int gpu_tests_skip(int devices);

/* Fixtures of a group: the context and the stream. */
int gpu_tests_begin(void **state);
int gpu_tests_end(void **state);

/* Whether a shell glob of the command line matches; without any, all names are taken. */
int gpu_tests_selected(const char *name, int argc, char **argv);

/* Runs a test for each kernel of the operation that plans select on the device: its name is the
 * kernel's, its state the struct mxq_kernel_id. The program's exit code. */
int gpu_tests_of_kernels(const char *group, enum mxq_op op, void (*test)(void **state), int argc,
                         char **argv);

#endif
