/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert_source.h"
#include "embedded.h"

enum { most = 1 << 20 };

char *emu_convert_source(void) {
  FILE *file = fopen(MXQ_TEST_DIR "/emulator/convert_gpu.cu", "rb");
  assert_non_null(file);
  char *source = calloc(1, most);
  assert_non_null(source);
  size_t length = 0;
  for (const struct mxq_embedded *piece = mxq_embedded_templates; piece->name; piece++)
    if (strcmp(piece->name, "args.h") == 0 || strncmp(piece->name, "device", 6) == 0)
      length += (size_t)sprintf(source + length, "%s\n", piece->text);
  length += fread(source + length, 1, most - 1 - length, file);
  fclose(file);
  return source;
}
