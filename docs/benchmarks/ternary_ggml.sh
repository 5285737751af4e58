#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/benchmarks/ternary_ggml.sh DIRECTORY [THREADS [TURNS]]: builds ggml, the tensor library of
# llama.cpp, from the source package of llama-cpp-python, which pip downloads into DIRECTORY, and
# measures its products of ternary weights in turn with Collet's of build/ (ternary_turns.c).
# Needs pip, CMake and C++; no build and no test does. Kept in DIRECTORY for the next time.
set -euo pipefail
if [ $# -lt 1 ]; then
    sed -n 's/^# \{0,1\}//; 3,6p' "$0"
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"
if [ ! -e ggml/src/libggml.a ]; then
    pip download --quiet --no-deps --no-binary :all: llama-cpp-python
    tar xzf llama_cpp_python-*.tar.gz
    cd llama_cpp_python-*/vendor/llama.cpp/ggml
    touch ggml.pc.in # the package leaves it out
    cmake -S . -B "$OLDPWD/ggml" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DGGML_NATIVE=ON -DGGML_OPENMP=ON -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF
    cd "$OLDPWD"
    cmake --build ggml --parallel "$(nproc)"
fi
cc -O2 "$source/docs/benchmarks/ternary_turns.c" -I"$source/include" \
    -I"$(echo llama_cpp_python-*/vendor/llama.cpp/ggml/include)" -o ternary_turns \
    -Wl,--start-group ggml/src/libggml*.a -Wl,--end-group -lstdc++ -lm -fopenmp -ldl \
    -L"$source/build/lib" -Wl,-rpath,"$source/build/lib" -lcore
./ternary_turns "${@:2}"
