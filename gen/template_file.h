/* SPDX-License-Identifier: MIT */
#ifndef MXQ_GEN_TEMPLATE_FILE_H
#define MXQ_GEN_TEMPLATE_FILE_H

#include <lua.h>

/* Pushes the text of a template, from a folder or (NULL) of the built-in ones, or nil and the
 * reason why there is none. Returns the number of values, as a lua_CFunction does. */
int mxq_template_push(lua_State *lua, const char *directory, const char *name);

#endif
