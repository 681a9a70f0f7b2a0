/* SPDX-License-Identifier: MIT
 *
 * What the twin of the device primitives (twin.h) calls: the machine that kernels run on without a
 * GPU. Each call carries the template's line and file, which hazards are reported with. C and C++.
 */
#ifndef EMU_PRIMITIVES_H
#define EMU_PRIMITIVES_H

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_API   __attribute__((visibility("default")))
#define EMU_PLACE int line, const char *file

EMU_API unsigned emu_thread_id(void);
EMU_API unsigned emu_block_id(void);
EMU_API unsigned emu_grid_size(void);
EMU_API void emu_block_sync(EMU_PLACE);
EMU_API unsigned emu_shuffle_xor(unsigned value, unsigned mask, EMU_PLACE);

/* Offsets are bytes of shared memory, `bytes` the width of one access. */
EMU_API void emu_shared_load(unsigned offset, void *to, unsigned bytes, EMU_PLACE);
EMU_API void emu_shared_store(unsigned offset, const void *from, unsigned bytes, EMU_PLACE);
EMU_API void emu_global_load(const void *from, void *to, unsigned bytes, EMU_PLACE);
EMU_API void emu_global_store(void *to, const void *from, unsigned bytes, EMU_PLACE);

EMU_API void emu_copy_async(unsigned offset, const void *from, unsigned size, EMU_PLACE);
EMU_API void emu_copies_wait(EMU_PLACE);

EMU_API void emu_barrier_init(unsigned offset, unsigned arrivals, EMU_PLACE);
EMU_API void emu_barrier_expect(unsigned offset, unsigned bytes, EMU_PLACE);
EMU_API void emu_barrier_wait(unsigned offset, unsigned parity, EMU_PLACE);
EMU_API void emu_fence_async_shared(EMU_PLACE);

EMU_API void emu_map_load(unsigned offset, const void *map, unsigned x, unsigned y, unsigned z,
                          unsigned barrier, EMU_PLACE);
EMU_API void emu_map_store(const void *map, unsigned x, unsigned y, unsigned z, unsigned offset,
                           EMU_PLACE);
EMU_API void emu_bulk_commit(EMU_PLACE);
EMU_API void emu_bulk_wait_read(EMU_PLACE);

/* Arithmetic and conversions, written from the definitions of the formats (convert.c, halves.c). A
 * result that is no number is the NaN of the hardware: 0x7FFFFFFF, 0x7FFF. */
EMU_API unsigned emu_narrow(float value, unsigned exponent_bits, unsigned mantissa_bits);
EMU_API unsigned emu_ceil_e8m0(float value);
EMU_API float emu_multiply(float a, float b);
EMU_API float emu_multiply_add(float a, float b, float c);
EMU_API float emu_min_number(float a, float b); /* the other one if one is NaN */
EMU_API float emu_larger_magnitude(float a, float b);
/* A code's value as f16, exactly; a NaN is 0x7FFF. */
EMU_API unsigned emu_widen_code(unsigned code, unsigned exponent_bits, unsigned mantissa_bits);
/* To nearest, ties to even; too large is infinity. */
EMU_API unsigned emu_round_half(float value, unsigned exponent_bits);
/* A nibble with its top bit set gives eight times the top bit of the byte that it picks. */
EMU_API unsigned emu_permute_bytes(unsigned a, unsigned b, unsigned selector);
/* Of 16-bit floats with `exponent_bits`: 8 is bf16, 5 is f16. */
EMU_API float emu_widen_half(unsigned bits, unsigned exponent_bits);
EMU_API unsigned emu_multiply_half(unsigned a, unsigned b, unsigned exponent_bits);
/* a * b + c, rounded once. */
EMU_API unsigned emu_multiply_add_half(unsigned a, unsigned b, unsigned c, unsigned exponent_bits);
EMU_API unsigned emu_smaller_half(unsigned a, unsigned b, unsigned exponent_bits);
/* With a seeded random sign, as nobody may rely on it. */
EMU_API unsigned emu_larger_half(unsigned a, unsigned b, unsigned exponent_bits);

#ifdef __cplusplus
}
#endif

#endif
