/* SPDX-License-Identifier: MIT
 *
 * Every line of vectors/blocks.txt for every variant that can take it, on the CPU path. A line
 * shorter than the variant's block is the ragged block at the end of an axis.
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
#include "tensor_plan.h"

enum { max_length = 128, copies = 4 };

struct line {
  int number;
  char format[8], mode[8], input[8];
  size_t length;
  uint32_t x[max_length]; /* in the input type's own bits; the file gives float32 */
  uint32_t codes[max_length];
  uint32_t scale;
  size_t used; /* by so many variants */
};

static struct line *lines;
static size_t line_count, shortest = max_length;

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

/* The f16 whose value the float32 is. */
static uint32_t half_of(uint32_t bits, int number) {
  for (uint32_t h = 0; h < 0x8000; ++h) {
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
  fail_msg("line %d: %08x is no value of f16", number, bits);
  return 0;
}

static void narrow(struct line *line) {
  for (size_t i = 0; i < line->length; ++i) {
    const uint32_t bits = line->x[i];
    if (!strcmp(line->input, "f16")) line->x[i] = half_of(bits, line->number);
    if (strcmp(line->input, "bf16")) continue;
    if (bits & 0xFFFF) fail_msg("line %d: %08x is no value of bf16", line->number, bits);
    line->x[i] = bits >> 16;
  }
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
  narrow(line);
}

static int read_lines(void **state) {
  static char text[8192];
  FILE *file = fopen(MXQ_TEST_DIR "/vectors/blocks.txt", "r");
  (void)state;
  if (!file) return -1;
  while (fgets(text, sizeof text, file)) {
    lines = realloc(lines, (line_count + 1) * sizeof *lines);
    if (!lines) return -1;
    lines[line_count] = (struct line){.number = (int)line_count + 1};
    read_line(text, &lines[line_count]);
    if (lines[line_count].length < shortest) shortest = lines[line_count].length;
    ++line_count;
  }
  fclose(file);
  return line_count ? 0 : -1;
}

static int free_lines(void **state) {
  (void)state;
  free(lines);
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

/* How a line lies in a matrix: as columns or rows beside each other, or over a whole square, each
 * row of which begins one element later. */
struct way {
  const struct mxq_variant *variant;
  unsigned part, kind;
  const struct line *line;
  size_t rows, columns, copies;
};

static struct way way_of(const struct mxq_variant *variant, unsigned part,
                         const struct line *line) {
  struct way way = {variant, part, mxq_layout_part(variant->layout, part), line, 0, 0, copies};
  const int along_n = (way.kind & MXQ_PART_ALONG_N) != 0,
            along_k = (way.kind & MXQ_PART_ALONG_K) != 0;
  way.rows = along_n ? line->length : copies;
  way.columns = along_k ? line->length : copies;
  if (along_n && along_k) way.copies = 1;
  return way;
}

/* Which element of the line stands at (n, k), and in which copy of the block. */
static void element_at(const struct way *way, size_t n, size_t k, size_t *i, size_t *copy) {
  const unsigned both = MXQ_PART_ALONG_N | MXQ_PART_ALONG_K;
  const int along_n = (way->kind & MXQ_PART_ALONG_N) != 0;
  const int square = (way->kind & both) == both;
  *i = square ? (n + k) % way->line->length : along_n ? n : k;
  *copy = square ? 0 : along_n ? k : n;
}

static void check_outputs(const struct way *way, const struct mxq_shape *shape,
                          const unsigned char *codes, const unsigned char *scales) {
  const size_t scale_bytes = mxq_mode_facts(way->variant->mode)->scale_bits / 8;
  const unsigned bits = mxq_type_facts(way->variant->out)->bits;
  for (size_t n = 0; n < way->rows; ++n)
    for (size_t k = 0; k < way->columns; ++k) {
      size_t i, copy;
      uint32_t scale = 0;
      element_at(way, n, k, &i, &copy);
      memcpy(&scale,
             scales + mxq_scale_offset(way->variant, shape, way->part, 0, n, k) * scale_bytes,
             scale_bytes);
      compare(way->variant, way->line, i, copy, "scale of element", way->line->scale, scale);
      compare(way->variant, way->line, i, copy, "code", way->line->codes[i],
              code_at(codes, bits, mxq_data_offset(way->variant, shape, way->part, 0, n, k)));
    }
}

static void check_line(const struct mxq_variant *variant, unsigned part, const struct line *line) {
  static unsigned char x[4 * max_length * max_length], codes[2][max_length * max_length];
  static unsigned char scales[2][4 * max_length * max_length];
  const struct way way = way_of(variant, part, line);
  const struct mxq_shape shape = mxq_shape_dense(1, (int64_t)way.rows, (int64_t)way.columns);
  const struct mxq_pointers pointers = {x, NULL, {codes[0], codes[1]}, {scales[0], scales[1]}};
  const size_t bytes = mxq_type_facts(variant->in)->bits / 8;
  assert_int_equal(mxq_shape_check(variant, &shape), MXQ_OK);
  for (size_t n = 0; n < way.rows; ++n)
    for (size_t k = 0; k < way.columns; ++k) {
      size_t i, copy;
      element_at(&way, n, k, &i, &copy);
      memcpy(x + (n * way.columns + k) * bytes, &line->x[i], bytes);
    }
  mxq_cpu_run(variant, &shape, &pointers);
  check_outputs(&way, &shape, codes[part], scales[part]);
}

static size_t checked_whole, checked_ragged;

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
    ++lines[i].used;
    for (unsigned part = 0; part < 2; ++part)
      if (mxq_layout_part(variant->layout, part) != MXQ_PART_NONE)
        check_line(variant, part, &lines[i]);
    ++*(lines[i].length == variant->block ? &whole : &ragged);
  }
  if (whole + ragged == 0 && variant->block >= shortest)
    fail_msg("%s: no line of vectors/blocks.txt is for it", name);
  checked_whole += whole;
  checked_ragged += ragged;
}

static void test_every_line(void **state) {
  struct mxq_variant variant = {0};
  size_t variants = 0;
  (void)state;
  for (; mxq_variant_next(&variant); ++variants)
    if (variant.op == MXQ_OP_QUANTIZE) check_variant(&variant);
  assert_int_not_equal(variants, 0);
  for (size_t i = 0; i < line_count; ++i)
    if (!lines[i].used) fail_msg("line %d is for no variant", lines[i].number);
  print_message("%zu variants: %zu lines as whole blocks, %zu as ragged ones\n", variants,
                checked_whole, checked_ragged);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_line)};
  return cmocka_run_group_tests_name("vectors", tests, read_lines, free_lines);
}
