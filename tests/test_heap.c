/* SPDX-License-Identifier: MIT
 *
 * The heap that waits for NVRTC's compiler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "heap.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Page faults that touching 12 MB takes, in blocks as a compiler asks for. */
static long faults_of_touching(void) {
  enum { count = 192, bytes = 64 << 10, page = 4096 };
  static char *blocks[count];
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < count; i++) {
    blocks[i] = malloc(bytes);
    assert_non_null(blocks[i]);
    for (int at = 0; at < bytes; at += page) *(volatile char *)(blocks[i] + at) = 1;
  }
  getrusage(RUSAGE_SELF, &after);
  for (int i = 0; i < count; i++) free(blocks[i]);
  return after.ru_minflt - before.ru_minflt;
}

static void memory_waits_for_the_compiler(void **state) {
  (void)state;
  const long cold = faults_of_touching(); /* given back: more than the C library keeps by itself */
  mxq_heap_reserve();
  const long warm = faults_of_touching();
  mxq_heap_reserve(); /* once a process */
  const long again = faults_of_touching();
  assert_true(cold > 2000); /* of 3072 pages */
  assert_true(warm < 200);
  assert_true(again < 200);
}
#else
static void memory_waits_for_the_compiler(void **state) {
  (void)state;
  skip(); /* another allocator */
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_waits_for_the_compiler)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
