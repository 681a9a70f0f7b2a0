# SPDX-License-Identifier: MIT
# Tests of what others include and link: headers as C99 and C++17 alone, exported names; and of the
# generator's hash. They run nothing that a sanitizer could watch, and it adds names of its own.
if(MXQ_SANITIZE)
  return()
endif()
set(header_flags -pedantic-errors -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only
  -I${PROJECT_SOURCE_DIR}/include)
foreach(header mxq/mxq.h mxq/variant.h mxq/status.h use)
  set(file ${PROJECT_SOURCE_DIR}/include/${header})
  if(header STREQUAL use)
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/header_use.c)
  endif()
  string(REGEX REPLACE "[/.]" "_" name ${header})
  add_test(NAME header_c99_${name}
    COMMAND ${CMAKE_C_COMPILER} -x c -std=c99 ${header_flags} ${file})
  add_test(NAME header_cxx17_${name}
    COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++17 ${header_flags} ${file})
  set_tests_properties(header_c99_${name} header_cxx17_${name} PROPERTIES LABELS host)
endforeach()

foreach(library mxq mxq_aot)
  string(REPLACE mxq exports name ${library})
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DREADELF=${CMAKE_READELF}
    -DSHARED=$<TARGET_FILE:${library}> -DSTATIC=$<TARGET_FILE:${library}_static>
    -DSYMBOLS=${PROJECT_SOURCE_DIR}/abi/libmxq.symbols
    -DINCLUDE=${PROJECT_SOURCE_DIR}/include -P ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.cmake)
  set_tests_properties(${name} PROPERTIES LABELS host)
endforeach()

add_test(NAME generator_hash COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DWORK=${CMAKE_CURRENT_BINARY_DIR}/hash -P ${CMAKE_CURRENT_SOURCE_DIR}/check_hash.cmake)
set_tests_properties(generator_hash PROPERTIES LABELS host)
