// quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128 for sm_90a, from templates/tile.tma.cu.
// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 90a
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

#line 35 "templates/args.h"
/* Where a part's scales go (contract, section 4; templates/scales.cuh). */
struct mxq_scale_args {
  unsigned char *to;
  unsigned long long stride_e; /* scales between matrices */
  unsigned long long pitch; /* blk: tiles in a row of tiles; packed mn: words in a column; otherwise
                               scales between neighbours along the outer axis */
};

#line 45 "templates/args.h"
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

#line 18 "templates/tile.tma.cu"
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr bool TILES_BY_K = !COLUMN_MAJOR || ALSO != 0;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 4;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, IN_BYTES = 32768;
constexpr unsigned OUT_TILE = 32768, ALSO_TILE = 49152;
constexpr unsigned MAXIMA = 49152;
constexpr unsigned SCALE_TILE = 49152, BARRIER = 49152;

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

#line 2 "templates/device_sixteen.cuh"
// Primitives of sixteen words, an array `words`, in one piece of assembly each: the compiler need not go
// through their instructions one by one. Macros, because functions with that many references take it longer.
#ifdef __CUDACC__
// Operands of an asm.
#define MXQ_FOUR(constraint, words, at) \
  constraint((words)[at]), constraint((words)[at + 1]), constraint((words)[at + 2]), constraint((words)[at + 3])
#define MXQ_SIXTEEN(constraint, words) \
  MXQ_FOUR(constraint, words, 0), MXQ_FOUR(constraint, words, 4), \
  MXQ_FOUR(constraint, words, 8), MXQ_FOUR(constraint, words, 12)
// ld.shared.u32: words that lie `pitch` bytes apart, a constant.
#define MXQ_LOAD(i) "ld.shared.u32 %" #i ", [%16+" #i "*%17];\n\t"
#define MXQ_LOAD_SIXTEEN(words, offset, pitch) \
  asm volatile(MXQ_LOAD(0) MXQ_LOAD(1) MXQ_LOAD(2) MXQ_LOAD(3) MXQ_LOAD(4) MXQ_LOAD(5) MXQ_LOAD(6) MXQ_LOAD(7) \
               MXQ_LOAD(8) MXQ_LOAD(9) MXQ_LOAD(10) MXQ_LOAD(11) MXQ_LOAD(12) MXQ_LOAD(13) MXQ_LOAD(14) MXQ_LOAD(15) \
               : MXQ_SIXTEEN("=&r", words) : "r"(shared_address(offset)), "n"(pitch) : "memory")
// max.NaN.xorsign.abs.bf16x2: the largest magnitude of each half, NaN if any is NaN; any sign. From sm_86 on.
#define MXQ_MAX(a, i) "max.NaN.xorsign.abs.bf16x2 %0, %" #a ", %" #i ";\n\t"
#define MXQ_MAX_SIXTEEN(largest, words) \
  asm(MXQ_MAX(1, 2) MXQ_MAX(0, 3) MXQ_MAX(0, 4) MXQ_MAX(0, 5) MXQ_MAX(0, 6) MXQ_MAX(0, 7) MXQ_MAX(0, 8) MXQ_MAX(0, 9) \
      MXQ_MAX(0, 10) MXQ_MAX(0, 11) MXQ_MAX(0, 12) MXQ_MAX(0, 13) MXQ_MAX(0, 14) MXQ_MAX(0, 15) MXQ_MAX(0, 16) \
      : "=&r"(largest) : MXQ_SIXTEEN("r", words))
// The words times `multiplier`, as codes of eight bits: those of the low halves, four in a word, and those of
// the high ones.
#define MXQ_NARROW_SIXTEEN(low, high, words, multiplier) \
  asm("{\n\t" MXQ_CODES_REGISTERS \
      MXQ_CODES(e4m3, 24, 0, 4, 8, 9, 10, 11) \
      MXQ_CODES(e4m3, 24, 1, 5, 12, 13, 14, 15) \
      MXQ_CODES(e4m3, 24, 2, 6, 16, 17, 18, 19) \
      MXQ_CODES(e4m3, 24, 3, 7, 20, 21, 22, 23) "}" \
      : MXQ_FOUR("=&r", low, 0), MXQ_FOUR("=&r", high, 0) : MXQ_SIXTEEN("r", words), "r"(multiplier))
#endif

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

#line 1 "templates/device_odd.cuh"
// Primitives of two numbers of 16 bits in a word.
#ifdef __CUDACC__
// min.u16x2: the smaller of each half. From sm_90 on one instruction.
MXQ_FN unsigned min_pair_u16(unsigned a, unsigned b) {
  unsigned smaller;
  asm("min.u16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}
// max.u16x2: the larger of each half.
MXQ_FN unsigned max_pair_u16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
#endif

#line 2 "templates/scale_pair.cuh"
// The scales of two neighbouring columns of bf16 from the word of their largest magnitudes, whose signs do
// not count: both halves at a time.
struct pair_scale {
  unsigned codes;        // e8m0: 2^(code-127), 255 is NaN; a byte each, the rest is zero
  unsigned multipliers;  // bf16 in halves: what elements are multiplied by; NaN makes every code NaN
};

MXQ_FN constexpr unsigned both(unsigned half) { return half << 16 | half; }

// What comes to the next exponent where the mode rounds up, in places of a bf16's mantissa.
#line 19 "templates/scale_pair.cuh"
// Contract, section 2, rceil: that of a * (1/max), rounded up, is E - emax, or one more for a mantissa above that
// of the largest code. No bf16 lies so close to it that the product's rounding decides.
constexpr unsigned ROUND_UP = 255 - static_cast<unsigned>(OUT_MAX / (1 << OUT_EMAX) * 128);
#line 26 "templates/scale_pair.cuh"
static_assert(OUT_EMAX >= 2, "exponents fit into a byte, and halves do not borrow from each other");

MXQ_FN pair_scale scales_of_pair(unsigned largest) {
  const unsigned magnitudes = largest & both(0x7FFF);
#line 33 "templates/scale_pair.cuh"
  const unsigned rounded = magnitudes + both(ROUND_UP);
#line 35 "templates/scale_pair.cuh"
  const unsigned above = max_pair_u16(rounded, both(OUT_EMAX << 7)) - both(OUT_EMAX << 7);
  // All ones where a magnitude is infinite or NaN.
  const unsigned nan = permute_signs(magnitudes + both(0x0080), 0, 0x3311);
  const unsigned multipliers = both(254 << 7) - (above & both(0xFF80));
  return {permute_bytes(above >> 7 | nan, 0, 0x4420), (multipliers & ~nan) | (nan & both(0x7FC0))};
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

#line 41 "templates/tile.tma.cu"
// The input tile is [n][k]. A thread holds one 32-bit word of HELD_ROWS rows. Where rows are read
// too, by runs of 16 bytes, it is [k / SLAB_WORDS][n][k % SLAB_WORDS] in rows of 128 swizzled bytes, or becomes so
// where it is packed.
constexpr unsigned ROW_BYTES = TILE_K * 16 / 8;
constexpr unsigned WORDS = TILE_K / COLUMNS;
constexpr unsigned HELD_ROWS = 32;
// Where tiles are small, so few that they leave threads idle, each part has threads of its own.
constexpr unsigned PART_THREADS = WORDS * (TILE_N / HELD_ROWS);
constexpr bool SPLITS = THREADS == 2 * PART_THREADS;
constexpr bool READS_ROWS = ALSO == 2;  // the first part has blocks along K
constexpr bool PACKS = false;  // the input tile becomes one of smaller elements
constexpr unsigned SLAB_WORDS = 32;
constexpr unsigned IN_SLAB_BYTES = TILE_N * 128;
// A column-major output tile is [n / SLAB_ROWS][k][n % SLAB_ROWS], in rows of at most 128 bytes
// that the tensor map swizzles; a row-major one is [n][k].
constexpr unsigned OUT_ROW_BYTES = TILE_K * OUT_BITS / 8;
constexpr unsigned SLAB_ROWS = TILE_N * OUT_BITS < 1024 ? TILE_N : 1024 / OUT_BITS;
constexpr unsigned SLAB_ROW_BYTES = SLAB_ROWS * OUT_BITS / 8;
constexpr unsigned SLAB_BYTES = SLAB_ROW_BYTES * TILE_K;
// How a block is shared out: PIECES blocks along N in one thread's rows; or one block over GROUPS_N
// row groups; if it lies along K, over LANES threads of a warp and GROUPS_K warps of a row group.
constexpr unsigned PIECES = BLOCK < HELD_ROWS ? HELD_ROWS / BLOCK : 1;
constexpr unsigned PIECE_ROWS = HELD_ROWS / PIECES;
constexpr unsigned GROUPS_N = BLOCK < HELD_ROWS ? 1 : BLOCK / HELD_ROWS;
constexpr unsigned BLOCK_WORDS = ALONG_K ? BLOCK / COLUMNS : 1;
constexpr unsigned LANES = BLOCK_WORDS < 32 ? BLOCK_WORDS : 32;
constexpr unsigned GROUPS_K = BLOCK_WORDS / LANES;
// Scales of a tile that leave together, one a block.
constexpr unsigned BLOCKS_N = TILE_N / BLOCK;
constexpr unsigned SCALE_BYTES = BLOCKS_N * (ALONG_K ? TILE_K / BLOCK : TILE_K);
constexpr unsigned ALSO_SCALE_TILE = SCALE_TILE + (SCALES_BY_TILES ? SCALE_BYTES : 0);
static_assert(alignof(mxq_tma_args) == 128, "tensor maps in parameter space");
static_assert(SPLITS || THREADS == PART_THREADS, "a thread for each word of 32 rows");
static_assert(!SPLITS || (READS_ROWS && !PACKS && GROUPS_N * GROUPS_K == 1), "parts that wait for none");
static_assert(WORDS % 32 == 0, "a warp stays in one row group");
static_assert(TILE_N % BLOCK == 0 && TILE_K % (BLOCK_WORDS * COLUMNS) == 0, "whole blocks");
static_assert(TILE_N % SLAB_ROWS == 0, "whole slabs");

// Starts the copy of an input tile. Rows past N and columns past K arrive as zeros, which leave a
// maximum as it is and are never stored.
MXQ_FN void load_tile(const mxq_tma_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  if constexpr (READS_ROWS && !PACKS)
    for (unsigned slab = 0; slab < WORDS / SLAB_WORDS; slab++)
      map_load(IN_TILE + slab * IN_SLAB_BYTES, args.in, at.k + slab * SLAB_WORDS * COLUMNS, at.n,
               at.e, BARRIER);
  else
    map_load(IN_TILE, args.in, at.k, at.n, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until its shared memory may be given up.
MXQ_FN void store_tile(const mxq_tma_args &args, tile_place at) {
  // Maps of packed codes count bytes.
  constexpr unsigned PACKED = 8 / OUT_BITS;
  if constexpr (COLUMN_MAJOR) {
    for (unsigned slab = 0; slab < TILE_N / SLAB_ROWS; slab++)
      if (at.n + slab * SLAB_ROWS < args.n)
        map_store(args.out, (at.n + slab * SLAB_ROWS) / PACKED, at.k, at.e,
                  OUT_TILE + slab * SLAB_BYTES);
  } else {
    map_store(args.out, at.k / PACKED, at.n, at.e, OUT_TILE);
  }
  if constexpr (ALSO != 0) map_store(args.also, at.k / PACKED, at.n, at.e, ALSO_TILE);
  bulk_commit();
  bulk_wait_read();
}

MXQ_FN unsigned word_place(unsigned row, unsigned word) {
  if constexpr (READS_ROWS)
    return swizzle<128>(IN_TILE + word / SLAB_WORDS * IN_SLAB_BYTES + row * 128 +
                        word % SLAB_WORDS * 4);
  return IN_TILE + row * ROW_BYTES + word * 4;
}

// The word `r` rows below one that is a multiple of eight: swizzles repeat after eight rows.
MXQ_FN unsigned load_word(unsigned row, unsigned r, unsigned word) {
  constexpr unsigned ALIKE = READS_ROWS ? 8 : 1, PITCH = READS_ROWS ? 128 : ROW_BYTES;
  return shared_load<unsigned>(word_place(row + r % ALIKE, word), r / ALIKE * ALIKE * PITCH);
}

#line 122 "templates/tile.tma.cu"
// The maximum of the block over the threads that share it.
MXQ_FN unsigned block_max(unsigned largest, unsigned word, unsigned group) {
  if constexpr (ALONG_K) {
    for (unsigned mask = 1; mask < LANES; mask *= 2)
      largest = word_max(largest, shuffle_xor(largest, mask));
    largest = across_columns(largest);
  }
  if constexpr (GROUPS_N * GROUPS_K > 1) {
    constexpr unsigned PARTS = ALONG_K ? WORDS / 32 : WORDS;  // of a row group
    const unsigned part = ALONG_K ? word / 32 : word;
    if (!ALONG_K || word % 32 == 0) shared_store(MAXIMA + (group * PARTS + part) * 4, largest);
    block_sync();  // orders the stores of all maxima before their loads
    const unsigned first = group / GROUPS_N * GROUPS_N * PARTS + part / GROUPS_K * GROUPS_K;
    for (unsigned g = 0; g < GROUPS_N; g++)
      for (unsigned p = 0; p < GROUPS_K; p++)
        largest =
            word_max(largest, shared_load<unsigned>(MAXIMA + (first + g * PARTS + p) * 4));
  }
  return largest;
}

// Keeps or stores the scales of the block, or of the COLUMNS neighbouring blocks, that begin at
// (row, word) of the tile: the code of the first column and of the last one.
MXQ_FN void put_scales(const mxq_tma_args &args, tile_place at, unsigned row, unsigned word,
                       unsigned first, unsigned last) {
  constexpr unsigned BLOCKS = ALONG_K ? 1 : COLUMNS;
  const unsigned n = at.n + row, k = at.k + word * COLUMNS;
  const bool inside = n < args.n && k < args.k;
  if constexpr (SCALES_BY_TILES) {
    // [rows of blocks][columns], the rows of scales along K but for sq.
    for (unsigned c = 0; c < BLOCKS; c++) {
      const unsigned column = word * COLUMNS + c;
      const unsigned line = ALONG_K ? column / BLOCK : column;
      const unsigned char code = static_cast<unsigned char>(inside ? c ? last : first : 0);
      const unsigned turned = line * BLOCKS_N + row / BLOCK;
      const unsigned straight = row / BLOCK * (TILE_K / BLOCK) + line;
      shared_store(SCALE_TILE + (scales_of<MAIN>::ROWS_N ? straight : turned),
                   code);
      if constexpr (ALSO == 3)
        shared_store(ALSO_SCALE_TILE + straight, code);
    }
  } else if constexpr (BLOCKS == 2) {
    if (inside) store_scale_pair<MAIN>(args.scale, at.e, n, k, first, last);
  } else {
    store_scale<MAIN>(args.scale, at.e, n, k, args.n, args.k, inside ? first : 0);
    if constexpr (ALSO == 3)
      store_scale<ALSO>(args.also_scale, at.e, n, k, args.n, args.k, inside ? first : 0);
  }
}

#line 173 "templates/tile.tma.cu"
// Where the codes of sixteen rows of a word's first column go in a column-major tile. Those of its second one
// are a row of the tile on, and those of the sixteen rows beside these in the other half of as many bytes:
// swizzled, both differ in bits that nothing carries into.
MXQ_FN unsigned codes_place(unsigned row, unsigned word) {
  if constexpr (COLUMN_MAJOR)
    return swizzle<SLAB_ROW_BYTES>(OUT_TILE + row / SLAB_ROWS * SLAB_BYTES +
                                   word * COLUMNS * SLAB_ROW_BYTES + row % SLAB_ROWS * OUT_BITS / 8);
  return 0;
}

#line 1 "templates/tile_sixteen.cuh"
// Words of two bf16, whose columns become codes of eight bits by sixteen rows at a time: little code for the
// optimizer to go through.
static_assert(HELD_ROWS == 32 && COLUMNS == 2 && COLUMN_MAJOR && !ALONG_K, "two halves of a column");

// Quantizes 32 rows of the columns in word `word` of the input tile.
MXQ_FN void quantize_rows(const mxq_tma_args &args, tile_place at, unsigned word, unsigned group) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks.
  const unsigned row = group * HELD_ROWS + word / 4 % 2 * 16;
  unsigned rows[16], beside[16], largest, others;
  MXQ_LOAD_SIXTEEN(rows, word_place(row, word), ROW_BYTES);
  MXQ_LOAD_SIXTEEN(beside, word_place(row ^ 16, word), ROW_BYTES);
  MXQ_MAX_SIXTEEN(largest, rows);
  MXQ_MAX_SIXTEEN(others, beside);
#line 20 "templates/tile_sixteen.cuh"
  const pair_scale scale = scales_of_pair(block_max(word_max(largest, others), word, group));
  if (group % GROUPS_N == 0)
    put_scales(args, at, group * HELD_ROWS, word, scale.codes & 0xFF, scale.codes >> 8);

#line 25 "templates/tile_sixteen.cuh"
  codes16 codes[COLUMNS], codes_beside[COLUMNS];
  MXQ_NARROW_SIXTEEN(codes[0].word, codes[1].word, rows, scale.multipliers);
  MXQ_NARROW_SIXTEEN(codes_beside[0].word, codes_beside[1].word, beside,
                     scale.multipliers);
  const unsigned to = codes_place(row, word);
  constexpr unsigned NEXT = SLAB_ROW_BYTES >> 3 & (SLAB_ROW_BYTES - 16);  // swizzled, from column to column
  shared_store(to, codes[0]);
  shared_store(to ^ NEXT, codes[1], SLAB_ROW_BYTES);
  shared_store(to ^ 16, codes_beside[0]);
  shared_store(to ^ 16 ^ NEXT, codes_beside[1], SLAB_ROW_BYTES);
}

#line 266 "templates/tile.tma.cu"
MXQ_KERNEL(quantize_bf16_e4m3_b32_rceil_colt_lin_tma_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_tma_args) args) {
  const unsigned word = thread_id() % WORDS;
  const unsigned group = thread_id() / WORDS;
  const tile_place at = place_of<TILES_BY_K>(args, block_id());
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, at);
    map_prefetch(args.out);
    if constexpr (ALSO != 0) map_prefetch(args.also);
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  barrier_wait(BARRIER, 0);  // orders the copy of the input tile before its reads
  if (!SPLITS || thread_id() < PART_THREADS) quantize_rows(args, at, word, group);
#line 286 "templates/tile.tma.cu"
  fence_async_shared();  // orders this thread's codes before the copy engine's reads of them
  block_sync();  // orders all threads' fences before the store, the stores of scales before their loads
  if (thread_id() == 0) store_tile(args, at);
#line 295 "templates/tile.tma.cu"
}
