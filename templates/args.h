/* SPDX-License-Identifier: MIT
 *
 * What a launch hands to a kernel. The runtime includes this file; every expansion begins with its
 * text. Built-in types only, so that both compilers lay it out alike.
 */
#ifndef MXQ_ARGS_H
#define MXQ_ARGS_H

/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

/* A CUtensorMap: encoded by the driver, read by the tensor copy engine. */
struct mxq_tensor_map {
  MXQ_ALIGNED(128) unsigned char bytes[128];
};

/* Division by a constant below 2^31 of a number below 2^31: (mulhi(x, multiplier) + x) >> shift. */
struct mxq_divisor {
  unsigned multiplier;
  unsigned shift;
  unsigned value;
  unsigned reserved;
};

/* Kernels of the family `tma`: one tile of the input in through `in`, one tile out through
 * `out`. Tiles are numbered with N fastest, then K, then E. */
struct mxq_tma_args {
  struct mxq_tensor_map in;  /* {K, N, E} */
  struct mxq_tensor_map out; /* column-major parts: {N, K, E} */
  unsigned char *scale;
  unsigned long long scale_stride_e; /* scales between matrices */
  unsigned n;
  unsigned k;
  unsigned tiles; /* of all matrices, below 2^31 */
  unsigned reserved;
  struct mxq_divisor tiles_n; /* tiles along N */
  struct mxq_divisor tiles_k; /* tiles along K */
};

#endif
