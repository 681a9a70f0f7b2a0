// dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256 for sm_90a, from templates/relayout.cu.
// Reproduce: mxq source dequantize_e4m3_f32_b16_e8m0_row_blk --arch 90a
// SPDX-License-Identifier: MIT

#line 9 "templates/args.h"
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

/* Where a part's scales go (contract, section 4; templates/scales.cuh). */
struct mxq_scale_args {
  unsigned char *to;
  unsigned long long stride_e; /* scales between matrices */
  unsigned long long pitch; /* blk: tiles in a row of tiles; packed mn: words in a column; otherwise
                               scales between neighbours along the outer axis */
};

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

/* Kernels of the family `any`: any lengths and strides. Tiles are numbered along N, K, E. */
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
  unsigned long long tiles; /* of all matrices */
};

/* Kernels of dequantize read codes and scales and write the wide tensor, whose strides these are.
 * Scales: as in struct mxq_scale_args. Tiles are numbered along K, N, E, of generic kernels along
 * N, K, E. */
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
  unsigned long long tiles; /* of all matrices */
};

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

#line 1 "templates/device.cuh"
// Device primitives: everything below this piece is plain C++ on top of these functions.
#ifdef __CUDACC__

#define MXQ_KERNEL(name, threads, blocks_per_sm) \
  extern "C" __global__ void __launch_bounds__(threads, blocks_per_sm) name
#define MXQ_ARGS(type) const __grid_constant__ type
#define MXQ_FN static __device__ __forceinline__

// All shared memory is one array, addressed by byte offsets. 1024: the period of the swizzle.
extern __shared__ __align__(1024) unsigned char shared_memory[];

MXQ_FN unsigned thread_id() { return threadIdx.x; }
MXQ_FN unsigned block_id() { return blockIdx.x; }
MXQ_FN unsigned grid_size() { return gridDim.x; }

// bar.sync: orders the shared and global accesses of the block's threads before and after it.
MXQ_FN void block_sync() { __syncthreads(); }

// At `offset` and `apart` more, a constant that the instruction holds: unlike a sum of unsigned numbers,
// which the compiler may not take apart, and adds in an instruction of its own.
template <class T>
MXQ_FN T shared_load(unsigned offset, unsigned apart = 0) {
  return *reinterpret_cast<const T *>(shared_memory + offset + apart);
}
template <class T>
MXQ_FN void shared_store(unsigned offset, T value, unsigned apart = 0) {
  *reinterpret_cast<T *>(shared_memory + offset + apart) = value;
}
template <class T>
MXQ_FN T global_load(const T *pointer) {
  return *pointer;
}
template <class T>
MXQ_FN void global_store(T *pointer, T value) {
  *pointer = value;
}
MXQ_FN unsigned shared_address(unsigned offset) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + offset;
}

// shfl.sync.bfly: the value of the lane whose number differs by `mask`; the whole warp takes part.
MXQ_FN unsigned shuffle_xor(unsigned value, unsigned mask) {
  return __shfl_xor_sync(0xFFFFFFFF, value, mask);
}

// mbarrier.init: one phase completes after `arrivals` arrivals and all expected bytes.
MXQ_FN void barrier_init(unsigned offset, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"(shared_address(offset)), "r"(arrivals) : "memory");
}
// mbarrier.arrive.expect_tx: arrives once and adds `bytes` to what the phase waits for.
MXQ_FN void barrier_expect(unsigned offset, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(offset)), "r"(bytes) : "memory");
}
// mbarrier.try_wait.parity: returns once the phase of this parity has completed.
MXQ_FN void barrier_wait(unsigned offset, unsigned parity) {
  unsigned done;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t}"
        : "=r"(done) : "r"(shared_address(offset)), "r"(parity) : "memory");
  } while (!done);
}
// fence.proxy.async: this thread's shared accesses before it are seen by the copy engine after it.
MXQ_FN void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// cp.async.bulk.tensor, global to shared: one box at element coordinates (x, y, z), fastest first;
// its bytes count on the barrier.
MXQ_FN void map_load(unsigned offset, const mxq_tensor_map &map, unsigned x, unsigned y, unsigned z,
                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];"
      :: "r"(shared_address(offset)), "l"(&map), "r"(x), "r"(y), "r"(z),
         "r"(shared_address(barrier)) : "memory");
}
// cp.async.bulk.tensor, shared to global: one box, in the thread's open bulk group.
MXQ_FN void map_store(const mxq_tensor_map &map, unsigned x, unsigned y, unsigned z,
                      unsigned offset) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
      :: "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(offset)) : "memory");
}
// cp.async.bulk.commit_group: closes this thread's open group.
MXQ_FN void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// cp.async.bulk.wait_group.read 0: the copy engine has read the sources of this thread's groups.
MXQ_FN void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

MXQ_FN unsigned float_bits(float x) { return __float_as_uint(x); }
MXQ_FN float bits_float(unsigned bits) { return __uint_as_float(bits); }
MXQ_FN unsigned multiply_high(unsigned a, unsigned b) { return __umulhi(a, b); }

// mul.rn.f32: never part of a fused multiply-add; a NaN is 0x7FFFFFFF.
MXQ_FN float multiply(float a, float b) { return __fmul_rn(a, b); }
// fma.rn.f32: a * b + c, rounded once.
MXQ_FN float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// min.f32: the smaller; the other if one is NaN.
MXQ_FN float min_number(float a, float b) { return fminf(a, b); }
MXQ_FN float magnitude(float x) { return fabsf(x); }

// cvt.f32.f16: exact.
MXQ_FN float widen_f16(unsigned bits) {
  float x;
  asm("{\n\t.reg .b16 h;\n\tcvt.u16.u32 h, %1;\n\tcvt.f32.f16 %0, h;\n\t}" : "=f"(x) : "r"(bits));
  return x;
}
// mul.rn.bf16x2: both halves, each rounded by itself.
MXQ_FN unsigned multiply_pair_bf16(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
MXQ_FN unsigned multiply_pair_f16(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// fma.rn: both halves of a * b + c, each rounded once.
MXQ_FN unsigned multiply_add_pair_bf16(unsigned a, unsigned b, unsigned c) {
  unsigned sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
MXQ_FN unsigned multiply_add_pair_f16(unsigned a, unsigned b, unsigned c) {
  unsigned sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
// min: the smaller of each half; the other if one is NaN.
MXQ_FN unsigned min_pair_bf16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
MXQ_FN unsigned min_pair_f16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.f16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
// max.NaN: the larger magnitude, NaN if either is NaN.
MXQ_FN float max_magnitude(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(fabsf(a)), "f"(fabsf(b)));
  return larger;
}
// max.NaN.xorsign.abs: the larger magnitude of each half, NaN if either is NaN; any sign.
MXQ_FN unsigned max_magnitude_pair_bf16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
MXQ_FN unsigned max_magnitude_pair_f16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
// cvt.rn.satfinite: two codes, the first in the low bits: a byte each, or four bits each of e2m1.
// NaN gives 0x7F of eight bits and the largest value of six and four; -0 stays -0.
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned narrow_pair(float first, float second) {
  unsigned short codes;
  if constexpr (EXPONENT_BITS == 4 && MANTISSA_BITS == 3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 5 && MANTISSA_BITS == 2)
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 2 && MANTISSA_BITS == 3)
    asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else if constexpr (EXPONENT_BITS == 3 && MANTISSA_BITS == 2)
    asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else
    asm("{\n\t.reg .b8 pair;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n\t"
        "cvt.u16.u8 %0, pair;\n\t}"
        : "=h"(codes) : "f"(second), "f"(first));
  return codes;
}
// cvt.rp.satfinite.ue8m0x2: the e8m0 code of the smallest power of two that is not below x.
MXQ_FN unsigned ceil_e8m0(float x) {
  unsigned short codes;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(0.0f), "f"(x));
  return codes & 0xFF;
}
// cvt.rn.f16x2: the values of two codes as halves, the first in the low one: a byte each, or four bits
// each of e2m1. Exact; a NaN is 0x7FFF. Bits 6 and 7 of six-bit codes are 0.
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned widen_pair(unsigned codes) {
  unsigned halves;
  const unsigned short pair = static_cast<unsigned short>(codes);
  if constexpr (EXPONENT_BITS == 4 && MANTISSA_BITS == 3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 5 && MANTISSA_BITS == 2)
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 2 && MANTISSA_BITS == 3)
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else if constexpr (EXPONENT_BITS == 3 && MANTISSA_BITS == 2)
    asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else
    asm("{\n\t.reg .b8 pair;\n\t"
        "cvt.u8.u16 pair, %1;\n\t"
        "cvt.rn.f16x2.e2m1x2 %0, pair;\n\t}"
        : "=r"(halves) : "h"(pair));
  return halves;
}
// cvt.rn: both rounded to nearest even, the first in the low half; too large is infinity, NaN 0x7FFF.
MXQ_FN unsigned round_pair_bf16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
MXQ_FN unsigned round_pair_f16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
// shf.r.wrap.b32: the low word of high:low moved right.
MXQ_FN unsigned funnel_right(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_r(low, high, by);
}
// prmt.b32: four of the eight bytes of a (0 to 3) and b (4 to 7); a nibble of `selector` picks each.
MXQ_FN unsigned permute_bytes(unsigned a, unsigned b, unsigned selector) {
  return __byte_perm(a, b, selector);
}
// prmt.b32: the same, with the top bit of each of these bytes in all of its bits.
MXQ_FN unsigned permute_signs(unsigned a, unsigned b, unsigned selector) {
  unsigned signs;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(signs) : "r"(a), "r"(b), "r"(selector | 0x8888));
  return signs;
}

#endif

#line 3 "templates/relayout.cu"
// The scales.
constexpr unsigned SCALE_BITS = 8;
constexpr bool SCALES_BLK = true;  // else mn
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 8;

using length = unsigned long long;

// The place of a scale in a matrix of `lin`.
MXQ_FN length lin_place(const mxq_relayout_launch &args, length line, length column) {
  return args.columns_inner ? line * args.columns + column : column * args.lines + line;
}

// Of e8m0 scales in the other layout: contract, section 4; of a block the copy in its first row.
MXQ_FN length packed_place(const mxq_relayout_launch &args, length row, length column) {
  if constexpr (SCALES_BLK)
    return (row / 128 * args.pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
           column % 4;
  return (column / 4 * args.pitch + row) * 4 + column % 4;
}

// Writes word `at` of matrix e, the scales of four columns in one row.
MXQ_FN void pack_word(const mxq_relayout_launch &args, length e, length at) {
  const length tile = at / 128, in_tile = at % 128;
  const length row =
      SCALES_BLK ? tile / args.pitch * 128 + in_tile % 4 * 32 + in_tile / 4 : at % args.pitch;
  const length quad = SCALES_BLK ? tile % args.pitch : at / args.pitch;
  const unsigned char *const from = args.src + e * args.lines * args.columns;
  unsigned word = 0;
  for (unsigned j = 0; j < 4; j++)
    if (row < args.rows && quad * 4 + j < args.columns)
      word |= static_cast<unsigned>(global_load(
                  from + lin_place(args, row / args.block, quad * 4 + j)))
              << 8 * j;
  unsigned char *const to = args.dst + (e * args.places_e + at) * 4;
  if (reinterpret_cast<length>(to) % 4 == 0)
    global_store(reinterpret_cast<unsigned *>(to), word);
  else
    for (unsigned j = 0; j < 4; j++) global_store(to + j, static_cast<unsigned char>(word >> 8 * j));
}

// Writes float `at` of matrix e.
MXQ_FN void move_float(const mxq_relayout_launch &args, length e, length at) {
  const unsigned *const from = reinterpret_cast<const unsigned *>(args.src) +
                               e * args.lines * args.columns;
  const length outer = at / args.pitch, inner = at % args.pitch;
  const length line = args.squares ? outer : inner, column = args.squares ? inner : outer;
  const bool inside = line < args.lines && column < args.columns;
  global_store(reinterpret_cast<unsigned *>(args.dst) + e * args.places_e + at,
               inside ? global_load(from + lin_place(args, line, column)) : 0u);
}

// Writes scale `at` of matrix e in `lin`.
MXQ_FN void move_to_lin(const mxq_relayout_launch &args, length e, length at) {
  const length width = args.columns_inner ? args.columns : args.lines;
  const length line = args.columns_inner ? at / width : at % width;
  const length column = args.columns_inner ? at % width : at / width;
  if constexpr (SCALE_BITS == 8) {
    global_store(args.dst + e * args.places_e + at,
                 global_load(args.src + e * args.stride_e +
                             packed_place(args, line * args.block, column)));
  } else {
    const length place = args.squares ? line * args.pitch + column : column * args.pitch + line;
    global_store(reinterpret_cast<unsigned *>(args.dst) + e * args.places_e + at,
                 global_load(reinterpret_cast<const unsigned *>(args.src) + e * args.stride_e + place));
  }
}

MXQ_KERNEL(dequantize_e4m3_f32_b16_e8m0_row_blk_relayout_1x256, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_relayout_launch) args) {
  const length step = static_cast<length>(grid_size()) * THREADS;
  for (length place = static_cast<length>(block_id()) * THREADS + thread_id(); place < args.places;
       place += step) {
    const length e = place / args.places_e, at = place % args.places_e;
    if (args.to_lin)
      move_to_lin(args, e, at);
    else if constexpr (SCALE_BITS == 8)
      pack_word(args, e, at);
    else
      move_float(args, e, at);
  }
}
