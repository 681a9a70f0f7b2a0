/* SPDX-License-Identifier: MIT
 *
 * The safetensors reader against files that lie, and the writer against the reader.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "safetensors.h"

static unsigned char file_bytes[4096];

/* A file with this header and `data_bytes` bytes of data. */
static uint64_t make_file(const char *header, size_t header_bytes, size_t data_bytes) {
  memset(file_bytes, 0, sizeof file_bytes);
  file_bytes[0] = (unsigned char)(header_bytes & 0xFF);
  file_bytes[1] = (unsigned char)(header_bytes >> 8);
  memcpy(file_bytes + 8, header, header_bytes);
  for (size_t i = 0; i < data_bytes; i++) file_bytes[8 + header_bytes + i] = (unsigned char)i;
  return 8 + header_bytes + data_bytes;
}

struct lie {
  const char *header;
  size_t data_bytes;
  const char *complaint; /* in the message */
};

#define TENSOR(name, dtype, shape, offsets) \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{" TENSOR("w", dtype, shape, offsets) "}"

static const struct lie lies[] = {
    {"", 0, "not a JSON object"},
    {"[1]", 0, "not a JSON object"},
    {" {}", 0, "not a JSON object"},
    {"{", 0, "well-formed"},
    {"{} {}", 0, "well-formed"},
    {"{\"w\":}", 0, "well-formed"},
    {"{\"w\":3}", 0, "\"w\" is not an object"},
    {"{\"w\":{}}", 0, "dtype is missing"},
    {"{\"w\":{\"dtype\":5}}", 0, "dtype is not a string"},
    {"{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, "dtype stands there twice"},
    {"{\"w\":{\"dtype\":\"U8\",\"shape\":[1]}}", 0, "data_offsets is missing"},
    {ONE("U8", "4", "[0,4]"), 4, "shape is not an array"},
    {ONE("U8", "[\"4\"]", "[0,4]"), 4, "shape is not an array"},
    {ONE("U8", "[4]", "[0,4,4]"), 4, "data_offsets is not an array of two"},
    {ONE("U8", "[4]", "[4]"), 4, "data_offsets is not an array of two"},
    {ONE("U8", "[-4]", "[0,4]"), 4, "tensor \"w\": -4 is not a length"},
    {ONE("U8", "[4.0]", "[0,4]"), 4, "4.0 is not a length"},
    {ONE("U8", "[4e0]", "[0,4]"), 4, "4e0 is not a length"},
    {ONE("U8", "[04]", "[0,4]"), 4, "04 is not a length"},
    {ONE("U8", "[4]", "[0,9007199254740992]"), 4, "9007199254740992 is not a length"},
    {ONE("U8", "[4]", "[0,18446744073709551620]"), 4, "18446744073709551620 is not a length"},
    {ONE("U8", "[4]", "[4,0]"), 4, "end before they begin"},
    {ONE("U8", "[4]", "[0,4]"), 3, "only 3 bytes follow"},
    {ONE("U8", "[4]", "[0,4]"), 5, "5 bytes follow the header, its tensors have 4"},
    {ONE("U8", "[4]", "[1,5]"), 5, "belong to no tensor"},
    {ONE("U8", "[4]", "[0,3]"), 3, "needs 4 bytes, its data_offsets give 3"},
    {ONE("U8", "[4]", "[0,5]"), 5, "needs 4 bytes, its data_offsets give 5"},
    {ONE("F32", "[2,2]", "[0,8]"), 8, "F32 of shape [2, 2] needs 16 bytes"},
    {ONE("F4", "[3]", "[0,1]"), 1, "do not fill whole bytes"},
    {ONE("F6_E2M3", "[2]", "[0,1]"), 1, "do not fill whole bytes"},
    {ONE("F64", "[4503599627370496,4503599627370496]", "[0,4]"), 4, "63 bits"},
    {ONE("F64", "[4503599627370496,1024]", "[0,4]"), 4, "63 bits"},
    {"{" TENSOR("a", "U8", "[2]", "[0,2]") "," TENSOR("a", "U8", "[2]", "[2,4]") "}", 4,
     "two tensors are named \"a\""},
    {"{" TENSOR("a", "U8", "[2]", "[0,2]") "," TENSOR("\\u0061", "U8", "[2]", "[2,4]") "}", 4,
     "two tensors are named \"a\""},
    {"{" TENSOR("a", "U8", "[3]", "[0,3]") "," TENSOR("b", "U8", "[2]", "[2,4]") "}", 4,
     "overlap at byte 2"},
    {"{" TENSOR("a", "U8", "[2]", "[2,4]") "," TENSOR("b", "U8", "[1]", "[0,1]") "}", 4,
     "bytes 1 to 2"},
    {"{" TENSOR("a\\u0000b", "U8", "[1]", "[0,1]") "}", 1, "zero character"},
    {"{" TENSOR("a\xFF", "U8", "[1]", "[0,1]") "}", 1, "not UTF-8"},
    {"{" TENSOR("a\xC0\x80", "U8", "[1]", "[0,1]") "}", 1, "not UTF-8"},
    {"{" TENSOR("a\xED\xA0\x80", "U8", "[1]", "[0,1]") "}", 1, "not UTF-8"},
    {"{" TENSOR("a\xF0\x9F\x98", "U8", "[1]", "[0,1]") "}", 1, "not UTF-8"},
    {"{" TENSOR("a\tb", "U8", "[1]", "[0,1]") "}", 1, "control character"},
    {"{" TENSOR("\\ud800", "U8", "[1]", "[0,1]") "}", 1, "well-formed"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "[\"a\"] is not a string"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__ stands there twice"},
    {"{\"w", 0, "does not end"},
};

static void every_lie_is_refused_with_its_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    struct safetensors *file = NULL;
    const uint64_t size = make_file(lies[i].header, strlen(lies[i].header), lies[i].data_bytes);
    const enum mxq_status status = safetensors_read("f.safetensors", file_bytes, size, &file);
    if (status != MXQ_IO_ERROR || !strstr(mxq_last_error(), lies[i].complaint) ||
        !strstr(mxq_last_error(), "f.safetensors: "))
      fail_msg("%s\n  status %d, text: %s\n  expected: %s", lies[i].header, status,
               mxq_last_error(), lies[i].complaint);
    assert_null(file);
  }
}

static void length_of_header_is_checked(void **state) {
  (void)state;
  struct safetensors *file = NULL;
  const uint64_t size = make_file("{}", 2, 0);
  for (uint64_t cut = 0; cut < size; cut++)
    assert_int_equal(safetensors_read("f", file_bytes, cut, &file), MXQ_IO_ERROR);
  file_bytes[7] = 0x80;
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "claims 9223372036854775810 bytes"));
  make_file("{}", 2, 0);
  memcpy(file_bytes, "\x01\xe1\xf5\x05", 4); /* 100,000,001 */
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "up to 100000000 are allowed"));
  make_file("{}", 3, 0);
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "truncated"));
}

static void zero_bytes_in_the_header_are_refused(void **state) {
  (void)state;
  struct safetensors *file = NULL;
  static const char header[] = "{\"__metadata__\":{\"a\":\"b\0c\"}}";
  const uint64_t size = make_file(header, sizeof header - 1, 0);
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "control character"));
}

static void unusual_files_are_read(void **state) {
  (void)state;
  static const char header[] =
      "{\"__metadata__\":{\"format\":\"pt\",\"\\u00e9\":\"\\\"x\\\\\"}," TENSOR(
          "later", "F32", "[]",
          "[6,10]") "," TENSOR("empty", "F64", "[4503599627370496,0,4503599627370496]",
                               "[6,6]") "," TENSOR("pairs", "F4", "[3,2]",
                                                   "[0,3]") "," TENSOR("\xC3\xA9\\n", "F9_NEW",
                                                                       "[7]", "[3,6]") "}   ";
  struct safetensors *file = NULL;
  const uint64_t size = make_file(header, sizeof header - 1, 10);
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_OK);
  assert_int_equal(file->count, 4);
  assert_string_equal(file->tensors[0].name, "later");
  assert_int_equal(file->tensors[0].rank, 0);
  assert_int_equal(file->tensors[0].bytes, 4);
  assert_int_equal(file->tensors[0].data[0], 6);
  assert_int_equal(file->tensors[1].bytes, 0);
  assert_int_equal(file->tensors[2].bytes, 3);
  assert_string_equal(file->tensors[3].name, "\xC3\xA9\n");
  assert_int_equal(file->tensors[3].bits, 0);
  assert_int_equal(file->tensors[3].data[0], 3);
  assert_int_equal(file->metadata_count, 2);
  assert_string_equal(file->metadata[1].value, "\"x\\");
  safetensors_close(file);
}

static void a_large_offset_is_exact(void **state) {
  (void)state;
  struct safetensors *file = NULL;
  static const char header[] = ONE("U8", "[9007199254740991]", "[0,9007199254740991]");
  const uint64_t size = make_file(header, sizeof header - 1, 10);
  assert_int_equal(safetensors_read("f", file_bytes, size, &file), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "[0, 9007199254740991]"));
}

/* What the writer writes, the reader reads back. */
static void header_survives_a_round_trip(void **state) {
  (void)state;
  const struct safetensors_entry metadata[] = {{(char[]){"k\"\\\n\x7f"}, (char[]){"\xE2\x82\xAC"}},
                                               {(char[]){"mxq"}, (char[]){"{\"a\":1}"}}};
  const uint64_t dims[] = {2, 3};
  const char name[] = "layer.0\t\"\xF0\x9F\x98\x80\"\\";
  struct safetensors_writer writer;
  struct text header = {0};
  safetensors_writer_begin(&writer, metadata, 2);
  safetensors_writer_add(&writer, name, "BF16", dims, 2, 12);
  safetensors_writer_add(&writer, "scalar", "I64", NULL, 0, 8);
  assert_int_equal(safetensors_writer_end(&writer, &header), MXQ_OK);
  assert_int_equal(header.length % 8, 0);
  assert_int_equal(writer.offset, 20);

  memset(file_bytes, 0, sizeof file_bytes);
  memcpy(file_bytes, header.data, header.length);
  struct safetensors *file = NULL;
  assert_int_equal(safetensors_read("f", file_bytes, header.length + 20, &file), MXQ_OK);
  assert_int_equal(file->count, 2);
  assert_string_equal(file->tensors[0].name, name);
  assert_string_equal(file->tensors[0].dtype, "BF16");
  assert_memory_equal(file->tensors[0].dims, dims, sizeof dims);
  assert_ptr_equal(file->tensors[1].data, file_bytes + header.length + 12);
  assert_int_equal(file->metadata_count, 2);
  assert_string_equal(file->metadata[0].key, metadata[0].key);
  assert_string_equal(file->metadata[0].value, metadata[0].value);
  assert_string_equal(file->metadata[1].value, metadata[1].value);
  safetensors_close(file);
  text_free(&header);
}

static uint32_t next_random(uint32_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  return *seed ^= *seed << 5;
}

/* Every tensor of a file that was accepted lies inside of it and fills it. */
static void check_accepted(const struct safetensors *file, uint64_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < file->count; i++) {
    const struct safetensors_tensor *tensor = &file->tensors[i];
    assert_true(tensor->data >= file_bytes && tensor->bytes <= size);
    assert_true((uint64_t)(tensor->data - file_bytes) + tensor->bytes <= size);
    sum += tensor->bytes;
  }
  assert_true(sum <= size);
}

/* Deterministic mutations of a good file, one to four bytes each, and cuts. Run under the address
 * sanitizer this also shows reads outside of the file. */
static void mutated_files_are_refused_or_consistent(void **state) {
  (void)state;
  static const char header[] =
      "{\"__metadata__\":{\"format\":\"pt\"}," TENSOR("a.w", "BF16", "[3,2]", "[0,12]") "," TENSOR(
          "b", "F4", "[4]", "[12,14]") "," TENSOR("c\\u00e9", "I64", "[]", "[14,22]") "}";
  static const char likely[] = "0123456789{}[]\",:.-e\\u \xC3\xFF";
  const uint64_t size = make_file(header, sizeof header - 1, 22);
  unsigned char good[sizeof file_bytes];
  memcpy(good, file_bytes, sizeof good);
  uint32_t seed = 2463534242u;
  unsigned accepted = 0;
  for (unsigned round = 0; round < 100000; round++) {
    memcpy(file_bytes, good, sizeof good);
    const uint32_t changes = 1 + next_random(&seed) % 4;
    for (uint32_t i = 0; i < changes; i++)
      file_bytes[next_random(&seed) % (8 + sizeof header)] =
          (unsigned char)likely[next_random(&seed) % (sizeof likely - 1)];
    const uint64_t length = next_random(&seed) % 8 ? size : next_random(&seed) % (size + 1);
    struct safetensors *file = NULL;
    if (safetensors_read("f", file_bytes, length, &file) != MXQ_OK) continue;
    accepted++;
    check_accepted(file, length);
    safetensors_close(file);
  }
  /* Changed names and metadata are fine: a reader that refuses everything is wrong too. */
  assert_true(accepted > 1000 && accepted < 50000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_lie_is_refused_with_its_reason),
      cmocka_unit_test(length_of_header_is_checked),
      cmocka_unit_test(zero_bytes_in_the_header_are_refused),
      cmocka_unit_test(unusual_files_are_read),
      cmocka_unit_test(a_large_offset_is_exact),
      cmocka_unit_test(header_survives_a_round_trip),
      cmocka_unit_test(mutated_files_are_refused_or_consistent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
