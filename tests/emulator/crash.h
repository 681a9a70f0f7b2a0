/* SPDX-License-Identifier: MIT
 *
 * What a kernel that crashes, or does not end, leaves behind.
 */
#ifndef EMU_CRASH_H
#define EMU_CRASH_H

/* From now on a crash prints the context and the last primitive, and ends the program with the
 * exit code of a hazard. Under a sanitizer it stays the sanitizer's. */
void emu_crash_watch(void);
/* Both must stay readable until the next call. */
void emu_crash_context(const char *name, const char *command);
/* Prints the context and the text, and ends the program with the exit code of a hazard. */
_Noreturn void emu_crash_report(const char *text);

#endif
