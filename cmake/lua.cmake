# SPDX-License-Identifier: MIT
# mxq_lua: Lua 5.4 as a static library that may go into a shared one. The distributions' archive is
# position independent but for stdin, stdout and stderr, which a shared library cannot refer to
# directly; a copy of it refers to variables of ours instead (gen/lua_stdio.c).
find_path(MXQ_LUA_INCLUDE lua.h PATH_SUFFIXES lua5.4 lua54 lua-5.4 lua
  DOC "Folder of lua.h, version 5.4")
find_library(MXQ_LUA_ARCHIVE NAMES liblua5.4.a liblua54.a liblua-5.4.a liblua.a
  DOC "Static library of Lua 5.4")
if(NOT MXQ_LUA_INCLUDE OR NOT MXQ_LUA_ARCHIVE)
  message(FATAL_ERROR
    "Lua 5.4 with its static library was not found (headers: ${MXQ_LUA_INCLUDE}, archive: "
    "${MXQ_LUA_ARCHIVE}). On Debian and Ubuntu: apt-get install liblua5.4-dev. Elsewhere set "
    "MXQ_LUA_INCLUDE to the folder of lua.h and MXQ_LUA_ARCHIVE to liblua5.4.a.")
endif()
file(STRINGS ${MXQ_LUA_INCLUDE}/lua.h mxq_lua_version REGEX "define LUA_VERSION_(MAJOR|MINOR)")
if(NOT mxq_lua_version MATCHES "\"5\".*\"4\"")
  message(FATAL_ERROR "${MXQ_LUA_INCLUDE}/lua.h is not of Lua 5.4; set MXQ_LUA_INCLUDE")
endif()
if(NOT CMAKE_OBJCOPY)
  message(FATAL_ERROR "objcopy was not found; it is part of the package binutils")
endif()

set(mxq_lua_copy ${PROJECT_BINARY_DIR}/lua/libmxq_lua.a)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lua)
add_custom_command(OUTPUT ${mxq_lua_copy}
  COMMAND ${CMAKE_OBJCOPY}
    --redefine-sym stdin=mxq_lua_stdin
    --redefine-sym stdout=mxq_lua_stdout
    --redefine-sym stderr=mxq_lua_stderr
    ${MXQ_LUA_ARCHIVE} ${mxq_lua_copy}
  DEPENDS ${MXQ_LUA_ARCHIVE} VERBATIM)
add_custom_target(mxq_lua_copy DEPENDS ${mxq_lua_copy})
add_library(mxq_lua STATIC IMPORTED GLOBAL)
set_target_properties(mxq_lua PROPERTIES
  IMPORTED_LOCATION ${mxq_lua_copy}
  INTERFACE_INCLUDE_DIRECTORIES ${MXQ_LUA_INCLUDE})
add_dependencies(mxq_lua mxq_lua_copy)
