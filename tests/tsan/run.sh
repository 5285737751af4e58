#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE WORK GENERATOR: builds in WORK, with the preset tsan, the tests of libcore, expressions and lazy Arrays,
# and runs them after the planted race. The sanitizer may report nothing that suppressions.txt does not name.
set -euo pipefail
source=$1 work=$2 generator=$3

command -v clang >/dev/null || { echo "clang is not installed"; exit 77; }
echo '#include <omp.h>' | clang -fopenmp -fsyntax-only -x c - 2>/dev/null ||
    { echo "clang has no OpenMP (Debian: libomp-dev)"; exit 77; }

cd "$source"
cmake --preset tsan -B "$work" -G "$generator" -DCOLLET_LEVELS=native \
    -DCOLLET_TEST_CACHE="$work/cache" >"$work.log" 2>&1 || { cat "$work.log"; exit 1; }
cmake --build "$work" --parallel 2 --target tsan_tests >"$work.log" 2>&1 || { tail -40 "$work.log"; exit 1; }
options=(--test-dir "$work" --output-on-failure)
ctest "${options[@]}" --no-tests=error -R '^planted_race$'
ctest "${options[@]}" --no-tests=error -L '^core$' -LE '^long$' -E '^(late_failures_opencl|test_huge_shapes)$'
ctest "${options[@]}" -R '^python_(lazy|evaluate)' # none where Python has no library
