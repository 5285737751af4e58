#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh DIRECTORY [MACHINE [SYSROOT]]: makes in DIRECTORY the sdist of collet-runtime and, built from it, the wheel for
# MACHINE (x86_64 or aarch64; default: this machine's), glibc 2.28 and later (manylinux_2_28) and CPython 3.11 and later.
# The wheel contains the libraries that it needs, except glibc, zlib and NumPy, and their licences. sysroot.sh makes
# SYSROOT (default: build-sysroot/MACHINE). Needs Python's packages build, auditwheel, abi3audit and wheel, and patchelf.
set -euo pipefail
usage() { sed -n 's/^# \{0,1\}//; 3,6p' "$0"; }
case ${1-} in
    -h | --help) usage && exit ;;
    -* | '') usage >&2 && exit 2 ;;
esac
[ $# -le 3 ] || { usage >&2 && exit 2; }
mkdir -p "$1"
directory=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
limit_mib=12
machine=${2:-$(uname -m)}
sysroot=${3:-build-sysroot/$machine}
"$here/sysroot.sh" "$sysroot" "$machine"
sysroot=$(cd "$sysroot" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$python -m build --sdist --outdir "$work" .
cp "$work"/collet_runtime-*.tar.gz "$directory"
# The wheel is built from the sdist, outside the repository.
mkdir "$work/source"
tar -xf "$work"/collet_runtime-*.tar.gz --strip-components=1 -C "$work/source"
SKBUILD_CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$sysroot/toolchain.cmake" _PYTHON_HOST_PLATFORM=linux-$machine \
    $python -m build --wheel --outdir "$work" "$work/source"

# The wheel has no libraries that plugins open at run time (OpenBLAS, oneDNN, OpenCL, CUDA). auditwheel finds the
# others by LD_LIBRARY_PATH, in a folder without the sysroot's libc, which this system's Python cannot load. Its option
# --plat has this machine's platforms only; without it auditwheel finds the platform.
libraries="$work/libraries"
mkdir "$libraries"
cp -L "$sysroot"/root/usr/lib/"$machine"-linux-gnu/{libcjson.so.1,libconfig.so.9,libgomp.so.1} "$libraries"
LD_LIBRARY_PATH="$libraries" \
    $python -m auditwheel repair --wheel-dir "$work/repaired" "$work"/collet_runtime-*.whl

# Copies the licences of all libraries that the wheel contains, linked or as files, with Debian's version of each.
$python -m wheel unpack --dest "$work/unpacked" "$work"/repaired/*.whl
licences=$(echo "$work"/unpacked/*/*.dist-info)/licenses/bundled
mkdir -p "$licences"
for name in hdf5 libzip libcjson1 libconfig9 libgomp1; do
    cp -L "$sysroot/root/usr/share/doc/$name/copyright" "$licences/$name.txt"
    grep -m 1 "^${name}_" "$sysroot/packages.txt"
done >"$licences/versions.txt"
bundled=$(find "$work/unpacked" -path '*.libs/*' -name 'lib*.so*' | wc -l)
[ "$bundled" = 3 ] || {
    echo "wheel.sh: $bundled libraries are bundled; the licences are those of HDF5, libzip and three more:" >&2
    find "$work/unpacked" -path '*.libs/*' >&2
    exit 1
}
$python -m wheel pack --dest-dir "$directory" "$work"/unpacked/*
wheel=$directory/$(basename "$work"/repaired/*.whl)
$python -m auditwheel show "$wheel"
[[ $wheel == *manylinux_2_28_$machine.whl ]] || {
    echo "wheel.sh: $(basename "$wheel") is not for manylinux_2_28_$machine: what needs a newer glibc is above" >&2
    exit 1
}
$python -m abi3audit --strict --summary "$wheel"
size=$(stat -c %s "$wheel")
printf 'wheel.sh: %s: %d.%d MiB\n' "$(basename "$wheel")" $((size >> 20)) $(((size & 0xfffff) * 10 >> 20))
[ "$size" -le $((limit_mib << 20)) ] || {
    echo "wheel.sh: more than $limit_mib MiB" >&2
    exit 1
}
