# SPDX-License-Identifier: MIT
# The libraries that others link, each shared and static: libmxq, and libmxq-aot, the same without
# templates, Lua, NVRTC and the disk cache. The shared ones export the public API alone, each under
# a version name of its own, and resolve it among themselves: copies in one process do not meet. The
# static ones are one object each whose only global names are the public API, hidden, so that a
# library that takes one in does not pass it on.
set(mxq_abi ${PROJECT_SOURCE_DIR}/abi/libmxq.symbols)
set(mxq_jit_sources # what libmxq-aot leaves out
  expand expand_tables template_file lua_stdio embedded emit build[a-z_]* compile[a-z_]* nvrtc[a-z_]*
  store[a-z_]* measure)
list(JOIN mxq_jit_sources "|" mxq_jit_pattern)
set(mxq_jit_pattern "/(${mxq_jit_pattern})[.]c[.]o$")

# The objects of a library: kind "" or _shared.
function(mxq_objects_of result library kind)
  set(all $<TARGET_OBJECTS:mxq_gen${kind}> $<TARGET_OBJECTS:mxq_runtime${kind}>)
  if(library STREQUAL mxq-aot)
    set(all "$<FILTER:${all},EXCLUDE,${mxq_jit_pattern}>"
      $<TARGET_OBJECTS:mxq_without_jit${kind}>)
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# mxq_libraries(TARGET FILE VERSION_NAME [lua]): targets TARGET and TARGET_static.
function(mxq_libraries target file version_name)
  mxq_objects_of(shared ${file} _shared)
  set(map ${PROJECT_BINARY_DIR}/${file}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT
    "${version_name}_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} { global: mxq_*; local: *; };\n")
  add_library(${target} SHARED ${shared})
  target_link_libraries(${target} PRIVATE mxq_flags ${ARGN} ${CMAKE_DL_LIBS} pthread m)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--exclude-libs,ALL
    -Wl,-Bsymbolic-functions -Wl,--gc-sections)
  if(NOT MXQ_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} # before 1.0 minor versions may differ
    LINK_DEPENDS ${map})

  mxq_objects_of(objects ${file} "")
  set(lua "")
  if(ARGN)
    set(lua ${mxq_lua_copy})
  endif()
  set(object ${PROJECT_BINARY_DIR}/static/${file}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} "${objects}" ${lua}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${mxq_abi} ${object}
    DEPENDS mxq_gen mxq_runtime mxq_without_jit "${objects}" ${lua} ${mxq_abi}
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${target}_static STATIC ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${file} LINKER_LANGUAGE C)
  target_compile_definitions(${target}_static INTERFACE MXQ_STATIC)
  target_link_libraries(${target}_static INTERFACE ${CMAKE_DL_LIBS} pthread m)

  foreach(library ${target} ${target}_static)
    target_include_directories(${library} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  endforeach()
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/static)
mxq_libraries(mxq mxq mxq mxq_lua)
mxq_libraries(mxq_aot mxq-aot mxq_aot)
set_target_properties(mxq_aot PROPERTIES EXPORT_NAME aot)
set_target_properties(mxq_aot_static PROPERTIES EXPORT_NAME aot_static)
add_library(mxq::mxq ALIAS mxq)
add_library(mxq::mxq_static ALIAS mxq_static)
add_library(mxq::aot ALIAS mxq_aot)
add_library(mxq::aot_static ALIAS mxq_aot_static)
