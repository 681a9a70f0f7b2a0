/* SPDX-License-Identifier: MIT */
#ifndef EMU_SHUFFLE_H
#define EMU_SHUFFLE_H

/* Begins a block. */
void emu_shuffle_begin(void);
/* Whether lanes wait for others of their warp. */
int emu_shuffle_waits(void);

#endif
