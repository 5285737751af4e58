#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# checked.sh SOURCE BUILD: whole runs of the tools and of the examples that use files, with COLLET_LAYERS=programs. No
# run may print a fault, not even a harmless fault such as an array that is destroyed twice.
set -eu
source=$1
build=$2
bin=$build/bin
examples=$build/examples
water=$source/tests/data/md/water
digits=$source/examples/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() {
    if ! "$@" >out 2>&1 || grep 'programs:' out; then
        printf 'FAILED: %s\n' "$*"
        cat out
        exit 1
    fi
}

run "$bin/backend-info" --explain matmul 512x512x512 f32
run "$bin/backend-bench" dispatch --backend cpu_scalar --json
for backend in cpu_scalar cpu_openmp; do
    [ -f "$build/lib/collet/$backend.so" ] || continue # not built
    export COLLET_BACKEND=$backend
    run "$bin/collet-extract" "$water/conf.gro" "$water/traj.trr" --force -o whole.npz
    run "$bin/collet-extract" "$water/conf.gro" "$water/traj.xtc" --missing skip --each residue --force -o each.npz
    for shard in 1 2; do
        run "$bin/collet-extract" "$water/conf.gro" "$water/traj.trr" --force -o parts.npz --shard $shard/2
    done
    run "$bin/collet-merge" parts.npz.shards --force
    run "$bin/collet-rsoxs" make sphere --size 16 --radius 4 --energies 280,285 --force -o sphere
    for dtype in f32 f64; do
        run "$bin/collet-rsoxs" sphere/morphology.h5 -c sphere/config.txt --dtype $dtype --integrate --force -o patterns
    done
    run "$bin/collet-rsoxs" sphere/morphology.h5 -c sphere/config.txt --method direct --force -o patterns
    run "$bin/collet-ternary" run "$digits/digits.t2" "$digits/held_out.npy" --labels "$digits/labels.npy"
    run "$bin/collet-ternary" unpack "$digits/digits.t2" --layer 1 --values --force -o W2.npy
    run "$bin/collet-ternary" pack W2.npy --force -o W2.t2
    for program in hello by_name backends expression; do
        run "$examples/$program"
    done
    run "$examples/com" "$backend"
    run "$examples/trajectory" "$water/conf.gro" "$water/traj.trr" oxygen.npz
    run "$examples/diffusion" "$water/conf.gro" "$water/traj.trr"
    run "$examples/ternary" example.t2
done
