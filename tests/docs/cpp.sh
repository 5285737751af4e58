#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cpp.sh CXX: this compiler compiles collet.hpp without warnings. Runs the test of collet.hpp and the program of
# docs/cpp.md on both CPU backends. The README's C program must also compile as C++. Skipped if the compiler is missing.
set -euo pipefail
: "${SOURCE:?}" "${WORK:?}" "${FLAGS?}" "${LIBRARY:?}"
cxx=$(command -v "$1") || {
    echo "there is no $1"
    exit 77
}
mkdir -p "$WORK"
build() {
    # shellcheck disable=SC2086 # FLAGS is a list
    "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $FLAGS "-I$SOURCE/include" -x c++ "$SOURCE/$1" \
        -x none "$LIBRARY" "-Wl,-rpath,${LIBRARY%/*}" -o "$WORK/program"
}
build tests/core/test_cpp.cpp
for backend in cpu_scalar cpu_openmp; do
    "$WORK/program" "$backend"
done
build examples/arrays.cpp
for backend in cpu_scalar cpu_openmp; do
    [ "$("$WORK/program" "$backend")" = "[3.5, 14.5, 33.5] [3.5, 15.5, 35.5] 7
[[2, 2, 2],
 [1, 4, 9]]
[[12, 28],
 [28, 98]] by $backend" ]
done
build examples/hello.c
"$WORK/program" | grep '^2 4 6, computed by cpu_'
