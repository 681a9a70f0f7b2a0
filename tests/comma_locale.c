/* SPDX-License-Identifier: MIT */
#include "comma_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char definition[] =
    "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"<U002E>\"\ngrouping 3;3\n"
    "END LC_NUMERIC\n";

int comma_locale_set(const char *folder) {
  char command[512], path[256];
  struct stat made;
  snprintf(path, sizeof path, "%s/source", folder);
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  const int written = fputs(definition, file) >= 0;
  if (fclose(file) != 0 || !written) return 0;
  snprintf(command, sizeof command, "cd %s && localedef -c -i ./source ./comma >/dev/null 2>&1",
           folder);
  if (system(command) < 0) return 0;
  snprintf(path, sizeof path, "%s/comma/LC_NUMERIC", folder);
  return stat(path, &made) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
         setlocale(LC_NUMERIC, "comma") != NULL;
}
