/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text.h"

static int matches_any(const char *name, const char *const *patterns, size_t count, char *used) {
  int matched = count == 0;
  for (size_t i = 0; i < count; i++) {
    if (fnmatch(patterns[i], name, 0)) continue;
    matched = 1;
    used[i] = 1;
  }
  return matched;
}

static enum mxq_status refuse_unused(const char *const *patterns, size_t count, const char *used) {
  struct mxq_variant variant;
  for (size_t i = 0; i < count; i++) {
    if (used[i]) continue;
    if (!strpbrk(patterns[i], "*?[")) MXQ_TRY(mxq_variant_parse(patterns[i], &variant));
    MXQ_FAIL(MXQ_UNKNOWN_NAME, "no variant matches \"%s\"; mxq list prints all names", patterns[i]);
  }
  return MXQ_OK;
}

enum mxq_status names_match(const char *const *patterns, size_t count,
                            struct mxq_variant **variants, size_t *found) {
  struct mxq_variant variant = {0};
  struct mxq_variant *list = NULL;
  size_t length = 0, capacity = 0;
  char *used = text_allocate(count, 1);
  while (mxq_variant_next(&variant)) {
    if (!matches_any(names_of(&variant).text, patterns, count, used)) continue;
    list = text_grow(list, length, &capacity, sizeof *list);
    list[length++] = variant;
  }
  const enum mxq_status status = refuse_unused(patterns, count, used);
  free(used);
  if (status != MXQ_OK) {
    free(list);
    return status;
  }
  *variants = list;
  *found = length;
  return MXQ_OK;
}

struct name names_of(const struct mxq_variant *variant) {
  struct name name = {{0}};
  mxq_variant_name(variant, name.text, sizeof name.text);
  return name;
}

struct kernel_name names_of_kernel(const struct mxq_kernel_id *id) {
  struct kernel_name name = {{0}};
  mxq_kernel_id_name(id, name.text, sizeof name.text);
  return name;
}

int names_number(const char *text, int64_t *number) {
  char *end = NULL;
  const char *digits = text + (*text == '-');
  if (!*digits || digits[strspn(digits, "0123456789")]) return 0;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno || *end) return 0;
  *number = value;
  return 1;
}
