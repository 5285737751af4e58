#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bundle.sh SOURCE BUILD FAKES CXX [STEP...]: makes a bundle, the folder that tools/dev/bundle.sh makes for a machine with
# a GPU and no compiler, and starts its run.sh: without OUT, without a driver, with the fake driver (its figures mean
# nothing), with a program that hangs, with one that fails, and for a newer glibc.
set -u
source=$1 build=$2 fakes=$3
[ "$(uname -m)" = x86_64 ] || { echo "bundles are for x86-64"; exit 77; }
command -v patchelf >/dev/null || { echo "no patchelf"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset COLLET_CONFIG COLLET_PLUGIN_PATH LD_LIBRARY_PATH

fail() {
    echo "bundle.sh: $*"
    [ ! -e "$work/out/report.md" ] || cat "$work/out/report.md"
    exit 1
}

# expect STATUS LINE COMMAND...: COMMAND (run.sh) exits with STATUS, and its report contains LINE.
expect() {
    local status=$1 line=$2
    shift 2
    rm -rf "$work/out"
    env "$@" >"$work/printed" 2>&1
    [ $? = "$status" ] || fail "not status $status: $*"
    grep -qE -e "$line" "$work/out/report.md" || fail "no line '$line': $*"
}

blas=
[ $# -gt 4 ] || blas=$build/tests/libraries/libprefixed.so  # a stand-in; the jobs cannot use it
OPENBLAS=$blas "$source/tools/dev/bundle.sh" "$work/bundle" "$build" || fail "no bundle"
"$source/tools/dev/bundle.sh" "$work/bundle" "$build" 2>"$work/printed" && fail "an existing folder was overwritten"
run=$work/bundle/run.sh
{
    printf 'cuda.library = %s/libfake_cuda.so\ncuda.nvrtc = %s/libfake_nvrtc.so\n' "$fakes" "$fakes"
    printf 'cuda.%s = off\n' cublas cufft cusolver
    echo "cache = off"
} >"$work/collet.conf"
printf 'cuda.library = %s\n' "$work/absent" >"$work/none.conf"
fake=(COLLET_CONFIG="$work/collet.conf" FAKE_NVRTC_CXX="$4" FAKE_CUDA_MEMORY=2000000000 "$run" "$work/out")

env -i PATH=/usr/bin:/bin "$work/bundle/bin/backend-info" | grep -q 'cpu_scalar *usable' || fail "no backends"
[ -z "$blas" ] || env -i PATH=/usr/bin:/bin "$work/bundle/bin/backend-info" cpu_openmp | grep -q 'Stand-in 1.0' ||
    fail "the OpenBLAS is not used"
"$run" >/dev/null && fail "run.sh without OUT"
expect 77 '^\| usable \| absent: .*no NVIDIA driver' COLLET_CONFIG="$work/none.conf" "$run" "$work/out" usable
# The long test also runs the jobs and the limits, which take minutes with the fakes.
expect 0 '^\| usable \| passed' "${fake[@]}" usable "${@:5}" ${5:+limits}
printf '#!/bin/sh\nsleep 1000\n' >"$work/bundle/bin/gpu-limits"
chmod +x "$work/bundle/bin/gpu-limits"
expect 1 '^\| limits \| ENDED after' BUNDLE_SECONDS=6 "${fake[@]}" limits
printf '#!/bin/sh\nexit 3\n' >"$work/bundle/bin/gpu-limits"
expect 1 '^\| limits \| FAILED, status 3' "${fake[@]}" limits
sed -i 's/.*/9.99/' "$work/bundle/glibc.txt"
"$run" "$work/out" 2>&1 | grep -q 'the bundle needs 9.99' || fail "an older glibc"
