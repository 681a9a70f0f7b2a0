/* SPDX-License-Identifier: MIT
 *
 * Folders of templates that a test writes itself.
 */
#ifndef MXQ_TESTS_TEMPLATE_FOLDER_H
#define MXQ_TESTS_TEMPLATE_FOLDER_H

#include <stddef.h>

#include "expand.h"

struct template_folder {
  char path[64];
};

/* A new empty folder. These end the test program where the system fails. */
struct template_folder template_folder_make(void);
void template_folder_write(const struct template_folder *folder, const char *name, const char *text,
                           size_t length);
void template_folder_remove(const struct template_folder *folder);

/* The kernel that the tests expand unless they say otherwise, and its template's name. */
#define TEMPLATE_KERNEL "quantize_bf16_e4m3_b32_rceil_colt_lin"
#define TEMPLATE_MAIN   "tile.tma.cu"

/* Writes `text` as the template of the family, expands TEMPLATE_KERNEL for 90a. On MXQ_OK
 * `*source` is what follows the header, to be freed by template_free. */
enum mxq_status template_expand(const struct template_folder *folder, const char *text,
                                char **source);
void template_free(char *source);

/* Past the comment that every expansion begins with. */
const char *template_body(const char *source);

#endif
