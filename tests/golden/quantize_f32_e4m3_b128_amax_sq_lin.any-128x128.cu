// quantize_f32_e4m3_b128_amax_sq_lin.any-128x128 for sm_90a, from templates/any.cu.
// Reproduce: mxq source quantize_f32_e4m3_b128_amax_sq_lin --arch 90a
// SPDX-License-Identifier: MIT

#line 10 "templates/args.h"
/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

#line 25 "templates/args.h"
/* Division by a constant below 2^31 of a number below 2^31: (mulhi(x, multiplier) + x) >> shift. */
struct mxq_divisor {
  unsigned multiplier;
  unsigned shift;
  unsigned value;
  unsigned reserved;
};

#line 35 "templates/args.h"
/* Where a part's scales go (contract, section 4; templates/scales.cuh). */
struct mxq_scale_args {
  unsigned char *to;
  unsigned long long stride_e; /* scales between matrices */
  unsigned long long pitch; /* blk: tiles in a row of tiles; packed mn: words in a column; otherwise
                               scales between neighbours along the outer axis */
};

#line 78 "templates/args.h"
/* Kernels of the family `any`: any lengths and strides. Tiles are numbered the same way. */
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

#line 1 "templates/device.cuh"
// Device primitives that all kernels share; those that some kernels need are pieces of their own,
// device_*.cuh. Everything else is plain C++ on top of these functions.
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

MXQ_FN unsigned shared_address(unsigned offset) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + offset;
}

// ld.shared and st.shared; of words by that name. NOTE: through a pointer the optimizer takes longer,
// and addresses take instructions that ptxas folds into an offset of these. Stores of 16 bytes by
// that name made one kernel spill.
template <class T>
MXQ_FN T shared_load(unsigned offset) {
  if constexpr (sizeof(T) == 4) {
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(shared_address(offset)) : "memory");
    return word;
  } else {
    return *reinterpret_cast<const T *>(shared_memory + offset);
  }
}
template <class T>
MXQ_FN void shared_store(unsigned offset, T value) {
  if constexpr (sizeof(T) == 4)
    asm volatile("st.shared.u32 [%0], %1;" :: "r"(shared_address(offset)), "r"(value) : "memory");
  else
    *reinterpret_cast<T *>(shared_memory + offset) = value;
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
#endif

#line 1 "templates/variant.cuh"
// The variant.
constexpr unsigned IN_BITS = 32, IN_EXPONENT_BITS = 8;
constexpr unsigned OUT_BITS = 8, OUT_EXPONENT_BITS = 4;
constexpr unsigned OUT_MANTISSA_BITS = 3, OUT_NAN = 127;
constexpr int OUT_EMAX = 8;
constexpr float OUT_MAX = 448;
constexpr unsigned BLOCK = 128;
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = 3;
constexpr unsigned ALSO = 0;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 32;
constexpr bool POWER_OF_TWO = false;  // every scale is one
constexpr bool SCALES_LIN = true, SCALES_BLK = false;
constexpr bool SCALES_MN = false;
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 4 "templates/any.cu"
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 3;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, MULTIPLIERS = 66048;

#line 1 "templates/scale.cuh"
// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN; float32: its bits
  float multiplier;  // what elements are multiplied by; NaN makes every code of the block NaN
};

#line 51 "templates/scale.cuh"
// Contract, section 2, amax: s itself.
MXQ_FN float scale_value(float s) { return s; }
#line 60 "templates/scale.cuh"
MXQ_FN block_scale scale_of(unsigned amax) {
  if (amax >= 0x7F800000) return {0x7FC00000, bits_float(0x7FC00000)};
  constexpr unsigned SMALLEST = 27u << 23;  // 2^-100
  const float scale = scale_value(bits_float(amax < SMALLEST ? SMALLEST : amax) / OUT_MAX);
  return {float_bits(scale), 1.0f / scale};
}

#line 1 "templates/device_narrow.cuh"
// Conversions to codes.
#ifdef __CUDACC__
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
#endif

#line 5 "templates/convert.cuh"
// Neighbouring columns of the input in one 32-bit word: one of float32, two of 16 bits.
constexpr unsigned COLUMNS = 32 / IN_BITS;
constexpr bool IN_BF16 = IN_BITS == 16 && IN_EXPONENT_BITS == 8;

// The larger magnitude of each column; NaN if either is. The sign is whatever it is.
MXQ_FN unsigned word_max(unsigned a, unsigned b) {
#line 12 "templates/convert.cuh"
  return float_bits(max_magnitude(bits_float(a), bits_float(b)));
#line 18 "templates/convert.cuh"
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
#line 23 "templates/convert.cuh"
  return bits_float(word);
#line 29 "templates/convert.cuh"
}

// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}

// On magnitudes, e2m3(y) is e4m3(y * 2^-6) and e3m2(y) is e5m2(y * 2^-12), with 0x20 and NaN for
// what saturates: without conversions of their own, those to eight bits serve both.
constexpr unsigned OUT_BIAS = (1u << (OUT_EXPONENT_BITS - 1)) - 1;
constexpr bool OUT_SIX = OUT_EXPONENT_BITS + OUT_MANTISSA_BITS == 5;
constexpr bool THROUGH_WIDER = OUT_SIX && HAS_FP8 && !HAS_NARROW;
constexpr unsigned WIDER_BITS = 7 - OUT_MANTISSA_BITS;  // exponent bits of that eight-bit type
constexpr unsigned WIDER_BIAS = (1u << (WIDER_BITS - 1)) - 1;
constexpr float OUT_SHIFT = THROUGH_WIDER ? 1.0f / (1u << (WIDER_BIAS - OUT_BIAS)) : 1.0f;

#line 46 "templates/convert.cuh"
// Four codes, the first in the low bits: a byte each, or four bits each if OUT_BITS is 4.
MXQ_FN unsigned narrow_four(float a, float b, float c, float d) {
  if constexpr (THROUGH_WIDER) {
    const unsigned wide = narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(a, b) |
                          narrow_pair<WIDER_BITS, OUT_MANTISSA_BITS>(c, d) << 16;
    // 0x20 and the NaN 0x7F become 0x1F; the sign moves from bit 7 to bit 5.
    const unsigned over = wide >> 5 & 0x01010101;
    return ((wide | over * 0x1F) & 0x1F1F1F1F) | (wide >> 2 & 0x20202020);
  }
  return narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(a, b) |
         narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(c, d) << 2 * OUT_BITS;
}

#line 1 "templates/place.cuh"
// Bytes moved in one access.
struct alignas(8) words2 {
  unsigned word[2];
};
struct alignas(16) words4 {
  unsigned word[4];
};

// Where a tile begins, in elements.
struct tile_place {
  unsigned n, k, e;
};

MXQ_FN unsigned divide(unsigned x, const mxq_divisor &by) {
  return (multiply_high(x, by.multiplier) + x) >> by.shift;
}

template <class ARGS>
MXQ_FN tile_place place_of(const ARGS &args, unsigned tile) {
  const unsigned strip = divide(tile, args.tiles_n);
  const unsigned e = divide(strip, args.tiles_k);
  return {(tile - strip * args.tiles_n.value) * TILE_N, (strip - e * args.tiles_k.value) * TILE_K, e};
}

// The swizzles of a tensor map, for rows as long as its span: of 128 bytes, bits 4 to 6 of a shared
// address are xored with bits 7 to 9; of 64 bytes, bits 4 and 5 with 7 and 8; of 32, bit 4 with 7.
template <unsigned SPAN>
MXQ_FN unsigned swizzle(unsigned offset) {
  static_assert(SPAN == 128 || SPAN == 64 || SPAN == 32, "a span of the hardware");
  return offset ^ (offset >> 3 & (SPAN - 16));
}

#line 3 "templates/tile.cuh"
// Sixteen codes, as they are stored.
struct alignas(2 * OUT_BITS) codes16 {
  unsigned word[OUT_BITS / 2];
};

// Puts four codes of narrow_four into their place.
MXQ_FN void place_four(codes16 &codes, unsigned quad, unsigned four) {
  if constexpr (OUT_BITS == 8)
    codes.word[quad] = four;
  else if (quad % 2 == 0)
    codes.word[quad / 2] = four;
  else
    codes.word[quad / 2] |= four << 16;
}

// The larger of a word's columns, in both.
MXQ_FN unsigned across_columns(unsigned word) {
  if constexpr (COLUMNS == 2) return word_max(word, word >> 16 | word << 16);
  return word;
}

#line 1 "templates/scales.cuh"
// Where scales lie: contract, section 4. A part (MXQ_PART_*) has R rows of C scales in each matrix:
// rows along N and columns along K for row and sq, the other way round for col, colt and sqt. A
// square block's scale stands for BLOCK rows.
template <unsigned PART>
struct scales_of {
  static constexpr bool SQUARE = (PART & 3) == 3;
  static constexpr bool ROWS_N = (PART & 1) == 0 || (SQUARE && (PART & 4) == 0);
  // Packed layouts hold a copy for each row that a square block covers.
  static constexpr bool COPIES = SQUARE && SCALE_BITS == 8 && !SCALES_LIN;
  static constexpr bool PADS_COLUMNS = SCALES_BLK || (SCALES_MN && (SCALE_BITS == 8 || SQUARE));
};

// Rows and columns that are stored, with padding: rows of squares without copies as they are.
template <unsigned PART, class INDEX>
MXQ_FN INDEX rows_stored(INDEX rows) {
  using part = scales_of<PART>;
  if constexpr (SCALES_BLK)
    return (rows + 127) / 128 * 128;
  else if constexpr (SCALES_MN && (part::COPIES || !part::SQUARE))
    return (rows + 3) / 4 * 4;
  else
    return rows;
}
template <unsigned PART, class INDEX>
MXQ_FN INDEX columns_stored(INDEX columns) {
  return scales_of<PART>::PADS_COLUMNS ? (columns + 3) / 4 * 4 : columns;
}

// The place of scale (row, column) in its matrix, in scales. `pitch`: of blk, tiles in a row of
// tiles; of packed mn, words in a column; otherwise scales between neighbours along the outer axis.
template <unsigned PART, class INDEX>
MXQ_FN unsigned long long scale_place(unsigned long long pitch, INDEX row, INDEX column) {
  using part = scales_of<PART>;
  if constexpr (SCALES_BLK) {
    return (row / 128 * pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
  } else if constexpr (SCALES_MN && SCALE_BITS == 8) {
    return (column / 4 * pitch + row) * 4 + column % 4;
  } else {
    const INDEX line = part::SQUARE ? row / BLOCK : row;
    constexpr bool COLUMNS_INNER = SCALES_MN ? part::SQUARE : part::ROWS_N;
    return COLUMNS_INNER ? line * pitch + column : column * pitch + line;
  }
}

MXQ_FN void store_scale_at(const mxq_scale_args &scales, unsigned long long at, unsigned code) {
  if constexpr (SCALE_BITS == 32)
    global_store(reinterpret_cast<unsigned *>(scales.to) + at, code);
  else
    global_store(scales.to + at, static_cast<unsigned char>(code));
}

// Stores the scale of the block that begins at row n and column k of matrix e, in every place that
// it has; zero where the block lies outside of the N rows and K columns, if padding has a place.
template <unsigned PART, class INDEX>
MXQ_FN void store_scale(const mxq_scale_args &scales, INDEX e, INDEX n, INDEX k, INDEX rows_n,
                        INDEX columns_k, unsigned code) {
  using part = scales_of<PART>;
  const INDEX row = part::ROWS_N ? n : k, column = (part::ROWS_N ? k : n) / BLOCK;
  const INDEX rows = part::ROWS_N ? rows_n : columns_k;
  const INDEX columns = ((part::ROWS_N ? columns_k : rows_n) + BLOCK - 1) / BLOCK;
  if (column >= columns_stored<PART>(columns)) return;
  if (column >= columns) code = 0;
  for (unsigned copy = 0; copy < (part::COPIES ? BLOCK : 1); copy++)
    if (row + copy < rows_stored<PART>(rows))
      store_scale_at(scales, e * scales.stride_e + scale_place<PART>(scales.pitch, row + copy, column),
                     row + copy < rows ? code : 0);
}

// Packed scales leave by tiles: a byte for each block of the tile lies in shared memory at `tile`,
// [rows of blocks][columns], and goes to each of its places. e, n, k: where the tile begins.
constexpr bool SCALES_BY_TILES = SCALE_BITS == 8 && !SCALES_LIN;

template <unsigned PART, class INDEX>
MXQ_FN void store_scale_tile(const mxq_scale_args &scales, unsigned tile, INDEX e, INDEX n, INDEX k,
                             INDEX rows_n, INDEX columns_k) {
  using part = scales_of<PART>;
  constexpr unsigned ROWS = part::ROWS_N ? TILE_N : TILE_K;
  constexpr unsigned COLUMNS_HELD = (part::ROWS_N ? TILE_K : TILE_N) / BLOCK;
  constexpr unsigned ACCESS = COLUMNS_HELD < 4 ? COLUMNS_HELD : 4;  // scales of one access
  const INDEX rows = part::ROWS_N ? rows_n : columns_k;
  const INDEX columns = ((part::ROWS_N ? columns_k : rows_n) + BLOCK - 1) / BLOCK;
  for (unsigned unit = thread_id(); unit < ROWS * COLUMNS_HELD / ACCESS; unit += THREADS) {
    // Neighbouring threads take neighbouring words: of blk, those of rows 32 apart.
    const unsigned line = unit % ROWS, first = unit / ROWS * ACCESS;
    const unsigned local = SCALES_BLK && ROWS % 128 == 0
                               ? line / 128 * 128 + line % 4 * 32 + line % 128 / 4
                               : line;
    const INDEX row = (part::ROWS_N ? n : k) + local;
    const INDEX column = (part::ROWS_N ? k : n) / BLOCK + first;
    if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;
    const unsigned from = tile + (part::SQUARE ? local / BLOCK : local) * COLUMNS_HELD + first;
    unsigned char *const to =
        scales.to + e * scales.stride_e + scale_place<PART>(scales.pitch, row, column);
    if constexpr (ACCESS == 4)
      global_store(reinterpret_cast<unsigned *>(to), row < rows ? shared_load<unsigned>(from) : 0u);
    else if constexpr (ACCESS == 2)
      global_store(reinterpret_cast<unsigned short *>(to),
                   row < rows ? shared_load<unsigned short>(from) : static_cast<unsigned short>(0));
    else
      global_store(to, row < rows ? shared_load<unsigned char>(from) : static_cast<unsigned char>(0));
  }
}

#line 13 "templates/any.cu"
// The input tile is [n][k], its rows an odd number of words apart, so that neither rows nor columns
// meet in a bank.
constexpr unsigned IN_SIZE = IN_BITS / 8;
constexpr unsigned ROW_BYTES = TILE_K * IN_SIZE + 4;
// What a part of the layout makes of the tile. A block along K is shared by LANES neighbouring
// threads, each of which takes every LANES-th column.
template <unsigned PART>
struct part_of {
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned BLOCK_N = PART & 1 ? BLOCK : 1, BLOCK_K = PART & 2 ? BLOCK : 1;
  static constexpr unsigned BLOCKS_N = TILE_N / BLOCK_N, BLOCKS_K = TILE_K / BLOCK_K;
  static constexpr unsigned LANES = BLOCK_K < 32 ? BLOCK_K : 32, TEAMS = THREADS / LANES;
  static_assert(TILE_N % BLOCK_N == 0 && TILE_K % BLOCK_K == 0, "whole blocks");
  static_assert(BLOCKS_N * BLOCKS_K % (32 / LANES) == 0 || LANES == 1, "whole warps shuffle");
};

using length = unsigned long long;
struct element_place {
  length n, k, e;
};

MXQ_FN float widen_element(unsigned row, unsigned column) {
  const unsigned at = IN_TILE + row * ROW_BYTES + column * IN_SIZE;
  if constexpr (IN_BITS == 32)
    return column_of(shared_load<unsigned>(at), 0);
  else
    return column_of(shared_load<unsigned short>(at), 0);
}

// Copies the part of the tile that exists; the rest is zeros, which leave a maximum as it is.
MXQ_FN void load_tile(const mxq_any_args &args, element_place at) {
  const unsigned char *const from = args.in + at.e * args.stride_e_bytes;
  for (unsigned i = thread_id(); i < TILE_N * TILE_K; i += THREADS) {
    const unsigned row = i / TILE_K, column = i % TILE_K;
    const length n = at.n + row, k = at.k + column;
    const bool inside = n < args.n && k < args.k;
    const unsigned char *const element = from + n * args.stride_n_bytes + k * IN_SIZE;
    const unsigned to = IN_TILE + row * ROW_BYTES + column * IN_SIZE;
    if constexpr (IN_BITS == 32)
      shared_store(to, inside ? global_load(reinterpret_cast<const unsigned *>(element)) : 0u);
    else
      shared_store(to, inside ? global_load(reinterpret_cast<const unsigned short *>(element))
                              : static_cast<unsigned short>(0));
  }
}

// Finds the scale of every block of the tile; stores it, and keeps its multiplier.
template <unsigned PART>
MXQ_FN void scale_blocks(const mxq_any_args &args, const mxq_scale_args &scales, element_place at) {
  using part = part_of<PART>;
  const unsigned lane = thread_id() % part::LANES;
  for (unsigned block = thread_id() / part::LANES; block < part::BLOCKS_N * part::BLOCKS_K;
       block += part::TEAMS) {
    const unsigned row = block / part::BLOCKS_K * part::BLOCK_N;
    const unsigned column = block % part::BLOCKS_K * part::BLOCK_K;
    float largest = 0;
    for (unsigned r = 0; r < part::BLOCK_N; r++)
      for (unsigned c = lane; c < part::BLOCK_K; c += part::LANES)
        largest = max_magnitude(largest, widen_element(row + r, column + c));
    for (unsigned mask = 1; mask < part::LANES; mask *= 2)
      largest = max_magnitude(largest, bits_float(shuffle_xor(float_bits(largest), mask)));
    const block_scale scale = scale_of(float_bits(largest) & 0x7FFFFFFF);
    if (lane != 0) continue;
    shared_store(MULTIPLIERS + block * 4, float_bits(scale.multiplier));
    const length n = at.n + row, k = at.k + column;
    store_scale<PART>(scales, at.e, n, k, args.n, args.k,
                      n < args.n && k < args.k ? scale.code : 0);
  }
}

template <unsigned PART>
MXQ_FN unsigned code_of(unsigned row, unsigned column) {
  using part = part_of<PART>;
  const unsigned block = row / part::BLOCK_N * part::BLOCKS_K + column / part::BLOCK_K;
  const float multiplier = bits_float(shared_load<unsigned>(MULTIPLIERS + block * 4));
  return narrow_four(multiply(widen_element(row, column), multiplier * OUT_SHIFT), 0, 0, 0) &
         ((1u << OUT_BITS) - 1);
}

// Stores the codes that exist, a byte at a time; two codes of four bits are neighbours along the
// output's contiguous axis, whose length is even.
template <unsigned PART>
MXQ_FN void store_tile(const mxq_any_args &args, unsigned char *out, element_place at) {
  constexpr bool TURNED = part_of<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  for (unsigned i = thread_id() * PACKED; i < TILE_N * TILE_K; i += THREADS * PACKED) {
    const unsigned row = TURNED ? i % TILE_N : i / TILE_K;
    const unsigned column = TURNED ? i / TILE_N : i % TILE_K;
    const length n = at.n + row, k = at.k + column;
    if (n >= args.n || k >= args.k) continue;
    unsigned codes = code_of<PART>(row, column);
    if (PACKED == 2)
      codes |= (TURNED ? code_of<PART>(row + 1, column) : code_of<PART>(row, column + 1)) << 4;
    const length code = TURNED ? (at.e * args.k + k) * args.n + n : (at.e * args.n + n) * args.k + k;
    global_store(out + code / PACKED, static_cast<unsigned char>(codes));
  }
}

template <unsigned PART>
MXQ_FN void quantize_tile(const mxq_any_args &args, unsigned char *out,
                          const mxq_scale_args &scales, element_place at) {
  scale_blocks<PART>(args, scales, at);
  block_sync();  // orders the multipliers' stores before their loads
  store_tile<PART>(args, out, at);
  block_sync();  // orders the reads of this tile before the stores of what comes next
}

MXQ_KERNEL(quantize_f32_e4m3_b128_amax_sq_lin_any_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
  for (length tile = block_id(); tile < args.tiles; tile += grid_size()) {
    const length strip = tile / args.tiles_n;
    const element_place at = {tile % args.tiles_n * TILE_N, strip % args.tiles_k * TILE_K,
                              strip / args.tiles_k};
    load_tile(args, at);
    block_sync();  // orders the elements' stores before the reads of other threads
    quantize_tile<MAIN>(args, args.out, args.scale, at);
    if constexpr (ALSO != 0) quantize_tile<ALSO>(args, args.also, args.also_scale, at);
  }
}
