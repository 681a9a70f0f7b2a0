# SPDX-License-Identifier: MIT
# Writes a C file that holds the templates and the template engine, and a hash of everything that
# an expansion depends on. Run at build time:
#   cmake -DROOT=<source folder> -DOUTPUT=<file.c> -P embed.cmake
cmake_minimum_required(VERSION 3.22)

# The bytes of a file as the initializer of a C array, with a zero after them.
function(append_array symbol path)
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR length "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char ${symbol}[] = {\n${bytes}0};\n")
  set(text "${text}" PARENT_SCOPE)
  set(length ${length} PARENT_SCOPE)
endfunction()

file(GLOB templates ${ROOT}/templates/*.cu ${ROOT}/templates/*.cuh ${ROOT}/templates/*.h)
file(GLOB hashed RELATIVE ${ROOT} ${ROOT}/templates/*.cu ${ROOT}/templates/*.cuh
  ${ROOT}/templates/*.h ${ROOT}/gen/*.c ${ROOT}/gen/*.h ${ROOT}/gen/*.lua
  ${ROOT}/include/mxq/variant.h ${ROOT}/include/mxq/axes.def)
file(GLOB engine ${ROOT}/gen/*.lua)
list(SORT templates)
list(SORT engine)
list(SORT hashed)

set(text "/* SPDX-License-Identifier: MIT */\n#include \"embedded.h\"\n#include \"expand.h\"\n\n")
set(index 0)
foreach(list IN ITEMS templates engine)
  set(rows "")
  foreach(path IN LISTS ${list})
    get_filename_component(name ${path} NAME)
    append_array(file_${index} ${path})
    string(APPEND rows "    {\"${name}\", (const char *)file_${index}, ${length}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND text "const struct mxq_embedded mxq_embedded_${list}[] = {\n${rows}    {0, 0, 0},\n};\n")
endforeach()

# Names and contents, in sorted order, without the folder that they were built in.
set(manifest "")
foreach(name IN LISTS hashed)
  file(SHA256 ${ROOT}/${name} digest)
  string(APPEND manifest "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${manifest}")
string(SUBSTRING ${digest} 0 32 digest)
string(APPEND text "const char mxq_generator_hash[] = \"${digest}\";\n")

file(WRITE ${OUTPUT} "${text}")
