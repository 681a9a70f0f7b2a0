/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "host.h"
#include "report_json.h"

static cJSON *make_row(const struct host_row *row) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", row->name);
  cJSON_AddStringToObject(object, "what", row->what);
  if (row->skipped) {
    cJSON_AddStringToObject(object, "skipped", row->note);
    return object;
  }
  cJSON_AddNumberToObject(object, "value", round(row->value * 1e4) / 1e4);
  cJSON_AddStringToObject(object, "unit", row->unit);
  if (row->target >= 0) {
    cJSON_AddNumberToObject(object, "target", row->target);
    cJSON_AddBoolToObject(object, "met", row->value <= row->target);
  }
  if (row->note[0]) cJSON_AddStringToObject(object, "note", row->note);
  return object;
}

int host_print_json(const struct host *host) {
  cJSON *object = report_begin("mxq_bench_host");
  report_add_processor(object);
  cJSON_AddStringToObject(object, "arch", host->arch->name);
  cJSON *rows = cJSON_AddArrayToObject(object, "rows");
  for (size_t i = 0; i < host->count; i++) cJSON_AddItemToArray(rows, make_row(&host->rows[i]));
  return report_print(object);
}
