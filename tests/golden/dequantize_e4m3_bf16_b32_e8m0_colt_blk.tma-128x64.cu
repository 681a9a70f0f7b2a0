// dequantize_e4m3_bf16_b32_e8m0_colt_blk.tma-128x64 for sm_90a, from templates/dequant_tile.cu.
// Reproduce: mxq source dequantize_e4m3_bf16_b32_e8m0_colt_blk --arch 90a --kernel dequantize_e4m3_bf16_b32_e8m0_colt_blk.tma-128x64
// SPDX-License-Identifier: MIT

#line 10 "templates/args.h"
/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

#line 18 "templates/args.h"
/* A CUtensorMap: encoded by the driver, read by the tensor copy engine. */
struct mxq_tensor_map {
  MXQ_ALIGNED(128) unsigned char bytes[128];
};

#line 25 "templates/args.h"
/* Division by a constant below 2^31 of a number below 2^31: (mulhi(x, multiplier) + x) >> shift. */
struct mxq_divisor {
  unsigned multiplier;
  unsigned shift;
  unsigned value;
  unsigned reserved;
};

#line 100 "templates/args.h"
/* Kernels of dequantize read codes and scales and write the wide tensor, whose strides these are.
 * Scales: as in struct mxq_scale_args. Tiles are numbered along K, N, E. */
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

#line 1 "templates/device_copy.cuh"
// Primitives of the tensor copy engine.
#ifdef __CUDACC__
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
// prefetch.tensormap: brings a map to the copy engine before its first use.
MXQ_FN void map_prefetch(const mxq_tensor_map &map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
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
#endif

#line 1 "templates/dequant_variant.cuh"
// The variant.
constexpr unsigned IN_BITS = 8, IN_EXPONENT_BITS = 4;
constexpr unsigned IN_MANTISSA_BITS = 3;
constexpr unsigned OUT_BITS = 16, OUT_EXPONENT_BITS = 8;
constexpr unsigned BLOCK = 32;
constexpr bool ALONG_N = true;
constexpr bool ALONG_K = false;
constexpr bool COLUMN_MAJOR = true;
constexpr unsigned SCALE_BITS = 8;
constexpr bool SCALES_BLK = true, SCALES_MN = false;
constexpr bool HAS_FP8 = true;        // conversions of e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and of e2m3, e3m2 and e2m1

#line 5 "templates/dequant_tile.cu"
constexpr unsigned TILE_N = 128, TILE_K = 64;
constexpr bool TILES_BY_K = true;
constexpr unsigned THREADS = 128, BLOCKS_PER_SM = 8;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, IN_BYTES = 8192;
constexpr unsigned OUT_TILE = 8192;
constexpr unsigned BARRIER = 24576;

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

#line 16 "templates/dequant_tile.cu"
// The input tile is [k][n], in rows of 128 bytes that the tensor map swizzles; the output tile is
// [k / SLAB_K][n][k % SLAB_K], in rows of 128 bytes that its map swizzles.
constexpr unsigned ROW_BYTES = 128;
constexpr unsigned SLAB_K = ROW_BYTES * 8 / OUT_BITS;
constexpr unsigned SLABS = TILE_K / SLAB_K;
constexpr unsigned SLAB_BYTES = ROW_BYTES * TILE_N;
// A thread takes one word of codes along N from each of CHUNK columns k, 16 bytes of the output, and
// so on for STEPS words. Eight threads of a warp hold the eight chunks of a slab, four the words of
// 16 bytes of a row of codes.
constexpr unsigned WORDS16 = 4, PARTS = ROW_BYTES / 16;
constexpr unsigned STEPS = SLABS * PARTS * 32 / THREADS;
constexpr unsigned PART_CODES = 16 * 8 / IN_BITS;
// Scales: of square blocks one for all of a chunk. Those of all steps are the same where the codes of
// all steps lie in one block.
constexpr unsigned SCALES_K = ALONG_K ? 1 : CHUNK;
constexpr bool ONE_BLOCK = STEPS * PART_CODES <= BLOCK;
constexpr unsigned SCALES_N = ONE_BLOCK ? 1 : STEPS;
static_assert(alignof(mxq_dequant_tile_args) == 128, "tensor maps in parameter space");
static_assert(TILE_N * IN_BITS / 8 == ROW_BYTES && TILE_K % SLAB_K == 0, "whole slabs");
static_assert(THREADS * STEPS == SLABS * PARTS * 32 && PARTS % STEPS == 0, "whole parts");
static_assert(BLOCK % CODES == 0 && BLOCK % CHUNK == 0, "a thread's words in one block each");
static_assert(COLUMN_MAJOR && ALONG_N, "columns");

// Where a thread works: on a chunk of columns, and word `word` of 16 bytes of each one's codes.
struct thread_place {
  unsigned slab, chunk, word, first_step;
};

MXQ_FN thread_place thread_place_of(unsigned thread) {
  constexpr unsigned SLAB_WARPS = PARTS / STEPS;
  const unsigned warp = thread / 32;
  return {warp / SLAB_WARPS, thread % PARTS, thread % 32 / PARTS, warp % SLAB_WARPS * STEPS};
}

// The first row of a step. The eight chunks take the 16-byte parts of a row in an order of their own,
// so that neither the reads of a warp nor its writes, below, meet in a bank.
MXQ_FN unsigned row_of(const thread_place &my, unsigned step) {
  return ((my.first_step + step) ^ my.chunk) * PART_CODES + my.word * CODES;
}

// Starts the copy of an input tile. Codes past N or K arrive as zeros and are never stored.
MXQ_FN void load_tile(const mxq_dequant_tile_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  map_load(IN_TILE, args.in, at.n / (8 / IN_BITS), at.k, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until they have read it: until then the block's shared
// memory may not go to another one.
MXQ_FN void store_tile(const mxq_dequant_tile_args &args, tile_place at) {
  for (unsigned slab = 0; slab < SLABS; slab++)
    if (at.k + slab * SLAB_K < args.k)
      map_store(args.out, at.k + slab * SLAB_K, at.n, at.e, OUT_TILE + slab * SLAB_BYTES);
  bulk_commit();
  bulk_wait_read();
}

struct thread_scales {
  float value[SCALES_N][SCALES_K];
};

MXQ_FN thread_scales scales_of(const mxq_dequant_tile_args &args, tile_place at,
                               const thread_place &my) {
  thread_scales scales = {};
  const unsigned k = at.k + my.slab * SLAB_K + my.chunk * CHUNK;
  // All steps together cover a run of rows: its first one exists if any does.
  constexpr unsigned RUN = ONE_BLOCK ? STEPS * PART_CODES : CODES;
  for (unsigned s = 0; s < SCALES_N; s++) {
    const unsigned n = at.n + row_of(my, s) / RUN * RUN;
    if (n >= args.n || k >= args.k) continue;
    const unsigned char *const from = scale_place(args, at.e, n, k);
    if constexpr (ALONG_K)
      scales.value[s][0] = load_scale(from);
    else
      load_scales<CHUNK>(args, from, scales.value[s]);
  }
  return scales;
}

// Turns the words of one step: codes of CHUNK columns in each of CODES rows.
MXQ_FN void decode_step(const thread_place &my, unsigned step, const float (&scale)[SCALES_K]) {
  // A swizzle pattern is eight rows high, and CHUNK or CODES rows from a multiple of that many on lie
  // in one: their places differ by constants.
  const unsigned row = row_of(my, step), k = my.slab * SLAB_K + my.chunk * CHUNK;
  const unsigned from = swizzle<ROW_BYTES>(IN_TILE + k * ROW_BYTES + row * IN_BITS / 8);
  const unsigned to = swizzle<ROW_BYTES>(OUT_TILE + my.slab * SLAB_BYTES + row * ROW_BYTES +
                                         my.chunk * 16);
  float x[CHUNK][CODES];
  for (unsigned c = 0; c < CHUNK; c++) {
    const unsigned word = shared_load<unsigned>(from ^ c * 16, c * ROW_BYTES);
    decode<CODES>(&word, x[c]);
  }
  for (unsigned r = 0; r < CODES; r++) {
    float products[CHUNK];
    for (unsigned c = 0; c < CHUNK; c++) products[c] = multiply(x[c][r], scale[ALONG_K ? 0 : c]);
    shared_store(to ^ r * 16, round_chunk(products), r * ROW_BYTES);
  }
}

// A block takes one tile.
MXQ_KERNEL(dequantize_e4m3_bf16_b32_e8m0_colt_blk_tma_128x64, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_dequant_tile_args) args) {
  const thread_place my = thread_place_of(thread_id());
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, at);
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  const thread_scales scales = scales_of(args, at, my);
  barrier_wait(BARRIER, 0);  // orders the copy of the input tile before its reads
  for (unsigned step = 0; step < STEPS; step++)
    decode_step(my, step, scales.value[SCALES_N == 1 ? 0 : step]);
  fence_async_shared();  // orders this thread's elements before the copy engine's reads of them
  block_sync();  // orders all threads' fences before the store
  if (thread_id() == 0) store_tile(args, at);
}
