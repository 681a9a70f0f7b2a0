/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_STATUS_H
#define MXQ_GEN_STATUS_H

#include <mxq/status.h>

/* Stores the thread's error text and returns `status`. */
enum mxq_status mxq_status_set(enum mxq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The thread's error text, to go back to after a failure that another way made up for: a call that
 * succeeds leaves it as it was. */
#define MXQ_ERROR_SIZE 8192
struct mxq_kept_error {
  char text[MXQ_ERROR_SIZE];
};
void mxq_error_keep(struct mxq_kept_error *kept);
void mxq_error_restore(const struct mxq_kept_error *kept);

#define MXQ_FAIL(status, ...) return mxq_status_set(status, __VA_ARGS__)

#define MXQ_FAIL_IF(condition, status, ...)                    \
  do {                                                         \
    if (condition) return mxq_status_set(status, __VA_ARGS__); \
  } while (0)

#define MXQ_TRY(call)                                    \
  do {                                                   \
    const enum mxq_status mxq_try_status = (call);       \
    if (mxq_try_status != MXQ_OK) return mxq_try_status; \
  } while (0)

#endif
