# SPDX-License-Identifier: MIT
# Tests of what users install and link. The sanitizers' builds are not for users.
mxq_test(abi host)
mxq_test(selectable host)
target_link_libraries(test_selectable PRIVATE mxq_cli_parts)
mxq_cli_test(cli_emit cli_emit nvrtc cpu ${PROJECT_BINARY_DIR}/fake_driver)
if(MXQ_SANITIZE)
  return()
endif()
add_test(NAME docs COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/check_docs.py
  ${PROJECT_SOURCE_DIR})
set_tests_properties(docs PROPERTIES LABELS host)
add_subdirectory(cross)
add_test(NAME another_block COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/another_block.py
  ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND})
set_tests_properties(another_block PROPERTIES LABELS "host;long" COST 70)

# The installed tree, in the hands of others' build systems. One test at a time works on it.
if(MXQ_INSTALL)
  add_test(NAME package COMMAND ${MXQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/package.py
    ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/fake_driver)
  set_tests_properties(package PROPERTIES LABELS "nvrtc;long" TIMEOUT 600 COST 60)
endif()
