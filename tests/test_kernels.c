/* SPDX-License-Identifier: MIT
 *
 * Kernels through NVRTC: no spills, no local memory, no contracted arithmetic, and the instructions
 * that hand shared memory to the copy engine in their order. A test's name is the kernel's name and
 * its arch. A sample of the variants on 90a and a pairwise set of all kernels on all archs; with
 * --all ARCH instead the fast and the generic kernel of every variant on the arch; with --all ARCH
 * N of a seeded N-th of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_cases.h"
#include "memory.h"
#include "nvrtc.h"

enum { seed = 4, sampled_of = 192 };

static void check(void **state) {
  const struct kernel_case *one = *state;
  if (one->fault[0]) fail_msg("%s", one->fault);
}

static enum mxq_status open_nvrtc(struct mxq_nvrtc *nvrtc) {
  struct mxq_nvrtc_search search;
  enum mxq_status status = mxq_nvrtc_search_read(&mxq_allocator_default, NULL, &search);
  if (status != MXQ_OK) return status;
  status = mxq_nvrtc_open(&search, nvrtc);
  mxq_nvrtc_search_free(&mxq_allocator_default, &search);
  return status;
}

int main(int argc, char **argv) {
  struct kernel_cases cases = {0};
  struct mxq_nvrtc nvrtc;
  if (open_nvrtc(&nvrtc) != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  if (argc >= 3 && strcmp(argv[1], "--all") == 0) {
    const int one_in = argc > 3 ? atoi(argv[3]) : 1;
    kernel_cases_add_defaults(&cases, argv[2], one_in > 0 ? (unsigned)one_in : 1, seed);
  } else {
    kernel_cases_add_defaults(&cases, "90a", sampled_of, seed);
    kernel_cases_add_pairs(&cases, seed, NULL);
  }
  compile_cases(&cases, &nvrtc);
  struct CMUnitTest *tests = calloc(cases.count, sizeof *tests);
  if (!tests || !cases.count) return 1;
  for (size_t i = 0; i < cases.count; i++)
    tests[i] = (struct CMUnitTest){
        .name = cases.list[i].name, .test_func = check, .initial_state = &cases.list[i]};
  const int failed = _cmocka_run_group_tests("kernels", tests, cases.count, NULL, NULL);
  free(tests);
  free(cases.list);
  return failed;
}
