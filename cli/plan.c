/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
#include "names.h"
#include "plan_as.h"
#include "report.h"
#include "schedule.h"
#include "status.h"
#include "target.h"
#include "tensor_plan.h"
#include "text.h"

enum { STRIDES, ARCH };
static const struct option_row options[] = {
    [STRIDES] = {"strides", 0, "SE,SN", "strides of E and N in elements; dense if not given", 0},
    [ARCH] = {"arch", 0, "A", "the architecture; 90a if not given", 0},
    {0},
};

/* What is known of a request, and what came out of it. */
struct answer {
  struct mxq_variant variant;
  struct mxq_shape shape;
  const struct mxq_arch *arch;
  struct mxq_byte_counts bytes;
  enum mxq_size_class size;
  struct mxq_tensor_plan plan;
  char kernel[MXQ_KERNEL_NAME_SIZE];
  struct text refusals; /* of the families that were tried before */
};

static const struct {
  const char *name, *what;
} forms[] = {
    [MXQ_FORM_TILE] = {"tile", "tiles through the tensor copy engine"},
    [MXQ_FORM_ROW] = {"row", "rows by accesses of 16 bytes"},
    [MXQ_FORM_STRIP] = {"strip", "strips of columns by accesses of 4 and 16 bytes"},
    [MXQ_FORM_ANY] =
        {"any", "16 bytes or elements, stored by sectors: any lengths, strides and addresses"},
    [MXQ_FORM_ANY_ROW] =
        {"any-row",
         "16 bytes, and the ends of rows by elements: any lengths, strides and addresses"},
    [MXQ_FORM_DEQUANT_TILE] = {"dequant-tile", "tiles through the tensor copy engine"},
    [MXQ_FORM_DEQUANT_ROW] = {"dequant-row", "rows by accesses of 16 bytes"},
    [MXQ_FORM_DEQUANT_ANY] =
        {"dequant-any",
         "16 bytes, and the ends of rows by elements: any lengths, strides and addresses"},
};

static const char *const element_names[] = {
    [MXQ_MAP_U8] = "U8", [MXQ_MAP_U16] = "U16", [MXQ_MAP_F32] = "F32"};
static const char *const swizzle_names[] = {[MXQ_MAP_SWIZZLE_NONE] = "none",
                                            [MXQ_MAP_SWIZZLE_32B] = "32B",
                                            [MXQ_MAP_SWIZZLE_64B] = "64B",
                                            [MXQ_MAP_SWIZZLE_128B] = "128B"};

static const char *const size_texts[] = {
    [MXQ_SIZE_TINY] = "what counts is the latency of one tile",
    [MXQ_SIZE_CACHED] = "the L2 cache of the arch's usual device can hold it",
    [MXQ_SIZE_LARGE] = "it goes to memory and back"};

/* The families in order, as mxq_plan_select has them, with what each one says. */
static enum mxq_status make(struct answer *answer) {
  const struct mxq_family_facts *family;
  enum mxq_status status = MXQ_UNSUPPORTED;
  const struct mxq_capacity capacity = mxq_capacity_of(answer->arch);
  MXQ_TRY(mxq_sizes(&answer->variant, &answer->shape, &answer->bytes));
  answer->size = mxq_plan_size(&answer->variant, &answer->bytes, &capacity);
  for (size_t i = 0; status == MXQ_UNSUPPORTED && (family = mxq_family_at(i)); i++) {
    status = mxq_plan_try(&answer->variant, family->family, answer->arch, answer->size,
                          &answer->shape, NULL, &answer->plan);
    if (status == MXQ_OK)
      status = mxq_kernel_id_name(&answer->plan.kernel, answer->kernel, sizeof answer->kernel);
    else if (status == MXQ_UNSUPPORTED)
      text_print(&answer->refusals, "%s%s", answer->refusals.length ? "; " : "", mxq_last_error());
  }
  return status;
}

static void print_map(const char *which, const struct mxq_map_plan *map) {
  uint64_t box[5];
  if (!map->rank) return;
  struct text dims = {0}, strides = {0}, boxes = {0};
  for (uint32_t i = 0; i < map->rank; i++) box[i] = map->box[i];
  text_dims(&dims, map->dims, map->rank);
  text_dims(&strides, map->strides_bytes, map->rank - 1);
  text_dims(&boxes, box, map->rank);
  printf("%-14s %s, rank %" PRIu32 ", dims %s, byte strides %s, box %s, swizzle %s\n", which,
         element_names[map->element], map->rank, dims.data, strides.data, boxes.data,
         swizzle_names[map->swizzle]);
  text_free(&dims);
  text_free(&strides);
  text_free(&boxes);
}

static void print_bytes(const struct mxq_byte_counts *bytes) {
  printf("%-14s input %" PRIu64, "bytes", bytes->in);
  if (bytes->in_scale) printf(", its scales %" PRIu64, bytes->in_scale);
  for (unsigned part = 0; part < 2; part++) {
    if (part && !bytes->out[part]) continue;
    printf(", data %" PRIu64, bytes->out[part]);
    if (bytes->scale[part]) printf(", scales %" PRIu64, bytes->scale[part]);
  }
  puts("");
}

static void print_why(const struct answer *answer) {
  printf("%-14s %s\n", "moves", forms[answer->plan.form].what);
  if (answer->refusals.length)
    printf("%-14s no fast kernel: %s\n", "why", answer->refusals.data);
  else
    printf(
        "%-14s the fast kernel takes this shape and these strides, where addresses are aligned\n"
        "%-14s to 16 bytes; for others the generic one runs, with the same result\n",
        "why", "");
}

static void print_kernel(const struct answer *answer) {
  const struct mxq_tensor_plan *plan = &answer->plan;
  printf("%-14s %s\n", "kernel", answer->kernel);
  print_why(answer);
  if (!plan->grid) {
    printf("%-14s 0 blocks: the tensor is empty, nothing is launched\n", "grid");
    return;
  }
  printf("%-14s %" PRIu32 " blocks of %u threads for %" PRIu64 " tiles of %u x %u: %" PRIu64
         " along N, %" PRIu64 " along K, %" PRIu64 " matrices\n",
         "grid", plan->grid, plan->geometry.threads, plan->tiles, plan->geometry.tile_n,
         plan->geometry.tile_k, plan->tiles_n, plan->tiles_k, plan->e);
  printf("%-14s %u bytes a block (%s allows %u)\n", "shared memory", plan->shared_bytes,
         answer->arch->name, answer->arch->shared_max);
  if (!plan->in.rank) {
    printf("%-14s none\n", "tensor maps");
    return;
  }
  print_map("input map", &plan->in);
  print_map("output map", &plan->out[0]);
  print_map("second map", &plan->out[1]);
}

/* Of a tensor that is not empty, dense strides have to fit. */
static enum mxq_status check_dense(const struct mxq_shape *shape) {
  MXQ_FAIL_IF(shape->e > 0 && shape->n > 0 && shape->k > 0 && shape->stride_e < 0,
              MXQ_INVALID_ARGUMENT,
              "shape (E, N, K) = (%" PRId64 ", %" PRId64 ", %" PRId64
              "): N*K does not fit in 63 bits; an offset in bytes must",
              shape->e, shape->n, shape->k);
  return MXQ_OK;
}

/* An empty tensor's dense strides may be none: they do not matter, and need not fit. */
static struct text stride_text(int64_t stride) {
  struct text text = {0};
  if (stride < 0)
    text_print(&text, "any");
  else
    text_print(&text, "%" PRId64, stride);
  return text;
}

static void print_answer(const struct answer *answer) {
  const struct mxq_shape *shape = &answer->shape;
  struct text stride_e = stride_text(shape->stride_e), stride_n = stride_text(shape->stride_n);
  printf("%-14s %s\n", "variant", names_of(&answer->variant).text);
  printf("%-14s (%" PRId64 ", %" PRId64 ", %" PRId64 "), strides (%s, %s, 1)\n", "shape", shape->e,
         shape->n, shape->k, stride_e.data, stride_n.data);
  text_free(&stride_e);
  text_free(&stride_n);
  printf("%-14s %s\n", "arch", answer->arch->name);
  print_bytes(&answer->bytes);
  printf("%-14s %s: %s\n", "size", mxq_size_class_name(answer->size), size_texts[answer->size]);
  print_kernel(answer);
}

/* null for a kernel without maps */
static void add_map(cJSON *object, const char *key, const struct mxq_map_plan *map) {
  uint64_t box[5];
  if (!map->rank) {
    json_add_string(object, key, NULL);
    return;
  }
  cJSON *fields = json_object();
  for (uint32_t i = 0; i < map->rank; i++) box[i] = map->box[i];
  json_add_string(fields, "element", element_names[map->element]);
  json_add_numbers(fields, "dims", map->dims, map->rank);
  json_add_numbers(fields, "strides_bytes", map->strides_bytes, map->rank - 1);
  json_add_numbers(fields, "box", box, map->rank);
  json_add_string(fields, "swizzle", swizzle_names[map->swizzle]);
  json_add(object, key, fields);
}

static void print_json(const struct answer *answer) {
  const struct mxq_shape *shape = &answer->shape;
  const struct mxq_tensor_plan *plan = &answer->plan;
  const uint64_t lengths[] = {(uint64_t)shape->e, (uint64_t)shape->n, (uint64_t)shape->k};
  const int64_t strides[] = {shape->stride_e, shape->stride_n};
  cJSON *object = json_object();
  json_add_string(object, "variant", names_of(&answer->variant).text);
  json_add_numbers(object, "shape", lengths, 3);
  cJSON *list = json_array();
  for (size_t i = 0; i < 2; i++)
    if (strides[i] < 0)
      json_add_string(list, NULL, NULL);
    else
      json_add_integer(list, NULL, strides[i]);
  json_add(object, "strides", list);
  json_add_string(object, "arch", answer->arch->name);
  json_add_integer(object, "in_bytes", (int64_t)answer->bytes.in);
  json_add_integer(object, "in_scale_bytes", (int64_t)answer->bytes.in_scale);
  json_add_numbers(object, "out_bytes", answer->bytes.out, 2);
  json_add_numbers(object, "scale_bytes", answer->bytes.scale, 2);
  json_add_string(object, "size", mxq_size_class_name(answer->size));
  json_add_string(object, "kernel", answer->kernel);
  json_add_string(object, "form", forms[plan->form].name);
  json_add_string(object, "refused", answer->refusals.data);
  json_add_integer(object, "grid", plan->grid);
  json_add_integer(object, "threads", plan->geometry.threads);
  json_add_integer(object, "shared_bytes", plan->shared_bytes);
  json_add_integer(object, "shared_allowed", answer->arch->shared_max);
  json_add_integer(object, "tile_n", plan->geometry.tile_n);
  json_add_integer(object, "tile_k", plan->geometry.tile_k);
  json_add_integer(object, "tiles", (int64_t)plan->tiles);
  add_map(object, "in_map", &plan->in);
  add_map(object, "out_map", &plan->out[0]);
  add_map(object, "second_out_map", &plan->out[1]);
  json_print(object);
}

static int read_shape(const struct arguments *arguments, struct mxq_shape *shape) {
  static const char *const axes[] = {"E", "N", "K"};
  int64_t lengths[3];
  for (size_t i = 0; i < 3; i++)
    if (!names_number(arguments->operands[i + 1], &lengths[i]))
      return report_usage(arguments->command,
                          "%s: \"%s\" is not a length; a whole number from 0 to 2^63 - 1 is",
                          axes[i], arguments->operands[i + 1]);
  *shape = mxq_shape_dense(lengths[0], lengths[1], lengths[2]);
  const char *strides = args_value(arguments, STRIDES);
  const char *comma = strides ? strchr(strides, ',') : NULL;
  if (!strides) return EXIT_DONE;
  char *first = text_format("%.*s", (int)(comma ? comma - strides : 0), strides);
  const int fine =
      comma && names_number(first, &shape->stride_e) && names_number(comma + 1, &shape->stride_n);
  free(first);
  if (fine) return EXIT_DONE;
  return report_usage(arguments->command,
                      "--strides: \"%s\" is not SE,SN: two whole numbers of elements are", strides);
}

static int run(const struct arguments *arguments) {
  struct answer answer = {0};
  int code = read_shape(arguments, &answer.shape);
  if (code != EXIT_DONE) return code;
  enum mxq_status status = mxq_variant_parse(arguments->operands[0], &answer.variant);
  if (status == MXQ_OK) status = target_arch(args_value(arguments, ARCH), &answer.arch);
  if (status == MXQ_OK && !args_value(arguments, STRIDES)) status = check_dense(&answer.shape);
  if (status == MXQ_OK) status = make(&answer);
  code = report_status(status);
  if (code == EXIT_DONE && arguments->json)
    print_json(&answer);
  else if (code == EXIT_DONE)
    print_answer(&answer);
  text_free(&answer.refusals);
  return code;
}

const struct command command_plan = {
    .name = "plan",
    .operands = "NAME E N K",
    .summary = "which kernel runs for a shape, and why; no GPU needed",
    .details =
        "Prints the kernel, its grid, threads and shared memory, and the tensor maps that it\n"
        "reads and writes through, if it has any. Where no fast kernel takes the shape, the\n"
        "generic one runs, and the rule that refused the fast one is printed.\n",
    .examples =
        "  mxq plan quantize_bf16_e4m3_b32_rceil_colt_lin 8 8192 5120\n"
        "  mxq plan quantize_bf16_e4m3_b32_rceil_row_lin 8 8192 5121 --arch 80\n"
        "  mxq plan quantize_bf16_e4m3_b32_rceil_colt_lin 1 4096 4096 --strides 0,8192 --json\n",
    .options = options,
    .least = 4,
    .most = 4,
    .json = 1,
    .run = run,
};
