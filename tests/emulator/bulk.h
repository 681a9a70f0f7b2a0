/* SPDX-License-Identifier: MIT
 *
 * The copy engine's loads and stores, and the bulk groups of its stores.
 */
#ifndef EMU_BULK_H
#define EMU_BULK_H

void emu_bulk_begin(void);
/* After a block: records a store that nobody waited for, or a wait by a thread that stored
 * nothing. */
int emu_bulk_complete(void);

#endif
