/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "schedule.h"
#include "status.h"
#include "text.h"

#define DEFAULT_ARCH "90a"

static void print_log(void *user, enum mxq_log_level level, const char *message) {
  (void)user;
  (void)level;
  report_note("%s", message);
}

enum mxq_status target_arch(const char *name, const struct mxq_arch **arch) {
  return mxq_arch_parse(name ? name : DEFAULT_ARCH, arch);
}

enum mxq_status target_kernel(const char *name, const char *kernel, const struct mxq_arch *arch,
                              struct mxq_kernel_id *id) {
  struct mxq_variant variant;
  if (!kernel && strchr(name, '.')) return mxq_kernel_id_parse(name, id);
  MXQ_TRY(mxq_variant_parse(name, &variant));
  if (!kernel) return mxq_kernel_id_default(&variant, arch, id);
  const size_t length = strlen(name);
  const int full = strchr(kernel, '.') != NULL;
  MXQ_FAIL_IF(full && (strncmp(kernel, name, length) || kernel[length] != '.'), MXQ_UNKNOWN_NAME,
              "kernel \"%s\" is not one of variant %s", kernel, name);
  char *spelled = full ? text_format("%s", kernel) : text_format("%s.%s", name, kernel);
  const enum mxq_status status = mxq_kernel_id_parse(spelled, id);
  free(spelled);
  return status;
}

enum mxq_status target_context(const struct arguments *arguments, struct mxq_context **context) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  const char *level = getenv("MXQ_LOG");
  config.log = print_log;
  if (arguments->verbose)
    config.log_level = MXQ_LOG_INFO;
  else if (!level || !*level) /* the library's default is silence */
    config.log_level = MXQ_LOG_WARNING;
  return mxq_context_create(&config, context);
}
