/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aot.h"
#include "driver.h"
#include "quote.h"

#define CACHE_BYTES_DEFAULT ((uint64_t)1 << 30)
#define CACHE_BYTES_MAX     ((uint64_t)1 << 60)
#define THREADS_MAX         8

struct word {
  const char *text;
  int value;
};
static const struct word jit_words[] = {
    {"on", MXQ_JIT_ON}, {"cache", MXQ_JIT_CACHE}, {"off", MXQ_JIT_OFF}, {NULL, 0}};
static const struct word log_words[] = {
    {"none", MXQ_LOG_NONE}, {"warning", MXQ_LOG_WARNING}, {"info", MXQ_LOG_INFO}, {NULL, 0}};

/* A setting that is one of a few words: from the configuration, if it is one of their values, else
 * from the variable, else the default. */
static enum mxq_status choose_word(const char *variable, const struct word *words, int configured,
                                   int otherwise, int *value) {
  char allowed[64] = "";
  size_t used = 0;
  const char *text = getenv(variable);
  *value = configured ? configured : otherwise;
  for (const struct word *word = words; word->text; ++word) {
    if (configured ? word->value == configured : text && strcmp(text, word->text) == 0)
      return *value = word->value, MXQ_OK;
    used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s", used ? ", " : "",
                             word->text);
  }
  MXQ_FAIL_IF(configured, MXQ_INVALID_ARGUMENT,
              "the configuration's value %d for what %s sets is none of its enumerators (%s)",
              configured, variable, allowed);
  MXQ_FAIL_IF(text && *text, MXQ_INVALID_ARGUMENT, "%s is %s; allowed: %s", variable,
              mxq_quote(text).text, allowed);
  return MXQ_OK;
}

/* Digits and at most one of K, M, G, T, powers of 1024. */
static int parse_bytes(const char *text, uint64_t *bytes) {
  static const char units[] = "KMGT";
  uint64_t value = 0;
  if (!isdigit((unsigned char)*text)) return 0;
  for (; isdigit((unsigned char)*text); ++text) {
    value = value * 10 + (uint64_t)(*text - '0');
    if (value > CACHE_BYTES_MAX) return 0;
  }
  const char *unit = *text ? strchr(units, toupper((unsigned char)*text)) : NULL;
  for (const char *each = units; unit && each <= unit; ++each) {
    value *= 1024;
    if (value > CACHE_BYTES_MAX) return 0;
  }
  *bytes = value;
  return value > 0 && text[unit != NULL] == 0;
}

static enum mxq_status choose_bytes(uint64_t configured, uint64_t *bytes) {
  const char *text = getenv("MXQ_CACHE_SIZE");
  *bytes = configured ? configured : CACHE_BYTES_DEFAULT;
  if (configured || !text || !*text) return MXQ_OK;
  MXQ_FAIL_IF(!parse_bytes(text, bytes), MXQ_INVALID_ARGUMENT,
              "MXQ_CACHE_SIZE is %s; allowed: a positive number of bytes, with K, M, G or T for "
              "powers of 1024, such as 512M",
              mxq_quote(text).text);
  return MXQ_OK;
}

static enum mxq_status check_config(const struct mxq_config *config) {
  MXQ_FAIL_IF(config->size != sizeof *config, MXQ_INVALID_ARGUMENT,
              "the configuration's size is %zu; this library knows %zu: begin with "
              "MXQ_CONFIG_INIT, and use the header and the library of one version",
              config->size, sizeof *config);
  MXQ_FAIL_IF(config->cache_strict > 1, MXQ_INVALID_ARGUMENT,
              "the configuration's cache_strict is %u; allowed: 0 and 1", config->cache_strict);
  MXQ_FAIL_IF(config->compile_threads > THREADS_MAX, MXQ_INVALID_ARGUMENT,
              "the configuration's compile_threads is %u; allowed: 1 to %d, or 0 for a number "
              "that fits the machine",
              config->compile_threads, THREADS_MAX);
  MXQ_FAIL_IF(config->cache_size_bytes > CACHE_BYTES_MAX, MXQ_INVALID_ARGUMENT,
              "the configuration's cache_size_bytes is %llu; allowed: at most 2^60, or 0 for the "
              "default",
              (unsigned long long)config->cache_size_bytes);
  return MXQ_OK;
}

static unsigned choose_threads(unsigned configured) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (configured) return configured;
  return online < 1 ? 1u : online > THREADS_MAX ? THREADS_MAX : (unsigned)online;
}

static enum mxq_status fill(struct mxq_context *context, const struct mxq_config *config) {
  const char *record = getenv("MXQ_RECORD");
  uint64_t cache_bytes = 0;
  int value = 0;
  context->log = config->log;
  context->log_user = config->log_user;
  context->cache_strict = (int)config->cache_strict;
  MXQ_TRY(choose_word("MXQ_LOG", log_words, (int)config->log_level, MXQ_LOG_NONE, &value));
  context->log_level = (enum mxq_log_level)value;
  MXQ_TRY(choose_word("MXQ_JIT", jit_words, (int)config->jit, MXQ_JIT_ON, &value));
  context->jit = (enum mxq_jit_mode)value;
  context->compile_threads = choose_threads(config->compile_threads);
  MXQ_TRY(choose_bytes(config->cache_size_bytes, &cache_bytes));
  if (record && *record) {
    context->record_path = mxq_copy_string(&context->allocator, record);
    MXQ_FAIL_IF(!context->record_path, MXQ_OUT_OF_MEMORY, "no memory for MXQ_RECORD");
  }
  MXQ_TRY(mxq_nvrtc_search_read(&context->allocator, config->nvrtc_path, &context->search));
  return mxq_store_init(&context->allocator, config->cache_dirs, cache_bytes, &context->store);
}

enum mxq_status mxq_context_create(const struct mxq_config *config, struct mxq_context **context) {
  static const struct mxq_config defaults = MXQ_CONFIG_INIT;
  struct mxq_allocator allocator = mxq_allocator_default;
  MXQ_FAIL_IF(!context, MXQ_INVALID_ARGUMENT,
              "mxq_context_create was given no place for the context (NULL)");
  if (!config) config = &defaults;
  MXQ_TRY(check_config(config));
  if (config->resize) allocator = (struct mxq_allocator){config->resize, config->resize_user};
  struct mxq_context *made = mxq_allocate_zeroed(&allocator, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for a context (%zu bytes)", sizeof *made);
  made->allocator = allocator;
  const enum mxq_status status = fill(made, config);
  if (status != MXQ_OK)
    mxq_context_destroy(made);
  else
    *context = made;
  return status;
}

void mxq_context_destroy(struct mxq_context *context) {
  if (!context) return;
  const struct mxq_allocator allocator = context->allocator;
  mxq_kernel_free_all(context);
  mxq_image_free_all(context);
  mxq_aot_free(context);
  mxq_store_free(&allocator, &context->store);
  mxq_nvrtc_search_free(&allocator, &context->search);
  mxq_free(&allocator, context->record_path);
  mxq_free(&allocator, context);
}

/* Only an NVRTC that somebody named can be: what it makes may not load. */
static void warn_if_newer_than_driver(const struct mxq_context *context,
                                      const struct mxq_nvrtc *nvrtc) {
  const int driver = mxq_driver_version();
  if (!driver || nvrtc->major <= driver / 1000) return;
  mxq_log(
      context, MXQ_LOG_WARNING,
      "NVRTC %d.%d (%s, named by MXQ_NVRTC or the configuration) is newer than the driver, which "
      "is for CUDA %d.%d: the driver may refuse its kernels",
      nvrtc->major, nvrtc->minor, nvrtc->path, driver / 1000, driver % 1000 / 10);
}

enum mxq_status mxq_context_nvrtc(struct mxq_context *context, const struct mxq_nvrtc **nvrtc) {
  struct mxq_nvrtc found;
  enum mxq_status status = MXQ_OK;
  mxq_guard_lock();
  mxq_guard_claim(&context->nvrtc_claim);
  if (!context->nvrtc.handle) {
    mxq_guard_unlock();
    status = mxq_nvrtc_open(&context->search, &found);
    if (status == MXQ_OK) warn_if_newer_than_driver(context, &found);
    mxq_guard_lock();
    if (status == MXQ_OK) context->nvrtc = found;
  }
  mxq_guard_release(&context->nvrtc_claim);
  mxq_guard_unlock();
  MXQ_TRY(status);
  *nvrtc = &context->nvrtc;
  return MXQ_OK;
}

void mxq_context_record(struct mxq_context *context, const struct mxq_variant *variant) {
  char line[MXQ_VARIANT_NAME_SIZE + 1];
  if (!context->record_path || mxq_variant_name(variant, line, sizeof line - 1) != MXQ_OK) return;
  const size_t length = strlen(line) + 1;
  line[length - 1] = '\n';
  const int file =
      open(context->record_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  errno = file < 0 ? errno : ENOSPC; /* of a line that was written in part */
  if ((file < 0 || write(file, line, length) != (ssize_t)length) &&
      !atomic_exchange(&context->record_fails, 1))
    mxq_log(context, MXQ_LOG_WARNING, "MXQ_RECORD: %s: %s", context->record_path, strerror(errno));
  if (file >= 0) close(file);
}
