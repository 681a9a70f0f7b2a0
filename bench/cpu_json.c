/* SPDX-License-Identifier: MIT */
#include "cpu_json.h"

#include <math.h>

#include "report_json.h"

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
  cJSON *object = report_begin("mxq_bench_cpu");
  report_add_processor(object);
  cJSON_AddStringToObject(object, "compiler", __VERSION__);
  cJSON_AddStringToObject(object, "unit", "millions of elements a second, one core");
  cJSON_AddNumberToObject(object, "n", n);
  cJSON_AddNumberToObject(object, "k", k);
  cJSON_AddNumberToObject(object, "repetitions", options->reps);
  cJSON *array = cJSON_AddArrayToObject(object, "rows");
  for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(array, make_row(&rows[i]));
  return report_print(object);
}
