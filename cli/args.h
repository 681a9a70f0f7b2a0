/* SPDX-License-Identifier: MIT */
#ifndef MXQ_CLI_ARGS_H
#define MXQ_CLI_ARGS_H

#include <stddef.h>
#include <stdio.h>

#include "command.h"

struct given_option {
  size_t option;
  const char *value; /* "" for a flag */
};

/* A command line, read by the tables of its command. */
struct arguments {
  const struct command *command;
  const char **operands;
  size_t count;
  struct given_option *given;
  size_t given_count;
  int json, verbose, help;
};

/* Reads what follows the command's name: --name VALUE, --name=VALUE, -o VALUE, -oVALUE, and --
 * before operands that begin with a dash. EXIT_DONE, or EXIT_USAGE after a message on standard
 * error; args_free in both cases. */
int args_read(const struct command *command, int argc, char **argv, struct arguments *arguments);
void args_free(struct arguments *arguments);

/* The last value given for an option, NULL if it was not given. */
const char *args_value(const struct arguments *arguments, size_t option);

/* The help that the tables give. */
void args_help(const struct command *command, FILE *stream);

#endif
