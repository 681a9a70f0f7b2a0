/* SPDX-License-Identifier: MIT
 *
 * A file's header: __metadata__ with the entry "mxq", and its tensors. Contract, section 6.
 */
#include <stdlib.h>
#include <string.h>

#include "quantize_task.h"
#include "report.h"
#include "status.h"
#include "text.h"

#define KEY "mxq"

struct metadata {
  struct safetensors_entry *list;
  size_t count, capacity;
};

static const struct safetensors_entry *find(const struct metadata *metadata, const char *key) {
  for (size_t i = 0; i < metadata->count; i++)
    if (!strcmp(metadata->list[i].key, key)) return &metadata->list[i];
  return NULL;
}

/* Metadata of the file's inputs, KEY left out: strings are not copied. */
static void collect(const struct safetensors *shard, struct metadata *metadata) {
  for (size_t i = 0; i < shard->metadata_count; i++) {
    const struct safetensors_entry *entry = &shard->metadata[i];
    if (!strcmp(entry->key, KEY)) continue;
    const struct safetensors_entry *there = find(metadata, entry->key);
    if (there && strcmp(there->value, entry->value))
      report_note("%s: metadata \"%.200s\" differs between files; the first value is kept",
                  shard->path, entry->key);
    if (there) continue;
    metadata->list =
        text_grow(metadata->list, metadata->count, &metadata->capacity, sizeof *metadata->list);
    metadata->list[metadata->count++] = *entry;
  }
}

/* Tensors that an earlier run quantized stay described, if it used the same variant. */
static enum mxq_status keep_earlier(const struct quantize *quantize,
                                    const struct safetensors *shard, cJSON *tensors) {
  const char *earlier = NULL;
  for (size_t i = 0; i < shard->metadata_count; i++)
    if (!strcmp(shard->metadata[i].key, KEY)) earlier = shard->metadata[i].value;
  if (!earlier) return MXQ_OK;
  cJSON *parsed = cJSON_Parse(earlier);
  const cJSON *variant = cJSON_GetObjectItemCaseSensitive(parsed, "variant");
  cJSON *described = cJSON_GetObjectItemCaseSensitive(parsed, "tensors");
  const int same = cJSON_IsString(variant) && cJSON_IsObject(described) &&
                   !strcmp(variant->valuestring, quantize->selection.name);
  enum mxq_status status = same ? quantized_check_version(shard->path, parsed) : MXQ_OK;
  while (same && status == MXQ_OK && described->child) {
    cJSON *item = cJSON_DetachItemViaPointer(described, described->child);
    json_add(tensors, item->string, item);
  }
  if (!same)
    status = mxq_status_set(MXQ_IO_ERROR,
                            "%s was quantized before, by %.100s; one file holds one variant. Give "
                            "that --variant, or the file that it was made from",
                            shard->path,
                            cJSON_IsString(variant) ? variant->valuestring : "something unknown");
  cJSON_Delete(parsed);
  return status;
}

static void describe(const struct task *task, cJSON *tensors) {
  cJSON *facts = json_object();
  json_add_string(facts, "dtype", task->tensor->dtype);
  json_add_numbers(facts, "shape", task->tensor->dims, task->tensor->rank);
  cJSON_DeleteItemFromObjectCaseSensitive(tensors, task->tensor->name);
  json_add(tensors, task->tensor->name, facts);
}

/* Whether a tensor of the file comes from the shard. */
static int uses(const struct quantize *quantize, const struct target_file *file, size_t shard) {
  return quantize->file_count == 1 || file == &quantize->files[shard];
}

static enum mxq_status describe_all(const struct quantize *quantize, const struct target_file *file,
                                    cJSON *tensors) {
  for (size_t i = 0; i < quantize->in->count; i++)
    if (uses(quantize, file, i)) MXQ_TRY(keep_earlier(quantize, quantize->in->shards[i], tensors));
  for (size_t i = file->first; i < file->first + file->count; i++)
    if (!quantize->tasks[i].skip) describe(&quantize->tasks[i], tensors);
  return MXQ_OK;
}

static enum mxq_status make_entry(const struct quantize *quantize, const struct target_file *file,
                                  char **value) {
  cJSON *entry = json_object(), *tensors = json_object();
  json_add_string(entry, "version", mxq_version());
  json_add_string(entry, "variant", quantize->selection.name);
  json_add(entry, "tensors", tensors);
  const enum mxq_status status = describe_all(quantize, file, tensors);
  if (status == MXQ_OK) {
    char *printed = cJSON_PrintUnformatted(entry);
    *value = text_format("%s", printed ? printed : "{}");
    cJSON_free(printed);
  }
  cJSON_Delete(entry);
  return status;
}

static void add_tensors(const struct quantize *quantize, const struct target_file *file,
                        struct safetensors_writer *writer) {
  for (size_t i = file->first; i < file->first + file->count; i++) {
    const struct task *task = &quantize->tasks[i];
    const struct safetensors_tensor *in = task->tensor;
    if (task->skip)
      safetensors_writer_add(writer, in->name, in->dtype, in->dims, in->rank, in->bytes);
    for (size_t j = 0; j < task->outputs.count; j++) {
      const struct output *out = &task->outputs.list[j];
      safetensors_writer_add(writer, out->name, out->dtype, out->dims, out->rank, out->bytes);
    }
  }
}

enum mxq_status quantize_header(const struct quantize *quantize, struct target_file *file) {
  static char key[] = KEY;
  struct metadata metadata = {0};
  struct safetensors_writer writer;
  char *value = NULL;
  if (!quantize->inverse) MXQ_TRY(make_entry(quantize, file, &value));
  for (size_t i = 0; i < quantize->in->count; i++)
    if (uses(quantize, file, i)) collect(quantize->in->shards[i], &metadata);
  metadata.list =
      text_grow(metadata.list, metadata.count, &metadata.capacity, sizeof *metadata.list);
  if (value) metadata.list[metadata.count++] = (struct safetensors_entry){key, value};
  safetensors_writer_begin(&writer, metadata.list, metadata.count);
  add_tensors(quantize, file, &writer);
  file->data_bytes = writer.offset;
  free(metadata.list);
  free(value);
  return safetensors_writer_end(&writer, &file->header);
}
