/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_STATUS_H
#define MXQ_GEN_STATUS_H

#include <mxq/status.h>

/* Stores the thread's error text and returns `status`. */
enum mxq_status mxq_status_set(enum mxq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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
