/* SPDX-License-Identifier: MIT */
#include "safetensors_parse.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

#define METADATA "__metadata__"

/* The one child of an object with this key; NULL if there is none. */
static enum mxq_status only_child(const struct safetensors *file, const cJSON *object,
                                  const char *key, const cJSON **child) {
  const cJSON *found = NULL, *item = NULL;
  cJSON_ArrayForEach(item, object) {
    if (strcmp(item->string, key)) continue;
    MXQ_FAIL_IF(found, MXQ_IO_ERROR, "%s: tensor \"%.200s\": %s stands there twice", file->path,
                object->string, key);
    found = item;
  }
  MXQ_FAIL_IF(!found, MXQ_IO_ERROR,
              "%s: tensor \"%.200s\": %s is missing; dtype, shape and data_offsets are needed",
              file->path, object->string, key);
  *child = found;
  return MXQ_OK;
}

/* An array of lengths or offsets. The scan has refused numbers that are not exact. */
static enum mxq_status read_numbers(const struct safetensors *file, const cJSON *tensor,
                                    const char *key, uint64_t **numbers, size_t *count) {
  const cJSON *array = NULL, *item = NULL;
  MXQ_TRY(only_child(file, tensor, key, &array));
  const char *wrong = cJSON_IsArray(array) ? NULL : "not an array of whole numbers";
  cJSON_ArrayForEach(item, array) {
    if (!cJSON_IsNumber(item)) wrong = "not an array of whole numbers";
  }
  const size_t length = wrong ? 0 : (size_t)cJSON_GetArraySize(array);
  if (!strcmp(key, "data_offsets") && length != 2 && !wrong) wrong = "not an array of two offsets";
  MXQ_FAIL_IF(wrong, MXQ_IO_ERROR, "%s: tensor \"%.200s\": %s is %s", file->path, tensor->string,
              key, wrong);
  uint64_t *values = text_allocate(length, sizeof *values);
  size_t i = 0;
  cJSON_ArrayForEach(item, array) values[i++] = (uint64_t)item->valuedouble;
  *numbers = values;
  *count = length;
  return MXQ_OK;
}

static enum mxq_status place_tensor(const struct safetensors *file,
                                    struct safetensors_tensor *tensor, const uint64_t offsets[2],
                                    const unsigned char *data, uint64_t data_bytes) {
  const char *path = file->path, *name = tensor->name;
  MXQ_FAIL_IF(offsets[0] > offsets[1], MXQ_IO_ERROR,
              "%s: tensor \"%.200s\": data_offsets [%" PRIu64 ", %" PRIu64
              "] end before they begin",
              path, name, offsets[0], offsets[1]);
  MXQ_FAIL_IF(offsets[1] > data_bytes, MXQ_IO_ERROR,
              "%s: truncated, or its header lies: tensor \"%.200s\" has data_offsets [%" PRIu64
              ", %" PRIu64 "], but only %" PRIu64 " bytes follow the header",
              path, name, offsets[0], offsets[1], data_bytes);
  tensor->data = data + offsets[0];
  tensor->bytes = offsets[1] - offsets[0];
  if (!tensor->bits) return MXQ_OK;
  struct text shape = {0};
  text_dims(&shape, tensor->dims, tensor->rank);
  uint64_t needed = 0;
  enum mxq_status status = safetensors_bytes(tensor->bits, tensor->dims, tensor->rank, &needed);
  if (status != MXQ_OK) {
    char *why = text_format("%s", mxq_last_error());
    status = mxq_status_set(MXQ_IO_ERROR, "%s: tensor \"%.200s\": %s of shape %.200s: %s", path,
                            name, tensor->dtype, shape.data, why);
    free(why);
  } else if (needed != tensor->bytes) {
    status = mxq_status_set(MXQ_IO_ERROR,
                            "%s: tensor \"%.200s\": %s of shape %.200s needs %" PRIu64
                            " bytes, its data_offsets give %" PRIu64,
                            path, name, tensor->dtype, shape.data, needed, tensor->bytes);
  }
  text_free(&shape);
  return status;
}

static enum mxq_status read_tensor(struct safetensors *file, const cJSON *item,
                                   const unsigned char *data, uint64_t data_bytes) {
  struct safetensors_tensor *tensor = &file->tensors[file->count];
  MXQ_FAIL_IF(!cJSON_IsObject(item), MXQ_IO_ERROR,
              "%s: tensor \"%.200s\" is not an object with dtype, shape and data_offsets",
              file->path, item->string);
  const cJSON *dtype = NULL;
  MXQ_TRY(only_child(file, item, "dtype", &dtype));
  MXQ_FAIL_IF(!cJSON_IsString(dtype), MXQ_IO_ERROR, "%s: tensor \"%.200s\": dtype is not a string",
              file->path, item->string);
  file->count++;
  tensor->name = text_format("%s", item->string);
  tensor->dtype = text_format("%s", dtype->valuestring);
  tensor->bits = safetensors_dtype_bits(tensor->dtype);
  MXQ_TRY(read_numbers(file, item, "shape", &tensor->dims, &tensor->rank));
  uint64_t *offsets = NULL;
  size_t two = 0;
  MXQ_TRY(read_numbers(file, item, "data_offsets", &offsets, &two));
  const enum mxq_status status = place_tensor(file, tensor, offsets, data, data_bytes);
  free(offsets);
  return status;
}

static enum mxq_status read_metadata(struct safetensors *file, const cJSON *object) {
  const cJSON *item = NULL;
  MXQ_FAIL_IF(file->metadata, MXQ_IO_ERROR, "%s: " METADATA " stands there twice", file->path);
  MXQ_FAIL_IF(!cJSON_IsObject(object), MXQ_IO_ERROR, "%s: " METADATA " is not an object",
              file->path);
  file->metadata = text_allocate((size_t)cJSON_GetArraySize(object), sizeof *file->metadata);
  cJSON_ArrayForEach(item, object) {
    MXQ_FAIL_IF(!cJSON_IsString(item), MXQ_IO_ERROR,
                "%s: " METADATA "[\"%.200s\"] is not a string; only strings are allowed",
                file->path, item->string);
    struct safetensors_entry *entry = &file->metadata[file->metadata_count++];
    entry->key = text_format("%s", item->string);
    entry->value = text_format("%s", item->valuestring);
  }
  return MXQ_OK;
}

static int by_place(const void *a, const void *b) {
  const struct safetensors_tensor *x = *(const struct safetensors_tensor *const *)a;
  const struct safetensors_tensor *y = *(const struct safetensors_tensor *const *)b;
  if (x->data != y->data) return x->data < y->data ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct safetensors_tensor *const *)a)->name,
                (*(const struct safetensors_tensor *const *)b)->name);
}

/* Tensors follow each other without gaps and overlaps, from the first byte to the last. */
static enum mxq_status check_tiling(const struct safetensors *file,
                                    const struct safetensors_tensor **order,
                                    const unsigned char *data, uint64_t data_bytes) {
  qsort(order, file->count, sizeof *order, by_place);
  uint64_t at = 0;
  for (size_t i = 0; i < file->count; i++) {
    const uint64_t begin = (uint64_t)(order[i]->data - data);
    MXQ_FAIL_IF(begin < at, MXQ_IO_ERROR,
                "%s: tensors \"%.200s\" and \"%.200s\" overlap at byte %" PRIu64 " of the data",
                file->path, order[i - 1]->name, order[i]->name, begin);
    MXQ_FAIL_IF(begin > at, MXQ_IO_ERROR,
                "%s: bytes %" PRIu64 " to %" PRIu64
                " of the data, before tensor \"%.200s\", belong to "
                "no tensor; gaps are not allowed",
                file->path, at, begin, order[i]->name);
    at = begin + order[i]->bytes;
  }
  MXQ_FAIL_IF(at != data_bytes, MXQ_IO_ERROR,
              "%s: %" PRIu64 " bytes follow the header, its tensors have %" PRIu64, file->path,
              data_bytes, at);
  return MXQ_OK;
}

static enum mxq_status check_names(const struct safetensors *file,
                                   const struct safetensors_tensor **order) {
  qsort(order, file->count, sizeof *order, by_name);
  for (size_t i = 1; i < file->count; i++)
    MXQ_FAIL_IF(!strcmp(order[i - 1]->name, order[i]->name), MXQ_IO_ERROR,
                "%s: two tensors are named \"%.200s\"", file->path, order[i]->name);
  return MXQ_OK;
}

static enum mxq_status read_root(struct safetensors *file, const cJSON *root,
                                 const unsigned char *data, uint64_t data_bytes) {
  const cJSON *item = NULL;
  MXQ_FAIL_IF(!cJSON_IsObject(root), MXQ_IO_ERROR,
              "%s: the header is not a well-formed JSON object", file->path);
  file->tensors = text_allocate((size_t)cJSON_GetArraySize(root), sizeof *file->tensors);
  cJSON_ArrayForEach(item, root) {
    if (!strcmp(item->string, METADATA))
      MXQ_TRY(read_metadata(file, item));
    else
      MXQ_TRY(read_tensor(file, item, data, data_bytes));
  }
  const struct safetensors_tensor **order = text_allocate(file->count, sizeof *order);
  for (size_t i = 0; i < file->count; i++) order[i] = &file->tensors[i];
  enum mxq_status status = check_names(file, order);
  if (status == MXQ_OK) status = check_tiling(file, order, data, data_bytes);
  free(order);
  return status;
}

enum mxq_status safetensors_parse(struct safetensors *file, const char *header, size_t length,
                                  const unsigned char *data, uint64_t data_bytes) {
  cJSON *root = cJSON_ParseWithLengthOpts(header, length + 1, NULL, 1);
  const enum mxq_status status = read_root(file, root, data, data_bytes);
  cJSON_Delete(root);
  return status;
}
