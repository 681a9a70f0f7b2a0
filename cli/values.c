/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "names.h"
#include "status.h"
#include "text.h"

static void add(struct values_list *list, const struct safetensors_tensor *tensor) {
  const struct quantized *quantized = quantized_find(&list->quantized, tensor);
  struct values *added = &list->list[list->count];
  if (quantized && quantized->data[0] != tensor) return; /* scales, and the other part */
  ++list->count;
  *added = (struct values){.name = quantized ? quantized->name : tensor->name,
                           .tensor = tensor,
                           .quantized = quantized,
                           .dims = quantized ? quantized->dims : tensor->dims,
                           .rank = quantized ? quantized->rank : tensor->rank};
  if (quantized)
    snprintf(added->dtype, sizeof added->dtype, "%s", names_of(&quantized->variant).text);
  else
    snprintf(added->dtype, sizeof added->dtype, "%s", tensor->dtype);
}

enum mxq_status values_open(const char *path, struct values_list *list) {
  size_t total = 0;
  *list = (struct values_list){0};
  MXQ_TRY(checkpoint_open(path, &list->checkpoint));
  MXQ_TRY(quantized_read(list->checkpoint, &list->quantized));
  const struct checkpoint *in = list->checkpoint;
  for (size_t i = 0; i < in->count; i++) total += in->shards[i]->count;
  list->list = text_allocate(total, sizeof *list->list);
  for (size_t i = 0; i < in->count; i++)
    for (size_t j = 0; j < in->shards[i]->count; j++) add(list, &in->shards[i]->tensors[j]);
  return MXQ_OK;
}

void values_close(struct values_list *list) {
  free(list->list);
  quantized_free(&list->quantized);
  checkpoint_close(list->checkpoint);
}

static const struct mxq_type_facts *wide_type_of(const char *dtype) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_IN, MXQ_OP_QUANTIZE, i)); i++)
    if (!strcmp(mxq_type_facts(value->number)->dtype, dtype)) return mxq_type_facts(value->number);
  return NULL;
}

int values_are_numbers(const struct values *values) {
  return values->quantized || !strcmp(values->tensor->dtype, "F64") ||
         wide_type_of(values->tensor->dtype);
}

/* Bytes of a file, aligned for float32 scales. */
static enum mxq_status copy_scales(const struct safetensors_tensor *scale, void **copy) {
  *copy = malloc(scale->bytes ? (size_t)scale->bytes : 1);
  MXQ_FAIL_IF(!*copy, MXQ_OUT_OF_MEMORY, "no memory for the scales of a tensor");
  memcpy(*copy, scale->data, (size_t)scale->bytes);
  return MXQ_OK;
}

static enum mxq_status decode(const struct quantized *quantized, struct mxq_context *context,
                              float **decoded) {
  const struct mxq_variant inverse = quantized_inverse(quantized, 0, MXQ_TYPE_F32);
  struct mxq_byte_counts bytes;
  void *scales = NULL;
  MXQ_TRY(mxq_sizes(&inverse, &quantized->shape, &bytes));
  float *made = malloc(bytes.out[0] ? (size_t)bytes.out[0] : 1);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "\"%.200s\": no memory for its %llu bytes of values",
              quantized->name, (unsigned long long)bytes.out[0]);
  enum mxq_status status = copy_scales(quantized->scale[0], &scales);
  const struct mxq_pointers pointers = {
      .in = quantized->data[0]->data, .in_scale = scales, .out = {made, NULL}};
  if (status == MXQ_OK && bytes.in)
    status = mxq_run(context, &inverse, &quantized->shape, &pointers, MXQ_DEVICE_CPU, NULL);
  free(scales);
  if (status == MXQ_OK)
    *decoded = made;
  else
    free(made);
  return status;
}

enum mxq_status values_reader_open(const struct values *values, struct mxq_context *context,
                                   struct values_reader *reader) {
  *reader = (struct values_reader){.values = values};
  if (values->quantized) return decode(values->quantized, context, &reader->decoded);
  reader->type = wide_type_of(values->tensor->dtype);
  if (reader->type && reader->type->bits == 16) reader->table = decode_table(reader->type);
  return MXQ_OK;
}

void values_reader_close(struct values_reader *reader) {
  free(reader->table);
  free(reader->decoded);
}

void values_read(const struct values_reader *reader, uint64_t first, size_t count, double *x) {
  const struct safetensors_tensor *tensor = reader->values->tensor;
  float some[VALUES_AT_ONCE];
  const float *floats = reader->decoded ? reader->decoded + first : some;
  if (!reader->decoded && !reader->type) {
    memcpy(x, tensor->data + first * sizeof *x, count * sizeof *x);
    return;
  }
  if (!reader->decoded)
    decode_wide(reader->type, reader->table, tensor->data + first * (reader->type->bits / 8), count,
                some);
  for (size_t i = 0; i < count; i++) x[i] = (double)floats[i];
}
