/* SPDX-License-Identifier: MIT
 *
 * The parts of mxq-bench.
 */
#ifndef MXQ_BENCH_H
#define MXQ_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <mxq/mxq.h>

#include "device.h"
#include "kernel_id.h"
#include "measure.h"
#include "nvrtc.h"

enum { BENCH_DONE = 0, BENCH_FAILED = 1, BENCH_USAGE = 2, BENCH_MISSING = 3 };
enum { BENCH_REPS_MAX = 99, BENCH_SHAPES_MAX = 64, BENCH_SETS_MAX = 32, BENCH_SEED = 1 };

struct bench_shape {
  int64_t e, n, k;
  const char *source; /* where it comes from */
};

struct bench_options {
  char **patterns;
  size_t pattern_count;
  const char *save;           /* file for the JSON, beside the table; or NULL */
  const char *from, *reasons; /* files with a saved result, and with reasons; or NULL */
  struct bench_shape shapes[BENCH_SHAPES_MAX];
  size_t shape_count;
  unsigned reps;
  int device;
  int json, schedules, tune, host, main, cpu, list, help, missed, show, once;
  int argc;
  char **argv;
};

/* BENCH_DONE, or BENCH_USAGE after a message. */
int bench_options_read(int argc, char **argv, struct bench_options *options);
void bench_help(void);

/* BENCH_MISSING for no driver, device or NVRTC, BENCH_FAILED otherwise; prints the last error. */
int bench_exit(enum mxq_status status);
/* On standard error, on a terminal only. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Kernels whose name or whose variant's name a pattern matches: of every variant the one that
 * `arch` gets for large tensors, with `schedules` every one. BENCH_USAGE after a message if a
 * pattern matches none. free() gives the list back. */
int bench_select(const struct bench_options *options, const struct mxq_arch *arch,
                 struct mxq_kernel_id **ids, size_t *count);

/* A straight kernel: 16-byte words that a thread reads and writes. */
struct bench_straight {
  unsigned threads, reads, writes;
  struct mxq_raw_kernel *kernel;
};

/* One thing to measure. */
struct bench_item {
  struct mxq_kernel_id id;
  struct bench_shape shape;
  const char *set;                /* of --main; NULL without */
  struct bench_straight straight; /* of a saved result, without its kernel; no threads: unknown */
};

/* What --main measures, or what of it the patterns select. BENCH_USAGE after a message if that is
 * nothing. free() gives the list back. */
int bench_main_set(const struct bench_options *options, const struct mxq_arch *arch,
                   struct bench_item **items, size_t *count);

/* Variants in which every two values of two axes occur together; free() gives the list back. */
enum mxq_status bench_sample_make(uint64_t seed, struct mxq_variant **sample, size_t *count);

/* Prints kernels and shapes, one a line. */
void bench_list(const struct bench_item *items, size_t count);

/* Sets of tensors that launches rotate over, on the device, inputs filled with random numbers. */
struct bench_buffers {
  int device;
  struct mxq_byte_counts bytes;
  uint64_t read, written; /* bytes of one launch */
  int in_l2;              /* all sets together stay in the L2 cache */
  unsigned sets;
  void *memory[BENCH_SETS_MAX];
  struct mxq_pointers pointers[BENCH_SETS_MAX];
};
enum mxq_status bench_buffers_make(const struct mxq_device_info *info,
                                   const struct mxq_variant *variant, const struct mxq_shape *shape,
                                   struct bench_buffers *buffers);
void bench_buffers_free(struct bench_buffers *buffers);

/* About a million normally distributed numbers of an input type: deviation 1, fixed seed. Made
 * once, never freed; for the main thread. */
enum mxq_status bench_data_piece(unsigned type, const unsigned char **piece, uint64_t *bytes);
/* Fills device memory with them, repeated. */
enum mxq_status bench_data_fill(int device, unsigned type, void *to, uint64_t bytes);
/* Random bytes from `least` up: codes and scale bytes. */
enum mxq_status bench_bytes_fill(int device, unsigned least, unsigned mask, void *to,
                                 uint64_t bytes);

struct bench_straights;
enum mxq_status bench_straights_create(const struct mxq_device_info *info,
                                       struct bench_straights **straights);
void bench_straights_destroy(struct bench_straights *straights);
const struct mxq_nvrtc *bench_straights_nvrtc(const struct bench_straights *straights);
/* The index-th kernel to try for a ratio of bytes; NULL past the end. Compiles it once. */
enum mxq_status bench_straight_at(struct bench_straights *straights,
                                  const struct bench_buffers *buffers, size_t index,
                                  const struct bench_straight **straight);
/* The index that was best for the same traffic before; SIZE_MAX: not known. */
size_t bench_straight_known(const struct bench_straights *straights,
                            const struct bench_buffers *buffers);
void bench_straight_learn(struct bench_straights *straights, const struct bench_buffers *buffers,
                          size_t index);
/* What a launch reads and writes: as the variant, but for what does not fill its last 16 bytes. */
void bench_straight_bytes(const struct bench_buffers *buffers, uint64_t *read, uint64_t *written);
enum mxq_status bench_straight_launch(const struct bench_straight *straight,
                                      const struct bench_buffers *buffers, unsigned set,
                                      mxq_stream stream);

/* Microseconds of one launch, of every repetition in order. */
struct bench_series {
  unsigned count;
  double us[BENCH_REPS_MAX];
};
double bench_median(const struct bench_series *series);
double bench_spread(const struct bench_series *series); /* (largest - smallest) / median */

struct bench_row {
  struct mxq_kernel_id id;
  struct bench_shape shape;
  const char *set; /* of --main; NULL without */
  char name[MXQ_KERNEL_NAME_SIZE];
  enum mxq_status status; /* not MXQ_OK: the kernel cannot take the shape, `why` says it */
  char why[512];
  uint64_t read, written;
  int in_l2;
  unsigned sets, launches;
  struct bench_straight straight;
  uint64_t straight_read, straight_written;
  struct bench_series kernel_us, straight_us, memcpy_us;
  const char *reason; /* that a profiler gave for missing the target; or NULL */
};

struct bench {
  const struct bench_options *options;
  struct mxq_device_info info;
  const struct mxq_arch *arch;
  struct mxq_context *context;
  struct bench_straights *straights;
  int nvrtc_version;           /* 13000: 13.0 */
  const struct cJSON *reasons; /* of --reasons; or NULL */
};

/* Measures one kernel at one shape, beside the fastest straight kernel and copies of the same
 * traffic. MXQ_UNSUPPORTED is left in the row and is no failure. */
enum mxq_status bench_measure_row(const struct bench *bench, const struct mxq_kernel_id *id,
                                  const struct bench_shape *shape, struct bench_row *row);

/* Compiles the kernels of all items, on all processors. */
enum mxq_status bench_prepare(const struct bench *bench, const struct bench_item *items,
                              size_t count);
/* Measures the items and prints them; an exit code. */
int bench_measure_items(const struct bench *bench, const struct bench_item *items, size_t count);

/* Where the bytes of a launch are: 100 MB or more, in the L2 cache, under 1 MB, or none of these.
 */
enum bench_class { BENCH_DRAM, BENCH_L2, BENCH_TINY, BENCH_BETWEEN };
enum bench_class bench_class_of(const struct bench_row *row);
const char *bench_class_name(enum bench_class class);

/* What a row should reach. */
struct bench_target {
  double percent; /* of the straight kernel, at least; 0: not asked for */
  double over_us; /* over the straight kernel, at most; 0: not asked for */
  int exists, met;
};
void bench_target_of(const struct bench_row *row, const struct mxq_arch *arch,
                     struct bench_target *target);

void bench_table_header(const struct bench *bench);
void bench_table_row(const struct bench *bench, const struct bench_row *row);
void bench_table_end(const struct bench *bench, const struct bench_row *rows, size_t count);
/* Everything, the raw times too. BENCH_FAILED where memory is out. */
int bench_json_print(FILE *to, const struct bench *bench, const struct bench_row *rows,
                     size_t count);

/* A file of a result ("mxq_bench") or of reasons ("mxq_reasons"); cJSON_Delete frees it. An exit
 * code, after a message. */
struct cJSON;
int bench_saved_read(const char *path, const char *kind, struct cJSON **saved);
/* What a saved result measured, each kernel and shape once: of --missed what misses its target, of
 * patterns what they match. free() gives the list back; its texts belong to `saved`. */
int bench_saved_items(const struct bench_options *options, const struct cJSON *saved,
                      struct bench_item **items, size_t *count);
/* Its table. `reasons` may be NULL. */
int bench_saved_show(const struct bench_options *options, const struct cJSON *saved,
                     const struct cJSON *reasons);
/* NULL where there is none. */
const char *bench_reason_of(const struct cJSON *reasons, const struct bench_row *row);

/* Launches each item once, after its straight kernel; an exit code. */
int bench_once(const struct bench *bench, const struct bench_item *items, size_t count);

/* mxq-bench --cpu: the CPU path on one core; an exit code. */
int bench_cpu(const struct bench_options *options);

#endif
