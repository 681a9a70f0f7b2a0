/* SPDX-License-Identifier: MIT */
#include "token.h"

#include <stdio.h>
#include <string.h>

#include "quote.h"

#define NEAR_LENGTH   16 /* longer words are near nothing */
#define NEAR_DISTANCE 2

/* ASCII only: toupper and tolower ask the locale. */
static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Insertions, deletions and replacements from a token to a word, case ignored. */
static unsigned distance(struct mxq_token token, const char *word) {
  const size_t length = strlen(word);
  unsigned row[NEAR_LENGTH + 1];
  for (size_t j = 0; j <= length; ++j) row[j] = (unsigned)j;
  for (size_t i = 1; i <= token.length; ++i) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= length; ++j) {
      const unsigned replace = diagonal + (lower(token.text[i - 1]) != word[j - 1]);
      diagonal = row[j];
      row[j] = least(replace, 1 + least(row[j], row[j - 1]));
    }
  }
  return row[length];
}

/* The allowed token that is nearest to what was given; NULL if none is near. */
static const char *nearest(struct mxq_token token, enum mxq_axis axis, unsigned op) {
  const char *found = NULL;
  unsigned best = NEAR_DISTANCE + 1;
  const struct mxq_axis_value *value;
  if (token.length > NEAR_LENGTH) return NULL;
  for (size_t i = 0; (value = mxq_axis_at(axis, op, i)); ++i) {
    if (strlen(value->token) > NEAR_LENGTH) continue;
    const unsigned away = distance(token, value->token);
    if (away >= best || away >= strlen(value->token)) continue;
    best = away;
    found = value->token;
  }
  return found;
}

int mxq_token_is(struct mxq_token token, const char *word) {
  return strlen(word) == token.length && memcmp(word, token.text, token.length) == 0;
}

const struct mxq_axis_value *mxq_token_find(struct mxq_token token, enum mxq_axis axis,
                                            unsigned op) {
  const struct mxq_axis_value *value;
  for (size_t i = 0; (value = mxq_axis_at(axis, op, i)); ++i)
    if (mxq_token_is(token, value->token)) return value;
  return NULL;
}

enum mxq_status mxq_token_unknown(const char *name, struct mxq_token token, enum mxq_axis axis,
                                  unsigned op) {
  char allowed[256];
  mxq_token_list(axis, op, allowed, sizeof allowed);
  const char *meant = nearest(token, axis, op);
  return mxq_status_set(MXQ_UNKNOWN_NAME, "%s: unknown %s %s; allowed: %s%s%s%s",
                        mxq_quote(name).text, mxq_axis_name(axis),
                        mxq_quote_bytes(token.text, token.length).text, allowed,
                        meant ? "; did you mean \"" : "", meant ? meant : "", meant ? "\"?" : "");
}

void mxq_token_list(enum mxq_axis axis, unsigned op, char *list, size_t size) {
  const struct mxq_axis_value *value;
  size_t used = 0;
  list[0] = 0;
  for (size_t i = 0; (value = mxq_axis_at(axis, op, i)) && used < size; ++i)
    used += (size_t)snprintf(list + used, size - used, "%s%s", i ? " " : "", value->token);
}
