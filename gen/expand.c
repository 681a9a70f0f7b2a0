/* SPDX-License-Identifier: MIT */
#include "expand.h"

#include <lauxlib.h>
#include <locale.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>
#include <sys/stat.h>

#include "embedded.h"
#include "expand_tables.h"
#include "lua_stdio.h"
#include "quote.h"
#include "status.h"
#include "template_file.h"

#define DEEPEST_PASTE     16
#define MEMORY_MOST       ((size_t)128 << 20)
#define INSTRUCTIONS_MOST 20000000

struct mxq_expander {
  struct mxq_allocator allocator;
  lua_State *lua;
  size_t used;     /* by Lua, bytes */
  int over_limit;  /* in this call, Lua asked for more than MEMORY_MOST */
  int no_memory;   /* in this call, the allocator refused */
  char *directory; /* NULL: the built-in templates */
};

/* What crosses a protected call. */
struct request {
  struct mxq_expander *expander;
  const struct mxq_expansion *expansion;
  char *source;
  size_t length;
};

static const char engine_key; /* its address: the registry key of the expanding function */

static void *allocate(void *user, void *pointer, size_t old_size, size_t size) {
  struct mxq_expander *expander = user;
  const size_t old = pointer ? old_size : 0;
  if (size > old && size - old > MEMORY_MOST - expander->used) {
    expander->over_limit = 1;
    return NULL;
  }
  void *moved = NULL;
  if (size) moved = mxq_resize(&expander->allocator, pointer, size);
  if (size && !moved && size > old) {
    expander->no_memory = 1;
    return NULL;
  }
  if (size && !moved) moved = pointer; /* Lua counts on shrinking */
  if (!size) mxq_free(&expander->allocator, pointer);
  expander->used += size - old;
  return moved;
}

static void stop_endless(lua_State *lua, lua_Debug *activation) {
  lua_getinfo(lua, "Sl", activation);
  lua_pushfstring(lua, "%s:%d: ran for more than %d instructions: an endless loop",
                  activation->short_src, activation->currentline, INSTRUCTIONS_MOST);
  lua_error(lua);
}

/* read(name): a template's text, or nil and a reason. */
static int read_template(lua_State *lua) {
  const struct mxq_expander *expander = lua_touserdata(lua, lua_upvalueindex(1));
  return mxq_template_push(lua, expander->directory, luaL_checkstring(lua, 1));
}

/* Pushes one of the engine's own files as a function. */
static void load_chunk(lua_State *lua, const char *name) {
  const struct mxq_embedded *file = mxq_embedded_engine;
  while (strcmp(file->name, name) != 0) ++file;
  if (luaL_loadbufferx(lua, file->text, file->length, name, "t") != LUA_OK) lua_error(lua);
}

static int open_engine(lua_State *lua) {
  static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                       {LUA_STRLIBNAME, luaopen_string},
                                       {LUA_TABLIBNAME, luaopen_table},
                                       {LUA_MATHLIBNAME, luaopen_math}};
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; ++i) {
    luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
    lua_pop(lua, 1);
  }
  load_chunk(lua, "expand.lua");
  lua_createtable(lua, 0, 4);
  lua_pushvalue(lua, 1);
  lua_pushcclosure(lua, read_template, 1);
  lua_setfield(lua, -2, "read");
  mxq_push_axes_rows(lua);
  lua_setfield(lua, -2, "rows");
  mxq_push_part_names(lua);
  lua_setfield(lua, -2, "parts");
  lua_pushinteger(lua, DEEPEST_PASTE);
  lua_setfield(lua, -2, "deepest_paste");
  load_chunk(lua, "sandbox.lua");
  lua_call(lua, 0, 2);
  lua_call(lua, 3, 1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &engine_key);
  return 0;
}

static int expand(lua_State *lua) {
  struct request *request = lua_touserdata(lua, 1);
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &engine_key);
  mxq_push_request(lua, request->expansion);
  lua_sethook(lua, stop_endless, LUA_MASKCOUNT, INSTRUCTIONS_MOST);
  lua_call(lua, 1, 1);
  size_t length;
  const char *text = lua_tolstring(lua, -1, &length);
  char *source = mxq_resize(&request->expander->allocator, NULL, length + 1);
  if (!source) return 0;
  memcpy(source, text, length + 1);
  request->source = source;
  request->length = length;
  return 0;
}

/* Calls `function` with one pointer, under the C locale of this thread alone. */
static enum mxq_status call(struct mxq_expander *expander, lua_CFunction function, void *argument,
                            const char *what) {
  lua_State *lua = expander->lua;
  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  MXQ_FAIL_IF(!c_locale, MXQ_OUT_OF_MEMORY, "%s: no memory for the C locale", what);
  const locale_t callers = uselocale(c_locale);
  expander->over_limit = expander->no_memory = 0;
  lua_settop(lua, 0);
  lua_pushcfunction(lua, function);
  lua_pushlightuserdata(lua, argument);
  const int result = lua_pcall(lua, 1, 0, 0);
  lua_sethook(lua, NULL, 0, 0);
  uselocale(callers);
  freelocale(c_locale);
  if (result == LUA_OK) return MXQ_OK;
  MXQ_FAIL_IF(expander->over_limit, MXQ_TEMPLATE_ERROR, "%s: its templates need more than %zu MB",
              what, MEMORY_MOST >> 20);
  MXQ_FAIL_IF(result == LUA_ERRMEM || expander->no_memory, MXQ_OUT_OF_MEMORY,
              "%s: no memory to expand it", what);
  MXQ_FAIL(MXQ_TEMPLATE_ERROR, "%s\n(expanding %s)",
           lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "an error without a text",
           what);
}

enum mxq_status mxq_expander_create(const struct mxq_allocator *allocator, const char *template_dir,
                                    struct mxq_expander **expander) {
  struct stat folder;
  MXQ_FAIL_IF(template_dir && (stat(template_dir, &folder) != 0 || !S_ISDIR(folder.st_mode)),
              MXQ_IO_ERROR, "%s is no folder of templates", mxq_quote(template_dir).text);
  struct mxq_expander *made = mxq_allocate_zeroed(allocator, sizeof *made);
  MXQ_FAIL_IF(!made, MXQ_OUT_OF_MEMORY, "no memory for the template engine");
  enum mxq_status status = MXQ_OUT_OF_MEMORY;
  made->allocator = *allocator;
  mxq_lua_stdio_init();
  if (template_dir) made->directory = mxq_copy_string(allocator, template_dir);
  if (made->directory || !template_dir) made->lua = lua_newstate(allocate, made);
  if (made->lua)
    status = call(made, open_engine, made, "the template engine");
  else
    mxq_status_set(status, "no memory for the template engine");
  if (status == MXQ_OK)
    *expander = made;
  else
    mxq_expander_destroy(made);
  return status;
}

void mxq_expander_destroy(struct mxq_expander *expander) {
  if (!expander) return;
  const struct mxq_allocator allocator = expander->allocator;
  if (expander->lua) lua_close(expander->lua);
  mxq_free(&allocator, expander->directory);
  mxq_free(&allocator, expander);
}

enum mxq_status mxq_expander_expand(struct mxq_expander *expander, const struct mxq_kernel_id *id,
                                    const struct mxq_arch *arch, char **source, size_t *length) {
  struct mxq_expansion expansion;
  MXQ_TRY(mxq_expansion_describe(id, arch, &expansion));
  struct request request = {.expander = expander, .expansion = &expansion};
  MXQ_TRY(call(expander, expand, &request, expansion.name));
  MXQ_FAIL_IF(!request.source, MXQ_OUT_OF_MEMORY, "%s: no memory for its source", expansion.name);
  *source = request.source;
  if (length) *length = request.length;
  return MXQ_OK;
}

enum mxq_status mxq_expand(const struct mxq_allocator *allocator, const struct mxq_kernel_id *id,
                           const struct mxq_arch *arch, const char *template_dir, char **source,
                           size_t *length) {
  struct mxq_expander *expander;
  MXQ_TRY(mxq_expander_create(allocator, template_dir, &expander));
  const enum mxq_status status = mxq_expander_expand(expander, id, arch, source, length);
  mxq_expander_destroy(expander);
  return status;
}
