#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# program_allocations.sh LIBRARY PROGRAMS: whichever allocation fails, a program exits (no signal ends
# it), and prints an error or the same first line as without the failure. LIBRARY is the library of
# failing_allocation.c. (--help is left out: glibc's own code aborts without memory.)
set -u
library=$1
cd "$2" || exit 1
status=0 runs=0 out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT
while read -r command; do
    at=0
    # shellcheck disable=SC2086
    expected=$(./$command 2>/dev/null </dev/null | head -n 1)
    while [ $at -lt 240 ]; do
        at=$((at < 60 ? at + 1 : at + 8)) # first the allocations of the start, then those in loops
        # shellcheck disable=SC2086
        FAIL_AT=$at LD_LIBRARY_PATH=${library%/*} LD_PRELOAD=${library##*/} ./$command >"$out" 2>"$err" </dev/null
        code=$?
        runs=$((runs + 1))
        if [ $code -ge 126 ]; then
            echo "$command: exit status $code with allocation $at failed"
            status=1
        elif [ $code = 0 ] && read -r first <"$out" && [ "$first" = "$expected" ]; then
            :
        elif [ ! -s "$err" ]; then
            echo "$command: exit status $code, not a word and not '$expected' with allocation $at failed"
            status=1
        fi
    done
done <<END
backend-info --json
backend-check --list cpu_scalar
backend-bench --list
collet-extract topology trajectory
collet-ternary --version
collet-rsoxs --plan morphology.h5
END
echo "$runs runs"
exit $status
