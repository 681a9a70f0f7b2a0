/* SPDX-License-Identifier: MIT
 *
 * Text that grows, and memory that a program can assume: running out of it here ends the program
 * with a message and exit code 1 (atexit handlers remove unfinished files).
 */
#ifndef MXQ_CLI_TEXT_H
#define MXQ_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `count` things of `size` bytes; never NULL. */
void *text_allocate(size_t count, size_t size);
/* An array of `*capacity` things of `size` bytes with room for one more after `count`. */
void *text_grow(void *array, size_t count, size_t *capacity, size_t size);
/* A formatted string that the caller frees; never NULL. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Start with {0}. `data` is NULL or zero-terminated. */
struct text {
  char *data;
  size_t length;
  size_t capacity;
};
void text_append(struct text *text, const char *bytes, size_t length);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_print_list(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0), nonnull(2)));
/* Appends a JSON string with its quotes. */
void text_json_string(struct text *text, const char *string);
/* Appends "[2, 3]": a shape as people and JSON read it. */
void text_dims(struct text *text, const uint64_t *dims, size_t rank);
/* Appends bytes that may hold anything so that a terminal shows them: control characters as
 * \x1b. */
void text_visible(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

/* Bytes of the UTF-8 character at `bytes`; 0 if there is none (cut off, overlong, a surrogate). */
size_t text_utf8_step(const char *bytes, size_t left);

#endif
