#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh [-l] [ROW...]: builds Collet in the ways of the table below, in all or in the named ROWs, and tests each
# build. -l lists the rows. Builds and logs are in build-matrix/; a later run continues there. For each row the script
# prints its name, "passed", "FAILED" with the log, or "missing" with what this machine lacks; the seconds; and the
# row's description.
# Exit status: 0 if a row passed and none failed, 1 otherwise, 2 if there is no such row.
# Environment: MATRIX_JOBS, the number of parallel jobs (default: one for each processor).
set -euo pipefail

# A row has a name and a description. The function row_command below has the commands of each row.
table='
gcc-12      gcc 12, warnings are errors, as in all rows
gcc-14      gcc 14
clang-14    clang 14
clang-17    clang 17
clang-18    clang 18
clang-19    clang 19
libc++      collet.hpp with the C++ library of LLVM
lto         -flto
linker      -Wl,--as-needed -Wl,-z,now
O1          -O1
Og          -Og
minimal     without engines and Python, cpu_scalar alone
path        sources in a folder with blanks and letters beyond ASCII
tarball     the last commit from a tarball, outside any git repository
subproject  a part of another project
fetch       a part of another project, by FetchContent
on_core     engines, tools and Python on an installed libcore'

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source=$PWD work=$PWD/build-matrix jobs=${MATRIX_JOBS:-$(nproc)}

missing() {
    echo "$*"
    exit 77
}

# configured SOURCE OPTION...: configures SOURCE in $at.
configured() {
    cmake -S "$1" -B "$at" -DCMAKE_BUILD_TYPE=Release -DCOLLET_LEVELS=native -DCOLLET_WERROR=ON \
        -DCOLLET_TEST_CACHE="$source/build-cache" "${@:2}"
}

# quick SOURCE OPTION...: builds SOURCE in $at and runs the tests of `./bootstrap.sh test`.
quick() {
    configured "$@" -DCOLLET_TESTS=QUICK
    cmake --build "$at" --parallel "$jobs"
    ctest --test-dir "$at" -L '^quick$' --no-tests=error --parallel "$jobs" --output-on-failure
}

# compiler CC CXX: builds and tests with these compilers.
compiler() {
    local name
    for name; do
        command -v "$name" || missing "$name is not installed"
    done
    "$1" -fopenmp -fsyntax-only -x c - <<<'#include <omp.h>' || missing "$1 has no OpenMP"
    quick "$source" -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2"
}

# install NAME: runs the test install_NAME in a build that several rows share.
install() {
    at=$work/install
    configured "$source" -DCOLLET_TESTS=ON
    cmake --build "$at" --parallel "$jobs" --target collet_python collet-worker plugin_validation backend-check collet-extract collet-merge \
        collet-rsoxs collet-ternary
    ctest --test-dir "$at" -R "^install_$1\$" --no-tests=error --output-on-failure
}

row_command() {
    at=$work/$1
    case $1 in
    gcc-*) compiler "$1" "g++-${1#*-}" ;;
    clang-*) compiler "$1" "clang++-${1#*-}" ;;
    libc++)
        command -v clang++ || missing "clang++ is not installed"
        clang++ -stdlib=libc++ -fsyntax-only -x c++ - <<<'#include <memory>' || missing "clang++ has no libc++"
        configured "$source" -DCOLLET_TESTS=OFF -DCOLLET_ENGINES=OFF -DCOLLET_PYTHON=OFF
        cmake --build "$at" --parallel "$jobs" --target collet_core plugin_cpu_scalar plugin_cpu_openmp collet-probe
        SOURCE=$source WORK=$at/cpp FLAGS=-stdlib=libc++ LIBRARY=$at/lib/libcollet-core.so tests/docs/cpp.sh clang++
        ;;
    lto) quick "$source" -DCMAKE_C_FLAGS=-flto ;;
    linker)
        local flags="-Wl,--as-needed -Wl,-z,now"
        quick "$source" -DCMAKE_EXE_LINKER_FLAGS="$flags" -DCMAKE_SHARED_LINKER_FLAGS="$flags" -DCMAKE_MODULE_LINKER_FLAGS="$flags"
        ;;
    O1 | Og) quick "$source" -DCMAKE_C_FLAGS_RELEASE="-$1 -DNDEBUG" ;;
    minimal) quick "$source" -DCOLLET_ENGINES=OFF -DCOLLET_PYTHON=OFF -DCOLLET_BACKENDS=cpu_scalar ;;
    path)
        local copy="$work/path/a größere Tüte"
        mkdir -p "$copy"
        tar -c --exclude=./.git --exclude='./build*' . | tar -x -C "$copy"
        at=$copy/build
        quick "$copy"
        ;;
    tarball)
        git rev-parse HEAD || missing "the sources are no git repository"
        copy=$(mktemp -d)
        trap 'rm -rf "$copy"' EXIT
        git archive HEAD | tar -x -C "$copy"
        at=$copy/build
        quick "$copy"
        ;;
    subproject | fetch | on_core) install "$1" ;;
    esac
}

names=$(awk '{ print $1 }' <<<"$table")
if [ "${1-}" = -l ]; then
    echo "${table:1}"
    exit
fi
for row; do
    grep -qxF -e "$row" <<<"$names" || {
        echo "matrix.sh: there is no row '$row'; there are: ${names//$'\n'/ }" >&2
        exit 2
    }
done
mkdir -p "$work"
passed=0 failed=0
# shellcheck disable=SC2086 # a list
[ $# != 0 ] || set -- $names
for row; do
    log=$work/$row.log start=$SECONDS status=0
    set +e
    (set -e && row_command "$row") >"$log" 2>&1
    status=$?
    set -e
    case $status in
    0) result=passed passed=$((passed + 1)) ;;
    77) result="missing: $(tail -n 1 "$log")" ;;
    *) result="FAILED: ${log#"$source"/}" failed=$((failed + 1)) ;;
    esac
    printf '%-11s %-40s %5d s  %s\n' "$row" "$result" $((SECONDS - start)) \
        "$(sed -n "s/^${row//+/[+]} *//p" <<<"$table")"
done
[ "$failed" = 0 ] && [ "$passed" != 0 ]
