/* SPDX-License-Identifier: MIT */
#include <mxq/mxq.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *mxq_version(void) {
  return TEXT(MXQ_VERSION_MAJOR) "." TEXT(MXQ_VERSION_MINOR) "." TEXT(MXQ_VERSION_PATCH);
}
