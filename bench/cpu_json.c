/* SPDX-License-Identifier: MIT */
#include "cpu_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

void cpu_processor(char *name, size_t size) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "re");
  snprintf(name, size, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10)) continue;
    snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (file) fclose(file);
}

static void add_number(cJSON *to, const char *key, double value) {
  cJSON_AddNumberToObject(to, key, round(value * 1e3) / 1e3);
}

static cJSON *make_row(const struct cpu_row *row) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "variant", row->name);
  add_number(object, "vectorized", row->rate[CPU_VECTORS]);
  add_number(object, "unvectorized", row->rate[CPU_PLAIN]);
  if (row->target <= 0) return object;
  add_number(object, "target", row->target);
  cJSON_AddBoolToObject(object, "met", row->rate[CPU_VECTORS] >= row->target);
  return object;
}

int cpu_print_json(const struct bench_options *options, const struct cpu_row *rows, size_t count,
                   int n, int k) {
  cJSON *object = cJSON_CreateObject();
  char processor[128], date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  cpu_processor(processor, sizeof processor);
  cJSON_AddNumberToObject(object, "mxq_bench_cpu", 1);
  cJSON_AddStringToObject(object, "version", mxq_version());
  cJSON_AddStringToObject(object, "date", date);
  cJSON_AddStringToObject(object, "processor", processor);
  cJSON_AddStringToObject(object, "compiler", __VERSION__);
  cJSON_AddStringToObject(object, "unit", "millions of elements a second, one core");
  cJSON_AddNumberToObject(object, "n", n);
  cJSON_AddNumberToObject(object, "k", k);
  cJSON_AddNumberToObject(object, "repetitions", options->reps);
  cJSON *array = cJSON_AddArrayToObject(object, "rows");
  for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(array, make_row(&rows[i]));
  char *text = cJSON_Print(object);
  cJSON_Delete(object);
  if (text)
    puts(text);
  else
    fprintf(stderr, "mxq-bench: no memory for the JSON\n");
  const int status = text ? BENCH_DONE : BENCH_FAILED;
  cJSON_free(text);
  return status;
}
