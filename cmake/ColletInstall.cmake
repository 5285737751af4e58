# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down beside the programs, the library and the plugins.
include(CMakePackageConfigHelpers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/collet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
