#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# instructions.sh OBJDUMP PATTERN OBJECT...: fails and prints the places if an instruction in one of
# the objects matches PATTERN (extended regular expression). Also fails if an object has no
# instruction that uses %xmm.
set -eu
objdump=$1 pattern=$2
shift 2
for object in "$@"; do
    if ! "$objdump" -d --no-show-raw-insn "$object" >"instructions.$$"; then
        echo "$object: $objdump failed"
        exit 1
    fi
    count=$(grep -c '%xmm' "instructions.$$" || true)
    found=$(grep -E -- "$pattern" "instructions.$$" | head -n 5 || true)
    rm -f "instructions.$$"
    if [ "$count" -eq 0 ] || [ -n "$found" ]; then
        echo "$object: $count instructions with vector registers; forbidden ones:"
        echo "$found"
        exit 1
    fi
done
echo "$# objects"
