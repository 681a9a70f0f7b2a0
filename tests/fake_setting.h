/* SPDX-License-Identifier: MIT
 *
 * Settings of the stand-ins for NVIDIA's libraries: a variable such as "version=12040;fail=7".
 */
#ifndef MXQ_TESTS_FAKE_SETTING_H
#define MXQ_TESTS_FAKE_SETTING_H

#include <stdlib.h>
#include <string.h>

/* The text of a key, up to the next semicolon, copied into `value`; NULL if it is not there. */
static inline const char *fake_setting(const char *variable, const char *key, char *value,
                                       size_t size) {
  const size_t length = strlen(key);
  const char *at = getenv(variable);
  while (at && *at) {
    const size_t item = strcspn(at, ";");
    if (strncmp(at, key, length) == 0 && at[length] == '=' && item - length - 1 < size) {
      memcpy(value, at + length + 1, item - length - 1);
      value[item - length - 1] = 0;
      return value;
    }
    at += item + (at[item] == ';');
  }
  return NULL;
}

static inline long fake_number(const char *variable, const char *key, long otherwise) {
  char value[64];
  return fake_setting(variable, key, value, sizeof value) ? strtol(value, NULL, 0) : otherwise;
}

#endif
