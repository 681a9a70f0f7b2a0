/* SPDX-License-Identifier: MIT
 *
 * What mxq info found, and how it is shown.
 */
#ifndef MXQ_CLI_INFO_H
#define MXQ_CLI_INFO_H

#include "context.h"
#include "device.h"
#include "json.h"

struct info_variable {
  const char *name, *meaning;
};
/* The variables that the library reads. */
enum { INFO_VARIABLES = 6 };
extern const struct info_variable info_variables[INFO_VARIABLES];

/* What was found. Texts are NULL where there is nothing to say. */
struct info {
  struct mxq_context *context;
  char *context_error;          /* of wrong variables, a line each; the context is without them */
  char *values[INFO_VARIABLES]; /* as they were set, NULL where they were not */
  char *record_error;           /* of the file of MXQ_RECORD */
  struct mxq_nvrtc nvrtc;       /* handle NULL: none */
  char *nvrtc_error;
  char *driver_error;
  struct mxq_device_info *devices;
  int device_count;
};

/* NULL for a cache folder that is writable or can be made, else what is wrong with it; the caller
 * frees that. */
char *info_folder_problem(const char *folder);
/* Adds a text for each thing that is missing: what it means and what to do. */
void info_advise(const struct info *info, cJSON *advice);

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif
