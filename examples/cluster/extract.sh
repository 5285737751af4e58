#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extract.sh SHARDS OUT.npz TOPOLOGY TRAJECTORY... [OPTION...]: reads the trajectories by a Slurm array, and then
# merges its shards in a job of its own, which names shards that are missing:
#
#   ./extract.sh 100 out.npz conf.gro traj.xtc --selection "resname SOL"
#   TASKS=3,17 ./extract.sh 100 out.npz conf.gro traj.xtc --selection "resname SOL"      only these shards again
set -eu
shards=$1
output=$2
shift 2
here=$(dirname "$0")
array=$(sbatch --parsable --array="${TASKS:-1-$shards}" "$here/array.sbatch" "$shards" collet-extract "$@" -o "$output")
echo "$array"
sbatch --parsable --dependency=afterany:"${array%%;*}" "$here/one.sbatch" collet-merge "$output.shards"
