/* SPDX-License-Identifier: MIT
 *
 * Variants by name and by pattern.
 */
#ifndef MXQ_CLI_NAMES_H
#define MXQ_CLI_NAMES_H

#include <stddef.h>

#include <mxq/variant.h>

#include "kernel_id.h"

/* The legal variants, in the order of axes.def, whose whole name matches any of the shell globs;
 * all of them for no pattern. A pattern that matches nothing is MXQ_UNKNOWN_NAME; a plain name then
 * has the reason that mxq_variant_parse gives. The caller frees the array. */
enum mxq_status names_match(const char *const *patterns, size_t count,
                            struct mxq_variant **variants, size_t *found);

/* The name of a variant that was listed or parsed. */
struct name {
  char text[MXQ_VARIANT_NAME_SIZE];
};
struct name names_of(const struct mxq_variant *variant);

/* The name of a kernel that was chosen or parsed. */
struct kernel_name {
  char text[MXQ_KERNEL_NAME_SIZE];
};
struct kernel_name names_of_kernel(const struct mxq_kernel_id *id);

/* A length or a stride: a whole number that fits in 63 bits, with a sign. 0 if it is none. */
int names_number(const char *text, int64_t *number);

#endif
