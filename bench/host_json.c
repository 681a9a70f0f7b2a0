/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "cpu_json.h"
#include "host.h"

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
  cJSON *object = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(object, "rows");
  char processor[128], date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  cpu_processor(processor, sizeof processor);
  cJSON_AddNumberToObject(object, "mxq_bench_host", 1);
  cJSON_AddStringToObject(object, "date", date);
  cJSON_AddStringToObject(object, "processor", processor);
  cJSON_AddStringToObject(object, "version", mxq_version());
  cJSON_AddStringToObject(object, "arch", host->arch->name);
  for (size_t i = 0; i < host->count; i++) cJSON_AddItemToArray(rows, make_row(&host->rows[i]));
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
