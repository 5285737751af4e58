#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compilers.sh SOURCE WORK BUILD BACKENDS CC [FLAG...]: builds libcore, the backends, backend-info and a plugin of
# examples/ with another compiler or other flags, with warnings as errors, and runs them. backend-check comes from
# BUILD. This is the smallest build: without engines and Python, and cJSON is the only library that is found. The build
# is optimised only if FLAGs say so: -O0 takes a third of the time of -O3.
set -euo pipefail
source=$1 work=$2 build=$3 backends=$4 cc=$5 flags=${*:6}

fail() {
    printf 'compilers.sh: %s\n%s\n' "$1" "${2:-}" >&2
    exit 1
}

command -v "$cc" >/dev/null || { echo "$cc is not installed"; exit 77; }
# shellcheck disable=SC2086 # a list
echo '#include <omp.h>' | "$cc" $flags -fopenmp -fsyntax-only -x c - 2>/dev/null ||
    { echo "$cc has no OpenMP (Debian: libomp-dev)"; exit 77; }

mkdir -p "$work/pkgconfig"
cp "$(pkg-config --variable=pcfiledir libcjson)/libcjson.pc" "$work/pkgconfig/"
openmp=ON
[[ " $backends " == *" cpu_openmp "* ]] || openmp=OFF
output=$(PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$work/pkgconfig cmake -S "$source" -B "$work" -G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" -DCMAKE_C_FLAGS_RELEASE= -DCOLLET_TESTS=OFF -DCOLLET_LEVELS=native -DCOLLET_WERROR=ON \
    -DCOLLET_ENGINES=OFF -DCOLLET_PYTHON=OFF -DCOLLET_OPENMP=$openmp -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=TRUE 2>&1) ||
    fail "cmake fails:" "$output"
# shellcheck disable=SC2086
output=$(cmake --build "$work" --parallel 1 --target ${backends//cpu_/plugin_cpu_} collet-probe backend-info 2>&1) || fail "the build fails:" "$output"
output=$("$work/bin/backend-info")
[ $openmp = ON ] || [ ! -e "$work/lib/collet/cpu_openmp.so" ] || fail "COLLET_OPENMP=OFF built cpu_openmp:"
for backend in $backends; do
    grep -q "$backend *usable" <<<"$output" || fail "$backend is not usable:" "$output"
    "$build/bin/backend-check" --sample --signatures 1 "$work/lib/collet/$backend.so"
done

# A plugin that is compiled in one directory and linked in another.
strict=(-std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -fPIC -fvisibility=hidden "-I$source/include")
# shellcheck disable=SC2086
"$cc" $flags "${strict[@]}" "-DCOLLET_MANIFEST_DIRECTORY=\"$source/examples/plugin\"" \
    -c "$source/examples/plugin/plugin.c" -o "$work/plugin.o"
# shellcheck disable=SC2086
(cd / && "$cc" $flags -O2 -fPIC -shared -o "$work/example.so" "$work/plugin.o" -lm)
"$build/bin/backend-check" --sample "$work/example.so"

# The macro of collet/floating.h that programs may use.
cat >"$work/scope.c" <<'END'
#include <collet/floating.h>
int scope(void);
int scope(void)
{
    COLLET_FLOATING_SCOPE;
    return 1;
}
END
# shellcheck disable=SC2086
"$cc" $flags "${strict[@]}" -c "$work/scope.c" -o "$work/scope.o"
