/* SPDX-License-Identifier: MIT
 *
 * What C gives to the template engine, as Lua tables. All functions push one value; they may raise
 * Lua errors.
 */
#ifndef MXQ_GEN_EXPAND_TABLES_H
#define MXQ_GEN_EXPAND_TABLES_H

#include <lua.h>

#include "kernel_id.h"

/* The names of one kernel, checked and spelled before Lua runs. */
struct mxq_expansion {
  const struct mxq_kernel_id *id;
  const struct mxq_arch *arch;
  const char *template_file;
  char variant[MXQ_VARIANT_NAME_SIZE];
  char name[MXQ_KERNEL_NAME_SIZE];
  char symbol[MXQ_KERNEL_NAME_SIZE];
  int is_default; /* what the variant's name alone stands for on this arch */
};

/* Fills `expansion`; fails for an id that is no kernel or that the arch cannot run. */
enum mxq_status mxq_expansion_describe(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                       struct mxq_expansion *expansion);

void mxq_push_axes_rows(lua_State *lua);
void mxq_push_part_names(lua_State *lua);
void mxq_push_request(lua_State *lua, const struct mxq_expansion *expansion);

#endif
