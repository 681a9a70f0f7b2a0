/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CLI_TEXT_FILE_H
#define MXQ_CLI_TEXT_FILE_H

#include <mxq/status.h>

#include "text.h"

/* Appends a file of at most `most` bytes. MXQ_IO_ERROR names the file. */
enum mxq_status text_read_file(const char *path, size_t most, struct text *text);

#endif
