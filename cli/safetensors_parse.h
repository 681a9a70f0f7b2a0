/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CLI_SAFETENSORS_PARSE_H
#define MXQ_CLI_SAFETENSORS_PARSE_H

#include "safetensors.h"

/* Fills tensors and metadata from a scanned, zero-terminated header and checks that the tensors
 * tile the data exactly. */
enum mxq_status safetensors_parse(struct safetensors *file, const char *header, size_t length,
                                  const unsigned char *data, uint64_t data_bytes);

#endif
