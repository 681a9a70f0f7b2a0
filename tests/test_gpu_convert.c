/* SPDX-License-Identifier: MIT
 *
 * The emulator's conversions against the hardware's: all 2^32 floats to e4m3 and e5m2, and samples
 * of the others. test_emulator_exhaustive shows that the codes grow with the floats, so that a
 * table of where each code begins is all of the emulator's conversion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "device.h"
#include "driver.h"
#include "emulator/code_values.h"
#include "emulator/convert_samples.h"
#include "emulator/convert_source.h"
#include "emulator/primitives.h"
#include "gpu_tests.h"
#include "support.h"

enum { device = 0, threads = 256, samples = 1 << 22, codes_max = 128 };

/* As in emulator/convert_gpu.cu. */
struct convert_args {
  void *begins[2];
  unsigned counts[2];
  void *wrong, *first;
};
struct sample_args {
  void *operands[2];
  void *results[EMU_SAMPLES];
};

static CUlibrary library;
static const struct mxq_driver *driver;

#define CUDA_OK(call) assert_int_equal(driver->call, CUDA_SUCCESS)

static float bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int set_up(void **state) {
  struct mxq_nvrtc_search search;
  struct mxq_nvrtc nvrtc = {0};
  struct mxq_device_info info;
  struct mxq_compiled compiled;
  struct mxq_device_scope scope;
  const struct mxq_arch *arch;
  (void)state;
  OK(mxq_nvrtc_search_read(&mxq_allocator_default, getenv("MXQ_NVRTC"), &search));
  OK(mxq_nvrtc_open(&search, &nvrtc));
  mxq_nvrtc_search_free(&mxq_allocator_default, &search);
  OK(mxq_device_describe(device, &info));
  OK(mxq_arch_of_device(info.major, info.minor, &arch));
  char *source = emu_convert_source();
  OK(mxq_compile(&mxq_allocator_default, &nvrtc, source, "convert_gpu", arch, MXQ_COMPILE_CUBIN,
                 &compiled));
  free(source);
  OK(mxq_driver_get(&driver));
  OK(mxq_device_enter(driver, device, &scope));
  CUDA_OK(cuLibraryLoadData(&library, compiled.code, NULL, NULL, 0, NULL, NULL, 0));
  mxq_device_leave(&scope);
  mxq_free(&mxq_allocator_default, compiled.code);
  return 0;
}

static void launch(const char *name, unsigned grid, void *args) {
  struct mxq_device_scope scope;
  CUkernel kernel;
  void *parameters[] = {args};
  const CUlaunchConfig config = {.gridDimX = grid,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = threads,
                                 .blockDimY = 1,
                                 .blockDimZ = 1};
  OK(mxq_device_enter(driver, device, &scope));
  CUDA_OK(cuLibraryGetKernel(&kernel, library, name));
  CUDA_OK(cuLaunchKernelEx(&config, (CUfunction)kernel, parameters, NULL));
  CUDA_OK(cuCtxSynchronize());
  mxq_device_leave(&scope);
}

static void *to_device(const void *from, size_t bytes) {
  void *memory = NULL;
  OK(mxq_device_allocate(device, bytes, &memory));
  OK(mxq_device_upload(device, memory, from, bytes));
  return memory;
}

/* The smallest magnitude whose code is at least `code`. */
static uint32_t begin_of(const struct code_type *type, unsigned code) {
  uint32_t low = 0, high = 0x7F800000;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (emu_narrow(bits_float(middle), type->exponent_bits, type->mantissa_bits) >= code)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void wrong_floats(const int shift, uint64_t *wrong, uint32_t *first) {
  struct convert_args args;
  uint32_t begins[codes_max];
  *wrong = 0;
  *first = UINT32_MAX;
  for (int t = 0; t < 2; t++) {
    const struct code_type *type = &code_types[t];
    args.counts[t] = type->largest + 1;
    for (unsigned code = 0; code <= type->largest; code++) begins[code] = begin_of(type, code);
    begins[type->largest] += (uint32_t)shift;
    args.begins[t] = to_device(begins, args.counts[t] * sizeof *begins);
  }
  args.wrong = to_device(wrong, sizeof *wrong);
  args.first = to_device(first, sizeof *first);
  launch("convert_all", (1 << 20) / threads, &args);
  OK(mxq_device_download(device, wrong, args.wrong, sizeof *wrong));
  OK(mxq_device_download(device, first, args.first, sizeof *first));
  mxq_device_free(device, args.begins[0]);
  mxq_device_free(device, args.begins[1]);
  mxq_device_free(device, args.wrong);
  mxq_device_free(device, args.first);
}

static void test_all_floats(void **state) {
  uint64_t wrong;
  uint32_t first;
  (void)state;
  wrong_floats(0, &wrong, &first);
  if (wrong)
    fail_msg("the hardware's code differs for %llu floats, first 0x%08X", (unsigned long long)wrong,
             first);
}

/* A table that is one float wrong for each type shows as these floats and their negatives. */
static void test_a_wrong_table_is_seen(void **state) {
  uint64_t wrong;
  uint32_t first;
  (void)state;
  wrong_floats(1, &wrong, &first);
  assert_int_equal(wrong, 4);
  assert_int_equal(first, begin_of(&code_types[0], code_types[0].largest));
}

/* All f16 in the low halves of the first, and close to each other in every second pair. */
static void make_operands(uint32_t *a, uint32_t *b) {
  uint64_t random = 11;
  for (size_t i = 0; i < samples; i++) {
    const uint64_t bits = support_random(&random);
    a[i] = ((uint32_t)bits & 0xFFFF0000) | (uint32_t)(i & 0xFFFF);
    b[i] = i % 2 ? (uint32_t)(bits >> 32) : a[i] ^ ((uint32_t)(bits >> 32) & 0x80038003);
  }
}

static void test_samples(void **state) {
  struct sample_args args;
  const size_t bytes = samples * sizeof(uint32_t);
  char text[EMU_TEXT];
  uint32_t *a = malloc(bytes), *b = malloc(bytes), *actual = calloc(samples, sizeof *actual);
  (void)state;
  assert_true(a && b && actual);
  make_operands(a, b);
  args.operands[0] = to_device(a, bytes);
  args.operands[1] = to_device(b, bytes);
  for (size_t r = 0; r < EMU_SAMPLES; r++) args.results[r] = to_device(actual, bytes);
  launch("convert_sample", samples / threads, &args);
  for (size_t r = 0; r < EMU_SAMPLES; r++) {
    OK(mxq_device_download(device, actual, args.results[r], bytes));
    mxq_device_free(device, args.results[r]);
    for (size_t i = 0; i < samples; i++)
      if (!emu_sample_is_right(r, a[i], b[i], actual[i], text)) fail_msg("%s", text);
  }
  mxq_device_free(device, args.operands[0]);
  mxq_device_free(device, args.operands[1]);
  free(actual);
  free(b);
  free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_floats),
      cmocka_unit_test(test_a_wrong_table_is_seen),
      cmocka_unit_test(test_samples),
  };
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  return cmocka_run_group_tests(tests, set_up, NULL);
}
