/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
#include "kernel_list.h"
#include "kernel_set.h"
#include "names.h"
#include "report.h"
#include "selection_walk.h"
#include "status.h"
#include "text.h"
#include "text_file.h"

#define BLOB_MAX ((size_t)1 << 32)

enum { ARCHS, BLOB };
static const struct option_row options[] = {
    [ARCHS] = {"archs", 0, "A,B", "architectures; the manifest's own if not given", 0},
    [BLOB] = {"blob", 0, "FILE", "a set's N.blob: it must hold all of the kernels", 0},
    {0},
};

/* A blob that was read, at an aligned address. */
struct blob {
  struct text text;
  unsigned char *bytes;
};

static enum mxq_status load(const char *path, struct blob *blob) {
  MXQ_TRY(text_read_file(path, BLOB_MAX, &blob->text));
  blob->bytes = text_allocate(1, blob->text.length);
  memcpy(blob->bytes, blob->text.data, blob->text.length);
  const char *wrong = mxq_set_check(blob->bytes, blob->text.length);
  MXQ_FAIL_IF(wrong, MXQ_INVALID_ARGUMENT, "%s is no set of kernels: %s", path, wrong);
  return MXQ_OK;
}

static int holds(const struct blob *blob, const struct listed_kernel *kernel) {
  const struct mxq_set_header *header = (const void *)blob->bytes;
  const struct mxq_set_row *rows = (const void *)(blob->bytes + header->header_bytes);
  const struct mxq_set_row *row = mxq_set_find(rows, header->row_count, &kernel->id, kernel->arch);
  return row && row->geometry_hash == mxq_set_geometry_hash(&kernel->id);
}

/* Prints the kernels; those that the blob lacks on standard error. Returns how many those are. */
static size_t print_kernels(const struct kernel_list *list, const struct blob *blob, cJSON *rows) {
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  size_t missing = 0;
  for (size_t i = 0; i < list->count; i++) {
    const struct listed_kernel *kernel = &list->kernels[i];
    const int there = !blob->bytes || holds(blob, kernel);
    (void)mxq_kernel_id_name(&kernel->id, name, sizeof name);
    missing += !there;
    if (!there)
      report_note("the set lacks %s for %s; the manifest line to add: %s", name, kernel->arch->name,
                  names_of(&kernel->id.variant).text);
    if (!rows) {
      if (there) printf("%-5s %s\n", kernel->arch->name, name);
      continue;
    }
    cJSON *row = json_object();
    json_add_string(row, "kernel", name);
    json_add_string(row, "variant", names_of(&kernel->id.variant).text);
    json_add_string(row, "arch", kernel->arch->name);
    if (blob->bytes) json_add_bool(row, "in_set", there);
    json_add(rows, NULL, row);
  }
  return missing;
}

/* Asks planning about each variant on each arch. */
static enum mxq_status prove(const struct kernel_list *list) {
  const struct manifest *manifest = &list->manifest;
  for (size_t i = 0; i < list->arch_count * manifest->count; i++) {
    struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
    const struct mxq_variant *variant = &manifest->variants[i % manifest->count];
    const struct mxq_arch *arch = list->archs[i / manifest->count];
    size_t count = 0;
    report_progress("[%zu/%zu] %s", i + 1, list->arch_count * manifest->count,
                    names_of(variant).text);
    MXQ_TRY(mxq_selectable(variant, arch, ids, &count));
    MXQ_TRY(selection_walk(variant, arch, ids, count, NULL));
  }
  return MXQ_OK;
}

static int check(const struct arguments *arguments, struct kernel_list *list, struct blob *blob) {
  const char *path = args_value(arguments, BLOB);
  enum mxq_status status =
      kernel_list_read(arguments->operands[0], args_value(arguments, ARCHS), list);
  if (status == MXQ_OK && path) status = load(path, blob);
  if (status == MXQ_OK) status = prove(list);
  report_progress_end();
  if (status != MXQ_OK) return report_status(status);
  cJSON *rows = arguments->json ? json_array() : NULL;
  const size_t missing = print_kernels(list, blob, rows);
  if (rows) json_print(rows);
  report_note("%zu variants, %zu architectures, %zu kernels%s", list->manifest.count,
              list->arch_count, list->count,
              !path     ? ""
              : missing ? ""
                        : ", all of them in the set");
  if (missing) report_note("%zu of them are not in %s", missing, path);
  return missing ? EXIT_MISMATCH : EXIT_DONE;
}

static int run(const struct arguments *arguments) {
  struct kernel_list list = {0};
  struct blob blob = {{0}, NULL};
  const int code = check(arguments, &list, &blob);
  free(blob.bytes);
  text_free(&blob.text);
  kernel_list_free(&list);
  return code;
}

const struct command command_check = {
    .name = "check",
    .operands = "MANIFEST",
    .summary = "which kernels a manifest stands for, and whether a set holds them",
    .details =
        "Prints the architecture and the name of each kernel that planning can select for the\n"
        "manifest's variants: what mxq emit compiles. Proves that they are all by asking planning\n"
        "about shapes, strides and addresses on both sides of every limit. With --blob, a set "
        "that\n"
        "lacks one of them is a mismatch (exit code 4), and the lines to add to its manifest are\n"
        "printed. Compiles nothing.\n",
    .examples =
        "  mxq check engine.manifest --archs 90a,100a\n"
        "  mxq check recorded.txt --archs 90a --blob generated/engine_kernels.blob\n",
    .options = options,
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
