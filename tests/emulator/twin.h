/* SPDX-License-Identifier: MIT
 *
 * The host's twin of templates/device*.cuh: the same functions for a C++17 compiler. Put before an
 * expansion by -include; everything but the expansion's own device pieces then compiles unchanged.
 */
#ifndef EMU_TWIN_H
#define EMU_TWIN_H

#include "primitives.h"

/* Where several sources make one unit, each sets apart its symbols (build.c). */
#ifndef EMU_SYMBOL
#define EMU_SYMBOL(name) name
#endif

/* The launch bound is exported too, so that a launch can be held to it. */
#define MXQ_KERNEL(name, threads, blocks_per_sm)            \
  extern "C" {                                              \
  EMU_API extern const unsigned EMU_SYMBOL(name##_threads); \
  const unsigned EMU_SYMBOL(name##_threads) = threads;      \
  }                                                         \
  extern "C" EMU_API void EMU_SYMBOL(name)
#define MXQ_ARGS(type) const type &
#define MXQ_FN         static inline

/* The place of the caller, as a primitive's last arguments. */
#define EMU_CALLER int line = __builtin_LINE(), const char *file = __builtin_FILE()

MXQ_FN unsigned thread_id() { return emu_thread_id(); }
MXQ_FN unsigned block_id() { return emu_block_id(); }
MXQ_FN unsigned grid_size() { return emu_grid_size(); }
MXQ_FN void block_sync(EMU_CALLER) { emu_block_sync(line, file); }

template <class T>
MXQ_FN T shared_load(unsigned offset, unsigned apart = 0, EMU_CALLER) {
  T value;
  emu_shared_load(offset + apart, &value, sizeof value, line, file);
  return value;
}
template <class T>
MXQ_FN void shared_store(unsigned offset, T value, unsigned apart = 0, EMU_CALLER) {
  emu_shared_store(offset + apart, &value, sizeof value, line, file);
}
/* Macros there too: words is an array. */
#define MXQ_LOAD_SIXTEEN(words, offset, pitch) \
  for (unsigned i_ = 0; i_ < 16; i_++) (words)[i_] = shared_load<unsigned>(offset, i_ * (pitch))
template <class T>
MXQ_FN T global_load(const T *pointer, EMU_CALLER) {
  T value;
  emu_global_load(pointer, &value, sizeof value, line, file);
  return value;
}
MXQ_FN unsigned global_load_pair(const unsigned short *first, bool second_exists, EMU_CALLER) {
  const unsigned low = global_load(first, line, file);
  return second_exists ? low | static_cast<unsigned>(global_load(first + 1, line, file)) << 16
                       : low;
}
template <class T>
MXQ_FN void global_store(T *pointer, T value, EMU_CALLER) {
  emu_global_store(pointer, &value, sizeof value, line, file);
}

/* Without values that exist: those of a NaN, in every type. */
template <class T>
MXQ_FN T global_load_if(bool exists, const T *pointer, EMU_CALLER) {
  T value;
  if (exists) return global_load(pointer, line, file);
  __builtin_memset(&value, 0xFF, sizeof value);
  return value;
}
template <class T>
MXQ_FN void global_store_if(bool exists, T *pointer, T value, EMU_CALLER) {
  if (exists) global_store(pointer, value, line, file);
}

template <unsigned SIZE>
MXQ_FN void copy_async(unsigned offset, const unsigned char *from, EMU_CALLER) {
  emu_copy_async(offset, from, SIZE, line, file);
}
MXQ_FN void copies_wait(EMU_CALLER) { emu_copies_wait(line, file); }

MXQ_FN unsigned shuffle_xor(unsigned value, unsigned mask, EMU_CALLER) {
  return emu_shuffle_xor(value, mask, line, file);
}

MXQ_FN void barrier_init(unsigned offset, unsigned arrivals, EMU_CALLER) {
  emu_barrier_init(offset, arrivals, line, file);
}
MXQ_FN void barrier_expect(unsigned offset, unsigned bytes, EMU_CALLER) {
  emu_barrier_expect(offset, bytes, line, file);
}
MXQ_FN void barrier_wait(unsigned offset, unsigned parity, EMU_CALLER) {
  emu_barrier_wait(offset, parity, line, file);
}
MXQ_FN void fence_async_shared(EMU_CALLER) { emu_fence_async_shared(line, file); }
template <class MAP>
MXQ_FN void map_prefetch(const MAP &) {}
template <class MAP>
MXQ_FN void map_load(unsigned offset, const MAP &map, unsigned x, unsigned y, unsigned z,
                     unsigned barrier, EMU_CALLER) {
  emu_map_load(offset, &map, x, y, z, barrier, line, file);
}
template <class MAP>
MXQ_FN void map_store(const MAP &map, unsigned x, unsigned y, unsigned z, unsigned offset,
                      EMU_CALLER) {
  emu_map_store(&map, x, y, z, offset, line, file);
}
MXQ_FN void bulk_commit(EMU_CALLER) { emu_bulk_commit(line, file); }
MXQ_FN void bulk_wait_read(EMU_CALLER) { emu_bulk_wait_read(line, file); }

MXQ_FN unsigned float_bits(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
MXQ_FN float bits_float(unsigned bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
MXQ_FN unsigned multiply_high(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
MXQ_FN float multiply(float a, float b) { return emu_multiply(a, b); }
MXQ_FN float multiply_add(float a, float b, float c) { return emu_multiply_add(a, b, c); }
MXQ_FN float min_number(float a, float b) { return emu_min_number(a, b); }
MXQ_FN float magnitude(float x) { return bits_float(float_bits(x) & 0x7FFFFFFF); }
MXQ_FN float max_magnitude(float a, float b) { return emu_larger_magnitude(a, b); }
MXQ_FN float widen_f16(unsigned bits) { return emu_widen_half(bits & 0xFFFF, 5); }

/* Both halves of a word, each by itself. */
#define EMU_PAIR(name, function, exponent_bits)              \
  MXQ_FN unsigned name(unsigned a, unsigned b) {             \
    return function(a & 0xFFFF, b & 0xFFFF, exponent_bits) | \
           function(a >> 16, b >> 16, exponent_bits) << 16;  \
  }
EMU_PAIR(multiply_pair_bf16, emu_multiply_half, 8)
EMU_PAIR(multiply_pair_f16, emu_multiply_half, 5)
EMU_PAIR(min_pair_bf16, emu_smaller_half, 8)
EMU_PAIR(min_pair_f16, emu_smaller_half, 5)
EMU_PAIR(max_magnitude_pair_bf16, emu_larger_half, 8)
EMU_PAIR(max_magnitude_pair_f16, emu_larger_half, 5)
#undef EMU_PAIR
#define MXQ_MAX_SIXTEEN(largest, words) \
  (largest) = (words)[0];               \
  for (unsigned i_ = 1; i_ < 16; i_++) (largest) = max_magnitude_pair_bf16(largest, (words)[i_])
MXQ_FN unsigned min_pair_u16(unsigned a, unsigned b) {
  const unsigned low = (a & 0xFFFF) < (b & 0xFFFF) ? a & 0xFFFF : b & 0xFFFF;
  return low | ((a >> 16) < (b >> 16) ? a >> 16 : b >> 16) << 16;
}
MXQ_FN unsigned max_pair_u16(unsigned a, unsigned b) {
  const unsigned low = (a & 0xFFFF) > (b & 0xFFFF) ? a & 0xFFFF : b & 0xFFFF;
  return low | ((a >> 16) > (b >> 16) ? a >> 16 : b >> 16) << 16;
}
MXQ_FN unsigned multiply_add_pair_bf16(unsigned a, unsigned b, unsigned c) {
  return emu_multiply_add_half(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, 8) |
         emu_multiply_add_half(a >> 16, b >> 16, c >> 16, 8) << 16;
}
MXQ_FN unsigned multiply_add_pair_f16(unsigned a, unsigned b, unsigned c) {
  return emu_multiply_add_half(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, 5) |
         emu_multiply_add_half(a >> 16, b >> 16, c >> 16, 5) << 16;
}

/* Two codes, the first in the low byte; codes of four bits in the low half of one byte. */
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned narrow_pair(float first, float second) {
  constexpr unsigned SHIFT = EXPONENT_BITS + MANTISSA_BITS == 3 ? 4 : 8;
  return emu_narrow(first, EXPONENT_BITS, MANTISSA_BITS) |
         emu_narrow(second, EXPONENT_BITS, MANTISSA_BITS) << SHIFT;
}
/* Of words of two bf16 times `multiplier`: codes of eight bits. */
template <unsigned EXPONENT_BITS>
MXQ_FN unsigned narrow_halves(unsigned low, unsigned high) {
  return narrow_pair<EXPONENT_BITS, 7 - EXPONENT_BITS>(bits_float(low), bits_float(high));
}
template <unsigned EXPONENT_BITS>
MXQ_FN unsigned narrow_two_bf16(const unsigned *words, unsigned multiplier) {
  const unsigned a = multiply_pair_bf16(words[0], multiplier);
  const unsigned b = multiply_pair_bf16(words[1], multiplier);
  return narrow_halves<EXPONENT_BITS>(a << 16, a & 0xFFFF0000) |
         narrow_halves<EXPONENT_BITS>(b << 16, b & 0xFFFF0000) << 16;
}
template <unsigned EXPONENT_BITS>
MXQ_FN void narrow_four_bf16(const unsigned *words, unsigned multiplier, unsigned (&four)[2]) {
  const unsigned first = narrow_two_bf16<EXPONENT_BITS>(words, multiplier);
  const unsigned second = narrow_two_bf16<EXPONENT_BITS>(words + 2, multiplier);
  four[0] = emu_permute_bytes(first, second, 0x6420);
  four[1] = emu_permute_bytes(first, second, 0x7531);
}
#define MXQ_NARROW_SIXTEEN(low, high, words, multiplier)                      \
  for (unsigned i_ = 0; i_ < 4; i_++) {                                       \
    unsigned four_[2];                                                        \
    narrow_four_bf16<OUT_EXPONENT_BITS>((words) + 4 * i_, multiplier, four_); \
    (low)[i_] = four_[0];                                                     \
    (high)[i_] = four_[1];                                                    \
  }
/* The halves of two codes; bits behind them do not count. */
template <unsigned EXPONENT_BITS, unsigned MANTISSA_BITS>
MXQ_FN unsigned widen_pair(unsigned codes) {
  constexpr unsigned SHIFT = EXPONENT_BITS + MANTISSA_BITS == 3 ? 4 : 8, MASK = (1u << SHIFT) - 1;
  return emu_widen_code(codes & MASK, EXPONENT_BITS, MANTISSA_BITS) |
         emu_widen_code(codes >> SHIFT & MASK, EXPONENT_BITS, MANTISSA_BITS) << 16;
}
MXQ_FN unsigned round_pair_bf16(float first, float second) {
  return emu_round_half(first, 8) | emu_round_half(second, 8) << 16;
}
MXQ_FN unsigned round_pair_f16(float first, float second) {
  return emu_round_half(first, 5) | emu_round_half(second, 5) << 16;
}
MXQ_FN unsigned funnel_right(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> by % 32);
}
MXQ_FN unsigned permute_bytes(unsigned a, unsigned b, unsigned selector) {
  return emu_permute_bytes(a, b, selector & 0x7777);
}
MXQ_FN unsigned permute_signs(unsigned a, unsigned b, unsigned selector) {
  return emu_permute_bytes(a, b, selector | 0x8888);
}
MXQ_FN unsigned ceil_e8m0(float x) { return emu_ceil_e8m0(x); }

#endif
