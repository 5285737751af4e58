#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# defects.sh SOURCE WORK LIST: applies each defect of LIST (defects.txt) to a copy of the sources, builds the
# kit and the plugin from it, and runs backend-check on the plugin. backend-check must fail for each.
# defects.sh SOURCE match LIST...: checks only that each defect of the lists changes its file.
set -euo pipefail
source=$1 work=$2 list=$3

if [ "$work" = match ]; then
    stale=0
    while IFS=$'\t' read -r plugin file expression _; do
        if [[ $plugin != \#* ]] && sed "$expression" "$source/plugins/$file" | cmp -s - "$source/plugins/$file"; then
            echo "no match in $file: $expression" && stale=1
        fi
    done < <(cat "${@:3}")
    exit $stale
fi
rm -rf "$work"
mkdir -p "$work/source"
for path in "$source"/*; do
    case ${path##*/} in
    build | build-*) ;;
    *) cp -r "$path" "$work/source/" ;;
    esac
done
cmake -S "$work/source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCOLLET_TESTS=OFF \
    -DCOLLET_LEVELS=native >"$work/log"
export XDG_CACHE_HOME=$work/cache
missed=0 caught=0
while IFS=$'\t' read -r plugin file expression op options; do
    if [[ $plugin == \#* ]]; then
        continue
    fi
    path=$work/source/plugins/$file
    cp -p "$path" "$work/original"
    sed -i "$expression" "$path"
    ! cmp -s "$path" "$work/original" || { echo "no match in $file: $expression"; exit 1; }
    cmake --build "$work/build" --parallel 2 --target backend-check collet-probe "plugin_$plugin" >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
    status=0
    # shellcheck disable=SC2086 # options is a list
    "$work/build/bin/backend-check" $options --op "$op" "$work/build/lib/collet/$plugin.so" \
        >"$work/output" 2>&1 || status=$?
    case $status in
    1) caught=$((caught + 1)) && echo "caught: $plugin $op: $file: $expression" ;;
    77) echo "skipped, no device: $plugin $file" ;;
    *) missed=$((missed + 1)) && echo "missed ($status): $plugin $op $options: $file: $expression" ;;
    esac
    cp "$work/original" "$path"
done <"$list"
echo "$caught caught, $missed missed"
[ "$missed" = 0 ] && [ "$caught" != 0 ]
