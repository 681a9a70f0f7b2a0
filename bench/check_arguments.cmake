# SPDX-License-Identifier: MIT
# What mxq-bench says of its arguments where it needs no device: cmake -DBENCH=... -P this file.
function(expect code text)
  execute_process(COMMAND ${BENCH} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out
    ERROR_VARIABLE error)
  if(NOT result EQUAL code OR NOT "${out}${error}" MATCHES "${text}")
    message(FATAL_ERROR "mxq-bench ${ARGN}: exit ${result}, wanted ${code} and '${text}': "
      "${out}${error}")
  endif()
endfunction()

expect(0 "Examples" --help)
expect(2 "no kernel matches" nosuch*)
expect(2 "unknown option '--frob'" --frob)
expect(2 "E,N,K" --shape 1,2)
expect(2 "E,N,K" --shape 1,2,3,4)
expect(2 "E,N,K" --shape 1,x,3)
expect(2 "E,N,K" --shape -1,2,3)
expect(2 "--shape needs" --shape)
expect(2 "--reps" --reps 0)
expect(2 "--reps" --reps nine)
expect(2 "--tune has shapes" --tune --shape 1,2,3)
expect(2 "--schedules all" --main --schedules)
expect(2 "--tune has shapes" --main --tune)
expect(2 "--main has shapes of its own" --main --shape 1,2,3)
expect(0 "row_lin.tma-" --main --list quantize_bf16_e4m3_b32_rceil_row_lin)
