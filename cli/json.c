/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text.h"

static cJSON *checked(cJSON *value) {
  if (value) return value;
  fputs("mxq: out of memory\n", stderr);
  exit(1);
}

cJSON *json_object(void) { return checked(cJSON_CreateObject()); }
cJSON *json_array(void) { return checked(cJSON_CreateArray()); }

void json_add(cJSON *object, const char *key, cJSON *value) {
  checked(value);
  const int added =
      key ? cJSON_AddItemToObject(object, key, value) : cJSON_AddItemToArray(object, value);
  checked(added ? value : NULL);
}

void json_add_string(cJSON *object, const char *key, const char *value) {
  json_add(object, key, value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

void json_add_integer(cJSON *object, const char *key, int64_t value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%" PRId64, value);
  json_add(object, key, cJSON_CreateRaw(digits));
}

void json_add_number(cJSON *object, const char *key, double value) {
  json_add(object, key, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

void json_add_bool(cJSON *object, const char *key, int value) {
  json_add(object, key, cJSON_CreateBool(value));
}

void json_add_numbers(cJSON *object, const char *key, const uint64_t *values, size_t count) {
  cJSON *array = json_array();
  for (size_t i = 0; i < count; i++) json_add_integer(array, NULL, (int64_t)values[i]);
  json_add(object, key, array);
}

void json_print(cJSON *value) {
  char *printed = cJSON_Print(value);
  if (!printed) checked(NULL);
  puts(printed);
  cJSON_free(printed);
  cJSON_Delete(value);
}

static enum mxq_status read_all(const char *path, FILE *stream, size_t most, struct text *text) {
  char chunk[65536];
  size_t got;
  while ((got = fread(chunk, 1, sizeof chunk, stream)) > 0) {
    text_append(text, chunk, got);
    MXQ_FAIL_IF(text->length > most, MXQ_IO_ERROR, "%s: more than %zu bytes; not an index", path,
                most);
  }
  MXQ_FAIL_IF(ferror(stream), MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  return MXQ_OK;
}

enum mxq_status json_read_file(const char *path, size_t most, cJSON **value) {
  FILE *stream = fopen(path, "rbe");
  MXQ_FAIL_IF(!stream, MXQ_IO_ERROR, "%s: %s", path, strerror(errno));
  struct text text = {0};
  text_append(&text, "", 0);
  enum mxq_status status = read_all(path, stream, most, &text);
  fclose(stream);
  cJSON *parsed = status == MXQ_OK && !memchr(text.data, 0, text.length)
                      ? cJSON_ParseWithLengthOpts(text.data, text.length + 1, NULL, 1)
                      : NULL;
  text_free(&text);
  if (status == MXQ_OK && !parsed)
    status = mxq_status_set(MXQ_IO_ERROR, "%s: not well-formed JSON", path);
  if (status == MXQ_OK) *value = parsed;
  return status;
}
