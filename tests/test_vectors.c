/* SPDX-License-Identifier: MIT
 *
 * Every line of vectors/blocks.txt that a variant can take, on the CPU path. A line shorter than
 * the variant's block is the ragged block at the end of an axis.
 *
 *   format mode input | the block as float32 bits | scale bits | codes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxq/mxq.h>

#include "axes.h"
#include "cpu.h"

enum { max_length = 128, copies = 3 };

struct line {
  int number;
  char format[8], mode[8], input[8];
  size_t length;
  uint32_t x[max_length], codes[max_length];
  uint32_t scale;
};

static struct line *lines;
static size_t line_count;

static size_t read_hex(char *text, uint32_t *values) {
  size_t count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
    char *end;
    if (count == max_length) fail_msg("a block of more than %d elements", max_length);
    values[count++] = (uint32_t)strtoul(word, &end, 16);
    if (*end) fail_msg("'%s' is not hexadecimal", word);
  }
  return count;
}

static void read_line(char *text, struct line *line) {
  char *part[4], *rest = NULL;
  for (int i = 0; i < 4; ++i) {
    part[i] = strtok_r(i ? NULL : text, "|", &rest);
    if (!part[i]) fail_msg("line %d has no part %d", line->number, i + 1);
  }
  if (sscanf(part[0], "%7s %7s %7s", line->format, line->mode, line->input) != 3)
    fail_msg("line %d does not begin with format, mode and input", line->number);
  line->length = read_hex(part[1], line->x);
  if (read_hex(part[2], &line->scale) != 1) fail_msg("line %d: not one scale", line->number);
  if (read_hex(part[3], line->codes) != line->length)
    fail_msg("line %d: more or fewer codes than elements", line->number);
}

static int read_lines(void **state) {
  static char text[8192];
  FILE *file = fopen(MXQ_TEST_DIR "/vectors/blocks.txt", "r");
  (void)state;
  if (!file) return -1;
  while (fgets(text, sizeof text, file)) {
    lines = realloc(lines, (line_count + 1) * sizeof *lines);
    if (!lines) return -1;
    lines[line_count].number = (int)line_count + 1;
    read_line(text, &lines[line_count++]);
  }
  fclose(file);
  return line_count ? 0 : -1;
}

static int free_lines(void **state) {
  (void)state;
  free(lines);
  return 0;
}

/* An element of a line in the input type's own bits; the file gives it as float32. */
static uint32_t narrow(const struct line *line, uint32_t bits, const struct mxq_type_facts *type) {
  if (type->bits == 32) return bits;
  if (type->exponent_bits == 8) return bits >> 16;
  for (uint32_t h = 0; h < 0x8000; ++h) { /* f16: the one whose value it is */
    const int exponent = (int)(h >> 10);
    const uint32_t mantissa = h & 0x3FF;
    uint32_t wide = ((uint32_t)exponent + 112) << 23 | mantissa << 13;
    if (exponent == 31) wide = 0x7F800000u | mantissa << 13;
    if (exponent == 0) {
      const float subnormal = (float)mantissa * 0x1p-24f;
      memcpy(&wide, &subnormal, sizeof wide);
    }
    if (wide == (bits & 0x7FFFFFFF)) return h | (bits >> 16 & 0x8000);
  }
  fail_msg("line %d: %08x is no value of %s", line->number, bits, type->token);
  return 0;
}

/* Whether the output has the line's code at element i of the block in copy c. */
static void compare(const struct mxq_variant *variant, const struct line *line, size_t i, size_t c,
                    const char *what, uint32_t expected, uint32_t got) {
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  if (expected == got) return;
  mxq_variant_name(variant, name, sizeof name);
  fail_msg("%s, line %d (%s %s %s): %s %zu of copy %zu: expected %02x, got %02x", name,
           line->number, line->format, line->mode, line->input, what, i, c, expected, got);
}

/* A code as stored: two in a byte where the type has four bits. */
static uint32_t code_at(const unsigned char *out, unsigned bits, uint64_t place) {
  return bits == 4 ? (uint32_t)out[place / 2] >> place % 2 * 4 & 15u : out[place];
}

/* The block along N or along K, in copies beside each other, or alone in a square block. */
static void check_line(const struct mxq_variant *variant, unsigned part, int along_n,
                       const struct line *line) {
  const struct mxq_type_facts *in = mxq_type_facts(variant->in),
                              *out = mxq_type_facts(variant->out);
  const size_t scale_bytes = mxq_mode_facts(variant->mode)->scale_bits / 8;
  const unsigned both = MXQ_PART_ALONG_N | MXQ_PART_ALONG_K;
  const int64_t length = (int64_t)line->length;
  const int64_t beside = (mxq_layout_part(variant->layout, part) & both) == both ? 1 : copies + 1;
  const struct mxq_shape shape =
      along_n ? mxq_shape_dense(1, length, beside) : mxq_shape_dense(1, beside, length);
  unsigned char x[4 * max_length * (copies + 1)], codes[2][max_length * (copies + 1)];
  unsigned char scales[2][4096];
  const struct mxq_pointers pointers = {x, {codes[0], codes[1]}, {scales[0], scales[1]}};
  for (size_t i = 0; i < line->length; ++i)
    for (size_t c = 0; c < (size_t)beside; ++c) {
      const uint32_t bits = narrow(line, line->x[i], in);
      const size_t place = along_n ? i * (size_t)beside + c : c * line->length + i;
      memcpy(x + place * (in->bits / 8), &bits, in->bits / 8);
    }
  mxq_cpu_run(variant, &shape, &pointers);
  for (size_t c = 0; c < (size_t)beside; ++c) {
    uint32_t scale = 0;
    const uint64_t at =
        mxq_scale_offset(variant, &shape, part, 0, along_n ? 0 : c, along_n ? c : 0);
    memcpy(&scale, scales[part] + at * scale_bytes, scale_bytes);
    compare(variant, line, 0, c, "scale", line->scale, scale);
    for (size_t i = 0; i < line->length; ++i) {
      const uint64_t n = along_n ? i : c, k = along_n ? c : i;
      const uint64_t place = mxq_data_offset(variant, &shape, part, 0, n, k);
      compare(variant, line, i, c, "code", line->codes[i], code_at(codes[part], out->bits, place));
    }
  }
}

static int line_is_for(const struct mxq_variant *variant, const struct line *line) {
  return !strcmp(line->format, mxq_type_facts(variant->out)->token) &&
         !strcmp(line->mode, mxq_mode_facts(variant->mode)->token) &&
         !strcmp(line->input, mxq_type_facts(variant->in)->token) && line->length <= variant->block;
}

static void check_variant(const struct mxq_variant *variant) {
  size_t whole = 0, ragged = 0;
  char name[MXQ_VARIANT_NAME_SIZE] = "";
  assert_int_equal(mxq_variant_name(variant, name, sizeof name), MXQ_OK);
  for (size_t i = 0; i < line_count; ++i) {
    if (!line_is_for(variant, &lines[i])) continue;
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned kind = mxq_layout_part(variant->layout, part);
      if (kind & MXQ_PART_ALONG_N) check_line(variant, part, 1, &lines[i]);
      if (kind & MXQ_PART_ALONG_K) check_line(variant, part, 0, &lines[i]);
    }
    ++*(lines[i].length == variant->block ? &whole : &ragged);
  }
  print_message("%s: %zu lines of whole blocks, %zu of ragged ones\n", name, whole, ragged);
  if (whole + ragged == 0) fail_msg("%s: no line of vectors/blocks.txt is for it", name);
}

static void test_every_line(void **state) {
  struct mxq_variant variant = {0};
  size_t variants = 0;
  (void)state;
  for (; mxq_variant_next(&variant); ++variants)
    if (variant.op == MXQ_OP_QUANTIZE) check_variant(&variant);
  assert_int_not_equal(variants, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_line)};
  return cmocka_run_group_tests_name("vectors", tests, read_lines, free_lines);
}
