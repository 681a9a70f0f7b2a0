// quantize_f16_e5m2_b64_amax_row_lin.any-64x256 for sm_90a, from templates/any_row.cu.
// Reproduce: mxq source quantize_f16_e5m2_b64_amax_row_lin --arch 90a --kernel quantize_f16_e5m2_b64_amax_row_lin.any-64x256
// SPDX-License-Identifier: MIT

#line 1 "templates/fast_level.cuh"
// The optimizer's fast level leaves out passes that find little here and take long; the assembler keeps
// its own full level, which finds the rest. Read by runtime/compile.c:
// NVRTC: --Ofast-compile=min --ptxas-options=--Ofast-compile=0

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

#line 79 "templates/args.h"
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

#line 1 "templates/variant.cuh"
// The variant.
constexpr unsigned IN_BITS = 16, IN_EXPONENT_BITS = 5;
constexpr unsigned OUT_BITS = 8, OUT_EXPONENT_BITS = 5;
constexpr unsigned OUT_MANTISSA_BITS = 2, OUT_NAN = 127;
constexpr int OUT_EMAX = 15;
constexpr float OUT_MAX = 57344;
constexpr unsigned BLOCK = 64;
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = 2;
constexpr unsigned ALSO = 0;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 32;
constexpr bool POWER_OF_TWO = false;  // every scale is one
constexpr bool SCALES_LIN = true, SCALES_BLK = false;
constexpr bool SCALES_MN = false;
constexpr bool HAS_PAIRS = true;      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 5 "templates/any_row.cu"
constexpr unsigned TILE_N = 64, TILE_K = 256;
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 4;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, OUT_TILE = 33920;
constexpr unsigned SCALE_TILE = 51328;

#line 1 "templates/scale.cuh"
// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN; float32: its bits
  float multiplier;  // what elements are multiplied by; NaN makes every code of the block NaN
};

#line 54 "templates/scale.cuh"
// Contract, section 2, amax: s itself.
MXQ_FN float scale_value(float s) { return s; }
#line 63 "templates/scale.cuh"
MXQ_FN block_scale scale_of(unsigned amax) {
  if (amax >= 0x7F800000) return {0x7FC00000, bits_float(0x7FC00000)};
  constexpr unsigned SMALLEST = 27u << 23;  // 2^-100
  const float scale = scale_value(bits_float(amax < SMALLEST ? SMALLEST : amax) / OUT_MAX);
  return {float_bits(scale), 1.0f / scale};
}

#line 1 "templates/device_f16.cuh"
// Primitives of two f16 in a word.
#ifdef __CUDACC__
// cvt.f32.f16: exact.
MXQ_FN float widen_f16(unsigned bits) {
  float x;
  asm("{\n\t.reg .b16 h;\n\tcvt.u16.u32 h, %1;\n\tcvt.f32.f16 %0, h;\n\t}" : "=f"(x) : "r"(bits));
  return x;
}
// mul.rn.f16x2: both halves, each rounded by itself.
MXQ_FN unsigned multiply_pair_f16(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// max.NaN.xorsign.abs: the larger magnitude of each half, NaN if either is NaN; any sign. Before sm_86
// max.NaN of the magnitudes.
MXQ_FN unsigned max_magnitude_pair_f16(unsigned a, unsigned b) {
  unsigned larger;
#if __CUDA_ARCH__ >= 860
  asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
#else
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a & 0x7FFF7FFF), "r"(b & 0x7FFF7FFF));
#endif
  return larger;
}
#endif

#line 3 "templates/convert.cuh"
// Neighbouring columns of the input in one 32-bit word: one of float32, two of 16 bits.
constexpr unsigned COLUMNS = 32 / IN_BITS;
constexpr bool IN_BF16 = IN_BITS == 16 && IN_EXPONENT_BITS == 8;

// The larger magnitude of each column; NaN if either is. The sign is whatever it is.
MXQ_FN unsigned word_max(unsigned a, unsigned b) {
#line 14 "templates/convert.cuh"
  return max_magnitude_pair_f16(a, b);
#line 16 "templates/convert.cuh"
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
#line 25 "templates/convert.cuh"
  return widen_f16(column ? word >> 16 : word & 0xFFFF);
#line 27 "templates/convert.cuh"
}


#line 36 "templates/convert.cuh"
// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}

#line 1 "templates/four.cuh"
// Four codes at a time, of products of whole words with their blocks' multipliers: a byte each, or four
// bits each in the low half of a word.

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

#line 4 "templates/narrow.cuh"
// On magnitudes, e2m3(y) is e4m3(y * 2^-6) and e3m2(y) is e5m2(y * 2^-12), with 0x20 and NaN for
// what saturates: without conversions of their own, those to eight bits serve both.
constexpr unsigned OUT_BIAS = (1u << (OUT_EXPONENT_BITS - 1)) - 1;
constexpr bool OUT_SIX = OUT_EXPONENT_BITS + OUT_MANTISSA_BITS == 5;
constexpr bool THROUGH_WIDER = OUT_SIX && HAS_FP8 && !HAS_NARROW;
constexpr unsigned WIDER_BITS = 7 - OUT_MANTISSA_BITS;  // exponent bits of that eight-bit type
constexpr unsigned WIDER_BIAS = (1u << (WIDER_BITS - 1)) - 1;
constexpr float OUT_SHIFT = THROUGH_WIDER ? 1.0f / (1u << (WIDER_BIAS - OUT_BIAS)) : 1.0f;

#line 14 "templates/narrow.cuh"
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

#line 139 "templates/four.cuh"
struct row_products {
  float column[COLUMNS];
};

// Every column of a word times its block's multiplier (times OUT_SHIFT), as float32.
MXQ_FN row_products multiply_row(unsigned word, const block_scale (&scale)[COLUMNS]) {
  row_products product;
#line 158 "templates/four.cuh"
  for (unsigned c = 0; c < COLUMNS; c++)
    product.column[c] = multiply(column_of(word, c), scale[c].multiplier * OUT_SHIFT);
  return product;
}

// Of as many words as hold four elements: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  float x[4];
  for (unsigned w = 0; w < 4 / COLUMNS; w++) {
    const row_products product = multiply_row(words[w], scale);
    for (unsigned c = 0; c < COLUMNS; c++) x[w * COLUMNS + c] = product.column[c];
  }
  return narrow_four(x[0], x[1], x[2], x[3]);
}
// Of four words in a column: four codes for each of its columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  row_products p[4];
  for (unsigned i = 0; i < 4; i++) p[i] = multiply_row(words[i], scale);
  for (unsigned c = 0; c < COLUMNS; c++)
    four[c] = narrow_four(p[0].column[c], p[1].column[c], p[2].column[c], p[3].column[c]);
}

#line 1 "templates/place.cuh"
// Where a tile begins, in elements.
struct tile_place {
  unsigned n, k, e;
};

MXQ_FN unsigned divide(unsigned x, const mxq_divisor &by) {
  return (multiply_high(x, by.multiplier) + x) >> by.shift;
}

// Tiles follow each other along N, or along K. Along the axis that is contiguous where most is written,
// neighbouring blocks write one piece of memory at a time.
template <bool BY_K, class ARGS>
MXQ_FN tile_place place_of(const ARGS &args, unsigned tile) {
  const mxq_divisor &inner = BY_K ? args.tiles_k : args.tiles_n;
  const mxq_divisor &outer = BY_K ? args.tiles_n : args.tiles_k;
  const unsigned strip = divide(tile, inner), e = divide(strip, outer);
  const unsigned along = tile - strip * inner.value, across = strip - e * outer.value;
  return {(BY_K ? across : along) * TILE_N, (BY_K ? along : across) * TILE_K, e};
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
    codes.word[quad / 2] = permute_bytes(codes.word[quad / 2], four, 0x5410);
}

// The larger of a word's columns, in both.
MXQ_FN unsigned across_columns(unsigned word) {
  if constexpr (COLUMNS == 2) return word_max(word, word >> 16 | word << 16);
  return word;
}

#line 1 "templates/scale_columns.cuh"
// The scales of a word's columns from their largest magnitudes; of columns that share a block, which
// hold the same one, from the high half: there a magnitude takes no shift.
template <bool SHARE>
MXQ_FN void scales_of_columns(unsigned largest, block_scale (&scale)[COLUMNS]) {
  constexpr unsigned LAST = COLUMNS - 1;
  scale[LAST] = scale_of(column_magnitude(largest, LAST));
  if constexpr (LAST > 0) scale[0] = SHARE ? scale[LAST] : scale_of(column_magnitude(largest, 0));
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
  // Whether tiles store them together: packed ones, and linear ones of rows in two parts, but not
  // where a tile has one float scale of a row.
  static constexpr bool BY_TILES =
      SCALES_LIN ? ALSO != 0 && ROWS_N && !SQUARE && (SCALE_BITS == 8 || TILE_K > BLOCK)
                 : SCALE_BITS == 8;
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
#pragma unroll 1
  for (unsigned copy = 0; copy < (part::COPIES ? BLOCK : 1); copy++)
    if (row + copy < rows_stored<PART>(rows))
      store_scale_at(scales, e * scales.stride_e + scale_place<PART>(scales.pitch, row + copy, column),
                     row + copy < rows ? code : 0);
}

// Stores the scales of two neighbouring columns of blocks along N, which are neighbours in memory, by
// one access. They exist, and lie at a multiple of two.
template <unsigned PART>
MXQ_FN void store_scale_pair(const mxq_scale_args &scales, unsigned e, unsigned n, unsigned k,
                             unsigned first, unsigned second) {
  const unsigned long long at =
      e * scales.stride_e + scale_place<PART>(scales.pitch, k, n / BLOCK);
  unsigned char *const to = scales.to + at * (SCALE_BITS / 8);
  if constexpr (SCALE_BITS == 32)
    global_store(reinterpret_cast<words2 *>(to), words2{{first, second}});
  else
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(first | second << 8));
}

constexpr bool SCALES_BY_TILES = SCALE_BITS == 8 && !SCALES_LIN;

#line 1 "templates/scales_tile.cuh"
// Whether scales that follow a multiple of `count` in each row and matrix begin at a multiple of it.
MXQ_FN bool aligned_scales(const mxq_scale_args &scales, unsigned count) {
  return (reinterpret_cast<unsigned long long>(scales.to) & (count * (SCALE_BITS / 8) - 1)) == 0 &&
         ((scales.stride_e | scales.pitch) & (count - 1)) == 0;
}

// Scales that leave by tiles: one for each block of the tile lies in shared memory at `tile`, [rows of
// blocks][columns], and goes to each of its places. e, n, k: where the tile begins.
constexpr unsigned SCALE_SIZE = SCALE_BITS / 8;
template <unsigned BYTES>
struct scale_access {
  using type = words4;
};
template <>
struct scale_access<8> {
  using type = words2;
};
template <>
struct scale_access<4> {
  using type = unsigned;
};
template <>
struct scale_access<2> {
  using type = unsigned short;
};
template <>
struct scale_access<1> {
  using type = unsigned char;
};

template <unsigned PART, class INDEX>
MXQ_FN void store_scale_tile(const mxq_scale_args &scales, unsigned tile, INDEX e, INDEX n, INDEX k,
                             INDEX rows_n, INDEX columns_k) {
  using part = scales_of<PART>;
  constexpr unsigned ROWS = part::ROWS_N ? TILE_N : TILE_K;
  constexpr unsigned COLUMNS_HELD = (part::ROWS_N ? TILE_K : TILE_N) / BLOCK;
  // Scales of one access: a word of packed ones, 16 bytes of linear ones.
  constexpr unsigned MOST = SCALES_LIN ? 16 / SCALE_SIZE : 4;
  constexpr unsigned ACCESS = COLUMNS_HELD < MOST ? COLUMNS_HELD : MOST;
  using access = typename scale_access<ACCESS * SCALE_SIZE>::type;
  const INDEX rows = part::ROWS_N ? rows_n : columns_k;
  const INDEX columns = ((part::ROWS_N ? columns_k : rows_n) + BLOCK - 1) / BLOCK;
#pragma unroll 1
  for (unsigned unit = thread_id(); unit < ROWS * COLUMNS_HELD / ACCESS; unit += THREADS) {
    // Neighbouring threads take neighbouring words: of blk, those of rows 32 apart.
    const unsigned line = unit % ROWS, first = unit / ROWS * ACCESS;
    const unsigned local = SCALES_BLK && ROWS % 128 == 0
                               ? line / 128 * 128 + line % 4 * 32 + line % 128 / 4
                               : line;
    const INDEX row = (part::ROWS_N ? n : k) + local;
    const INDEX column = (part::ROWS_N ? k : n) / BLOCK + first;
    if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;
    const unsigned from =
        tile + ((part::SQUARE ? local / BLOCK : local) * COLUMNS_HELD + first) * SCALE_SIZE;
    unsigned char *const to =
        scales.to + (e * scales.stride_e + scale_place<PART>(scales.pitch, row, column)) * SCALE_SIZE;
    if constexpr (SCALES_LIN && ACCESS > 1)
      if (!aligned_scales(scales, ACCESS)) {
        using one = typename scale_access<SCALE_SIZE>::type;
#pragma unroll 1
        for (unsigned c = 0; c < ACCESS; c++)
          if (column + c < columns)
            global_store(reinterpret_cast<one *>(to) + c, shared_load<one>(from, c * SCALE_SIZE));
        continue;
      }
    access together = shared_load<access>(from);
    if constexpr (!SCALES_LIN)
      if (row >= rows) together = 0;
    global_store(reinterpret_cast<access *>(to), together);
  }
}

#line 19 "templates/any_row.cu"
constexpr unsigned RUN_WORDS = 16 / COLUMNS;

#line 1 "templates/run.cuh"
// A run: neighbouring elements of a row, RUN_WORDS words of them in a thread. RUN_PIECES blocks
// along K lie in one run, or a block in RUN_LANES runs.
constexpr unsigned RUN = RUN_WORDS * COLUMNS;
constexpr unsigned RUN_PIECES = BLOCK < RUN ? RUN / BLOCK : 1;
constexpr unsigned PIECE_WORDS = RUN_WORDS / RUN_PIECES;
constexpr unsigned RUN_LANES = BLOCK < RUN ? 1 : BLOCK / RUN;
static_assert(RUN_LANES <= 32, "a block in one warp");

struct run_scales {
  block_scale piece[RUN_PIECES][COLUMNS];  // the same for all columns
};
struct run_codes {
  codes16 part[RUN / 16];
};

// Runs of one block lie in lanes that are `lane_step` apart. The whole warp takes part; words of a run that
// does not exist have no part in a maximum.
MXQ_FN run_scales scales_of_run(const unsigned (&words)[RUN_WORDS], unsigned lane_step,
                                bool exists = true) {
  run_scales scale;
#pragma unroll
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    unsigned largest = words[piece * PIECE_WORDS];
    for (unsigned w = 1; w < PIECE_WORDS; w++)
      largest = word_max(largest, words[piece * PIECE_WORDS + w]);
    if (!exists) largest = 0;
    for (unsigned lanes = 1; lanes < RUN_LANES; lanes *= 2)
      largest = word_max(largest, shuffle_xor(largest, lanes * lane_step));
    scales_of_columns<true>(across_columns(largest), scale.piece[piece]);
  }
  return scale;
}

MXQ_FN run_codes codes_of_run(const unsigned (&words)[RUN_WORDS], const run_scales &scale) {
  run_codes codes;
#pragma unroll
  for (unsigned quad = 0; quad < RUN / 4; quad++) {
    const unsigned word = quad * 4 / COLUMNS;
    place_four(codes.part[quad / 4], quad % 4,
               narrow_across(words + word, scale.piece[word / PIECE_WORDS]));
  }
  return codes;
}

// Sixteen bytes of a run's codes.
MXQ_FN words4 codes_chunk(const run_codes &codes, unsigned chunk) {
  constexpr unsigned PART_WORDS = OUT_BITS / 2;
  words4 bytes;
  for (unsigned w = 0; w < 4; w++)
    bytes.word[w] = codes.part[(chunk * 4 + w) / PART_WORDS].word[(chunk * 4 + w) % PART_WORDS];
  return bytes;
}

#line 1 "templates/extent.cuh"
using length = unsigned long long;

// A tile's number along the faster axis and along the slower one, and its matrix; or how far two tiles
// lie apart.
struct tile_number {
  length inner, outer, e;
};

// Along the faster axis blocks that run at one time write neighbouring pieces of a line.
template <class ARGS>
MXQ_FN tile_number number_of(const ARGS &args, unsigned tile) {
  const mxq_divisor &by_inner = TILES_BY_K ? args.by_tiles_k : args.by_tiles_n;
  const mxq_divisor &by_outer = TILES_BY_K ? args.by_tiles_n : args.by_tiles_k;
  const unsigned strip = divide(tile, by_inner), e = divide(strip, by_outer);
  return {tile - strip * by_inner.value, strip - e * by_outer.value, e};
}

// The tile that lies `step` behind one: as numbers are added by hand, digit by digit.
template <class ARGS>
MXQ_FN tile_number number_behind(const ARGS &args, tile_number at, const tile_number &step) {
  const length inner = TILES_BY_K ? args.tiles_k : args.tiles_n;
  const length outer = TILES_BY_K ? args.tiles_n : args.tiles_k;
  at.inner += step.inner;
  at.outer += step.outer + (at.inner >= inner);
  at.e += step.e + (at.outer >= outer);
  if (at.inner >= inner) at.inner -= inner;
  if (at.outer >= outer) at.outer -= outer;
  return at;
}

// The tile that a block takes in its pass `pass` over the grid, found anew each time: few grids are passed
// twice, and it would take registers to remember.
template <class ARGS>
MXQ_FN tile_number number_in_pass(const ARGS &args, unsigned pass) {
  tile_number at = number_of(args, block_id());
#pragma unroll 1
  for (; pass != 0; pass--) at = number_behind(args, at, number_of(args, grid_size()));
  return at;
}
template <class ARGS>
MXQ_FN bool exists_in_pass(const ARGS &args, unsigned pass) {
  return block_id() + static_cast<length>(pass) * grid_size() < args.tiles;
}

// Where a tile begins, and how much of it exists: nothing of those that cover the padding of scales
// alone.
// Behind it, `rows_behind` and `columns_behind` more exist: as many as a tile stand for more.
struct tile_extent {
  length n, k, e;
  unsigned rows, columns, rows_behind, columns_behind;
};

MXQ_FN unsigned part_inside(length begin, length end, unsigned most) {
  return begin >= end ? 0 : end - begin < most ? static_cast<unsigned>(end - begin) : most;
}

template <class ARGS>
MXQ_FN tile_extent extent_of(const ARGS &args, const tile_number &at) {
  const length n = (TILES_BY_K ? at.outer : at.inner) * TILE_N;
  const length k = (TILES_BY_K ? at.inner : at.outer) * TILE_K;
  const unsigned n_left = part_inside(n, args.n, 2 * TILE_N), k_left = part_inside(k, args.k, 2 * TILE_K);
  const unsigned rows = n_left < TILE_N ? n_left : TILE_N, columns = k_left < TILE_K ? k_left : TILE_K;
  return {n, k, at.e, rows, columns, n_left - rows, k_left - columns};
}

#line 1 "templates/device_async.cuh"
// Copies into shared memory that go on beside the thread's other work.
#ifdef __CUDACC__
// cp.async, global to shared: SIZE bytes, 4 or 16, between addresses that are multiples of SIZE.
// NOTE: its form that reads fewer bytes and fills up with zeros was used with addresses outside of
// tensors; memcheck reported errors then, and none since only bytes that exist are copied.
template <unsigned SIZE>
MXQ_FN void copy_async(unsigned offset, const unsigned char *from) {
  const unsigned long long global = __cvta_generic_to_global(from);
  if constexpr (SIZE == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(offset)), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(shared_address(offset)), "l"(global) : "memory");
}
// cp.async.wait_all: this thread's copies are there, for this thread.
MXQ_FN void copies_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

#line 2 "templates/lines_in.cuh"
// Tiles of lines from global to shared memory, at any address. TILE says where byte `byte` of line
// `line` lies in shared memory, place(line, byte); LINES and LINE_BYTES are powers of two. Bytes of a tile
// are contiguous within 16; those of a tile to load are so within the line, which has room for 16 more than
// LINE_BYTES. Lines begin at an `element`, and are a number of them apart.

// Bytes of a line that lie past the last multiple of 16 before it.
MXQ_FN unsigned bytes_ahead(const unsigned char *line) {
  return static_cast<unsigned>(reinterpret_cast<length>(line)) % 16;
}

// What of a tile exists in global memory: `lines` lines of `bytes` bytes, `pitch` bytes apart. Of the same
// lines, `before` bytes exist ahead of the tile and `behind` behind it: 16 or more are alike.
struct lines_from {
  const unsigned char *first;
  length pitch;
  unsigned lines, bytes, before, behind;
};

// How far the lines of a loaded tile begin behind their places: as far as in global memory behind a
// multiple of 16, so that pieces of 16 bytes arrive as they are.
struct lines_shift {
  unsigned first, pitch;  // of line 0, and from one line to the next; modulo 16
};
MXQ_FN bool is_shifted(lines_shift shift) { return (shift.first | shift.pitch) != 0; }
MXQ_FN unsigned ahead_of(lines_shift shift, unsigned line) {
  return (shift.first + line * shift.pitch) % 16;
}
// For permute_bytes of two words: the one that begins `byte` behind the first, modulo 4.
MXQ_FN unsigned shift_selector(unsigned byte) { return 0x3210 + byte % 4 * 0x1111; }
// Lines so far apart are shifted alike: their pitch is a number of elements.
template <class TILE>
constexpr unsigned ALIKE = 16 / sizeof(typename TILE::element);

// How far the places of lines lie apart, from one on that is a multiple of a power of two to one as many
// lines on as a multiple of it; ALIKE is the least of them.
template <class TILE>
MXQ_FN unsigned lines_apart(unsigned lines) {
  return TILE::place(lines, 0) - TILE::place(0, 0);
}

// Of the piece `at` bytes behind the place of a line that is shifted by `ahead`: whether it holds any of
// the tile's bytes, and if so whether all of its bytes are the line's.
MXQ_FN bool holds_bytes(const lines_from &from, unsigned ahead, unsigned at) {
  return at < ahead + from.bytes;
}
MXQ_FN bool is_whole(const lines_from &from, unsigned ahead, unsigned at) {
  return at + from.before >= ahead && at + 16 <= ahead + from.bytes + from.behind;
}

// Starts the copy of a piece that exists whole; one that does not exist becomes zeros.
template <class TILE>
MXQ_FN void load_piece(const lines_from &from, unsigned line, unsigned at) {
  const unsigned char *const begin = from.first + line * from.pitch;
  const unsigned ahead = bytes_ahead(begin);
  const bool exists = line < from.lines && holds_bytes(from, ahead, at);
  if (!exists)
    shared_store(TILE::place(line, at), words4{});
  else if (is_whole(from, ahead, at))
    copy_async<16>(TILE::place(line, at), begin - ahead + at);
}

// All pieces of a tile but those behind LINE_BYTES. A thread's lines are shifted alike.
template <class TILE>
MXQ_FN void load_pieces(const lines_from &from) {
  constexpr unsigned PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE::LINES % STEP == 0, "whole steps");
  static_assert(STEP % ALIKE<TILE> == 0, "lines that are shifted alike");
  const unsigned first = thread_id() / PIECES, at = thread_id() % PIECES * 16;
  const unsigned char *line = from.first + first * from.pitch;
  const unsigned ahead = bytes_ahead(line), to = TILE::place(first, at);
  if (from.lines == TILE::LINES && holds_bytes(from, ahead, at) && is_whole(from, ahead, at)) {
    line = line - ahead + at;
#pragma unroll
    for (unsigned i = 0; i < TILE::LINES / STEP; i++, line += STEP * from.pitch)
      copy_async<16>(to + lines_apart<TILE>(i * STEP), line);
  } else {
#pragma unroll 1
    for (unsigned i = 0; i < TILE::LINES; i += STEP) load_piece<TILE>(from, first + i, at);
  }
}

// What pieces left out: the elements of those that lines begin and end in.
template <class TILE>
MXQ_FN void load_ends(const lines_from &from) {
  using element = typename TILE::element;
#pragma unroll 1
  for (unsigned item = thread_id(); item < from.lines * ALIKE<TILE>; item += THREADS) {
    const unsigned line = item / ALIKE<TILE>, part = item % ALIKE<TILE> * sizeof(element);
    const unsigned char *const begin = from.first + line * from.pitch;
    const unsigned ahead = bytes_ahead(begin), last = (ahead + from.bytes) / 16 * 16;
#pragma unroll
    for (unsigned end = 0; end < 2; end++) {
      const unsigned at = end == 0 ? 0 : last, byte = at + part - ahead;
      if (!holds_bytes(from, ahead, at) || is_whole(from, ahead, at)) continue;
      element value = 0;
      if (byte < from.bytes) value = global_load(reinterpret_cast<const element *>(begin + byte));
      shared_store(TILE::place(line, at + part), value);
    }
  }
}

// Starts to load a tile. copies_wait ends it.
template <class TILE>
MXQ_FN lines_shift load_lines(const lines_from &from) {
  load_pieces<TILE>(from);
  if ((reinterpret_cast<length>(from.first) | from.pitch | from.bytes) % 16 != 0) {
#pragma unroll 1
    for (unsigned line = thread_id(); line < TILE::LINES; line += THREADS)
      load_piece<TILE>(from, line, TILE::LINE_BYTES);
    if (from.before < 16 || from.behind < 16) load_ends<TILE>(from);
  }
  return {bytes_ahead(from.first), static_cast<unsigned>(from.pitch) % 16};
}

#line 1 "templates/lines_out.cuh"
// Lines of a tile to global memory, at any address. TILE says where byte `byte` of line `line` lies in
// shared memory: place(line, byte), with words whole and lines PITCH bytes apart. LINES and LINE_BYTES are
// powers of two. In global memory lines begin at an `element`, and are a number of them apart.

// What of a tile exists in global memory: `lines` lines of `bytes` bytes, `pitch` bytes apart.
struct lines_to {
  unsigned char *first;
  length pitch;
  unsigned lines, bytes;
};

// Lines whose pieces of 16 bytes all lie at multiples of 16.
template <class TILE>
MXQ_FN void store_pieces(const lines_to &to) {
  constexpr unsigned PIECES = TILE::LINE_BYTES / 16, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE::LINES % STEP == 0, "whole steps");
  const unsigned first = thread_id() / PIECES, byte = thread_id() % PIECES * 16;
  if (byte >= to.bytes) return;
  unsigned char *at = to.first + first * to.pitch + byte;
  const unsigned from = TILE::place(first, byte);
#pragma unroll 4
  for (unsigned i = 0; i < TILE::LINES; i += STEP, at += STEP * to.pitch)
    if (first + i < to.lines)
      global_store(reinterpret_cast<words4 *>(at), shared_load<words4>(from, i * TILE::PITCH));
}

// Sectors, the units of the L2 cache, have 32 bytes: those from an address to the next one's begin.
MXQ_FN unsigned bytes_to_sector(const unsigned char *at) {
  return 0u - static_cast<unsigned>(reinterpret_cast<length>(at)) & 31;
}

// Any lines, a warp for each: whole sectors by words, each joined from two words of the tile; the elements
// before and behind them in one store, because a sector that arrives in parts costs as much as several.
// Lines whose numbers differ by 32 begin alike.
template <class TILE>
MXQ_FN void store_sectors(const lines_to &to) {
  using element = typename TILE::element;
  constexpr unsigned ALIKE = TILE::LINES < 32 ? TILE::LINES : 32;
  const unsigned lane = thread_id() % 32, part = lane * sizeof(element);
#pragma unroll 1
  for (unsigned first = thread_id() / 32; first < ALIKE; first += THREADS / 32) {
    unsigned char *const line = to.first + first * to.pitch;
    const unsigned ahead = bytes_to_sector(line), head = ahead < to.bytes ? ahead : to.bytes;
    const unsigned whole = (to.bytes - head) / 32 * 32, tail = to.bytes - head - whole;
    // Lanes before the head's end store of the first 32 bytes, those behind the tail's begin of the last.
    const bool in_head = part < head, in_tail = part < 32 && part + tail >= 32;
    const unsigned end = in_head ? part : to.bytes - 32 + part;
    const unsigned low = TILE::place(first, head / 4 * 4 + lane * 4), high = low + (head % 4 ? 4 : 0);
    const unsigned joined = 0x3210 + head % 4 * 0x1111, end_from = TILE::place(first, end);
    unsigned char *words_at = line + head + lane * 4, *end_at = line + end;
#pragma unroll 2
    for (unsigned i = 0; i < TILE::LINES; i += ALIKE) {
      const bool exists = first + i < to.lines;
#pragma unroll
      for (unsigned byte = 0; byte < TILE::LINE_BYTES; byte += 128)
        if (exists && lane * 4 + byte < whole)
          global_store(reinterpret_cast<unsigned *>(words_at + byte),
                       permute_bytes(shared_load<unsigned>(low, i * TILE::PITCH + byte),
                                     shared_load<unsigned>(high, i * TILE::PITCH + byte), joined));
      if (exists && (in_head || in_tail))
        global_store(reinterpret_cast<element *>(end_at),
                     shared_load<element>(end_from, i * TILE::PITCH));
      words_at += ALIKE * to.pitch;
      end_at += ALIKE * to.pitch;
    }
    // Of the last tile in a line both may be more than 32 bytes together.
    if (in_head && in_tail)
#pragma unroll 1
      for (unsigned i = first; i < to.lines; i += ALIKE)
        global_store(reinterpret_cast<element *>(to.first + i * to.pitch + to.bytes - 32 + part),
                     shared_load<element>(TILE::place(i, to.bytes - 32 + part)));
  }
}

template <class TILE>
MXQ_FN void store_lines(const lines_to &to) {
  if ((reinterpret_cast<length>(to.first) | to.pitch | to.bytes) % 16 == 0)
    store_pieces<TILE>(to);
  else
    store_sectors<TILE>(to);
}

#line 24 "templates/any_row.cu"
// The input tile is [n][k], rows a gap apart that has room for a shift. Runs are read of rows that are
// shifted alike: 16 bytes more behind each ROWS_ALIKE keep 16 bytes in each of such rows in different banks.
constexpr unsigned ROWS_ALIKE = 128 / IN_BITS;
struct in_tile {
  using element = unsigned short;
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * IN_BITS / 8;
  static constexpr unsigned LINE_PITCH = LINE_BYTES + 16, GAP = 16;
  static_assert(LINE_BYTES % 128 == 0, "whole rows of banks");

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    return IN_TILE + line * LINE_PITCH + line / ROWS_ALIKE * GAP + byte;
  }
};

// What of a tile does not exist becomes zeros, which leave a maximum as it is.
MXQ_FN lines_shift load_tile(const mxq_any_args &args, const tile_extent &at) {
  return load_lines<in_tile>(
      {args.in + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes + at.k * (IN_BITS / 8),
       args.stride_n_bytes, at.rows, at.columns * (IN_BITS / 8), at.k ? 16u : 0u,
       at.columns_behind * (IN_BITS / 8)});
}

// The tile of codes is [n][k]. A gap between rows keeps the runs of a warp in different banks.
struct out_tile {
  using element = unsigned char;
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * OUT_BITS / 8;
  static constexpr unsigned PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};

MXQ_FN void store_tile(const mxq_any_args &args, const tile_extent &at) {
  constexpr unsigned PACKED = 8 / OUT_BITS;
  const length pitch = args.k / PACKED;
  store_lines<out_tile>({args.out + (at.e * args.n + at.n) * pitch + at.k / PACKED, pitch, at.rows,
                         at.columns / PACKED});
}

#line 1 "templates/kept_scales.cuh"
// The tile of a part's packed scales in shared memory: [rows of blocks][columns], a byte each.
template <unsigned PART>
struct scale_tile {
  static constexpr bool ROWS_N = scales_of<PART>::ROWS_N, SQUARE = scales_of<PART>::SQUARE;
  static constexpr unsigned ROW = SQUARE ? BLOCK : 1;  // elements along the rows' axis in one row
  static constexpr unsigned ROWS = (ROWS_N ? TILE_N : TILE_K) / ROW;
  static constexpr unsigned COLUMNS_HELD = (ROWS_N ? TILE_K : TILE_N) / BLOCK;

  // Of the block that begins at (row, column) of the tile of elements.
  MXQ_FN unsigned place(unsigned row, unsigned column) {
    return SCALE_TILE + (ROWS_N ? row : column) / ROW * COLUMNS_HELD +
           (ROWS_N ? column : row) / BLOCK;
  }
};

// The place of the scale of the block that begins at row n and column k, in its matrix. Linear ones of a
// tile lie behind that of its first block as they would in a matrix of their own.
template <unsigned PART, class INDEX>
MXQ_FN length place_of_scale(const mxq_scale_args &scales, INDEX n, INDEX k) {
  constexpr bool ROWS_N = scales_of<PART>::ROWS_N;
  return scale_place<PART>(scales.pitch, ROWS_N ? n : k, (ROWS_N ? k : n) / BLOCK);
}

// Stores the scale of the block that begins at (row, column) of the tile, with its padding, or keeps
// it where packed scales leave by tiles.
template <unsigned PART>
MXQ_FN void put_scale(const mxq_any_args &args, const mxq_scale_args &scales, const tile_extent &at,
                      unsigned row, unsigned column, unsigned code) {
  const bool inside = row < at.rows && column < at.columns;
  if constexpr (SCALES_LIN) {
    if (inside)
      store_scale_at(scales,
                     at.e * scales.stride_e + place_of_scale<PART>(scales, at.n, at.k) +
                         place_of_scale<PART>(scales, row, column),
                     code);
  } else if constexpr (SCALES_BY_TILES) {
    shared_store(scale_tile<PART>::place(row, column),
                 static_cast<unsigned char>(inside ? code : 0));
  } else {
    store_scale<PART>(scales, at.e, at.n + row, at.k + column, args.n, args.k, inside ? code : 0);
  }
}

// Stores the scales that were kept: in words, or one by one where they lie at no word's address.
template <unsigned PART>
MXQ_FN void store_kept_scales(const mxq_any_args &args, const mxq_scale_args &scales,
                              const tile_extent &at) {
  using tile = scale_tile<PART>;
  if (reinterpret_cast<length>(scales.to) % 4 == 0) {
    store_scale_tile<PART>(scales, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
    return;
  }
  const length rows = tile::ROWS_N ? args.n : args.k;
  const length columns = ((tile::ROWS_N ? args.k : args.n) + BLOCK - 1) / BLOCK;
#pragma unroll 1
  for (unsigned i = thread_id(); i < tile::ROWS * tile::ROW * tile::COLUMNS_HELD; i += THREADS) {
    const unsigned line = i / tile::COLUMNS_HELD, first = i % tile::COLUMNS_HELD;
    const length row = (tile::ROWS_N ? at.n : at.k) + line;
    const length column = (tile::ROWS_N ? at.k : at.n) / BLOCK + first;
    if (row >= rows_stored<PART>(rows) || column >= columns_stored<PART>(columns)) continue;
    const unsigned from = SCALE_TILE + line / tile::ROW * tile::COLUMNS_HELD + first;
    store_scale_at(scales, at.e * scales.stride_e + scale_place<PART>(scales.pitch, row, column),
                   row < rows ? shared_load<unsigned char>(from) : 0);
  }
}

#line 64 "templates/any_row.cu"
// Quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks. Its rows are shifted alike.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0, "whole blocks");
static_assert(RUN * OUT_BITS <= 128, "codes of a run in one access");
static_assert(TILE_N * ROW_RUNS % THREADS == 0, "whole warps");
static_assert(TILE_N % (WARP_ROWS * ROWS_ALIKE) == 0, "whole warps");

// The words of a run that begins in word AHEAD of those that are held, and some bytes later.
template <unsigned AHEAD>
MXQ_FN void join_run(const unsigned (&held)[RUN_WORDS + 4], unsigned selector, unsigned (&words)[RUN_WORDS]) {
#pragma unroll
  for (unsigned w = 0; w < RUN_WORDS; w++)
    words[w] = permute_bytes(held[AHEAD + w], held[AHEAD + w + 1], selector);
}

// All lanes of a warp begin in the same word.
template <bool SHIFTED>
MXQ_FN void load_run(unsigned row, unsigned run, lines_shift shift, unsigned (&words)[RUN_WORDS]) {
  const unsigned from = in_tile::place(row, run * RUN_WORDS * 4);
  unsigned held[RUN_WORDS + 4];
#pragma unroll
  for (unsigned w = 0; w < RUN_WORDS + (SHIFTED ? 4 : 0); w += 4) {
    const words4 four = shared_load<words4>(from, w * 4);
    for (unsigned i = 0; i < 4; i++) held[w + i] = four.word[i];
  }
  if constexpr (SHIFTED) {
    const unsigned ahead = ahead_of(shift, row), selector = shift_selector(ahead);
    switch (ahead / 4) {
      case 0: return join_run<0>(held, selector, words);
      case 1: return join_run<1>(held, selector, words);
      case 2: return join_run<2>(held, selector, words);
      default: return join_run<3>(held, selector, words);
    }
  }
  for (unsigned w = 0; w < RUN_WORDS; w++) words[w] = held[w];
}

MXQ_FN void quantize_runs(const mxq_any_args &args, const tile_extent &at, lines_shift shift) {
  const unsigned lane = thread_id() % 32;
#pragma unroll 1
  for (unsigned warp = thread_id() / 32; warp < TILE_N * ROW_RUNS / 32; warp += THREADS / 32) {
    const unsigned of = lane / (INTERLEAVED * WARP_RUNS) * INTERLEAVED + lane % INTERLEAVED;
    const unsigned row = warp / ROW_WARPS / ROWS_ALIKE * (WARP_ROWS * ROWS_ALIKE) +
                         of * ROWS_ALIKE + warp / ROW_WARPS % ROWS_ALIKE;
    const unsigned run = warp % ROW_WARPS * WARP_RUNS + lane / INTERLEAVED % WARP_RUNS;
    unsigned words[RUN_WORDS];
    if (is_shifted(shift))
      load_run<true>(row, run, shift, words);
    else
      load_run<false>(row, run, shift, words);
    const run_scales scale = scales_of_run(words, INTERLEAVED);
    if (run * RUN % BLOCK == 0)
      for (unsigned piece = 0; piece < RUN_PIECES; piece++)
        put_scale<MAIN>(args, args.scale, at, row, run * RUN + piece * BLOCK,
                        scale.piece[piece][0].code);
    const run_codes codes = codes_of_run(words, scale);
    const unsigned to = out_tile::place(row, run * RUN * OUT_BITS / 8);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to, codes.part[0]);
    else
      shared_store(to, codes_chunk(codes, 0));
  }
}

MXQ_KERNEL(quantize_f16_e5m2_b64_amax_row_lin_any_64x256, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
#pragma unroll 1
  for (unsigned pass = 0; exists_in_pass(args, pass); pass++) {
    const tile_extent at = extent_of(args, number_in_pass(args, pass));
    const lines_shift shift = load_tile(args, at);
    copies_wait();  // orders this thread's copies before the barrier
    block_sync();   // orders all threads' copies before the reads of others
    quantize_runs(args, at, shift);
    block_sync();  // orders the stores of codes and scales before their loads
    store_tile(args, at);
    if constexpr (SCALES_BY_TILES) store_kept_scales<MAIN>(args, args.scale, at);
  }
}
