/* SPDX-License-Identifier: MIT
 *
 * From a kernel's id to its cubin: memory, disk, NVRTC, in this order, once for each kernel.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "context.h"
#include "image.h"
#include "selectable.h"
#include "store.h"

#define THREADS 8

static char folder[] = "/tmp/mxq-image-XXXXXX";

/* Messages of level info, by where the kernel came from. */
struct counts {
  atomic_int compiled, disk, warnings;
};
static void count(void *user, enum mxq_log_level level, const char *message) {
  struct counts *counts = user;
  if (level == MXQ_LOG_WARNING) atomic_fetch_add(&counts->warnings, 1);
  if (strstr(message, ": compiled in ")) atomic_fetch_add(&counts->compiled, 1);
  if (strstr(message, ": disk in ")) atomic_fetch_add(&counts->disk, 1);
}

/* NULL on failure: also used where no assertion may be. */
static struct mxq_context *try_create(enum mxq_jit_mode jit, const char *dirs,
                                      struct counts *counts) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  memset(counts, 0, sizeof *counts);
  config.jit = jit;
  config.cache_dirs = dirs;
  config.log = count;
  config.log_user = counts;
  config.log_level = MXQ_LOG_INFO;
  return mxq_context_create(&config, &context) == MXQ_OK ? context : NULL;
}

static struct mxq_context *create(enum mxq_jit_mode jit, const char *dirs, struct counts *counts) {
  struct mxq_context *context = try_create(jit, dirs, counts);
  if (!context) fail_msg("%s", mxq_last_error());
  return context;
}

static const char kernel_name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
/* Set by main. */
static struct mxq_kernel_id kernel;
static const struct mxq_arch *arch;
static char *given_nvrtc; /* MXQ_NVRTC at the start without links, or NULL */

/* Gets the image, which must come from `expected`; returns the hash of its cubin. */
static uint64_t get(struct mxq_context *context, enum mxq_origin expected) {
  const struct mxq_image *image = NULL;
  enum mxq_origin origin;
  if (mxq_image_get(context, &kernel, arch, &image, &origin) != MXQ_OK)
    fail_msg("%s", mxq_last_error());
  assert_string_equal(mxq_origin_name(origin), mxq_origin_name(expected));
  assert_memory_equal(image->cubin, "\177ELF", 4);
  if (origin == MXQ_ORIGIN_COMPILED && context->search.path)
    assert_string_equal(context->nvrtc.path, given_nvrtc);
  assert_in_range(image->resources.registers, 8, 255);
  return image->cubin_hash;
}

static int empty_folder(void **state) {
  char command[128];
  (void)state;
  unsetenv("MXQ_JIT");
  if (given_nvrtc)
    setenv("MXQ_NVRTC", given_nvrtc, 1);
  else
    unsetenv("MXQ_NVRTC");
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static void compiles_then_remembers_then_reads_the_disk(void **state) {
  (void)state;
  struct counts counts;
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  const uint64_t hash = get(context, MXQ_ORIGIN_COMPILED);
  assert_true(get(context, MXQ_ORIGIN_MEMORY) == hash);
  assert_int_equal(atomic_load(&counts.compiled), 1);
  mxq_context_destroy(context);
  context = create(MXQ_JIT_CACHE, folder, &counts);
  assert_true(get(context, MXQ_ORIGIN_DISK) == hash);
  assert_true(get(context, MXQ_ORIGIN_MEMORY) == hash);
  assert_null(context->nvrtc.handle); /* a hit opens no compiler */
  assert_int_equal(atomic_load(&counts.disk), 1);
  mxq_context_destroy(context);
}

static void a_damaged_entry_is_compiled_and_replaced(void **state) {
  (void)state;
  struct counts counts;
  char path[256], name[MXQ_STORE_NAME_SIZE];
  const struct mxq_store_key key = {kernel, arch};
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  const uint64_t hash = get(context, MXQ_ORIGIN_COMPILED);
  mxq_context_destroy(context);
  mxq_store_name(&key, name);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(truncate(path, 1000), 0);
  context = create(MXQ_JIT_ON, folder, &counts);
  assert_true(get(context, MXQ_ORIGIN_COMPILED) == hash);
  assert_true(atomic_load(&counts.warnings) > 0);
  mxq_context_destroy(context);
  context = create(MXQ_JIT_ON, folder, &counts);
  assert_true(get(context, MXQ_ORIGIN_DISK) == hash);
  mxq_context_destroy(context);
}

static void renewing_compiles_once_more_and_keeps_the_old_readable(void **state) {
  (void)state;
  struct counts counts;
  const struct mxq_image *image = NULL, *old = NULL, *again = NULL;
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  assert_int_equal(mxq_image_get(context, &kernel, arch, &image, NULL), MXQ_OK);
  old = again = image;
  assert_int_equal(mxq_image_renew(context, &image), MXQ_OK);
  assert_ptr_not_equal(image, old);
  assert_true(image->cubin_hash == old->cubin_hash);
  assert_memory_equal(image->cubin, old->cubin, old->cubin_size);
  assert_int_equal(atomic_load(&counts.compiled), 2);
  assert_int_equal(mxq_image_renew(context, &again), MXQ_OK); /* was renewed already */
  assert_ptr_equal(again, image);
  assert_int_equal(atomic_load(&counts.compiled), 2);
  mxq_context_destroy(context);
}

static void without_compiling_a_miss_names_the_manifest_line(void **state) {
  (void)state;
  static const enum mxq_jit_mode modes[] = {MXQ_JIT_CACHE, MXQ_JIT_OFF};
  for (size_t i = 0; i < 2; ++i) {
    struct counts counts;
    const struct mxq_image *image = NULL;
    struct mxq_context *context = create(modes[i], folder, &counts);
    assert_int_equal(mxq_image_get(context, &kernel, arch, &image, NULL), MXQ_NOT_PREBUILT);
    assert_null(image);
    const char *line = strstr(mxq_last_error(), "line to add: ");
    assert_non_null(line);
    assert_string_equal(line + strlen("line to add: "), kernel_name);
    mxq_context_destroy(context);
  }
}

static void off_reads_no_disk(void **state) {
  (void)state;
  struct counts counts;
  const struct mxq_image *image = NULL;
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  (void)get(context, MXQ_ORIGIN_COMPILED);
  mxq_context_destroy(context);
  context = create(MXQ_JIT_OFF, folder, &counts);
  assert_int_equal(mxq_image_get(context, &kernel, arch, &image, NULL), MXQ_NOT_PREBUILT);
  mxq_context_destroy(context);
}

static void an_unwritable_cache_never_fails_a_call(void **state) {
  (void)state;
  struct counts counts;
  struct mxq_context *context = create(MXQ_JIT_ON, "/proc/mxq", &counts);
  (void)get(context, MXQ_ORIGIN_COMPILED);
  assert_int_equal(atomic_load(&counts.warnings), 1);
  mxq_context_destroy(context);
}

static void a_failed_compile_poisons_nothing(void **state) {
  (void)state;
  struct counts counts;
  const struct mxq_image *image = NULL;
  setenv("MXQ_NVRTC", "/no/such/file", 1);
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  assert_int_equal(mxq_image_get(context, &kernel, arch, &image, NULL), MXQ_NO_NVRTC);
  assert_int_equal(mxq_image_get(context, &kernel, arch, &image, NULL), MXQ_NO_NVRTC);
  free(context->search.path); /* as if the path had been right */
  context->search.path = NULL;
  (void)get(context, MXQ_ORIGIN_COMPILED);
  mxq_context_destroy(context);
}

static void *get_on_a_thread(void *user) {
  const struct mxq_image *image = NULL;
  const enum mxq_status status = mxq_image_get(user, &kernel, arch, &image, NULL);
  return status == MXQ_OK ? (void *)(uintptr_t)image : NULL;
}

static void many_threads_compile_one_key_once(void **state) {
  (void)state;
  struct counts counts;
  pthread_t threads[THREADS];
  void *images[THREADS];
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, get_on_a_thread, context), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &images[i]);
  assert_non_null(images[0]);
  for (int i = 1; i < THREADS; ++i) assert_ptr_equal(images[i], images[0]);
  assert_int_equal(atomic_load(&counts.compiled), 1);
  mxq_context_destroy(context);
}

static void many_processes_compile_one_key_once(void **state) {
  (void)state;
  int compiles = 0;
  pid_t children[4];
  for (int i = 0; i < 4; ++i) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) {
      struct counts counts;
      struct mxq_context *context = try_create(MXQ_JIT_ON, folder, &counts);
      const int good = context && get_on_a_thread(context) != NULL;
      _exit(good ? atomic_load(&counts.compiled) : 99);
    }
  }
  for (int i = 0; i < 4; ++i) {
    int status = 0;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_true(WIFEXITED(status));
    compiles += WEXITSTATUS(status);
  }
  assert_int_equal(compiles, 1);
}

static void prepare_fills_the_cache(void **state) {
  (void)state;
  struct counts counts;
  struct mxq_variant variants[3] = {kernel.variant, kernel.variant, kernel.variant};
  struct mxq_context *context = create(MXQ_JIT_ON, folder, &counts);
  variants[1].out = MXQ_TYPE_E5M2;
  if (mxq_prepare(context, "90a", variants, 3) != MXQ_OK) fail_msg("%s", mxq_last_error());
  size_t kernels = 0; /* of each variant: those for all sizes, and the generic one */
  struct mxq_kernel_id ids[MXQ_SELECTABLE_MOST];
  assert_int_equal(mxq_selectable(&variants[0], arch, ids, &kernels), MXQ_OK);
  assert_in_range(kernels, 2, MXQ_SELECTABLE_MOST);
  assert_int_equal(atomic_load(&counts.compiled), 2 * kernels);
  (void)get(context, MXQ_ORIGIN_MEMORY);
  assert_int_equal(mxq_prepare(context, "9", variants, 3), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_prepare(context, "90a", NULL, 3), MXQ_INVALID_ARGUMENT);
  variants[1].block = 31;
  assert_int_equal(mxq_prepare(context, "90a", variants, 3), MXQ_INVALID_ARGUMENT);
  assert_non_null(strstr(mxq_last_error(), "1 of 3"));
  mxq_context_destroy(context);
}

int main(void) {
#define EACH(function) cmocka_unit_test_setup(function, empty_folder)
  const struct CMUnitTest tests[] = {
      EACH(many_processes_compile_one_key_once),
      EACH(compiles_then_remembers_then_reads_the_disk),
      EACH(a_damaged_entry_is_compiled_and_replaced),
      EACH(renewing_compiles_once_more_and_keeps_the_old_readable),
      EACH(without_compiling_a_miss_names_the_manifest_line),
      EACH(off_reads_no_disk),
      EACH(an_unwritable_cache_never_fails_a_call),
      EACH(a_failed_compile_poisons_nothing),
      EACH(many_threads_compile_one_key_once),
      EACH(prepare_fills_the_cache),
  };
#undef EACH
  struct counts counts;
  const struct mxq_nvrtc *nvrtc = NULL;
  const char *given = getenv("MXQ_NVRTC");
  if (given) given_nvrtc = realpath(given, NULL);
  struct mxq_context *context = NULL;
  if (mxq_kernel_id_parse(kernel_name, &kernel) != MXQ_OK ||
      mxq_arch_parse("90a", &arch) != MXQ_OK || !mkdtemp(folder) ||
      !(context = try_create(MXQ_JIT_ON, folder, &counts))) {
    printf("cannot start: %s\n", mxq_last_error());
    return 1;
  }
  const enum mxq_status status = mxq_context_nvrtc(context, &nvrtc);
  mxq_context_destroy(context);
  if (status != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)empty_folder(NULL);
  free(given_nvrtc);
  return failed;
}
