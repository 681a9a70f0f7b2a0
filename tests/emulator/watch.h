/* SPDX-License-Identifier: MIT
 *
 * Ends launches that do not end by themselves, whatever they do: even a loop without a primitive.
 */
#ifndef EMU_WATCH_H
#define EMU_WATCH_H

/* From now on a launch of this process that takes more than `seconds` of its processor time, or as
 * much or ten of them without a primitive, ends the program as a hazard does (crash.h). */
void emu_watch(unsigned seconds);

#endif
