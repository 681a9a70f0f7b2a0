/* SPDX-License-Identifier: MIT
 *
 * What a command is: one row of the table in main.c, its operands, its options, its help.
 */
#ifndef MXQ_CLI_COMMAND_H
#define MXQ_CLI_COMMAND_H

#include <stddef.h>

enum exit_code {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,    /* wrong usage or an unknown name */
  EXIT_MISSING = 3,  /* driver, NVRTC or device */
  EXIT_MISMATCH = 4, /* a difference was found */
};

/* A row of a command's option table; the index in the table is the option's number. */
struct option_row {
  const char *name;  /* "arch" for --arch; NULL ends the table */
  char letter;       /* 'o' for -o, 0 for none */
  const char *value; /* what the help calls the value; NULL for a flag */
  const char *help;  /* NULL: not for people */
  int many;          /* may be given several times */
};

struct arguments;

struct command {
  const char *name;
  const char *operands; /* as the help spells them */
  const char *summary;  /* one line */
  const char *details;  /* sentences for --help, with final newline */
  const char *examples; /* lines for --help, with final newlines */
  const struct option_row *options;
  size_t least, most; /* operands */
  int json;           /* whether --json is allowed */
  int (*run)(const struct arguments *arguments);
};

extern const struct command command_list, command_why, command_source, command_plan,
    command_compile, command_quantize, command_dequantize, command_compare, command_info,
    command_verify, command_emit, command_check, command_prepare, command_cache;

#endif
