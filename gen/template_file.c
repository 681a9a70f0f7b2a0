/* SPDX-License-Identifier: MIT */
#include "template_file.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"
#include "quote.h"

#define FILE_MOST ((size_t)1 << 20)

/* A name that stays inside of its folder. */
static int is_plain(const char *name) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return name[0] && name[0] != '.' && name[strspn(name, allowed)] == 0;
}

static int refuse(lua_State *lua, const char *name, const char *reason) {
  lua_pushnil(lua);
  lua_pushfstring(lua, "template %s: %s", mxq_quote(name).text, reason);
  return 2;
}

static int push_embedded(lua_State *lua, const char *name) {
  const struct mxq_embedded *file;
  for (file = mxq_embedded_templates; file->name; ++file)
    if (strcmp(file->name, name) == 0) break;
  if (file->name) {
    lua_pushlstring(lua, file->text, file->length);
    return 1;
  }
  luaL_Buffer names;
  luaL_buffinit(lua, &names);
  for (file = mxq_embedded_templates; file->name; ++file) {
    luaL_addstring(&names, " ");
    luaL_addstring(&names, file->name);
  }
  luaL_pushresult(&names);
  lua_pushnil(lua);
  lua_pushfstring(lua, "there is no template %s; those built in:%s", mxq_quote(name).text,
                  lua_tostring(lua, -2));
  return 2;
}

/* Reads up to `size` bytes; -1 with errno on failure. Allocates nothing: Lua's errors jump. */
static ssize_t read_file(const char *path, char *buffer, size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  size_t used = 0;
  ssize_t got = 1;
  while (used < size && got != 0) {
    got = read(file, buffer + used, size - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    used += (size_t)got;
  }
  const int error = errno;
  close(file);
  errno = error;
  return got < 0 ? -1 : (ssize_t)used;
}

static int push_file(lua_State *lua, const char *directory, const char *name) {
  const char *path = lua_pushfstring(lua, "%s/%s", directory, name);
  char *buffer = lua_newuserdatauv(lua, FILE_MOST + 1, 0);
  const ssize_t length = read_file(path, buffer, FILE_MOST + 1);
  if (length < 0) return refuse(lua, path, strerror(errno));
  if ((size_t)length > FILE_MOST) return refuse(lua, path, "larger than a template may be, 1 MB");
  lua_pushlstring(lua, buffer, (size_t)length);
  return 1;
}

int mxq_template_push(lua_State *lua, const char *directory, const char *name) {
  if (!is_plain(name))
    return refuse(lua, name, "a name has letters, digits, '_', '-' and '.' alone, no folder");
  return directory ? push_file(lua, directory, name) : push_embedded(lua, name);
}
