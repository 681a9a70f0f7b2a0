/* SPDX-License-Identifier: MIT
 *
 * Reading and writing the safetensors format: eight bytes with the header's length (little endian),
 * a JSON object, the tensors' bytes. The reader trusts nothing: what it accepts is consistent to
 * the last byte, so that others' readers accept it too.
 *   https://github.com/huggingface/safetensors (format), version of the reference reader: 0.5
 */
#ifndef MXQ_CLI_SAFETENSORS_H
#define MXQ_CLI_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/status.h>

#include "text.h"

/* The longest header that the reference reader accepts. */
#define SAFETENSORS_HEADER_MAX 100000000u

struct safetensors_tensor {
  char *name;    /* UTF-8 without zeros */
  char *dtype;   /* as the file spells it; unknown ones are accepted */
  unsigned bits; /* of an element; 0 for an unknown dtype, whose size nothing else tells */
  size_t rank;
  uint64_t *dims;
  const unsigned char *data; /* in the mapped file; no alignment is promised */
  uint64_t bytes;
};

struct safetensors_entry {
  char *key;
  char *value;
};

struct safetensors {
  char *path;
  struct safetensors_tensor *tensors; /* in the header's order */
  size_t count;
  struct safetensors_entry *metadata; /* the strings of __metadata__ */
  size_t metadata_count;
  void *map;
  size_t map_bytes;
  int descriptor;
};

/* Opens and checks a file. MXQ_IO_ERROR names the file, the tensor, what was given and what is
 * allowed. */
enum mxq_status safetensors_open(const char *path, struct safetensors **file);
void safetensors_close(struct safetensors *file); /* NULL is allowed */

/* The same for bytes in memory that outlive the result; `path` is only for messages. */
enum mxq_status safetensors_read(const char *path, const unsigned char *bytes, uint64_t size,
                                 struct safetensors **file);

/* Bits of an element, 0 for an unknown dtype. */
unsigned safetensors_dtype_bits(const char *dtype);
/* Bytes of a tensor. MXQ_INVALID_ARGUMENT: the product overflows 63 bits or ends inside a byte. */
enum mxq_status safetensors_bytes(unsigned bits, const uint64_t *dims, size_t rank,
                                  uint64_t *bytes);

/* A header to be written: begin, metadata and tensors in order, end. Tensors follow each other
 * without gaps; the end pads with spaces to a multiple of eight and puts the length in front. */
struct safetensors_writer {
  struct text body;
  uint64_t offset; /* of the next tensor */
};
void safetensors_writer_begin(struct safetensors_writer *writer,
                              const struct safetensors_entry *metadata, size_t count);
void safetensors_writer_add(struct safetensors_writer *writer, const char *name, const char *dtype,
                            const uint64_t *dims, size_t rank, uint64_t bytes);
/* Leaves the finished header in `header`, which the caller frees. */
enum mxq_status safetensors_writer_end(struct safetensors_writer *writer, struct text *header);

#endif
