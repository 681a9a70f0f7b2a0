# SPDX-License-Identifier: MIT
# The same tests with each major version of NVRTC that script/bootstrap --tests puts into .venv; they
# are skipped where it is not there.
foreach(row 12:cuda_nvrtc 13:cu13)
  string(REPLACE ":" ";" row ${row})
  list(GET row 0 major)
  list(GET row 1 package)
  set(nvrtc ${PROJECT_SOURCE_DIR}/.venv/no/libnvrtc.so.${major})
  file(GLOB found
    ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/${package}/lib/libnvrtc.so.${major})
  if(found)
    list(GET found 0 nvrtc)
  endif()
  foreach(name compile image locale)
    add_test(NAME ${name}_nvrtc${major} COMMAND test_${name})
    set_tests_properties(${name}_nvrtc${major} PROPERTIES LABELS nvrtc SKIP_RETURN_CODE 77
      ENVIRONMENT MXQ_NVRTC=${nvrtc})
  endforeach()
endforeach()

# Registers, shared memory and instructions of kernels against tests/limits.txt: of some, and of all.
add_test(NAME limits COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/limits.py
  $<TARGET_FILE:mxq_cli> --quick)
add_test(NAME limits_all COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/limits.py
  $<TARGET_FILE:mxq_cli>)
set_tests_properties(limits PROPERTIES LABELS "nvrtc;sample" SKIP_RETURN_CODE 77)
set_tests_properties(limits_all PROPERTIES LABELS "nvrtc;long" SKIP_RETURN_CODE 77 PROCESSORS 2 COST 300
  TIMEOUT 1800)
