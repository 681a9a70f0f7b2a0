/* SPDX-License-Identifier: MIT */
#include "quantized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "outputs.h"
#include "status.h"
#include "tensor_plan.h"
#include "text.h"

#define KEY "mxq"

/* All tensors of a checkpoint, by name. */
struct directory {
  const struct safetensors_tensor **list;
  size_t count;
};

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct safetensors_tensor *const *)a)->name,
                (*(const struct safetensors_tensor *const *)b)->name);
}

static struct directory directory_of(const struct checkpoint *checkpoint) {
  struct directory directory = {NULL, 0};
  size_t total = 0;
  for (size_t i = 0; i < checkpoint->count; i++) total += checkpoint->shards[i]->count;
  directory.list = text_allocate(total, sizeof(struct safetensors_tensor *));
  for (size_t i = 0; i < checkpoint->count; i++)
    for (size_t j = 0; j < checkpoint->shards[i]->count; j++)
      directory.list[directory.count++] = &checkpoint->shards[i]->tensors[j];
  qsort(directory.list, directory.count, sizeof *directory.list, by_name);
  return directory;
}

static const struct safetensors_tensor *look_up(const struct directory *directory, char *name) {
  const struct safetensors_tensor wanted = {.name = name}, *key = &wanted;
  const struct safetensors_tensor **found =
      directory->count
          ? bsearch(&key, directory->list, directory->count, sizeof *directory->list, by_name)
          : NULL;
  return found ? *found : NULL;
}

static enum mxq_status check_output(const struct quantized *quantized, const struct output *wanted,
                                    const struct safetensors_tensor *found) {
  struct text is = {0}, should = {0};
  const int same = found && !strcmp(found->dtype, wanted->dtype) && found->rank == wanted->rank &&
                   !memcmp(found->dims, wanted->dims, wanted->rank * sizeof *wanted->dims);
  if (same) return MXQ_OK;
  text_dims(&should, wanted->dims, wanted->rank);
  if (found) text_dims(&is, found->dims, found->rank);
  const enum mxq_status status = mxq_status_set(
      MXQ_IO_ERROR,
      "%s: its metadata says that \"%.200s\" was quantized, but tensor \"%.200s\" is %s%s%s, not "
      "%s %s; the file was changed since mxq quantize wrote it",
      quantized->path, quantized->name, wanted->name, found ? found->dtype : "missing",
      found ? " " : "", found ? is.data : "", wanted->dtype, should.data);
  text_free(&is);
  text_free(&should);
  return status;
}

/* The tensors that it became. */
static enum mxq_status find_outputs(const struct directory *directory,
                                    struct quantized *quantized) {
  struct outputs outputs;
  enum mxq_status status = outputs_describe(&quantized->variant, &quantized->shape, quantized->name,
                                            quantized->rank, &outputs);
  if (status != MXQ_OK) return status;
  quantized->parts = (unsigned)(outputs.count / 2);
  for (size_t i = 0; i < outputs.count && status == MXQ_OK; i++) {
    const struct safetensors_tensor *found = look_up(directory, outputs.list[i].name);
    status = check_output(quantized, &outputs.list[i], found);
    *(i % 2 ? &quantized->scale[i / 2] : &quantized->data[i / 2]) = found;
  }
  outputs_free(&outputs);
  return status;
}

static const struct mxq_type_facts *wide_type_of(const char *dtype) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_IN, MXQ_OP_QUANTIZE, i)); i++)
    if (!strcmp(mxq_type_facts(value->number)->dtype, dtype)) return mxq_type_facts(value->number);
  return NULL;
}

static enum mxq_status malformed(const struct quantized *quantized, const char *what) {
  return mxq_status_set(MXQ_IO_ERROR,
                        "%s: metadata \"" KEY
                        "\", tensor \"%.200s\": %s; the file was changed "
                        "since mxq quantize wrote it",
                        quantized->path, quantized->name, what);
}

static enum mxq_status read_dims(struct quantized *quantized, const cJSON *shape) {
  const cJSON *item = NULL;
  const int rank = cJSON_GetArraySize(shape);
  if (!cJSON_IsArray(shape) || (rank != 2 && rank != 3))
    return malformed(quantized, "no shape of two or three lengths");
  cJSON_ArrayForEach(item, shape) {
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < 0x1p53))
      return malformed(quantized, "a length is not a whole number from 0 to 2^53");
    quantized->dims[quantized->rank++] = (uint64_t)item->valuedouble;
  }
  const uint64_t *last = quantized->dims + quantized->rank;
  quantized->shape =
      mxq_shape_dense(rank == 3 ? (int64_t)last[-3] : 1, (int64_t)last[-2], (int64_t)last[-1]);
  return MXQ_OK;
}

/* The variant's name with the tensor's type in place of a star. */
static enum mxq_status read_variant(struct quantized *quantized, const char *name) {
  const char *star = strchr(name, '*');
  char *spelled =
      star ? text_format("%.*s%s%s", (int)(star - name), name, quantized->type->token, star + 1)
           : text_format("%s", name);
  const enum mxq_status status = mxq_variant_parse(spelled, &quantized->variant);
  free(spelled);
  if (status != MXQ_OK || quantized->variant.op != MXQ_OP_QUANTIZE ||
      quantized->variant.in != quantized->type->number)
    return malformed(quantized, "the variant is none that quantizes such a tensor");
  if (mxq_shape_check(&quantized->variant, &quantized->shape) != MXQ_OK)
    return malformed(quantized, "the variant does not take its shape");
  return MXQ_OK;
}

static enum mxq_status read_tensor(const struct directory *directory, const char *variant,
                                   const cJSON *item, struct quantized *quantized) {
  const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");
  if (cJSON_IsString(dtype)) quantized->type = wide_type_of(dtype->valuestring);
  if (!quantized->type) return malformed(quantized, "no dtype that mxq quantize takes");
  MXQ_TRY(read_dims(quantized, cJSON_GetObjectItemCaseSensitive(item, "shape")));
  MXQ_TRY(read_variant(quantized, variant));
  return find_outputs(directory, quantized);
}

/* Major and minor number of "1.2.3", "1.2" or "1"; 0 for another text. */
static int read_version(const char *text, int numbers[2]) {
  numbers[1] = 0;
  return strspn(text, "0123456789.") == strlen(text) &&
         sscanf(text, "%6d.%6d", &numbers[0], &numbers[1]) >= 1;
}

enum mxq_status quantized_check_version(const char *path, const cJSON *entry) {
  const cJSON *version = cJSON_GetObjectItemCaseSensitive(entry, "version");
  const char *text = cJSON_IsString(version) ? version->valuestring : "";
  int theirs[2], ours[2] = {0, 0};
  if (!version) return MXQ_OK;
  read_version(mxq_version(), ours);
  MXQ_FAIL_IF(!read_version(text, theirs), MXQ_IO_ERROR,
              "%s: metadata \"" KEY
              "\": version \"%.100s\" is none of mxq's, such as %s; the file "
              "was changed since mxq quantize wrote it",
              path, text, mxq_version());
  MXQ_FAIL_IF(theirs[0] > ours[0] || (theirs[0] == ours[0] && theirs[1] > ours[1]), MXQ_IO_ERROR,
              "%s: mxq %s wrote it, this is %s, which may not know what is in it; use that version "
              "or a newer one",
              path, text, mxq_version());
  return MXQ_OK;
}

static enum mxq_status read_entry(const struct directory *directory, const char *path,
                                  const cJSON *entry, struct quantized_list *list) {
  const cJSON *variant = cJSON_GetObjectItemCaseSensitive(entry, "variant");
  const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(entry, "tensors"), *item = NULL;
  MXQ_FAIL_IF(
      !cJSON_IsString(variant) || !cJSON_IsObject(tensors), MXQ_IO_ERROR,
      "%s: metadata \"" KEY "\" has no variant or no tensors; mxq quantize did not write it", path);
  MXQ_TRY(quantized_check_version(path, entry));
  cJSON_ArrayForEach(item, tensors) {
    list->list = text_grow(list->list, list->count, &list->capacity, sizeof *list->list);
    struct quantized *added = &list->list[list->count++];
    *added = (struct quantized){.name = text_format("%s", item->string), .path = path};
    MXQ_TRY(read_tensor(directory, variant->valuestring, item, added));
  }
  return MXQ_OK;
}

enum mxq_status quantized_read(const struct checkpoint *checkpoint, struct quantized_list *list) {
  struct directory directory = directory_of(checkpoint);
  enum mxq_status status = MXQ_OK;
  *list = (struct quantized_list){NULL, 0, 0, 0};
  for (size_t i = 0; i < checkpoint->count; i++) {
    const struct safetensors *shard = checkpoint->shards[i];
    for (size_t j = 0; j < shard->metadata_count && status == MXQ_OK; j++) {
      if (strcmp(shard->metadata[j].key, KEY)) continue;
      cJSON *entry = cJSON_Parse(shard->metadata[j].value);
      status = read_entry(&directory, shard->path, entry, list);
      cJSON_Delete(entry);
      list->entries++;
    }
  }
  free(directory.list);
  return status;
}

void quantized_free(struct quantized_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->list[i].name);
  free(list->list);
  *list = (struct quantized_list){NULL, 0, 0, 0};
}

const struct quantized *quantized_find(const struct quantized_list *list,
                                       const struct safetensors_tensor *tensor) {
  for (size_t i = 0; i < list->count; i++)
    for (unsigned part = 0; part < list->list[i].parts; part++)
      if (list->list[i].data[part] == tensor || list->list[i].scale[part] == tensor)
        return &list->list[i];
  return NULL;
}

struct mxq_variant quantized_inverse(const struct quantized *quantized, unsigned part,
                                     unsigned out) {
  const struct mxq_variant *from = &quantized->variant;
  return (struct mxq_variant){
      .op = MXQ_OP_DEQUANTIZE,
      .in = from->out,
      .out = (uint8_t)out,
      .mode = mxq_mode_scale_bits(from->mode) == 8 ? MXQ_MODE_E8M0 : MXQ_MODE_FLOAT,
      .layout = (uint8_t)outputs_layout_of(mxq_layout_part(from->layout, part))->number,
      .scales = from->scales,
      .block = from->block};
}
