#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
    cat <<'END'
Usage: ./bootstrap.sh [build|test [--all]|clean|--help]

  build   (the default) installs what is missing, builds a release into build/, lists the
          backends of this machine and extracts the water trajectory into build/water.npz
  test    the same, then the tests, then the tests of code that sanitizers can check again, in
          build-asan/ with the address and undefined-behaviour sanitizers
          --all: the long tests too, for more than an hour: every case of every kernel, every row
          under Oclgrind, emulated processors, every architecture of NVRTC, every f32 number
  clean   removes build/ and build-*/; build-cache/: kernels compiled by tests

Works from any directory, is not interactive, and uses the network only when a package is missing.

Environment:
  BOOTSTRAP_INSTALL=0    never install packages, only list missing ones
  BOOTSTRAP_SANITIZE=0   test: leave the sanitizers out
  BOOTSTRAP_JOBS=N       parallel jobs (default: one a processor, one more for tests)
  BOOTSTRAP_WERROR=1     warnings are errors (default: 1 when CI is set, else 0)
  CC, CXX, CFLAGS, CMAKE_GENERATOR   as for CMake
END
}

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf 'bootstrap.sh: %s\n' "$*" >&2
    exit 1
}

# ---- Packages ---------------------------------------------------------------------------------

missing=()
optional=()

# need PACKAGE COMMAND...: PACKAGE is missing when the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# optionally PACKAGE COMMAND...: the same for optional packages.
optionally() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || optional+=("$package")
}

# compiles COMPILER LANGUAGE TEXT FLAG...
compiles() {
    "$1" -x "$2" "${@:4}" -fsyntax-only - <<<"$3"
}

# OpenMP is part of gcc; for clang it is a package of the same version.
openmp_package() {
    case ${CC:-cc} in
    *clang-[0-9]*) echo "libomp-${CC##*clang-}-dev" ;;
    *clang*) echo libomp-dev ;;
    *) echo gcc ;;
    esac
}

# python_has MODULE: a Python does; the tests take the first one.
python_has() {
    local python
    for python in python3 /usr/bin/python3; do
        ! "$python" -c "import $1" || return 0
    done
    return 1
}

# Debian's packages. The commands test the contents of a package, so other systems work as well.
find_missing() {
    missing=()
    optional=()
    need gcc compiles "${CC:-cc}" c 'int collet;'
    need libc6-dev compiles "${CC:-cc}" c '#include <stdlib.h>'
    need "$(openmp_package)" compiles "${CC:-cc}" c '#include <omp.h>' -fopenmp
    need make eval 'command -v make || command -v ninja'
    need cmake command -v cmake
    need pkg-config command -v pkg-config
    need libcjson-dev pkg-config --exists libcjson
    need libzip-dev pkg-config --exists libzip
    need libhdf5-dev pkg-config --exists hdf5
    need libconfig-dev pkg-config --exists libconfig
    need libopenblas-dev pkg-config --exists openblas
    optionally libdnnl-dev compiles "${CC:-cc}" c '#include <oneapi/dnnl/dnnl.h>'
    optionally libcairo2-dev pkg-config --exists cairo
    if [ "$1" = test ]; then
        optionally opencl-c-headers compiles "${CC:-cc}" c '#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>'
        optionally pocl-opencl-icd eval 'ls /etc/OpenCL/vendors/*.icd'
        optionally oclgrind command -v oclgrind
        optionally patch command -v patch
        optionally patchelf command -v patchelf
        optionally openmpi-bin command -v mpirun.openmpi
        optionally locales ls /usr/share/i18n/locales/de_DE
        optionally libclblast-dev compiles "${CC:-cc}" c '#include <clblast_c.h>'
        optionally python3-dev compiles "${CC:-cc}" c '#include <Python.h>' "-I$(python3 -c \
            'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)"
        optionally python3-numpy python_has numpy
        optionally python3-pytest python_has pytest
        optionally python3-distributed python_has distributed
        need g++ compiles "${CXX:-c++}" c++ '#include <memory>'
        need libcmocka-dev pkg-config --exists cmocka
        if [ "$(uname -m)" = x86_64 ]; then
            optionally qemu-user command -v qemu-x86_64
            optionally gcc-aarch64-linux-gnu compiles aarch64-linux-gnu-gcc c '#include <stdlib.h>'
            optionally libc6-dev-arm64-cross compiles aarch64-linux-gnu-gcc c '#include <stdlib.h>'
        fi
    fi
}

apt() {
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo)
        if [ ! -t 0 ]; then
            as_root=(sudo -n) # a password cannot be typed
        fi
    fi
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get "$@" </dev/null
}

# `apt-get install` fails as a whole when a distribution does not have one package; then optional
# packages are installed one by one, which takes longer.
install_packages() {
    local package install=(install -q -y --no-install-recommends)
    apt update -q || return
    ! apt "${install[@]}" "${missing[@]}" "${optional[@]}" || return 0
    if [ ${#missing[@]} != 0 ]; then
        apt "${install[@]}" "${missing[@]}" || return
    fi
    for package in "${optional[@]}"; do
        apt "${install[@]}" "$package" || say "$package cannot be installed here"
    done
}

can_install() {
    [ "${BOOTSTRAP_INSTALL:-1}" != 0 ] && command -v apt-get >/dev/null &&
        { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
}

# The commands that install the missing packages.
suggest() {
    printf 'On Debian and its descendants, as root:\n    apt-get update\n'
    if [ ${#missing[@]} != 0 ]; then
        echo "    apt-get install ${missing[*]}"
    fi
    if [ ${#optional[@]} != 0 ]; then
        echo "    for p in ${optional[*]}; do apt-get install \$p; done    # optional"
    fi
}

require_packages() {
    find_missing "$1"
    if [ ${#missing[@]} = 0 ] && [ ${#optional[@]} = 0 ]; then
        return
    fi
    say "Missing: ${missing[*]} ${optional[*]}"
    if can_install; then
        install_packages || say "apt-get failed; its messages are above"
        find_missing "$1"
    fi
    if [ ${#missing[@]} != 0 ]; then
        die "these packages are missing (Debian's names): ${missing[*]}
$(suggest)"
    fi
    if [ ${#optional[@]} != 0 ]; then
        say "Without ${optional[*]} some backends or tests are left out. $(suggest)"
    fi
}

# ---- Build, run, test -------------------------------------------------------------------------

jobs=${BOOTSTRAP_JOBS:-$(nproc)}

# build_preset PRESET DIRECTORY TESTS: configures and builds a preset of CMakePresets.json.
build_preset() {
    local preset=$1 directory=$2 tests=$3 werror=OFF generator=()
    if [ "${BOOTSTRAP_WERROR:-${CI:+1}}" = 1 ]; then
        werror=ON
    fi
    if [ ! -e "$directory/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] &&
        command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    say "Building $directory/ ($preset)"
    cmake --preset "$preset" "${generator[@]}" -DCOLLET_TESTS="$tests" \
        -DCOLLET_WERROR="$werror"
    cmake --build "$directory" --parallel "$jobs"
}

main_job() {
    local water=tests/data/md/water extract
    extract=(build/bin/collet-extract "$water/conf.gro" "$water/traj.trr"
        --masses "$water/masses.txt" -o build/water.npz --force)
    say "Backends of this machine: build/bin/backend-info"
    build/bin/backend-info
    say "Main job: ${extract[*]}"
    "${extract[@]}"
    ls -l build/water.npz build/water.meta.json
}

# run_tests DIRECTORY
run_tests() {
    local left_out=(--label-exclude '^long$')
    [ "$all" = 0 ] || left_out=()
    say "Tests of $1/"
    # Some wait for others' processes or for a time: one more than processors.
    ctest --test-dir "$1" --output-on-failure "${left_out[@]}" \
        --parallel "${BOOTSTRAP_JOBS:-$((jobs + 1))}"
}

build() {
    require_packages "$1"
    build_preset release build "$([ "$1" = test ] && echo ON || echo OFF)"
    main_job
}

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
case ${1:-build} in
build)
    build build
    say "Done. Next: ./bootstrap.sh test, or cmake --install build --prefix DIRECTORY"
    ;;
test)
    all=0
    if [ "${2:-}" = --all ]; then
        all=1
    elif [ $# -gt 1 ]; then
        usage >&2
        exit 2
    fi
    build test
    if [ "${BOOTSTRAP_SANITIZE:-1}" != 0 ]; then
        build_preset asan build-asan ON
    fi
    failed=0
    run_tests build || failed=1
    if [ "${BOOTSTRAP_SANITIZE:-1}" != 0 ]; then
        run_tests build-asan || failed=1
    fi
    exit $failed
    ;;
clean)
    rm -rf build build-*/
    ;;
-h | --help | help)
    usage
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
