/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "safetensors.h"
#include "status.h"

static const struct {
  const char *name;
  unsigned bits;
} dtypes[] = {
    {"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8},     {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"I16", 16}, {"U16", 16},    {"F8_E5M2FNUZ", 8}, {"F16", 16},    {"BF16", 16},
    {"I32", 32}, {"U32", 32},    {"F32", 32},        {"C64", 64},    {"F64", 64},
    {"I64", 64}, {"U64", 64},
};

unsigned safetensors_dtype_bits(const char *dtype) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (!strcmp(dtypes[i].name, dtype)) return dtypes[i].bits;
  return 0;
}

enum mxq_status safetensors_bytes(unsigned bits, const uint64_t *dims, size_t rank,
                                  uint64_t *bytes) {
  uint64_t elements = 1;
  int empty = 0;
  for (size_t i = 0; i < rank; i++) empty |= dims[i] == 0;
  for (size_t i = 0; i < rank && !empty; i++) {
    MXQ_FAIL_IF(dims[i] > (uint64_t)INT64_MAX / elements, MXQ_INVALID_ARGUMENT,
                "the lengths' product does not fit in 63 bits");
    elements *= dims[i];
  }
  if (empty) elements = 0;
  MXQ_FAIL_IF(elements > (uint64_t)INT64_MAX / bits, MXQ_INVALID_ARGUMENT,
              "its size in bits does not fit in 63 bits");
  MXQ_FAIL_IF(elements * bits % 8 != 0, MXQ_INVALID_ARGUMENT,
              "elements of %u bits do not fill whole bytes", bits);
  *bytes = elements * bits / 8;
  return MXQ_OK;
}
