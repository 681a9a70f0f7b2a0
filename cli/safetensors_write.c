/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "safetensors.h"
#include "status.h"

void safetensors_writer_begin(struct safetensors_writer *writer,
                              const struct safetensors_entry *metadata, size_t count) {
  *writer = (struct safetensors_writer){{0}, 0};
  static const char room_for_length[8] = {0};
  text_append(&writer->body, room_for_length, sizeof room_for_length);
  text_append(&writer->body, "{", 1);
  if (!count) return;
  text_print(&writer->body, "\"__metadata__\":");
  for (size_t i = 0; i < count; i++) {
    text_append(&writer->body, i ? "," : "{", 1);
    text_json_string(&writer->body, metadata[i].key);
    text_append(&writer->body, ":", 1);
    text_json_string(&writer->body, metadata[i].value);
  }
  text_append(&writer->body, "}", 1);
}

void safetensors_writer_add(struct safetensors_writer *writer, const char *name, const char *dtype,
                            const uint64_t *dims, size_t rank, uint64_t bytes) {
  struct text *body = &writer->body;
  if (body->data[body->length - 1] != '{') text_append(body, ",", 1);
  text_json_string(body, name);
  text_print(body, ":{\"dtype\":");
  text_json_string(body, dtype);
  text_print(body, ",\"shape\":[");
  for (size_t i = 0; i < rank; i++) text_print(body, "%s%" PRIu64, i ? "," : "", dims[i]);
  text_print(body, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", writer->offset,
             writer->offset + bytes);
  writer->offset += bytes;
}

enum mxq_status safetensors_writer_end(struct safetensors_writer *writer, struct text *header) {
  text_append(&writer->body, "}", 1);
  while (writer->body.length % 8) text_append(&writer->body, " ", 1);
  const size_t length = writer->body.length - 8;
  MXQ_FAIL_IF(length > SAFETENSORS_HEADER_MAX, MXQ_IO_ERROR,
              "the header would have %zu bytes; readers accept up to %u", length,
              SAFETENSORS_HEADER_MAX);
  for (size_t i = 0; i < 8; i++) writer->body.data[i] = (char)((uint64_t)length >> 8 * i & 0xFF);
  *header = writer->body;
  writer->body = (struct text){0};
  return MXQ_OK;
}
