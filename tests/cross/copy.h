/* SPDX-License-Identifier: MIT */
#ifndef MXQ_TESTS_CROSS_COPY_H
#define MXQ_TESTS_CROSS_COPY_H

struct copy_result {
  int prepared; /* the status of compiling one variant */
  const char *error;
  const char *version; /* where that copy's text lies tells copies apart */
};

int static_copy(const char *name, struct copy_result *result);
int other_static_copy(const char *name, struct copy_result *result);
int shared_copy(const char *name, struct copy_result *result);
int aot_copy(const char *name, struct copy_result *result);

#endif
