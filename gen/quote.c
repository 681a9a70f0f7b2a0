/* SPDX-License-Identifier: MIT */
#include "quote.h"

#include <string.h>

#define BYTES_SHOWN 80

struct mxq_quoted mxq_quote_bytes(const char *text, size_t length) {
  static const char digits[] = "0123456789ABCDEF";
  const size_t shown = length < BYTES_SHOWN ? length : BYTES_SHOWN;
  struct mxq_quoted quoted;
  char *to = quoted.text;
  *to++ = '"';
  for (size_t i = 0; i < shown; ++i) {
    const unsigned char byte = (unsigned char)text[i];
    if (byte >= 0x20 && byte < 0x7F) {
      *to++ = (char)byte;
      continue;
    }
    *to++ = '\\';
    *to++ = 'x';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
  }
  *to++ = '"';
  strcpy(to, shown < length ? "..." : "");
  return quoted;
}

struct mxq_quoted mxq_quote(const char *text) {
  if (text) return mxq_quote_bytes(text, strnlen(text, BYTES_SHOWN + 1));
  return (struct mxq_quoted){"NULL"};
}
