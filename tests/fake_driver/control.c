/* SPDX-License-Identifier: MIT */
#include "control.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "fake_setting.h"

#define VARIABLE "FAKE_CUDA"

enum { rows_max = 128, record_max = 4096, code_forbidden = 66 };

static atomic_ulong counts[rows_max], all;
static const char *_Atomic names[rows_max];
static const char *_Atomic record[record_max];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next three */
static char failing_name[64];
static unsigned long failing;
static CUresult failure;
static atomic_int armed, forbidden;
static atomic_uint refusals;
static atomic_long libraries;
static _Thread_local char complaint[256];

void fake_fail(const char *function, unsigned long nth, CUresult result) {
  pthread_mutex_lock(&lock);
  snprintf(failing_name, sizeof failing_name, "%s", function ? function : "");
  failing = nth;
  failure = result;
  for (int i = 0; i < rows_max; i++) atomic_store(&counts[i], 0);
  atomic_store(&all, 0);
  atomic_store(&armed, nth != 0);
  pthread_mutex_unlock(&lock);
}

unsigned long fake_calls(const char *function) {
  if (!function) return atomic_load(&all);
  for (int i = 0; i < rows_max; i++) {
    const char *name = atomic_load(&names[i]);
    if (name && !strcmp(name, function)) return atomic_load(&counts[i]);
  }
  return 0;
}

const char *fake_call(unsigned long index) {
  return index < atomic_load(&all) && index < record_max ? atomic_load(&record[index]) : NULL;
}

void fake_refuse(unsigned count) { atomic_store(&refusals, count); }
long fake_libraries(void) { return atomic_load(&libraries); }
void fake_library_loaded(int change) { atomic_fetch_add(&libraries, change); }
void fake_forbid(void) { atomic_store(&forbidden, 1); }
const char *fake_complaint(void) { return complaint; }

CUresult fake_complain(CUresult result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(complaint, sizeof complaint, format, arguments);
  va_end(arguments);
  return result;
}

int fake_is_refused(void) {
  unsigned left = atomic_load(&refusals);
  while (left)
    if (atomic_compare_exchange_weak(&refusals, &left, left - 1)) return 1;
  return 0;
}

static int is_the_one(const char *function, unsigned long total, unsigned long own) {
  pthread_mutex_lock(&lock);
  const int named = failing_name[0] != 0;
  const int hit =
      failing && (named ? !strcmp(failing_name, function) && own == failing : total == failing);
  pthread_mutex_unlock(&lock);
  return hit;
}

CUresult fake_begin(int row, const char *function) {
  if (atomic_load(&forbidden)) {
    fprintf(stderr, "a driver call at exit: %s\n", function);
    _exit(code_forbidden);
  }
  atomic_store(&names[row], function);
  const unsigned long own = atomic_fetch_add(&counts[row], 1) + 1;
  if (strncmp(function, "cuGetError", 10) == 0) return CUDA_SUCCESS;
  const unsigned long total = atomic_fetch_add(&all, 1) + 1;
  if (total <= record_max) atomic_store(&record[total - 1], function);
  if (!atomic_load(&armed) || !is_the_one(function, total, own)) return CUDA_SUCCESS;
  return failure;
}

/* ---- Settings ------------------------------------------------------------------------------ */

static int version, device_count, capabilities[fake_devices_max];

static void read_devices(const char *list) {
  device_count = 0;
  while (*list && device_count < fake_devices_max) {
    capabilities[device_count++] = (int)strtol(list, NULL, 10);
    list += strcspn(list, ",");
    list += *list == ',';
  }
}

static void __attribute__((constructor)) start(void) {
  char text[64];
  version = (int)fake_number(VARIABLE, "version", 13000);
  read_devices(fake_setting(VARIABLE, "devices", text, sizeof text) ? text : "90,90");
  fake_refuse((unsigned)fake_number(VARIABLE, "refuse", 0));
  if (!fake_setting(VARIABLE, "fail", text, sizeof text)) return;
  char *number = strchr(text, ':');
  if (number) *number++ = 0;
  fake_fail(number ? text : NULL, strtoul(number ? number : text, NULL, 10),
            (CUresult)fake_number(VARIABLE, "code", CUDA_ERROR_UNKNOWN));
}

int fake_driver_version(void) { return version; }
int fake_device_count(void) { return device_count; }
int fake_device_capability(int device) { return capabilities[device]; }
