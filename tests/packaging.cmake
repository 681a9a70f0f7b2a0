# SPDX-License-Identifier: MIT
# Tests of what users install and link. The sanitizers' builds are not for users.
mxq_test(abi host)
if(MXQ_SANITIZE)
  return()
endif()
add_subdirectory(cross)
