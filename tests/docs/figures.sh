#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh SOURCE BUILD: runs the commands of the README's table of figures.
set -euo pipefail
count=0
while read -r line; do
    read -ra words <<<"${line//build\/bin\//$2/bin/}"
    "${words[@]}"
    count=$((count + 1))
done < <(sed -n '/^## Figures/,/^## More/p' "$1/README.md" | grep -oE '`build/bin/[^`]+`' | tr -d '`')
[ "$count" = 3 ] || { echo "$count commands ran, not 3" >&2; exit 1; }
