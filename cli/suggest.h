/* SPDX-License-Identifier: MIT
 *
 * "did you mean": the nearest of the names that are offered.
 */
#ifndef MXQ_CLI_SUGGEST_H
#define MXQ_CLI_SUGGEST_H

#include <stddef.h>

#define SUGGEST_LONGEST 80

struct suggest {
  const char *given;
  size_t distance; /* of the best so far */
  char text[SUGGEST_LONGEST + 32];
};

struct suggest suggest_begin(const char *given);
void suggest_offer(struct suggest *suggest, const char *name);
/* "; did you mean X?" for a near miss, else "". Lives as long as `suggest`. */
const char *suggest_end(const struct suggest *suggest);

/* Insertions, deletions, replacements and swaps of neighbours that turn one into the other; of
 * names longer than SUGGEST_LONGEST SIZE_MAX. */
size_t suggest_distance(const char *a, const char *b);

#endif
