/* SPDX-License-Identifier: MIT
 *
 * What the emulator says of the arithmetic that convert_gpu.cu does on a GPU.
 */
#ifndef EMU_CONVERT_SAMPLES_H
#define EMU_CONVERT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

enum { EMU_SAMPLES = 21 };

/* Whether result number `result` of the words a and b is the emulator's; if not, says what is. */
int emu_sample_is_right(size_t result, uint32_t a, uint32_t b, uint32_t actual,
                        char text[EMU_TEXT]);

#endif
