#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/benchmarks/ternary_ggml.sh DIRECTORY [THREADS [TURNS]]: builds ggml, the tensor library of
# llama.cpp, from the source package of llama-cpp-python, which pip downloads into DIRECTORY, and
# measures its products of ternary weights in turn with Collet's of build/ (ternary_turns.c).
# Needs a build by ./bootstrap.sh, network, and pip, CMake and g++ (Debian: python3-pip cmake g++).
# DIRECTORY is kept for the next run.
set -euo pipefail
if [ $# -lt 1 ]; then
    sed -n 's/^# \{0,1\}//; 3,7p' "$0"
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd)
for command in pip cmake c++ cc; do
    command -v $command >/dev/null || {
        echo "ternary_ggml.sh: $command is missing; on Debian: apt-get install python3-pip cmake g++" >&2
        exit 1
    }
done
if [ ! -e "$source/build/lib/libcollet-core.so" ]; then
    echo "ternary_ggml.sh: $source/build has no libcollet-core.so: run $source/bootstrap.sh first" >&2
    exit 1
fi
mkdir -p "$1"
cd "$1"
if [ ! -e ggml/src/libggml.a ]; then
    pip download --quiet --no-deps --no-binary :all: llama-cpp-python
    tar xzf llama_cpp_python-*.tar.gz
    cd llama_cpp_python-*/vendor/llama.cpp/ggml
    touch ggml.pc.in # missing in the package
    cmake -S . -B "$OLDPWD/ggml" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DGGML_NATIVE=ON -DGGML_OPENMP=ON -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF
    cd "$OLDPWD"
    cmake --build ggml --parallel "$(nproc)"
fi
cc -O2 "$source/docs/benchmarks/ternary_turns.c" -I"$source/include" \
    -I"$(echo llama_cpp_python-*/vendor/llama.cpp/ggml/include)" -o ternary_turns \
    -Wl,--start-group ggml/src/libggml*.a -Wl,--end-group -lstdc++ -lm -fopenmp -ldl \
    -L"$source/build/lib/collet-link" -Wl,-rpath,"$source/build/lib" -lcore
./ternary_turns "${@:2}"
