/* SPDX-License-Identifier: MIT
 *
 * A cache entry that was damaged anywhere is compiled anew and replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>

#include "context.h"
#include "fakes.h"

static const char name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";
static char dir[64];
static struct mxq_store_key key;
static char file[PATH_MAX];
static unsigned char good[32768];

static int load(size_t *length) {
  FILE *stream = fopen(file, "rb");
  CHILD_CHECK(stream != NULL);
  *length = fread(good, 1, sizeof good, stream);
  fclose(stream);
  CHILD_CHECK(*length > 4096 && *length < sizeof good);
  return 0;
}

/* The file cut to `kept` bytes, the one at `at` changed. */
static int save(size_t kept, size_t at) {
  FILE *stream = fopen(file, "wb");
  good[at] ^= 0x10;
  CHILD_CHECK(stream && fwrite(good, 1, kept, stream) == kept && fclose(stream) == 0);
  good[at] ^= 0x10;
  return 0;
}

static int look_up(enum mxq_origin expected, uint64_t *hash) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  const struct mxq_image *image = NULL;
  enum mxq_origin origin = MXQ_ORIGIN_MEMORY;
  config.cache_dirs = dir;
  CHILD_CHECK(mxq_context_create(&config, &context) == MXQ_OK);
  CHILD_CHECK(mxq_image_get(context, &key.kernel, key.arch, &image, &origin) == MXQ_OK);
  CHILD_CHECK(origin == expected);
  *hash = image->cubin_hash;
  mxq_context_destroy(context);
  return 0;
}

/* Every byte changed and every length cut, of the file that a compile left (the cubin's in steps):
 * compiled once more, the same cubin, and the file is whole again. */
static int damage(void *user) {
  char name_of_file[MXQ_STORE_NAME_SIZE];
  uint64_t hash = 0, again = 0;
  size_t length = 0;
  (void)user;
  CHILD_CHECK(mxq_kernel_id_parse(name, &key.kernel) == MXQ_OK);
  CHILD_CHECK(mxq_arch_parse("90a", &key.arch) == MXQ_OK);
  mxq_store_name(&key, name_of_file);
  snprintf(file, sizeof file, "%s/%s", dir, name_of_file);
  CHILD_CHECK(look_up(MXQ_ORIGIN_COMPILED, &hash) == 0 && load(&length) == 0);
  for (size_t at = 0; at < length; at += at < 256 ? 1 : 29)
    for (int cut = 0; cut < 2; cut++) {
      CHILD_CHECK(save(cut ? at : length, at) == 0);
      CHILD_CHECK(look_up(MXQ_ORIGIN_COMPILED, &again) == 0 && again == hash);
      CHILD_CHECK(look_up(MXQ_ORIGIN_DISK, &again) == 0 && again == hash);
    }
  return 0;
}

static void damage_is_compiled_away(void **state) {
  (void)state;
  assert_int_equal(fakes_in_child("", damage, NULL), 0);
}

int main(void) {
  char command[128];
  const struct CMUnitTest tests[] = {cmocka_unit_test(damage_is_compiled_away)};
  snprintf(dir, sizeof dir, "%s/mxq-damage-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command) || failed;
}
