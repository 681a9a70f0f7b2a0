/* SPDX-License-Identifier: MIT
 *
 * What templates expand to: holes, Lua lines, pastes, and the line directives that lead back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expand.h"
#include "template_folder.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MAIN(line)   "\n#line " #line " \"templates/tile.tma.cu\"\n"
#define AT(line)     "#line " #line " \"templates/tile.tma.cu\"\n"

/* Templates beside their expansions, after the header. "p.cuh" is the second text. */
static const struct {
  const char *text, *piece, *expected;
} cases[] = {
    /* Plain text is one piece; a final newline is added where it lacks. */
    {"a\nb\n\nc", NULL, MAIN(1) "a\nb\n\nc\n"},
    {"a\r\nb\r\n", NULL, MAIN(1) "a\nb\n"},
    {"a \\ \"q\" $ $} {} %d \xC3\xA9\n", NULL, MAIN(1) "a \\ \"q\" $ $} {} %d \xC3\xA9\n"},
    {"", NULL, ""},
    /* Holes. */
    {"x ${1 + 2} y ${\"z\"} ${true}\n", NULL, MAIN(1) "x 3 y z true\n"},
    {"${0.5} ${1e300} ${2.0} ${-0.1} ${1/3} ${448} ${-7}\n", NULL,
     MAIN(1) "0.5 1e+300 2.0 -0.1 0.3333333333333333 448 -7\n"},
    {"${\"}\"}${'{'}${({1, {2}})[2][1]}\n", NULL, MAIN(1) "}{2\n"},
    {"${\"a\\\"}\"}\n", NULL, MAIN(1) "a\"}\n"},
    /* Lua lines, and directives where the mapping breaks, nowhere else. */
    {"a\n//$ local x = 5\nb ${x}\nc\n", NULL, MAIN(1) "a\n" AT(3) "b 5\nc\n"},
    {"//$ for i = 1, 2 do\n  f(${i});\n  g();\n//$ end\nh();\n", NULL,
     MAIN(2) "  f(1);\n  g();\n" AT(2) "  f(2);\n  g();\n" AT(5) "h();\n"},
    {"a\n//$ if false then\nb\n//$ else\nc\n  //$ end\nd\n", NULL,
     MAIN(1) "a\n" AT(5) "c\n" AT(7) "d\n"},
    {"a\n//$ local x = 1\n\nb\n", NULL, MAIN(1) "a\n\n" AT(4) "b\n"},
    {"${\"a\\nb\"}\nc\n", NULL, MAIN(1) "a\nb\n" AT(2) "c\n"},
    /* No directive can stand inside of a macro that goes on. */
    {"#define M \\\n//$ local x = 3\n  ${x} \\\n  y\nz\n", NULL,
     MAIN(1) "#define M \\\n  3 \\\n  y\n" AT(5) "z\n"},
    /* Pastes. */
    {"a\n//$ paste \"p.cuh\"\nb\n", "p${block}\nq\n",
     MAIN(1) "a\n\n#line 1 \"templates/p.cuh\"\np32\nq\n" MAIN(3) "b\n"},
    {"//$ paste(\"p.cuh\", {n = 3})\n", "p${n} ${block}\n",
     "\n#line 1 \"templates/p.cuh\"\np3 32\n"},
    /* Names of the template's own are not those of the engine. */
    {"//$ local S = 4\na ${S}\nb\n", NULL, MAIN(2) "a 4\nb\n"},
    {"//$ paste(\"p.cuh\", {S = 4})\n", "p${S}\n", "\n#line 1 \"templates/p.cuh\"\np4\n"},
    {"//$ for i = 1, 2 do paste \"p.cuh\" end\n", "p\n",
     "\n#line 1 \"templates/p.cuh\"\np\n#line 1 \"templates/p.cuh\"\np\n"},
    /* A piece that is needed twice is there once; pasting it is something else. */
    {"//$ need \"p.cuh\"\na\n//$ need \"p.cuh\"\nb\n", "p\n",
     "\n#line 1 \"templates/p.cuh\"\np\n" MAIN(2) "a\n" AT(4) "b\n"},
    {"//$ need \"p.cuh\"\n//$ paste \"p.cuh\"\n", "p\n",
     "\n#line 1 \"templates/p.cuh\"\np\n#line 1 \"templates/p.cuh\"\np\n"},
    /* A file's own license and guard stay behind. */
    {"//$ paste \"p.cuh\"\n",
     "/* SPDX-License-Identifier: MIT\n *\n * About.\n */\n#ifndef P\n#define P\n\n/* t */\n"
     "#ifdef Q\n#endif\n\n#endif\n",
     "\n#line 8 \"templates/p.cuh\"\n/* t */\n#ifdef Q\n#endif\n"},
    {"// SPDX-License-Identifier: MIT\n// About.\n\n// Text.\na\n\n", NULL,
     MAIN(4) "// Text.\na\n"},
    {"// SPDX-License-Identifier: MIT\n//$ local x = 1\n// T ${x}\n", NULL, MAIN(3) "// T 1\n"},
    {"// SPDX-License-Identifier: MIT\n\n#ifndef P\n#define Q\n#endif\n", NULL,
     MAIN(3) "#ifndef P\n#define Q\n#endif\n"},
    {"/* Text, no license. */\n#ifndef P\n#define Q\n#endif\n", NULL,
     MAIN(1) "/* Text, no license. */\n#ifndef P\n#define Q\n#endif\n"},
    /* Facts: the rows of axes.def, the kernel, the arch. */
    {"${variant.name} ${variant.op} ${variant.input} ${variant.output} ${variant.block} "
     "${variant.mode} ${variant.layout} ${variant.scales}\n",
     NULL, MAIN(1) "quantize_bf16_e4m3_b32_rceil_colt_lin quantize bf16 e4m3 b32 rceil colt lin\n"},
    {"${input.bits} ${input.wide} ${input.c_type} ${input.emax} ${output.max} ${output.nan_code} "
     "${output.dtype} ${output.token} ${output.number} ${mode.scale_bits} ${block}\n",
     NULL, MAIN(1) "16 1 unsigned short 127 448 127 F8_E4M3 e4m3 4 8 32\n"},
    {"${layout.first == part.along_n | part.column_major} ${layout.second == part.none}\n", NULL,
     MAIN(1) "true true\n"},
    {"${kernel.name} ${kernel.symbol} ${kernel.family} ${kernel.tile_n} ${kernel.threads} "
     "${kernel.out_offset} ${kernel.blocks_per_sm} ${arch.name} ${arch.number}\n",
     NULL,
     MAIN(1) "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128 "
             "quantize_bf16_e4m3_b32_rceil_colt_lin_tma_128x128 tma 128 256 32768 4 90a 90\n"},
    /* What there is of Lua. */
    {"${(\"a-b\"):gsub(\"-\", \"_\")} ${string.format(\"%04x %s\", 255, \"s\")}\n", NULL,
     MAIN(1) "a_b 00ff s\n"},
    {"${table.concat({1, 2, 3}, \", \")} ${math.max(2, 3)} ${select(\"#\", 1, 2)} "
     "${type(nil)} ${tostring(2)} ${tonumber(\"0.25\")}\n",
     NULL, MAIN(1) "1, 2, 3 3 2 nil 2 0.25\n"},
};

static void expands_to_the_expected_text(void **state) {
  const struct template_folder *folder = *state;
  for (size_t i = 0; i < COUNT(cases); ++i) {
    char *source = NULL;
    if (cases[i].piece)
      template_folder_write(folder, "p.cuh", cases[i].piece, strlen(cases[i].piece));
    if (template_expand(folder, cases[i].text, &source) != MXQ_OK)
      fail_msg("%s\n%s", cases[i].text, mxq_last_error());
    assert_string_equal(source, cases[i].expected);
    template_free(source);
  }
}

static char *expand_kernel(const char *kernel, const char *arch_name) {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  char *source = NULL;
  size_t length = 0;
  assert_int_equal(mxq_kernel_id_parse(kernel, &id), MXQ_OK);
  assert_int_equal(mxq_arch_parse(arch_name, &arch), MXQ_OK);
  if (mxq_expand(&mxq_allocator_default, &id, arch, NULL, &source, &length) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  assert_int_equal(strlen(source), length);
  return source;
}

static void begins_with_what_reproduces_it(void **state) {
  (void)state;
  static const struct {
    const char *kernel, *arch, *expected;
  } rows[] = {
      {"quantize_bf16_e4m3_b32_rceil_colt_lin", "90a",
       "// quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128 for sm_90a, from "
       "templates/tile.tma.cu.\n"
       "// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 90a\n"},
      {"quantize_f32_e5m2_b32_floor_colt_lin.tma-256x64", "100a",
       "// quantize_f32_e5m2_b32_floor_colt_lin.tma-256x64 for sm_100a, from "
       "templates/tile.tma.cu.\n"
       "// Reproduce: mxq source quantize_f32_e5m2_b32_floor_colt_lin --arch 100a --kernel "
       "quantize_f32_e5m2_b32_floor_colt_lin.tma-256x64\n"},
      {"quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256", "90a",
       "// quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256 for sm_90a, from "
       "templates/any_row.cu.\n"
       "// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_row_lin --arch 90a --kernel "
       "quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256\n"},
      {"quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256", "80",
       "// quantize_bf16_e4m3_b32_rceil_row_lin.any-64x256 for sm_80, from "
       "templates/any_row.cu.\n"
       "// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_row_lin --arch 80\n"},
  };
  for (size_t i = 0; i < COUNT(rows); ++i) {
    char *source = expand_kernel(rows[i].kernel, rows[i].arch);
    assert_memory_equal(source, rows[i].expected, strlen(rows[i].expected));
    template_free(source);
  }
}

static void is_whole(const char *source, const struct mxq_kernel_id *id) {
  static const char *const never[] = {"#include", "${", "//$", "#pragma once", "MXQ_ARGS_H"};
  char symbol[MXQ_KERNEL_NAME_SIZE];
  assert_int_equal(mxq_kernel_id_symbol(id, symbol, sizeof symbol), MXQ_OK);
  if (!strstr(source, symbol)) fail_msg("no %s in its source", symbol);
  for (size_t i = 0; i < COUNT(never); ++i)
    if (strstr(source, never[i])) fail_msg("%s: has %s", symbol, never[i]);
}

/* Every kernel is one self-contained source: no include, nothing of the engine left. Fast kernels
 * on an arch that has the copy engine, generic ones on the oldest. */
static void expands_every_variant(void **state) {
  (void)state;
  static const struct {
    enum mxq_family family;
    const char *arch;
  } rows[] = {{MXQ_FAMILY_TMA, "90a"}, {MXQ_FAMILY_ANY, "80"}};
  struct mxq_variant variant = {0};
  struct mxq_expander *expander;
  assert_int_equal(mxq_expander_create(&mxq_allocator_default, NULL, &expander), MXQ_OK);
  while (mxq_variant_next(&variant))
    for (size_t i = 0; i < COUNT(rows); ++i) {
      const struct mxq_arch *arch;
      struct mxq_kernel_id id;
      char *source = NULL;
      assert_int_equal(mxq_arch_parse(rows[i].arch, &arch), MXQ_OK);
      assert_int_equal(mxq_kernel_id_choose(&variant, rows[i].family, arch, &id), MXQ_OK);
      if (mxq_expander_expand(expander, &id, arch, &source, NULL) != MXQ_OK)
        fail_msg("%s", mxq_last_error());
      is_whole(source, &id);
      template_free(source);
    }
  mxq_expander_destroy(expander);
}

static void hash_has_32_digits(void **state) {
  (void)state;
  assert_int_equal(strlen(mxq_generator_hash), 32);
  assert_int_equal(strspn(mxq_generator_hash, "0123456789abcdef"), 32);
}

static int make_folder(void **state) {
  static struct template_folder folder;
  folder = template_folder_make();
  *state = &folder;
  return 0;
}

static int remove_folder(void **state) {
  template_folder_remove(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expands_to_the_expected_text),
      cmocka_unit_test(begins_with_what_reproduces_it),
      cmocka_unit_test(expands_every_variant),
      cmocka_unit_test(hash_has_32_digits),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
