#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/benchmarks/gpu.sh OUT [BUILD]: on a machine with an NVIDIA GPU, its driver and a CUDA toolkit,
# builds Collet in BUILD (default: OUT/build), checks the cuda backend and measures it. Results are
# text and JSON in OUT; `OUT/summary.txt` lists what passed. Takes a quarter of an hour. The exit
# status is 0 when everything passed, 77 where there is no GPU.
set -u
if [ $# -lt 1 ]; then
    sed -n 's/^# \{0,1\}//; 3,6p' "$0"
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
build=${2:-$out/build}
failed=0
: >"$out/summary.txt"

say() {
    echo "$*" | tee -a "$out/summary.txt"
}

# step NAME FILE COMMAND...: its output is FILE; one line in the summary.
step() {
    local name=$1 file=$2 status
    shift 2
    "$@" >"$out/$file" 2>"$out/$file.err"
    status=$?
    [ -s "$out/$file.err" ] || rm -f "$out/$file.err"
    case $status in
    0) say "passed   $name" ;;
    77) say "absent   $name" ;;
    *) say "FAILED   $name (status $status, see $file)"; failed=1 ;;
    esac
    return $status
}

step build build.txt bash -c "
    cmake -S '$source' -B '$build' -DCMAKE_BUILD_TYPE=Release -DCOLLET_TESTS=ON &&
    cmake --build '$build' -j'$(nproc)'" || exit 1
nvidia-smi -q >"$out/nvidia-smi.txt" 2>/dev/null
git -C "$source" rev-parse HEAD >"$out/commit.txt" 2>/dev/null

step limits limits.json "$build/tests/gpu-limits"
if [ $? = 77 ]; then
    cat "$out/limits.json.err"
    exit 77
fi
step backend-info info.json "$build/bin/backend-info" --json cuda
step "conformance: backend-check cuda" check.txt "$build/bin/backend-check" --timeout 600 \
    "$build/lib/collet/cuda.so"
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        step "compute-sanitizer $tool" $tool.txt compute-sanitizer --tool $tool \
            --target-processes all --error-exitcode 9 "$build/bin/backend-check" --sample \
            --timeout 600 "$build/lib/collet/cuda.so"
    done
else
    say "absent   compute-sanitizer"
fi

# Each against limits.json: memory-bound kernels against "copy", matmul against "cublas", fft
# against "cufft".
bench=$build/bin/backend-bench
printf 'cuda.%s = off\n' cublas cufft cusolver >"$out/own.conf"
step "conformance without libraries" check_own.txt env COLLET_CONFIG="$out/own.conf" \
    "$build/bin/backend-check" --timeout 600 --op matmul "$build/lib/collet/cuda.so"
step "add f32" add.json "$bench" add 256M --backend cuda --json
step "exp f32" exp.json "$bench" exp 256M --backend cuda --json
step "sum f32" sum.json "$bench" sum 256M --backend cuda --json
step "matmul" matmul.json "$bench" matmul 4096x4096x4096 --dtype f32,f64,f16,bf16 \
    --backend cuda --json
step "fft" fft.json "$bench" fft 4096x4096 --axis 0,1 --dtype c64,c128 --backend cuda --json
step "matmul without cuBLAS" matmul_own.json env COLLET_CONFIG="$out/own.conf" "$bench" matmul \
    4096x4096x4096 --dtype f32,f64,f16,bf16 --backend cuda --json
step "fft without cuFFT" fft_own.json env COLLET_CONFIG="$out/own.conf" "$bench" fft 4096x4096 \
    --axis 0,1 --dtype c64,c128 --backend cuda --json
for op in lu solve qr svd eigh cholesky; do
    step "$op" "$op.json" "$bench" $op --dtype f32,f64 --backend cuda --json
    step "$op without cuSOLVER" "${op}_own.json" env COLLET_CONFIG="$out/own.conf" "$bench" $op \
        --dtype f32,f64 --backend cuda --json
done
step "observables f32" observables.json "$bench" observables 10000x1000 --backend cuda --json
[ $failed = 0 ]
