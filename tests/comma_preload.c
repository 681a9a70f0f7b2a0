/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a program, this makes it one that takes its numbers' form from the environment, as
 * programs with a user interface do.
 */
#include <locale.h>

__attribute__((constructor)) static void take_locale(void) { (void)setlocale(LC_ALL, ""); }
