/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text_file.h"

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

enum mxq_status json_read_file(const char *path, size_t most, cJSON **value) {
  struct text text = {0};
  enum mxq_status status = text_read_file(path, most, &text);
  cJSON *parsed = status == MXQ_OK && !memchr(text.data, 0, text.length)
                      ? cJSON_ParseWithLengthOpts(text.data, text.length + 1, NULL, 1)
                      : NULL;
  text_free(&text);
  if (status == MXQ_OK && !parsed)
    status = mxq_status_set(MXQ_IO_ERROR, "%s: not well-formed JSON", path);
  if (status == MXQ_OK) *value = parsed;
  return status;
}
