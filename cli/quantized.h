/* SPDX-License-Identifier: MIT
 *
 * What a checkpoint's metadata says about tensors that mxq quantize wrote. Contract, section 6.
 */
#ifndef MXQ_CLI_QUANTIZED_H
#define MXQ_CLI_QUANTIZED_H

#include <cjson/cJSON.h>

#include <mxq/mxq.h>

#include "axes.h"
#include "checkpoint.h"

/* One tensor before it was quantized, and what it became. */
struct quantized {
  char *name;
  const char *path;                  /* of the file that describes it */
  const struct mxq_type_facts *type; /* its own */
  uint64_t dims[3];
  size_t rank; /* 2 or 3 */
  struct mxq_variant variant;
  struct mxq_shape shape;
  unsigned parts; /* 1 or 2 */
  const struct safetensors_tensor *data[2], *scale[2];
};

struct quantized_list {
  struct quantized *list;
  size_t count, capacity;
  size_t entries; /* metadata of mxq quantize, also of a file in which it found nothing to do */
};

/* The metadata's entries, checked against the tensors: types, shapes and names are what mxq
 * quantize writes. Empty for a checkpoint that it did not write. `list` must be freed also on
 * failure. */
enum mxq_status quantized_read(const struct checkpoint *checkpoint, struct quantized_list *list);
void quantized_free(struct quantized_list *list);
/* MXQ_IO_ERROR: the metadata of a file is of a newer version than this program, or of none. */
enum mxq_status quantized_check_version(const char *path, const cJSON *entry);

/* The quantized tensor that a tensor of the file belongs to, NULL if none. */
const struct quantized *quantized_find(const struct quantized_list *list,
                                       const struct safetensors_tensor *tensor);

/* The variant that reads a part back to a wide type. */
struct mxq_variant quantized_inverse(const struct quantized *quantized, unsigned part,
                                     unsigned out);

#endif
