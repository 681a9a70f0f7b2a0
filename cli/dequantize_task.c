/* SPDX-License-Identifier: MIT */
#include "dequantize_task.h"

#include <string.h>

#include "names.h"
#include "status.h"
#include "text.h"

static enum mxq_status refuse_two_parts(const struct quantized *quantized) {
  return mxq_status_set(
      MXQ_UNSUPPORTED,
      "%s: \"%.200s\" was quantized by %s, whose two parts both hold the whole tensor; mxq "
      "dequantize takes layouts of one part. Quantize the original with one of them, such as %s",
      quantized->path, quantized->name, names_of(&quantized->variant).text,
      outputs_layout_of(mxq_layout_part(quantized->variant.layout, 0))->token);
}

/* The tensor as it was. */
static enum mxq_status restore(const struct quantized *quantized, struct task *task) {
  struct mxq_byte_counts bytes;
  struct output *output = &task->outputs.list[0];
  if (quantized->parts != 1) return refuse_two_parts(quantized);
  task->variant = quantized_inverse(quantized, 0, quantized->type->number);
  task->shape = quantized->shape;
  task->scale = quantized->scale[0];
  MXQ_TRY(mxq_sizes(&task->variant, &task->shape, &bytes));
  *output = (struct output){.name = text_format("%s", quantized->name),
                            .dtype = quantized->type->dtype,
                            .rank = quantized->rank,
                            .bytes = bytes.out[0]};
  memcpy(output->dims, quantized->dims, quantized->rank * sizeof *output->dims);
  task->outputs.count = 1;
  return MXQ_OK;
}

static enum mxq_status add_task(struct quantize *quantize, const struct quantized_list *list,
                                const struct safetensors_tensor *tensor) {
  struct task *task = &quantize->tasks[quantize->count++];
  const struct quantized *quantized = quantized_find(list, tensor);
  task->tensor = tensor;
  if (!quantized) {
    task->skip = text_format("not quantized");
    return MXQ_OK;
  }
  task->dropped = tensor != quantized->data[0];
  if (task->dropped && quantized->parts == 1) return MXQ_OK;
  quantize->selected++;
  return restore(quantized, task);
}

static enum mxq_status add_tasks(struct quantize *quantize, const struct quantized_list *list) {
  const struct checkpoint *in = quantize->in;
  size_t total = 0;
  for (size_t i = 0; i < in->count; i++) total += in->shards[i]->count;
  quantize->tasks = text_allocate(total, sizeof *quantize->tasks);
  for (size_t i = 0; i < in->count; i++)
    for (size_t j = 0; j < in->shards[i]->count; j++)
      MXQ_TRY(add_task(quantize, list, &in->shards[i]->tensors[j]));
  return MXQ_OK;
}

static enum mxq_status decide(struct quantize *quantize, const struct quantized_list *list,
                              const char *out) {
  MXQ_FAIL_IF(list->entries == 0, MXQ_IO_ERROR,
              "%s: no metadata \"mxq\"; only files that mxq quantize wrote can be turned back",
              quantize->in->path);
  MXQ_TRY(add_tasks(quantize, list));
  MXQ_TRY(quantize_place(quantize, out));
  for (size_t i = 0; i < quantize->file_count; i++)
    MXQ_TRY(quantize_header(quantize, &quantize->files[i]));
  return MXQ_OK;
}

enum mxq_status dequantize_decide(struct checkpoint *in, const char *out,
                                  struct quantize *quantize) {
  struct quantized_list list;
  *quantize = (struct quantize){.in = in, .inverse = 1};
  enum mxq_status status = quantized_read(in, &list);
  if (status == MXQ_OK) status = decide(quantize, &list, out);
  quantized_free(&list);
  return status;
}
