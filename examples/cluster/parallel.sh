#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh SHARDS COMMAND [ARGUMENT...]: all shards of a command of Collet by GNU parallel, JOBS at a time, each
# tried up to three times:
#
#   JOBS=4 ./parallel.sh 100 collet-rsoxs films/*.h5 -o patterns --integrate --threads 2
#   collet-merge patterns.shards
#
#   JOBS=4 ./parallel.sh 100 collet-extract conf.gro traj.xtc -o out.npz
#   collet-merge out.npz.shards
#
# HOSTS=FILE, with the names of hosts that share this directory, runs them there by ssh.
set -eu
shards=$1
shift
seq "$shards" | parallel --jobs "${JOBS:-2}" --retries 3 ${HOSTS:+--sshloginfile "$HOSTS" --workdir .} \
    -I '{shard}' --quote "$@" --resume --shard "{shard}/$shards"
