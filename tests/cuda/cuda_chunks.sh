#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuda_chunks.sh BACKEND_CHECK PLUGIN FAKE_DRIVER NVRTC: NVRTC compiles the program of `add` to PTX. Its kernel `flat`
# must load and store 16 bytes at once: four f32, two f64. No kernel runs.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
[ -e "$4" ] || { echo "NVRTC not found"; exit 77; }
printf 'cuda.library = %s\ncuda.nvrtc = %s\n' "$3" "$4" >"$directory/collet.conf"
printf 'cuda.cublas = off\ncuda.cufft = off\ncuda.cusolver = off\n' >>"$directory/collet.conf"
export COLLET_CONFIG=$directory/collet.conf FAKE_CUDA_MEMORY=400000000 FAKE_CUDA_CAPABILITY=91
for case in f:ff=v4 d:dd=v2; do
    export XDG_CACHE_HOME=$directory/${case#*=}
    mkdir "$XDG_CACHE_HOME"
    "$1" --sample --op add --sig "${case%=*}" "$2" >"$directory/out" 2>&1
    ptx=$(find "$XDG_CACHE_HOME/collet/kernels" -type f -exec sed -n '/\.entry flat(/,/^}/p' {} +)
    loads=$(grep -cE "ld\.global(\.nc)?\.${case#*=}\." <<<"$ptx")
    stores=$(grep -cE "st\.global\.${case#*=}\." <<<"$ptx")
    echo "add ${case%=*}: $loads loads and $stores stores of 16 bytes"
    [ "$stores" -ge 1 ] && [ "$loads" -eq $((2 * stores)) ] || { echo "$ptx"; cat "$directory/out"; exit 1; }
done
