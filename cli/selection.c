/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "status.h"
#include "tensor_plan.h"
#include "text.h"

static enum mxq_status add(struct selection *selection, const char *name) {
  struct mxq_variant variant;
  MXQ_TRY(mxq_variant_parse(name, &variant));
  MXQ_FAIL_IF(variant.op != MXQ_OP_QUANTIZE, MXQ_INVALID_ARGUMENT,
              "%s does not quantize; name a quantize_ variant", name);
  selection->choices[selection->count].variant = variant;
  selection->choices[selection->count++].dtype = mxq_type_facts(variant.in)->dtype;
  return MXQ_OK;
}

/* The pattern once for each wide type, in place of its star. */
static enum mxq_status add_all(struct selection *selection, const char *name, const char *star) {
  const struct mxq_axis_value *value;
  MXQ_FAIL_IF(!strstr(name, "_*_") || strpbrk(star + 1, "*?["), MXQ_INVALID_ARGUMENT,
              "\"%s\": one * is allowed, in place of the input type: quantize_*_...", name);
  for (size_t i = 0; (value = mxq_axis_at(MXQ_AXIS_IN, MXQ_OP_QUANTIZE, i)); i++) {
    char *spelled = text_format("%.*s%s%s", (int)(star - name), name, value->token, star + 1);
    const enum mxq_status status =
        selection->count < SELECTION_CHOICES ? add(selection, spelled) : MXQ_OK;
    free(spelled);
    if (status != MXQ_OK) return status;
  }
  return MXQ_OK;
}

enum mxq_status selection_read(const char *name, const char *const *globs, size_t glob_count,
                               struct selection *selection) {
  struct selection read = {.name = name, .globs = globs, .glob_count = glob_count};
  const char *star = strchr(name, '*');
  MXQ_TRY(star ? add_all(&read, name, star) : add(&read, name));
  *selection = read;
  return MXQ_OK;
}

int selection_names(const struct selection *selection, const char *tensor) {
  for (size_t i = 0; i < selection->glob_count; i++)
    if (!fnmatch(selection->globs[i], tensor, 0)) return 1;
  return selection->glob_count == 0;
}

static char *wrong_type(const struct selection *selection,
                        const struct safetensors_tensor *tensor) {
  struct text reason = {0};
  text_print(&reason, "type %s, not ", tensor->dtype);
  for (size_t i = 0; i < selection->count; i++)
    text_print(&reason, "%s%s", i ? " or " : "", selection->choices[i].dtype);
  return reason.data;
}

char *selection_take(const struct selection *selection, const struct safetensors_tensor *tensor,
                     struct mxq_variant *variant, struct mxq_shape *shape,
                     enum selection_refusal *refused) {
  const uint64_t *dims = tensor->dims;
  const size_t rank = tensor->rank;
  size_t choice = 0;
  *refused = SELECTION_OTHER;
  if (!selection_names(selection, tensor->name)) return text_format("not asked for by --tensor");
  while (choice < selection->count && strcmp(selection->choices[choice].dtype, tensor->dtype))
    choice++;
  *refused = SELECTION_TYPE;
  if (choice == selection->count) return wrong_type(selection, tensor);
  *refused = SELECTION_RANK;
  if (rank != 2 && rank != 3)
    return text_format("%zu %s, not 2 or 3", rank, rank == 1 ? "axis" : "axes");
  const struct mxq_variant *chosen = &selection->choices[choice].variant;
  const struct mxq_shape taken = mxq_shape_dense(rank == 3 ? (int64_t)dims[0] : 1,
                                                 (int64_t)dims[rank - 2], (int64_t)dims[rank - 1]);
  *refused = SELECTION_SHAPE;
  if (mxq_shape_check(chosen, &taken) != MXQ_OK) return text_format("%s", mxq_last_error());
  *variant = *chosen;
  *shape = taken;
  return NULL;
}
