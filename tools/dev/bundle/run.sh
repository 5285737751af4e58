#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh OUT [STEP...]: checks and measures this machine, and its NVIDIA GPU if it has one, in at most eight
# minutes, and writes OUT/report.md, the file to send back. The outputs of the steps are beside this file. The
# report names each step that took too long and was ended. Only steps whose names contain a STEP run, if one is given.
#
# Environment: BUNDLE_BACKEND, the backend (default: cuda); BUNDLE_SECONDS, the time for all steps (default: 480);
# BUNDLE_JOBS, the number of processes at a time; COLLET_CONFIG, the file with settings of Collet.
#
# Exit status: 0 if all steps passed, 1 if a step failed or was ended, 2 for a wrong command line, 77 if the
# backend cannot be used here and everything else passed.
set -u
[ $# -ge 1 ] && [ "${1#-}" = "$1" ] || {
    sed -n 's/^# \{0,1\}//; 3,11p' "$0"
    [ "${1:-}" = --help ] && exit 0
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
shift
only=("$@")
backend=${BUNDLE_BACKEND:-cuda}
end=$((SECONDS + ${BUNDLE_SECONDS:-480}))
processors=$(nproc)
jobs=${BUNDLE_JOBS:-$((processors > 32 ? 32 : processors))}
failed=0 absent=0
report=$out/report.md
export PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$out/cache COLLET_PLUGIN_PATH=$here/lib/collet
PATH=$here/bin:$PATH
plugin=$here/lib/collet/$backend.so

needed=$(cat "$here/glibc.txt")
own=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
[ "$(printf '%s\n' "$needed" "$own" | sort -V | head -1)" = "$needed" ] || {
    echo "run.sh: this machine has glibc $own; the bundle needs $needed: make it on an older system" >&2
    exit 1
}

# ---- CUDA's libraries: of a toolkit, of pip's packages for a Python, or in the bundle -----------

# library NAME: prints the path of the newest version of NAME; nothing if the dynamic linker finds NAME itself.
library() {
    local python site found
    ldconfig -p 2>/dev/null | grep -q "$1" && return
    for python in $(command -v -a python3 python 2>/dev/null); do
        site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)
        found=$(ls -d "$site"/nvidia/cu1[23]/lib/"$1".* "$site"/nvidia/*/lib/"$1".* 2>/dev/null | sort -V | tail -1)
        [ -n "$found" ] && echo "$found" && return
    done
    found=$(ls -d /usr/local/cuda*/lib64/"$1".*[0-9] /opt/cuda/lib64/"$1".*[0-9] "$here/lib/$1".* 2>/dev/null | head -1)
    [ -n "$found" ] && echo "$found"
}
if [ -z "${COLLET_CONFIG:-}" ]; then
    for name in nvrtc cublas cufft cusolver; do
        path=$(library "lib$name.so")
        [ -n "$path" ] && echo "cuda.$name = $path"
    done >"$out/collet.conf"
    export COLLET_CONFIG=$out/collet.conf
fi
{
    cat "$COLLET_CONFIG"
    printf 'cuda.%s = off\n' cublas cufft cusolver
} >"$out/own.conf"

# ---- Steps -------------------------------------------------------------------------------------

say() {
    echo "$*" | tee -a "$report"
}

# step NAME SECONDS COMMAND...: runs COMMAND for at most SECONDS; its output is OUT/NAME.txt.
step() {
    local name=$1 seconds=$2 file status begin=$SECONDS what left=$((end - SECONDS)) chosen
    file=$out/${name// /-}.txt
    shift 2
    chosen=${#only[@]}
    for word in ${only[@]+"${only[@]}"}; do
        [[ $name == *$word* ]] && chosen=0
    done
    [ "$chosen" = 0 ] || return 0
    if [ $left -lt 5 ]; then
        say "| $name | NOT RUN: no time was left | |"
        failed=1
        return 1
    fi
    timeout -k 5 "$((seconds < left ? seconds : left))" bash -uc '"$@"' step "$@" >"$file" 2>&1 </dev/null
    status=$?
    case $status in
    0) what=passed ;;
    77) what="absent: $(grep -m1 -o 'unavailable:.*' "$file" || tail -n 1 "$file")" ;;
    124 | 137) what="ENDED after $((SECONDS - begin)) s" failed=1 ;;
    *) what="FAILED, status $status" failed=1 ;;
    esac
    say "| $name | $what | $((SECONDS - begin)) s |"
    return $status
}

usable() {
    backend-info --json "$backend"
    backend-info "$backend"
}

# Checks each op of the backend in a process of its own, several at a time; the last lines name what failed.
check() {
    local bad
    backend-check --list "$here/lib/collet/cpu_scalar.so" | awk '/^[a-z_0-9]+  *\(/ {print $1}' >"$out/ops.txt"
    bad=$(xargs -P "$jobs" -I{} sh -c 'timeout 300 backend-check "$@" --op {} >"'"$out"'/check-{}.txt" 2>&1 ||
        echo "{} ($?)"' check "$@" "$plugin" <"$out/ops.txt")
    grep -hE '^[a-z_]+: .* cases in|FAIL' "$out"/check-*.txt | sort
    for op in $(cut -d' ' -f1 <<<"$bad"); do
        echo "== $op"
        tail -n 12 "$out/check-$op.txt"
    done
    [ -z "$bad" ] || echo "not passed: $bad"
    [ -z "$bad" ]
}

own_kernels() {
    local op bad=0
    export COLLET_CONFIG=$out/own.conf
    for op in matmul fft lu solve qr svd eigh cholesky; do
        backend-check --op $op --sample "$plugin" || bad=1
    done
    return $bad
}

sanitizer() {
    command -v compute-sanitizer >/dev/null || {
        echo "no compute-sanitizer"
        return 77
    }
    for tool in memcheck racecheck; do
        echo "== $tool"
        xargs -P "$jobs" -I{} sh -c 'compute-sanitizer --tool '$tool' --target-processes all --error-exitcode 9 \
            backend-check --sample --signatures 1 --timeout 600 --op {} "'"$plugin"'" >"'"$out"'/'$tool'-{}.txt" 2>&1 ||
            { echo "{} ($?)"; tail -n 15 "'"$out"'/'$tool'-{}.txt"; exit 1; }' <<<"$1" || return 1
    done
}

# The package needs Python 3.11 and NumPy; it must work on a machine that has both.
python_is_there() {
    python3 -c 'import sys, numpy; assert sys.version_info >= (3, 11)' 2>/dev/null || {
        echo "no Python 3.11 with NumPy on the PATH"
        return 77
    }
}

jobs_agree() {
    python_is_there || return 77
    python3 "$here/jobs.py" "$1" "$here/tests/data/md/water" "$out"
}

rates() {
    python_is_there || return 77
    python3 "$here/rates.py" "$@"
}

# An interrupt ends pytest, so that it prints what failed until then.
python_tests() {
    local workers=()
    python_is_there || return 77
    python3 -c 'import pytest' 2>/dev/null || {
        echo "no pytest"
        return 77
    }
    python3 -c 'import xdist' 2>/dev/null && workers=(-n "$jobs")
    export COLLET_BACKEND=$backend
    cd "$here/tests/python" && timeout -s INT 110 python3 -m pytest -q ${workers[@]+"${workers[@]}"} --maxfail=20 -p no:cacheprovider \
        -k "not damaged_file and not test_stub" op gradient/test_rules.py \
        gradient/test_rules_linalg.py test_fft.py linalg/test_linalg.py test_random.py test_scatter.py md/test_md.py
}

# References: copies, a bare launch, cuBLAS and cuFFT, called directly.
limits() {
    # shellcheck disable=SC2046
    gpu-limits $(sed -n 's/^\(cuda\.[a-z]*\) *= */\1=/p' "$COLLET_CONFIG")
}

bench() {
    local row bad=0
    for row in "add 64M" "sum 64M" "exp 64M" "matmul 4096x4096x4096 --dtype f32,f64,f16,bf16" \
        "fft 4096x4096 --axis 0,1 --dtype c64,c128" "observables 10000x1000"; do
        # shellcheck disable=SC2086
        backend-bench $row --backend "$1" --seconds 0.5 || bad=1
    done
    return $bad
}

processor_bench() {
    local row bad=0
    for row in "sum 16M" "exp 16M" "dot 16M" "matmul 1024x1024x1024 --dtype f32,f64" "fft 1024x1024 --axis 0,1 --dtype c64" \
        "observables 1000x1000"; do
        # shellcheck disable=SC2086
        backend-bench $row --backend cpu_openmp --seconds 0.3 || bad=1
    done
    return $bad
}

export -f usable limits check own_kernels sanitizer python_is_there jobs_agree rates python_tests bench processor_bench
export here out jobs backend plugin

: >"$report"
say "# Collet on $(uname -n): $(date -u +%FT%TZ), commit $(cut -c1-12 "$here/commit.txt")"
say ""
say "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $processors processors, glibc $own, Linux $(uname -r)"
gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null)
say "NVIDIA: ${gpu:-none}"
say ""
say "| step | result | time |"
say "|---|---|---|"
step "backends" 60 backend-info
step "usable" 60 usable
usable=$?
if [ $usable = 0 ]; then
    [ "$backend" != cuda ] || step "limits" 60 limits
    step "check of every op" 240 check
    step "checks of own kernels" 90 own_kernels
    step "checks of devices, memory and queues" 120 backend-check --verbs "$plugin"
    [ "$backend" != cuda ] || step "compute-sanitizer" 60 sanitizer "$(printf '%s\n' sort cumulative_sum compress scatter_add sum matmul lu eig svd)"
    step "jobs against cpu_scalar" 60 jobs_agree "$backend"
    step "python tests" 120 python_tests
    step "rates" 90 bench "$backend"
    step "rates in Python" 60 rates "$backend"
else
    absent=1
fi
step "check of cpu_scalar" 60 backend-check --sample "$here/lib/collet/cpu_scalar.so"
step "processor" 60 processor_bench
step "processor in Python" 60 rates cpu_openmp
for figures in limits rates rates-in-Python processor processor-in-Python; do
    [ -s "$out/$figures.txt" ] && printf '\n## %s\n\n```\n%s\n```\n' "$figures" "$(tail -n 60 "$out/$figures.txt")" >>"$report"
done
rm -rf "$out/cache"
echo "written: $report"
[ $failed = 0 ] || exit 1
[ $absent = 0 ] || exit 77
