/* SPDX-License-Identifier: MIT */
#include "report_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <mxq/mxq.h>

#include "bench.h"

enum { report_format = 1 };

cJSON *report_begin(const char *kind) {
  cJSON *report = cJSON_CreateObject();
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  cJSON_AddNumberToObject(report, kind, report_format);
  cJSON_AddStringToObject(report, "version", mxq_version());
  cJSON_AddStringToObject(report, "date", date);
  return report;
}

void report_add_processor(cJSON *report) {
  char line[256], name[128] = "unknown";
  FILE *file = fopen("/proc/cpuinfo", "re");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10)) continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (file) fclose(file);
  cJSON_AddStringToObject(report, "processor", name);
}

int report_print(cJSON *report) {
  char *text = cJSON_Print(report);
  cJSON_Delete(report);
  if (text)
    puts(text);
  else
    fprintf(stderr, "mxq-bench: no memory for the JSON\n");
  const int status = text ? BENCH_DONE : BENCH_FAILED;
  cJSON_free(text);
  return status;
}
