/* SPDX-License-Identifier: MIT
 *
 * Opening one copy of NVRTC, and finding the newest of many.
 */
#ifndef MXQ_NVRTC_FILE_H
#define MXQ_NVRTC_FILE_H

#include "nvrtc.h"

#define MXQ_NVRTC_WHY 320

/* Opens one file with its builtins; 1 if it can be used, else 0 and the reason in `why`. */
int mxq_nvrtc_open_file(const char *file, struct mxq_nvrtc *nvrtc, char why[MXQ_NVRTC_WHY]);

/* Opens the newest that the driver can load what it makes of. */
enum mxq_status mxq_nvrtc_open_newest(const struct mxq_nvrtc_search *search,
                                      struct mxq_nvrtc *nvrtc);

/* The minor version of the builtins library in an NVRTC's folder, without opening anything; -1 for
 * none. */
int mxq_nvrtc_minor_in(const char *folder, int major);

#endif
