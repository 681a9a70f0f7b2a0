// quantize_bf16_e4m3_b32_rceil_colt_lin.tma-32x64-direct for sm_90a, from templates/strip.tma.cu.
// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 90a --kernel quantize_bf16_e4m3_b32_rceil_colt_lin.tma-32x64-direct
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

#line 64 "templates/args.h"
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
constexpr unsigned IN_BITS = 16, IN_EXPONENT_BITS = 8;
constexpr unsigned OUT_BITS = 8, OUT_EXPONENT_BITS = 4;
constexpr unsigned OUT_MANTISSA_BITS = 3, OUT_NAN = 127;
constexpr int OUT_EMAX = 8;
constexpr float OUT_MAX = 448;
constexpr unsigned BLOCK = 32;
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = 5;
constexpr unsigned ALSO = 0;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 8;
constexpr bool POWER_OF_TWO = true;  // every scale is one
constexpr bool SCALES_LIN = true, SCALES_BLK = false;
constexpr bool SCALES_MN = false;
constexpr bool HAS_PAIRS = true;      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 4 "templates/strip.tma.cu"
constexpr unsigned TILE_N = 32, TILE_K = 64;
constexpr unsigned THREADS = 128, BLOCKS_PER_SM = 5;
// Shared memory, in bytes.
constexpr unsigned MAXIMA = 0, SCALE_TILE = 0;

#line 1 "templates/scale.cuh"
// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN; float32: its bits
  float multiplier;  // what elements are multiplied by; NaN makes every code of the block NaN
};

#line 8 "templates/scale.cuh"
// Whether a block's maximum may come to more than the largest code's value and half a step.
constexpr bool SATURATES = false;
#line 20 "templates/scale.cuh"
// Contract, section 2, rceil: d = a * (1/max); Ed + (Ed ? md != 0 : md > 0x400000).
MXQ_FN int scale_exponent(unsigned amax) {
  const float quotient = multiply(bits_float(amax), 1.0f / OUT_MAX);
#line 26 "templates/scale.cuh"
  // The sum comes to the next exponent for these mantissas.
  const unsigned d = float_bits(quotient);
  return static_cast<int>((d + (d < 0x800000 ? 0x3FFFFF : 0x7FFFFF)) >> 23);
#line 30 "templates/scale.cuh"
}
#line 39 "templates/scale.cuh"
// The largest finite maximum has E = 254, so no mode comes past 254 - OUT_EMAX + 1: the upper clamp
// of the contract and the subnormal multiplier of code 254 are never needed.
static_assert(OUT_EMAX >= 2, "codes stay below 254");

MXQ_FN block_scale scale_of(unsigned amax) {
  const int exponent = scale_exponent(amax);
  // NOTE: `code == 254 ? 0x00400000 : ...` after clamping to [0, 254] is miscompiled by the
  // assembler of CUDA 13.0 (V13.0.88): the comparison becomes the inverted predicate of VIMNMX.
  const unsigned code = exponent < 0 ? 0 : exponent;
  const unsigned multiplier = (254 - code) << 23;
  if (amax >= 0x7F800000) return {255, bits_float(0x7FC00000)};
  return {code, bits_float(multiplier)};
}

#line 1 "templates/device_bf16.cuh"
// Primitives of two bf16 in a word.
#ifdef __CUDACC__
// mul.rn.bf16x2: both halves, each rounded by itself.
MXQ_FN unsigned multiply_pair_bf16(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// max.NaN.xorsign.abs: the larger magnitude of each half, NaN if either is NaN; any sign. Before sm_86
// max.NaN of the magnitudes.
MXQ_FN unsigned max_magnitude_pair_bf16(unsigned a, unsigned b) {
  unsigned larger;
#if __CUDA_ARCH__ >= 860
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
#else
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a & 0x7FFF7FFF), "r"(b & 0x7FFF7FFF));
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
#line 12 "templates/convert.cuh"
  return max_magnitude_pair_bf16(a, b);
#line 16 "templates/convert.cuh"
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
#line 23 "templates/convert.cuh"
  return bits_float(column ? word & 0xFFFF0000 : word << 16);
#line 27 "templates/convert.cuh"
}

#line 30 "templates/convert.cuh"
// Two multipliers that are bf16 too, as a word: their low halves are zero, or they are NaN.
MXQ_FN unsigned bf16_pair(float first, float second) {
  return permute_bytes(float_bits(first), float_bits(second), 0x7632);
}

#line 36 "templates/convert.cuh"
// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}

#line 1 "templates/four.cuh"
// Four codes at a time, of products of whole words with their blocks' multipliers: a byte each, or four
// bits each in the low half of a word.

#line 1 "templates/device_codes.cuh"
// Assembly of primitives that make codes of eight bits from words of two bf16.
#ifdef __CUDACC__
#define MXQ_CODES_REGISTERS ".reg .b32 a, b, c, d, e, f, g, h;\n\t.reg .b16 p, q, r, s;\n\t"
// The words w, x, y and z times a pair of multipliers: mul.rn.bf16x2; the halves as float32; cvt.rn.satfinite.
// The codes of their low halves, then those of the high ones. All but the type are numbers of operands.
#define MXQ_CODES(type, multiplier, low, high, w, x, y, z) \
  "mul.rn.bf16x2 a, %" #w ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 b, %" #x ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 c, %" #y ", %" #multiplier ";\n\t" \
  "mul.rn.bf16x2 d, %" #z ", %" #multiplier ";\n\t" \
  "shl.b32 e, a, 16;\n\t" \
  "shl.b32 f, b, 16;\n\t" \
  "shl.b32 g, c, 16;\n\t" \
  "shl.b32 h, d, 16;\n\t" \
  "and.b32 a, a, 0xFFFF0000;\n\t" \
  "and.b32 b, b, 0xFFFF0000;\n\t" \
  "and.b32 c, c, 0xFFFF0000;\n\t" \
  "and.b32 d, d, 0xFFFF0000;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 p, f, e;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 q, h, g;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 r, b, a;\n\t" \
  "cvt.rn.satfinite." #type "x2.f32 s, d, c;\n\t" \
  "mov.b32 %" #low ", {p, q};\n\t" \
  "mov.b32 %" #high ", {r, s};\n\t"
#endif

#line 2 "templates/device_rows.cuh"
// Primitives that multiply words of two bf16 and convert the products to codes of eight bits, in one
// piece of assembly each: the compiler need not go through their instructions one by one.
#ifdef __CUDACC__
// Codes of the halves of two words, in order: mul.rn.bf16x2; the halves as float32; cvt.rn.satfinite.
#define MXQ_NARROW_TWO(type)                               \
  asm("{\n\t.reg .b32 a, b, c, d;\n\t.reg .b16 p, q;\n\t" \
      "mul.rn.bf16x2 a, %1, %3;\n\t"                       \
      "mul.rn.bf16x2 b, %2, %3;\n\t"                       \
      "shl.b32 c, a, 16;\n\t"                              \
      "shl.b32 d, b, 16;\n\t"                              \
      "and.b32 a, a, 0xFFFF0000;\n\t"                      \
      "and.b32 b, b, 0xFFFF0000;\n\t"                      \
      "cvt.rn.satfinite." type "x2.f32 p, a, c;\n\t"       \
      "cvt.rn.satfinite." type "x2.f32 q, b, d;\n\t"       \
      "mov.b32 %0, {p, q};\n\t}"                           \
      : "=r"(codes) : "r"(words[0]), "r"(words[1]), "r"(multiplier))
template <unsigned EXPONENT_BITS>
MXQ_FN unsigned narrow_two_bf16(const unsigned *words, unsigned multiplier) {
  unsigned codes;
  if constexpr (EXPONENT_BITS == 4)
    MXQ_NARROW_TWO("e4m3");
  else
    MXQ_NARROW_TWO("e5m2");
  return codes;
}
// The same of four words: the codes of their low halves, and those of their high halves.
#define MXQ_NARROW_FOUR(type) \
  asm("{\n\t" MXQ_CODES_REGISTERS MXQ_CODES(type, 6, 0, 1, 2, 3, 4, 5) "}" \
      : "=r"(four[0]), "=r"(four[1]) \
      : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(multiplier))
template <unsigned EXPONENT_BITS>
MXQ_FN void narrow_four_bf16(const unsigned *words, unsigned multiplier, unsigned (&four)[2]) {
  if constexpr (EXPONENT_BITS == 4)
    MXQ_NARROW_FOUR(e4m3);
  else
    MXQ_NARROW_FOUR(e5m2);
}
#endif

#line 121 "templates/four.cuh"
// A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below half
// of the smallest code: the codes are those of the float32 product. The multiplier is a bf16 too.
MXQ_FN unsigned multiplier_pair(const block_scale (&scale)[COLUMNS]) {
  return bf16_pair(scale[0].multiplier, scale[1].multiplier);
}

// Of two words: neighbours in a row, or in a column.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  return narrow_two_bf16<OUT_EXPONENT_BITS>(words, multiplier_pair(scale));
}
// Of four words in a column: four codes for each of its two columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  narrow_four_bf16<OUT_EXPONENT_BITS>(words, multiplier_pair(scale), four);
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

#line 16 "templates/strip.tma.cu"
// A thread holds one 32-bit word of HELD_ROWS rows, a strip: little work one after the other, where
// there is too little to do for the device's threads. GROUPS neighbouring lanes hold a block along N;
// a warp, as many words beside each other as are left.
constexpr unsigned WORDS = TILE_K / COLUMNS;
constexpr unsigned HELD_ROWS = 8;
constexpr unsigned GROUPS = BLOCK / HELD_ROWS;
constexpr unsigned WARP_WORDS = 32 / GROUPS;
constexpr unsigned ROW_WARPS = WORDS / WARP_WORDS;  // for a row of blocks
// A block along K has LANE_WORDS words of a warp and PARTS warps.
constexpr unsigned BLOCK_WORDS = ALONG_K ? BLOCK / COLUMNS : 1;
constexpr unsigned LANE_WORDS = BLOCK_WORDS < WARP_WORDS ? BLOCK_WORDS : WARP_WORDS;
constexpr unsigned PARTS = BLOCK_WORDS / LANE_WORDS;
constexpr unsigned BLOCKS_N = TILE_N / BLOCK;  // of packed scales, a byte each
constexpr bool TILES_BY_K = !COLUMN_MAJOR;
static_assert(ALSO == 0, "one part");
static_assert(THREADS == WORDS * (TILE_N / HELD_ROWS), "a thread for each word of its rows");
static_assert(BLOCK % HELD_ROWS == 0 && GROUPS <= 32 && WORDS % WARP_WORDS == 0, "whole warps");
static_assert(TILE_N % BLOCK == 0 && TILE_K % (BLOCK_WORDS * COLUMNS) == 0, "whole blocks");

// The maximum of the block over the threads that share it.
MXQ_FN unsigned block_max(unsigned largest) {
  for (unsigned mask = 1; mask < GROUPS * (ALONG_K ? LANE_WORDS : 1); mask *= 2)
    largest = word_max(largest, shuffle_xor(largest, mask));
  if constexpr (ALONG_K) largest = across_columns(largest);
  if constexpr (PARTS > 1) {
    const unsigned warp = thread_id() / 32;
    if (thread_id() % 32 == 0) shared_store(MAXIMA + warp * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    for (unsigned part = 0; part < PARTS; part++)
      largest = word_max(largest,
                         shared_load<unsigned>(MAXIMA + (warp / PARTS * PARTS + part) * 4));
  }
  return largest;
}

// Keeps or stores the scales of the block, or of the COLUMNS neighbouring blocks, that begin at
// (row, word) of the tile.
MXQ_FN void put_scales(const mxq_vector_args &args, tile_place at, unsigned row, unsigned word,
                       const block_scale (&scale)[COLUMNS]) {
  constexpr unsigned BLOCKS = ALONG_K ? 1 : COLUMNS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const bool inside = n < args.n && k < args.k;
  if constexpr (SCALES_BY_TILES) {
    for (unsigned c = 0; c < BLOCKS; c++) {
      const unsigned column = word * COLUMNS + c;
      const unsigned line = ALONG_K ? column / BLOCK : column;
      const unsigned place = scales_of<MAIN>::ROWS_N ? row / BLOCK * (TILE_K / BLOCK) + line
                                                     : line * BLOCKS_N + row / BLOCK;
      shared_store(SCALE_TILE + place, static_cast<unsigned char>(inside ? scale[c].code : 0));
    }
  } else if constexpr (BLOCKS == 2) {
    if (inside) store_scale_pair<MAIN>(args.scale, at.e, n, k, scale[0].code, scale[1].code);
  } else {
    store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, inside ? scale[0].code : 0);
  }
}

// Stores four codes of row-major output: those of two columns in two rows, or of one in four.
MXQ_FN void store_four(const mxq_vector_args &args, unsigned long long matrix, unsigned n,
                       unsigned k, unsigned four) {
  const unsigned long long code = matrix + n * static_cast<unsigned long long>(args.k) + k;
  const unsigned long long pitch = args.k / (8 / OUT_BITS);
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  if constexpr (COLUMNS == 1 && OUT_BITS == 4) {
    // Neighbouring words hold the two codes of a byte: each thread finishes two of the four rows.
    const unsigned odd = k % 2;
    const unsigned theirs = shuffle_xor(four, GROUPS);
    const unsigned low = odd ? theirs : four, high = odd ? four : theirs;
    for (unsigned r = odd * 2; r < odd * 2 + 2; r++)
      if (n + r < args.n && k < args.k)
        global_store(to + r * pitch, static_cast<unsigned char>((low >> 4 * r & 0xF) |
                                                               (high >> 4 * r & 0xF) << 4));
  } else if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    for (unsigned r = 0; r < 2; r++)
      if (n + r < args.n && k < args.k)
        global_store(reinterpret_cast<unsigned short *>(to + r * pitch),
                     static_cast<unsigned short>(four >> 16 * r));
  } else {
    for (unsigned r = 0; r < 4 / COLUMNS; r++)
      if (n + r < args.n && k < args.k)
        global_store(to + r * pitch, static_cast<unsigned char>(four >> 8 * r));
  }
}

// Stores the codes of a column's rows, which lie together: N is a multiple of as many as fill 16
// bytes, so they are inside or outside as a whole.
MXQ_FN void store_column(const mxq_vector_args &args, unsigned long long matrix, unsigned n,
                         unsigned k, const codes16 &codes) {
  static_assert(HELD_ROWS == 8 || HELD_ROWS == 16, "one access");
  const unsigned long long code = matrix + k * static_cast<unsigned long long>(args.n) + n;
  unsigned char *const to = args.out + code / (8 / OUT_BITS);
  constexpr unsigned BYTES = HELD_ROWS * OUT_BITS / 8;
  const unsigned *const word = codes.word;
  if constexpr (BYTES == 16)
    global_store(reinterpret_cast<words4 *>(to), words4{{word[0], word[1], word[2], word[3]}});
  else if constexpr (BYTES == 8)
    global_store(reinterpret_cast<words2 *>(to), words2{{word[0], word[1]}});
  else
    global_store(reinterpret_cast<unsigned *>(to), word[0]);
}

MXQ_KERNEL(quantize_bf16_e4m3_b32_rceil_colt_lin_tma_32x64_direct, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const unsigned lane = thread_id() % 32, warp = thread_id() / 32;
  const unsigned word = warp % ROW_WARPS * WARP_WORDS + lane / GROUPS;
  const unsigned block_row = warp / ROW_WARPS * BLOCK, row = block_row + lane % GROUPS * HELD_ROWS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const unsigned char *const from =
      args.in + at.e * args.stride_e_bytes + n * args.stride_n_bytes + k * (IN_BITS / 8ull);
  // Rows past N count as zeros, which leave a maximum as it is and are never stored.
  unsigned rows[HELD_ROWS] = {};
  for (unsigned r = 0; r < HELD_ROWS; r++)
    if (k < args.k && n + r < args.n)
      rows[r] = global_load(reinterpret_cast<const unsigned *>(from + r * args.stride_n_bytes));

  unsigned largest = rows[0];
  for (unsigned r = 1; r < HELD_ROWS; r++) largest = word_max(largest, rows[r]);
  largest = block_max(largest);
  block_scale scale[COLUMNS];
  scales_of_columns<ALONG_K>(largest, scale);
  if (row == block_row && word % BLOCK_WORDS == 0) put_scales(args, at, row, word, scale);

  const unsigned long long matrix = static_cast<unsigned long long>(at.e) * args.n * args.k;
  if constexpr (COLUMN_MAJOR) {
    codes16 codes[COLUMNS];
    for (unsigned quad = 0; quad < HELD_ROWS / 4; quad++) {
      unsigned four[COLUMNS];
      narrow_down(rows + quad * 4, scale, four);
      for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
    }
    if (k < args.k && n < args.n)
      for (unsigned c = 0; c < COLUMNS; c++) store_column(args, matrix, n, k + c, codes[c]);
  } else {
    for (unsigned r = 0; r < HELD_ROWS; r += 4 / COLUMNS)
      store_four(args, matrix, n + r, k, narrow_across(rows + r, scale));
  }
  if constexpr (SCALES_BY_TILES) {
    block_sync();  // orders the stores of all scales before their loads
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  }
}
