/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "expand.h"
#include "kernel_cases.h"
#include "schedule.h"
#include "status.h"

#define STACK_BYTES ((size_t)16 << 20) /* NVRTC recurses deeply */
#define THREADS_MAX 64

struct work {
  struct kernel_cases *cases;
  const struct mxq_nvrtc *nvrtc;
  int quickly; /* which of the cases: those that are compiled quickly, or the others */
  atomic_size_t next;
};

#define FAULT(one, ...) snprintf((one)->fault, sizeof(one)->fault, __VA_ARGS__)

static void check_resources(struct kernel_case *one, const struct mxq_resources *used) {
  if (used->spill_store_bytes || used->spill_load_bytes || used->stack_bytes || used->registers < 8)
    FAULT(one, "%u registers, %u bytes spilled by stores, %u by loads, %u bytes of stack",
          used->registers, used->spill_store_bytes, used->spill_load_bytes, used->stack_bytes);
}

static int is_barrier(const char *text) {
  return strncmp(text, "bar.sync", 8) == 0 || strncmp(text, "barrier.sync", 12) == 0;
}

/* The line that runs after the one at `at`; NULL where that depends on something. Blocks may stand
 * in any order. */
static const char *next_line(const char *ptx, const char *at) {
  const char *const line = strchr(at, '\n');
  const char *const jump = line ? line + 1 + strspn(line + 1, " \t") : NULL;
  char label[64] = "\n";
  static const char *const leaving[] = {"@", "br", "ret", "exit", "trap", "call"};
  const int jumps = jump && sscanf(jump, "bra.uni %60[^;]", label + 1) == 1;
  for (size_t i = 0; jump && !jumps && i < sizeof leaving / sizeof leaving[0]; i++)
    if (strncmp(jump, leaving[i], strlen(leaving[i])) == 0) return NULL;
  if (!jumps) return jump;
  const char *const block = strstr(ptx, strcat(label, ":"));
  return block ? block + 1 : NULL;
}

/* Whether a thread that is at `at` comes to a barrier, whatever happens, before it reads or writes
 * shared memory. */
static int barrier_follows(const char *ptx, const char *at) {
  for (int lines = 0; at && lines < 1000; lines++, at = next_line(ptx, at)) {
    if (is_barrier(at)) return 1;
    const char *const shared = strstr(at, ".shared");
    const int waits = strncmp(at, "mbarrier", 8) == 0 || strncmp(at, "cp.async", 8) == 0 ||
                      strncmp(at, "fence", 5) == 0;
    if (shared && shared < at + strcspn(at, "\n") && !waits) return 0;
  }
  return 0;
}

/* A proxy fence and then a barrier twice: for the barrier of the load, and for the codes, before
 * the bulk store, its commit, and the wait for its reads. That the codes' stores come before that
 * fence is not to be seen in the text, whose blocks stand in any order: the emulator looks at it.
 */
static void check_bulk_store(struct kernel_case *one, const char *ptx) {
  const char *bulk = strstr(ptx, "cp.async.bulk.tensor.3d.global.shared::cta");
  const char *commit = bulk ? strstr(bulk, "cp.async.bulk.commit_group") : NULL;
  int fences = 0, barriers = 0;
  for (const char *at = ptx; (at = strstr(at, "fence.proxy.async")); ++at, ++fences)
    barriers += barrier_follows(ptx, at);
  if (!bulk || !strstr(ptx, "st.shared") || fences < 2 || barriers < fences)
    FAULT(one, "%d proxy fences and %d barriers after them, at least two wanted; a bulk store: %d",
          fences, barriers, bulk != NULL);
  else if (!commit || !strstr(commit, "cp.async.bulk.wait_group"))
    FAULT(one, "no commit, or no wait after it, behind the bulk store");
}

/* Asynchronous copies, then their wait, then a barrier before anybody reads shared memory. */
static void check_async_copies(struct kernel_case *one, const char *ptx) {
  const char *copy = strstr(ptx, "cp.async.c"), *wait = strstr(ptx, "cp.async.wait_all");
  if (!copy || !wait || wait < copy || !barrier_follows(ptx, wait))
    FAULT(one, "no copy, or no wait for it and then a barrier before reads of shared memory");
}

static void check_arithmetic(struct kernel_case *one, const char *ptx) {
  static const char *const forbidden[] = {".ftz", ".approx", "ex2.", "lg2.", ".local", "fma."};
  /* Codes of e2m1 come from sums of products that are exact (four.cuh). */
  const size_t adds = one->id.variant.out == MXQ_TYPE_E2M1 ? 1 : 0;
  for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0] - adds; ++i)
    if (strstr(ptx, forbidden[i])) FAULT(one, "%s in the PTX", forbidden[i]);
  /* What the assembler of CUDA 13.0 gets wrong: see the NOTE in scale.cuh. Dequantize clamps no
   * codes. */
  if (one->id.variant.op == MXQ_OP_DEQUANTIZE) return;
  for (const char *line = ptx; (line = strstr(line, "setp.")); ++line) {
    const char *end = strchr(line, '\n');
    if (end && end - line > 5 && strncmp(end - 5, " 254;", 5) == 0)
      FAULT(one, "a comparison with 254 in the PTX, which CUDA 13.0 may miscompile");
  }
}

/* Optimizing and assembling are most of a compilation. Without them it still tells whether the
 * source is right C++, with all of its static assertions. */
static enum mxq_status compile_quickly(const struct work *work, const char *source,
                                       const char *name, struct kernel_case *one) {
  static const char fast[] = "//\n// NVRTC: --Ofast-compile=max\n"; /* read by compile.c */
  struct mxq_compiled compiled;
  char *text = malloc(sizeof fast + strlen(source));
  if (!text) abort();
  strcat(strcpy(text, fast), source);
  const enum mxq_status status = mxq_compile(&mxq_allocator_default, work->nvrtc, text, name,
                                             &one->arch, MXQ_COMPILE_PTX, &compiled);
  free(text);
  if (status != MXQ_OK) return status;
  if (!strstr(compiled.code, ".entry")) FAULT(one, "no kernel in the PTX");
  free(compiled.code);
  return MXQ_OK;
}

static enum mxq_status compile_whole(const struct work *work, const char *source, const char *name,
                                     struct kernel_case *one) {
  struct mxq_compiled compiled;
  MXQ_TRY(mxq_compile(&mxq_allocator_default, work->nvrtc, source, name, &one->arch,
                      MXQ_COMPILE_BOTH, &compiled));
  check_resources(one, &compiled.resources);
  check_arithmetic(one, compiled.ptx);
  const enum mxq_form form = mxq_form_facts(&one->id)->form;
  if (form == MXQ_FORM_TILE) check_bulk_store(one, compiled.ptx);
  if (one->id.family == MXQ_FAMILY_ANY) check_async_copies(one, compiled.ptx);
  free(compiled.code);
  free(compiled.ptx);
  return MXQ_OK;
}

static enum mxq_status compile_one(const struct work *work, struct mxq_expander *expander,
                                   struct kernel_case *one) {
  char name[MXQ_KERNEL_NAME_SIZE], *source = NULL;
  MXQ_TRY(mxq_kernel_id_name(&one->id, name, sizeof name));
  MXQ_TRY(mxq_expander_expand(expander, &one->id, &one->arch, &source, NULL));
  const enum mxq_status status = one->quickly ? compile_quickly(work, source, name, one)
                                              : compile_whole(work, source, name, one);
  free(source);
  return status;
}

static void *run(void *user) {
  struct work *work = user;
  struct mxq_expander *expander = NULL;
  enum mxq_status status = mxq_expander_create(&mxq_allocator_default, NULL, &expander);
  for (;;) {
    const size_t index = atomic_fetch_add(&work->next, 1);
    if (index >= work->cases->count) break;
    struct kernel_case *one = &work->cases->list[index];
    if (one->quickly != work->quickly) continue;
    if (expander) status = compile_one(work, expander, one);
    if (status != MXQ_OK) FAULT(one, "%.500s", mxq_last_error());
  }
  mxq_expander_destroy(expander);
  return NULL;
}

static void run_threads(struct work *work, unsigned count) {
  pthread_t threads[THREADS_MAX];
  pthread_attr_t attributes;
  long wanted = count ? (long)count : sysconf(_SC_NPROCESSORS_ONLN), started = 0;
  if (wanted > THREADS_MAX) wanted = THREADS_MAX;
  if (pthread_attr_init(&attributes) != 0) abort();
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  while (started < wanted && pthread_create(&threads[started], &attributes, run, work) == 0)
    ++started;
  pthread_attr_destroy(&attributes);
  if (!started) run(work);
  while (started) pthread_join(threads[--started], NULL);
}

/* NOTE: NVRTC 13.0 (V13.0.88) compiles everything otherwise in a process that has once used
 * --Ofast-compile=max: more instructions, and spills. So the quick ones come last. */
void compile_cases(struct kernel_cases *cases, const struct mxq_nvrtc *nvrtc, unsigned count) {
  for (int quickly = 0; quickly < 2; quickly++) {
    struct work work = {.cases = cases, .nvrtc = nvrtc, .quickly = quickly};
    run_threads(&work, count);
  }
}
