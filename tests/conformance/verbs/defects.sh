#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# defects.sh SOURCE WORK CHECK CC short|all: plants each defect of defects.txt (short: only the lines that begin with
# "*") in a copy of examples/plugin_async or tests/fakes/remote, and runs the check that must catch it. Prints a table
# of the messages that caught the defects. Fails if a defect is missed, or (all) if a check fails on the good plugin.
set -euo pipefail
command -v perl >/dev/null || { echo "perl is not installed"; exit 77; }
source=$1 work=$2 check=$3 cc=$4 part=$5
list=$source/tests/conformance/verbs/defects.txt
rm -rf "$work"
mkdir -p "$work"
async=$source/examples/plugin_async remote=$source/tests/fakes/remote
cp "$list" "$work/"
cp "$async/plugin.c" "$work/async.c"
cat "$remote"/{extensions,plugin,queue,timing,work}.c >"$work/remote.c"

# build FILE.c DIRECTORY: builds the plugin FILE.c with the manifest and the headers of the directory.
build() {
    "$cc" -std=gnu11 -D_GNU_SOURCE -O2 -Werror=incompatible-pointer-types \
        -fPIC -shared -fvisibility=hidden -I "$source/include" -I "$2" \
        -DCOLLET_MANIFEST_DIRECTORY="\"$2\"" -o "$work/plugin.so" "$1" -lm -lpthread
}

# run_check NAME[@LAYER] SECONDS: runs the check on the plugin, for SECONDS at most, writes its output to $work/output and prints its exit status.
run_check() {
    local status=0 layer=()
    [[ $1 != *@* ]] || layer=(--layer "${1#*@}")
    "$check" --verbs --op "${1%@*}" "${layer[@]}" --timeout "$2" "$work/plugin.so" \
        >"$work/output" 2>&1 || status=$?
    echo "$status"
}

planted=0 missed=0 names=""
while IFS=$'\t' read -r what name expression; do
    [[ $what != \#* ]] || continue
    [[ $what == \** || $part = all ]] || continue
    what=${what#\*}
    good=$work/async.c directory=$async
    [[ $what != +* ]] || good=$work/remote.c directory=$remote
    what=${what#+}
    perl -0777 -pe "$expression" "$good" >"$work/plugin.c"
    ! cmp -s "$work/plugin.c" "$good" ||
        { echo "no match: $what: $expression"; exit 1; }
    build "$work/plugin.c" "$directory"
    planted=$((planted + 1))
    status=$(run_check "$name" 20)
    # On a busy machine a kernel may run before the check overwrites its parameters, which hides a defect: try again.
    [ "$status" = 1 ] || status=$(run_check "$name" 20)
    # A status of 1 also counts if libcore itself refused the plugin.
    if [ "$status" = 1 ]; then
        reason=$(sed -n '/: opening device/d; / so far/d; s/^ *[0-9]* cases* failed; //p; s/^backend-check: //p' "$work/output" | head -1)
        printf '%-52s %-20s %s\n' "$what" "$name" "$reason"
    else
        missed=$((missed + 1))
        printf '%-52s %-20s MISSED (%s): %s\n' "$what" "$name" "$status" "$(tail -1 "$work/output")"
    fi
    [[ " $names " == *" $good:$name "* ]] || names+=" $good:$name"
done <"$work/defects.txt"

[ "$part" = all ] || names=
built=
for name in $names; do
    good=${name%:*} directory=$async
    [[ $good != "$work/remote.c" ]] || directory=$remote
    [ "$good" = "$built" ] || build "$good" "$directory"
    built=$good
    # The time limit is long for a plugin without a defect, because its check ends by itself, but slowly on a busy
    # machine.
    [ "$(run_check "${name#*:}" 300)" = 0 ] || { echo "a false alarm: $(cat "$work/output")"; missed=$((missed + 1)); }
done
echo "$planted planted, $missed missed"
[ "$missed" = 0 ] && [ "$planted" != 0 ]
