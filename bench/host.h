/* SPDX-License-Identifier: MIT
 *
 * mxq-bench --host: what the host's side costs.
 */
#ifndef MXQ_BENCH_HOST_H
#define MXQ_BENCH_HOST_H

#include "bench.h"
#include "context.h"

enum { HOST_ROWS_MAX = 32, HOST_PROCESSES = 64, HOST_LOOKUPS = 100000, HOST_COMPILES = 1000 };

struct host_row {
  const char *name, *unit, *what; /* what: one line for people */
  double value;
  double target; /* at most; negative: none */
  char note[256];
  int skipped; /* `note` says why */
};

struct host {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  char folder[96]; /* of its own; removed at the end */
  struct host_row rows[HOST_ROWS_MAX];
  size_t count;
};

/* A row that was measured; its note, if any, is printed into what comes back. */
struct host_row *host_add(struct host *host, const char *name, const char *unit, const char *what,
                          double value, double target);
void host_skip(struct host *host, const char *name, const char *what, const char *why);

double host_now(void); /* seconds */
double host_median(double *values, size_t count);
/* A context that keeps its entries in `dirs`. */
enum mxq_status host_context(const char *dirs, const struct mxq_allocator *allocator,
                             struct mxq_context **context);
/* The name of a folder below the host's own that does not exist yet; `text` holds 128 bytes. */
const char *host_new_folder(const struct host *host, char *text);

/* Each adds its rows. */
enum mxq_status host_measure_lookups(struct host *host);
enum mxq_status host_measure_processes(struct host *host);
enum mxq_status host_measure_growth(struct host *host);
enum mxq_status host_measure_launches(struct host *host, int device);

/* Everything; an exit code. */
int bench_host(const struct bench_options *options);
/* What a child process does: one lookup in a cache folder; tells by its exit code where the kernel
 * came from. */
int bench_host_child(const char *dirs);
int host_print_json(const struct host *host);

#endif
