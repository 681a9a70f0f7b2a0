/* SPDX-License-Identifier: MIT */
#ifndef EMU_CONVERT_H
#define EMU_CONVERT_H

#include <stdint.h>

/* The code of significand * 2^unit, to nearest, ties to even, as if there were no largest number.
 * The significand has at most 53 bits. */
uint64_t emu_round_to_code(uint64_t significand, int unit, unsigned exponent_bits,
                           unsigned mantissa_bits);

#endif
