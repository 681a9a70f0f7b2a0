/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cache.h"
#include "json.h"
#include "report.h"
#include "store_list.h"
#include "table.h"
#include "text.h"

static const char *const headings[] = {"kernel",    "arch",  "NVRTC", ">bytes",
                                       "last used", "state", "file"};
enum { COLUMNS = sizeof headings / sizeof *headings };

struct listing {
  const char *folder;
  cJSON *rows; /* NULL: a table */
  struct table table;
  int only_wrong;
  size_t count, wrong, old;
  uint64_t bytes;
};

static const char *state_of(const struct mxq_store_item *item) {
  if (item->wrong) return item->wrong;
  return item->facts.is_current ? "current" : "of another build";
}

/* In UTC, so that nodes agree. */
static char *time_of(const struct timespec *used) {
  struct tm parts;
  char text[32] = "";
  if (gmtime_r(&used->tv_sec, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text_format("%s", text);
}

static char *kernel_of(const struct mxq_store_item *item) {
  char name[MXQ_KERNEL_NAME_SIZE] = "";
  /* The numbers of another build's kernel may mean nothing here. */
  if (!item->wrong && mxq_kernel_id_name(&item->facts.key.kernel, name, sizeof name) != MXQ_OK)
    return text_format("(unknown here)");
  return text_format("%s", item->wrong ? "-" : name);
}

static void add_row(struct listing *listing, const struct mxq_store_item *item) {
  const struct mxq_entry_facts *facts = &item->facts;
  char *kernel = kernel_of(item), *used = time_of(&item->used);
  char *nvrtc = item->wrong
                    ? text_format("-")
                    : text_format("%" PRIu32 ".%" PRIu32, facts->nvrtc_major, facts->nvrtc_minor);
  const char *arch = item->wrong ? "-" : facts->key.arch;
  const char *cells[] = {kernel, arch, nvrtc, NULL, used, state_of(item), item->name};
  for (size_t i = 0; i < COLUMNS; i++) {
    if (cells[i])
      table_cell(&listing->table, "%s", cells[i]);
    else
      table_cell(&listing->table, "%" PRIu64, item->bytes);
  }
  free(kernel);
  free(used);
  free(nvrtc);
}

static void add_json(const struct listing *listing, const struct mxq_store_item *item) {
  const struct mxq_entry_facts *facts = &item->facts;
  char *kernel = kernel_of(item), *used = time_of(&item->used);
  char *nvrtc = text_format("%" PRIu32 ".%" PRIu32, facts->nvrtc_major, facts->nvrtc_minor);
  cJSON *row = json_object();
  json_add_string(row, "folder", listing->folder);
  json_add_string(row, "file", item->name);
  json_add_integer(row, "bytes", (int64_t)item->bytes);
  json_add_string(row, "last_used", used);
  json_add_string(row, "wrong", item->wrong);
  json_add_string(row, "kernel", item->wrong ? NULL : kernel);
  json_add_string(row, "arch", item->wrong ? NULL : facts->key.arch);
  json_add_string(row, "nvrtc", item->wrong ? NULL : nvrtc);
  json_add_string(row, "nvrtc_build_id", item->wrong ? NULL : facts->nvrtc_build_id);
  json_add_integer(row, "registers", facts->resources.registers);
  json_add_bool(row, "current", !item->wrong && facts->is_current);
  json_add(listing->rows, NULL, row);
  free(kernel);
  free(used);
  free(nvrtc);
}

static void visit(void *user, const struct mxq_store_item *item) {
  struct listing *listing = user;
  listing->count++;
  listing->bytes += item->bytes;
  listing->wrong += item->wrong != NULL;
  listing->old += !item->wrong && !item->facts.is_current;
  if (listing->only_wrong && !item->wrong) return;
  if (listing->rows)
    add_json(listing, item);
  else
    add_row(listing, item);
}

static int look(const struct mxq_context *context, struct listing *listing) {
  int code = EXIT_DONE;
  for (unsigned i = 0; i < context->store.dir_count; i++) {
    char why[1024] = "";
    listing->folder = context->store.dirs[i];
    mxq_store_each(listing->folder, &context->allocator, visit, listing, why, sizeof why);
    if (!why[0]) continue;
    report_note("%s", why);
    code = EXIT_FAILED;
  }
  return code;
}

static void print_sum(const struct listing *listing) {
  printf("%zu %s, %" PRIu64 " bytes", listing->count, listing->count == 1 ? "entry" : "entries",
         listing->bytes);
  if (listing->old) printf(", %zu of other builds", listing->old);
  printf(listing->only_wrong || listing->wrong ? ", %zu damaged\n" : "\n", listing->wrong);
}

static int run(const struct mxq_context *context, int json, int only_wrong) {
  struct listing listing = {.only_wrong = only_wrong};
  table_begin(&listing.table, COLUMNS, headings);
  if (json) listing.rows = json_array();
  int code = look(context, &listing);
  if (only_wrong && listing.wrong) code = EXIT_MISMATCH;
  if (json) {
    cJSON *object = json_object();
    json_add_integer(object, "entries", (int64_t)listing.count);
    json_add_integer(object, "bytes", (int64_t)listing.bytes);
    json_add_integer(object, "damaged", (int64_t)listing.wrong);
    json_add(object, only_wrong ? "damaged_files" : "files", listing.rows);
    json_print(object);
  } else {
    if (listing.table.count > COLUMNS) table_print(&listing.table, stdout);
    print_sum(&listing);
  }
  table_free(&listing.table);
  return code;
}

int cache_list(const struct mxq_context *context, int json) { return run(context, json, 0); }
int cache_verify(const struct mxq_context *context, int json) { return run(context, json, 1); }
