/* SPDX-License-Identifier: MIT
 *
 * The kernels of convert_gpu.cu with all device primitives before them.
 */
#ifndef MXQ_TESTS_EMULATOR_CONVERT_SOURCE_H
#define MXQ_TESTS_EMULATOR_CONVERT_SOURCE_H

/* To be freed. Fails the test if the file cannot be read. */
char *emu_convert_source(void);

#endif
