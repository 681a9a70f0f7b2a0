// dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256 for sm_90a, from templates/relayout.cu.
// Reproduce: mxq source dequantize_e4m3_f32_b16_e8m0_row_blk --arch 90a --kernel dequantize_e4m3_f32_b16_e8m0_row_blk.relayout-1x256
// SPDX-License-Identifier: MIT

#line 10 "templates/args.h"
/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

#line 153 "templates/args.h"
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
// Device primitives that all kernels share; those that some kernels need are pieces of their own,
// device_*.cuh. Everything else is plain C++ on top of these functions.

// Bytes moved in one access.
struct alignas(8) words2 {
  unsigned word[2];
};
struct alignas(16) words4 {
  unsigned word[4];
};

#ifdef __CUDACC__

#define MXQ_KERNEL(name, threads, blocks_per_sm) \
  extern "C" __global__ void __launch_bounds__(threads, blocks_per_sm) name
#define MXQ_ARGS(type) const __grid_constant__ type
#define MXQ_FN static __device__ __forceinline__

// All shared memory is one array, addressed by byte offsets. 1024: the period of the swizzle.
extern __shared__ __align__(1024) unsigned char shared_memory[];

// For instructions that take an address of the shared window.
MXQ_FN unsigned shared_address(unsigned offset) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + offset;
}

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

// shfl.sync.bfly: the value of the lane whose number differs by `mask`; the whole warp takes part.
MXQ_FN unsigned shuffle_xor(unsigned value, unsigned mask) {
  return __shfl_xor_sync(0xFFFFFFFF, value, mask);
}

MXQ_FN unsigned float_bits(float x) { return __float_as_uint(x); }
MXQ_FN float bits_float(unsigned bits) { return __uint_as_float(bits); }
MXQ_FN unsigned multiply_high(unsigned a, unsigned b) { return __umulhi(a, b); }

// mul.rn.f32: never part of a fused multiply-add; a NaN is 0x7FFFFFFF.
MXQ_FN float multiply(float a, float b) { return __fmul_rn(a, b); }
// min.f32: the smaller; the other if one is NaN.
MXQ_FN float min_number(float a, float b) { return fminf(a, b); }
MXQ_FN float magnitude(float x) { return fabsf(x); }

// max.NaN: the larger magnitude, NaN if either is NaN.
MXQ_FN float max_magnitude(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(fabsf(a)), "f"(fabsf(b)));
  return larger;
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
