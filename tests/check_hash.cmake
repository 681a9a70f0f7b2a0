# SPDX-License-Identifier: MIT
# The generator's hash, a part of every cache key: the same in any folder, another one for a change
# of any file that an expansion depends on.
#   cmake -DROOT=<source folder> -DWORK=<scratch folder> -P check_hash.cmake
cmake_minimum_required(VERSION 3.22)

function(hash_of root result)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DOUTPUT=${WORK}/embedded.c
    -P ${ROOT}/cmake/embed.cmake RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "embed.cmake failed in ${root}")
  endif()
  file(STRINGS ${WORK}/embedded.c line REGEX "mxq_generator_hash")
  if(NOT line MATCHES "\"([0-9a-f]+)\"")
    message(FATAL_ERROR "no hash in: ${line}")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

set(copy "${WORK}/a folder")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY "${copy}")
file(COPY ${ROOT}/gen ${ROOT}/templates ${ROOT}/include DESTINATION "${copy}")

hash_of(${ROOT} here)
hash_of("${copy}" there)
if(NOT here STREQUAL there)
  message(FATAL_ERROR "the hash depends on the folder: ${here}, ${there}")
endif()

set(seen ${here})
foreach(file templates/tile.tma.cu templates/device.cuh templates/args.h gen/expand.lua
    gen/sandbox.lua gen/schedule.c gen/kernel_id.h include/mxq/axes.def include/mxq/variant.h)
  file(APPEND "${copy}/${file}" " ")
  hash_of("${copy}" changed)
  if(changed IN_LIST seen)
    message(FATAL_ERROR "a change of ${file} leaves the hash as it was")
  endif()
  list(APPEND seen ${changed})
endforeach()

file(WRITE "${copy}/templates/new.cuh" "// new\n")
hash_of("${copy}" added)
if(added IN_LIST seen)
  message(FATAL_ERROR "a new template leaves the hash as it was")
endif()
file(WRITE "${copy}/templates/new.cuh~" "// an editor's copy\n")
hash_of("${copy}" left)
if(NOT left STREQUAL added)
  message(FATAL_ERROR "an editor's copy of a template changes the hash")
endif()
