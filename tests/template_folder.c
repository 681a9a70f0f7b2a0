/* SPDX-License-Identifier: MIT */
#include "template_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(int good, const char *what) {
  if (good) return;
  perror(what);
  abort();
}

struct template_folder template_folder_make(void) {
  struct template_folder folder = {"/tmp/mxq-templates-XXXXXX"};
  need(mkdtemp(folder.path) != NULL, folder.path);
  return folder;
}

void template_folder_write(const struct template_folder *folder, const char *name, const char *text,
                           size_t length) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder->path, name);
  FILE *file = fopen(path, "wb");
  need(file != NULL, path);
  need(fwrite(text, 1, length, file) == length, path);
  need(fclose(file) == 0, path);
}

void template_folder_remove(const struct template_folder *folder) {
  char path[512];
  DIR *open = opendir(folder->path);
  need(open != NULL, folder->path);
  for (struct dirent *entry; (entry = readdir(open));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
    unlink(path);
  }
  closedir(open);
  need(rmdir(folder->path) == 0, folder->path);
}

const char *template_body(const char *source) {
  while (strncmp(source, "// ", 3) == 0) source = strchr(source, '\n') + 1;
  return source;
}

enum mxq_status template_expand(const struct template_folder *folder, const char *text,
                                char **source) {
  struct mxq_kernel_id id;
  const struct mxq_arch *arch;
  char *whole;
  need(mxq_kernel_id_parse(TEMPLATE_KERNEL, &id) == MXQ_OK, TEMPLATE_KERNEL);
  need(mxq_arch_parse("90a", &arch) == MXQ_OK, "90a");
  template_folder_write(folder, TEMPLATE_MAIN, text, strlen(text));
  const enum mxq_status status =
      mxq_expand(&mxq_allocator_default, &id, arch, folder->path, &whole, NULL);
  if (status != MXQ_OK) return status;
  *source = mxq_copy_string(&mxq_allocator_default, template_body(whole));
  need(*source != NULL, "copy");
  mxq_free(&mxq_allocator_default, whole);
  return MXQ_OK;
}

void template_free(char *source) { mxq_free(&mxq_allocator_default, source); }
