#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bundle.sh DIRECTORY [BUILD]: makes the folder DIRECTORY, which runs on another machine without packages, compiler
# or network. It has programs, plugins, the Python package, its tests, and the libraries that they need.
# DIRECTORY/run.sh checks and measures that machine, and its GPU. Without BUILD, the script builds in build-bundle/ with
# the libraries of Debian 11, which apt fetches once; such a bundle runs with glibc 2.28 and later. BUILD is a folder
# that ./bootstrap.sh test --full made; such a bundle runs with this machine's glibc and later ones. The bundle has no
# libraries that plugins open only if they exist (CUDA, OpenCL, OpenBLAS), except the files in NVRTC="FILE..." and the
# file in OPENBLAS=FILE, for instance pip's scipy_openblas32/lib/libscipy_openblas.so (24 MiB). Needs patchelf.
set -euo pipefail
usage() { sed -n 's/^# \{0,1\}//; 3,9p' "$0"; }
case ${1-} in
    -h | --help) usage && exit ;;
    -* | '') usage >&2 && exit 2 ;;
esac
[ $# -le 2 ] || { usage >&2 && exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build-bundle}
limit_mib=60
triplet=x86_64-linux-gnu

die() {
    printf 'bundle.sh: %s\n' "$*" >&2
    exit 1
}

command -v patchelf >/dev/null || die "patchelf is missing: apt install patchelf"
[ ! -e "$1" ] || [ -z "$(ls -A "$1")" ] || die "$1 exists and is not empty"

# ---- A build against the libraries of Debian 11 ------------------------------------------------

if [ $# = 1 ]; then
    "$source/tools/dev/sysroot.sh" "$build/sysroot"
    cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCOLLET_TESTS=ON \
        "-DCMAKE_TOOLCHAIN_FILE=$build/sysroot/toolchain.cmake" \
        "-DPython3_INCLUDE_DIR=$(echo "$build"/sysroot/root/usr/include/python3.[0-9]*)"
    cmake --build "$build" -j"${BOOTSTRAP_JOBS:-$(nproc)}" --target collet_python gpu-limits backend-check \
        backend-bench collet-extract collet-merge collet-rsoxs collet-ternary \
        plugin_cpu_scalar plugin_cpu_openmp plugin_opencl plugin_cuda plugin_worker collet-worker
fi
build=$(cd "$build" && pwd)
for needed in bin/backend-check lib/collet/cuda.so python/collet tests/gpu-limits; do
    [ -e "$build/$needed" ] || die "$build/$needed is missing: build with COLLET_TESTS=ON, as ./bootstrap.sh test --full does"
done
grep -q '^COLLET_LEVELS:STRING=all' "$build/CMakeCache.txt" || die "$build has the kernels of this machine alone: build with COLLET_LEVELS=all"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
trap '[ $? = 0 ] || rm -rf "$folder"' EXIT

# ---- What was built ----------------------------------------------------------------------------

mkdir "$folder"/{bin,lib,lib/collet,python,tests}
cp "$build"/bin/{backend-info,backend-check,backend-bench,collet-extract,collet-merge,collet-rsoxs,collet-ternary} \
    "$build/tests/gpu-limits" "$folder/bin"
for library in "$build"/lib/lib*.so.[0-9]; do
    cp -L "$library" "$folder/lib"
done
cp "$build"/lib/collet/* "$folder/lib/collet"
cp -rL "$build/python/collet" "$folder/python"
cp -r "$source/python/tests" "$folder/tests/python"
mkdir -p "$folder/tests/data/md"
cp -r "$source/tests/data/md/water" "$folder/tests/data/md"
cp -r "$source/include" "$folder"
cp "$source"/tools/dev/bundle/{run.sh,jobs.py,rates.py} "$source/LICENSE" "$folder"
find "$folder" -name __pycache__ -prune -exec rm -r {} +
git -C "$source" rev-parse HEAD >"$folder/commit.txt" 2>/dev/null || echo unknown >"$folder/commit.txt"

# The copy replaces the system's OpenBLAS, because plugins search this folder first.
[ -z "${OPENBLAS:-}" ] || cp -L "$OPENBLAS" "$folder/lib/libopenblas.so.0"

# ---- Libraries that the bundle needs -----------------------------------------------------------

objects() {
    find "$folder" -type f \( -perm -u+x -o -name '*.so*' \) ! -name '*.sh' ! -name '*.py'
}

# glibc's own libraries are left out: the other machine has its own.
own='^(libc|libm|libdl|libpthread|librt|libresolv|ld-linux-x86-64)\.so'
places=("/usr/lib/$triplet" "/lib/$triplet")
[ $# = 2 ] || places=("$build/sysroot/root/usr/lib/$triplet" "$build/sysroot/root/lib/$triplet")
while :; do
    added=0
    for name in $(objects | xargs -r readelf -d 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
        [[ $name =~ $own ]] || [ -e "$folder/lib/$name" ] && continue
        for place in "${places[@]}"; do
            [ ! -e "$place/$name" ] || cp -L "$place/$name" "$folder/lib/$name"
        done
        [ -e "$folder/lib/$name" ] || die "$name is not in ${places[*]}"
        added=1
    done
    [ $added = 1 ] || break
done
for library in ${NVRTC:-}; do
    cp -L "$library" "$folder/lib/$(patchelf --print-soname "$library" 2>/dev/null || basename "$library")"
done
objects | while read -r object; do
    below=${object#"$folder/"}
    strip --strip-unneeded "$object" 2>/dev/null || true
    patchelf --set-rpath "\$ORIGIN/$(dirname "$below" | sed 's|[^/][^/]*|..|g')/lib" "$object"
done

# ---- What the other machine needs --------------------------------------------------------------

glibc=$(objects | xargs -r objdump -T 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1)
echo "${glibc#GLIBC_}" >"$folder/glibc.txt"
size=$(du -sm "$folder" | cut -f1)
[ "$size" -le $limit_mib ] || die "$size MiB, more than $limit_mib"
printf '%s: %s MiB, for x86-64 with glibc %s or later; carry it whole and run %s/run.sh OUT there\n' \
    "$1" "$size" "$(cat "$folder/glibc.txt")" "$(basename "$folder")"
