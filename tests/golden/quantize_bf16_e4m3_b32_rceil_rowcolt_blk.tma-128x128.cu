// quantize_bf16_e4m3_b32_rceil_rowcolt_blk.tma-128x128 for sm_90a, from templates/tile.tma.cu.
// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_rowcolt_blk --arch 90a
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
constexpr unsigned ALSO = 2;
constexpr bool ALONG_N = MAIN & 1, ALONG_K = MAIN & 2, COLUMN_MAJOR = MAIN & 4;
constexpr unsigned SCALE_BITS = 8;
constexpr bool POWER_OF_TWO = true;  // every scale is one
constexpr bool SCALES_LIN = false, SCALES_BLK = true;
constexpr bool SCALES_MN = false;
constexpr bool HAS_PAIRS = true;      // arithmetic of two bf16 at a time
constexpr bool HAS_FP8 = true;        // conversions to e4m3 and e5m2
constexpr bool HAS_NARROW = false;  // and to e2m3, e3m2, e2m1 and e8m0

#line 18 "templates/tile.tma.cu"
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr bool TILES_BY_K = !COLUMN_MAJOR || ALSO != 0;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 3;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, IN_BYTES = 32768;
constexpr unsigned OUT_TILE = 32768, ALSO_TILE = 49152;
constexpr unsigned MAXIMA = 65536;
constexpr unsigned SCALE_TILE = 65536, BARRIER = 66560;

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

#line 186 "templates/tile.tma.cu"
// Quantizes sixteen rows of a word's columns, which begin at `row`; `scale`: of the blocks they are in; `to`:
// their codes_place.
MXQ_FN void convert_half(unsigned row, unsigned to, unsigned word, const unsigned *rows,
                         const block_scale (*scale)[COLUMNS]) {
  codes16 codes[COLUMNS];
#pragma unroll
  for (unsigned quad = 0; quad < 4; quad++) {
    const unsigned *const four_rows = rows + quad * 4;
    const auto &of = scale[quad * 4 / PIECE_ROWS];
    if constexpr (COLUMN_MAJOR) {
      unsigned four[COLUMNS];
      narrow_down(four_rows, of, four);
      for (unsigned c = 0; c < COLUMNS; c++) place_four(codes[c], quad, four[c]);
    }
#line 203 "templates/tile.tma.cu"
  }
  if constexpr (COLUMN_MAJOR)
    for (unsigned c = 0; c < COLUMNS; c++)
      shared_store(to ^ (c * SLAB_ROW_BYTES >> 3 & (SLAB_ROW_BYTES - 16)), codes[c],
                   c * SLAB_ROW_BYTES);
}

// Quantizes 32 rows of the columns in word `word` of the input tile: the main part.
MXQ_FN void quantize_rows(const mxq_tma_args &args, tile_place at, unsigned word, unsigned group) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks. Not where
  // those threads share two blocks: each must find the same one first.
  constexpr bool FLIPS = COLUMN_MAJOR && OUT_BITS == 8 && COLUMNS == 2 && !(ALONG_K && PIECES > 1);
  const unsigned flip = FLIPS ? (word / 4 % 2) * 16 : 0;
  const unsigned first_row = group * HELD_ROWS;
  const unsigned to = codes_place(first_row + flip, word);
  unsigned rows[HELD_ROWS];
#line 223 "templates/tile.tma.cu"
  for (unsigned half = 0; half < HELD_ROWS; half += 16)
    for (unsigned r = 0; r < 16; r++)
      rows[half + r] = load_word(first_row + (half ^ flip), r, word);

#line 228 "templates/tile.tma.cu"
  block_scale scale[PIECES][COLUMNS];
#pragma unroll
  for (unsigned piece = 0; piece < PIECES; piece++) {
    unsigned largest = rows[piece * PIECE_ROWS];
    for (unsigned r = 1; r < PIECE_ROWS; r++)
      largest = word_max(largest, rows[piece * PIECE_ROWS + r]);
    largest = block_max(largest, word, group);
    scales_of_columns<ALONG_K>(largest, scale[piece]);
    if (group % GROUPS_N == 0 && word % BLOCK_WORDS == 0)
      put_scales(args, at, first_row + (PIECES > 1 ? piece * PIECE_ROWS ^ flip : 0), word,
                 scale[piece][0].code, scale[piece][COLUMNS - 1].code);
  }

  if constexpr (OUT_BITS == 4 && ALSO != 0) {
    // Much code follows from a row: one piece of it for both halves is half as much to compile, for a move
    // of each row of the second one.
#pragma unroll 1
    for (unsigned half = 0;; half += 16) {
      convert_half(first_row + (half ^ flip), to ^ half * OUT_BITS / 8, word, rows, scale);
      if (half != 0) break;
#pragma unroll
      for (unsigned r = 0; r < 16; r++) rows[r] = rows[16 + r];
#pragma unroll
      for (unsigned piece = 0; piece < PIECES / 2; piece++)
        for (unsigned c = 0; c < COLUMNS; c++) scale[piece][c] = scale[PIECES / 2 + piece][c];
    }
  } else {
#pragma unroll
    for (unsigned half = 0; half < HELD_ROWS; half += 16)
      convert_half(first_row + (half ^ flip), to ^ half * OUT_BITS / 8, word, rows + half,
                   scale + half / PIECE_ROWS);
  }
}

#line 1 "templates/tile_runs.cuh"
// The first part of two: blocks along K, from the same input tile, by runs of 64 bytes.
constexpr unsigned RUN_WORDS = 16;

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

#line 4 "templates/tile_runs.cuh"
constexpr unsigned TILE_RUNS = TILE_K / RUN;                         // in a row
constexpr unsigned WARP_ROWS = 32 / RUN_LANES;                       // a warp holds a block of that many rows
constexpr unsigned ROW_WARPS = TILE_RUNS / RUN_LANES;                // warps for all blocks of those rows
constexpr unsigned STEP_ROWS = PART_THREADS / 32 / ROW_WARPS * WARP_ROWS;  // rows of all warps together
static_assert(TILE_RUNS % RUN_LANES == 0 && PART_THREADS / 32 % ROW_WARPS == 0, "whole warps");
static_assert(TILE_N % STEP_ROWS == 0 && STEP_ROWS % 8 == 0, "whole steps, swizzled alike");

// Sixteen bytes of a row-major tile whose rows the tensor map swizzles.
MXQ_FN unsigned also_place(unsigned row, unsigned byte) {
  return swizzle<OUT_ROW_BYTES>(ALSO_TILE + row * OUT_ROW_BYTES + byte);
}

MXQ_FN void put_scales_of_run(const mxq_tma_args &args, tile_place at, unsigned row,
                              unsigned column, const run_scales &scale) {
  if (column % BLOCK != 0) return;
  for (unsigned piece = 0; piece < RUN_PIECES; piece++) {
    const unsigned n = at.n + row, k = at.k + column + piece * BLOCK;
    const unsigned code = scale.piece[piece][0].code;
    if constexpr (scales_of<ALSO>::BY_TILES)
      shared_store(ALSO_SCALE_TILE +
                       (row * (TILE_K / BLOCK) + column / BLOCK + piece) * SCALE_SIZE,
                   static_cast<scale_access<SCALE_SIZE>::type>(n < args.n && k < args.k ? code : 0));
    else
      store_scale<ALSO>(args.also_scale, at.e, n, k, args.n, args.k,
                        n < args.n && k < args.k ? code : 0);
  }
}

MXQ_FN void quantize_runs(const mxq_tma_args &args, tile_place at) {
  // Neighbouring lanes hold neighbouring rows, whose 16 bytes fall into different banks.
  const unsigned warp = thread_id() % PART_THREADS / 32, lane = thread_id() % 32;
  const unsigned first_row = warp / ROW_WARPS * WARP_ROWS + lane % WARP_ROWS;
  const unsigned run = warp % ROW_WARPS * RUN_LANES + lane / WARP_ROWS;
  // Places within a run differ in bits that the swizzle changes, those of steps above them.
  const unsigned from = word_place(first_row, run * RUN_WORDS);
  const unsigned to = also_place(first_row, run * RUN * OUT_BITS / 8);
#pragma unroll 1
  for (unsigned below = 0; below < TILE_N; below += STEP_ROWS) {
    const unsigned row = first_row + below;
    unsigned words[RUN_WORDS];
    for (unsigned w = 0; w < RUN_WORDS; w += 4) {
      const words4 four = shared_load<words4>((from + below * 128) ^ w * 4);
      for (unsigned j = 0; j < 4; j++) words[w + j] = four.word[j];
    }
    const run_scales scale = scales_of_run(words, WARP_ROWS);
    put_scales_of_run(args, at, row, run * RUN, scale);
    const run_codes codes = codes_of_run(words, scale);
    if constexpr (RUN * OUT_BITS < 128)
      shared_store(to + below * OUT_ROW_BYTES, codes.part[0]);
    else
      for (unsigned chunk = 0; chunk < RUN * OUT_BITS / 128; chunk++)
        shared_store((to + below * OUT_ROW_BYTES) ^ chunk * 16, codes_chunk(codes, chunk));
  }
}

#line 266 "templates/tile.tma.cu"
MXQ_KERNEL(quantize_bf16_e4m3_b32_rceil_rowcolt_blk_tma_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_tma_args) args) {
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
#line 284 "templates/tile.tma.cu"
  if (!SPLITS || thread_id() >= PART_THREADS) quantize_runs(args, at);
#line 286 "templates/tile.tma.cu"
  fence_async_shared();  // orders this thread's codes before the copy engine's reads of them
  block_sync();  // orders all threads' fences before the store, the stores of scales before their loads
  if (thread_id() == 0) store_tile(args, at);
#line 290 "templates/tile.tma.cu"
  if constexpr (SCALES_BY_TILES)
    store_scale_tile<MAIN>(args.scale, SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
  if constexpr (ALSO != 0 && scales_of<ALSO>::BY_TILES)
    store_scale_tile<ALSO>(args.also_scale, ALSO_SCALE_TILE, at.e, at.n, at.k, args.n, args.k);
#line 295 "templates/tile.tma.cu"
}
