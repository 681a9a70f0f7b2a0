/* SPDX-License-Identifier: MIT
 *
 * Words of names, from outside: found in an axis, or explained.
 */
#ifndef MXQ_GEN_TOKEN_H
#define MXQ_GEN_TOKEN_H

#include <stddef.h>

#include "axes.h"
#include "status.h"

struct mxq_token {
  const char *text; /* not zero-terminated */
  size_t length;
};

/* Whether the bytes of a token are those of a word. */
int mxq_token_is(struct mxq_token token, const char *word);

/* The value of an axis that names of `op` spell so; NULL if none. */
const struct mxq_axis_value *mxq_token_find(struct mxq_token token, enum mxq_axis axis,
                                            unsigned op);

/* Fails with MXQ_UNKNOWN_NAME: the part, what was given, what is allowed, and what was probably
 * meant. */
enum mxq_status mxq_token_unknown(const char *name, struct mxq_token token, enum mxq_axis axis,
                                  unsigned op);

/* Writes the tokens that names of `op` allow on an axis, separated by blanks. */
void mxq_token_list(enum mxq_axis axis, unsigned op, char *list, size_t size);

#endif
