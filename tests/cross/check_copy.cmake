# SPDX-License-Identifier: MIT
# A shared library with a static mxq inside: it exports EXPECTED alone.
#   cmake -DNM=nm -DREADELF=readelf -DLIBRARY=lib.so -DEXPECTED=name -P check_copy.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE exported)
string(REGEX MATCHALL "[A-Za-z] [A-Za-z0-9_]+" lines "${exported}")
if(NOT lines STREQUAL "T ${EXPECTED}")
  message(FATAL_ERROR "${LIBRARY} exports: ${lines}")
endif()
execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE dynamic)
string(REGEX MATCHALL "NEEDED[^\n]*" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR "${READELF} -d ${LIBRARY} shows nothing")
endif()
foreach(line IN LISTS needed)
  if(line MATCHES "lua|cuda|nvrtc|mxq")
    message(FATAL_ERROR "${LIBRARY}: ${line}")
  endif()
endforeach()
