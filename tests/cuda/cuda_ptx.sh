#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuda_ptx.sh BACKEND_CHECK PLUGIN FAKE_DRIVER NVRTC: NVRTC compiles programs to PTX. The kernel `flat` of `add` must load
# and store 16 bytes at once: four f32, two f64. A program with functions between and after two reductions of rows must
# be a single kernel, `rows`, which keeps its values in registers. No kernel runs.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
[ -e "$4" ] || { echo "NVRTC not found"; exit 77; }
printf 'cuda.library = %s\ncuda.nvrtc = %s\n' "$3" "$4" >"$directory/collet.conf"
printf 'cuda.cublas = off\ncuda.cufft = off\ncuda.cusolver = off\n' >>"$directory/collet.conf"
export COLLET_CONFIG=$directory/collet.conf FAKE_CUDA_MEMORY=400000000 FAKE_CUDA_CAPABILITY=91

# compile OP SIG: sets `ptx`, the text of all kernels that backend-check launches.
compile() {
    export XDG_CACHE_HOME=$directory/$1-${2//:/-}
    mkdir "$XDG_CACHE_HOME"
    "$check" --sample --op "$1" --sig "$2" "$plugin" >"$directory/out" 2>&1
    ptx=$(find "$XDG_CACHE_HOME/collet/kernels" -type f -exec sed -n '/\.entry/,/^}/p' {} +)
}
fail() {
    echo "$ptx"
    cat "$directory/out"
    exit 1
}

check=$1 plugin=$2
for case in f:ff=v4 d:dd=v2; do
    compile add "${case%=*}"
    ptx=$(sed -n '/\.entry flat(/,/^}/p' <<<"$ptx")
    loads=$(grep -cE "ld\.global(\.nc)?\.${case#*=}\." <<<"$ptx")
    stores=$(grep -cE "st\.global\.${case#*=}\." <<<"$ptx")
    echo "add ${case%=*}: $loads loads and $stores stores of 16 bytes"
    [ "$stores" -ge 1 ] && [ "$loads" -eq $((2 * stores)) ] || fail
done
for sig in fl:fff li:lA; do
    compile evaluate "$sig"
    kernels=$(grep -oE '\.entry [a-z_]+' <<<"$ptx" | sort -u)
    echo "evaluate $sig:$kernels"
    [ "$kernels" = ".entry rows" ] || fail
    ! grep -qE '(ld|st)\.local|\.local ' <<<"$ptx" || fail
    grep -q 'bar\.sync' <<<"$ptx" || fail
done
