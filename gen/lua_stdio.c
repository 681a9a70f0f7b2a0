/* SPDX-License-Identifier: MIT */
#include "lua_stdio.h"

#include <pthread.h>
#include <stdio.h>

extern FILE *mxq_lua_stdin, *mxq_lua_stdout, *mxq_lua_stderr;
__attribute__((visibility("hidden"))) FILE *mxq_lua_stdin, *mxq_lua_stdout, *mxq_lua_stderr;

static void set(void) {
  mxq_lua_stdin = stdin;
  mxq_lua_stdout = stdout;
  mxq_lua_stderr = stderr;
}

void mxq_lua_stdio_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set);
}
