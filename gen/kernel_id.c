/* SPDX-License-Identifier: MIT */
#include "kernel_id.h"

#include <stdio.h>
#include <string.h>

#include "quote.h"
#include "schedule.h"
#include "status.h"
#include "token.h"
#include "tune.h"

#define LISTED_ARCH "90a" /* the arch whose default a variant's name stands for */

static int has_schedule(const struct mxq_kernel_id *id) {
  const struct mxq_schedule *schedule;
  const enum mxq_family family = (enum mxq_family)id->family;
  for (size_t i = 0; (schedule = mxq_schedule_at(&id->variant, family, i)); ++i)
    if (schedule->tile_n == id->tile_n && schedule->tile_k == id->tile_k &&
        schedule->path == id->path)
      return 1;
  return 0;
}

/* What a kernel's name has after its dot; its length. */
static size_t spell_schedule(const struct mxq_kernel_id *id, char *text, size_t size) {
  return (size_t)snprintf(text, size, "%s-%ux%u%s", mxq_family_facts(id->family)->token,
                          (unsigned)id->tile_n, (unsigned)id->tile_k,
                          id->path == MXQ_PATH_DIRECT ? "-direct" : "");
}

static void list_schedules(const struct mxq_variant *variant, char *text, size_t size) {
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  size_t used = 0;
  text[0] = 0;
  for (size_t f = 0; (family = mxq_family_every(f)); ++f)
    for (size_t i = 0; (row = mxq_schedule_at(variant, family->family, i)) && used < size; ++i) {
      const struct mxq_kernel_id id = mxq_schedule_kernel(variant, row);
      if (used) text[used++] = ' ';
      used += spell_schedule(&id, text + used, size - used);
    }
}

enum mxq_status mxq_kernel_id_check(const struct mxq_kernel_id *id) {
  char allowed[512];
  MXQ_FAIL_IF(!id, MXQ_INVALID_ARGUMENT, "the kernel is NULL");
  MXQ_TRY(mxq_variant_check(&id->variant));
  for (size_t i = 0; i < sizeof id->reserved; ++i)
    MXQ_FAIL_IF(id->reserved[i], MXQ_INVALID_ARGUMENT,
                "struct mxq_kernel_id: a reserved byte is not zero");
  if (mxq_family_facts(id->family) && has_schedule(id)) return MXQ_OK;
  list_schedules(&id->variant, allowed, sizeof allowed);
  MXQ_FAIL(
      MXQ_INVALID_ARGUMENT,
      "struct mxq_kernel_id: family %u with tiles of %ux%u and path %u does not exist for this "
      "variant; allowed: %s",
      (unsigned)id->family, (unsigned)id->tile_n, (unsigned)id->tile_k, (unsigned)id->path,
      allowed);
}

/* Finds the family and schedule that a kernel's name spells after its dot. */
static enum mxq_status parse_schedule(const char *name, const char *text,
                                      struct mxq_kernel_id *id) {
  const struct mxq_family_facts *family;
  const struct mxq_schedule *row;
  char spelled[64], allowed[512];
  for (size_t f = 0; (family = mxq_family_every(f)); ++f)
    for (size_t i = 0; (row = mxq_schedule_at(&id->variant, family->family, i)); ++i) {
      const struct mxq_kernel_id candidate = mxq_schedule_kernel(&id->variant, row);
      spell_schedule(&candidate, spelled, sizeof spelled);
      if (strcmp(spelled, text) != 0) continue;
      *id = candidate;
      return MXQ_OK;
    }
  list_schedules(&id->variant, allowed, sizeof allowed);
  MXQ_FAIL(MXQ_UNKNOWN_NAME, "%s: unknown family and schedule %s; allowed: %s",
           mxq_quote(name).text, mxq_quote(text).text, allowed);
}

enum mxq_status mxq_kernel_id_name(const struct mxq_kernel_id *id, char *name, size_t size) {
  char variant[MXQ_VARIANT_NAME_SIZE], schedule[MXQ_KERNEL_NAME_SIZE - MXQ_VARIANT_NAME_SIZE];
  MXQ_TRY(mxq_kernel_id_check(id));
  MXQ_TRY(mxq_variant_name(&id->variant, variant, sizeof variant));
  spell_schedule(id, schedule, sizeof schedule);
  const size_t length = strlen(variant) + 1 + strlen(schedule);
  MXQ_FAIL_IF(!name || size <= length, MXQ_INVALID_ARGUMENT,
              "%zu bytes for the name %s.%s; MXQ_KERNEL_NAME_SIZE (%d) is always enough", size,
              variant, schedule, MXQ_KERNEL_NAME_SIZE);
  snprintf(name, size, "%s.%s", variant, schedule);
  return MXQ_OK;
}

enum mxq_status mxq_kernel_id_symbol(const struct mxq_kernel_id *id, char *symbol, size_t size) {
  MXQ_TRY(mxq_kernel_id_name(id, symbol, size));
  for (char *c = symbol; *c; ++c)
    if (*c == '.' || *c == '-') *c = '_';
  return MXQ_OK;
}

enum mxq_status mxq_kernel_id_parse(const char *name, struct mxq_kernel_id *id) {
  char variant[MXQ_VARIANT_NAME_SIZE];
  struct mxq_kernel_id parsed = {0};
  const struct mxq_arch *arch;
  MXQ_FAIL_IF(!name, MXQ_INVALID_ARGUMENT, "the kernel's name is NULL");
  const char *dot = strchr(name, '.');
  const size_t length = dot ? (size_t)(dot - name) : strlen(name);
  if (!dot || length >= sizeof variant) {
    MXQ_TRY(mxq_variant_parse(name, &parsed.variant));
    MXQ_TRY(mxq_arch_parse(LISTED_ARCH, &arch));
    return mxq_kernel_id_choose(&parsed.variant, MXQ_FAMILY_TMA, arch, id);
  }
  memcpy(variant, name, length);
  variant[length] = 0;
  MXQ_TRY(mxq_variant_parse(variant, &parsed.variant));
  MXQ_TRY(parse_schedule(name, dot + 1, &parsed));
  *id = parsed;
  return MXQ_OK;
}

enum mxq_status mxq_kernel_id_choose(const struct mxq_variant *variant, enum mxq_family family,
                                     const struct mxq_arch *arch, struct mxq_kernel_id *id) {
  MXQ_TRY(mxq_variant_check(variant));
  MXQ_FAIL_IF(!mxq_family_facts((unsigned)family), MXQ_INVALID_ARGUMENT,
              "%d is no family of kernels", (int)family);
  return mxq_tune_choose(variant, family, arch, MXQ_SIZE_LARGE, id);
}

enum mxq_status mxq_kernel_id_default(const struct mxq_variant *variant,
                                      const struct mxq_arch *arch, struct mxq_kernel_id *id) {
  const struct mxq_family_facts *family;
  struct mxq_kept_error kept;
  enum mxq_status status = MXQ_OK;
  mxq_error_keep(&kept);
  for (size_t i = 0; (family = mxq_family_at(i)); i++) {
    status = mxq_kernel_id_choose(variant, family->family, arch, id);
    if (status != MXQ_UNSUPPORTED) break;
  }
  if (status == MXQ_OK) mxq_error_restore(&kept);
  return status;
}

enum mxq_status mxq_kernel_id_check_arch(const struct mxq_kernel_id *id,
                                         const struct mxq_arch *arch) {
  const struct mxq_family_facts *family = mxq_family_facts(id->family);
  struct mxq_geometry geometry;
  MXQ_FAIL_IF(family->needs_tma && !arch->has_tma, MXQ_UNSUPPORTED,
              "arch %s has no tensor copy engine, which kernels of the family %s need; archs from "
              "90a on have one",
              arch->name, family->token);
  mxq_geometry_of(id, &geometry);
  MXQ_FAIL_IF(geometry.shared_bytes > arch->shared_max, MXQ_UNSUPPORTED,
              "a tile of %ux%u takes %u bytes of shared memory; a block has %u on arch %s",
              geometry.tile_n, geometry.tile_k, geometry.shared_bytes, arch->shared_max,
              arch->name);
  return MXQ_OK;
}
