/* SPDX-License-Identifier: MIT
 *
 * Files that the build puts into the library (cmake/embed.cmake): templates/ and gen's *.lua.
 */
#ifndef MXQ_GEN_EMBEDDED_H
#define MXQ_GEN_EMBEDDED_H

#include <stddef.h>

struct mxq_embedded {
  const char *name; /* without its folder */
  const char *text;
  size_t length;
};

/* Each sorted by name; the last has the name NULL. */
extern const struct mxq_embedded mxq_embedded_templates[];
extern const struct mxq_embedded mxq_embedded_engine[];

#endif
