/* SPDX-License-Identifier: MIT
 *
 * What the JSON of every measurement begins and ends with.
 */
#ifndef MXQ_BENCH_REPORT_JSON_H
#define MXQ_BENCH_REPORT_JSON_H

#include <cjson/cJSON.h>

/* An object with the kind of report, its format's number, mxq's version and the date in UTC. */
cJSON *report_begin(const char *kind);
/* The name of this machine's processor. */
void report_add_processor(cJSON *report);
/* Prints to stdout and deletes it. BENCH_DONE, or BENCH_FAILED without memory. */
int report_print(cJSON *report);

#endif
