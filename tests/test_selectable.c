/* SPDX-License-Identifier: MIT
 *
 * What a prebuilt set holds is what planning can select: planning is asked at many shapes, strides
 * and addresses, for variants all over the list and every arch. (mxq check asks for every variant
 * of a manifest.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "selection_walk.h"

#ifdef __SANITIZE_ADDRESS__
#define SAMPLES 24 /* it makes each four times as long */
#else
#define SAMPLES 120
#endif
#define PRIME 7919 /* steps through the list without a pattern */

static struct mxq_variant variants[8192];
static size_t variant_count;

static void check(const struct mxq_variant *variant, const struct mxq_arch *arch) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  size_t found[MXQ_SELECTABLE_MOST] = {0}, count = 0;
  char name[MXQ_KERNEL_NAME_SIZE];
  if (mxq_selectable(variant, arch, ids, &count) != MXQ_OK) fail_msg("%s", mxq_last_error());
  assert_in_range(count, 1, MXQ_SELECTABLE_MOST);
  if (selection_walk(variant, arch, ids, count, found) != MXQ_OK) fail_msg("%s", mxq_last_error());
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) assert_memory_not_equal(&ids[i], &ids[j], sizeof ids[i]);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(mxq_kernel_id_name(&ids[i], name, sizeof name), MXQ_OK);
    /* Those that move scales are launched by name. */
    if (!found[i] && !strstr(name, ".relayout-"))
      fail_msg("%s on %s is listed, but nothing selects it", name, arch->name);
  }
}

static void the_list_is_what_planning_selects(void **state) {
  const struct mxq_arch *arch;
  struct mxq_variant variant = {0};
  (void)state;
  while (variant_count < 8192 && mxq_variant_next(&variant)) variants[variant_count++] = variant;
  assert_in_range(variant_count, 12, 8191);
  /* One whose own kernel moves scales, for others too. */
  assert_int_equal(mxq_variant_parse("dequantize_e4m3_f32_b16_e8m0_row_blk", &variant), MXQ_OK);
  variants[0] = variant;
  for (size_t i = 0; i < SAMPLES; i++)
    for (size_t a = 0; (arch = mxq_arch_at(a)) != NULL; a++)
      check(&variants[i * PRIME % variant_count], arch);
}

static void a_kernel_that_is_not_listed_is_found(void **state) {
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  struct mxq_variant variant;
  const struct mxq_arch *arch = NULL;
  size_t count = 0;
  (void)state;
  assert_int_equal(mxq_variant_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &variant), MXQ_OK);
  assert_int_equal(mxq_arch_parse("90a", &arch), MXQ_OK);
  assert_int_equal(mxq_selectable(&variant, arch, ids, &count), MXQ_OK);
  assert_int_equal(count, 4); /* three sizes, and the generic one; none that moves linear scales */
  for (size_t i = 0; i < count; i++) {
    const struct mxq_kernel_id last = ids[count - 1], left = ids[i];
    ids[i] = last;
    assert_int_equal(selection_walk(&variant, arch, ids, count - 1, NULL), MXQ_INTERNAL);
    assert_non_null(strstr(mxq_last_error(), "lacks it"));
    ids[i] = left;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_is_what_planning_selects),
      cmocka_unit_test(a_kernel_that_is_not_listed_is_found),
  };
  return cmocka_run_group_tests_name("selectable", tests, NULL, NULL);
}
