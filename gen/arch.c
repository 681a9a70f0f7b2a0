/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "kernel_id.h"
#include "quote.h"
#include "status.h"
#include "tune.h"

/* By rising number. Shared memory of a block: CUDA C++ Programming Guide, table of technical
 * specifications. NOTE: "80" serves devices of 8.6, which have 99 KB; a test holds its kernels to
 * that. */
static const struct mxq_arch archs[] = {
    {"80", 80, 163 * 1024, 0, 0, 0, 0},    {"89", 89, 99 * 1024, 0, 1, 0, 0},
    {"90a", 90, 227 * 1024, 1, 1, 0, 0},   {"100a", 100, 227 * 1024, 1, 1, 1, 0},
    {"103a", 103, 227 * 1024, 1, 1, 1, 0}, {"120a", 120, 99 * 1024, 1, 1, 1, 0},
    {"121a", 121, 99 * 1024, 1, 1, 1, 0},
};

/* L2 cache and multiprocessors of a device of each: A100, L40S, H200, B200, B300, RTX 5090,
 * GB10. Their data sheets; those of the H200 from the device. */
static const struct mxq_capacity capacities[] = {
    {UINT64_C(40) << 20, 108},  {UINT64_C(96) << 20, 142},  {UINT64_C(60) << 20, 132},
    {UINT64_C(126) << 20, 148}, {UINT64_C(126) << 20, 148}, {UINT64_C(96) << 20, 170},
    {UINT64_C(24) << 20, 48},
};
_Static_assert(sizeof capacities / sizeof capacities[0] == sizeof archs / sizeof archs[0],
               "one for each arch");

#define ARCH_COUNT (sizeof archs / sizeof archs[0])

static void list(char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < ARCH_COUNT; ++i)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", archs[i].name);
}

/* "90a", or without the suffix "90". */
static int spells(const char *name, const struct mxq_arch *arch) {
  const size_t digits = strspn(arch->name, "0123456789");
  return strcmp(name, arch->name) == 0 ||
         (strlen(name) == digits && memcmp(name, arch->name, digits) == 0);
}

/* CUDA's rule for cubins: those of sm_XY run on devices of compute capability X.Z with Z >= Y,
 * those of an arch with a suffix on X.Y alone. */
static int runs_on(const struct mxq_arch *arch, int major, int minor) {
  const int own_major = (int)(arch->number / 10), own_minor = (int)(arch->number % 10);
  const int has_suffix = arch->name[strspn(arch->name, "0123456789")] != 0;
  return major == own_major && (has_suffix ? minor == own_minor : minor >= own_minor && minor < 10);
}

const struct mxq_arch *mxq_arch_at(size_t index) {
  return index < ARCH_COUNT ? &archs[index] : NULL;
}

enum mxq_status mxq_arch_parse(const char *name, const struct mxq_arch **arch) {
  char allowed[64];
  for (size_t i = 0; name && i < ARCH_COUNT; ++i) {
    if (!spells(name, &archs[i])) continue;
    *arch = &archs[i];
    return MXQ_OK;
  }
  list(allowed, sizeof allowed);
  MXQ_FAIL(MXQ_INVALID_ARGUMENT, "unknown arch %s; allowed: %s", mxq_quote(name).text, allowed);
}

enum mxq_status mxq_arch_of_device(int major, int minor, const struct mxq_arch **arch) {
  char allowed[64];
  const struct mxq_arch *newest = NULL;
  for (size_t i = 0; i < ARCH_COUNT; ++i)
    if (runs_on(&archs[i], major, minor)) newest = &archs[i];
  if (newest) {
    *arch = newest;
    return MXQ_OK;
  }
  list(allowed, sizeof allowed);
  MXQ_FAIL(MXQ_INVALID_ARGUMENT,
           "a device of compute capability %d.%d has no arch that kernels are made for; those are: "
           "%s",
           major, minor, allowed);
}

/* By number: callers may have changed a copy. */
struct mxq_capacity mxq_capacity_of(const struct mxq_arch *arch) {
  size_t i = 0;
  while (i + 1 < ARCH_COUNT && archs[i].number != arch->number) ++i;
  return capacities[i];
}
