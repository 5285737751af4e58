#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unmounted.sh BACKEND-INFO SHOW-SEARCH: after /sys, or most of it, is unmounted, an earlier result of the probe is not
# used any more: PoCL would abort the program.
set -eu
info=$1 show_search=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work" COLLET_BACKEND=opencl
"$info" opencl >/dev/null && unshare -m mount --bind "$work" /sys 2>/dev/null ||
    { echo "unmounted.sh: no device of OpenCL, or no right to mount"; exit 77; }
mkdir "$work/some"
cat /sys/devices/system/cpu/online >"$work/some/online"
for target in /sys /sys/devices/system/cpu; do
    status=0
    unshare -m sh -c 'mount --bind "$1" "$2" && "$3"' - "$work/some" $target "$show_search" \
        >"$work/out" 2>&1 || status=$?
    [ $status -lt 128 ] || { cat "$work/out"; echo "unmounted.sh: $target: status $status"; exit 1; }
done
