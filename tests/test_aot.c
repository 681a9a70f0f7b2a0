/* SPDX-License-Identifier: MIT
 *
 * Prebuilt sets of kernels: what is written, what is found, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "context.h"
#include "emit.h"
#include "image.h"
#include "kernel_set.h"

#define KERNELS 3

static const char variant_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static const struct mxq_emit_words words = {"made_set", "mxq emit list.txt", "NVRTC 13.0"};
static char code[KERNELS][100];

/* One kernel for two archs and another one for the first. */
static void describe(struct mxq_emit_kernel kernels[KERNELS]) {
  static const char *const names[] = {variant_name, variant_name,
                                      "quantize_f32_e4m3_b32_rceil_colt_lin"};
  static const char *const archs[] = {"90a", "100a", "90a"};
  memset(kernels, 0, KERNELS * sizeof *kernels);
  for (size_t i = 0; i < KERNELS; i++) {
    memset(code[i], 'a' + (int)i, sizeof code[i]);
    assert_int_equal(mxq_kernel_id_parse(names[i], &kernels[i].id), MXQ_OK);
    assert_int_equal(mxq_arch_parse(archs[i], &kernels[i].arch), MXQ_OK);
    kernels[i].registers = 40 + (unsigned)i;
    kernels[i].stack_bytes = 8;
    kernels[i].cubin = (const unsigned char *)code[i];
    kernels[i].cubin_size = sizeof code[i] - i;
  }
}

struct fixture {
  struct mxq_emit_kernel kernels[KERNELS];
  struct mxq_emit_file files[MXQ_EMIT_FILES];
  struct mxq_kernel_set set;
  unsigned char *blob; /* of the set, for damage */
  struct mxq_context *context;
  char warning[512];
};

static void note(void *user, enum mxq_log_level level, const char *message) {
  struct fixture *f = user;
  if (level == MXQ_LOG_WARNING) snprintf(f->warning, sizeof f->warning, "%s", message);
}

static int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  struct mxq_config config = MXQ_CONFIG_INIT;
  describe(f->kernels);
  if (mxq_emit(&mxq_allocator_default, f->kernels, KERNELS, &words, f->files) != MXQ_OK) return -1;
  f->blob = aligned_alloc(64, (f->files[0].size + 63) / 64 * 64);
  memcpy(f->blob, f->files[0].bytes, f->files[0].size);
  f->set = (struct mxq_kernel_set){MXQ_KERNEL_SET_MAGIC, MXQ_KERNEL_SET_FORMAT, sizeof f->set,
                                   f->blob, f->files[0].size};
  describe(f->kernels); /* in their first order again */
  config.jit = MXQ_JIT_OFF;
  config.log = note;
  config.log_user = f;
  config.log_level = MXQ_LOG_INFO;
  *state = f;
  return mxq_context_create(&config, &f->context);
}

static int teardown(void **state) {
  struct fixture *f = *state;
  mxq_context_destroy(f->context);
  mxq_emit_free(&mxq_allocator_default, f->files);
  free(f->blob);
  free(f);
  return 0;
}

static struct mxq_set_row *row(struct fixture *f, size_t index) {
  return (struct mxq_set_row *)(void *)(f->blob + sizeof(struct mxq_set_header)) + index;
}

/* After a change of the rows that is not meant to be found out by the checksum. */
static void seal(struct fixture *f) {
  struct mxq_set_header *header = (void *)f->blob;
  mxq_set_checksum(header, row(f, 0), header->checksum);
}

static enum mxq_status get(struct fixture *f, size_t index, const struct mxq_image **image,
                           enum mxq_origin *origin) {
  return mxq_image_get(f->context, &f->kernels[index].id, f->kernels[index].arch, image, origin);
}

static void every_kernel_is_found_for_its_arch(void **state) {
  struct fixture *f = *state;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin;
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  for (size_t i = 0; i < KERNELS; i++) {
    assert_int_equal(get(f, i, &image, &origin), MXQ_OK);
    assert_int_equal(origin, MXQ_ORIGIN_AOT);
    assert_int_equal(image->cubin_size, f->kernels[i].cubin_size);
    assert_memory_equal(image->cubin, f->kernels[i].cubin, image->cubin_size);
    assert_int_equal((uintptr_t)image->cubin % MXQ_SET_ALIGNMENT, 0);
    assert_int_equal(image->resources.registers, 40 + i);
    assert_int_equal(image->resources.stack_bytes, 8);
    assert_ptr_equal(image->arch, f->kernels[i].arch);
    assert_int_equal(get(f, i, &image, &origin), MXQ_OK);
    assert_int_equal(origin, MXQ_ORIGIN_MEMORY);
  }
}

static void a_miss_names_the_line_to_add(void **state) {
  struct fixture *f = *state;
  const struct mxq_image *image = NULL;
  f->kernels[2].arch = f->kernels[1].arch; /* the f32 kernel is in the set for 90a alone */
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  assert_int_equal(get(f, 2, &image, NULL), MXQ_NOT_PREBUILT);
  assert_null(image);
  assert_non_null(strstr(mxq_last_error(), "arch 100a"));
  const char *line = strstr(mxq_last_error(), "line to add: ");
  assert_non_null(line);
  assert_string_equal(line + 13, "quantize_f32_e4m3_b32_rceil_colt_lin");
}

static void a_set_that_comes_after_a_miss_is_used(void **state) {
  struct fixture *f = *state;
  const struct mxq_image *image = NULL;
  assert_int_equal(get(f, 0, &image, NULL), MXQ_NOT_PREBUILT);
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  assert_int_equal(get(f, 0, &image, NULL), MXQ_OK);
}

static void the_first_set_with_the_kernel_wins(void **state) {
  struct fixture *f = *state;
  struct fixture *second = NULL;
  const struct mxq_image *image = NULL;
  setup((void **)&second);
  assert_int_equal(mxq_context_add_kernels(f->context, &second->set), MXQ_OK);
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  assert_int_equal(get(f, 0, &image, NULL), MXQ_OK);
  assert_in_range((uintptr_t)image->cubin, (uintptr_t)second->blob,
                  (uintptr_t)second->blob + second->set.blob_bytes);
  /* A damaged one is passed over. */
  row(second, 0)->cubin_hash ^= 1;
  row(second, 1)->cubin_hash ^= 1;
  row(second, 2)->cubin_hash ^= 1;
  seal(second);
  assert_int_equal(get(f, 2, &image, NULL), MXQ_OK);
  assert_in_range((uintptr_t)image->cubin, (uintptr_t)f->blob,
                  (uintptr_t)f->blob + f->set.blob_bytes);
  mxq_context_destroy(f->context); /* before its sets */
  f->context = NULL;
  teardown((void **)&second);
}

static void refuse(struct fixture *f, const char *why) {
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_INVALID_ARGUMENT);
  if (!strstr(mxq_last_error(), why)) fail_msg("no \"%s\" in: %s", why, mxq_last_error());
}

static void sets_of_other_formats_are_refused(void **state) {
  struct fixture *f = *state;
  struct mxq_set_header *header = (void *)f->blob;
  const struct mxq_kernel_set good = f->set;
  f->set.magic++;
  refuse(f, "is none");
  f->set = good, f->set.blob = NULL;
  refuse(f, "is none");
  f->set = good, f->set.format++;
  refuse(f, "of format 2");
  f->set = good, f->set.size -= 8;
  refuse(f, "32 bytes");
  f->set = good, f->set.blob_bytes--;
  refuse(f, "length");
  f->set = good, f->set.blob_bytes = 8;
  refuse(f, "begin like one");
  f->set = good, header->format++;
  refuse(f, "another format");
  header->format--, header->args_digest[0] ^= 1;
  refuse(f, "checksum");
  seal(f);
  refuse(f, "other arguments");
  header->args_digest[0] ^= 1, header->row_count += 1u << 30;
  refuse(f, "length");
  header->row_count -= 1u << 30, seal(f);
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  assert_int_equal(mxq_context_add_kernels(f->context, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_context_add_kernels(NULL, &f->set), MXQ_INVALID_ARGUMENT);
}

static void no_byte_of_a_set_may_change(void **state) {
  struct fixture *f = *state;
  const size_t frame = sizeof(struct mxq_set_header) + KERNELS * sizeof(struct mxq_set_row);
  for (size_t i = 0; i < frame; i++) {
    f->blob[i] ^= 0x20;
    assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_INVALID_ARGUMENT);
    f->blob[i] ^= 0x20;
  }
  for (size_t i = 0; i < KERNELS; i++) f->blob[row(f, i)->offset + 50] ^= 0x20;
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  for (size_t i = 0; i < KERNELS; i++) {
    const struct mxq_image *image = NULL;
    assert_int_equal(get(f, i, &image, NULL), MXQ_NOT_PREBUILT);
    assert_non_null(strstr(mxq_last_error(), "damaged"));
    assert_non_null(strstr(f->warning, "damaged"));
  }
}

static void rows_that_lie_are_refused(void **state) {
  struct fixture *f = *state;
  const struct mxq_set_row good = *row(f, 1);
  row(f, 1)->offset = UINT64_MAX - 63, seal(f);
  refuse(f, "outside");
  *row(f, 1) = good, row(f, 1)->size = UINT64_MAX, seal(f);
  refuse(f, "outside");
  *row(f, 1) = good, row(f, 1)->offset = 0, seal(f);
  refuse(f, "outside");
  *row(f, 1) = *row(f, 0), seal(f);
  refuse(f, "in order");
}

static void kernels_of_another_schedule_are_not_used(void **state) {
  struct fixture *f = *state;
  const struct mxq_image *image = NULL;
  for (size_t i = 0; i < KERNELS; i++) row(f, i)->geometry_hash ^= 1;
  seal(f);
  assert_int_equal(mxq_context_add_kernels(f->context, &f->set), MXQ_OK);
  assert_int_equal(get(f, 0, &image, NULL), MXQ_NOT_PREBUILT);
  assert_non_null(strstr(mxq_last_error(), "another version"));
}

static void the_order_given_does_not_matter(void **state) {
  struct fixture *f = *state;
  struct mxq_emit_file files[MXQ_EMIT_FILES];
  const struct mxq_emit_kernel first = f->kernels[0];
  f->kernels[0] = f->kernels[2];
  f->kernels[2] = first;
  assert_int_equal(mxq_emit(&mxq_allocator_default, f->kernels, KERNELS, &words, files), MXQ_OK);
  for (size_t i = 0; i < MXQ_EMIT_FILES; i++) {
    assert_int_equal(files[i].size, f->files[i].size);
    assert_memory_equal(files[i].bytes, f->files[i].bytes, files[i].size);
  }
  mxq_emit_free(&mxq_allocator_default, files);
  f->kernels[1] = f->kernels[0];
  assert_int_equal(mxq_emit(&mxq_allocator_default, f->kernels, KERNELS, &words, files),
                   MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "twice"));
}

static void names_of_sets_are_identifiers(void **state) {
  static const char *const bad[] = {"", "9lives", "a-b", "a b", "caf\xc3\xa9", "mxq_run"};
  char longest[82];
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(mxq_emit_check_name(bad[i]), MXQ_INVALID_ARGUMENT);
  memset(longest, 'x', 81);
  longest[81] = 0;
  assert_int_equal(mxq_emit_check_name(longest), MXQ_INVALID_ARGUMENT);
  longest[80] = 0;
  assert_int_equal(mxq_emit_check_name(longest), MXQ_OK);
  assert_int_equal(mxq_emit_check_name("my_kernels_2"), MXQ_OK);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_kernel_is_found_for_its_arch),
      TEST(a_miss_names_the_line_to_add),
      TEST(a_set_that_comes_after_a_miss_is_used),
      TEST(the_first_set_with_the_kernel_wins),
      TEST(sets_of_other_formats_are_refused),
      TEST(no_byte_of_a_set_may_change),
      TEST(rows_that_lie_are_refused),
      TEST(kernels_of_another_schedule_are_not_used),
      TEST(the_order_given_does_not_matter),
      cmocka_unit_test(names_of_sets_are_identifiers),
  };
  return cmocka_run_group_tests_name("aot", tests, NULL, NULL);
}
