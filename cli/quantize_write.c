/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "quantize_task.h"
#include "report.h"
#include "status.h"
#include "text.h"

#define THREADS_MOST 16

/* Processors that this process may use. */
static unsigned thread_count(void) {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  return count < 1 ? 1 : count > THREADS_MOST ? THREADS_MOST : (unsigned)count;
}

static struct mxq_pointers point(const struct task *task, void *const *buffers) {
  const struct outputs *outputs = &task->outputs;
  struct mxq_pointers pointers = {.in = task->tensor->data};
  if (task->scale) pointers.in_scale = task->scale->data;
  for (size_t i = 0; i < outputs->count; i++) {
    if (i % 2 == 0)
      pointers.out[i / 2] = buffers[i];
    else
      pointers.scale[i / 2] = buffers[i];
  }
  return pointers;
}

static enum mxq_status run_task(struct task *task, struct engine *engine, void *const *buffers) {
  const struct mxq_pointers pointers = point(task, buffers);
  const enum mxq_status status =
      engine_run(engine, &task->variant, &task->shape, &pointers, &task->outcome);
  if (status != MXQ_OK) {
    char *why = text_format("%s", mxq_last_error());
    mxq_status_set(status, "tensor \"%.200s\": %s", task->tensor->name, why);
    free(why);
    return status;
  }
  if (task->scale) return MXQ_OK; /* nothing is known to compare with */
  task->quality = quality_measure(&task->variant, &task->shape, 0, pointers.in, pointers.out[0],
                                  pointers.scale[0], thread_count());
  return MXQ_OK;
}

/* Memory for one tensor's outputs at a time: files are larger than memory. */
static enum mxq_status quantize_one(struct task *task, struct engine *engine,
                                    struct output_file *out) {
  const struct outputs *outputs = &task->outputs;
  void *buffers[OUTPUTS_MOST] = {NULL};
  enum mxq_status status = MXQ_OK;
  for (size_t i = 0; i < outputs->count && status == MXQ_OK; i++) {
    buffers[i] = outputs->list[i].bytes ? malloc((size_t)outputs->list[i].bytes) : NULL;
    if (outputs->list[i].bytes && !buffers[i])
      status = mxq_status_set(MXQ_OUT_OF_MEMORY,
                              "tensor \"%.200s\": no memory for %" PRIu64 " bytes of output",
                              task->tensor->name, outputs->list[i].bytes);
  }
  if (status == MXQ_OK) status = run_task(task, engine, buffers);
  for (size_t i = 0; i < outputs->count && status == MXQ_OK; i++)
    status = output_file_write(out, buffers[i], outputs->list[i].bytes);
  for (size_t i = 0; i < outputs->count; i++) free(buffers[i]);
  return status;
}

static enum mxq_status write_file(struct quantize *quantize, struct target_file *file,
                                  struct engine *engine, struct output_file **out) {
  MXQ_TRY(output_file_create(file->path, file->header.length + file->data_bytes, out));
  MXQ_TRY(output_file_write(*out, file->header.data, file->header.length));
  for (size_t i = file->first; i < file->first + file->count; i++) {
    struct task *task = &quantize->tasks[i];
    report_progress("[%zu/%zu] %.60s", i + 1, quantize->count, task->tensor->name);
    if (task->skip)
      MXQ_TRY(output_file_write(*out, task->tensor->data, task->tensor->bytes));
    else if (!task->dropped)
      MXQ_TRY(quantize_one(task, engine, *out));
  }
  return output_file_finish(*out);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The input's index with the output's tensors and bytes. */
static enum mxq_status write_index(const struct quantize *quantize, struct output_file **out) {
  cJSON *index = cJSON_Duplicate(quantize->in->index, 1), *map = json_object();
  uint64_t total = 0;
  for (size_t f = 0; f < quantize->file_count; f++) {
    const struct target_file *file = &quantize->files[f];
    total += file->data_bytes;
    for (size_t i = file->first; i < file->first + file->count; i++) {
      const struct task *task = &quantize->tasks[i];
      if (task->skip) json_add_string(map, task->tensor->name, base_of(file->path));
      for (size_t j = 0; j < task->outputs.count; j++)
        json_add_string(map, task->outputs.list[j].name, base_of(file->path));
    }
  }
  cJSON_ReplaceItemInObjectCaseSensitive(index, "weight_map", map);
  cJSON *metadata = cJSON_GetObjectItemCaseSensitive(index, "metadata");
  if (cJSON_IsObject(metadata)) {
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "total_size");
    json_add_integer(metadata, "total_size", (int64_t)total);
  }
  char *printed = cJSON_Print(index);
  cJSON_Delete(index);
  MXQ_FAIL_IF(!printed, MXQ_OUT_OF_MEMORY, "no memory for the index");
  enum mxq_status status = output_file_create(quantize->index_path, 0, out);
  if (status == MXQ_OK) status = output_file_write(*out, printed, strlen(printed));
  if (status == MXQ_OK) status = output_file_write(*out, "\n", 1);
  if (status == MXQ_OK) status = output_file_finish(*out);
  cJSON_free(printed);
  return status;
}

static enum mxq_status write_all(struct quantize *quantize, struct engine *engine,
                                 struct output_file **outs) {
  for (size_t i = 0; i < quantize->file_count; i++)
    MXQ_TRY(write_file(quantize, &quantize->files[i], engine, &outs[i]));
  if (quantize->index_path) MXQ_TRY(write_index(quantize, &outs[quantize->file_count]));
  /* Only when all of it is on the disk does anything get its name, the index last. */
  for (size_t i = 0; i <= quantize->file_count; i++)
    if (outs[i]) MXQ_TRY(output_file_publish(outs[i]));
  return MXQ_OK;
}

enum mxq_status quantize_write(struct quantize *quantize, struct engine *engine) {
  struct output_file **outs = text_allocate(quantize->file_count + 1, sizeof(struct output_file *));
  const enum mxq_status status = write_all(quantize, engine, outs);
  report_progress_end();
  for (size_t i = 0; i <= quantize->file_count; i++) output_file_destroy(outs[i]);
  free(outs);
  return status;
}
