/* SPDX-License-Identifier: MIT
 *
 * mxq: block-scaled quantization kernels, generated for one variant each.
 *
 *   context -> kernel (one variant on one device) -> plan (one shape) -> launches
 *
 * Every fallible function returns enum mxq_status and leaves its results untouched on failure;
 * mxq_last_error() then says what was given, what is allowed and what to do. The library never
 * prints, exits, aborts, forks or starts a process.
 *
 * All functions may be called from several threads at once, also on one object; only destroying
 * or releasing an object's last reference must follow its last use.
 */
#ifndef MXQ_MXQ_H
#define MXQ_MXQ_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/status.h>
#include <mxq/variant.h>

#define MXQ_VERSION_MAJOR 0
#define MXQ_VERSION_MINOR 1
#define MXQ_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library in use, such as "0.1.0". */
MXQ_API const char *mxq_version(void);

/* ---- Shapes, pointers, sizes -------------------------------------------------------------- */

/* The wide tensor: the input of quantize, the output of dequantize. E matrices of N rows and K
 * columns; columns are contiguous; strides are in elements and non-negative. The stride of an axis
 * of length 0 or 1 does not matter. An input's stride may be 0 (broadcast) and strides may come in
 * any order; elements of an output may not share memory. Codes and scales are always dense.
 * Contract, sections 3 and 5. */
struct mxq_shape {
  int64_t e;
  int64_t n;
  int64_t k;
  int64_t stride_e;
  int64_t stride_n;
};

/* The shape of a dense tensor: strides (n*k, k). Lengths whose product does not fit in 63 bits
 * are refused by whatever the shape is given to. */
static inline struct mxq_shape mxq_shape_dense(int64_t e, int64_t n, int64_t k) {
  struct mxq_shape shape;
  shape.e = e;
  shape.n = n;
  shape.k = k;
  shape.stride_e = n > 0 && k > INT64_MAX / n ? -1 : n * k;
  shape.stride_n = k;
  return shape;
}

/* Addresses, all on the plan's device. What an operation does not use is NULL; what has no bytes
 * may be NULL.
 *   quantize:    reads the wide tensor `in`; for each part p of the layout writes codes to out[p]
 *                and their scales to scale[p]. in_scale is NULL.
 *   dequantize:  reads the codes `in` and their scales `in_scale`; writes the wide tensor out[0],
 *                nothing between its rows. out[1], scale[0] and scale[1] are NULL. */
struct mxq_pointers {
  const void *in;
  const void *in_scale;
  void *out[2];
  void *scale[2];
};

/* Bytes behind each of these pointers, padding of scales included, 0 for what is not used. Of the
 * wide tensor it is the extent: the last element's offset plus one, in bytes. */
struct mxq_byte_counts {
  uint64_t in;
  uint64_t in_scale;
  uint64_t out[2];
  uint64_t scale[2];
};

/* Bytes of every tensor of a variant at a shape, before anything is allocated. */
MXQ_API enum mxq_status mxq_sizes(const struct mxq_variant *variant, const struct mxq_shape *shape,
                                  struct mxq_byte_counts *bytes);

/* The place of the code of element (e, n, k) in part `part` of the layout: in out[part] of
 * quantize, in `in` of dequantize. Counted in codes. Contract, section 3. Codes of four bits (e2m1)
 * lie two to a byte: place p in byte p / 2, in its low bits for an even p. */
static inline uint64_t mxq_data_offset(const struct mxq_variant *variant,
                                       const struct mxq_shape *shape, unsigned part, uint64_t e,
                                       uint64_t n, uint64_t k) {
  const uint64_t rows = (uint64_t)shape->n, columns = (uint64_t)shape->k;
  if (mxq_layout_part(variant->layout, part) & MXQ_PART_COLUMN_MAJOR)
    return (e * columns + k) * rows + n;
  return (e * rows + n) * columns + k;
}

/* The scales of one part at a shape, as contract, section 4, has them: R rows, each with a scale of
 * its own or a copy of its block's, and C columns. */
struct mxq_scale_grid {
  uint64_t rows;         /* R: N; or K, for parts with blocks along N alone or column-major */
  uint64_t columns;      /* C: blocks along the other axis */
  uint64_t blocks_n;     /* blocks along N, or N */
  uint64_t blocks_k;     /* blocks along K, or K */
  uint32_t block_n;      /* N's elements that share a scale: the variant's block or 1 */
  uint32_t block_k;      /* K's */
  uint32_t rows_along_k; /* whether R is K */
};

static inline struct mxq_scale_grid mxq_scale_grid_of(const struct mxq_variant *variant,
                                                      const struct mxq_shape *shape,
                                                      unsigned part) {
  const unsigned kind = mxq_layout_part(variant->layout, part);
  const uint64_t n = (uint64_t)shape->n, k = (uint64_t)shape->k;
  struct mxq_scale_grid grid;
  grid.block_n = kind & MXQ_PART_ALONG_N ? variant->block : 1u;
  grid.block_k = kind & MXQ_PART_ALONG_K ? variant->block : 1u;
  grid.blocks_n = n / grid.block_n + (n % grid.block_n != 0);
  grid.blocks_k = k / grid.block_k + (k % grid.block_k != 0);
  grid.rows_along_k = (kind & MXQ_PART_COLUMN_MAJOR) != 0 || !(kind & MXQ_PART_ALONG_K);
  grid.rows = grid.rows_along_k ? k : n;
  grid.columns = grid.rows_along_k ? grid.blocks_n : grid.blocks_k;
  return grid;
}

/* The place of the scale of element (e, n, k) among the scales of part `part`, in scales: bytes for
 * e8m0 (of packed `mn` words too: they are little-endian), floats for float32. Contract, section 4.
 * Where a block covers several rows of `blk` or of packed `mn`, this is the copy of the element's
 * own row. */
static inline uint64_t mxq_scale_offset(const struct mxq_variant *variant,
                                        const struct mxq_shape *shape, unsigned part, uint64_t e,
                                        uint64_t n, uint64_t k) {
  const struct mxq_scale_grid grid = mxq_scale_grid_of(variant, shape, part);
  const uint64_t block_n = n / grid.block_n, block_k = k / grid.block_k;
  const uint64_t row = grid.rows_along_k ? k : n;
  const uint64_t column = grid.rows_along_k ? block_n : block_k;
  const uint64_t quads = grid.columns / 4 + (grid.columns % 4 != 0);
  const uint64_t padded_rows = (grid.rows + 3) / 4 * 4;
  if (variant->scales == MXQ_SCALES_BLK) { /* tiles of 128 rows and 4 columns */
    const uint64_t tiles = grid.rows / 128 + (grid.rows % 128 != 0);
    return ((e * tiles + row / 128) * quads + column / 4) * 512 + row % 32 * 16 +
           row % 128 / 32 * 4 + column % 4;
  }
  if (variant->scales == MXQ_SCALES_MN && mxq_mode_scale_bits(variant->mode) == 8)
    return ((e * quads + column / 4) * padded_rows + row) * 4 + column % 4;
  if (variant->scales == MXQ_SCALES_MN && grid.block_n > 1 && grid.block_k > 1) {
    const uint64_t blocks = grid.rows_along_k ? grid.blocks_k : grid.blocks_n;
    return (e * blocks + (grid.rows_along_k ? block_k : block_n)) * quads * 4 + column;
  }
  if (variant->scales == MXQ_SCALES_MN) return (e * grid.columns + column) * padded_rows + row;
  return (e * grid.blocks_n + block_n) * grid.blocks_k + block_k;
}

/* ---- Context ------------------------------------------------------------------------------ */

struct mxq_context;
struct mxq_kernel;
struct mxq_plan;

/* A CUDA stream: a CUstream or cudaStream_t. NULL is the device's default stream. */
typedef struct CUstream_st *mxq_stream;

/* Where the tensors are: a CUDA device's ordinal, or one of these. */
#define MXQ_DEVICE_CPU  (-1) /* host memory, computed by the calling thread */
#define MXQ_DEVICE_AUTO (-2) /* one-call forms: the device of the pointers; never the CPU */

/* In libmxq-aot, which has no compiler and no disk cache, every mode is MXQ_JIT_OFF. */
enum mxq_jit_mode {
  MXQ_JIT_DEFAULT = 0, /* MXQ_JIT, or on */
  MXQ_JIT_ON = 1,      /* memory, disk cache, NVRTC */
  MXQ_JIT_CACHE = 2,   /* memory and disk cache only */
  MXQ_JIT_OFF = 3      /* registered sets only */
};

enum mxq_log_level {
  MXQ_LOG_DEFAULT = 0, /* MXQ_LOG, or none */
  MXQ_LOG_NONE = 1,
  MXQ_LOG_WARNING = 2, /* an entry that could not be written or was damaged */
  MXQ_LOG_INFO = 3     /* where each kernel came from, and how long that took */
};

typedef void (*mxq_log_fn)(void *user, enum mxq_log_level level, const char *message);

/* realloc with a user pointer: size 0 frees and returns NULL; NULL for no memory otherwise. Must
 * be safe to call from several threads at once. */
typedef void *(*mxq_resize_fn)(void *user, void *pointer, size_t size);

/* Fields that are zero take their default. Strings are copied. */
struct mxq_config {
  size_t size; /* sizeof(struct mxq_config): set by MXQ_CONFIG_INIT */
  mxq_resize_fn resize;
  void *resize_user;
  mxq_log_fn log;
  void *log_user;
  enum mxq_log_level log_level;
  enum mxq_jit_mode jit;
  const char *cache_dirs;    /* colon list, as MXQ_CACHE_DIR: the first writable one is written */
  uint64_t cache_size_bytes; /* as MXQ_CACHE_SIZE */
  const char *nvrtc_path;    /* as MXQ_NVRTC: a libnvrtc.so file */
  uint32_t compile_threads;  /* of mxq_prepare; 1 to 8 */
  uint32_t cache_strict; /* 1: a disk entry that another NVRTC made is a miss, if there is one */
};
#define MXQ_CONFIG_INIT \
  { sizeof(struct mxq_config), 0, 0, 0, 0, MXQ_LOG_DEFAULT, MXQ_JIT_DEFAULT, 0, 0, 0, 0, 0 }

/* Makes a context: tables and settings, nothing opened. The environment is read here and nowhere
 * else; a config's own values win. NULL means all defaults. A config whose size is 0 or larger
 * than this library knows is MXQ_INVALID_ARGUMENT. */
MXQ_API enum mxq_status mxq_context_create(const struct mxq_config *config,
                                           struct mxq_context **context);

/* Frees a context. Its kernels and plans must be gone. NULL is allowed. */
MXQ_API void mxq_context_destroy(struct mxq_context *context);

/* Whether `device` can run the variant at the shape (NULL: at any shape): MXQ_OK, or the status and
 * text that planning would fail with. Never compiles or loads. */
MXQ_API enum mxq_status mxq_supported(struct mxq_context *context,
                                      const struct mxq_variant *variant,
                                      const struct mxq_shape *shape, int device);

/* Compiles what is missing of the variants' kernels into the caches, on several threads. `arch` is
 * a name such as "90a"; NULL means that of device 0. Needs no GPU if an arch is given. */
MXQ_API enum mxq_status mxq_prepare(struct mxq_context *context, const char *arch,
                                    const struct mxq_variant *variants, size_t count);

/* ---- Kernels compiled ahead of time -------------------------------------------------------- */

/* Cubins of a manifest's variants for some archs. Made by `mxq emit` or the CMake function
 * mxq_add_kernels(), which write a header that declares one and a source that defines it: nobody
 * fills in the fields by hand. */
struct mxq_kernel_set {
  uint32_t magic;  /* MXQ_KERNEL_SET_MAGIC */
  uint32_t format; /* MXQ_KERNEL_SET_FORMAT */
  uint64_t size;   /* sizeof(struct mxq_kernel_set) */
  const unsigned char *blob;
  uint64_t blob_bytes;
};
#define MXQ_KERNEL_SET_MAGIC  0x5351584du
#define MXQ_KERNEL_SET_FORMAT 1u

/* Registers a set: its kernels are found before all others, those of earlier sets first. It is read
 * where it lies and must stay as it is until the context is gone. Add sets before the first kernel
 * is asked for: kernels that the context has already are kept. MXQ_INVALID_ARGUMENT: the set is
 * damaged, or of a version whose kernels this library cannot launch; emit it anew. */
MXQ_API enum mxq_status mxq_context_add_kernels(struct mxq_context *context,
                                                const struct mxq_kernel_set *set);

/* ---- Kernels ------------------------------------------------------------------------------ */

/* The kernels of one variant on one device, in registered sets, memory, disk cache or from NVRTC.
 * Immutable and reference-counted; the caller gets one reference. Two gets of one variant and
 * device give the same object. May compile and load: not while a stream captures. */
MXQ_API enum mxq_status mxq_kernel_get(struct mxq_context *context,
                                       const struct mxq_variant *variant, int device,
                                       struct mxq_kernel **kernel);
MXQ_API struct mxq_kernel *mxq_kernel_retain(struct mxq_kernel *kernel);
MXQ_API void mxq_kernel_release(struct mxq_kernel *kernel); /* NULL is allowed */

/* ---- Plans -------------------------------------------------------------------------------- */

/* Everything about one kernel at one shape and one set of addresses: checked, tensor maps encoded,
 * function loaded. Holds a reference to the kernel. MXQ_UNSUPPORTED names the rule that no kernel
 * of the variant meets. */
MXQ_API enum mxq_status mxq_plan_create(struct mxq_kernel *kernel, const struct mxq_shape *shape,
                                        const struct mxq_pointers *pointers,
                                        struct mxq_plan **plan);
MXQ_API void mxq_plan_destroy(struct mxq_plan *plan); /* NULL is allowed */

/* Enqueues the plan on a stream of its device (on the CPU: computes; the stream must be NULL).
 * Allocates nothing, takes no lock, reads no environment. */
MXQ_API enum mxq_status mxq_plan_launch(const struct mxq_plan *plan, mxq_stream stream);

/* The same at other addresses of the same device, which must meet what the plan's kernel needs
 * (16-byte alignment for the tensor copy engine). The plan stays as it is. */
MXQ_API enum mxq_status mxq_plan_launch_at(const struct mxq_plan *plan,
                                           const struct mxq_pointers *pointers, mxq_stream stream);

/* Kernel, plan, launch and release in one call. While the stream captures and the kernel is not
 * loaded: MXQ_NOT_READY, and nothing is touched. */
MXQ_API enum mxq_status mxq_run(struct mxq_context *context, const struct mxq_variant *variant,
                                const struct mxq_shape *shape, const struct mxq_pointers *pointers,
                                int device, mxq_stream stream);

/* ---- Scales made elsewhere ---------------------------------------------------------------- */

/* Scales of one part of a layout, from one scale layout to another: from `lin` to `blk` or `mn`, or
 * back. The variant gives layout, block and scale type; its own scale layout is not looked at. */
struct mxq_relayout_args {
  struct mxq_variant variant;
  struct mxq_shape shape; /* strides are not looked at: scales are dense */
  unsigned part;          /* of the layout: 0 or 1 */
  unsigned from, to;      /* enum mxq_scales */
  const void *src; /* as large as mxq_sizes says of the variant with `scales` set to `from` */
  void *dst;       /* ... to `to` */
};

/* Moves scales bit for bit, whatever they hold. Padding of `dst` is written as 0, padding of `src`
 * is not looked at; to `lin` the copy of a block's first row is taken. Enqueues on a stream of the
 * device (on the CPU: computes; the stream must be NULL). While the stream captures and the kernel
 * is not loaded: MXQ_NOT_READY, and nothing is touched. */
MXQ_API enum mxq_status mxq_relayout(struct mxq_context *context,
                                     const struct mxq_relayout_args *args, int device,
                                     mxq_stream stream);

#ifdef __cplusplus
}
#endif

#endif
