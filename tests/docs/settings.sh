#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# settings.sh BACKEND_INFO DOCS: checks that the tables of settings.md and backends.md list exactly the keys that users
# set, and the table of contributing/machines.md exactly the internal keys, all with their environment variables. Also
# checks that backend-info --env prints the keys that users set.
set -euo pipefail
# Lines "KEY users|internal VARIABLE".
table=$("$1" --env --json | awk -F'"' '
    $2 == "key" { key = $4 }
    $2 == "variable" { variable = $4 }
    $2 == "type" { type = $4 }
    $2 == "help" && key { print key, type == "probe" || $4 ~ /^internal: / ? "internal" : "users", variable; key = "" }')
failed=0

# compare WHAT THERE LISTED: compares two lists of keys.
compare() {
    local difference
    difference=$(diff <(sort <<<"$2") <(sort <<<"$3")) || {
        echo "$1 and backend-info --env differ: $difference" >&2
        failed=1
    }
}

# check KIND PAGE TEXT: compares the rows of the table in TEXT with the keys of this kind (users or internal).
check() {
    compare "$2" "$(awk -v kind="$1" '$2 == kind { print $1 }' <<<"$table")" \
        "$(awk -F'|' '/^\| `/ { print $2 }' <<<"$3" | grep -oE '`[a-z_.]+`' | tr -d '`')"
    for variable in $(awk -v kind="$1" '$2 == kind { print $3 }' <<<"$table"); do
        grep -q "\`$variable\`" <<<"$3" || { echo "$2 has no $variable" >&2; failed=1; }
    done
}

check users "$2/settings.md" "$(cat "$2"/{settings,backends}.md)"
check internal "$2/contributing/machines.md" "$(sed -n '/^## Internal settings/,/^## Other/p' "$2/contributing/machines.md")"
compare "backend-info --env without --json" "$(awk '$2 == "users" { print $1 }' <<<"$table")" \
    "$("$1" --env | grep -oE '^[a-z_.]+ ' | tr -d ' ')"
exit $failed
