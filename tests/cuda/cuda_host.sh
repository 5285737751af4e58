#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuda_host.sh BACKEND_CHECK PLUGIN FAKES CXX SETTINGS PASS OP...: runs backend-check on rows of the cuda
# backend, on the fake driver. The C++ compiler CXX replaces NVRTC and compiles the kernels for the
# host. FAKES: directory of the fakes. PASS: --quick, --sample or --verbs. SETTINGS: lines of the
# configuration, separated by commas. If they name fake libraries, the backend must call these, and
# with valid arguments.
check=$1 plugin=$2 fakes=$3 settings=$5 pass=$6
export FAKE_NVRTC_CXX=$4 FAKE_CUDA_MEMORY=2000000000
shift 6
command -v "$FAKE_NVRTC_CXX" >/dev/null || { echo "no C++ compiler"; exit 77; }
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
printf 'cuda.library = %s/libfake_cuda.so\ncuda.nvrtc = %s/libfake_nvrtc.so\n' "$fakes" "$fakes" \
    >"$directory/collet.conf"
printf '%s\n' "${settings//,/$'\n'}" >>"$directory/collet.conf"
export COLLET_CONFIG=$directory/collet.conf XDG_CACHE_HOME=$directory
export FAKE_CUDA_TALLY=$directory/tally
: >"$FAKE_CUDA_TALLY"
# AddressSanitizer warns about the fake driver's switches between stacks. A check fails if something is printed, so
# the warnings go to a file.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$directory/asan
for op; do
    "$check" $pass --op "$op" "$plugin" || { cat "$directory"/asan* 2>/dev/null; exit 1; }
done
cat "$FAKE_CUDA_TALLY"
for library in cublas cufft cusolver cusolver_complex; do
    case $settings in
    *cuda.${library%_complex}=/*)
        calls=$(awk -v l="$library" '$1 == l { n += $2 } END { print n + 0 }' "$FAKE_CUDA_TALLY")
        [ "$calls" -ge 50 ] || { echo "FAIL: $library was hardly called"; exit 1; }
        ;;
    esac
done
! grep -v ' 0 wrong$' "$FAKE_CUDA_TALLY"
