/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_LUA_STDIO_H
#define MXQ_GEN_LUA_STDIO_H

/* Sets what the build put in place of Lua's stdin, stdout and stderr (cmake/lua.cmake): copies of
 * those variables that a shared library may contain. Before any Lua state is made. */
void mxq_lua_stdio_init(void);

#endif
