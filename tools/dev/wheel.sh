#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh DIRECTORY: the sdist and, built from it, the wheel of collet-runtime, with the libraries
# inside that the systems of its platform do not all have. Needs Python's build and auditwheel, and patchelf.
#
# In a container quay.io/pypa/manylinux_2_28_x86_64 the wheel is manylinux_2_28:
#   docker run --rm -v "$PWD":/collet quay.io/pypa/manylinux_2_28_x86_64 /collet/tools/dev/wheel.sh /collet/dist
# Elsewhere it is for the glibc of this system and later ones.
set -eu
[ $# = 1 ] || {
    echo "usage: wheel.sh DIRECTORY" >&2
    exit 2
}
mkdir -p "$1"
directory=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
python=python3
if [ -n "${AUDITWHEEL_PLAT:-}" ]; then
    dnf install -y epel-release
    dnf install -y --enablerepo=powertools cjson-devel hdf5-devel libconfig-devel libzip-devel
    python=/opt/python/cp310-cp310/bin/python
    git config --global --add safe.directory "$PWD"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$python -m build --outdir "$work" .
cp "$work"/collet_runtime-*.tar.gz "$directory"
# Libraries that plugins open at run time (OpenBLAS, oneDNN, OpenCL, CUDA) are no part of it.
auditwheel repair --wheel-dir "$directory" "$work"/collet_runtime-*.whl
ls -l "$directory"
