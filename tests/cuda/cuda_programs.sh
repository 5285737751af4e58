#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuda_programs.sh BACKEND_CHECK PLUGIN FAKE_DRIVER NVRTC PROGRAMS OPTIONS [OP...]: runs backend-check with OPTIONS on
# the fake driver, for these ops or for all. The real NVRTC compiles the kernels for compute capability 9.0; with
# FAKE_CUDA_CAPABILITY=91 it compiles only to PTX, in a fifth of the time. Then runs the rows that use libraries, with
# fake libraries. No kernel runs and no result is checked: the test fails if a call is refused or fails, or if fewer
# than PROGRAMS programs are compiled.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
[ -e "$4" ] || { echo "NVRTC not found"; exit 77; }
printf 'cuda.library = %s\ncuda.nvrtc = %s\n' "$3" "$4" >"$directory/collet.conf"
printf 'cuda.cublas = off\ncuda.cufft = off\ncuda.cusolver = off\n' >>"$directory/collet.conf"
ops=("${@:7}")
for op in "${ops[@]:-}"; do
    # shellcheck disable=SC2086 # options
    COLLET_CONFIG=$directory/collet.conf XDG_CACHE_HOME=$directory FAKE_CUDA_MEMORY=400000000 \
        "$1" $6 ${op:+--op $op} "$2" >"$directory/one" 2>&1
    cat "$directory/one" >>"$directory/out"
    grep -E '^cuda: .* [1-9][0-9]* cases in' "$directory/one" || { tail -5 "$directory/one"; exit 1; }
done
programs=$(find "$directory/collet/kernels" -type f | wc -l)
echo "$programs programs"
[ "$programs" -ge "$5" ] || exit 1
fakes=$(dirname "$3")
sed -i "s|^cuda.cufft.*|cuda.cufft = $fakes/libfake_cufft.so|" "$directory/collet.conf"
sed -i "s|^cuda.cusolver.*|cuda.cusolver = $fakes/libfake_cusolver.so\ncuda.cusolver_from = 4|" \
    "$directory/collet.conf"
for op in fft lu solve qr svd eigh cholesky; do
    # shellcheck disable=SC2086 # options
    COLLET_CONFIG=$directory/collet.conf XDG_CACHE_HOME=$directory FAKE_CUDA_MEMORY=400000000 \
        "$1" $6 --op $op "$2" >>"$directory/out" 2>&1
done
more=$(find "$directory/collet/kernels" -type f | wc -l)
echo "$more programs with libraries"
[ "$more" -ge $((programs + 4)) ] || exit 1
! grep -E 'refused\)|compilation failed|the call failed' "$directory/out"
