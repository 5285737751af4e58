#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rsoxs.sh SHARDS FILM.h5... [OPTION...]: computes the films by a Slurm array, and then completes the results in
# a job of its own, which names shards with missing patterns:
#
#   ./rsoxs.sh 100 films/*.h5 -c config.txt -o patterns --integrate
#   TASKS=3,17 ./rsoxs.sh 100 films/*.h5 -c config.txt -o patterns --integrate      only these shards again
set -eu
shards=$1
shift
here=$(dirname "$0")
array=$(sbatch --parsable --array="${TASKS:-1-$shards}" "$here/array.sbatch" "$shards" collet-rsoxs "$@")
echo "$array"
sbatch --parsable --dependency=afterany:"${array%%;*}" "$here/one.sbatch" collet-rsoxs "$@" --merge "$shards"
