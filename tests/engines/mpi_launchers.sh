#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# mpi_launchers.sh PROGRAM LIBRARY OTHER LAUNCHER [OPTION...]
#
# Runs PROGRAM (mpi_program.c) as 1 to 4 ranks of an MPI. The ranks agree on a value; one rank ends the
# job, is killed, or stops waiting; waiting ranks leave the processors to others. A library of another
# MPI (OTHER, set by COLLET_MPI) or no library is an error. LIBRARY: the value of COLLET_MPI, or "" to
# let the program choose. Exit status 77: the launcher is not installed.
set -u
program=$1 library=$2 other=$3
shift 3
command -v "$1" >/dev/null || { echo "skipped: there is no $1"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=false # Open MPI 4 does not start without ssh otherwise
export HWLOC_COMPONENTS=-opencl # starting PoCL takes each launcher half a second
unset COLLET_MPI
[ -z "$library" ] || export COLLET_MPI=$library
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# job N WHAT: runs N ranks; sets status; the output is in $work/out.
launcher=("$@")
job() {
    timeout -k 5 60 "${launcher[@]}" -n "$1" "$program" "$2" >"$work/out" 2>&1 </dev/null
    status=$?
    # Launchers may end within a line, and may write zero bytes.
    tr -d '\000' <"$work/out" >"$work/text"
}

fault() {
    printf 'FAULT: %s; status %s, output:\n' "$*" "$status"
    cat "$work/text"
    exit 1
}

for n in 1 2 3 4; do
    job $n agree
    [ $status = 0 ] || fault "$n ranks fail"
    if [ $n = 1 ]; then
        grep -q '^no ranks$' "$work/text" || fault "a single process is no job of ranks"
        continue
    fi
    for ((r = 0; r < n; r++)); do
        grep -qE "^rank $r of $n, [0-3] of $n here, at least 1 processor: 1, largest $((10 * n - 15)), " \
            "$work/text" || fault "rank $r of $n"
    done
done
grep -m 1 '^rank' "$work/text"

for what in abort:'the disk is full' stop:'stopped while waiting for other ranks'; do
    job 3 "${what%%:*}"
    [ $status != 0 ] && [ $status -lt 124 ] || fault "rank 1 does not end the job"
    grep -q "rank 1: ${what#*:}" "$work/text" || fault "the reason of rank 1 is missing"
done
job 3 kill
[ $status != 0 ] && [ $status != 124 ] || fault "a killed rank does not end the job"

job 3 wait
[ "$(grep -c '^busy' "$work/text")" = 2 ] && [ $status = 0 ] || fault "two ranks should have waited"
busy=$(awk '$1 == "busy" && $2 > most { most = $2 } END { print most + 0 }' "$work/text")
echo "waiting keeps a processor busy for $busy % of the time"
[ "$busy" -le 5 ] || fault "ranks that wait do not sleep"

COLLET_MPI=$work/none.so job 2 agree
[ $status != 0 ] && grep -q "none.so" "$work/text" || fault "a missing library is no error"
COLLET_MPI=off job 2 agree
[ $status = 0 ] && [ "$(grep -c '^no ranks' "$work/text")" = 2 ] || fault "COLLET_MPI=off"
if [ -n "$other" ]; then
    COLLET_MPI=$other job 2 agree
    [ $status != 0 ] && [ $status -lt 124 ] || fault "$other is taken"
    grep -q 'COLLET_MPI=off' "$work/text" || echo "$other ended the program itself"
fi
