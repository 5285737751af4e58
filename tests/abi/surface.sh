#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares the types of the public headers with those of interface 1.0 (surface_1_0.abi), by
# libabigail. A program holds every struct and every function's type in variables, so that libcore
# need not be built with debug information.
#
#   surface.sh check        what was added is allowed, what changed is not
#   surface.sh pin          writes surface_1_0.abi: for a new interface only
set -euo pipefail
: "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${LIBRARY:?}"
pinned=$SOURCE/tests/abi/surface_1_0.abi
command -v abidiff abidw >/dev/null || {
    echo "surface.sh: libabigail's abidiff is not installed (Debian: abigail-tools)"
    exit 77
}

mkdir -p "$WORK"
cd "$WORK"
headers=("$SOURCE"/include/collet/*.h)

{
    printf '#include <collet/%s>\n' "${headers[@]##*/}"
    sed -nE 's/^(typedef )?struct (collet_[a-z_]+) \{.*/\2/p' "${headers[@]}" | sort -u |
        while read -r name; do
            echo "extern struct $name *abi_of_$name; struct $name *abi_of_$name;"
        done
    nm -D --defined-only "$LIBRARY" | sed -nE 's/.* T (collet_[a-z0-9_]+)(@.*)?$/\1/p' | sort -u |
        while read -r name; do
            echo "extern __typeof__($name) *abi_of_$name; __typeof__($name) *abi_of_$name = &$name;"
        done
} >surface.c
# shellcheck disable=SC2086
"$CC" -std=gnu11 -g -gdwarf-4 -fPIC -shared -fno-eliminate-unused-debug-types "-I$SOURCE/include" \
    surface.c "$LIBRARY" -o surface.so
abidw --no-show-locs --no-corpus-path --no-comp-dir-path --type-id-style hash surface.so >surface.abi
case ${1:?check or pin} in
pin) cp surface.abi "$pinned" ;;
check)
    # 4: something changed, 8: incompatibly; additions alone are compatible.
    status=0
    abidiff --no-added-syms "$pinned" surface.abi || status=$?
    if ((status & 3)); then
        echo "surface.sh: abidiff failed"
        exit 1
    fi
    exit $((status & 12 ? 1 : 0))
    ;;
esac
