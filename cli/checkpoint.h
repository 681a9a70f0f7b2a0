/* SPDX-License-Identifier: MIT
 *
 * A model's weights: one safetensors file, or several with an index (*.index.json).
 */
#ifndef MXQ_CLI_CHECKPOINT_H
#define MXQ_CLI_CHECKPOINT_H

#include <stddef.h>

#include "json.h"
#include "safetensors.h"

struct checkpoint {
  char *path;
  cJSON *index; /* NULL: a single file */
  char **names; /* of the shards, without a folder; sorted */
  struct safetensors **shards;
  size_t count;
};

/* Opens and checks all files. An index must name the file of every tensor, each a plain name beside
 * the index, and every tensor must be there, once. */
enum mxq_status checkpoint_open(const char *path, struct checkpoint **checkpoint);
void checkpoint_close(struct checkpoint *checkpoint); /* NULL is allowed */

/* Whether a path is that of an index. */
int checkpoint_is_index(const char *path);

#endif
