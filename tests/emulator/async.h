/* SPDX-License-Identifier: MIT
 *
 * Copies from global to shared memory that a thread starts and waits for itself.
 */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

void emu_async_begin(void);
/* After a block: records a copy that nobody waited for. */
int emu_async_complete(void);

#endif
