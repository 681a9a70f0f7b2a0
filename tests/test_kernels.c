/* SPDX-License-Identifier: MIT
 *
 * Every default kernel through NVRTC: no spills, no local memory, no contracted arithmetic, and
 * the instructions that hand shared memory to the copy engine in their order. A test's name is the
 * kernel's name and its arch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "context.h"
#include "image.h"
#include "schedule.h"

#define CASES_MAX 256

static const char *const archs[] = {"90a", "100a", "120a"};

struct kernel_case {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  char name[MXQ_KERNEL_NAME_SIZE + 8];
};

static struct mxq_context *context;
static struct kernel_case cases[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];

static void uses_no_local_memory(const struct kernel_case *one) {
  const struct mxq_image *image = NULL;
  if (mxq_image_get(context, &one->id, one->arch, &image, NULL) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  const struct mxq_resources *used = &image->resources;
  if (used->spill_store_bytes || used->spill_load_bytes || used->stack_bytes || used->registers < 8)
    fail_msg("%u registers, %u bytes spilled by stores, %u by loads, %u bytes of stack",
             used->registers, used->spill_store_bytes, used->spill_load_bytes, used->stack_bytes);
}

/* The place of the first `instruction` after `from`, which must exist. */
static const char *after(const char *from, const char *instruction) {
  const char *found = strstr(from, instruction);
  if (!found) fail_msg("no %s where it should be", instruction);
  return found;
}

/* Shared stores, then the proxy fence by those who stored, then the barrier, then the bulk store,
 * its commit, and the wait for its reads. */
static void orders_the_bulk_store(const char *ptx) {
  const char *bulk = after(ptx, "cp.async.bulk.tensor.3d.global.shared::cta");
  const char *fence = NULL, *barrier = NULL, *store = NULL;
  for (const char *at = ptx; (at = strstr(at, "fence.proxy.async")) && at < bulk; ++at) fence = at;
  if (!fence) fail_msg("no fence.proxy.async before the bulk store");
  for (const char *at = ptx; (at = strstr(at, "st.shared")) && at < fence; ++at) store = at;
  if (!store) fail_msg("no st.shared before the proxy fence");
  for (const char *at = fence; (at = strstr(at, "bar")) && at < bulk; ++at)
    if (strncmp(at, "bar.sync", 8) == 0 || strncmp(at, "barrier.sync", 12) == 0) barrier = at;
  if (!barrier) fail_msg("no barrier between the proxy fence and the bulk store");
  after(after(bulk, "cp.async.bulk.commit_group"), "cp.async.bulk.wait_group");
}

static void contracts_nothing(const char *ptx) {
  static const char *const forbidden[] = {"fma.", ".ftz", ".approx", "ex2.", "lg2."};
  for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; ++i)
    if (strstr(ptx, forbidden[i])) fail_msg("%s in the PTX", forbidden[i]);
}

static void check(void **state) {
  const struct kernel_case *one = *state;
  char *ptx = NULL;
  uses_no_local_memory(one);
  if (mxq_compile_ptx(context, &one->id, one->arch, &ptx) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  contracts_nothing(ptx);
  if (one->id.family == MXQ_FAMILY_TMA) orders_the_bulk_store(ptx);
  free(ptx);
}

static size_t add_case(size_t count, const struct mxq_variant *variant,
                       const struct mxq_family_facts *family, const char *arch_name) {
  struct kernel_case *one = &cases[count];
  char name[MXQ_KERNEL_NAME_SIZE];
  if (count == CASES_MAX || mxq_arch_parse(arch_name, &one->arch) != MXQ_OK ||
      mxq_kernel_id_choose(variant, family->family, one->arch, &one->id) != MXQ_OK ||
      mxq_kernel_id_name(&one->id, name, sizeof name) != MXQ_OK) {
    printf("cannot list the kernels: %s\n", mxq_last_error());
    exit(1);
  }
  snprintf(one->name, sizeof one->name, "%s %s", name, arch_name);
  tests[count] = (struct CMUnitTest){.name = one->name, .test_func = check, .initial_state = one};
  return count + 1;
}

static size_t list_cases(void) {
  struct mxq_variant variant = {0};
  size_t count = 0;
  while (mxq_variant_next(&variant)) {
    const struct mxq_family_facts *family;
    for (size_t i = 0; (family = mxq_family_at(i)) != NULL; ++i)
      for (size_t j = 0; j < sizeof archs / sizeof archs[0]; ++j)
        count = add_case(count, &variant, family, archs[j]);
  }
  return count;
}

int main(void) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  const struct mxq_nvrtc *nvrtc = NULL;
  config.cache_dirs = "/proc/nothing"; /* everything is compiled anew */
  config.jit = MXQ_JIT_ON;
  if (mxq_context_create(&config, &context) != MXQ_OK ||
      mxq_context_nvrtc(context, &nvrtc) != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  const size_t count = list_cases();
  const int failed = _cmocka_run_group_tests("kernels", tests, count, NULL, NULL);
  mxq_context_destroy(context);
  return failed;
}
