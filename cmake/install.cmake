# SPDX-License-Identifier: MIT
# What `cmake --install` and CPack bring: libraries, headers, programs, the CMake package,
# pkg-config files, man pages, shell completion, notices. Everything finds everything else by
# relative paths: the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(mxq_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mxq)
set(mxq_doc_folder ${CMAKE_INSTALL_DATADIR}/doc/mxq)
file(RELATIVE_PATH mxq_bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(mxq_cli mxq-bench PROPERTIES INSTALL_RPATH "$ORIGIN/${mxq_bin_to_lib}")
set_target_properties(mxq mxq_aot PROPERTIES INSTALL_RPATH "$ORIGIN")

install(TARGETS mxq mxq_static mxq_aot mxq_aot_static mxq_cli EXPORT mxqTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS mxq-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/mxq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h PATTERN *.def)

# ---- CMake: find_package(mxq) ----
install(EXPORT mxqTargets NAMESPACE mxq:: DESTINATION ${mxq_package_folder})
configure_package_config_file(cmake/package/mxqConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/mxqConfig.cmake INSTALL_DESTINATION ${mxq_package_folder}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/mxqConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # before 1.0
install(FILES ${PROJECT_BINARY_DIR}/package/mxqConfig.cmake
  ${PROJECT_BINARY_DIR}/package/mxqConfigVersion.cmake cmake/package/mxq_add_kernels.cmake
  DESTINATION ${mxq_package_folder})

# ---- pkg-config: mxq, mxq-aot ----
file(RELATIVE_PATH mxq_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" mxq_up ${mxq_up})
foreach(MXQ_FILE mxq mxq-aot)
  configure_file(cmake/package/mxq.pc.in ${PROJECT_BINARY_DIR}/package/${MXQ_FILE}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${MXQ_FILE}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# ---- Man pages and completion, from --help; not where the programs cannot run ----
if(NOT CMAKE_CROSSCOMPILING)
  set(described ${PROJECT_BINARY_DIR}/described)
  file(GLOB describers ${PROJECT_SOURCE_DIR}/cmake/package/*.awk)
  set(describer ${PROJECT_SOURCE_DIR}/cmake/package/describe.sh)
  add_custom_command(OUTPUT ${described}/mxq.bash
    COMMAND sh ${describer} $<TARGET_FILE:mxq_cli> $<TARGET_FILE:mxq-bench> ${PROJECT_VERSION}
      ${described}
    DEPENDS mxq_cli mxq-bench ${describer} ${describers} VERBATIM)
  add_custom_target(mxq_described ALL DEPENDS ${described}/mxq.bash)
  install(DIRECTORY ${described}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${described}/mxq.bash RENAME mxq
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${described}/mxq.zsh RENAME _mxq
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${described}/mxq.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

file(GLOB mxq_docs docs/*.md)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${mxq_doc_folder})
install(FILES ${mxq_docs} DESTINATION ${mxq_doc_folder}/docs)
install(FILES LICENSE DESTINATION ${mxq_doc_folder} RENAME copyright)
install(FILES THIRD-PARTY DESTINATION ${mxq_doc_folder})

# ---- Undoing it ----
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
      -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()

# ---- Packages: cpack -G TGZ, cpack -G DEB ----
set(CPACK_PACKAGE_NAME mxq)
set(CPACK_PACKAGE_VENDOR "mxq")
set(CPACK_PACKAGE_CONTACT "mxq maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Block-scaled quantization kernels, one for each variant")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Turns bf16, f16 and f32 tensors into block-scaled low-precision ones.\n The CUDA driver and NVRTC are opened when they are needed, and work without them is possible.")
find_program(mxq_shlibdeps dpkg-shlibdeps)
if(mxq_shlibdeps)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libc6)
  if(MXQ_CJSON MATCHES "[.]so")
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libcjson1")
  endif()
endif()
include(CPack)
