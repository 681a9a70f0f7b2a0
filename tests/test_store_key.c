/* SPDX-License-Identifier: MIT
 *
 * What a cache key depends on, and what not.
 */
#include <locale.h>

#include "comma_locale.h"
#include "fakes.h"
#include "store_entry.h"
#include "store_fixture.h"

/* Kernel, arch, generator, options, format: everything that could change a cubin. */
static void every_bit_of_a_key_counts(void **state) {
  struct fixture *f = *state;
  struct mxq_entry_key key;
  char name[MXQ_STORE_NAME_SIZE], other[MXQ_STORE_NAME_SIZE];
  unsigned char *bytes = (unsigned char *)&key;
  mxq_entry_key_make(&f->key, &key);
  mxq_entry_key_name(&key, name);
  for (size_t i = 0; i < 8 * sizeof key; i++) {
    bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    mxq_entry_key_name(&key, other);
    bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    if (!strcmp(name, other)) fail_msg("bit %zu does not count", i);
  }
}

static void every_variant_and_arch_has_a_key(void **state) {
  struct fixture *f = *state;
  static char names[4096][MXQ_STORE_NAME_SIZE];
  struct mxq_variant variant = {0};
  const struct mxq_arch *arch;
  size_t count = 0;
  for (int v = 0; v < 300 && mxq_variant_next(&variant); v++)
    for (size_t a = 0; (arch = mxq_arch_at(a)) != NULL && count < 4096; a++) {
      struct mxq_store_key key = {f->key.kernel, arch};
      key.kernel.variant = variant;
      mxq_store_name(&key, names[count++]);
    }
  qsort(names, count, sizeof names[0], (int (*)(const void *, const void *))strcmp);
  for (size_t i = 1; i < count; i++) assert_string_not_equal(names[i - 1], names[i]);
}

/* In a child with a driver of its own: another process, folder, locale, home, time. */
static int name_elsewhere(void *user) {
  const struct fixture *f = user;
  char name[MXQ_STORE_NAME_SIZE], working[PATH_MAX];
  CHILD_CHECK(chdir("/") == 0 && getcwd(working, sizeof working) && setenv("HOME", "/x", 1) == 0);
  (void)comma_locale_set(f->root);
  mxq_store_name(&f->key, name);
  CHILD_CHECK(!strcmp(strrchr(f->file, '/') + 1, name));
  return 0;
}

static void place_process_locale_and_driver_count_not(void **state) {
  struct fixture *f = *state;
  assert_int_equal(fakes_in_child("version=12040", name_elsewhere, f), 0);
  assert_int_equal(fakes_in_child("version=13000;devices=100", name_elsewhere, f), 0);
}

static void the_name_is_not_the_path(void **state) {
  struct fixture *f = *state;
  char moved[PATH_MAX];
  must_write(f);
  snprintf(moved, sizeof moved, "%s/elsewhere", f->root);
  assert_int_equal(rename(f->dir, moved), 0);
  struct mxq_store store = store_of(moved);
  char why[1024];
  assert_true(read_back(&store, &f->key, why, sizeof why));
  mxq_store_free(&mxq_allocator_default, &store);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(every_bit_of_a_key_counts),
      EACH(every_variant_and_arch_has_a_key),
      EACH(place_process_locale_and_driver_count_not),
      EACH(the_name_is_not_the_path),
  };
#undef EACH
  return cmocka_run_group_tests(tests, NULL, NULL);
}
