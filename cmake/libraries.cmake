# SPDX-License-Identifier: MIT
# The libraries that others link: libmxq.so, which exports the public API alone, and libmxq.a, one
# object whose only global names begin with mxq_. Both contain Lua; a host may have its own.
set(mxq_objects $<TARGET_OBJECTS:mxq_gen> $<TARGET_OBJECTS:mxq_runtime>)
set(mxq_map ${PROJECT_SOURCE_DIR}/cmake/mxq.map)

add_library(mxq SHARED ${mxq_objects})
target_link_libraries(mxq PRIVATE mxq_flags mxq_lua ${CMAKE_DL_LIBS} pthread m)
target_include_directories(mxq INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_options(mxq PRIVATE -Wl,--version-script=${mxq_map} -Wl,--exclude-libs,ALL)
set_target_properties(mxq PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} # before 1.0 minor versions may differ
  LINK_DEPENDS ${mxq_map})

set(mxq_object ${PROJECT_BINARY_DIR}/static/mxq.o)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/static)
add_custom_command(OUTPUT ${mxq_object}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${mxq_object} ${mxq_objects} ${mxq_lua_copy}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=mxq_* ${mxq_object}
  DEPENDS mxq_gen mxq_runtime ${mxq_objects} ${mxq_lua_copy} COMMAND_EXPAND_LISTS VERBATIM)
add_library(mxq_static STATIC ${mxq_object})
set_source_files_properties(${mxq_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(mxq_static PROPERTIES OUTPUT_NAME mxq LINKER_LANGUAGE C)
target_compile_definitions(mxq_static INTERFACE MXQ_STATIC)
target_link_libraries(mxq_static INTERFACE ${CMAKE_DL_LIBS} pthread m)
target_include_directories(mxq_static INTERFACE ${PROJECT_SOURCE_DIR}/include)
