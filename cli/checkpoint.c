/* SPDX-License-Identifier: MIT */
#include "checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "status.h"
#include "text.h"

#define INDEX_MOST ((size_t)1 << 30)

/* A tensor of a shard, or one that the index names. */
struct place {
  const char *tensor;
  const char *shard;
};

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_tensor(const void *a, const void *b) {
  return strcmp(((const struct place *)a)->tensor, ((const struct place *)b)->tensor);
}

static enum mxq_status check_shard_name(const struct checkpoint *checkpoint, const cJSON *item) {
  MXQ_FAIL_IF(!cJSON_IsString(item) || !*item->valuestring, MXQ_IO_ERROR,
              "%s: weight_map[\"%.200s\"] is not the name of a file", checkpoint->path,
              item->string);
  MXQ_FAIL_IF(strchr(item->valuestring, '/') || item->valuestring[0] == '.', MXQ_IO_ERROR,
              "%s: weight_map[\"%.200s\"] is \"%.200s\"; only the name of a file beside the index "
              "is allowed",
              checkpoint->path, item->string, item->valuestring);
  return MXQ_OK;
}

/* The names of the shards, each once, sorted. */
static enum mxq_status list_shards(struct checkpoint *checkpoint, const cJSON *map) {
  const cJSON *item = NULL;
  size_t count = 0;
  const char **names = text_allocate((size_t)cJSON_GetArraySize(map), sizeof *names);
  enum mxq_status status = MXQ_OK;
  cJSON_ArrayForEach(item, map) {
    status = check_shard_name(checkpoint, item);
    if (status != MXQ_OK) break;
    names[count++] = item->valuestring;
  }
  if (status == MXQ_OK) {
    qsort(names, count, sizeof *names, by_text);
    checkpoint->names = text_allocate(count, sizeof *checkpoint->names);
    checkpoint->shards = text_allocate(count, sizeof(struct safetensors *));
    for (size_t i = 0; i < count; i++)
      if (i == 0 || strcmp(names[i - 1], names[i]))
        checkpoint->names[checkpoint->count++] = text_format("%s", names[i]);
  }
  free(names);
  return status;
}

static enum mxq_status open_shards(struct checkpoint *checkpoint) {
  const int folder = (int)(base_of(checkpoint->path) - checkpoint->path);
  for (size_t i = 0; i < checkpoint->count; i++) {
    char *path = text_format("%.*s%s", folder, checkpoint->path, checkpoint->names[i]);
    const enum mxq_status status = safetensors_open(path, &checkpoint->shards[i]);
    free(path);
    if (status != MXQ_OK) return status;
  }
  return MXQ_OK;
}

static struct place *list_places(const struct checkpoint *checkpoint, size_t *count) {
  size_t length = 0, capacity = 0;
  struct place *places = NULL;
  for (size_t i = 0; i < checkpoint->count; i++) {
    for (size_t j = 0; j < checkpoint->shards[i]->count; j++) {
      places = text_grow(places, length, &capacity, sizeof *places);
      places[length++] =
          (struct place){checkpoint->shards[i]->tensors[j].name, checkpoint->names[i]};
    }
  }
  if (length) qsort(places, length, sizeof *places, by_tensor);
  *count = length;
  return places;
}

static enum mxq_status check_places(const struct checkpoint *checkpoint, const cJSON *map,
                                    const struct place *places, size_t count) {
  const cJSON *item = NULL;
  for (size_t i = 1; i < count; i++)
    MXQ_FAIL_IF(!strcmp(places[i - 1].tensor, places[i].tensor), MXQ_IO_ERROR,
                "%s: tensor \"%.200s\" is in both %s and %s", checkpoint->path, places[i].tensor,
                places[i - 1].shard, places[i].shard);
  cJSON_ArrayForEach(item, map) {
    const struct place wanted = {item->string, item->valuestring};
    const struct place *found =
        count ? bsearch(&wanted, places, count, sizeof *places, by_tensor) : NULL;
    MXQ_FAIL_IF(!found || strcmp(found->shard, wanted.shard), MXQ_IO_ERROR,
                "%s: tensor \"%.200s\" should be in %s, but is %s%s", checkpoint->path,
                wanted.tensor, wanted.shard, found ? "in " : "in none of the files",
                found ? found->shard : "");
  }
  return MXQ_OK;
}

static enum mxq_status open_index(struct checkpoint *checkpoint) {
  MXQ_TRY(json_read_file(checkpoint->path, INDEX_MOST, &checkpoint->index));
  const cJSON *map = cJSON_GetObjectItemCaseSensitive(checkpoint->index, "weight_map");
  MXQ_FAIL_IF(!cJSON_IsObject(map), MXQ_IO_ERROR,
              "%s: no \"weight_map\" from tensors to files; a checkpoint's index has one",
              checkpoint->path);
  MXQ_TRY(list_shards(checkpoint, map));
  MXQ_TRY(open_shards(checkpoint));
  size_t count = 0;
  struct place *places = list_places(checkpoint, &count);
  const enum mxq_status status = check_places(checkpoint, map, places, count);
  free(places);
  return status;
}

static enum mxq_status open_single(struct checkpoint *checkpoint) {
  struct stat facts;
  MXQ_FAIL_IF(!stat(checkpoint->path, &facts) && S_ISDIR(facts.st_mode), MXQ_IO_ERROR,
              "%s is a folder; name its .safetensors file or its index (*.index.json)",
              checkpoint->path);
  checkpoint->names = text_allocate(1, sizeof *checkpoint->names);
  checkpoint->shards = text_allocate(1, sizeof(struct safetensors *));
  checkpoint->names[0] = text_format("%s", base_of(checkpoint->path));
  checkpoint->count = 1;
  return safetensors_open(checkpoint->path, &checkpoint->shards[0]);
}

enum mxq_status checkpoint_open(const char *path, struct checkpoint **checkpoint) {
  struct checkpoint *opened = text_allocate(1, sizeof *opened);
  opened->path = text_format("%s", path);
  const enum mxq_status status =
      checkpoint_is_index(path) ? open_index(opened) : open_single(opened);
  if (status != MXQ_OK)
    checkpoint_close(opened);
  else
    *checkpoint = opened;
  return status;
}

void checkpoint_close(struct checkpoint *checkpoint) {
  if (!checkpoint) return;
  for (size_t i = 0; i < checkpoint->count; i++) {
    safetensors_close(checkpoint->shards[i]);
    free(checkpoint->names[i]);
  }
  free(checkpoint->names);
  free(checkpoint->shards);
  free(checkpoint->path);
  cJSON_Delete(checkpoint->index);
  free(checkpoint);
}

int checkpoint_is_index(const char *path) {
  const size_t length = strlen(path);
  return length >= 5 && !strcmp(path + length - 5, ".json");
}
