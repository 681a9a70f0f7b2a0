/* SPDX-License-Identifier: MIT
 *
 * Files that exist whole or not at all: written under a temporary name in the same folder, renamed
 * at the end. What was not published is removed when it is destroyed, when the program exits and
 * when a signal ends it.
 */
#ifndef MXQ_CLI_OUTPUT_FILE_H
#define MXQ_CLI_OUTPUT_FILE_H

#include <stdint.h>

#include <mxq/status.h>

struct output_file;

/* Begins a file that will stand at `path`; a file that is there stays until publishing. Something
 * there that is no regular file is refused. Through a symbolic link, the file that it points to is
 * meant. `size` reserves room on the disk where that is possible (0: unknown). */
enum mxq_status output_file_create(const char *path, uint64_t size, struct output_file **file);
enum mxq_status output_file_write(struct output_file *file, const void *bytes, uint64_t size);
/* Brings everything to the disk and closes: afterwards only the name is missing. */
enum mxq_status output_file_finish(struct output_file *file);
/* Gives a finished file its name. */
enum mxq_status output_file_publish(struct output_file *file);
/* Removes what was not published. NULL is allowed. */
void output_file_destroy(struct output_file *file);

/* All steps at once for a small file. */
enum mxq_status output_file_write_whole(const char *path, const void *bytes, uint64_t size);

#endif
