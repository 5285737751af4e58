# SPDX-License-Identifier: Apache-2.0
# Toolchain: 64-bit ARM from another machine, with Debian's cross compiler and arm64 packages
# (dpkg --add-architecture arm64). Tests run under qemu-user. A program under qemu-user can start another arm64 program
# only if binfmt registers the format, so plugins are not probed: COLLET_PROBE=off.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(COLLET_QEMU qemu-aarch64)
if(COLLET_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${COLLET_QEMU})
endif()
