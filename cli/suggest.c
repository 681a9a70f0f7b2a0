/* SPDX-License-Identifier: MIT */
#include "suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

struct suggest suggest_begin(const char *given) {
  return (struct suggest){.given = given, .distance = SIZE_MAX};
}

void suggest_offer(struct suggest *suggest, const char *name) {
  const size_t distance = suggest_distance(suggest->given, name);
  if (distance >= suggest->distance) return;
  suggest->distance = distance;
  snprintf(suggest->text, sizeof suggest->text, "; did you mean %s?", name);
}

const char *suggest_end(const struct suggest *suggest) {
  const size_t length = strlen(suggest->given);
  return suggest->distance <= 1 + length / 8 && suggest->distance < length ? suggest->text : "";
}

size_t suggest_distance(const char *a, const char *b) {
  const size_t rows = strlen(a), columns = strlen(b);
  if (rows > SUGGEST_LONGEST || columns > SUGGEST_LONGEST) return SIZE_MAX;
  size_t table[3][SUGGEST_LONGEST + 1]; /* rows i, i-1, i-2 of the table, in turn */
  for (size_t j = 0; j <= columns; j++) table[0][j] = j;
  for (size_t i = 1; i <= rows; i++) {
    size_t *now = table[i % 3], *before = table[(i + 2) % 3], *earlier = table[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= columns; j++) {
      now[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], earlier[j - 2] + 1);
    }
  }
  return table[rows % 3][columns];
}
