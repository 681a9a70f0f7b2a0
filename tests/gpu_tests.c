/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fnmatch.h>
#include <stdio.h>

#include "device.h"
#include "gpu_tests.h"
#include "selectable.h"

enum { kernels_max = 32768 };
struct mxq_context *gpu_context;
mxq_stream gpu_stream;

static struct mxq_kernel_id ids[kernels_max];
static char names[kernels_max][MXQ_KERNEL_NAME_SIZE];
static struct CMUnitTest tests[kernels_max];

int gpu_tests_skip(int devices) {
  int count = 0;
  const enum mxq_status status = mxq_device_count(&count);
  if (status == MXQ_OK && count >= devices) return 0;
  printf("skipped: %d device%s needed: ", devices, devices == 1 ? "" : "s");
  if (status == MXQ_OK)
    printf("the driver sees %d\n", count);
  else
    printf("%s\n", mxq_last_error());
  return 77;
}

int gpu_tests_begin(void **state) {
  (void)state;
  if (mxq_context_create(NULL, &gpu_context) == MXQ_OK &&
      mxq_device_stream_create(gpu_device, &gpu_stream) == MXQ_OK)
    return 0;
  fprintf(stderr, "%s\n", mxq_last_error());
  return -1;
}

int gpu_tests_end(void **state) {
  (void)state;
  mxq_device_stream_destroy(gpu_device, gpu_stream);
  mxq_context_destroy(gpu_context);
  return 0;
}

int gpu_tests_selected(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (fnmatch(argv[i], name, 0) == 0) return 1;
  return argc < 2;
}

static enum mxq_status device_arch(const struct mxq_arch **arch) {
  struct mxq_device_info info;
  const enum mxq_status status = mxq_device_describe(gpu_device, &info);
  return status == MXQ_OK ? mxq_arch_of_device(info.major, info.minor, arch) : status;
}

/* Adds the selected kernels of the variant behind the first `listed`; how many are listed then. */
static size_t list_variant(const struct mxq_variant *variant, const struct mxq_arch *arch,
                           void (*test)(void **state), int argc, char **argv, size_t listed) {
  struct mxq_kernel_id found[MXQ_SELECTABLE_MOST];
  size_t some = 0;
  if (mxq_selectable_by_plans(variant, arch, found, &some) != MXQ_OK) return listed;
  for (size_t i = 0; i < some && listed < kernels_max; i++) {
    char *const name = names[listed];
    if (mxq_kernel_id_name(&found[i], name, sizeof names[listed]) != MXQ_OK) continue;
    if (!gpu_tests_selected(name, argc, argv)) continue;
    ids[listed] = found[i];
    tests[listed] =
        (struct CMUnitTest){.name = name, .test_func = test, .initial_state = &ids[listed]};
    listed++;
  }
  return listed;
}

int gpu_tests_of_kernels(const char *group, enum mxq_op op, void (*test)(void **state), int argc,
                         char **argv) {
  const struct mxq_arch *arch = NULL;
  struct mxq_variant variant = {0};
  size_t listed = 0;
  const int skip = gpu_tests_skip(1);
  if (skip) return skip;
  if (device_arch(&arch) != MXQ_OK) {
    fprintf(stderr, "%s\n", mxq_last_error());
    return 1;
  }
  while (mxq_variant_next(&variant))
    if (variant.op == op) listed = list_variant(&variant, arch, test, argc, argv, listed);
  if (listed == 0) {
    fprintf(stderr, "no kernel matches\n");
    return 2;
  }
  return _cmocka_run_group_tests(group, tests, listed, gpu_tests_begin, gpu_tests_end);
}
