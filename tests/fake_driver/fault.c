/* SPDX-License-Identifier: MIT
 *
 * Faults on request, for tests of whoever has to find them: FAKE_FAULT=KIND:TEXT gives that fault
 * to every kernel whose symbol contains TEXT.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "shape.h"

static const char *fault_of(const char *symbol) {
  const char *fault = getenv("FAKE_FAULT");
  const char *text = fault ? strchr(fault, ':') : NULL;
  return text && strstr(symbol, text + 1) ? fault : "";
}

static int is(const char *fault, const char *kind) {
  return strncmp(fault, kind, strlen(kind)) == 0 && fault[strlen(kind)] == ':';
}

/* What every call answers after a kernel was at a place that does not exist. */
static CUresult sticky = CUDA_SUCCESS;

CUresult fake_sticky(void) { return sticky; }

int fake_fault_before(const char *symbol) {
  const char *fault = fault_of(symbol);
  if (is(fault, "crash")) abort();
  if (is(fault, "hang")) pause();
  if (is(fault, "illegal")) sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  return is(fault, "nothing") || is(fault, "illegal");
}

void fake_fault_after(const char *symbol, const struct fake_job *job) {
  const char *fault = fault_of(symbol);
  const unsigned last = job->pointers.out[1] ? 1 : 0;
  struct mxq_byte_counts bytes;
  if (!fault[0] || mxq_sizes(&job->variant, &job->shape, &bytes) != MXQ_OK || !bytes.in) return;
  unsigned char *out = job->pointers.out[last], *scale = job->pointers.scale[last];
  if (is(fault, "code")) out[bytes.out[last] - 1] ^= 1;
  if (is(fault, "scale") && scale) scale[bytes.scale[last] - 1] ^= 1;
  if (is(fault, "beyond")) out[bytes.out[last]] = 0;
  if (is(fault, "input")) ((unsigned char *)(uintptr_t)job->pointers.in)[bytes.in - 1] ^= 1;
}

void fake_fault_after_move(const char *symbol, const struct mxq_relayout_args *args) {
  const char *fault = fault_of(symbol);
  struct mxq_variant variant = args->variant;
  uint64_t bytes = 0;
  variant.scales = (uint8_t)args->to;
  if (mxq_shape_scale_bytes(&variant, &args->shape, args->part, &bytes) != MXQ_OK || !bytes) return;
  if (is(fault, "scale")) ((unsigned char *)args->dst)[bytes - 1] ^= 1;
  if (is(fault, "beyond")) ((unsigned char *)args->dst)[bytes] = 0;
  if (is(fault, "input")) *(unsigned char *)(uintptr_t)args->src ^= 1;
}
