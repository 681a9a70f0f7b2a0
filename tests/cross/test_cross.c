/* SPDX-License-Identifier: MIT
 *
 * Four copies of mxq in one process, static ones inside two shared libraries, libmxq and
 * libmxq-aot, in a program that has a Lua of its own from the shared liblua: each works, none meets
 * another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <mxq/mxq.h>

#include "copy.h"

static const char name[] = "quantize_bf16_e4m3_b32_rceil_colt_lin";

static struct {
  int (*run)(const char *name, struct copy_result *result);
  enum mxq_status expected;
} const copies[] = {{static_copy, MXQ_OK},
                    {other_static_copy, MXQ_OK},
                    {shared_copy, MXQ_OK},
                    {aot_copy, MXQ_NOT_PREBUILT}};
#define COPIES (sizeof copies / sizeof *copies)

/* A Lua state that stays in use while the copies expand templates in theirs. */
static int setup(void **state) {
  lua_State *lua = luaL_newstate();
  if (!lua) return -1;
  luaL_openlibs(lua);
  *state = lua;
  return luaL_dostring(lua, "function step(n) t = t or {} t[#t + 1] = ('x'):rep(n) return #t end");
}

static int teardown(void **state) {
  lua_close(*state);
  return 0;
}

static void host_lua_works(lua_State *lua, int calls) {
  lua_getglobal(lua, "step");
  lua_pushinteger(lua, 1000);
  assert_int_equal(lua_pcall(lua, 1, 1, 0), LUA_OK);
  assert_int_equal(lua_tointeger(lua, -1), calls);
  lua_pop(lua, 1);
}

static void every_copy_works_beside_the_hosts_lua(void **state) {
  struct copy_result results[COPIES];
  int calls = 0;
  for (size_t round = 0; round < 2; round++)
    for (size_t i = 0; i < COPIES; i++) {
      host_lua_works(*state, ++calls);
      assert_int_equal(copies[i].run(name, &results[i]), 0);
      if (results[i].prepared != (int)copies[i].expected)
        fail_msg("copy %zu: status %d: %s", i, results[i].prepared, results[i].error);
    }
  for (size_t i = 0; i < COPIES; i++)
    for (size_t j = 0; j < i; j++) assert_ptr_not_equal(results[i].version, results[j].version);
}

static void each_copy_has_its_own_error_text(void **state) {
  struct copy_result mine, others;
  (void)state;
  assert_int_equal(aot_copy(name, &mine), 0);
  assert_non_null(strstr(mine.error, name));
  assert_int_equal(static_copy(name, &others), 0);
  assert_string_equal(others.error, ""); /* that copy never failed */
  assert_int_equal(shared_copy("no_such_name", &others), 1);
  assert_int_equal(static_copy(name, &others), 0);
  assert_string_equal(others.error, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_copy_works_beside_the_hosts_lua),
      cmocka_unit_test(each_copy_has_its_own_error_text),
  };
  return cmocka_run_group_tests_name("cross", tests, setup, teardown);
}
