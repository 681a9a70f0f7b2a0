/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CLI_SAFETENSORS_SCAN_H
#define MXQ_CLI_SAFETENSORS_SCAN_H

#include <stddef.h>

#include <mxq/status.h>

/* Refuses what a JSON parser of C strings and doubles would let through or change silently: text
 * that is not UTF-8, control characters, zeros in strings, numbers that are not whole, not plain
 * or not below 2^53. */
enum mxq_status safetensors_scan(const char *path, const char *header, size_t length);

#endif
