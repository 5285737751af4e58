#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slurm.sh SHARDS OUT COMMAND [ARGUMENT...]: computes OUT, the output of a command of Collet, by a Slurm array. A job of
# its own then merges the shards, and names the missing ones:
#
#   ./slurm.sh 100 patterns collet-rsoxs films/*.h5 -c config.txt --integrate
#   ./slurm.sh 100 out.npz collet-extract conf.gro traj.xtc --selection "resname SOL"
#   TASKS=3,17 ./slurm.sh 100 out.npz collet-extract conf.gro traj.xtc --selection "resname SOL"      only these shards again
set -eu
shards=$1
output=$2
shift 2
here=$(dirname "$0")
array=$(sbatch --parsable --array="${TASKS:-1-$shards}" "$here/array.sbatch" "$shards" "$@" -o "$output")
echo "$array"
sbatch --parsable --dependency=afterany:"${array%%;*}" "$here/one.sbatch" collet-merge "${output%/}.shards"
