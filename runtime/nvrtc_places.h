/* SPDX-License-Identifier: MIT
 *
 * The folders that may hold an NVRTC outside of the loader's path.
 */
#ifndef MXQ_NVRTC_PLACES_H
#define MXQ_NVRTC_PLACES_H

#include "nvrtc.h"

typedef void (*mxq_folder_fn)(void *user, const char *folder);

/* Calls `visit` with each folder, existing or not, in the order of preference among equal
 * versions. */
void mxq_nvrtc_places(const struct mxq_nvrtc_search *search, mxq_folder_fn visit, void *user);

/* The same list in words, for messages. */
extern const char mxq_nvrtc_places_text[];

#endif
