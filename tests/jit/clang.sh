#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang.sh HAVE_F64 PRELUDE DIRECTORY: runs clang's OpenCL front end on every source that
# opencl compiled; if HAVE_F64 is 0, only on the sources that do not use f64.
set -u
have_f64=$1 prelude=$2 directory=$3
clang=${CLANG:-clang}
flags=(-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra -Werror
    -Wno-unused-function -Wno-unused-variable -DGROUP=256 -DPER_ITEM=4
    "-DHAVE_F64=$have_f64" "-DEXACT_F32=$have_f64")
echo 'kernel void k(global int *x) { *x = 1; }' | "$clang" "${flags[@]}" - 2>/dev/null || {
    echo "no clang that compiles OpenCL C"
    exit 77
}
shopt -s nullglob
sources=("$directory"/*.dev)
if [ ${#sources[@]} = 0 ]; then
    echo "no sources: opencl has no device here"
    exit 77
fi
failed=0 read=0
for source in "${sources[@]}"; do
    options=$(head -1 "$source")
    options=${options#// }
    if [ "$have_f64" = 0 ] && [[ $options == *f64* || $options == *c128* || $options == *F64* ]]; then
        continue
    fi
    # shellcheck disable=SC2086 # split into words
    cat "$prelude" "$source" | "$clang" "${flags[@]}" $options - || {
        echo "^ $source: $options"
        failed=$((failed + 1))
    }
    read=$((read + 1))
done
echo "$read sources, $failed failed"
[ "$failed" = 0 ] && [ "$read" != 0 ]
