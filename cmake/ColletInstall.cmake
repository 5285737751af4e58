# SPDX-License-Identifier: Apache-2.0
# Besides the programs, the library and the plugins, `cmake --install` installs: headers, the
# pkg-config module collet, the CMake package collet (targets collet::core and collet::plugin) and
# the documents. All files find the prefix relative to their own location, so a tree can be moved.
include(CMakePackageConfigHelpers)

# For backends: headers, no library.
add_library(collet_plugin INTERFACE)
add_library(collet::plugin ALIAS collet_plugin)
set_target_properties(collet_plugin PROPERTIES EXPORT_NAME plugin)
target_include_directories(collet_plugin INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS collet_plugin EXPORT colletTargets)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/collet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# pkg-config
collet_install_pkg_config(collet.pc.in collet)

# The CMake package
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/collet-config.cmake.in
  ${PROJECT_BINARY_DIR}/collet-config.cmake
  INSTALL_DESTINATION ${COLLET_PACKAGE_DIRECTORY}
  PATH_VARS COLLET_PLUGIN_INSTALL_DIRECTORY
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
configure_file(${PROJECT_SOURCE_DIR}/cmake/collet-config-version.cmake.in
  ${PROJECT_BINARY_DIR}/collet-config-version.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/collet-config.cmake
              ${PROJECT_BINARY_DIR}/collet-config-version.cmake
  DESTINATION ${COLLET_PACKAGE_DIRECTORY})
install(EXPORT colletTargets NAMESPACE collet:: FILE collet-targets.cmake
  DESTINATION ${COLLET_PACKAGE_DIRECTORY})

# A part of another project installs no documents: that project has a README of its own.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME docs)
# The documents are installed in the same folders as in the sources, and with them the trajectory that their commands
# read, so that their links and commands work.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff LICENSE TYPE DOC)
install(FILES python/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/python)
install(FILES python/cyrsoxs/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/python/cyrsoxs)
install(FILES conformance/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/conformance)
install(FILES plugins/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/plugins)
install(FILES core/DESIGN.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/core)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
  REGEX "/docs/site$" EXCLUDE REGEX "/examples/CMakeLists\\.txt$" EXCLUDE) # a part of this build
set(peptide tests/data/md/peptide)
install(FILES ${peptide}/conf.gro ${peptide}/masses.txt ${peptide}/traj.trr DESTINATION ${CMAKE_INSTALL_DOCDIR}/${peptide})
