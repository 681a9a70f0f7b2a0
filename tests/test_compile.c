/* SPDX-License-Identifier: MIT
 *
 * NVRTC: found, opened, and asked for cubins and PTX; its errors lead somewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compile.h"
#include "emulator/convert_source.h"
#include "nvrtc.h"

static const char name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128";

static struct mxq_nvrtc nvrtc;

static enum mxq_status open_as(const char *path, struct mxq_nvrtc *opened) {
  struct mxq_nvrtc_search search;
  if (mxq_nvrtc_search_read(&mxq_allocator_default, path, &search) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  const enum mxq_status status = mxq_nvrtc_open(&search, opened);
  mxq_nvrtc_search_free(&mxq_allocator_default, &search);
  return status;
}

static const struct mxq_arch *arch_of(const char *text) {
  const struct mxq_arch *arch = NULL;
  if (mxq_arch_parse(text, &arch) != MXQ_OK) fail_msg("%s", mxq_last_error());
  return arch;
}

static struct mxq_compiled compile(const char *source, enum mxq_compile_output output) {
  struct mxq_compiled compiled;
  if (mxq_compile(&mxq_allocator_default, &nvrtc, source, name, arch_of("90a"), output,
                  &compiled) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  return compiled;
}

static void expect_text(const char *part) {
  if (!strstr(mxq_last_error(), part)) fail_msg("no \"%s\" in: %s", part, mxq_last_error());
}

static void opens_a_usable_version(void **state) {
  (void)state;
  assert_true(nvrtc.major > 12 || (nvrtc.major == 12 && nvrtc.minor >= 9));
  assert_int_equal(nvrtc.path[0], '/');
  assert_int_equal(strspn(nvrtc.build_id, "0123456789abcdef"), strlen(nvrtc.build_id));
}

static void compiles_to_a_cubin_and_reads_its_resources(void **state) {
  (void)state;
  static const char source[] =
      "extern \"C\" __global__ void k(float *p, float a) { p[threadIdx.x] = a * p[1] + 1.0f; }\n";
  struct mxq_compiled first = compile(source, MXQ_COMPILE_CUBIN);
  struct mxq_compiled second = compile(source, MXQ_COMPILE_CUBIN);
  assert_memory_equal(first.code, "\177ELF", 4);
  assert_in_range(first.resources.registers, 4, 64);
  assert_int_equal(first.resources.stack_bytes, 0);
  assert_int_equal(first.resources.spill_store_bytes, 0);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.code, second.code, first.size);
  free(first.code);
  free(second.code);
}

static void sees_local_memory_and_spills(void **state) {
  (void)state;
  struct mxq_compiled compiled = compile(
      "extern \"C\" __global__ void k(float *p, int n) {\n"
      "  float l[64];\n"
      "  for (int i = 0; i < 64; ++i) l[i] = p[i * n];\n"
      "  for (int i = 0; i < 64; ++i) p[i] = l[(i * n) & 63];\n"
      "}\n",
      MXQ_COMPILE_CUBIN);
  assert_int_equal(compiled.resources.stack_bytes, 256);
  free(compiled.code);
  compiled = compile(
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) k(float *p, int n) {\n"
      "  float l[64];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) l[i] = p[i * n];\n"
      "  __syncthreads();\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) p[i * n + 7] = l[63 - i];\n"
      "}\n",
      MXQ_COMPILE_CUBIN);
  assert_true(compiled.resources.spill_store_bytes > 0);
  assert_true(compiled.resources.spill_load_bytes > 0);
  free(compiled.code);
}

static void never_contracts_a_product_and_a_sum(void **state) {
  (void)state;
  struct mxq_compiled compiled =
      compile("extern \"C\" __global__ void k(float *p, float a, float b) { *p = a * *p + b; }\n",
              MXQ_COMPILE_PTX);
  assert_null(strstr(compiled.code, "fma"));
  assert_non_null(strstr(compiled.code, "mul.rn.f32"));
  assert_non_null(strstr(compiled.code, "add.rn.f32"));
  assert_null(strstr(compiled.code, ".ftz"));
  free(compiled.code);
}

static void an_error_leads_to_the_template(void **state) {
  (void)state;
  struct mxq_compiled compiled = {.size = 77};
  assert_int_equal(
      mxq_compile(&mxq_allocator_default, &nvrtc,
                  "#line 12 \"tile.tma.cu\"\n__global__ void k(int *p) {\n*p = q;\n}\n", name,
                  arch_of("90a"), MXQ_COMPILE_CUBIN, &compiled),
      MXQ_COMPILE_FAILED);
  assert_int_equal(compiled.size, 77);
  expect_text("tile.tma.cu(13): error");
  expect_text(name);
  expect_text(
      "mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 90a --kernel "
      "quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128");
}

/* A header in the working folder must not get into a kernel. */
static void sources_find_no_headers(void **state) {
  (void)state;
  char folder[] = "/tmp/mxq-compile-XXXXXX", before[4096];
  struct mxq_compiled compiled;
  assert_non_null(getcwd(before, sizeof before));
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  FILE *header = fopen("here.h", "w");
  assert_non_null(header);
  assert_int_equal(fclose(header), 0);
  const enum mxq_status status =
      mxq_compile(&mxq_allocator_default, &nvrtc, "#include \"here.h\"\n__global__ void k() {}\n",
                  name, arch_of("90a"), MXQ_COMPILE_CUBIN, &compiled);
  assert_int_equal(unlink("here.h"), 0);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(status, MXQ_COMPILE_FAILED);
  expect_text("here.h");
}

/* What test_gpu_convert runs, where no GPU is. From sm_90 on there is all of it. */
static void every_primitive_compiles(void **state) {
  static const char *const archs[] = {"90a", "100a", "120a"};
  (void)state;
  char *source = emu_convert_source();
  for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
    struct mxq_compiled compiled;
    if (mxq_compile(&mxq_allocator_default, &nvrtc, source, "convert_gpu", arch_of(archs[i]),
                    MXQ_COMPILE_CUBIN, &compiled) != MXQ_OK)
      fail_msg("%s", mxq_last_error());
    mxq_free(&mxq_allocator_default, compiled.code);
  }
  free(source);
}

static void an_arch_that_is_too_new_is_named(void **state) {
  (void)state;
  const struct mxq_arch future = {
      .name = "999a", .number = 999, .shared_max = 1 << 16, .has_tma = 1};
  struct mxq_compiled compiled;
  char version[32];
  assert_int_equal(
      mxq_compile(&mxq_allocator_default, &nvrtc, "", name, &future, MXQ_COMPILE_CUBIN, &compiled),
      MXQ_NO_NVRTC);
  snprintf(version, sizeof version, "NVRTC %d.%d", nvrtc.major, nvrtc.minor);
  expect_text(version);
  expect_text("999a");
}

static void a_wrong_path_is_named(void **state) {
  (void)state;
  struct mxq_nvrtc opened = {.major = -1};
  assert_int_equal(open_as("/no/such/libnvrtc.so.13", &opened), MXQ_NO_NVRTC);
  expect_text("/no/such/libnvrtc.so.13");
  expect_text("12.9");
  assert_int_equal(open_as("/etc/passwd", &opened), MXQ_NO_NVRTC);
  expect_text("/etc/passwd");
  assert_int_equal(open_as("libm.so.6", &opened), MXQ_NO_NVRTC);
  expect_text("nvrtcVersion");
  setenv("MXQ_NVRTC", "/from/the/variable.so", 1);
  assert_int_equal(open_as(NULL, &opened), MXQ_NO_NVRTC);
  expect_text("/from/the/variable.so");
  unsetenv("MXQ_NVRTC");
  assert_int_equal(opened.major, -1);
}

static void a_right_path_is_taken(void **state) {
  (void)state;
  struct mxq_nvrtc opened;
  assert_int_equal(open_as(nvrtc.path, &opened), MXQ_OK);
  assert_string_equal(opened.path, nvrtc.path);
  assert_string_equal(opened.build_id, nvrtc.build_id);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opens_a_usable_version),
      cmocka_unit_test(compiles_to_a_cubin_and_reads_its_resources),
      cmocka_unit_test(sees_local_memory_and_spills),
      cmocka_unit_test(never_contracts_a_product_and_a_sum),
      cmocka_unit_test(an_error_leads_to_the_template),
      cmocka_unit_test(sources_find_no_headers),
      cmocka_unit_test(every_primitive_compiles),
      cmocka_unit_test(an_arch_that_is_too_new_is_named),
      cmocka_unit_test(a_wrong_path_is_named),
      cmocka_unit_test(a_right_path_is_taken),
  };
  if (open_as(NULL, &nvrtc) != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
