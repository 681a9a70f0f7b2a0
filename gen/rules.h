/* SPDX-License-Identifier: MIT
 *
 * Which combinations of axis values have no meaning (contract, section 1), and why.
 */
#ifndef MXQ_GEN_RULES_H
#define MXQ_GEN_RULES_H

#include <stddef.h>

#include "axes.h"

/* What a rule looks at: facts, so that a rule holds for values that come later. */
struct mxq_rule_subject {
  unsigned op;
  unsigned scales;
  const struct mxq_type_facts *code; /* of the two types the one that is not wide */
  const struct mxq_mode_facts *mode;
  unsigned parts[2]; /* of the layout */
};

struct mxq_rule {
  const char *name;
  int (*refuses)(const struct mxq_rule_subject *subject);
  const char *reason;
};

/* The rules in order; NULL past the end. */
const struct mxq_rule *mxq_rule_at(size_t index);

/* The first rule that refuses, NULL if none does. */
const struct mxq_rule *mxq_rule_refusing(const struct mxq_rule_subject *subject);

#endif
