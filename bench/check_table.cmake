# SPDX-License-Identifier: MIT
# The table of schedules is what mxq-bench prints of it: cmake -DBENCH=... -DTABLE=... -P this file.
execute_process(COMMAND ${BENCH} --tune --list RESULT_VARIABLE result OUTPUT_VARIABLE printed)
file(READ ${TABLE} table)
if(NOT result EQUAL 0 OR NOT printed STREQUAL table)
  message(FATAL_ERROR "mxq-bench --tune --list (exit ${result}) does not print ${TABLE}")
endif()
