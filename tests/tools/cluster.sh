#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster.sh PROGRAMS EXAMPLES DATA: the scripts of examples/cluster write the same files as a single process, even if
# tasks are lost. A stand-in for sbatch runs jobs at once, the last task first. A stand-in for GNU parallel runs xargs.
set -eu
PATH=$1:$PATH
scripts=$2/cluster water=$3/md/water
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir stands films

cat >stands/sbatch <<'EOF'
#!/bin/sh
# sbatch --parsable [--array=A,B-C] [--dependency=...] SCRIPT ARGUMENT...; tasks in $LOST end early.
set -eu
array=
while [ "${1#--}" != "$1" ]; do
    case $1 in
    --array=*) array=${1#--array=} ;;
    --parsable | --dependency=afterany:71) ;;
    *) echo "sbatch: $1?" >&2 && exit 1 ;;
    esac
    shift
done
echo 71
ids=$(echo "$array" | tr , '\n' | while IFS=- read -r first last; do
    [ -z "$first" ] || seq "$first" "${last:-$first}"
done | sort -rn)
[ -n "$ids" ] || "$@" >>log 2>&1 || echo "exit status $?" >>log
for id in $ids; do
    case ,${LOST:-}, in *,$id,*) continue ;; esac
    SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=$(echo "$ids" | tail -n 1) \
        SLURM_ARRAY_TASK_MAX=$(echo "$ids" | head -n 1) SLURM_ARRAY_TASK_STEP=1 \
        SLURM_ARRAY_TASK_COUNT=$(echo "$ids" | wc -l) "$@" >>log 2>&1
done
EOF
cat >stands/parallel <<'EOF'
#!/bin/sh
# parallel --jobs J --retries 3 -I TEXT --quote COMMAND...
[ "$1 $3 $4 $5 $7" = "--jobs --retries 3 -I --quote" ] || exit 1
jobs=$2 text=$6
shift 7
exec xargs -P "$jobs" -I "$text" "$@"
EOF
chmod +x stands/*
if parallel --version 2>/dev/null | grep -q GNU; then
    rm stands/parallel
fi
PATH=$work/stands:$PATH

# same EXPECTED FILES
same()
{
    diff -r "$1" "$2" || {
        cat log
        exit 1
    }
}

for film in a b c; do
    collet-rsoxs make euler --size 4,16,16 --seed "$(printf %d "'$film")" --energies 280,282,284,286 \
        --angles 0,45,315 -o "films/$film.h5" --quiet --force
done
rsoxs="films/a.h5 films/b.h5 films/c.h5 -c films/config.txt --integrate"
collet-rsoxs $rsoxs -o whole --quiet

LOST=3,5 "$scripts/slurm.sh" 5 array collet-rsoxs $rsoxs >ids
[ "$(cat ids)" = "71
71" ]
grep -q "^collet-merge: .*shards with missing patterns, of 5: 3, 5; " log
grep -q "^exit status 1" log
TASKS=3,5 "$scripts/slurm.sh" 5 array collet-rsoxs $rsoxs >ids
same whole array

find films -name '[abc].h5' >list
JOBS=3 "$scripts/parallel.sh" 5 collet-rsoxs --films list -c films/config.txt --integrate -o parallel --quiet
collet-merge parallel.shards --quiet
same whole parallel

collet-extract "$water/conf.gro" "$water/traj.trr" -o whole.npz --quiet
LOST=2 "$scripts/slurm.sh" 4 array.npz collet-extract "$water/conf.gro" "$water/traj.trr" >ids
grep -q "shard 2 of 4 is missing" log
[ ! -e array.npz ]
TASKS=2 "$scripts/slurm.sh" 4 array.npz collet-extract "$water/conf.gro" "$water/traj.trr" >ids
same whole.npz array.npz

"$scripts/parallel.sh" 4 collet-extract "$water/conf.gro" "$water/traj.trr" -o parallel.npz --quiet
collet-merge parallel.npz.shards --quiet
same whole.npz parallel.npz
