/* SPDX-License-Identifier: MIT
 *
 * One expanded source of each form of kernel, and one with two outputs, committed, so that a change
 * of a template or of the engine shows in review what it does to kernels. `test_golden --update`
 * writes them anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expand.h"
#include "schedule.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ARCH         "90a"
#define FOLDER       MXQ_TEST_DIR "/golden"

static const struct {
  enum mxq_form form;
  const char *kernel;
} goldens[] = {
    {MXQ_FORM_TILE, "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128"},
    {MXQ_FORM_ROW, "quantize_f16_e2m1_b16_even_row_lin.tma-16x512"},
    {MXQ_FORM_STRIP, "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-32x64-direct"},
    {MXQ_FORM_TILE, "quantize_bf16_e4m3_b32_rceil_rowcolt_blk.tma-128x128"},
    {MXQ_FORM_ANY, "quantize_bf16_e4m3_b32_rceil_rowcolt_lin.any-128x128"},
    {MXQ_FORM_ANY, "quantize_f32_e4m3_b128_amax_sq_lin.any-128x128"},
    {MXQ_FORM_ANY_ROW, "quantize_f16_e5m2_b64_amax_row_lin.any-64x256"},
    {MXQ_FORM_DEQUANT_TILE, "dequantize_e4m3_bf16_b32_e8m0_colt_blk.tma-128x64"},
    {MXQ_FORM_DEQUANT_ROW, "dequantize_e2m1_f32_b16_e8m0_row_mn.tma-8x512"},
    {MXQ_FORM_DEQUANT_ANY, "dequantize_e5m2_f16_b64_f32_sqt_lin.any-128x128"},
    {MXQ_FORM_RELAYOUT, "dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256"},
};

/* The expansion of a kernel and its file; NULL with a message on failure. */
static char *expand_kernel(const char *name, enum mxq_form form, char path[512]) {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  char *source;
  if (mxq_kernel_id_parse(name, &id) != MXQ_OK || mxq_arch_parse(ARCH, &arch) != MXQ_OK ||
      mxq_expand(&mxq_allocator_default, &id, arch, NULL, &source, NULL) != MXQ_OK) {
    fprintf(stderr, "%s\n", mxq_last_error());
    return NULL;
  }
  if (mxq_form_facts(&id)->form != form) {
    fprintf(stderr, "%s has another form than %d\n", name, (int)form);
    mxq_free(&mxq_allocator_default, source);
    return NULL;
  }
  snprintf(path, 512, FOLDER "/%s.cu", name);
  return source;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  const size_t size = 1 << 20;
  char *text = malloc(size);
  if (text) text[fread(text, 1, size - 1, file)] = 0;
  fclose(file);
  return text;
}

static unsigned first_difference(const char *a, const char *b) {
  unsigned line = 1;
  for (; *a && *a == *b; ++a, ++b) line += *a == '\n';
  return line;
}

static void expansions_are_the_committed_ones(void **state) {
  (void)state;
  unsigned different = 0;
  for (size_t i = 0; i < COUNT(goldens); ++i) {
    char path[512];
    char *source = expand_kernel(goldens[i].kernel, goldens[i].form, path);
    assert_non_null(source);
    char *golden = read_text(path);
    if (!golden) {
      ++different;
      print_error("%s is missing\n", path);
    } else if (strcmp(golden, source) != 0) {
      ++different;
      print_error("%s differs from line %u on\n", path, first_difference(golden, source));
    }
    free(golden);
    mxq_free(&mxq_allocator_default, source);
  }
  if (different)
    fail_msg("look at the difference, and if it is meant: build/bin/test_golden --update");
}

static int update(void) {
  for (size_t i = 0; i < COUNT(goldens); ++i) {
    char path[512];
    char *source = expand_kernel(goldens[i].kernel, goldens[i].form, path);
    if (!source) return 1;
    FILE *file = fopen(path, "wb");
    if (!file || fputs(source, file) < 0 || fclose(file) != 0) {
      perror(path);
      return 1;
    }
    printf("wrote %s\n", path);
    mxq_free(&mxq_allocator_default, source);
  }
  return 0;
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expansions_are_the_committed_ones)};
  if (count == 2 && strcmp(arguments[1], "--update") == 0) return update();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
