/* SPDX-License-Identifier: MIT */
#include "quantize_task.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text.h"

static enum mxq_status add_task(struct quantize *quantize, const struct quantized_list *earlier,
                                const struct safetensors_tensor *tensor) {
  struct task *task = &quantize->tasks[quantize->count++];
  task->tensor = tensor;
  if (quantized_find(earlier, tensor)) {
    task->skip = text_format("quantized before");
    return MXQ_OK;
  }
  task->skip =
      selection_take(&quantize->selection, tensor, &task->variant, &task->shape, &task->refused);
  if (task->skip) return MXQ_OK;
  quantize->selected++;
  return outputs_describe(&task->variant, &task->shape, tensor->name, tensor->rank, &task->outputs);
}

static enum mxq_status add_tasks(struct quantize *quantize, const struct quantized_list *earlier) {
  const struct checkpoint *in = quantize->in;
  size_t total = 0;
  for (size_t i = 0; i < in->count; i++) total += in->shards[i]->count;
  quantize->tasks = text_allocate(total, sizeof *quantize->tasks);
  for (size_t i = 0; i < in->count; i++)
    for (size_t j = 0; j < in->shards[i]->count; j++)
      MXQ_TRY(add_task(quantize, earlier, &in->shards[i]->tensors[j]));
  return MXQ_OK;
}

static enum mxq_status check_globs(const struct quantize *quantize) {
  const struct selection *selection = &quantize->selection;
  for (size_t i = 0; i < selection->glob_count; i++) {
    struct selection one = {.globs = selection->globs + i, .glob_count = 1};
    size_t j = 0;
    while (j < quantize->count && !selection_names(&one, quantize->tasks[j].tensor->name)) j++;
    MXQ_FAIL_IF(j == quantize->count, MXQ_UNKNOWN_NAME,
                "--tensor: no tensor of %s matches \"%s\"; its %zu tensors begin with \"%.200s\"",
                quantize->in->path, selection->globs[i], quantize->count,
                quantize->count ? quantize->tasks[0].tensor->name : "");
  }
  return MXQ_OK;
}

/* A name of the output and the tensor it comes from. */
struct claim {
  const char *name;
  const char *from;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct claim *)a)->name, ((const struct claim *)b)->name);
}

static enum mxq_status check_names(const struct quantize *quantize) {
  size_t count = 0;
  enum mxq_status status = MXQ_OK;
  struct claim *claims = text_allocate(quantize->count * OUTPUTS_MOST, sizeof *claims);
  for (size_t i = 0; i < quantize->count; i++) {
    const struct task *task = &quantize->tasks[i];
    if (task->skip) claims[count++] = (struct claim){task->tensor->name, task->tensor->name};
    for (size_t j = 0; j < task->outputs.count; j++)
      claims[count++] = (struct claim){task->outputs.list[j].name, task->tensor->name};
  }
  qsort(claims, count, sizeof *claims, by_name);
  for (size_t i = 1; i < count && status == MXQ_OK; i++)
    if (!strcmp(claims[i - 1].name, claims[i].name))
      status = mxq_status_set(
          MXQ_IO_ERROR,
          "%s: the output would have two tensors \"%.200s\": from \"%.200s\" and from \"%.200s\". "
          "Leave one out with --tensor",
          quantize->in->path, claims[i].name, claims[i - 1].from, claims[i].from);
  free(claims);
  return status;
}

enum mxq_status quantize_decide(struct checkpoint *in, const struct selection *selection,
                                const char *out, struct quantize *quantize) {
  struct quantized_list earlier;
  *quantize = (struct quantize){.in = in, .selection = *selection};
  /* Metadata that cannot be read is refused with the header. */
  if (quantized_read(in, &earlier) != MXQ_OK) quantized_free(&earlier);
  const enum mxq_status status = add_tasks(quantize, &earlier);
  quantized_free(&earlier);
  MXQ_TRY(status);
  MXQ_TRY(check_globs(quantize));
  MXQ_TRY(check_names(quantize));
  MXQ_TRY(quantize_place(quantize, out));
  for (size_t i = 0; i < quantize->file_count; i++)
    MXQ_TRY(quantize_header(quantize, &quantize->files[i]));
  return MXQ_OK;
}

void quantize_free(struct quantize *quantize) {
  for (size_t i = 0; i < quantize->count; i++) {
    free(quantize->tasks[i].skip);
    free(quantize->tasks[i].outcome.note);
    outputs_free(&quantize->tasks[i].outputs);
  }
  for (size_t i = 0; i < quantize->file_count; i++) {
    free(quantize->files[i].path);
    text_free(&quantize->files[i].header);
  }
  free(quantize->tasks);
  free(quantize->files);
  free(quantize->index_path);
  checkpoint_close(quantize->in);
}

uint64_t quantize_bytes_after(const struct task *task) {
  uint64_t bytes = task->skip ? task->tensor->bytes : 0;
  for (size_t i = 0; i < task->outputs.count; i++) bytes += task->outputs.list[i].bytes;
  return bytes;
}
