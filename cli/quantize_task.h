/* SPDX-License-Identifier: MIT
 *
 * What mxq quantize and mxq dequantize do, decided in full before anything is written.
 */
#ifndef MXQ_CLI_QUANTIZE_TASK_H
#define MXQ_CLI_QUANTIZE_TASK_H

#include <mxq/mxq.h>

#include "checkpoint.h"
#include "engine.h"
#include "outputs.h"
#include "quality.h"
#include "quantized.h"
#include "selection.h"

/* One tensor of the input. */
struct task {
  const struct safetensors_tensor *tensor;
  char *skip; /* why it is copied as it is; NULL: it is computed with */
  enum selection_refusal refused;
  const struct safetensors_tensor *scale; /* dequantize: the scales of the tensor */
  int dropped; /* dequantize: scales, which go into the values of another tensor */
  struct mxq_variant variant;
  struct mxq_shape shape;
  struct outputs outputs;
  struct outcome outcome;
  struct quality quality; /* of the first part */
};

/* One file of the output. */
struct target_file {
  char *path;
  size_t first, count; /* of the tasks */
  struct text header;
  uint64_t data_bytes;
};

struct quantize {
  struct checkpoint *in;
  int inverse; /* dequantize: there is no selection, and nothing that describes the outputs */
  struct selection selection;
  struct task *tasks; /* in the order of shards and headers */
  size_t count, selected;
  struct target_file *files;
  size_t file_count;
  char *index_path; /* NULL: no index is written */
};

/* Decides which tensors become what in which file, and makes the headers. `in` is taken over also
 * on failure. Output names that exist already, and output files that are inputs, are errors. */
enum mxq_status quantize_decide(struct checkpoint *in, const struct selection *selection,
                                const char *out, struct quantize *quantize);
void quantize_free(struct quantize *quantize);

/* Bytes of the tensor in the output. */
uint64_t quantize_bytes_after(const struct task *task);

/* The files of an output and their paths (quantize_files.c). */
enum mxq_status quantize_place(struct quantize *quantize, const char *out);
/* The header of one file (quantize_header.c). */
enum mxq_status quantize_header(const struct quantize *quantize, struct target_file *file);
/* Runs everything and writes the files (quantize_write.c). */
enum mxq_status quantize_write(struct quantize *quantize, struct engine *engine);
/* The table, or JSON, on standard output (quantize_report.c). */
void quantize_print(const struct quantize *quantize, double seconds);
void quantize_print_json(const struct quantize *quantize, double seconds);

#endif
