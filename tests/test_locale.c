/* SPDX-License-Identifier: MIT
 *
 * A host program with a decimal comma: the same kernel, the same file name, settings still read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comma_locale.h"
#include "context.h"

static char folder[] = "/tmp/mxq-locale-XXXXXX";
static struct mxq_kernel_id kernel;
static const struct mxq_arch *arch;

struct made {
  enum mxq_status status;
  uint64_t cubin_hash;
  char file[MXQ_STORE_NAME_SIZE];
  uint64_t size_bytes;
};

static struct made make(void) {
  struct made made = {.cubin_hash = 0};
  const struct mxq_image *image = NULL;
  const struct mxq_store_key key = {kernel, arch};
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.cache_dirs = "/proc/mxq"; /* compiled each time */
  made.status = mxq_context_create(&config, &context);
  if (made.status == MXQ_OK) made.status = mxq_image_get(context, &kernel, arch, &image, NULL);
  if (made.status == MXQ_OK) made.cubin_hash = image->cubin_hash;
  if (context) made.size_bytes = context->store.size_bytes;
  mxq_store_name(&key, made.file);
  mxq_context_destroy(context);
  return made;
}

static void a_comma_changes_nothing(void **state) {
  char shown[8], command[64];
  (void)state;
  setenv("MXQ_CACHE_SIZE", "3M", 1);
  const struct made before = make();
  const int set = comma_locale_set(folder);
  snprintf(shown, sizeof shown, "%.1f", 0.5);
  const struct made after = make();
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
  if (!set) {
    print_message("skipped: localedef makes no locale with a decimal comma here\n");
    skip();
  }
  assert_string_equal(shown, "0,5");
  assert_int_equal(after.status, MXQ_OK);
  assert_true(after.cubin_hash == before.cubin_hash);
  assert_true(after.size_bytes == before.size_bytes);
  assert_string_equal(after.file, before.file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_comma_changes_nothing)};
  if (!mkdtemp(folder) || mxq_arch_parse("90a", &arch) != MXQ_OK ||
      mxq_kernel_id_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &kernel) != MXQ_OK)
    return 1;
  if (make().status == MXQ_NO_NVRTC) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
