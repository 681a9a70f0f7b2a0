/* SPDX-License-Identifier: MIT */
#include "args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "suggest.h"
#include "text.h"

/* Options of every command; --json of those that have it. */
static const struct option_row common[] = {
    {"json", 0, NULL, "print JSON", 0},
    {"verbose", 'v', NULL, "tell where each kernel came from, and how long that took", 0},
    {"help", 'h', NULL, "print this text", 0},
    {0},
};

struct reader {
  struct arguments *arguments;
  int argc;
  char **argv;
  int at;
};

static const struct option_row no_options[] = {{0}};

static const struct option_row *options_of(const struct command *command) {
  return command->options ? command->options : no_options;
}

static const struct option_row *common_of(const struct command *command) {
  return common + !command->json;
}

static const struct option_row *find(const struct option_row *table, const char *name,
                                     size_t length) {
  for (; table->name; table++) {
    if (length == 1 && table->letter == name[0]) return table;
    if (length > 1 && strlen(table->name) == length && !memcmp(table->name, name, length))
      return table;
  }
  return NULL;
}

static int unknown_option(const struct arguments *arguments, const char *given) {
  const struct command *command = arguments->command;
  struct suggest suggest = suggest_begin(given);
  struct text allowed = {0};
  const struct option_row *tables[] = {options_of(command), common_of(command)};
  for (size_t i = 0; i < 2; i++) {
    for (const struct option_row *row = tables[i]; row->name; row++) {
      if (!row->help) continue;
      char *spelled = text_format("--%s", row->name);
      text_print(&allowed, "%s%s", allowed.length ? ", " : "", spelled);
      suggest_offer(&suggest, spelled);
      free(spelled);
    }
  }
  const int code = report_usage(command, "unknown option \"%s\"; allowed: %s%s", given,
                                allowed.data, suggest_end(&suggest));
  text_free(&allowed);
  return code;
}

static int store(struct arguments *arguments, const struct option_row *row, const char *value) {
  const struct option_row *options = options_of(arguments->command);
  const struct option_row *shared = common_of(arguments->command);
  for (const struct option_row *at = shared; at->name; at++) {
    if (at != row) continue;
    if (row->letter == 'h')
      arguments->help = 1;
    else if (row->letter == 'v')
      arguments->verbose = 1;
    else
      arguments->json = 1;
    return EXIT_DONE;
  }
  const size_t number = (size_t)(row - options);
  if (!row->many && args_value(arguments, number))
    return report_usage(arguments->command, "--%s was given twice", row->name);
  arguments->given[arguments->given_count++] = (struct given_option){number, value};
  return EXIT_DONE;
}

static int read_option(struct reader *reader) {
  struct arguments *arguments = reader->arguments;
  const char *given = reader->argv[reader->at];
  const int is_long = given[1] == '-';
  const char *name = given + 1 + is_long;
  const char *equals = is_long ? strchr(name, '=') : NULL;
  const size_t length = !is_long ? 1 : equals ? (size_t)(equals - name) : strlen(name);
  const struct option_row *row = NULL;
  if (length > 1 || !is_long) row = find(options_of(arguments->command), name, length);
  if (!row && (length > 1 || !is_long)) row = find(common_of(arguments->command), name, length);
  if (!row || (!is_long && !row->value && name[1])) return unknown_option(arguments, given);
  const char *value = equals ? equals + 1 : !is_long && name[1] ? name + 1 : NULL;
  if (!row->value && value)
    return report_usage(arguments->command, "--%s takes no value, \"%s\" was given", row->name,
                        value);
  if (row->value && !value && reader->at + 1 >= reader->argc)
    return report_usage(arguments->command, "--%s needs a value: --%s %s", row->name, row->name,
                        row->value);
  if (row->value && !value) value = reader->argv[++reader->at];
  return store(arguments, row, value ? value : "");
}

static int check_count(const struct arguments *arguments) {
  const struct command *command = arguments->command;
  if (arguments->count < command->least)
    return report_usage(command, "%s: %zu given, needed: %s",
                        arguments->count ? "too few operands" : "nothing to work on",
                        arguments->count, command->operands);
  if (arguments->count > command->most)
    return report_usage(command, "\"%s\" is one operand too many; allowed: %s",
                        arguments->operands[command->most],
                        command->operands[0] ? command->operands : "none");
  return EXIT_DONE;
}

static void print_options(const struct option_row *row, FILE *stream) {
  for (; row->name; row++) {
    if (!row->help) continue;
    char *left = text_format("%s%c%s--%s%s%s", row->letter ? "-" : "",
                             row->letter ? row->letter : ' ', row->letter ? ", " : "   ", row->name,
                             row->value ? " " : "", row->value ? row->value : "");
    fprintf(stream, "  %-26s %s%s\n", left, row->help, row->many ? " (may be repeated)" : "");
    free(left);
  }
}

int args_read(const struct command *command, int argc, char **argv, struct arguments *arguments) {
  *arguments = (struct arguments){.command = command};
  arguments->operands = text_allocate((size_t)argc + 1, sizeof *arguments->operands);
  arguments->given = text_allocate((size_t)argc + 1, sizeof *arguments->given);
  struct reader reader = {arguments, argc, argv, 0};
  int only_operands = 0;
  for (; reader.at < argc; reader.at++) {
    const char *word = argv[reader.at];
    /* A negative number is an operand: the command says why it is wrong. */
    const int is_option = word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]);
    if (only_operands || !is_option) {
      arguments->operands[arguments->count++] = word;
    } else if (!strcmp(word, "--")) {
      only_operands = 1;
    } else {
      const int code = read_option(&reader);
      if (code != EXIT_DONE) return code;
    }
  }
  return arguments->help ? EXIT_DONE : check_count(arguments);
}

void args_free(struct arguments *arguments) {
  free(arguments->operands);
  free(arguments->given);
  *arguments = (struct arguments){0};
}

const char *args_value(const struct arguments *arguments, size_t option) {
  const char *value = NULL;
  for (size_t i = 0; i < arguments->given_count; i++)
    if (arguments->given[i].option == option) value = arguments->given[i].value;
  return value;
}

void args_help(const struct command *command, FILE *stream) {
  fprintf(stream, "mxq %s - %s\n\nUsage:\n  mxq %s%s%s [options]\n\n%s\nExamples:\n%s\nOptions:\n",
          command->name, command->summary, command->name, command->operands[0] ? " " : "",
          command->operands, command->details, command->examples);
  print_options(options_of(command), stream);
  print_options(common_of(command), stream);
}
