// dequantize_e5m2_f16_b64_f32_sqt_lin.any-128x128 for sm_90a, from templates/dequant_any.cu.
// Reproduce: mxq source dequantize_e5m2_f16_b64_f32_sqt_lin --arch 90a --kernel dequantize_e5m2_f16_b64_f32_sqt_lin.any-128x128
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

#line 134 "templates/args.h"
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

#line 1 "templates/dequant_variant.cuh"
// The variant.
constexpr unsigned IN_BITS = 8, IN_EXPONENT_BITS = 5;
constexpr unsigned IN_MANTISSA_BITS = 2;
constexpr unsigned OUT_BITS = 16, OUT_EXPONENT_BITS = 5;
constexpr unsigned BLOCK = 64;
constexpr bool ALONG_N = true;
constexpr bool ALONG_K = true;
constexpr bool COLUMN_MAJOR = true;
constexpr unsigned SCALE_BITS = 32;
constexpr bool SCALES_BLK = false, SCALES_MN = false;
constexpr bool HAS_FP8 = true;        // conversions of e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and of e2m3, e3m2 and e2m1

#line 4 "templates/dequant_any.cu"
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 4;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, OUT_TILE = 19456;
constexpr unsigned SCALES = 52224;

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

#line 1 "templates/device_widen.cuh"
// Conversions of codes, and to the wide types.
#ifdef __CUDACC__
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
#endif

#line 3 "templates/decode.cuh"
// Codes as float32, exactly, by way of halves. The eight bits of an e5m2 code are the high byte of a
// half; all other types are the bits of such a half or of an e4m3 code with a smaller exponent, and
// one product with a power of two makes up for that.
constexpr unsigned CODES = 32 / IN_BITS;  // in a word
constexpr bool IN_SIX = IN_EXPONENT_BITS + IN_MANTISSA_BITS == 5;
constexpr bool CONVERTS = IN_BITS == 8 && !IN_SIX ? HAS_FP8 : HAS_NARROW;

MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }
// Two halves of 2^exponent.
MXQ_FN constexpr unsigned power_pair(unsigned exponent) { return both((15 + exponent) << 10); }

// Two halves times 2^EXPONENT.
template <unsigned EXPONENT>
MXQ_FN unsigned raise_pair(unsigned halves) {
  if constexpr (EXPONENT == 0) return halves;
  return multiply_pair_f16(halves, power_pair(EXPONENT));
}

// The halves of two e4m3 codes, those of bytes 2*pair and 2*pair + 1, without a conversion.
MXQ_FN unsigned widen_e4m3(unsigned word, unsigned pair) {
  const unsigned selector = pair ? 0x3424 : 0x1404;
  const unsigned codes = permute_bytes(word, 0, selector);
  const unsigned halves = raise_pair<8>((codes & 0x80008000) | (codes >> 1 & 0x3F803F80));
  // The one magnitude 0x7F is NaN.
  const unsigned nan = permute_bytes((word & 0x7F7F7F7F) + 0x01010101, 0, selector) & 0x80008000;
  return halves | (nan >> 15) * 0x7E00;
}

// Four codes of a byte each, first to last.
MXQ_FN void decode_bytes(unsigned word, float (&x)[4]) {
  // Six bits become the eight of e4m3 or e5m2: the same magnitude, its exponent less by a constant.
  constexpr bool WIDENS = IN_SIX && !CONVERTS;
  constexpr unsigned RAISE = !WIDENS ? 0 : IN_MANTISSA_BITS == 3 ? 6 : 12;
  if (WIDENS)
    word = (word & 0x1F1F1F1F) | (word << 2 & 0x80808080);
  else if (IN_SIX)
    word &= 0x3F3F3F3F;
  for (unsigned pair = 0; pair < 2; pair++) {
    unsigned halves;
    if constexpr (IN_MANTISSA_BITS == 2 && (WIDENS || !IN_SIX))
      halves = permute_bytes(word, 0, pair ? 0x3424 : 0x1404);
    else if constexpr (CONVERTS)
      halves = widen_pair<IN_EXPONENT_BITS, IN_MANTISSA_BITS>(word >> 16 * pair);
    else if constexpr (HAS_FP8)
      halves = widen_pair<4, 3>(word >> 16 * pair);
    else
      halves = widen_e4m3(word, pair);
    halves = raise_pair<RAISE>(halves);
    x[2 * pair] = widen_f16(halves & 0xFFFF);
    x[2 * pair + 1] = widen_f16(halves >> 16);
  }
}

// COUNT codes of four bits each: 8, or 4 in the low half of the word.
template <unsigned COUNT>
MXQ_FN void decode_nibbles(unsigned word, float (&x)[COUNT]) {
  // Without a conversion, codes i and i + COUNT/2 go together: they lie 16 bits apart.
  constexpr unsigned STEP = CONVERTS ? 1 : COUNT / 2;
  if (COUNT == 4 && !CONVERTS) word = permute_bytes(word, 0, 0x4140);
  for (unsigned i = 0; i < COUNT / 2; i++) {
    unsigned halves;
    if constexpr (CONVERTS) {
      halves = widen_pair<IN_EXPONENT_BITS, IN_MANTISSA_BITS>(word >> 8 * i);
    } else {
      const unsigned high = word << (12 - 4 * i);  // the code in each half's upper four bits
      halves = raise_pair<14>((high & 0x80008000) | (high >> 3 & 0x0E000E00));
    }
    const unsigned first = CONVERTS ? 2 * i : i;
    x[first] = widen_f16(halves & 0xFFFF);
    x[first + STEP] = widen_f16(halves >> 16);
  }
}

// COUNT codes that lie in `words` in order.
template <unsigned COUNT>
MXQ_FN void decode(const unsigned *words, float (&x)[COUNT]) {
  if constexpr (IN_BITS == 4) {
    decode_nibbles<COUNT>(words[0], x);
  } else {
    for (unsigned w = 0; w < COUNT / 4; w++) {
      float four[4];
      decode_bytes(words[w], four);
      for (unsigned i = 0; i < 4; i++) x[w * 4 + i] = four[i];
    }
  }
}

// Sixteen bytes of the output.
constexpr unsigned CHUNK = 128 / OUT_BITS;

MXQ_FN words4 round_chunk(const float (&x)[CHUNK]) {
  words4 chunk;
  for (unsigned w = 0; w < 4; w++) {
    if constexpr (OUT_BITS == 32)
      chunk.word[w] = float_bits(x[w]);
    else if constexpr (OUT_EXPONENT_BITS == 8)
      chunk.word[w] = round_pair_bf16(x[2 * w], x[2 * w + 1]);
    else
      chunk.word[w] = round_pair_f16(x[2 * w], x[2 * w + 1]);
  }
  return chunk;
}

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

#line 1 "templates/scale_read.cuh"
// Reads scales where they lie: contract, section 4. Rows of scales run along N for row and sq, along
// K for col, colt and sqt.
constexpr bool SQUARE = ALONG_N && ALONG_K;
constexpr bool SCALE_ROWS_K = COLUMN_MAJOR || !ALONG_K;
constexpr unsigned BLOCK_N = ALONG_N ? BLOCK : 1, BLOCK_K = ALONG_K ? BLOCK : 1;
constexpr bool PACKED_WORDS = SCALES_MN && SCALE_BITS == 8;  // four columns in a word
// Whether the scales of neighbouring rows are neighbours, as bytes or as words.
constexpr bool ROWS_IN_LINE = SCALES_MN || (!SCALES_BLK && SCALE_ROWS_K);

// The scale of the block that holds row n and column k of matrix e: of several copies the one of the
// block's first row. `scale_pitch`: blk: tiles in a row of tiles; packed mn: words in a column;
// otherwise scales between neighbours along the outer axis.
template <class ARGS, class INDEX>
MXQ_FN const unsigned char *scale_place(const ARGS &args, INDEX e, INDEX n, INDEX k) {
  const INDEX row = SCALE_ROWS_K ? k / BLOCK_K * BLOCK_K : n / BLOCK_N * BLOCK_N;
  const INDEX column = SCALE_ROWS_K ? n / BLOCK_N : k / BLOCK_K;
  unsigned long long at = e * args.scale_stride_e;
  if constexpr (SCALES_BLK)
    at += (row / 128 * args.scale_pitch + column / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
          column % 4;
  else if constexpr (PACKED_WORDS)
    at += (column / 4 * args.scale_pitch + row) * 4 + column % 4;
  else if constexpr (SCALES_MN && SQUARE)
    at += row / BLOCK * args.scale_pitch + column;
  else if constexpr (SCALES_MN)
    at += column * args.scale_pitch + row;
  else
    at += n / BLOCK_N * args.scale_pitch + k / BLOCK_K;
  return args.scale + at * (SCALE_BITS / 8);
}

// The value of a scale's bits. e8m0: 0 is 2^-127, 255 is NaN.
MXQ_FN float scale_value(unsigned code) {
  if constexpr (SCALE_BITS == 32) return bits_float(code);
  const unsigned normal = code << 23;
  const unsigned special = code == 0 ? 0x00400000u : 0x7FC00000u;
  return bits_float(code - 1 < 254 ? normal : special);
}

MXQ_FN float load_scale(const unsigned char *from) {
  if constexpr (SCALE_BITS == 32)
    return scale_value(global_load(reinterpret_cast<const unsigned *>(from)));
  else
    return scale_value(global_load(from));
}

// The scales of COUNT rows from one on that is a multiple of COUNT, in the widest accesses where they
// are neighbours.
template <unsigned COUNT, class ARGS>
MXQ_FN void load_scales(const ARGS &args, const unsigned char *from, float *scale) {
  static_assert(COUNT == 4 || COUNT == 8, "whole accesses, and none past a tile");
  if constexpr (ROWS_IN_LINE && (SCALE_BITS == 32 || PACKED_WORDS)) {
    const unsigned place = static_cast<unsigned>(reinterpret_cast<unsigned long long>(from)) % 4;
    const words4 *const words = reinterpret_cast<const words4 *>(from - place);
    for (unsigned q = 0; q < COUNT / 4; q++) {
      const words4 four = global_load(words + q);
      for (unsigned i = 0; i < 4; i++)
        scale[q * 4 + i] =
            scale_value(PACKED_WORDS ? four.word[i] >> place * 8 & 0xFF : four.word[i]);
    }
  } else if constexpr (ROWS_IN_LINE) {
    unsigned words[COUNT / 4];
    if constexpr (COUNT == 8) {
      const words2 two = global_load(reinterpret_cast<const words2 *>(from));
      words[0] = two.word[0];
      words[1] = two.word[1];
    } else {
      words[0] = global_load(reinterpret_cast<const unsigned *>(from));
    }
    for (unsigned i = 0; i < COUNT; i++) scale[i] = scale_value(words[i / 4] >> i % 4 * 8 & 0xFF);
  } else {
    const unsigned long long step = SCALES_BLK ? 16 : args.scale_pitch * (SCALE_BITS / 8);
    for (unsigned i = 0; i < COUNT; i++) scale[i] = load_scale(from + i * step);
  }
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

#line 18 "templates/dequant_any.cu"
// The tile of codes, in the lines that codes have in memory, a gap apart that has room for a shift. Those
// of columns are read CHUNK columns apart: 16 bytes more behind each CHUNK of them keep those in different
// banks.
struct in_tile {
  using element = unsigned char;
  static constexpr unsigned LINES = COLUMN_MAJOR ? TILE_K : TILE_N;
  static constexpr unsigned LINE_BYTES = (COLUMN_MAJOR ? TILE_N : TILE_K) * IN_BITS / 8;
  static constexpr unsigned LINE_PITCH = LINE_BYTES + 16;

  MXQ_FN unsigned place(unsigned line, unsigned byte) {
    return IN_TILE + line * LINE_PITCH + (COLUMN_MAJOR ? line / CHUNK * 16 : 0) + byte;
  }
};

// The tile of elements is [n][k].
struct out_tile {
  using element = unsigned short;
  static constexpr unsigned LINES = TILE_N, LINE_BYTES = TILE_K * OUT_BITS / 8, PITCH = LINE_BYTES;

  MXQ_FN unsigned place(unsigned line, unsigned byte) { return OUT_TILE + line * PITCH + byte; }
};

// The values of the tile's scales are [row of blocks][column of blocks], of blocks that have a part in
// the tile. Where each column has its own, the first four of all chunks lie ahead of all chunks' next
// four: neighbouring threads read neighbouring 16 bytes.
constexpr unsigned TILE_BLOCKS_N = TILE_N < BLOCK_N ? 1 : TILE_N / BLOCK_N;
constexpr unsigned TILE_BLOCKS_K = TILE_K < BLOCK_K ? 1 : TILE_K / BLOCK_K;
constexpr unsigned TILE_BLOCKS = TILE_BLOCKS_N * TILE_BLOCKS_K;
constexpr unsigned HELD_SCALES = (TILE_BLOCKS + THREADS - 1) / THREADS;
static_assert(TILE_N % BLOCK_N == 0 || BLOCK_N % TILE_N == 0, "whole blocks, or a part of one");
static_assert(TILE_K % BLOCK_K == 0 || BLOCK_K % TILE_K == 0, "whole blocks, or a part of one");

MXQ_FN void load_scales_of(const mxq_dequant_any_args &args, const tile_extent &at,
                           float (&scale)[HELD_SCALES]) {
#pragma unroll
  for (unsigned i = 0; i < HELD_SCALES; i++) {
    const unsigned block = thread_id() + i * THREADS;
    const unsigned row = block / TILE_BLOCKS_K * BLOCK_N, column = block % TILE_BLOCKS_K * BLOCK_K;
    scale[i] = row < at.rows && column < at.columns
                   ? load_scale(scale_place(args, at.e, at.n + row, at.k + column))
                   : 0;
  }
}

MXQ_FN unsigned scale_at(unsigned row, unsigned column) {
  const unsigned at = column / BLOCK_K, ahead = CHUNK / 4;
  return SCALES + (row / BLOCK_N * TILE_BLOCKS_K +
                   (ALONG_K ? at : at / 4 % ahead * (TILE_K / ahead) + at / CHUNK * 4 + at % 4)) * 4;
}

MXQ_FN void keep_scales(const float (&scale)[HELD_SCALES]) {
#pragma unroll
  for (unsigned i = 0; i < HELD_SCALES; i++) {
    const unsigned block = thread_id() + i * THREADS;
    if (block < TILE_BLOCKS)
      shared_store(scale_at(block / TILE_BLOCKS_K * BLOCK_N, block % TILE_BLOCKS_K * BLOCK_K),
                   float_bits(scale[i]));
  }
}

// Scales of the CHUNK columns from one on, in a row: all the same where blocks lie along K.
constexpr unsigned SCALES_K = ALONG_K ? 1 : CHUNK;
struct chunk_scales {
  float value[SCALES_K];
};

MXQ_FN chunk_scales scales_of(unsigned row, unsigned column) {
  chunk_scales scales;
  const unsigned at = scale_at(row, column);
  if constexpr (ALONG_K)
    scales.value[0] = bits_float(shared_load<unsigned>(at));
  else
    for (unsigned i = 0; i < CHUNK; i += 4) {
      const words4 four = shared_load<words4>(at, i * TILE_K / CHUNK * 4);
      for (unsigned j = 0; j < 4; j++) scales.value[i + j] = bits_float(four.word[j]);
    }
  return scales;
}

// COUNT codes of a line: a word or two, or half of one.
template <unsigned COUNT>
struct code_words {
  static constexpr unsigned BYTES = COUNT * IN_BITS / 8;
  static_assert(BYTES == 2 || BYTES == 4 || BYTES == 8, "one access");
  unsigned word[(BYTES + 3) / 4];
};

// `next`: of so many lines on, fewer than a CHUNK; `line` is a multiple of it where codes are columns.
template <unsigned COUNT>
MXQ_FN code_words<COUNT> load_codes(unsigned line, unsigned next, unsigned code) {
  using codes = code_words<COUNT>;
  const unsigned from = in_tile::place(line, code * IN_BITS / 8), apart = next * in_tile::LINE_PITCH;
  if constexpr (codes::BYTES == 8) {
    const words2 two = shared_load<words2>(from, apart);
    return {{two.word[0], two.word[1]}};
  } else if constexpr (codes::BYTES == 4) {
    return {{shared_load<unsigned>(from, apart)}};
  } else {
    return {{shared_load<unsigned short>(from, apart)}};
  }
}

// The same where lines are shifted.
template <unsigned COUNT>
MXQ_FN code_words<COUNT> load_shifted(unsigned line, unsigned next, unsigned code, lines_shift shift) {
  constexpr unsigned BYTES = code_words<COUNT>::BYTES, WORDS = (BYTES + 3) / 4;
  const unsigned at = code * IN_BITS / 8, half = BYTES == 2 ? at % 4 : 0;  // of a word
  const unsigned byte = ahead_of(shift, line + next) + half, apart = next * in_tile::LINE_PITCH;
  const unsigned from = in_tile::place(line, at - half);
  unsigned held[WORDS + 1];
  for (unsigned w = 0; w < WORDS; w++) held[w] = shared_load<unsigned>(from + byte / 4 * 4, apart + w * 4);
  // Behind the last half of a word of a line there may be no word.
  const unsigned last = BYTES == 2 ? (byte + 1) / 4 * 4 : byte / 4 * 4;
  held[WORDS] = shared_load<unsigned>(from + last, apart + (BYTES == 2 ? 0 : WORDS * 4));
  code_words<COUNT> words;
  for (unsigned w = 0; w < WORDS; w++) words.word[w] = funnel_right(held[w], held[w + 1], byte * 8);
  return words;
}

constexpr unsigned CHUNKS = TILE_K / CHUNK;  // of a row

// A chunk of a row at a time.
MXQ_FN void decode_rows(lines_shift shift) {
  constexpr unsigned STEPS = TILE_N * CHUNKS / THREADS, STEP_ROWS = THREADS / CHUNKS;
  static_assert(THREADS % CHUNKS == 0 && TILE_N % STEP_ROWS == 0, "whole steps");
  const unsigned first = thread_id() / CHUNKS, column = thread_id() % CHUNKS * CHUNK;
  constexpr unsigned PAIR = STEPS % 2 == 0 ? 2 : 1;
  constexpr bool SHARES = BLOCK_N % (PAIR * STEP_ROWS) == 0;  // scales
#pragma unroll 1
  for (unsigned step = 0; step < STEPS; step += PAIR) {
    chunk_scales scales;
#pragma unroll
    for (unsigned i = 0; i < PAIR; i++) {
      const unsigned row = first + (step + i) * STEP_ROWS;
      if (i == 0 || !SHARES) scales = scales_of(row, column);
      float x[CHUNK];
      const code_words<CHUNK> codes = is_shifted(shift) ? load_shifted<CHUNK>(row, 0, column, shift)
                                                        : load_codes<CHUNK>(row, 0, column);
      decode<CHUNK>(codes.word, x);
      for (unsigned c = 0; c < CHUNK; c++) x[c] = multiply(x[c], scales.value[ALONG_K ? 0 : c]);
      shared_store(out_tile::place(row, column * OUT_BITS / 8), round_chunk(x));
    }
  }
}

// A word of codes, CODES rows, of each column of a chunk at a time. Eight neighbouring threads take
// eight chunks; four times eight the words of 16 bytes of a column.
MXQ_FN void decode_columns(lines_shift shift) {
  constexpr unsigned STEPS = CHUNKS * (TILE_N / CODES) / THREADS;
  constexpr unsigned CHUNK_WARPS = CHUNKS / 8, STEP_ROWS = THREADS / CHUNKS * CODES;
  static_assert(!COLUMN_MAJOR || (CHUNKS % 8 == 0 && THREADS / 32 % CHUNK_WARPS == 0), "whole warps");
  static_assert(!COLUMN_MAJOR || (STEPS > 0 && TILE_N % STEP_ROWS == 0), "whole steps");
  const unsigned warp = thread_id() / 32;
  const unsigned column = (warp % CHUNK_WARPS * 8 + thread_id() % 8) * CHUNK;
  const unsigned first = (warp / CHUNK_WARPS * 4 + thread_id() % 32 / 8) * CODES;
#pragma unroll 1
  for (unsigned step = 0; step < STEPS; step++) {
    const unsigned row = first + step * STEP_ROWS;
    const chunk_scales scales = scales_of(row, column);
    // Unrolled by word, or the compiler keeps the codes in local memory where there are many.
    code_words<CODES> codes[CHUNK];
    if (is_shifted(shift)) {
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++) codes[c] = load_shifted<CODES>(column, c, row, shift);
    } else {
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++) codes[c] = load_codes<CODES>(column, c, row);
    }
    float x[CHUNK][CODES];
#pragma unroll
    for (unsigned c = 0; c < CHUNK; c++) decode<CODES>(codes[c].word, x[c]);
#pragma unroll
    for (unsigned r = 0; r < CODES; r++) {
      float products[CHUNK];
#pragma unroll
      for (unsigned c = 0; c < CHUNK; c++)
        products[c] = multiply(x[c][r], scales.value[ALONG_K ? 0 : c]);
      shared_store(out_tile::place(row + r, column * OUT_BITS / 8), round_chunk(products));
    }
  }
}

// The codes of a tile that exist; others are zeros and never stored.
MXQ_FN lines_shift load_tile(const mxq_dequant_any_args &args, const tile_extent &at) {
  constexpr unsigned PACKED = 8 / IN_BITS;
  const length pitch = (COLUMN_MAJOR ? args.n : args.k) / PACKED;
  const length line = COLUMN_MAJOR ? at.e * args.k + at.k : at.e * args.n + at.n;
  const length begin = COLUMN_MAJOR ? at.n : at.k;
  return load_lines<in_tile>(
      {args.in + line * pitch + begin / PACKED, pitch, COLUMN_MAJOR ? at.columns : at.rows,
       (COLUMN_MAJOR ? at.rows : at.columns) / PACKED, begin ? 16u : 0u,
       (COLUMN_MAJOR ? at.rows_behind : at.columns_behind) / PACKED});
}

MXQ_FN void store_tile(const mxq_dequant_any_args &args, const tile_extent &at) {
  store_lines<out_tile>({args.out + at.e * args.stride_e_bytes + at.n * args.stride_n_bytes +
                             at.k * (OUT_BITS / 8),
                         args.stride_n_bytes, at.rows, at.columns * (OUT_BITS / 8)});
}

MXQ_KERNEL(dequantize_e5m2_f16_b64_f32_sqt_lin_any_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_any_args) args) {
  tile_number number = number_of(args, block_id());
  for (length tile = block_id();;) {
    const tile_extent at = extent_of(args, number);
    float scale[HELD_SCALES];
    load_scales_of(args, at, scale);
    const lines_shift shift = load_tile(args, at);
    keep_scales(scale);
    copies_wait();  // orders this thread's copies before the barrier
    block_sync();   // orders all threads' scales and codes before the reads of others
    if constexpr (COLUMN_MAJOR)
      decode_columns(shift);
    else
      decode_rows(shift);
    block_sync();  // orders the stores of elements before the reads of other threads
    store_tile(args, at);
    tile += grid_size();
    if (tile >= args.tiles) return;
    number = number_behind(args, number, number_of(args, grid_size()));
  }
}
