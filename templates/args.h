/* SPDX-License-Identifier: MIT
 *
 * What a launch hands to a kernel. The runtime includes this file, to which the template's lines of
 * Lua are comments; every expansion begins with what its kernel takes (`launch`). Built-in types
 * only, so that both compilers lay it out alike.
 */
#ifndef MXQ_ARGS_H
#define MXQ_ARGS_H

/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

//$ if launch == "tma" or launch == "dequant_tile" then
/* A CUtensorMap: encoded by the driver, read by the tensor copy engine. */
struct mxq_tensor_map {
  MXQ_ALIGNED(128) unsigned char bytes[128];
};

//$ end
//$ if launch ~= "relayout" then
/* Division by a constant below 2^31 of a number below 2^31: (mulhi(x, multiplier) + x) >> shift. */
struct mxq_divisor {
  unsigned multiplier;
  unsigned shift;
  unsigned value;
  unsigned reserved;
};

//$ end
//$ if launch == "tma" or launch == "vector" or launch == "any" then
/* Where a part's scales go (contract, section 4; templates/scales.cuh). */
struct mxq_scale_args {
  unsigned char *to;
  unsigned long long stride_e; /* scales between matrices */
  unsigned long long pitch; /* blk: tiles in a row of tiles; packed mn: words in a column; otherwise
                               scales between neighbours along the outer axis */
};

//$ end
//$ if launch == "tma" then
/* Kernels that move tiles through the tensor copy engine: one tile of the input in through `in`,
 * one tile out through `out`. Tiles are numbered along N or K first, as
 * the kernel writes (templates/place.cuh), and along E last. */
struct mxq_tma_args {
  struct mxq_tensor_map in;   /* {K, N, E} */
  struct mxq_tensor_map out;  /* column-major: {N, K, E}, row-major: {K, N, E}; bytes if packed */
  struct mxq_tensor_map also; /* the first of two parts: {K, N, E} */
  struct mxq_scale_args scale;
  struct mxq_scale_args also_scale;
  unsigned n;
  unsigned k;
  unsigned tiles; /* of all matrices, below 2^31 */
  unsigned reserved;
  struct mxq_divisor tiles_n; /* tiles along N */
  struct mxq_divisor tiles_k; /* tiles along K */
};

//$ end
//$ if launch == "vector" then
/* Kernels with 16-byte accesses: a block for each tile, numbered along K, N, E. */
struct mxq_vector_args {
  const unsigned char *in;
  unsigned char *out;
  struct mxq_scale_args scale;
  unsigned long long stride_e_bytes;
  unsigned long long stride_n_bytes;
  unsigned n;
  unsigned k;
  struct mxq_divisor tiles_n;
  struct mxq_divisor tiles_k;
};

//$ end
//$ if launch == "any" then
/* Kernels of the family `any`: any lengths and strides. Tiles are numbered along N, K, E where
 * all codes are column-major, along K, N, E otherwise. */
struct mxq_any_args {
  const unsigned char *in;
  unsigned char *out;
  unsigned char *also; /* the first of two parts */
  struct mxq_scale_args scale;
  struct mxq_scale_args also_scale;
  unsigned long long stride_e_bytes;
  unsigned long long stride_n_bytes;
  unsigned long long n;
  unsigned long long k;
  unsigned long long tiles_n;
  unsigned long long tiles_k;
  unsigned long long tiles;      /* of all matrices */
  struct mxq_divisor by_tiles_n; /* at most 2^31: less divided by more is 0 */
  struct mxq_divisor by_tiles_k;
};

//$ end
//$ if launch == "dequant_tile" then
/* Kernels of dequantize read codes and scales and write the wide tensor, whose strides these are.
 * Scales: as in struct mxq_scale_args. Tiles are numbered along K, N, E. */
struct mxq_dequant_tile_args {
  struct mxq_tensor_map in;  /* column-major codes {N, K, E}; bytes if packed */
  struct mxq_tensor_map out; /* {K, N, E} */
  const unsigned char *scale;
  unsigned long long scale_stride_e;
  unsigned long long scale_pitch;
  unsigned n;
  unsigned k;
  unsigned tiles; /* of all matrices, below 2^31 */
  unsigned reserved;
  struct mxq_divisor tiles_n;
  struct mxq_divisor tiles_k;
};

//$ end
//$ if launch == "dequant_row" then
struct mxq_dequant_row_args {
  const unsigned char *in;
  unsigned char *out;
  const unsigned char *scale;
  unsigned long long scale_stride_e;
  unsigned long long scale_pitch;
  unsigned long long stride_e_bytes;
  unsigned long long stride_n_bytes;
  unsigned n;
  unsigned k;
  struct mxq_divisor tiles_n;
  struct mxq_divisor tiles_k;
};

//$ end
//$ if launch == "dequant_any" then
struct mxq_dequant_any_args {
  const unsigned char *in;
  unsigned char *out;
  const unsigned char *scale;
  unsigned long long scale_stride_e;
  unsigned long long scale_pitch;
  unsigned long long stride_e_bytes;
  unsigned long long stride_n_bytes;
  unsigned long long n;
  unsigned long long k;
  unsigned long long tiles_n;
  unsigned long long tiles_k;
  unsigned long long tiles;      /* of all matrices */
  struct mxq_divisor by_tiles_n; /* at most 2^31: less divided by more is 0 */
  struct mxq_divisor by_tiles_k;
};

//$ end
//$ if launch == "relayout" then
/* Kernels that move scales between `lin` and another layout, bit for bit. A matrix has `rows` rows
 * of `columns` scales, of which `lin` has one for every `block` rows: `lines` of them. */
struct mxq_relayout_launch {
  const unsigned char *src;
  unsigned char *dst;
  unsigned long long rows;
  unsigned long long columns;
  unsigned long long lines;
  unsigned long long block;
  unsigned long long stride_e; /* of the other layout: as in struct mxq_scale_args */
  unsigned long long pitch;
  unsigned long long places_e; /* what one thread writes, in a matrix of dst: words of packed
                                  layouts, scales of others */
  unsigned long long places;
  unsigned columns_inner; /* lin: whether neighbours in memory are columns, not lines */
  unsigned squares;       /* float mn: lines of columns, not columns of lines */
  unsigned to_lin;
  unsigned reserved;
};

//$ end
#endif
