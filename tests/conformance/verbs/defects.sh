#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# defects.sh SOURCE WORK CHECK CC short|all: plants each defect of defects.txt (short: those with a
# "*") in a copy of examples/plugin_async, or of that with all extensions, and runs the check that is to catch it. Prints a table of
# what caught each; fails if one is missed, or (all) is caught in the good plugin.
set -euo pipefail
{ command -v patch && command -v perl; } >/dev/null || { echo "patch or perl is not installed"; exit 77; }
source=$1 work=$2 check=$3 cc=$4 part=$5
list=$source/tests/conformance/verbs/defects.txt
rm -rf "$work"
mkdir -p "$work"
cp "$source/examples/plugin_async/manifest.json" "$list" "$work/"

# build FILE.c: the plugin.
build() {
    "$cc" -std=gnu11 -D_GNU_SOURCE -O2 -Werror=incompatible-pointer-types \
        -fPIC -shared -fvisibility=hidden -I "$source/include" \
        -DCOLLET_MANIFEST_DIRECTORY="\"$work\"" -o "$work/example_async.so" "$1" -lm -lpthread
}

# run_check NAME[@LAYER]: on the plugin, with its output in $work/output; the status.
run_check() {
    local status=0 layer=()
    [[ $1 != *@* ]] || layer=(--layer "${1#*@}")
    "$check" --verbs --op "${1%@*}" "${layer[@]}" --timeout 20 "$work/example_async.so" \
        >"$work/output" 2>&1 || status=$?
    echo "$status"
}

patch -s -o "$work/extended.c" "$source/examples/plugin_async/plugin.c" \
    "$source/tests/conformance/verbs/extended.patch"

planted=0 missed=0 names=""
while IFS=$'\t' read -r what name expression; do
    [[ $what != \#* ]] || continue
    [[ $what == \** || $part = all ]] || continue
    what=${what#\*}
    good=$source/examples/plugin_async/plugin.c
    [[ $what != +* ]] || good=$work/extended.c
    what=${what#+}
    perl -0777 -pe "$expression" "$good" >"$work/plugin.c"
    ! cmp -s "$work/plugin.c" "$good" ||
        { echo "no match: $what: $expression"; exit 1; }
    build "$work/plugin.c"
    planted=$((planted + 1))
    status=$(run_check "$name")
    # Also where libcore refuses it.
    if [ "$status" = 1 ]; then
        reason=$(sed -n 's/^ *[0-9]* cases* failed; //p; s/^backend-check: //p' "$work/output" | head -1)
        printf '%-52s %-20s %s\n' "$what" "$name" "$reason"
    else
        missed=$((missed + 1))
        printf '%-52s %-20s MISSED (%s): %s\n' "$what" "$name" "$status" "$(tail -1 "$work/output")"
    fi
    [[ " $names " == *" $name "* ]] || names+=" $name"
done <"$work/defects.txt"

build "$work/extended.c"
[ "$part" = all ] || names=
for name in $names; do
    [ "$(run_check "$name")" = 0 ] || { echo "a false alarm: $(cat "$work/output")"; missed=$((missed + 1)); }
done
echo "$planted planted, $missed missed"
[ "$missed" = 0 ] && [ "$planted" != 0 ]
