/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "json.h"
#include "manifest_reader.h"
#include "status.h"

/* The line of a string of the file, 0 if it is spelled with escapes. */
static size_t line_of_string(const struct manifest_reader *reader, const char *string) {
  struct text spelled = {0};
  text_json_string(&spelled, string);
  const char *found = strstr(reader->text.data, spelled.data);
  text_free(&spelled);
  return found ? manifest_line(reader, found) : 0;
}

static enum mxq_status wrong(const struct manifest_reader *reader, const char *key,
                             const char *what) {
  return manifest_at(reader, line_of_string(reader, key),
                     mxq_status_set(MXQ_INVALID_ARGUMENT, "\"%s\" %s", key, what));
}

static enum mxq_status take_arch(struct manifest_reader *reader, const char *name) {
  const struct mxq_arch *arch = NULL;
  MXQ_TRY(manifest_at(reader, line_of_string(reader, name), mxq_arch_parse(name, &arch)));
  manifest_add_arch(&reader->manifest.archs, &reader->manifest.arch_count, arch);
  return MXQ_OK;
}
static enum mxq_status take_include(struct manifest_reader *reader, const char *glob) {
  manifest_add_pattern(reader, glob, strlen(glob), line_of_string(reader, glob), 0);
  return MXQ_OK;
}
static enum mxq_status take_exclude(struct manifest_reader *reader, const char *glob) {
  manifest_add_pattern(reader, glob, strlen(glob), line_of_string(reader, glob), 1);
  return MXQ_OK;
}

static const struct {
  const char *key;
  enum mxq_status (*take)(struct manifest_reader *reader, const char *string);
} lists[] = {{"archs", take_arch}, {"include", take_include}, {"exclude", take_exclude}};
enum { LISTS = sizeof lists / sizeof *lists };

static enum mxq_status read_member(struct manifest_reader *reader, const cJSON *member) {
  const cJSON *item;
  size_t i = 0;
  if (!strcmp(member->string, "mxq_manifest")) return MXQ_OK;
  while (i < LISTS && strcmp(lists[i].key, member->string)) i++;
  if (i == LISTS)
    return wrong(reader, member->string,
                 "is no key of a manifest; allowed: mxq_manifest, archs, include, exclude");
  for (const cJSON *before = member->prev; before && before->next; before = before->prev)
    if (!strcmp(before->string, member->string))
      return wrong(reader, member->string, "stands there twice");
  if (!cJSON_IsArray(member)) return wrong(reader, member->string, "must be a list of strings");
  cJSON_ArrayForEach(item, member) {
    if (!cJSON_IsString(item)) return wrong(reader, member->string, "must be a list of strings");
    MXQ_TRY(lists[i].take(reader, item->valuestring));
  }
  return MXQ_OK;
}

static enum mxq_status read_members(struct manifest_reader *reader, const cJSON *root) {
  const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "mxq_manifest"), *member;
  if (!cJSON_IsNumber(version) || version->valuedouble != 1)
    return manifest_at(reader, 1,
                       mxq_status_set(MXQ_INVALID_ARGUMENT,
                                      "a manifest in JSON has \"mxq_manifest\": 1, its version"));
  if (!cJSON_HasObjectItem(root, "include"))
    return manifest_at(
        reader, 1,
        mxq_status_set(MXQ_INVALID_ARGUMENT,
                       "\"include\" is missing: a list of variants' names or globs, [\"*\"] for "
                       "all"));
  cJSON_ArrayForEach(member, root) MXQ_TRY(read_member(reader, member));
  return MXQ_OK;
}

enum mxq_status manifest_read_json(struct manifest_reader *reader) {
  const char *end = reader->text.data;
  cJSON *root = cJSON_ParseWithLengthOpts(reader->text.data, reader->text.length + 1, &end, 1);
  if (!root)
    return manifest_at(reader, manifest_line(reader, end),
                       mxq_status_set(MXQ_INVALID_ARGUMENT, "not well-formed JSON"));
  const enum mxq_status status = read_members(reader, root);
  cJSON_Delete(root);
  return status;
}
