#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# zig.sh SOURCE WORK LIBRARY: the Zig program of docs/languages.md compiles and adds. SOURCE is the
# root of the sources. ZIG is the compiler; without one the test is skipped.
set -euo pipefail
source=$1 work=$2 library=$3
[ -x "${ZIG:?}" ] || {
    echo "there is no zig (PyPI: ziglang)"
    exit 77
}
mkdir -p "$work"
cd "$work"
export ZIG_LOCAL_CACHE_DIR=$work/cache ZIG_GLOBAL_CACHE_DIR=$work/cache
cp "$source/examples/zig_add.zig" .
"$ZIG" translate-c -lc "-I$source/include" "$source/include/collet/collet.h" >collet.zig
"$ZIG" build-exe zig_add.zig -lc "$library" -rpath "$(dirname "$library")"
[[ $(./zig_add 2>&1) == "11 22 33 by cpu_"* ]]
