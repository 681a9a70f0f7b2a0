// quantize_bf16_e4m3_b32_rceil_rowcolt_lin.any-128x128 for sm_90a, from templates/any.cu.
// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_rowcolt_lin --arch 90a --kernel quantize_bf16_e4m3_b32_rceil_rowcolt_lin.any-128x128
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
constexpr unsigned IN_BITS = 16, IN_EXPONENT_BITS = 8;
constexpr unsigned OUT_BITS = 8, OUT_EXPONENT_BITS = 4;
constexpr unsigned OUT_MANTISSA_BITS = 3, OUT_NAN = 127;
constexpr int OUT_EMAX = 8;
constexpr float OUT_MAX = 448;
constexpr unsigned BLOCK = 32;
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = 5;
constexpr unsigned ALSO = 2;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 8;
constexpr bool POWER_OF_TWO = true;  // every scale is one
constexpr bool SCALES_LIN = true, SCALES_BLK = false;
constexpr bool SCALES_MN = false;
constexpr bool HAS_PAIRS = true;      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 4 "templates/any.cu"
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr bool TILES_BY_K = !COLUMN_MAJOR || ALSO != 0;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 4;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, OUT_TILE = 34816;
constexpr unsigned MAXIMA = 53248, SCALE_TILE = 53248;

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

#line 18 "templates/any.cu"
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

#line 22 "templates/any.cu"
constexpr unsigned WORDS = TILE_K / COLUMNS;  // of a row
constexpr unsigned HELD_ROWS = 32;
static_assert(THREADS == WORDS * (TILE_N / HELD_ROWS), "a thread for 32 rows of a word");
// The input tile is [n][k]. 16 bytes between rows keep runs in different banks.
struct in_tile {
  static constexpr unsigned PITCH = TILE_K * IN_BITS / 8 + 16;
  static_assert(TILE_K * IN_BITS / 8 % 128 == 0, "whole rows of banks");

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return IN_TILE + line * PITCH + byte; }
};

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

#line 1 "templates/device_pairs.cuh"
// Loads of two neighbouring elements of 16 bits.
#ifdef __CUDACC__
// ld.global: the element at `first` in the low half; in the high half the one behind it, or zero if that does
// not exist. No branch: loads of several pairs go on at a time.
MXQ_FN unsigned global_load_pair(const unsigned short *first, bool second_exists) {
  unsigned pair;
  asm("{\n\t.reg .pred exists;\n\t.reg .u32 low, high;\n\t"
      "setp.ne.u32 exists, %2, 0;\n\t"
      "mov.u32 high, 0;\n\t"
      "ld.global.u16 low, [%1];\n\t"
      "@exists ld.global.u16 high, [%1 + 2];\n\t"
      "prmt.b32 %0, low, high, 0x5410;\n\t}"
      : "=r"(pair)
      : "l"(__cvta_generic_to_global(first)), "r"(static_cast<unsigned>(second_exists)));
  return pair;
}
#endif

#line 3 "templates/held_rows.cuh"
// A thread holds a word, COLUMNS elements, of HELD_ROWS rows. Words are shared out along rows, so that the
// lanes of a warp have neighbours.

// Half of the threads hold the second sixteen rows first, so that the 16-byte stores of codes of eight
// neighbouring threads, which lie two columns apart, fall into different banks. Not where those threads
// share two blocks: each must find the same one first.
constexpr bool FLIPS = ((MAIN | ALSO) & 4) != 0 && OUT_BITS == 8 && COLUMNS == 2 &&
                       !((MAIN & 3) == 3 && BLOCK < HELD_ROWS);

MXQ_FN unsigned held_word() { return thread_id() % WORDS; }
MXQ_FN unsigned held_group() { return thread_id() / WORDS; }
// The row of the tile that held row `held` is.
MXQ_FN unsigned tile_row(unsigned held) {
  return held_group() * HELD_ROWS + (held ^ (FLIPS ? held_word() / 4 % 2 * 16 : 0));
}

MXQ_FN length least(length a, length b) { return a < b ? a : b; }

// What lies outside of the tensor becomes its last row, and its last piece or element: a block's maximum
// stays what it is.
MXQ_FN const unsigned char *row_at(const mxq_any_args &args, const tile_extent &at, unsigned row, length k) {
  return args.in + at.e * args.stride_e_bytes + least(at.n + row, args.n - 1) * args.stride_n_bytes +
         k * (IN_BITS / 8);
}

// Starts to load the input tile by pieces of 16 bytes, where all of them lie at multiples of 16.
MXQ_FN void load_pieces(const mxq_any_args &args, const tile_extent &at) {
  constexpr unsigned ELEMENTS = 128 / IN_BITS, PIECES = TILE_K / ELEMENTS, STEP = THREADS / PIECES;
  static_assert(THREADS % PIECES == 0 && TILE_N % STEP == 0, "whole steps");
  const unsigned first = thread_id() / PIECES, piece = thread_id() % PIECES;
  const length k = least(at.k + piece * ELEMENTS, args.k - ELEMENTS);
  const unsigned to = in_tile::place(first, piece * 16);
#pragma unroll 4
  for (unsigned row = 0; row < TILE_N; row += STEP)
    copy_async<16>(to + row * in_tile::PITCH, row_at(args, at, first + row, k));
}

// Loads the input tile at any address: a thread the words that it holds.
MXQ_FN void load_words(const mxq_any_args &args, const tile_extent &at) {
  const length k = least(at.k + held_word() * COLUMNS, args.k - 1);
#pragma unroll 1
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned row = tile_row(half), to = in_tile::place(row, held_word() * 4);
    const unsigned char *from = row_at(args, at, row, k);
    const unsigned behind = static_cast<unsigned>(least(args.n - 1 - least(at.n + row, args.n - 1), 15));
    unsigned words[16];
#pragma unroll
    for (unsigned r = 0; r < 16; r++) {
#line 52 "templates/held_rows.cuh"
      words[r] = global_load_pair(reinterpret_cast<const unsigned short *>(from), k + 1 < args.k);
#line 56 "templates/held_rows.cuh"
      if (r < behind) from += args.stride_n_bytes;
    }
#pragma unroll
    for (unsigned r = 0; r < 16; r++) shared_store(to, words[r], r * in_tile::PITCH);
  }
}

MXQ_FN void load_tile(const mxq_any_args &args, const tile_extent &at) {
  if ((reinterpret_cast<length>(args.in) | args.stride_e_bytes | args.stride_n_bytes |
       args.k * (IN_BITS / 8)) % 16 == 0) {
    load_pieces(args, at);
    copies_wait();  // orders this thread's copies before the barrier
  } else {
    load_words(args, at);
  }
}

MXQ_FN void held_rows(unsigned (&rows)[HELD_ROWS]) {
#pragma unroll
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned from = in_tile::place(tile_row(half), held_word() * 4);
#pragma unroll
    for (unsigned r = 0; r < 16; r++) rows[half + r] = shared_load<unsigned>(from, r * in_tile::PITCH);
  }
}

#line 34 "templates/any.cu"
// The tile of a part's codes, in the lines that codes have in memory: rows or columns. 16 bytes between
// them keep codes of neighbouring columns in different banks.
template <unsigned PART>
struct out_tile {
  using element = unsigned char;
  static constexpr bool TURNED = PART & 4;
  static constexpr unsigned LINES = TURNED ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (TURNED ? TILE_N : TILE_K) * OUT_BITS / 8;
  static constexpr unsigned PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};
// Two parts' tiles have one shape, and are stored by the same instructions.
static_assert(ALSO == 0 || out_tile<ALSO>::LINES == out_tile<MAIN>::LINES, "one shape");

template <unsigned PART>
MXQ_FN lines_to lines_of(const mxq_any_args &args, unsigned char *out, const tile_extent &at) {
  constexpr bool TURNED = out_tile<PART>::TURNED;
  constexpr unsigned PACKED = 8 / OUT_BITS;
  const length pitch = (TURNED ? args.n : args.k) / PACKED;
  const length line = TURNED ? at.e * args.k + at.k : at.e * args.n + at.n;
  return {out + line * pitch + (TURNED ? at.n : at.k) / PACKED, pitch,
          TURNED ? at.columns : at.rows, (TURNED ? at.rows : at.columns) / PACKED};
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

#line 1 "templates/columns.cuh"
// Blocks along N, or squares: a thread quantizes one 32-bit word of HELD_ROWS rows.

// How a block is shared out: PIECES blocks along N in one thread's rows; or one block over GROUPS_N
// row groups; if it lies along K too, over LANES threads of a warp and GROUPS_K warps of a row group.
template <unsigned PART>
struct columns_of {
  static constexpr bool SQUARE = (PART & 3) == 3, TURNED = PART & 4;
  static constexpr unsigned PIECES = BLOCK < HELD_ROWS ? HELD_ROWS / BLOCK : 1;
  static constexpr unsigned PIECE_ROWS = HELD_ROWS / PIECES;
  static constexpr unsigned GROUPS_N = BLOCK < HELD_ROWS ? 1 : BLOCK / HELD_ROWS;
  static constexpr unsigned BLOCK_WORDS = SQUARE ? BLOCK / COLUMNS : 1;
  static constexpr unsigned LANES = BLOCK_WORDS < 32 ? BLOCK_WORDS : 32;
  static constexpr unsigned GROUPS_K = BLOCK_WORDS / LANES;
  static_assert(PART == 2 || WORDS % 32 == 0, "a warp stays in one row group");
  static_assert(TILE_N % BLOCK == 0 && WORDS % BLOCK_WORDS == 0, "whole blocks");
};

// The maximum of the block over the threads that share it.
template <unsigned PART>
MXQ_FN unsigned block_max(unsigned largest, unsigned word, unsigned group) {
  using part = columns_of<PART>;
  if constexpr (part::SQUARE) {
    for (unsigned mask = 1; mask < part::LANES; mask *= 2)
      largest = word_max(largest, shuffle_xor(largest, mask));
    largest = across_columns(largest);
  }
  if constexpr (part::GROUPS_N * part::GROUPS_K > 1) {
    constexpr unsigned PARTS = part::SQUARE ? WORDS / 32 : WORDS;  // of a row group
    const unsigned place = part::SQUARE ? word / 32 : word;
    if (!part::SQUARE || word % 32 == 0)
      shared_store(MAXIMA + (group * PARTS + place) * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    const unsigned first =
        group / part::GROUPS_N * part::GROUPS_N * PARTS + place / part::GROUPS_K * part::GROUPS_K;
    for (unsigned g = 0; g < part::GROUPS_N; g++)
      for (unsigned p = 0; p < part::GROUPS_K; p++)
        largest = word_max(largest, shared_load<unsigned>(MAXIMA + (first + g * PARTS + p) * 4));
  }
  return largest;
}

// Puts four codes into a row-major tile: those of two columns in two rows, or of one in four. Rows lie
// lines_apart behind `to`, the place of the word's codes in a row that is a multiple of 16.
template <unsigned PART>
MXQ_FN void stage_four(unsigned to, unsigned row, unsigned word, unsigned four) {
  using tile = out_tile<PART>;
  if constexpr (COLUMNS == 2 && OUT_BITS == 8) {
    shared_store(to, static_cast<unsigned short>(four), row * tile::PITCH);
    shared_store(to, static_cast<unsigned short>(four >> 16), (row + 1) * tile::PITCH);
  } else if constexpr (COLUMNS == 2) {
    shared_store(to, static_cast<unsigned char>(four), row * tile::PITCH);
    shared_store(to, static_cast<unsigned char>(four >> 8), (row + 1) * tile::PITCH);
  } else if constexpr (OUT_BITS == 8) {
    for (unsigned r = 0; r < 4; r++)
      shared_store(to, static_cast<unsigned char>(four >> 8 * r), (row + r) * tile::PITCH);
  } else {
    // Two neighbouring threads hold the two codes of a byte: each finishes two of the four rows.
    const unsigned odd = word % 2;
    const unsigned theirs = shuffle_xor(four, 1);
    const unsigned low = odd ? theirs : four, high = odd ? four : theirs;
    for (unsigned r = odd * 2; r < odd * 2 + 2; r++)
      shared_store(to + (row + r) * tile::PITCH,
                   static_cast<unsigned char>((low >> 4 * r & 0xF) | (high >> 4 * r & 0xF) << 4));
  }
}

template <unsigned PART>
MXQ_FN void quantize_columns(const mxq_any_args &args, const mxq_scale_args &scales,
                             const tile_extent &at) {
  using part = columns_of<PART>;
  unsigned rows[HELD_ROWS];
  held_rows(rows);
  const unsigned word = held_word(), group = held_group();
  block_scale scale[part::PIECES][COLUMNS];
#pragma unroll
  for (unsigned piece = 0; piece < part::PIECES; piece++) {
    unsigned largest = rows[piece * part::PIECE_ROWS];
    for (unsigned r = 1; r < part::PIECE_ROWS; r++)
      largest = word_max(largest, rows[piece * part::PIECE_ROWS + r]);
    largest = block_max<PART>(largest, word, group);
    scales_of_columns<part::SQUARE>(largest, scale[piece]);
    if (group % part::GROUPS_N == 0 && word % part::BLOCK_WORDS == 0)
      for (unsigned c = 0; c < (part::SQUARE ? 1 : COLUMNS); c++)
        put_scale<PART>(args, scales, at,
                        part::PIECES > 1 ? tile_row(piece * part::PIECE_ROWS) : group * HELD_ROWS,
                        word * COLUMNS + c, scale[piece][c].code);
  }

  // Unrolled by word, or the compiler keeps the rows in local memory where much follows from them.
#pragma unroll
  for (unsigned half = 0; half < HELD_ROWS; half += 16) {
    const unsigned row = tile_row(half);
    const unsigned to = out_tile<PART>::place(row, word * COLUMNS * OUT_BITS / 8);
    codes16 codes[COLUMNS];
#pragma unroll
    for (unsigned quad = 0; quad < 4; quad++) {
      const unsigned *const four_rows = rows + half + quad * 4;
      const auto &of = scale[(half + quad * 4) / part::PIECE_ROWS];
      if constexpr (part::TURNED) {
        unsigned four[COLUMNS];
        narrow_down(four_rows, of, four);
        for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
      } else {
        for (unsigned r = 0; r < 4; r += 4 / COLUMNS)
          stage_four<PART>(to, quad * 4 + r, word, narrow_across(four_rows + r, of));
      }
    }
    if constexpr (part::TURNED)
      for (unsigned c = 0; c < COLUMNS; c++)
        shared_store(out_tile<PART>::place(word * COLUMNS + c, row * OUT_BITS / 8), codes[c]);
  }
}

#line 61 "templates/any.cu"
// The row part of two: quantizes run after run. The lanes of a warp take INTERLEAVED rows first, then runs,
// so that the 16 bytes of eight of them lie in different banks.
constexpr unsigned ROW_RUNS = TILE_K / RUN, INTERLEAVED = RUN_WORDS / 4;
constexpr unsigned WARP_RUNS = ROW_RUNS < 32 / INTERLEAVED ? ROW_RUNS : 32 / INTERLEAVED;
constexpr unsigned ROW_WARPS = ROW_RUNS / WARP_RUNS, WARP_ROWS = 32 / WARP_RUNS;
static_assert(ALSO != 2 || (RUN_LANES <= WARP_RUNS && TILE_K % BLOCK == 0), "whole blocks");
static_assert(RUN * OUT_BITS <= 128, "codes of a run in one access");
static_assert(TILE_N * ROW_RUNS % THREADS == 0, "whole warps");

template <unsigned PART>
MXQ_FN void quantize_runs(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at) {
  const unsigned lane = thread_id() % 32;
  const unsigned of = lane / (INTERLEAVED * WARP_RUNS) * INTERLEAVED + lane % INTERLEAVED;
#pragma unroll 1
  for (unsigned warp = thread_id() / 32; warp < TILE_N * ROW_RUNS / 32; warp += THREADS / 32) {
    const unsigned row = warp / ROW_WARPS * WARP_ROWS + of;
    const unsigned run = warp % ROW_WARPS * WARP_RUNS + lane / INTERLEAVED % WARP_RUNS;
    const unsigned from = in_tile::place(row, run * RUN_WORDS * 4);
    unsigned words[RUN_WORDS];
#pragma unroll
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = shared_load<words4>(from, w * 4);
      for (unsigned i = 0; i < 4; i++) words[w + i] = four.word[i];
    }
    const run_scales scale = scales_of_run(words, INTERLEAVED);
    if (run * RUN % BLOCK == 0)
      for (unsigned piece = 0; piece < RUN_PIECES; piece++)
        put_scale<PART>(args, scales, at, row, run * RUN + piece * BLOCK,
                        scale.piece[piece][0].code);
    const run_codes codes = codes_of_run(words, scale);
    const unsigned to = out_tile<PART>::place(row, run * RUN * OUT_BITS / 8);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to, codes.part[0]);
    else
      shared_store(to, codes_chunk(codes, 0));
  }
}

template <unsigned PART>
MXQ_FN void quantize_part(const mxq_any_args &args, const mxq_scale_args &scales,
                          const tile_extent &at) {
  if constexpr (PART == 2)
    quantize_runs<PART>(args, scales, at);
  else
    quantize_columns<PART>(args, scales, at);
}

MXQ_KERNEL(quantize_bf16_e4m3_b32_rceil_rowcolt_lin_any_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_any_args) args) {
#pragma unroll 1
  for (unsigned pass = 0; exists_in_pass(args, pass); pass++) {
    const tile_extent at = extent_of(args, number_in_pass(args, pass));
    load_tile(args, at);
    block_sync();  // orders all threads' copies and stores before the reads of others
    quantize_part<MAIN>(args, args.scale, at);
    lines_to lines = lines_of<MAIN>(args, args.out, at);
    // The two parts of a tile, after each other: one store serves both.
#pragma unroll 1
    for (unsigned turn = 0;; turn++) {
      block_sync();  // orders the stores of codes and scales before their loads
      store_lines<out_tile<MAIN>>(lines);
      if constexpr (SCALES_BY_TILES) {
        if (turn == 0)
          store_kept_scales<MAIN>(args, args.scale, at);
        else if constexpr (ALSO != 0)
          store_kept_scales<ALSO>(args, args.also_scale, at);
      }
      block_sync();  // orders loads of rows, codes and scales before the next ones' stores
      if (ALSO == 0 || turn != 0) break;
      if constexpr (ALSO != 0) {
        quantize_part<ALSO>(args, args.also_scale, at);
        lines = lines_of<ALSO>(args, args.also, at);
      }
    }
  }
}
