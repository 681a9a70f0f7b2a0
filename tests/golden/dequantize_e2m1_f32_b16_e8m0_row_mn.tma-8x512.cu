// dequantize_e2m1_f32_b16_e8m0_row_mn.tma-8x512 for sm_90a, from templates/dequant_row.cu.
// Reproduce: mxq source dequantize_e2m1_f32_b16_e8m0_row_mn --arch 90a
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

#line 118 "templates/args.h"
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
constexpr unsigned IN_BITS = 4, IN_EXPONENT_BITS = 2;
constexpr unsigned IN_MANTISSA_BITS = 1;
constexpr unsigned OUT_BITS = 32, OUT_EXPONENT_BITS = 8;
constexpr unsigned BLOCK = 16;
constexpr bool ALONG_N = false;
constexpr bool ALONG_K = true;
constexpr bool COLUMN_MAJOR = false;
constexpr unsigned SCALE_BITS = 8;
constexpr bool SCALES_BLK = false, SCALES_MN = true;
constexpr bool HAS_FP8 = true;        // conversions of e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and of e2m3, e3m2 and e2m1

#line 4 "templates/dequant_row.cu"
constexpr unsigned TILE_N = 8, TILE_K = 512;
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = 128, BLOCKS_PER_SM = 8;
// A thread holds HELD neighbouring elements, 16 bytes of the output, of each of ROWS rows. K is a
// multiple of them: they are inside or outside as a whole.
constexpr unsigned HELD = 4, ROWS = 8;

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

#line 14 "templates/dequant_row.cu"
constexpr unsigned ROW_THREADS = TILE_K / HELD;
constexpr unsigned HELD_BYTES = HELD * IN_BITS / 8;
// Scales of a thread's elements: one for each row unless blocks lie along N, for each column unless
// along K.
constexpr unsigned SCALES_K = ALONG_K ? 1 : HELD;
static_assert(HELD == CHUNK, "16 bytes of the output");
static_assert(THREADS * ROWS == TILE_N * ROW_THREADS, "a thread for each piece of its rows");
static_assert(BLOCK % ROWS == 0 && BLOCK % HELD == 0, "a thread's elements in one block");
static_assert(!COLUMN_MAJOR && ALONG_N + ALONG_K > 0, "rows");

template <unsigned COUNT>
struct row_scales {
  float value[ALONG_N ? 1 : COUNT][SCALES_K];
};

// Those of COUNT rows from n on, all of them inside: one row, or ROWS.
template <unsigned COUNT>
MXQ_FN row_scales<COUNT> scales_of(const mxq_dequant_row_args &args, unsigned e, unsigned n,
                                   unsigned k) {
  row_scales<COUNT> scales;
  const unsigned char *const from = scale_place(args, e, n, k);
  if constexpr (ALONG_N && !ALONG_K) {
    load_scales<HELD>(args, from, scales.value[0]);
  } else if constexpr (ALONG_N || COUNT == 1) {
    scales.value[0][0] = load_scale(from);
  } else {
    float of_row[COUNT];
    load_scales<COUNT>(args, from, of_row);
    for (unsigned r = 0; r < COUNT; r++) scales.value[r][0] = of_row[r];
  }
  return scales;
}

// Codes of one row, in one access.
struct held_codes {
  unsigned word[HELD_BYTES < 4 ? 1 : HELD_BYTES / 4];
};

MXQ_FN held_codes load_codes(const unsigned char *from) {
  held_codes codes;
  if constexpr (HELD_BYTES == 8) {
    const words2 two = global_load(reinterpret_cast<const words2 *>(from));
    for (unsigned w = 0; w < 2; w++) codes.word[w] = two.word[w];
  } else if constexpr (HELD_BYTES == 4) {
    codes.word[0] = global_load(reinterpret_cast<const unsigned *>(from));
  } else {
    static_assert(HELD_BYTES == 8 || HELD_BYTES == 4 || HELD_BYTES == 2, "one access");
    codes.word[0] = global_load(reinterpret_cast<const unsigned short *>(from));
  }
  return codes;
}

// Decodes HELD elements of each of COUNT rows, from row n and column k of matrix e on.
template <unsigned COUNT>
MXQ_FN void decode_rows(const mxq_dequant_row_args &args, unsigned e, unsigned n, unsigned k) {
  const unsigned long long row_bytes = static_cast<unsigned long long>(args.k) * IN_BITS / 8;
  const unsigned char *const from =
      args.in + (static_cast<unsigned long long>(e) * args.n + n) * row_bytes + k / (8 / IN_BITS);
  unsigned char *const to = args.out + e * args.stride_e_bytes + n * args.stride_n_bytes +
                            k * (OUT_BITS / 8ull);
  held_codes codes[COUNT];
  for (unsigned r = 0; r < COUNT; r++) codes[r] = load_codes(from + r * row_bytes);
  const row_scales<COUNT> scales = scales_of<COUNT>(args, e, n, k);
  for (unsigned r = 0; r < COUNT; r++) {
    float x[HELD];
    decode<HELD>(codes[r].word, x);
    for (unsigned i = 0; i < HELD; i++)
      x[i] = multiply(x[i], scales.value[ALONG_N ? 0 : r][ALONG_K ? 0 : i]);
    global_store(reinterpret_cast<words4 *>(to + r * args.stride_n_bytes), round_chunk(x));
  }
}

MXQ_KERNEL(dequantize_e2m1_f32_b16_e8m0_row_mn_tma_8x512, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_row_args) args) {
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  const unsigned n = at.n + thread_id() / ROW_THREADS * ROWS;
  const unsigned k = at.k + thread_id() % ROW_THREADS * HELD;
  if (n >= args.n || k >= args.k) return;
  if (args.n - n >= ROWS)
    decode_rows<ROWS>(args, at.e, n, k);
  else
#pragma unroll 1
    for (unsigned row = n; row < args.n; row++) decode_rows<1>(args, at.e, row, k);
}
