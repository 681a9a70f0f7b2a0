# SPDX-License-Identifier: MIT
# Tests of the program mxq. mxq_cli_test(NAME FILE LABEL [DEVICE]): tests/FILE.py, Python's standard
# library only, on the program and, for mxq quantize, a device (cpu if not given).
find_program(MXQ_PYTHON python3 REQUIRED)
function(mxq_cli_test name file label)
  add_test(NAME ${name} COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${file}.py
    $<TARGET_FILE:mxq_cli> ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()

mxq_test(safetensors host)
target_link_libraries(test_safetensors PRIVATE mxq_cli_parts)
mxq_test(quality host)
target_link_libraries(test_quality PRIVATE mxq_cli_parts)
mxq_test(manifest host)
target_link_libraries(test_manifest PRIVATE mxq_cli_parts)
mxq_test(verify_fill host)
target_link_libraries(test_verify_fill PRIVATE mxq_cli_parts)
mxq_cli_test(cli_usage cli_usage host)
mxq_cli_test(cli_quantize cli_quantize host)
mxq_cli_test(cli_dequantize cli_dequantize host)
mxq_cli_test(cli_compare cli_compare host)
mxq_cli_test(cli_cache cli_cache host ${PROJECT_BINARY_DIR}/fake_driver
  ${PROJECT_BINARY_DIR}/fake_nvrtc/libnvrtc.so.13)
add_library(mxq_comma_preload MODULE comma_preload.c)
mxq_cli_test(cli_locale cli_locale host ${PROJECT_BINARY_DIR}/fake_nvrtc/libnvrtc.so.13
  $<TARGET_FILE:mxq_comma_preload>)
mxq_cli_test(cli_shards cli_shards host)
mxq_cli_test(cli_failures cli_failures host)
mxq_cli_test(cli_vectors cli_vectors host)
mxq_cli_test(cli_compile cli_compile nvrtc)
mxq_cli_test(cli_machines cli_machines nvrtc)
add_test(NAME sanitize_gpu COMMAND ${PROJECT_SOURCE_DIR}/script/sanitize_gpu
  --mxq $<TARGET_FILE:mxq_cli>)
set_tests_properties(sanitize_gpu PROPERTIES LABELS "gpu;long" SKIP_RETURN_CODE 3 TIMEOUT 1800)
mxq_cli_test(cli_vectors_gpu cli_vectors gpu cuda:0)
mxq_cli_test(cli_quantize_gpu cli_quantize gpu cuda:0)
mxq_cli_test(cli_dequantize_gpu cli_dequantize gpu cuda:0)
