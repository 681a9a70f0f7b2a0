/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "info.h"
#include "report.h"
#include "store_list.h"
#include "suggest.h"
#include "target.h"
#include "text.h"

static const struct {
  const char *name;
  int (*run)(const struct mxq_context *context, int json);
} actions[] = {
    {"path", cache_path}, {"list", cache_list}, {"verify", cache_verify}, {"clear", cache_clear}};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* Nothing but the folders on standard output, for scripts. */
int cache_path(const struct mxq_context *context, int json) {
  const struct mxq_store *store = &context->store;
  cJSON *rows = json_array();
  int written = 0;
  for (unsigned i = 0; i < store->dir_count; i++) {
    char *problem = info_folder_problem(store->dirs[i]);
    cJSON *row = json_object();
    json_add_string(row, "path", store->dirs[i]);
    json_add_string(row, "from", store->source);
    json_add_bool(row, "exists", access(store->dirs[i], F_OK) == 0);
    json_add_bool(row, "written", !problem && !written);
    json_add_string(row, "reason", problem);
    json_add(rows, NULL, row);
    if (!json) puts(store->dirs[i]);
    if (problem) report_note("%s: %s", store->dirs[i], problem);
    written |= !problem;
    free(problem);
  }
  if (!store->dir_count) report_note("there is no cache folder: set MXQ_CACHE_DIR or HOME");
  if (json)
    json_print(rows);
  else
    cJSON_Delete(rows);
  return store->dir_count ? EXIT_DONE : EXIT_MISSING;
}

int cache_clear(const struct mxq_context *context, int json) {
  uint64_t files = 0, bytes = 0;
  char why[1024] = "";
  const int good = mxq_store_clear(&context->store, &files, &bytes, why, sizeof why);
  if (!good) report_note("%s", why);
  if (json) {
    cJSON *object = json_object();
    json_add_integer(object, "removed_files", (int64_t)files);
    json_add_integer(object, "removed_bytes", (int64_t)bytes);
    json_print(object);
  } else {
    printf("removed %" PRIu64 " files, %" PRIu64 " bytes\n", files, bytes);
  }
  return good ? EXIT_DONE : EXIT_FAILED;
}

static int unknown(const char *word) {
  struct suggest suggest = suggest_begin(word);
  for (size_t i = 0; i < ACTIONS; i++) suggest_offer(&suggest, actions[i].name);
  return report_usage(&command_cache, "unknown action \"%s\"; allowed: path, list, verify, clear%s",
                      word, suggest_end(&suggest));
}

static int run(const struct arguments *arguments) {
  struct mxq_context *context = NULL;
  const char *word = arguments->operands[0];
  size_t i = 0;
  while (i < ACTIONS && strcmp(actions[i].name, word)) i++;
  if (i == ACTIONS) return unknown(word);
  int code = report_status(target_context(arguments, &context));
  if (code == EXIT_DONE) code = actions[i].run(context, arguments->json);
  mxq_context_destroy(context);
  return code;
}

const struct command command_cache = {
    .name = "cache",
    .operands = "path|list|verify|clear",
    .summary = "the disk cache of compiled kernels",
    .details =
        "path    prints the cache's folders, one a line; the first that is writable is written,\n"
        "        the others are only read\n"
        "list    prints its entries: kernel, arch, NVRTC, size, last use, and whether this\n"
        "        build's templates and options made it, or what is wrong with it\n"
        "verify  prints the damaged ones alone; exit code 4 if there is one. A damaged\n"
        "        entry does no harm: it is compiled anew and replaced when it is needed\n"
        "clear   removes the entries of the folder that is written\n"
        "\n"
        "The folders come from MXQ_CACHE_DIR (a colon list), XDG_CACHE_HOME/mxq, HOME/.cache/mxq\n"
        "or the password entry's home, whichever is set first. MXQ_CACHE_SIZE (1G if not set)\n"
        "is what the written folder may grow to; what was used longest ago goes first.\n",
    .examples =
        "  mxq cache path\n"
        "  mxq cache list --json\n"
        "  MXQ_CACHE_DIR=/scratch/me/mxq mxq cache verify\n"
        "  mxq cache clear\n",
    .least = 1,
    .most = 1,
    .json = 1,
    .run = run,
};
