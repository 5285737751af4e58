#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exit_statuses.sh PROGRAMS DATA DIGITS: every program that takes a backend, by an option or by COLLET_BACKEND, exits
# with 77 if the backend cannot be used on this machine. It exits with 2 if no backend has the name, if the name is
# empty, if a setting is wrong, or if the number of threads is too large.
set -eu
programs=$1 data=$2 digits=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export COLLET_MPI=off
failed=0

# expect STATUS COMMAND...: the command exits with STATUS, prints $why, and writes no results.
expect()
{
    expected=$1
    shift
    status=0
    "$programs/$@" >out 2>err </dev/null || status=$?
    if [ $status != "$expected" ] || ! grep -q "$why" err out || [ -e result.npz ] || [ -e result.npy ]; then
        echo "exit_statuses.sh: $* exited with $status, not $expected:"
        cat out err
        failed=1
    fi
}

[ ! -x "$programs/collet-rsoxs" ] || "$programs/collet-rsoxs" make sphere --size 8 --radius 2 -o film >/dev/null

# all STATUS [OPTION]: runs all programs with OPTION, which names a backend, at the end of the command line. Without
# OPTION, COLLET_BACKEND names the backend.
all()
{
    expected=$1
    shift
    if [ -x "$programs/collet-extract" ]; then
        for more in "" --plan --shard=1/2; do
            expect "$expected" collet-extract "$data/peptide/conf.gro" "$data/peptide/traj.xtc" \
                --masses "$data/peptide/masses.txt" -o result.npz $more "$@"
        done
    fi
    if [ -x "$programs/collet-rsoxs" ]; then # its first half of one energy is empty
        for more in "" --plan --shard=2/2; do
            rm -rf p p.shards
            expect "$expected" collet-rsoxs -c film/config.txt film/morphology.h5 -o p $more "$@"
            [ ! -e p ] || [ -z "$(ls p)" ] || { echo "exit_statuses.sh: patterns were written"; failed=1; }
        done
    fi
    if [ -x "$programs/collet-ternary" ]; then
        expect "$expected" collet-ternary run "$digits/digits.t2" "$digits/held_out.npy" -o result.npy "$@"
    fi
}

for name in cpu_scalar:9 cpu_scalra cpu_scalar:x; do
    case $name in
        *9) expected=77 why="device 9 is out of range" ;;
        *x) expected=2 why="'cpu_scalar:x' is not a choice of backend" ;;
        *) expected=2 why="did you mean 'cpu_scalar'" ;;
    esac
    all "$expected" --backend="$name"
    all "$expected" --devices="$name"
    COLLET_BACKEND=$name all "$expected"
    for what in add dispatch calibrate; do
        expect "$expected" backend-bench $what --backend="$name"
        COLLET_BACKEND=$name expect "$expected" backend-bench $what
    done
    COLLET_BACKEND=$name expect "$expected" backend-info --explain add 10 f32
    expect "$expected" backend-info "$name"
    expect "$expected" backend-check "$name" --op add
done

# A setting with an impossible value.
why="COLLET_NUM_THREADS: num_threads must be a whole number"
export COLLET_NUM_THREADS=x
[ ! -x "$programs/collet-extract" ] || expect 2 collet-extract "$data/peptide/conf.gro" "$data/peptide/traj.xtc" -o result.npz
[ ! -x "$programs/collet-ternary" ] || expect 2 collet-ternary run "$digits/digits.t2" "$digits/held_out.npy" -o result.npy
expect 2 backend-bench add
expect 2 backend-info
expect 2 backend-check cpu_scalar --op add
unset COLLET_NUM_THREADS

# An empty name, as from an unset variable of a script, and a number of threads that is too large.
why="the name is empty"
all 2 --backend=
all 2 --devices=
all 2 --output=
why="'99999999999' is more than 2147483647"
all 2 --threads=99999999999
exit $failed
