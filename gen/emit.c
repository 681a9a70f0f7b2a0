/* SPDX-License-Identifier: MIT */
#include "emit.h"

#include <mxq/mxq.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_set.h"
#include "quote.h"
#include "status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAME_MOST 80
#define LETTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

const char *const mxq_emit_suffixes[MXQ_EMIT_FILES] = {".blob", "_registry.c", ".h"};

/* A text that grows; `bytes` NULL after memory ran out. */
struct writer {
  const struct mxq_allocator *allocator;
  char *bytes;
  size_t length, capacity;
  int failed;
};

static void print(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void print(struct writer *writer, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int needed = vsnprintf(NULL, 0, format, list);
  va_end(list);
  const size_t wanted = writer->length + (size_t)needed + 1;
  if (!writer->failed && wanted > writer->capacity) {
    const size_t capacity = wanted * 2;
    char *grown = mxq_resize(writer->allocator, writer->bytes, capacity);
    writer->failed = !grown;
    if (grown) writer->bytes = grown, writer->capacity = capacity;
  }
  if (writer->failed) return;
  va_start(list, format);
  vsnprintf(writer->bytes + writer->length, (size_t)needed + 1, format, list);
  va_end(list);
  writer->length += (size_t)needed;
}

static enum mxq_status finish(struct writer *writer, struct mxq_emit_file *file) {
  if (writer->failed) mxq_free(writer->allocator, writer->bytes);
  MXQ_FAIL_IF(writer->failed, MXQ_OUT_OF_MEMORY, "no memory for a set's source");
  *file = (struct mxq_emit_file){writer->bytes, writer->length};
  return MXQ_OK;
}

/* ---- The blob ----------------------------------------------------------------------------- */

static uint64_t align(uint64_t offset) {
  return (offset + MXQ_SET_ALIGNMENT - 1) / MXQ_SET_ALIGNMENT * MXQ_SET_ALIGNMENT;
}

static struct mxq_set_row row_of(const struct mxq_emit_kernel *kernel) {
  struct mxq_set_row row = {.kernel = kernel->id};
  memcpy(row.arch, kernel->arch->name, strlen(kernel->arch->name));
  row.size = kernel->cubin_size;
  row.registers = kernel->registers;
  row.spill_store_bytes = kernel->spill_store_bytes;
  row.spill_load_bytes = kernel->spill_load_bytes;
  row.stack_bytes = kernel->stack_bytes;
  return row;
}

static int compare(const void *a, const void *b) {
  const struct mxq_set_row left = row_of(a), right = row_of(b);
  return mxq_set_compare(&left, &right);
}

static enum mxq_status sort(struct mxq_emit_kernel *kernels, size_t count) {
  char name[MXQ_KERNEL_NAME_SIZE];
  MXQ_FAIL_IF(!count, MXQ_INVALID_ARGUMENT, "a set of no kernels");
  for (size_t i = 0; i < count; ++i) MXQ_TRY(mxq_kernel_id_name(&kernels[i].id, name, sizeof name));
  qsort(kernels, count, sizeof *kernels, compare);
  for (size_t i = 1; i < count; ++i) {
    if (compare(&kernels[i - 1], &kernels[i]) != 0) continue;
    MXQ_TRY(mxq_kernel_id_name(&kernels[i].id, name, sizeof name));
    MXQ_FAIL(MXQ_INVALID_ARGUMENT, "%s for %s is in the set twice", name, kernels[i].arch->name);
  }
  return MXQ_OK;
}

static uint64_t blob_bytes(const struct mxq_emit_kernel *kernels, size_t count) {
  uint64_t bytes = sizeof(struct mxq_set_header) + count * sizeof(struct mxq_set_row);
  for (size_t i = 0; i < count; ++i) bytes = align(bytes) + kernels[i].cubin_size;
  return bytes;
}

static enum mxq_status make_blob(const struct mxq_allocator *allocator,
                                 const struct mxq_emit_kernel *kernels, size_t count,
                                 struct mxq_emit_file *file) {
  struct mxq_set_header header = {.magic = MXQ_SET_MAGIC,
                                  .format = MXQ_KERNEL_SET_FORMAT,
                                  .header_bytes = sizeof header,
                                  .row_bytes = sizeof(struct mxq_set_row),
                                  .row_count = (uint32_t)count,
                                  .blob_bytes = blob_bytes(kernels, count)};
  char *blob = mxq_allocate_zeroed(allocator, header.blob_bytes);
  MXQ_FAIL_IF(!blob, MXQ_OUT_OF_MEMORY, "no memory for a set of %llu bytes",
              (unsigned long long)header.blob_bytes);
  struct mxq_set_row *rows = (void *)(blob + sizeof header);
  uint64_t offset = sizeof header + count * sizeof *rows;
  for (size_t i = 0; i < count; ++i) {
    offset = align(offset);
    rows[i] = row_of(&kernels[i]);
    rows[i].offset = offset;
    rows[i].cubin_hash = XXH3_64bits(kernels[i].cubin, kernels[i].cubin_size);
    rows[i].geometry_hash = mxq_set_geometry_hash(&kernels[i].id);
    memcpy(blob + offset, kernels[i].cubin, kernels[i].cubin_size);
    offset += kernels[i].cubin_size;
  }
  memcpy(header.args_digest, mxq_args_digest, sizeof header.args_digest);
  mxq_set_checksum(&header, rows, header.checksum);
  memcpy(blob, &header, sizeof header);
  *file = (struct mxq_emit_file){blob, header.blob_bytes};
  return MXQ_OK;
}

/* ---- The texts ---------------------------------------------------------------------------- */

static void print_origin(struct writer *writer, const struct mxq_emit_words *words) {
  print(writer, "/* Made by mxq %d.%d.%d; do not edit. To make it anew:\n *   %s\n",
        MXQ_VERSION_MAJOR, MXQ_VERSION_MINOR, MXQ_VERSION_PATCH, words->command);
}

static enum mxq_status make_source(const struct mxq_allocator *allocator,
                                   const struct mxq_emit_kernel *kernels, size_t count,
                                   const struct mxq_emit_words *words, uint64_t bytes,
                                   struct mxq_emit_file *file) {
  struct writer writer = {.allocator = allocator};
  char kernel[MXQ_KERNEL_NAME_SIZE] = "";
  print_origin(&writer, words);
  print(&writer, " * %zu kernels, compiled by %s:\n", count, words->compiler);
  for (size_t i = 0; i < count; ++i) {
    (void)mxq_kernel_id_name(&kernels[i].id, kernel, sizeof kernel);
    print(&writer, " *   %-5s %s\n", kernels[i].arch->name, kernel);
  }
  const char *name = words->name;
  print(&writer, " */\n#include \"%s.h\"\n\n", name);
  print(
      &writer,
      "/* Where the assembler finds the blob: here, or in a folder of its own (-Wa,-IFOLDER), or\n"
      " * wherever this macro says. */\n"
      "#ifndef MXQ_BLOB_FILE\n#define MXQ_BLOB_FILE \"%s.blob\"\n#endif\n\n",
      name);
  print(&writer,
        "__asm__(\".pushsection .rodata\\n\"\n"
        "        \".balign %u\\n\"\n"
        "        \".globl %s_blob\\n\"\n"
        "        \".hidden %s_blob\\n\"\n"
        "        \"%s_blob:\\n\"\n"
        "        \".incbin \\\"\" MXQ_BLOB_FILE \"\\\"\\n\"\n"
        "        \".popsection\\n\");\n",
        MXQ_SET_ALIGNMENT, name, name, name);
  print(&writer,
        "#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\n"
        "    const unsigned char %s_blob[] __attribute__((visibility(\"hidden\")));\n\n",
        name);
  print(&writer,
        "const struct mxq_kernel_set %s = {MXQ_KERNEL_SET_MAGIC, %uu, sizeof(struct "
        "mxq_kernel_set),\n    %s_blob, %lluu};\n",
        name, MXQ_KERNEL_SET_FORMAT, name, (unsigned long long)bytes);
  return finish(&writer, file);
}

static enum mxq_status make_header(const struct mxq_allocator *allocator,
                                   const struct mxq_emit_words *words, struct mxq_emit_file *file) {
  struct writer writer = {.allocator = allocator};
  print_origin(&writer, words);
  print(&writer,
        " */\n#ifndef MXQ_SET_%s_H\n#define MXQ_SET_%s_H\n\n#include <mxq/mxq.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* For mxq_context_add_kernels. */\nextern const struct mxq_kernel_set %s;\n\n"
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
        words->name, words->name, words->name);
  return finish(&writer, file);
}

enum mxq_status mxq_emit_check_name(const char *name) {
  const size_t length = strlen(name);
  MXQ_FAIL_IF(!length || length > NAME_MOST || strspn(name, LETTERS "0123456789") != length ||
                  strchr("0123456789", name[0]),
              MXQ_INVALID_ARGUMENT,
              "%s cannot be the name of a set: it must be a C identifier of at most %d characters",
              mxq_quote(name).text, NAME_MOST);
  MXQ_FAIL_IF(strncmp(name, "mxq_", 4) == 0, MXQ_INVALID_ARGUMENT,
              "%s cannot be the name of a set: names with mxq_ are the library's", name);
  return MXQ_OK;
}

enum mxq_status mxq_emit(const struct mxq_allocator *allocator, struct mxq_emit_kernel *kernels,
                         size_t count, const struct mxq_emit_words *words,
                         struct mxq_emit_file files[MXQ_EMIT_FILES]) {
  struct mxq_emit_file made[MXQ_EMIT_FILES] = {{0}};
  MXQ_TRY(mxq_emit_check_name(words->name));
  MXQ_TRY(sort(kernels, count));
  enum mxq_status status = make_blob(allocator, kernels, count, &made[MXQ_EMIT_BLOB]);
  if (status == MXQ_OK)
    status = make_source(allocator, kernels, count, words, made[MXQ_EMIT_BLOB].size,
                         &made[MXQ_EMIT_SOURCE]);
  if (status == MXQ_OK) status = make_header(allocator, words, &made[MXQ_EMIT_HEADER]);
  if (status != MXQ_OK)
    mxq_emit_free(allocator, made);
  else
    memcpy(files, made, sizeof made);
  return status;
}

void mxq_emit_free(const struct mxq_allocator *allocator,
                   struct mxq_emit_file files[MXQ_EMIT_FILES]) {
  for (size_t i = 0; i < MXQ_EMIT_FILES; ++i) {
    mxq_free(allocator, files[i].bytes);
    files[i] = (struct mxq_emit_file){0};
  }
}
