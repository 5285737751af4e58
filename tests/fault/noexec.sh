#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# noexec.sh BACKEND-INFO SHOW-SEARCH LIBRARIES: plugins and programs on a file system that is mounted
# noexec cannot run. The first message says so, and usable files elsewhere are used. LIBRARIES: the
# directory with libcore and the plugins.
set -eu
if [ "${4:-}" != mounted ]; then
    own=
    [ "$(id -u)" = 0 ] || own=-r
    unshare -m $own true 2>/dev/null || { echo "noexec.sh: no right to mount"; exit 77; }
    exec unshare -m $own sh "$0" "$@" mounted
fi
info=$1 show_search=$2 libraries=$3
work=$(mktemp -d)
trap 'umount -l "$work/exec" "$work/noexec" 2>/dev/null; rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work"
mkdir "$work/noexec" "$work/exec" "$work/cache"
chmod 700 "$work/cache"
mount -t tmpfs -o noexec,mode=755 none "$work/noexec"
mount -t tmpfs -o mode=755 none "$work/exec"

# said TEXT COMMAND...: the command prints TEXT, and no signal ends it. Sets $status to its exit status.
said()
{
    text=$1
    shift
    status=0
    "$@" >"$work/out" 2>&1 || status=$?
    [ $status -lt 128 ] && grep -q "$text" "$work/out" && return
    cat "$work/out"
    echo "noexec.sh: $*: status $status, and not '$text'"
    exit 1
}

cp "$libraries/collet/cpu_openmp.so" "$work/noexec"
refused="the file system of $work/noexec is mounted noexec, so no program can load it"
said "no backend can be used: cpu_openmp: $refused" env COLLET_PLUGIN_PATH="$work/noexec" "$show_search"
said "cpu_openmp  unavailable .*$refused" env COLLET_PLUGIN_PATH="$work/noexec" "$info"
said "$refused" env COLLET_PLUGIN_PATH="$work/noexec" "$info" cpu_openmp
[ $status = 77 ] || { echo "noexec.sh: backend-info of a plugin that cannot run: status $status"; exit 1; }
said "computed by cpu_openmp" env COLLET_PLUGIN_PATH="+$work/noexec" COLLET_BACKEND=cpu_openmp "$show_search"
said "the plugin $work/noexec/cpu_openmp.so is not used: $refused" \
    env COLLET_PLUGIN_PATH="+$work/noexec" "$info"
mkdir "$work/links"
ln -s "$work/noexec/cpu_openmp.so" "$work/links"
said "no backend can be used: cpu_openmp: $refused" env COLLET_PLUGIN_PATH="$work/links" "$show_search"

# The programs that libcore starts, on a noexec file system.
cp -r "$libraries" "$work/exec/lib"
for program in collet-probe collet-worker; do
    cp "$libraries/collet/$program" "$work/noexec"
    mount --bind "$work/noexec/$program" "$work/exec/lib/collet/$program"
done
export LD_LIBRARY_PATH="$work/exec/lib"
said "collet-probe cannot be started: Permission denied (its file system is mounted noexec" "$info"
said "collet-worker cannot be started: Permission denied (its file system is mounted noexec" \
    env COLLET_BACKEND=worker:cpu_scalar "$show_search"
unset LD_LIBRARY_PATH

# PoCL must load the kernels that it compiled from its cache directory.
if COLLET_BACKEND=opencl "$show_search" >/dev/null 2>&1; then
    said "set POCL_CACHE_DIR to a directory elsewhere" \
        env COLLET_BACKEND=opencl POCL_CACHE_DIR="$work/noexec/none/yet" "$show_search"
else
    echo "noexec.sh: the part with PoCL is skipped: opencl has no device"
fi
