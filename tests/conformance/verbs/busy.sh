#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# busy.sh CHECK PLUGIN RUNS: runs backend-check --verbs RUNS times while other processes keep every
# processor busy. The plugin is correct, so a failure is a false alarm.
set -euo pipefail
check=$1 plugin=$2 runs=$3
output=$(mktemp)
pids=()
trap 'kill "${pids[@]}"; rm -f "$output"' EXIT
for ((i = 0; i < $(nproc); i++)); do
    while :; do :; done &
    pids+=($!)
done
for ((i = 1; i <= runs; i++)); do
    "$check" --verbs --quick "$plugin" >"$output" 2>&1 || { echo "run $i:"; grep -A2 ^FAIL "$output"; exit 1; }
done
echo "$runs runs without a false alarm"
