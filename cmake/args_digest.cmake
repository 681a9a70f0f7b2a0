# SPDX-License-Identifier: MIT
# Writes a C file with a digest of what the host passes to kernels. Run at build time:
#   cmake -DINPUT=<args.h> -DOUTPUT=<file.c> -P args_digest.cmake
cmake_minimum_required(VERSION 3.22)
file(SHA256 ${INPUT} digest)
string(SUBSTRING ${digest} 0 32 digest)
file(WRITE ${OUTPUT} "/* SPDX-License-Identifier: MIT */
#include \"kernel_set.h\"

const char mxq_args_digest[] = \"${digest}\";
")
