#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What must be true of headers, symbols and the core's sources as a whole.
#
#   check.sh headers           each header compiles alone as C11 and C++17; two C files with all link
#   check.sh plugin FILE.so    a plugin exports collet_plugin_entry and nothing else
#   check.sh library FILE.so   libcore exports collet_* and nothing else
#   check.sh undefined FILE.so a plugin asks nothing of libcore
#   check.sh glibc FILE        an object asks for no function that glibc 2.28 does not have
#   check.sh core              the core names no backend
set -euo pipefail
# From CMakeLists.txt; FLAGS are those of the sanitizer.
: "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${CXX:?}" "${FLAGS?}" "${LIBRARY:?}"

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

headers() {
    local header strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "-I$SOURCE/include")
    local include
    for include in "$SOURCE"/engines/*/include; do
        strict+=("-I$include")
    done
    mkdir -p "$WORK"
    for header in "$SOURCE"/include/collet/*.h "$SOURCE"/engines/*/include/collet/*.h; do
        echo "#include <collet/${header##*/}>" >"$WORK/alone.c"
        echo 'extern int nothing;' >>"$WORK/alone.c"
        cp "$WORK/alone.c" "$WORK/alone.cpp"
        "$CC" -std=c11 "${strict[@]}" -fsyntax-only "$WORK/alone.c" || fail "$header is not C11"
        "$CXX" -std=c++17 "${strict[@]}" -fsyntax-only "$WORK/alone.cpp" ||
            fail "$header is not C++17"
    done
    # shellcheck disable=SC2086 # FLAGS are words
    "$CC" -std=c11 "${strict[@]}" $FLAGS "$SOURCE/tests/abi/first.c" "$SOURCE/tests/abi/second.c" \
        "$LIBRARY" "-Wl,-rpath,$(dirname "$LIBRARY")" -o "$WORK/two_files"
    "$WORK/two_files" || fail "a program of two files does not run"
}

# Names that the object defines for others; what a sanitizer adds is not the object's own.
exported() {
    nm -D --defined-only "$1" | awk '{print $NF}' | sed 's/@.*//' |
        grep -vE '^(__(asan|ubsan|tsan|odr_asan|lsan)|_end$|_edata$|__bss_start$|_init$|_fini$)' |
        sort -u
}

plugin() {
    local names
    names=$(exported "$1" || true)
    [ "$names" = collet_plugin_entry ] || fail "$1 exports: $names"
}

undefined() {
    local names
    names=$(nm -D --undefined-only "$1" | awk '{print $NF}' | grep '^collet_' || true)
    [ -z "$names" ] || fail "$1 wants of libcore: $names"
}

library() {
    local names
    names=$(exported "$1" | grep -v '^collet_' || true)
    [ -z "$names" ] || fail "$1 exports also: $names"
}

# dlopen, exp and others are older than the version that they have here: a build on an older glibc
# asks for the one that it has.
glibc() {
    local names older='dl(open|sym|error|addr|info)|[fl]?stat|fstatat|__libc_start_main|pthread_.*'
    older+='|(exp|exp2|log|log2|pow|hypot|fmod)f?'
    names=$(objdump -T "$1" |
        awk '/[*]UND[*]/ && match($0, /GLIBC_2\.[0-9]+/) {
            if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > 28) print $NF }' |
        grep -vxE "$older" || true)
    [ -z "$names" ] || fail "$1 wants of a glibc after 2.28: $names"
}

core() {
    if grep -riE --include='*.[ch]' 'cuda|opencl|openmp' "$SOURCE/core"; then
        fail "the core names a backend, above"
    fi
}

check=${1:?what to check, see the top of this file}
shift
"$check" "$@"
