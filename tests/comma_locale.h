/* SPDX-License-Identifier: MIT
 *
 * A locale of our own making, with a decimal comma: the machine need not have one installed.
 */
#ifndef MXQ_TESTS_COMMA_LOCALE_H
#define MXQ_TESTS_COMMA_LOCALE_H

/* Makes it in a folder and sets it; 0 if localedef cannot. The folder then holds `source` and
 * `comma`. */
int comma_locale_set(const char *folder);

#endif
