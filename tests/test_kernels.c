/* SPDX-License-Identifier: MIT
 *
 * Kernels through NVRTC: no spills, no local memory, no contracted arithmetic, and the instructions
 * that hand shared memory to the copy engine in their order. A test's name is the kernel's name and
 * its arch. A pairwise set of all kernels on all archs; instead
 *   test_kernels --all ARCH [DEFAULT [OTHER [PART/PARTS [WHOLE]]]]
 * the default kernel of one variant in DEFAULT (1), which large tensors get, and the others of one
 * in OTHER (DEFAULT), 0 for none. A part of these is compiled by one thread. Those of one variant
 * in WHOLE (1) are compiled as users do; the others without the optimizer, which shows only that
 * they compile, in a third of the time. Other values of the variable MXQ_TURN take others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "heap.h"
#include "kernel_cases.h"
#include "memory.h"
#include "nvrtc.h"

enum { seed = 4 };

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

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Which share of the kernels is taken; as many turns as one in how many have all. */
static unsigned turn_asked(void) {
  const char *turn = getenv("MXQ_TURN");
  return turn ? (unsigned)strtoul(turn, NULL, 10) : seed;
}

/* Reads what follows --all; 0 for what is none. */
static int read_share(int count, char **words, struct kernel_share *share) {
  const struct mxq_arch *arch;
  *share = (struct kernel_share){{1, 1}, turn_asked(), 0, 1, 1};
  if (count < 1 || count > 5 || mxq_arch_parse(words[0], &arch) != MXQ_OK) return 0;
  if (count > 1 && sscanf(words[1], "%u", &share->one_in[0]) != 1) return 0;
  share->one_in[1] = share->one_in[0];
  if (count > 2 && sscanf(words[2], "%u", &share->one_in[1]) != 1) return 0;
  if (count > 3 && sscanf(words[3], "%u/%u", &share->part, &share->parts) != 2) return 0;
  share->part -= count > 3; /* counted from 1 */
  if (count > 4 && sscanf(words[4], "%u", &share->whole) != 1) return 0;
  return share->part < share->parts && share->whole;
}

static void compile(struct kernel_cases *cases, const struct mxq_nvrtc *nvrtc, unsigned threads) {
  const double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  compile_cases(cases, nvrtc, threads);
  printf("%zu kernels in %.1f s, %.0f ms of CPU time each\n", cases->count,
         seconds(CLOCK_MONOTONIC) - begin,
         (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3 / (double)(cases->count + !cases->count));
}

int main(int argc, char **argv) {
  struct kernel_cases cases = {0};
  struct kernel_share share = {.parts = 1, .whole = 1};
  struct mxq_nvrtc nvrtc;
  const int all = argc > 1;
  if (all && (strcmp(argv[1], "--all") != 0 || !read_share(argc - 2, argv + 2, &share))) {
    fprintf(stderr, "usage: test_kernels [--all ARCH [DEFAULT [OTHER [PART/PARTS [WHOLE]]]]]\n");
    return 2;
  }
  if (open_nvrtc(&nvrtc) != MXQ_OK) {
    printf("skipped: %s\n", mxq_last_error());
    return 77;
  }
  if (all) {
    kernel_cases_add_share(&cases, argv[2], &share);
    printf("MXQ_TURN=%u: %zu kernels, of one variant in %u as users compile them\n", share.turn,
           cases.count, share.whole);
  } else {
    kernel_cases_add_pairs(&cases, seed, NULL);
  }
  heap_keep();
  compile(&cases, &nvrtc, share.parts > 1);
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
