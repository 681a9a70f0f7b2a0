/* SPDX-License-Identifier: MIT */
#include "safetensors_scan.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text.h"

struct scan {
  const char *path;
  const char *header;
  size_t length;
  size_t at;
  size_t depth;
  size_t name, name_length; /* the last string of depth 1: the tensor that errors name */
};

static enum mxq_status refuse(const struct scan *scan, size_t at, const char *what) {
  struct text name = {0};
  text_visible(&name, scan->header + scan->name, scan->name_length < 200 ? scan->name_length : 200);
  const enum mxq_status status =
      mxq_status_set(MXQ_IO_ERROR, "%s: header byte %zu%s%s%s: %s", scan->path, at,
                     scan->name_length ? ", tensor \"" : "", scan->name_length ? name.data : "",
                     scan->name_length ? "\"" : "", what);
  text_free(&name);
  return status;
}

static enum mxq_status scan_string(struct scan *scan) {
  const size_t first = ++scan->at;
  while (scan->at < scan->length && scan->header[scan->at] != '"') {
    const char *c = scan->header + scan->at;
    const size_t left = scan->length - scan->at;
    const size_t step = *c == '\\' ? 2 : text_utf8_step(c, left);
    if (!step) return refuse(scan, scan->at, "this is not UTF-8");
    if ((unsigned char)*c < 0x20)
      return refuse(scan, scan->at, "a control character in a string; JSON has it escaped");
    if (left >= 6 && !memcmp(c, "\\u0000", 6))
      return refuse(scan, scan->at, "a name or value holds a zero character");
    scan->at += step;
  }
  if (scan->at >= scan->length) return refuse(scan, first, "a string does not end");
  if (scan->depth == 1) {
    scan->name = first;
    scan->name_length = scan->at - first;
  }
  scan->at++;
  return MXQ_OK;
}

/* The only numbers of a header are lengths and offsets. */
static enum mxq_status scan_number(struct scan *scan) {
  const char *number = scan->header + scan->at;
  const size_t span = strspn(number, "+-.0123456789eE");
  const size_t digits = strspn(number, "0123456789");
  const int plain = digits == span && (digits == 1 || number[0] != '0');
  const int exact = digits < 16 || (digits == 16 && memcmp(number, "9007199254740991", 16) <= 0);
  if (!plain || !exact) {
    char *what = text_format(
        "%.*s is not a length or an offset: whole numbers from 0 to 2^53 - 1 "
        "without sign, fraction or exponent are",
        (int)(span < 40 ? span : 40), number);
    const enum mxq_status status = refuse(scan, scan->at, what);
    free(what);
    return status;
  }
  scan->at += span;
  return MXQ_OK;
}

static enum mxq_status scan_other(struct scan *scan) {
  const char c = scan->header[scan->at];
  if ((unsigned char)c < 0x20 && !(c == '\t' || c == '\n' || c == '\r'))
    return refuse(scan, scan->at, "a control character outside of a string");
  if ((unsigned char)c >= 0x7F) return refuse(scan, scan->at, "a character outside of a string");
  if (c == '{' || c == '[') scan->depth++;
  if ((c == '}' || c == ']') && scan->depth) scan->depth--;
  scan->at++;
  return MXQ_OK;
}

enum mxq_status safetensors_scan(const char *path, const char *header, size_t length) {
  struct scan scan = {.path = path, .header = header, .length = length};
  while (scan.at < length) {
    const char c = header[scan.at];
    if (c == '"')
      MXQ_TRY(scan_string(&scan));
    else if (c && strchr("+-.0123456789", c))
      MXQ_TRY(scan_number(&scan));
    else
      MXQ_TRY(scan_other(&scan));
  }
  return MXQ_OK;
}
