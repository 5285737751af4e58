#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coverage.sh [BUILD]: lines and branches of the loader, the manifest, the cache and the parsers that
# the short tests run, by gcov. Needs gcovr. BUILD (build-coverage) is configured, built and kept;
# what no test took is in BUILD/coverage.txt. docs/trust.md says what is missed and why.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-coverage}

# The probe and children of tests end by _exit, which would lose their counts.
mkdir -p "$build"
cat >"$build/exit.c" <<END
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
END
cc -fPIC -c -o "$build/exit.o" "$build/exit.c"
export CCACHE_DISABLE=1 # whose objects do not fit their .gcno
wrap=-Wl,--wrap=_exit
# Atomic counters: tests have threads.
cmake --preset release -G Ninja -B "$build" -DCOLLET_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-O0 --coverage -fprofile-update=atomic" \
    -DCMAKE_EXE_LINKER_FLAGS=$wrap -DCMAKE_SHARED_LINKER_FLAGS=$wrap -DCMAKE_MODULE_LINKER_FLAGS=$wrap \
    -DCMAKE_C_STANDARD_LIBRARIES="$PWD/$build/exit.o" >/dev/null
cmake --build "$build" --parallel "$(nproc)"
find "$build" -name '*.gcda' -delete
# (Those fail that limit the size of files or fail the first allocation: counts are written too.)
ctest --test-dir "$build" -L '^(core|fault|fuzz|io|extract|ternary|tools|layers)$' -LE '^long$' \
    --parallel "$(nproc)" --output-on-failure >"$build/coverage.log" 2>&1 || true
sed -n '/The following tests FAILED/,/Errors/p' "$build/coverage.log"

report()
{
    gcovr --root . "$build" -j "$(nproc)" --exclude-unreachable-branches --exclude-noncode-lines \
        --filter 'core/plugins/' --filter 'core/util/' --filter 'core/op/' \
        --filter 'core/runtime/config.c' --filter 'core/runtime/select.c' \
        --filter 'engines/io/' --filter 'engines/trajectory/.*/' --filter 'engines/ternary/formats/' "$@"
}
report --branches --sort-percentage >"$build/coverage.txt"
cat "$build/coverage.txt"
