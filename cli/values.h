/* SPDX-License-Identifier: MIT
 *
 * A checkpoint as the tensors that it stands for: plain ones, and quantized ones read back.
 */
#ifndef MXQ_CLI_VALUES_H
#define MXQ_CLI_VALUES_H

#include "quantized.h"

/* One tensor by the name that it had before it was quantized. */
struct values {
  const char *name;
  const struct safetensors_tensor *tensor; /* plain, or the codes of the first part */
  const struct quantized *quantized;       /* NULL: plain */
  char dtype[64];                          /* as a table shows it */
  const uint64_t *dims;
  size_t rank;
};

struct values_list {
  struct checkpoint *checkpoint;
  struct quantized_list quantized;
  struct values *list; /* in the order of shards and headers */
  size_t count;
};

enum mxq_status values_open(const char *path, struct values_list *list);
void values_close(struct values_list *list); /* zeros are allowed */

/* Whether the elements are numbers that values_read can read. */
int values_are_numbers(const struct values *values);

/* Elements while they are being read. */
struct values_reader {
  const struct values *values;
  const struct mxq_type_facts *type; /* NULL: F64 */
  float *table;                      /* of a 16-bit type */
  float *decoded;                    /* of a quantized tensor, all of it */
};
enum mxq_status values_reader_open(const struct values *values, struct mxq_context *context,
                                   struct values_reader *reader);
void values_reader_close(struct values_reader *reader);

#define VALUES_AT_ONCE 4096
/* At most VALUES_AT_ONCE elements from the element `first` on. */
void values_read(const struct values_reader *reader, uint64_t first, size_t count, double *x);

#endif
