#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh SOURCE BUILD PYTHON: runs the commands of the README's table of figures.
set -euo pipefail
[ -n "${3-}" ] || { echo "skipped: no Python here has NumPy"; exit 77; }
count=0
while read -r line; do
    read -ra words <<<"$line"
    case $line in
    build/*) "$2/${words[0]#build/}" "${words[@]:1}" ;;
    *) # Status 1 means that some libraries are absent, or compute other results on this processor.
        compared=0
        while read -r text; do
            printf '%s\n' "$text"
            [[ $text != *'is the fastest library'* ]] || compared=1
            [[ $text != 'status '* || $text = 'status 1' ]] || exit 1
        done < <("$3" "$1/${words[0]}" --build "$2" "${words[@]:1}" || echo "status $?")
        [ "$compared" = 1 ] || { echo "skipped: no library to compare with"; exit 77; }
        ;;
    esac
    count=$((count + 1))
done < <(sed -n '/^## Figures/,/^## More/p' "$1/README.md" | grep -oE '`(build/bin|docs/benchmarks)/[^`]+`' | tr -d '`')
[ "$count" = 3 ] || { echo "$count commands ran, not 3" >&2; exit 1; }
