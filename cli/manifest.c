/* SPDX-License-Identifier: MIT */
#include "manifest_reader.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "status.h"
#include "text_file.h"

#define FILE_MAX ((size_t)16 << 20)

enum mxq_status manifest_at(const struct manifest_reader *reader, size_t line,
                            enum mxq_status status) {
  if (status == MXQ_OK) return MXQ_OK;
  if (!line) return mxq_status_set(status, "%s: %s", reader->path, mxq_last_error());
  return mxq_status_set(status, "%s:%zu: %s", reader->path, line, mxq_last_error());
}

size_t manifest_line(const struct manifest_reader *reader, const char *at) {
  size_t line = 1;
  for (const char *c = reader->text.data; c < at; c++) line += *c == '\n';
  return line;
}

void manifest_add_pattern(struct manifest_reader *reader, const char *text, size_t length,
                          size_t line, int exclude) {
  char *copy = text_format("%.*s", (int)length, text);
  reader->patterns =
      text_grow(reader->patterns, reader->count, &reader->capacity, sizeof *reader->patterns);
  reader->patterns[reader->count++] =
      (struct manifest_pattern){copy, line, exclude, strpbrk(copy, "*?[") != NULL, 0};
}

void manifest_add_arch(const struct mxq_arch ***archs, size_t *count, const struct mxq_arch *arch) {
  for (size_t i = 0; i < *count; i++)
    if ((*archs)[i] == arch) return;
  const struct mxq_arch **grown = text_allocate(*count + 1, sizeof *grown);
  for (size_t i = 0; i < *count; i++) grown[i] = (*archs)[i];
  grown[(*count)++] = arch;
  free(*archs);
  *archs = grown;
}

/* ---- Text --------------------------------------------------------------------------------- */

static void read_text(struct manifest_reader *reader) {
  size_t number = 0;
  for (const char *line = reader->text.data; *line; line += *line == '\n') {
    const char *end = line + strcspn(line, "\n");
    const char *last = line + strcspn(line, "#\n");
    number++;
    while (isspace((unsigned char)*line) && line < last) line++;
    while (last > line && isspace((unsigned char)last[-1])) last--;
    if (last > line) manifest_add_pattern(reader, line, (size_t)(last - line), number, 0);
    line = end;
  }
}

/* ---- Both --------------------------------------------------------------------------------- */

static enum mxq_status load(struct manifest_reader *reader) {
  MXQ_TRY(text_read_file(reader->path, FILE_MAX, &reader->text));
  const char *nothing = memchr(reader->text.data, 0, reader->text.length);
  if (!nothing) {
    if (!strncmp(reader->text.data, "\xEF\xBB\xBF", 3)) memset(reader->text.data, ' ', 3);
    return MXQ_OK;
  }
  return manifest_at(reader, manifest_line(reader, nothing),
                     mxq_status_set(MXQ_INVALID_ARGUMENT, "is no text: it holds a byte 0"));
}

static int matches(const struct manifest_pattern *pattern, const char *name) {
  return pattern->is_glob ? !fnmatch(pattern->text, name, 0) : !strcmp(pattern->text, name);
}

static void select_variants(struct manifest_reader *reader) {
  struct mxq_variant variant = {0};
  struct manifest *manifest = &reader->manifest;
  size_t capacity = 0;
  while (mxq_variant_next(&variant)) {
    int included = 0, excluded = 0;
    const struct name name = names_of(&variant);
    for (size_t i = 0; i < reader->count; i++) {
      struct manifest_pattern *pattern = &reader->patterns[i];
      if (!matches(pattern, name.text)) continue;
      pattern->used = 1;
      *(pattern->exclude ? &excluded : &included) = 1;
    }
    if (!included || excluded) continue;
    manifest->variants =
        text_grow(manifest->variants, manifest->count, &capacity, sizeof *manifest->variants);
    manifest->variants[manifest->count++] = variant;
  }
}

static enum mxq_status unused(const struct manifest_pattern *pattern) {
  struct mxq_variant variant;
  if (!pattern->is_glob) MXQ_TRY(mxq_variant_parse(pattern->text, &variant));
  MXQ_FAIL(MXQ_UNKNOWN_NAME, "no variant matches \"%s\"; mxq list prints all names", pattern->text);
}

static enum mxq_status check_use(const struct manifest_reader *reader) {
  for (size_t i = 0; i < reader->count; i++)
    if (!reader->patterns[i].used)
      return manifest_at(reader, reader->patterns[i].line, unused(&reader->patterns[i]));
  if (reader->manifest.count) return MXQ_OK;
  return manifest_at(reader, 0,
                     mxq_status_set(MXQ_INVALID_ARGUMENT,
                                    reader->count ? "excludes everything that it includes"
                                                  : "names no variant; one name or glob a line"));
}

static enum mxq_status read_file(struct manifest_reader *reader) {
  MXQ_TRY(load(reader));
  if (reader->text.data[strspn(reader->text.data, " \t\r\n")] == '{')
    MXQ_TRY(manifest_read_json(reader));
  else
    read_text(reader);
  select_variants(reader);
  return check_use(reader);
}

enum mxq_status manifest_read(const char *path, struct manifest *manifest) {
  struct manifest_reader reader = {.path = path};
  const enum mxq_status status = read_file(&reader);
  for (size_t i = 0; i < reader.count; i++) free(reader.patterns[i].text);
  free(reader.patterns);
  text_free(&reader.text);
  if (status == MXQ_OK)
    *manifest = reader.manifest;
  else
    manifest_free(&reader.manifest);
  return status;
}

void manifest_free(struct manifest *manifest) {
  free(manifest->variants);
  free(manifest->archs);
  *manifest = (struct manifest){0};
}

enum mxq_status manifest_archs(const struct manifest *manifest, const char *list,
                               const struct mxq_arch ***archs, size_t *count) {
  const struct mxq_arch **found = NULL;
  size_t length = 0;
  for (size_t i = 0; !list && i < manifest->arch_count; i++)
    manifest_add_arch(&found, &length, manifest->archs[i]);
  for (const char *at = list; at; at = *at ? at + 1 : NULL) {
    const struct mxq_arch *arch = NULL;
    const size_t size = strcspn(at, ",");
    char *name = text_format("%.*s", (int)size, at);
    const enum mxq_status status = mxq_arch_parse(name, &arch);
    free(name);
    if (status != MXQ_OK) return free(found), status;
    manifest_add_arch(&found, &length, arch);
    at += size;
  }
  MXQ_FAIL_IF(!length, MXQ_INVALID_ARGUMENT,
              "no archs: name them on the command line (--archs 90a,100a), or in a manifest in "
              "JSON (\"archs\": [\"90a\"])");
  *archs = found;
  *count = length;
  return MXQ_OK;
}
