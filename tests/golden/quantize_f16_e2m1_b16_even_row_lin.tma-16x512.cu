// quantize_f16_e2m1_b16_even_row_lin.tma-16x512 for sm_90a, from templates/row.tma.cu.
// Reproduce: mxq source quantize_f16_e2m1_b16_even_row_lin --arch 90a
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
constexpr unsigned IN_BITS = 16, IN_EXPONENT_BITS = 5;
constexpr unsigned OUT_BITS = 4, OUT_EXPONENT_BITS = 2;
constexpr unsigned OUT_MANTISSA_BITS = 1, OUT_NAN = 7;
constexpr int OUT_EMAX = 2;
constexpr float OUT_MAX = 6;
constexpr unsigned BLOCK = 16;
// Parts of the layout, as sums of 1: blocks along N, 2: along K, 4: column-major. The main part is
// the only one, or the second of two; ALSO is the first of two, row-major.
constexpr unsigned MAIN = 2;
constexpr unsigned ALSO = 0;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 8;
constexpr bool POWER_OF_TWO = true;  // every scale is one
constexpr bool SCALES_LIN = true, SCALES_BLK = false;
constexpr bool SCALES_MN = false;
constexpr bool HAS_PAIRS = true;      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 4 "templates/row.tma.cu"
constexpr unsigned TILE_N = 16, TILE_K = 512;
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = 128, BLOCKS_PER_SM = 7;
// Shared memory, in bytes.
constexpr unsigned SCALE_TILE = 0;

#line 1 "templates/scale.cuh"
// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN; float32: its bits
  float multiplier;  // what elements are multiplied by; NaN makes every code of the block NaN
};

#line 8 "templates/scale.cuh"
// Whether a block's maximum may come to more than the largest code's value and half a step.
constexpr bool SATURATES = true;
#line 32 "templates/scale.cuh"
// Contract, section 2, even: floor of a rounded to the output's mantissa, exponent at most 254.
MXQ_FN int scale_exponent(unsigned amax) {
  const unsigned rounded = amax + (1u << (22 - OUT_MANTISSA_BITS));
  const unsigned exponent = rounded >> 23;
  return static_cast<int>(exponent > 254 ? 254 : exponent) - OUT_EMAX;
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

#line 1 "templates/device_steps.cuh"
// Primitives that round to codes by arithmetic.
#ifdef __CUDACC__
// fma.rn.f32: a * b + c, rounded once.
MXQ_FN float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
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
// shf.r.wrap.b32: the low word of high:low moved right.
MXQ_FN unsigned funnel_right(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_r(low, high, by);
}
#endif

#line 6 "templates/four.cuh"
// e2m1 without a conversion. Codes count steps of 1/2 up to the value 2, of 1 up to 4, of 2 up to 6:
// the code of a magnitude y is min(2 y, y + 2, y / 2 + 4), three lines that cross at 2 and 4, rounded
// to nearest even; that the lines are moved by even numbers leaves ties alone. So with an anchor whose
// last place is worth 1/2, fused multiply-adds of y, 1/2 and 1/4 of it to the anchor and 1 and 2 more
// round once each, and the smallest sum has the code in its low three bits. A NaN's bits are all ones.
constexpr unsigned IN_MANTISSA_BITS = IN_BITS == 32 ? 23 : IN_BF16 ? 7 : 10;
constexpr unsigned IN_BIAS = (1u << (IN_EXPONENT_BITS - 1)) - 1;
constexpr unsigned ONE = IN_BIAS << IN_MANTISSA_BITS;
constexpr unsigned HALF = ONE - (1u << IN_MANTISSA_BITS), QUARTER = HALF - (1u << IN_MANTISSA_BITS);
constexpr unsigned ANCHOR = ONE + ((IN_MANTISSA_BITS - 1) << IN_MANTISSA_BITS);

#line 46 "templates/four.cuh"
MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }

#line 57 "templates/four.cuh"
// A multiplier 2^k, k from -14 to 26 unless all elements are zeros, as two f16 in a word: 2^k up to 2^15
// in the low half, and what is left in the high one. Products with both are exact, or far below half of
// the smallest code. A NaN stays one.
MXQ_FN unsigned half_multipliers(float multiplier) {
  const unsigned field = float_bits(multiplier) >> 23;  // 127 + k
  const unsigned whole = (field < 157 ? field : 157) - 112, low = whole < 30 ? whole : 30;
  return (whole - low + 15) << 26 | (field == 255 ? 0x7E00 : low << 10);
}
MXQ_FN unsigned product_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const unsigned first = half_multipliers(scale[0].multiplier);
  const unsigned second = half_multipliers(scale[1].multiplier);
  return multiply_pair_f16(multiply_pair_f16(word, permute_bytes(first, second, 0x5410)),
                           permute_bytes(first, second, 0x7632));
}
MXQ_FN unsigned sum_of(unsigned y, unsigned by, unsigned anchor) {
  return multiply_add_pair_f16(y, both(by), both(anchor));
}
MXQ_FN unsigned smaller_of(unsigned a, unsigned b) { return min_pair_f16(a, b); }
#line 76 "templates/four.cuh"
// A word's codes in its halves: in the low three bits of `code`; the top bit of `sign`.
struct pair_codes {
  unsigned code, sign;
};

MXQ_FN pair_codes codes_of(unsigned word, const block_scale (&scale)[COLUMNS]) {
  const unsigned x = product_of(word, scale), y = x & 0x7FFF7FFF;
  const unsigned steps = sum_of(y, ONE, ANCHOR), twos = sum_of(y, HALF, ANCHOR + 2);
  unsigned fours = sum_of(y, QUARTER, ANCHOR + 4);
  if (SATURATES) fours = smaller_of(fours, both(ANCHOR + 7));
  return {smaller_of(smaller_of(steps, twos), fours), x};
}

// Of two words: neighbours in a row, or in a column, whose codes then fill a byte each.
MXQ_FN unsigned narrow_across(const unsigned *words, const block_scale (&scale)[COLUMNS]) {
  const pair_codes first = codes_of(words[0], scale), second = codes_of(words[1], scale);
  // Bytes: the low halves' codes, the high halves'.
  const unsigned signs = permute_signs(first.sign, second.sign, 0x7351);
  const unsigned codes =
      (permute_bytes(first.code, second.code, 0x6240) & 0xF7F7F7F7) | (signs & 0x08080808);
  return (codes & 0x0F0F) | (codes >> 12 & ~0x0F0F);
}
// Of four words in a column: four codes for each of its two columns.
MXQ_FN void narrow_down(const unsigned *words, const block_scale (&scale)[COLUMNS],
                        unsigned (&four)[COLUMNS]) {
  pair_codes of[4];
  for (unsigned i = 0; i < 4; i++) of[i] = codes_of(words[i], scale);
  // Bytes: the first and third row, or second and fourth, of the low halves, then of the high ones.
  const unsigned low = permute_bytes(of[0].code, of[2].code, 0x6240);
  const unsigned high = permute_bytes(of[1].code, of[3].code, 0x6240);
  const unsigned low_signs = permute_signs(of[0].sign, of[2].sign, 0x7351);
  const unsigned high_signs = permute_signs(of[1].sign, of[3].sign, 0x7351);
  const unsigned codes = (low & 0x0F0F0F0F) | (high << 4 & 0xF0F0F0F0);
  const unsigned signs = (low_signs & 0x0F0F0F0F) | (high_signs & 0xF0F0F0F0);
  const unsigned eight = (codes & 0x77777777) | (signs & 0x88888888);
  four[0] = eight;
  four[1] = eight >> 16;
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

#line 1 "templates/device_guarded.cuh"
// Primitives: accesses that happen if the data exists. No branch, so nothing waits for one to end.
#ifdef __CUDACC__
// ld.global: 16 bytes; any values if they do not exist.
MXQ_FN words4 global_load_if(bool exists, const words4 *pointer) {
  words4 four;
  asm volatile(
      "{\n\t.reg .pred exists;\n\t"
      "setp.ne.u32 exists, %5, 0;\n\t"
      "@exists ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "=r"(four.word[0]), "=r"(four.word[1]), "=r"(four.word[2]), "=r"(four.word[3])
      : "l"(__cvta_generic_to_global(pointer)), "r"(static_cast<unsigned>(exists)) : "memory");
  return four;
}
// st.global: 16 bytes.
MXQ_FN void global_store_if(bool exists, words4 *pointer, const words4 &four) {
  asm volatile(
      "{\n\t.reg .pred exists;\n\t"
      "setp.ne.u32 exists, %5, 0;\n\t"
      "@exists st.global.v4.u32 [%4], {%0, %1, %2, %3};\n\t}"
      :: "r"(four.word[0]), "r"(four.word[1]), "r"(four.word[2]), "r"(four.word[3]),
         "l"(__cvta_generic_to_global(pointer)), "r"(static_cast<unsigned>(exists)) : "memory");
}
#endif

#line 16 "templates/row.tma.cu"
constexpr unsigned RUN_WORDS = 32 / COLUMNS;

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

#line 20 "templates/row.tma.cu"
// K is a multiple of a run: each is inside or outside as a whole.
constexpr unsigned ROW_THREADS = THREADS / TILE_N;
constexpr unsigned STEP = ROW_THREADS * RUN;       // columns from one run of a thread to its next
constexpr unsigned STEPS = TILE_K / STEP;
constexpr unsigned TILE_COLUMNS = TILE_K / BLOCK;  // of scales
static_assert(THREADS % TILE_N == 0 && TILE_K % STEP == 0, "whole steps");
static_assert(STEP % RUN == 0 && STEP % BLOCK == 0, "whole blocks");

// The first run of a thread. The others lie in the same row, at constant distances.
struct run_place {
  unsigned row, column;  // in the tile
  unsigned n, k;
  const unsigned char *from;
  unsigned char *to;
  unsigned long long scale_at;  // of linear scales
};

MXQ_FN run_place run_of(const mxq_vector_args &args, tile_place at) {
  run_place run;
  run.row = thread_id() / ROW_THREADS;
  run.column = thread_id() % ROW_THREADS * RUN;
  run.n = at.n + run.row;
  run.k = at.k + run.column;
  run.from = args.in + at.e * args.stride_e_bytes + run.n * args.stride_n_bytes +
             run.k * (IN_BITS / 8ull);
  const unsigned long long code =
      (static_cast<unsigned long long>(at.e) * args.n + run.n) * args.k + run.k;
  run.to = args.out + code / (8 / OUT_BITS);
  run.scale_at =
      at.e * args.scale.stride_e + scale_place<MAIN>(args.scale.pitch, run.n, run.k / BLOCK);
  return run;
}

// The run of a step.
MXQ_FN bool run_exists(const mxq_vector_args &args, const run_place &run, unsigned step) {
  return run.n < args.n && run.k + step * STEP < args.k;
}

struct run_words {
  unsigned word[RUN_WORDS];
};

MXQ_FN run_words load_run(const mxq_vector_args &args, const run_place &run, unsigned step) {
  run_words words;
  const bool exists = run_exists(args, run, step);
  const unsigned char *const from = run.from + step * (STEP * IN_BITS / 8);
  for (unsigned w = 0; w < RUN_WORDS; w += 4) {
    const words4 four = global_load_if(exists, reinterpret_cast<const words4 *>(from + w * 4));
    for (unsigned i = 0; i < 4; i++) words.word[w + i] = four.word[i];
  }
  return words;
}

MXQ_FN void store_scales_of_run(const mxq_vector_args &args, unsigned e, const run_place &run,
                                unsigned step, const run_scales &scale) {
  if (run.column % BLOCK != 0) return;
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    const unsigned column = run.column / BLOCK + step * (STEP / BLOCK) + piece;
    const unsigned k = run.k + step * STEP + piece * BLOCK;
    const bool inside = run.n < args.n && k < args.k;
    const unsigned code = scale.piece[piece][0].code;
    if constexpr (SCALES_BY_TILES)
      shared_store(SCALE_TILE + run.row * TILE_COLUMNS + column,
                   static_cast<unsigned char>(inside ? code : 0));
    else if constexpr (!SCALES_LIN)
      store_scale<MAIN>(args.scale, e, run.n, k, args.n, args.k, code);
    else if (inside)
      store_scale_at(args.scale, run.scale_at + (step * (STEP / BLOCK) + piece), code);
  }
}

MXQ_FN void quantize_run(const mxq_vector_args &args, unsigned e, const run_place &run,
                         unsigned step, const run_words &words) {
  const bool exists = run_exists(args, run, step);
  const run_scales scale = scales_of_run(words.word, 1, exists);
  store_scales_of_run(args, e, run, step, scale);
  const run_codes codes = codes_of_run(words.word, scale);
  unsigned char *const to = run.to + step * (STEP * OUT_BITS / 8);
  if constexpr (RUN * OUT_BITS < 128) {
    if (exists) global_store(reinterpret_cast<codes16 *>(to), codes.part[0]);
  } else {
    for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
      global_store_if(exists, reinterpret_cast<words4 *>(to) + chunk, codes_chunk(codes, chunk));
  }
}

MXQ_KERNEL(quantize_f16_e2m1_b16_even_row_lin_tma_16x512, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_vector_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const run_place run = run_of(args, at);
  run_words words[STEPS];
#pragma unroll
  for (unsigned step = 0; step < STEPS; step++) words[step] = load_run(args, run, step);
#pragma unroll
  for (unsigned step = 0; step < STEPS; step++) quantize_run(args, at.e, run, step, words[step]);
  if constexpr (SCALES_BY_TILES) {
    block_sync();  // orders the stores of all scales before their loads
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  }
}
