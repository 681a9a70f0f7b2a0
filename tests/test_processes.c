/* SPDX-License-Identifier: MIT
 *
 * Many processes and threads that start cold on one key: one compile where locks work, right
 * results where they do not, whoever is killed or stops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "context.h"
#include "fakes.h"
#include "file_faults.h"

enum { processes = 64, threads = 4 };

static char root[64], dir[96], compile_log[96];
static struct mxq_kernel_id kernel;
static const struct mxq_arch *arch;

struct got {
  uint64_t hash; /* of the cubin; 0: failed */
};
static struct got *shared; /* by all processes */

static int setup(void **state) {
  char settings[160];
  (void)state;
  snprintf(root, sizeof root, "/tmp/mxq-processes-XXXXXX");
  if (!mkdtemp(root)) return -1;
  snprintf(dir, sizeof dir, "%s/cache", root);
  snprintf(compile_log, sizeof compile_log, "%s/compiles", root);
  snprintf(settings, sizeof settings, "milliseconds=60;log=%s", compile_log);
  setenv("FAKE_NVRTC", settings, 1);
  memset(shared, 0, (size_t)processes * threads * sizeof *shared);
  return 0;
}
static int teardown(void **state) {
  char command[160];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

static int compiles(void) {
  int count = 0;
  FILE *file = fopen(compile_log, "r");
  for (int c; file && (c = getc(file)) != EOF;) count += c == '\n';
  if (file) fclose(file);
  return count;
}

static struct mxq_context *create(void) {
  struct mxq_config config = MXQ_CONFIG_INIT;
  struct mxq_context *context = NULL;
  config.cache_dirs = dir;
  return mxq_context_create(&config, &context) == MXQ_OK ? context : NULL;
}

static uint64_t get(struct mxq_context *context) {
  const struct mxq_image *image = NULL;
  return context && mxq_image_get(context, &kernel, arch, &image, NULL) == MXQ_OK
             ? image->cubin_hash
             : 0;
}

struct worker {
  struct mxq_context *context;
  struct got *got;
};
static void *work(void *user) {
  const struct worker *worker = user;
  worker->got->hash = get(worker->context);
  return NULL;
}

/* One context, several threads. */
static int be_a_process(struct got *got) {
  struct worker workers[threads];
  pthread_t ids[threads];
  struct mxq_context *context = create();
  for (int i = 0; i < threads; i++) {
    workers[i] = (struct worker){context, &got[i]};
    if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) return 1;
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  mxq_context_destroy(context);
  return 0;
}

static void run_processes(int count) {
  pid_t children[processes];
  for (int i = 0; i < count; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) _exit(be_a_process(&shared[i * threads]));
  }
  for (int i = 0; i < count; i++) {
    int status = 0;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_int_equal(status, 0);
  }
  assert_true(shared[0].hash != 0);
  for (int i = 1; i < count * threads; i++) assert_true(shared[i].hash == shared[0].hash);
}

static void one_compile_for_all_of_them(void **state) {
  (void)state;
  run_processes(processes);
  assert_int_equal(compiles(), 1);
  run_processes(processes); /* warm */
  assert_int_equal(compiles(), 1);
}

static void right_without_locks(void **state) {
  const struct file_fault fault = {FILE_flock, 1, ~0ul, FILE_FAILS, ENOLCK};
  (void)state;
  file_faults_set(&fault);
  run_processes(16);
  file_faults_set(NULL);
  assert_in_range(compiles(), 1, 16);
}

static void right_without_a_cache(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/proc/mxq");
  run_processes(8);
  assert_int_equal(compiles(), 8); /* once a process, not once a thread */
}

/* A child that holds the lock, compiling for a long time. */
static pid_t start_slow_child(void) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char settings[160];
    snprintf(settings, sizeof settings, "milliseconds=100000;log=%s", compile_log);
    setenv("FAKE_NVRTC", settings, 1);
    _exit(get(create()) == 0);
  }
  for (int i = 0; i < 500 && access(dir, F_OK); i++) usleep(10000);
  usleep(100000);
  return child;
}

static void a_killed_compiler_holds_nobody_up(void **state) {
  (void)state;
  const pid_t child = start_slow_child();
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  const time_t start = time(NULL);
  run_processes(4);
  assert_int_equal(compiles(), 1);
  assert_true(time(NULL) - start < 10);
}

/* It stops and keeps the lock: the others wait a bounded time, then each compiles. */
static void a_stopped_compiler_is_waited_for_in_vain(void **state) {
  (void)state;
  const pid_t child = start_slow_child();
  assert_int_equal(kill(child, SIGSTOP), 0);
  const time_t start = time(NULL);
  run_processes(2);
  assert_in_range(time(NULL) - start, 10, 60);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(int argc, char **argv) {
#define EACH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      EACH(one_compile_for_all_of_them),
      EACH(right_without_locks),
      EACH(right_without_a_cache),
      EACH(a_killed_compiler_holds_nobody_up),
  };
  const struct CMUnitTest slow[] = {EACH(a_stopped_compiler_is_waited_for_in_vain)};
#undef EACH
  shared = mmap(NULL, (size_t)processes * threads * sizeof *shared, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || mxq_arch_parse("90a", &arch) != MXQ_OK ||
      mxq_kernel_id_parse("quantize_bf16_e4m3_b32_rceil_colt_lin", &kernel) != MXQ_OK)
    return 1;
  if (argc > 1 && !strcmp(argv[1], "--slow")) return cmocka_run_group_tests(slow, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
