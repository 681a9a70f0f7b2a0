/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_QUOTE_H
#define MXQ_GEN_QUOTE_H

#include <stddef.h>

/* Text from outside, safe to show in a message: at most 80 of its bytes, those that are not
 * printable ASCII as \xNN, "..." where it was cut, double quotes around. */
struct mxq_quoted {
  char text[336];
};

struct mxq_quoted mxq_quote_bytes(const char *text, size_t length);
struct mxq_quoted mxq_quote(const char *text); /* NULL reads NULL */

#endif
