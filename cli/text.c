/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(void) {
  fputs("mxq: out of memory\n", stderr);
  exit(1);
}

void *text_allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) out_of_memory();
  return memory;
}

void *text_grow(void *array, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return array;
  const size_t wanted = *capacity ? *capacity * 2 : 16;
  void *bigger = wanted > SIZE_MAX / size ? NULL : realloc(array, wanted * size);
  if (!bigger) out_of_memory();
  *capacity = wanted;
  return bigger;
}

char *text_format(const char *format, ...) {
  struct text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_print_list(&text, format, arguments);
  va_end(arguments);
  return text.data;
}

void text_append(struct text *text, const char *bytes, size_t length) {
  while (text->capacity - text->length <= length)
    text->data = text_grow(text->data, text->capacity, &text->capacity, 1);
  if (length) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = 0;
}

void text_print(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_print_list(text, format, arguments);
  va_end(arguments);
}

void text_print_list(struct text *text, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0) out_of_memory();
  char *line = text_allocate((size_t)length + 1, 1);
  vsnprintf(line, (size_t)length + 1, format, again);
  va_end(again);
  text_append(text, line, (size_t)length);
  free(line);
}

void text_json_string(struct text *text, const char *string) {
  text_append(text, "\"", 1);
  for (; *string; string++) {
    const unsigned char c = (unsigned char)*string;
    if (c == '"' || c == '\\')
      text_print(text, "\\%c", c);
    else if (c < 0x20 || c == 0x7F)
      text_print(text, "\\u%04x", c);
    else
      text_append(text, string, 1);
  }
  text_append(text, "\"", 1);
}

void text_dims(struct text *text, const uint64_t *dims, size_t rank) {
  text_append(text, "[", 1);
  for (size_t i = 0; i < rank; i++) text_print(text, "%s%" PRIu64, i ? ", " : "", dims[i]);
  text_append(text, "]", 1);
}

void text_visible(struct text *text, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (c < 0x20 || c == 0x7F)
      text_print(text, "\\x%02x", c);
    else
      text_append(text, bytes + i, 1);
  }
}

void text_free(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}

size_t text_utf8_step(const char *bytes, size_t left) {
  static const struct {
    unsigned char mask, lead;
    uint32_t smallest;
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  const unsigned char *at = (const unsigned char *)bytes;
  for (size_t extra = 0; left > 0 && extra < 4; extra++) {
    if ((at[0] & forms[extra].mask) != forms[extra].lead) continue;
    uint32_t point = at[0] & (uint32_t)(unsigned char)~forms[extra].mask;
    if (extra >= left) return 0;
    for (size_t i = 1; i <= extra; i++) {
      if ((at[i] & 0xC0) != 0x80) return 0;
      point = point << 6 | (at[i] & 0x3Fu);
    }
    const int surrogate = point >= 0xD800 && point < 0xE000;
    return point < forms[extra].smallest || point > 0x10FFFF || surrogate ? 0 : extra + 1;
  }
  return 0;
}
