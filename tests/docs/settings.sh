#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# settings.sh BACKEND_INFO PAGE: checks that the tables of the page list the keys that users can set,
# no more and no fewer, and the environment variables.
set -euo pipefail
table=$("$1" --env --json)

there=$(awk -F'"' '$2 == "key" { key = $4 }
    $2 == "type" && key && $4 != "probe" { print key }' <<<"$table")
listed=$(awk -F'|' '/^\| `/ { print $2 }' "$2" | grep -oE '`[a-z_.]+`' | tr -d '`')
difference=$(diff <(sort <<<"$there") <(sort <<<"$listed") || true)
for variable in $(awk -F'"' '$2 == "variable" { print $4 }' <<<"$table"); do
    grep -q "\`$variable\`" "$2" || difference+=" $variable"
done
if [ -n "$difference" ]; then
    echo "$2 and $1 --env differ: $difference" >&2
    exit 1
fi
