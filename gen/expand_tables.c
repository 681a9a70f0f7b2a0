/* SPDX-License-Identifier: MIT */
#include "expand_tables.h"

#include <string.h>

#include "axes.h"
#include "schedule.h"
#include "status.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The rows of axes.def; the facts as they are written there, for Lua to read. */
static const struct {
  const char *list;
  const char *token;
  unsigned number;
  const char *facts;
} rows[] = {
#define MXQ_OP(NAME, token, number)                    {"op", #token, number, ""},
#define MXQ_TYPE(NAME, token, number, ...)             {"type", #token, number, #__VA_ARGS__},
#define MXQ_BLOCK(NAME, token, number)                 {"block", #token, number, ""},
#define MXQ_MODE(NAME, token, number, ...)             {"mode", #token, number, #__VA_ARGS__},
#define MXQ_LAYOUT(NAME, token, number, first, second) {"layout", #token, number, ""},
#define MXQ_SCALES(NAME, token, number)                {"scales", #token, number, ""},
#include <mxq/axes.def>
};

static const struct {
  const char *name;
  size_t offset;
} geometry_fields[] = {
#define FIELD(name) \
  { #name, offsetof(struct mxq_geometry, name) }
    FIELD(tile_n),          FIELD(tile_k),         FIELD(threads),      FIELD(columns_per_thread),
    FIELD(rows_per_thread), FIELD(held),           FIELD(in_offset),    FIELD(in_bytes),
    FIELD(out_offset),      FIELD(out_bytes),      FIELD(also_offset),  FIELD(maxima_offset),
    FIELD(scales_offset),   FIELD(barrier_offset), FIELD(shared_bytes), FIELD(blocks_per_sm),
    FIELD(blocks_best),
#undef FIELD
};
_Static_assert(COUNT(geometry_fields) * sizeof(unsigned) == sizeof(struct mxq_geometry),
               "templates see every field of the geometry");

static void set_number(lua_State *lua, const char *key, unsigned value) {
  lua_pushinteger(lua, (lua_Integer)value);
  lua_setfield(lua, -2, key);
}

static void set_string(lua_State *lua, const char *key, const char *value) {
  lua_pushstring(lua, value);
  lua_setfield(lua, -2, key);
}

void mxq_push_axes_rows(lua_State *lua) {
  lua_createtable(lua, COUNT(rows), 0);
  for (size_t i = 0; i < COUNT(rows); ++i) {
    lua_createtable(lua, 0, 6);
    set_string(lua, "list", rows[i].list);
    set_string(lua, "token", rows[i].token);
    set_number(lua, "number", rows[i].number);
    set_string(lua, "facts", rows[i].facts);
    if (strcmp(rows[i].list, "layout") == 0) {
      set_number(lua, "first", mxq_layout_part(rows[i].number, 0));
      set_number(lua, "second", mxq_layout_part(rows[i].number, 1));
    }
    lua_rawseti(lua, -2, (lua_Integer)i + 1);
  }
}

void mxq_push_part_names(lua_State *lua) {
  lua_createtable(lua, 0, 4);
  set_number(lua, "none", MXQ_PART_NONE);
  set_number(lua, "along_n", MXQ_PART_ALONG_N);
  set_number(lua, "along_k", MXQ_PART_ALONG_K);
  set_number(lua, "column_major", MXQ_PART_COLUMN_MAJOR);
}

static void set_variant(lua_State *lua, const struct mxq_variant *variant) {
  lua_createtable(lua, 0, 8);
  set_number(lua, "op", variant->op);
  set_number(lua, "input", variant->in);
  set_number(lua, "held", mxq_traits_of(variant).held);
  set_number(lua, "output", variant->out);
  set_number(lua, "block", variant->block);
  set_number(lua, "mode", variant->mode);
  set_number(lua, "layout", variant->layout);
  set_number(lua, "scales", variant->scales);
  lua_setfield(lua, -2, "variant");
}

static void set_kernel(lua_State *lua, const struct mxq_expansion *expansion) {
  struct mxq_geometry geometry;
  mxq_geometry_of(expansion->id, &geometry);
  mxq_geometry_fit(&geometry, expansion->arch);
  lua_createtable(lua, 0, COUNT(geometry_fields) + 3);
  set_string(lua, "name", expansion->name);
  set_string(lua, "symbol", expansion->symbol);
  set_string(lua, "family", mxq_family_facts(expansion->id->family)->token);
  for (size_t i = 0; i < COUNT(geometry_fields); ++i) {
    unsigned value;
    memcpy(&value, (const char *)&geometry + geometry_fields[i].offset, sizeof value);
    set_number(lua, geometry_fields[i].name, value);
  }
  lua_setfield(lua, -2, "kernel");
}

static void set_arch(lua_State *lua, const struct mxq_arch *arch) {
  lua_createtable(lua, 0, 7);
  set_string(lua, "name", arch->name);
  set_number(lua, "number", arch->number);
  set_number(lua, "shared_max", arch->shared_max);
  set_number(lua, "has_tma", arch->has_tma);
  set_number(lua, "has_fp8", arch->has_fp8);
  set_number(lua, "has_narrow", arch->has_narrow);
  set_number(lua, "use_narrow", arch->use_narrow);
  lua_setfield(lua, -2, "arch");
}

/* The comment that an expansion begins with. */
static void set_header(lua_State *lua, const struct mxq_expansion *expansion) {
  lua_pushfstring(lua,
                  "// %s for sm_%s, from templates/%s.\n"
                  "// Reproduce: mxq source %s --arch %s%s%s\n"
                  "// SPDX-License-Identifier: MIT\n",
                  expansion->name, expansion->arch->name, expansion->template_file,
                  expansion->variant, expansion->arch->name,
                  expansion->is_default ? "" : " --kernel ",
                  expansion->is_default ? "" : expansion->name);
  lua_setfield(lua, -2, "header");
}

void mxq_push_request(lua_State *lua, const struct mxq_expansion *expansion) {
  lua_createtable(lua, 0, 6);
  set_string(lua, "template", expansion->template_file);
  set_string(lua, "variant_name", expansion->variant);
  set_variant(lua, &expansion->id->variant);
  set_kernel(lua, expansion);
  set_arch(lua, expansion->arch);
  set_header(lua, expansion);
}

enum mxq_status mxq_expansion_describe(const struct mxq_kernel_id *id, const struct mxq_arch *arch,
                                       struct mxq_expansion *expansion) {
  struct mxq_expansion made = {.id = id, .arch = arch};
  struct mxq_kernel_id chosen;
  MXQ_FAIL_IF(!arch, MXQ_INVALID_ARGUMENT, "the arch is NULL");
  MXQ_TRY(mxq_kernel_id_name(id, made.name, sizeof made.name));
  MXQ_TRY(mxq_kernel_id_symbol(id, made.symbol, sizeof made.symbol));
  MXQ_TRY(mxq_variant_name(&id->variant, made.variant, sizeof made.variant));
  MXQ_TRY(mxq_kernel_id_check_arch(id, arch));
  made.template_file = mxq_form_facts(id)->template_file;
  if (mxq_kernel_id_default(&id->variant, arch, &chosen) == MXQ_OK)
    made.is_default = memcmp(&chosen, id, sizeof chosen) == 0;
  *expansion = made;
  return MXQ_OK;
}
