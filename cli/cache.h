/* SPDX-License-Identifier: MIT
 *
 * What mxq cache does to the folders of a context.
 */
#ifndef MXQ_CLI_CACHE_H
#define MXQ_CLI_CACHE_H

#include "context.h"

/* Each prints its result, as JSON if asked, and returns an exit code. */
int cache_path(const struct mxq_context *context, int json);
int cache_list(const struct mxq_context *context, int json);
int cache_verify(const struct mxq_context *context, int json);
int cache_clear(const struct mxq_context *context, int json);

#endif
