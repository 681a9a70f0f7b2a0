// quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128 for sm_90a, from templates/colt.tma.cu.
// Reproduce: mxq source quantize_bf16_e4m3_b32_rceil_colt_lin --arch 90a
// SPDX-License-Identifier: MIT

#line 9 "templates/args.h"
/* NOTE: NVRTC ignores __attribute__((aligned)), silently. */
#ifdef __cplusplus
#define MXQ_ALIGNED(bytes) alignas(bytes)
#else
#define MXQ_ALIGNED(bytes) _Alignas(bytes)
#endif

/* A CUtensorMap: encoded by the driver, read by the tensor copy engine. */
struct mxq_tensor_map {
  MXQ_ALIGNED(128) unsigned char bytes[128];
};

/* Division by a constant below 2^31 of a number below 2^31: (mulhi(x, multiplier) + x) >> shift. */
struct mxq_divisor {
  unsigned multiplier;
  unsigned shift;
  unsigned value;
  unsigned reserved;
};

/* Kernels of the family `tma`: one tile of the input in through `in`, one tile out through
 * `out`. Tiles are numbered with N fastest, then K, then E. */
struct mxq_tma_args {
  struct mxq_tensor_map in;  /* {K, N, E} */
  struct mxq_tensor_map out; /* column-major parts: {N, K, E} */
  unsigned char *scale;
  unsigned long long scale_stride_e; /* scales between matrices */
  unsigned n;
  unsigned k;
  unsigned tiles; /* of all matrices, below 2^31 */
  unsigned reserved;
  struct mxq_divisor tiles_n; /* tiles along N */
  struct mxq_divisor tiles_k; /* tiles along K */
};

#line 1 "templates/device.cuh"
// Device primitives: everything below this piece is plain C++ on top of these functions.
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

template <class T>
MXQ_FN T shared_load(unsigned offset) {
  return *reinterpret_cast<const T *>(shared_memory + offset);
}
template <class T>
MXQ_FN void shared_store(unsigned offset, T value) {
  *reinterpret_cast<T *>(shared_memory + offset) = value;
}
template <class T>
MXQ_FN void global_store(T *pointer, T value) {
  *pointer = value;
}
MXQ_FN unsigned shared_address(unsigned offset) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)) + offset;
}

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

MXQ_FN unsigned float_bits(float x) { return __float_as_uint(x); }
MXQ_FN float bits_float(unsigned bits) { return __uint_as_float(bits); }
MXQ_FN unsigned multiply_high(unsigned a, unsigned b) { return __umulhi(a, b); }

// cvt.f32.f16: exact.
MXQ_FN float widen_f16(unsigned bits) {
  float x;
  asm("{\n\t.reg .b16 h;\n\tcvt.u16.u32 h, %1;\n\tcvt.f32.f16 %0, h;\n\t}" : "=f"(x) : "r"(bits));
  return x;
}
// mul.rn.bf16x2: both halves, each rounded by itself.
MXQ_FN unsigned multiply_pair_bf16(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// max.NaN: the larger magnitude, NaN if either is NaN.
MXQ_FN float max_magnitude(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(fabsf(a)), "f"(fabsf(b)));
  return larger;
}
// max.NaN.xorsign.abs: the larger magnitude of each half, NaN if either is NaN; any sign.
MXQ_FN unsigned max_magnitude_pair_bf16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
MXQ_FN unsigned max_magnitude_pair_f16(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
// cvt.rn.satfinite: two codes, the first in the low byte. NaN gives 0x7F, -0 stays -0.
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned narrow_pair(float first, float second) {
  unsigned short codes;
  if constexpr (EXPONENT_BITS == 4 && MANTISSA_BITS == 3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
  return codes;
}

#endif

#line 3 "templates/colt.tma.cu"
// The variant and its schedule.
constexpr unsigned IN_BITS = 16, IN_EXPONENT_BITS = 8;
constexpr unsigned OUT_EXPONENT_BITS = 4;
constexpr unsigned OUT_MANTISSA_BITS = 3;
constexpr int OUT_EMAX = 8;
constexpr float OUT_MAX = 448;
constexpr unsigned BLOCK = 32;
constexpr unsigned TILE_N = 128, TILE_K = 128;
constexpr unsigned THREADS = 256, BLOCKS_PER_SM = 4;
// Shared memory, in bytes.
constexpr unsigned IN_TILE = 0, IN_BYTES = 32768;
constexpr unsigned OUT_TILE = 32768;
constexpr unsigned BARRIER = 49152;

#line 1 "templates/scale.cuh"
// The scale of a block from the bits of its maximum magnitude as float32 (NaN if any is NaN).
struct block_scale {
  unsigned code;     // e8m0: 2^(code-127), 255 is NaN
  float multiplier;  // 2^(127-code), exact; NaN for code 255, which makes every code of the block NaN
};

#line 11 "templates/scale.cuh"
// Contract, section 2, rceil: d = a * (1/max); Ed + (Ed ? md != 0 : md > 0x400000).
MXQ_FN int scale_exponent(unsigned amax) {
  const unsigned d = float_bits(bits_float(amax) * (1.0f / OUT_MAX));
  const unsigned exponent = d >> 23, mantissa = d & 0x7FFFFF;
  return static_cast<int>(exponent + (exponent ? mantissa != 0 : mantissa > 0x400000));
}

#line 19 "templates/scale.cuh"
// The largest finite maximum has E = 254, so no mode comes past 254 - OUT_EMAX + 1: the upper clamp
// of the contract and the subnormal multiplier of code 254 are never needed.
static_assert(OUT_EMAX >= 2, "codes stay below 254");

MXQ_FN block_scale scale_of(unsigned amax) {
  if (amax >= 0x7F800000) return {255, bits_float(0x7FC00000)};
  const int exponent = scale_exponent(amax);
  // NOTE: `code == 254 ? 0x00400000 : ...` after clamping to [0, 254] is miscompiled by the
  // assembler of CUDA 13.0 (V13.0.88): the comparison becomes the inverted predicate of VIMNMX.
  const unsigned code = exponent < 0 ? 0 : exponent;
  return {code, bits_float((254 - code) << 23)};
}

#line 1 "templates/convert.cuh"
// Neighbouring columns of the input in one 32-bit word: one of float32, two of 16 bits.
constexpr unsigned COLUMNS = 32 / IN_BITS;

// The larger magnitude of each column; NaN if either is. The sign is whatever it is.
MXQ_FN unsigned word_max(unsigned a, unsigned b) {
  if constexpr (IN_BITS == 32)
    return float_bits(max_magnitude(bits_float(a), bits_float(b)));
  else if constexpr (IN_EXPONENT_BITS == 8)
    return max_magnitude_pair_bf16(a, b);
  else
    return max_magnitude_pair_f16(a, b);
}

// One column of a word as float32, exactly.
MXQ_FN float column_of(unsigned word, unsigned column) {
  if constexpr (IN_BITS == 32)
    return bits_float(word);
  else if constexpr (IN_EXPONENT_BITS == 8)
    return bits_float(column ? word & 0xFFFF0000 : word << 16);
  else
    return widen_f16(column ? word >> 16 : word & 0xFFFF);
}

// The bits of a column's magnitude as float32.
MXQ_FN unsigned column_magnitude(unsigned word, unsigned column) {
  return float_bits(column_of(word, column)) & 0x7FFFFFFF;
}

struct row_products {
  float column[COLUMNS];
};

// Every column of a word times its block's multiplier, as float32.
MXQ_FN row_products multiply_row(unsigned word, const block_scale (&scale)[COLUMNS]) {
  row_products product;
  if constexpr (IN_BITS == 16 && IN_EXPONENT_BITS == 8) {
    // A power of two times a bf16 is a bf16, exactly, unless it is subnormal, and that is far below
    // half of the smallest code of any output type: the codes are those of the float32 product.
    const unsigned multipliers = (float_bits(scale[1].multiplier) & 0xFFFF0000) |
                                 (float_bits(scale[0].multiplier) >> 16);
    const unsigned pair = multiply_pair_bf16(word, multipliers);
    for (unsigned c = 0; c < COLUMNS; c++) product.column[c] = column_of(pair, c);
  } else {
    for (unsigned c = 0; c < COLUMNS; c++)
      product.column[c] = column_of(word, c) * scale[c].multiplier;
  }
  return product;
}

// Four codes of one column in a word, the first in the low byte.
MXQ_FN unsigned narrow_four(float a, float b, float c, float d) {
  return narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(a, b) |
         narrow_pair<OUT_EXPONENT_BITS, OUT_MANTISSA_BITS>(c, d) << 16;
}

#line 1 "templates/tile.cuh"
// Sixteen bytes, moved in one access.
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

MXQ_FN tile_place place_of(const mxq_tma_args &args, unsigned tile) {
  const unsigned strip = divide(tile, args.tiles_n);
  const unsigned e = divide(strip, args.tiles_k);
  return {(tile - strip * args.tiles_n.value) * TILE_N, (strip - e * args.tiles_k.value) * TILE_K, e};
}

// The 128-byte swizzle of a tensor map: bits 4 to 6 of a shared address are xored with bits 7 to 9.
MXQ_FN unsigned swizzle_128(unsigned offset) { return offset ^ (offset >> 3 & 0x70); }

// Scales of neighbouring columns k of block row `block` of matrix e, in one access. `lin`: (E,
// ceil(N/B), K).
MXQ_FN void store_scales(const mxq_tma_args &args, unsigned e, unsigned block, unsigned k,
                         const block_scale (&scale)[COLUMNS]) {
  unsigned char *to = args.scale + e * args.scale_stride_e +
                      static_cast<unsigned long long>(block) * args.k + k;
  if constexpr (COLUMNS == 2)
    global_store(reinterpret_cast<unsigned short *>(to),
                 static_cast<unsigned short>(scale[0].code | scale[1].code << 8));
  else
    global_store(to, static_cast<unsigned char>(scale[0].code));
}

#line 20 "templates/colt.tma.cu"
constexpr unsigned ROW_BYTES = TILE_K * IN_BITS / 8;  // of the input tile, [n][k]
constexpr unsigned WORDS = TILE_K / COLUMNS;          // words in such a row
constexpr unsigned SLAB_ROWS = 128;                   // the output tile is [n / 128][k][n % 128]
constexpr unsigned SLAB_BYTES = SLAB_ROWS * TILE_K;
static_assert(alignof(mxq_tma_args) == 128, "tensor maps in parameter space");
static_assert(THREADS == WORDS * (TILE_N / BLOCK), "a thread for each word of each block");
static_assert(BLOCK == 32, "a thread holds the rows of one block");
static_assert(TILE_N % SLAB_ROWS == 0, "the swizzle spans 128 bytes");

// Starts the copy of an input tile. Rows past N and columns past K arrive as zeros, which leave a
// maximum as it is and are never stored.
MXQ_FN void load_tile(const mxq_tma_args &args, tile_place at) {
  barrier_expect(BARRIER, IN_BYTES);
  map_load(IN_TILE, args.in, at.k, at.n, at.e, BARRIER);
}

// Starts the copies of an output tile, and waits until its shared memory may be written again.
MXQ_FN void store_tile(const mxq_tma_args &args, tile_place at) {
  for (unsigned slab = 0; slab < TILE_N / SLAB_ROWS; slab++)
    if (at.n + slab * SLAB_ROWS < args.n)
      map_store(args.out, at.n + slab * SLAB_ROWS, at.k, at.e, OUT_TILE + slab * SLAB_BYTES);
  bulk_commit();
  bulk_wait_read();
}

// Quantizes the block of rows `first_row` and up of the columns in word `word` of the input tile.
MXQ_FN void quantize_block(const mxq_tma_args &args, tile_place at, unsigned word,
                           unsigned first_row) {
  // Half of the threads read the second sixteen rows first, so that the 16-byte stores of eight
  // neighbouring threads below, which lie two columns apart, fall into different banks.
  const unsigned flip = COLUMNS == 2 ? (word / 4 % 2) * 16 : 0;
  unsigned rows[BLOCK];
  for (unsigned half = 0; half < BLOCK; half += 16)
    for (unsigned r = 0; r < 16; r++)
      rows[half + r] = shared_load<unsigned>(
          IN_TILE + (first_row + (half ^ flip) + r) * ROW_BYTES + word * 4);

  unsigned largest = rows[0];
  for (unsigned r = 1; r < BLOCK; r++) largest = word_max(largest, rows[r]);
  block_scale scale[COLUMNS];
  for (unsigned c = 0; c < COLUMNS; c++) scale[c] = scale_of(column_magnitude(largest, c));

  const unsigned n = at.n + first_row, k = at.k + word * COLUMNS;
  if (n < args.n && k < args.k) store_scales(args, at.e, n / BLOCK, k, scale);

  for (unsigned half = 0; half < BLOCK; half += 16) {
    words4 codes[COLUMNS];
    for (unsigned quad = 0; quad < 4; quad++) {
      row_products product[4];
      for (unsigned r = 0; r < 4; r++) product[r] = multiply_row(rows[half + quad * 4 + r], scale);
      for (unsigned c = 0; c < COLUMNS; c++)
        codes[c].word[quad] = narrow_four(product[0].column[c], product[1].column[c],
                                          product[2].column[c], product[3].column[c]);
    }
    for (unsigned c = 0; c < COLUMNS; c++) {
      const unsigned row = first_row + (half ^ flip), column = word * COLUMNS + c;
      shared_store(swizzle_128(OUT_TILE + row / SLAB_ROWS * SLAB_BYTES + column * SLAB_ROWS +
                               row % SLAB_ROWS),
                   codes[c]);
    }
  }
}

MXQ_KERNEL(quantize_bf16_e4m3_b32_rceil_colt_lin_tma_128x128, THREADS, BLOCKS_PER_SM)(MXQ_ARGS(mxq_tma_args) args) {
  const unsigned word = thread_id() % WORDS;
  const unsigned first_row = thread_id() / WORDS * BLOCK;
  unsigned tile = block_id();
  if (thread_id() == 0) {
    barrier_init(BARRIER, 1);
    fence_async_shared();  // orders the barrier's initialization before the copy that completes on it
    load_tile(args, place_of(args, tile));
  }
  block_sync();  // orders the barrier's initialization before the other threads' waits
  for (unsigned parity = 0;; parity ^= 1) {
    const tile_place at = place_of(args, tile);
    barrier_wait(BARRIER, parity);  // orders the copy of the input tile before its reads
    quantize_block(args, at, word, first_row);
    fence_async_shared();  // orders this thread's codes before the copy engine's reads of them
    block_sync();  // orders all threads' fences before the store, their reads before the next load
    tile += grid_size();
    if (thread_id() == 0) {
      store_tile(args, at);  // its wait, before the next load, orders this tile's copy before the
                             // codes of the next one: nobody writes them before that load is in
      if (tile < args.tiles) load_tile(args, place_of(args, tile));
    }
    if (tile >= args.tiles) return;
  }
}
