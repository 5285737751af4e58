#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ranks.sh extract|rsoxs PROGRAMS DATA PRELOADED LAUNCHER [OPTION...]
#
# collet-extract or collet-rsoxs, run as 1 to 4 ranks of an MPI job, writes the same bytes as a single
# process. A rank that is killed, or whose disk is full, ends the job; --resume then completes the job.
# PROGRAMS: folder of the programs; DATA: tests/data; PRELOADED: folder of libkill_at.so and
# libfull_disk.so. Exit status 77: the launcher is not installed.
set -u
test=$1 bin=$2 water=$3/md/water preloaded=$4
shift 4
command -v "$1" >/dev/null || { echo "skipped: there is no $1"; exit 77; }
launcher=("$@")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=false # Open MPI 4 does not start without ssh otherwise
export HWLOC_COMPONENTS=-opencl # without PoCL each launch takes half a second less
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fault() {
    printf 'FAULT: %s; status %s, output:\n' "$*" "$status"
    cat "$work/err" "$work/out"
    exit 1
}

# job FOLDER N COMMAND...: runs the command in FOLDER as N ranks (0: as one process without MPI); sets status.
job() {
    local n=$2 start=("${launcher[@]}" -n "$2")
    mkdir -p "$work/$1" && cd "$work/$1" || exit 1
    shift 2
    [ "$n" != 0 ] || start=()
    timeout -k 5 120 "${start[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cd "$work" || exit 1
}

# fails TEXT: the last job has failed, and a message matches TEXT (a regular expression).
fails() {
    if [ $status = 0 ] || ! grep -qE -- "$1" err; then
        fault "no message: $1"
    fi
}

# on_rank_1 TEXT COMMAND...: runs the command; rank 1 first executes TEXT as shell commands.
on_rank_1=(bash -c 'if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-}}}" = 1 ]; then eval "$0"; fi; exec "$@"')

# ---- collet-extract ----------------------------------------------------------------------------

# The meta file without the members that depend on the time or on the machine.
meta() {
    sed -E '/^\t"created":/d; /"threads(_limit)?":/d; /^\t"(counters|timing)":/,/^\t\}/d' "$1/out.meta.json"
}

# same FOLDER: the files in FOLDER equal the files of one process.
same() {
    [ $status = 0 ] || fault "$1"
    cmp -s one/out.npz "$1/out.npz" || fault "$1: out.npz differs from one process"
    [ "$(meta one)" = "$(meta "$1")" ] || fault "$1: $(diff <(meta one) <(meta "$1"))"
    [ ! -e "$1/out.npz.shards" ] || fault "$1: shards are left"
}

extract() {
    local extract=("$bin/collet-extract" "$water/conf.gro" "$water/traj.trr" --masses
        "$water/masses.txt" -o out.npz --drift both) n
    job one 0 "${extract[@]}"
    [ $status = 0 ] && [ "$(meta one | wc -l)" -gt 50 ] || fault "one process"
    for n in 1 2 3 4; do
        job "ranks$n" $n "${extract[@]}"
        same "ranks$n"
        [ $n = 1 ] || grep -qE "^$n ranks, $n of them here with [0-9]+ threads? each" out ||
            fault "the summary does not tell the ranks"
        [ "$(grep -c 'frames of' out)" = 1 ] || fault "more than one rank prints a summary"
    done

    job ranks2 2 "${extract[@]}"
    fails 'rank 0 (.*): out.npz already exists'
    rm ranks2/out.npz
    job ranks2 2 "${extract[@]}"
    fails 'rank 0 (.*): out.meta.json already exists'
    [ ! -e ranks2/out.npz.shards ] || fault "outputs are checked after the work"

    # The name of an output directory may end with a slash, and the directory may exist.
    mkdir -p folder/out slash
    job folder 2 "${extract[@]:0:5}" -o out/
    [ $status = 0 ] && [ -e folder/out/meta.json ] && [ "$(ls folder)" = out ] || fault "a directory"
    "$bin/collet-extract" "${extract[@]:1:4}" -q -o slash/out/ --shard 2/3 || fault "a shard"
    job slash 0 "${extract[@]:0:5}" -o out/ --resume
    [ $status = 0 ] && [ -e slash/out/meta.json ] && [ ! -e slash/out.shards ] ||
        fault "--resume of a directory"

    # Rank 1 is killed after it has completed one shard, and either a second shard or the index of the frames.
    job killed 3 "${on_rank_1[@]}" "export LD_PRELOAD=$preloaded/libkill_at.so KILL_AT=3" "${extract[@]}"
    [ $status != 0 ] || fault "a killed rank does not end the job"
    [ ! -e killed/out.npz ] || fault "a killed job has results"
    [ -n "$(ls killed/out.npz.shards/*.npz)" ] || fault "complete shards are not kept"
    job killed 3 "${extract[@]}"
    fails 'shards of an earlier run: --resume keeps them'
    job killed 0 "${extract[@]}" --resume # without a launcher
    same killed

    job full 3 "${on_rank_1[@]}" "export LD_PRELOAD=$preloaded/libfull_disk.so" "${extract[@]}"
    fails 'rank 1 \(.*\): .*out.npz.shards.*No space left on device.*--resume continues'
    job full 2 "${extract[@]}" --resume # another number of ranks; there may be no shard yet
    same full

    # Two ranks share two devices of the same kind: each puts its own device first in a list of devices.
    echo "remote.alike = 1" >remote.conf
    (
        export COLLET_CONFIG=$PWD/remote.conf
        export COLLET_PLUGIN_PATH=$preloaded/remote/remote.so:$bin/../lib/collet/cpu_openmp.so
        job one_device 0 "${extract[@]}" --backend remote,cpu_openmp
        job devices 2 "${extract[@]}" --backend remote,cpu_openmp
        cmp one_device/out.npz devices/out.npz || fault "results of two devices"
        diff <(meta one_device) <(meta devices) || fault "meta file of two devices"
        grep -q "this one on remote:0, 8 shards" out || fault "the device is not told"
    ) || exit 1
    job list 2 "${extract[@]}" --backend cpu_scalar:0,cpu_openmp:0
    [ $status = 0 ] && grep -q "this one on cpu_scalar:0, 8 shards" out || fault "a list of devices"

    # The launcher Hydra does not bind ranks to processors, so two ranks share the processors.
    if [[ ${launcher[0]} == *mpiexec.mpich && $(nproc) -ge 2 ]]; then
        job placed 2 "${extract[@]}"
        grep -qE 'threads? each, this one on processors? 0' out || fault "the place is not told"
    fi

    mkdir parts
    "$bin/collet-extract" "${extract[@]:1:4}" -q -o parts/out.npz --shard 1/1 || fault "a shard"
    job parts 2 "$bin/collet-merge" out.npz.shards
    fails 'rank 0 (.*): a merge is the work of one process'
    [ ! -e parts/out.npz ] || fault "two ranks merge"

    mkdir -p own/out.npz.shards
    echo mine >own/out.npz.shards/notes.txt
    job own 2 "${extract[@]}"
    [ $status = 0 ] && [ "$(ls -A own/out.npz.shards)" = notes.txt ] || fault "a file of the user"

    mkdir mixed
    "$bin/collet-extract" "${extract[@]:1}" -q --shard 1/2 && mv out.npz.shards mixed/ &&
        cp mixed/out.npz.shards/1-of-2.npz mixed/out.npz.shards/9-of-9.npz || fault "a shard"
    job mixed 2 "${extract[@]}" --resume
    fails 'is of other work'
    ! grep -q -- '--resume continues' err || fault "--resume cannot continue"

    job apart 2 "${on_rank_1[@]}" 'mkdir -p other && cd other' "${extract[@]}"
    fails 'missing.*start all ranks in one directory'
    job two 2 "${on_rank_1[@]}" 'set -- "$@" --step 2' "${extract[@]}"
    fails 'different command lines'
    # Ranks that wait for a rank that never joins.
    timeout -k 20 2 "${launcher[@]}" -n 2 "${on_rank_1[@]}" 'exit 0' "${extract[@]}" >out 2>err
    status=$?
    [ $status = 124 ] || fault "a signal does not end ranks that wait for another"
    job none 2 "${extract[@]}" none.trr
    fails 'rank 0 (.*): none.trr: cannot be opened: No such file or directory$'
    [ "$(grep -c none.trr err)" = 1 ] || fault "several ranks say the same"
    COLLET_MPI=/none.so job none 2 "${extract[@]}"
    fails '/none.so.*COLLET_MPI=off'
    [ ! -e none/out.npz ] || fault "results without MPI"
}

# ---- collet-rsoxs ------------------------------------------------------------------------------

# same_patterns FOLDER: the patterns in FOLDER equal the patterns of one process.
same_patterns() {
    [ $status = 0 ] || fault "$1"
    diff -r one/patterns "$1/patterns" || fault "$1/patterns differs from one process"
}

rsoxs() {
    local rsoxs=("$bin/collet-rsoxs" -c ../films/config.txt -o patterns --integrate) n d
    local films=(../a.h5 ../b.h5 ../c.h5)
    "$bin/collet-rsoxs" make sphere --size 1,24,24 --radius 6 --energies 280,281,282,283,284,285 \
        -q -o films || exit 1
    mv films/morphology.h5 a.h5
    cp a.h5 b.h5
    cp a.h5 c.h5
    job one 0 "${rsoxs[@]}" "${films[@]}"
    [ $status = 0 ] || fault "one process"
    for n in 1 2 3 4; do
        job "ranks$n" $n "${rsoxs[@]}" "${films[@]}"
        same_patterns "ranks$n"
        [ $n = 1 ] || grep -qE "^$n ranks, $n of them here with [0-9]+ threads? each" out ||
            fault "the summary does not tell the ranks"
    done
    job ranks2 2 "${rsoxs[@]}" "${films[@]}"
    fails 'integrated.h5 exists: --resume'
    job ranks2 2 "${rsoxs[@]}" "${films[@]}" --force
    same_patterns ranks2

    # The ranks divide the energies of one film; rank 1 is killed before it writes its second energy.
    job one 0 "${rsoxs[@]}" ../a.h5 -o alone
    job killed 3 "${on_rank_1[@]}" "export LD_PRELOAD=$preloaded/libkill_at.so KILL_AT=2" \
        "${rsoxs[@]}" ../a.h5 -o alone
    [ $status != 0 ] || fault "a killed rank does not end the job"
    [ ! -e killed/alone/integrated.h5 ] || fault "a killed job has results"
    job killed 2 "${rsoxs[@]}" ../a.h5 -o alone --resume
    diff -r one/alone killed/alone || fault "--resume"

    for d in cpu_openmp,cpu_scalar cpu_scalar,cpu_openmp; do
        job "$d" 2 "${rsoxs[@]}" ../a.h5 -o alone --devices $d
        [ $status = 0 ] && grep -q "^shard 1 of 2: 3 patterns .* on ${d%,*}$" out ||
            fault "rank 0 takes the first device"
    done

    mkdir apart
    job apart 2 "${on_rank_1[@]}" 'mkdir -p other && cd other' "$bin/collet-rsoxs" -c "$PWD/films/config.txt" \
        -o patterns --integrate "$PWD"/[abc].h5
    fails 'start all ranks in one directory'
    grep -q 'run the job again with --resume$' err || fault "other advice than for a job"
    job none 2 "${rsoxs[@]}" none.h5 -c none.txt
    fails 'rank 0 (.*): none.txt'
    [ "$(grep -c none.txt err)" = 1 ] || fault "several ranks say the same"
    COLLET_MPI=/none.so job none 2 "${rsoxs[@]}" ../a.h5
    fails '/none.so.*COLLET_MPI=off'
    [ ! -e none/patterns ] || fault "patterns without MPI"
}

"$test"
