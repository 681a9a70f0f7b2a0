# SPDX-License-Identifier: MIT
#
# mxq_add_kernels(<target> MANIFEST <file> [ARCHS <arch>...] [NAME <name>])
#
# Compiles every kernel that the manifest's variants can need on the archs (such as 90a 100a; the
# manifest's own if not given) and builds them into <target>, a target of the same folder. <target>,
# and what links it, can then include <name>.h, which declares `extern const struct mxq_kernel_set <name>;` for
# mxq_context_add_kernels(). The name is <target>_kernels if not given. Link mxq::aot or mxq::mxq,
# or their static forms, to <target> as well.
#
# The kernels are compiled by NVRTC, on a machine that needs neither a GPU nor nvcc. Variables:
#   MXQ_EXECUTABLE   the program mxq to run; mxq::cli if not set. Set it for cross builds.
#   MXQ_NVRTC        the NVRTC library to use; what mxq finds if not set
function(mxq_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;NAME" "ARCHS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mxq_add_kernels(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}; "
      "allowed: MANIFEST, ARCHS, NAME")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "mxq_add_kernels(${target}): there is no target ${target}")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "mxq_add_kernels(${target}): call it in ${folder}, where the target is made")
  endif()
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "mxq_add_kernels(${target}): MANIFEST <file> is needed")
  endif()
  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE)
  if(NOT arg_NAME)
    string(MAKE_C_IDENTIFIER ${target}_kernels arg_NAME)
  endif()

  set(command "${MXQ_EXECUTABLE}")
  set(needed "${MXQ_EXECUTABLE}")
  if(NOT command)
    set(command $<TARGET_FILE:mxq::cli>)
    set(needed mxq::cli)
  endif()
  set(environment "")
  if(MXQ_NVRTC)
    set(environment ${CMAKE_COMMAND} -E env "MXQ_NVRTC=${MXQ_NVRTC}")
  endif()
  list(JOIN arg_ARCHS , archs)
  set(archs_option "")
  if(archs)
    set(archs_option --archs ${archs})
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/mxq/${arg_NAME}")
  set(stem "${out}/${arg_NAME}")
  file(MAKE_DIRECTORY "${out}")
  add_custom_command(OUTPUT "${stem}.blob" "${stem}_registry.c" "${stem}.h"
    COMMAND ${environment} ${command} emit "${manifest}" ${archs_option} --name ${arg_NAME}
      -o "${out}" --depfile "${stem}.d"
    DEPENDS "${manifest}" ${needed}
    DEPFILE "${stem}.d"
    COMMENT "Compiling the kernels of ${arg_NAME}"
    VERBATIM)
  set_source_files_properties("${stem}_registry.c" PROPERTIES
    OBJECT_DEPENDS "${stem}.blob"
    COMPILE_DEFINITIONS "MXQ_BLOB_FILE=\"${stem}.blob\""
    COMPILE_OPTIONS -fno-lto) # its assembler text would not survive
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT C IN_LIST languages)
    set_source_files_properties("${stem}_registry.c" PROPERTIES LANGUAGE CXX)
  endif()
  target_sources(${target} PRIVATE "${stem}_registry.c" "${stem}.h")
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
endfunction()
