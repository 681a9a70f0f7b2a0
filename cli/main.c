/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mxq/mxq.h>

#include "args.h"
#include "report.h"
#include "suggest.h"
#include "text.h"

static const struct command *const commands[] = {
    &command_list,     &command_why,        &command_source,  &command_plan,   &command_compile,
    &command_quantize, &command_dequantize, &command_compare, &command_verify, &command_info,
    &command_emit,     &command_check,      &command_prepare, &command_cache,
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *stream) {
  fprintf(stream,
          "mxq %s - block-scaled quantization kernels, generated for one variant each\n\n"
          "Usage:\n  mxq COMMAND ...\n\nCommands:\n",
          mxq_version());
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs(
      "\nExamples:\n"
      "  mxq quantize model.safetensors -o quantized.safetensors\n"
      "  mxq dequantize quantized.safetensors -o restored.safetensors\n"
      "  mxq compare model.safetensors quantized.safetensors\n"
      "  mxq list 'quantize_bf16_*'\n"
      "  mxq source quantize_bf16_e4m3_b32_rceil_colt_lin\n"
      "  mxq plan quantize_bf16_e4m3_b32_rceil_colt_lin 8 8192 5120\n"
      "\n'mxq COMMAND --help' tells more about a command, 'mxq --version' the version.\n"
      "Exit code: 0 done, 1 failed, 2 usage or unknown name, 3 driver, NVRTC or device missing,\n"
      "4 mismatch found.\n",
      stream);
}

static const struct command *find_command(const char *name) {
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

static int unknown_command(const char *name) {
  struct suggest suggest = suggest_begin(name);
  struct text allowed = {0};
  for (size_t i = 0; i < COMMANDS; i++) {
    suggest_offer(&suggest, commands[i]->name);
    text_print(&allowed, "%s%s", i ? ", " : "", commands[i]->name);
  }
  const int code = report_usage(NULL, "unknown command \"%s\"; allowed: %s%s", name, allowed.data,
                                suggest_end(&suggest));
  text_free(&allowed);
  return code;
}

static int run_command(const struct command *command, int argc, char **argv) {
  struct arguments arguments;
  int code = args_read(command, argc, argv, &arguments);
  if (code == EXIT_DONE && arguments.help)
    args_help(command, stdout);
  else if (code == EXIT_DONE)
    code = command->run(&arguments);
  args_free(&arguments);
  return code;
}

static int run_help(const char *topic) {
  const struct command *command = topic ? find_command(topic) : NULL;
  if (topic && !command) return unknown_command(topic);
  if (command)
    args_help(command, stdout);
  else
    print_help(stdout);
  return EXIT_DONE;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *word = argv[1];
  if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
    return run_help(argc > 2 && argv[2][0] != '-' ? argv[2] : NULL);
  if (!strcmp(word, "--version")) {
    printf("mxq %s\n", mxq_version());
    return EXIT_DONE;
  }
  const struct command *command = find_command(word);
  return command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
}

/* A file that is opened must never become standard output: what is printed would go into it. */
static void occupy_standard_streams(void) {
  while (1) {
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
      if (descriptor >= 0) close(descriptor);
      return;
    }
  }
}

int main(int argc, char **argv) {
  occupy_standard_streams();
  /* A closed pipe and a file limit are errors of a write, with a message and cleaning up. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return report_finish(run(argc, argv));
}
