/* SPDX-License-Identifier: MIT
 *
 * Runs of the kernels that move scales between layouts.
 */
#ifndef EMU_MOVE_H
#define EMU_MOVE_H

#include "trial.h"

/* Every layout and block that has the kernel's scales, at the trial's lengths, there and back. */
enum emu_verdict emu_move_run(const struct emu_trial *trial, char text[EMU_TEXT]);

#endif
