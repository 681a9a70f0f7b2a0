/* SPDX-License-Identifier: MIT
 *
 * The tables of docs/semantics.md, computed by the CPU path.
 */
#ifndef MXQ_TESTS_SEMANTICS_TABLES_H
#define MXQ_TESTS_SEMANTICS_TABLES_H

#include <stddef.h>

/* Calls `use` with each table, in the document's order: one for each mode, one of elements, one of
 * what dequantize makes of them. Returns
 * how many there are. */
size_t semantics_tables(void (*use)(const char *text));

/* The last of them: codes and scales read back (semantics_decode.c). */
void semantics_decode_table(void (*use)(const char *text));

#endif
