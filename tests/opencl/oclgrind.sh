#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh [SETTING=VALUE...]: every row of the opencl backend under Oclgrind, one process a row,
# with a table of what came of it, in slices: a row that stands in the table is not run again.
#   check=FILE     backend-check
#   plugin=FILE    opencl.so
#   library=FILE   Oclgrind's runtime, liboclgrind-rt.so
#   table=FILE     made or added to; lines "label geometry watch op signature result seconds"
#   label=TEXT     of what is run, such as a commit; a row counts as done under its label (default -)
#   geometry=LIST  gpu, cpu, panels: as a GPU launches kernels; as a CPU; as a CPU with local memory
#                  for the products of panels.dev (default gpu,cpu,panels)
#   watch=LIST     memory; races: memory and data races (default memory)
#   rows=REGEX     of "op signature" (default all)
#   seconds=N      begins no row after so long (default 3600)
#   limit=N        seconds that a row may take (default 600)
#   pass=OPTION    of backend-check (default --sample)
#   seed=N         of the values (default 1)
#   resume=no      begins with an empty table
# Results: pass; skip, slow (beyond the limit) or FAIL with the row's text in TABLE.d/. Exit 0: every
# row of the label has passed; 1: one has not; 75: rows are left, call again.
set -u
check='' plugin='' library='' table='' label=- geometry=gpu,cpu,panels watch=memory rows=. seconds=3600
limit=600 pass=--sample seed=1 resume=yes
for setting; do
    case ${setting%%=*} in
    check | plugin | library | table | label | geometry | watch | rows | seconds | limit | pass | seed | resume)
        printf -v "${setting%%=*}" %s "${setting#*=}"
        ;;
    *)
        echo "no setting is called '${setting%%=*}'" >&2
        exit 2
        ;;
    esac
done
if [ ! -x "$check" ] || [ ! -f "$plugin" ] || [ -z "$table" ]; then
    sed -n '3,22s/^# //p' "$0"
    exit 2
fi
[ -f "$library" ] || { echo "no Oclgrind"; exit 77; }
[ "$resume" = yes ] || rm -rf "$table" "$table.d"
mkdir -p "$table.d" || exit 1
touch "$table" || exit 1
export XDG_CACHE_HOME=$table.d

# Lines "op signature" of all rows: those that the backend answers a case with no number to.
list_rows() {
    [ -s "$table.d/rows" ] || COLLET_CONFIG=$table.d/gpu.conf "$check" --case 1000000 "$plugin" |
        awk '$1 == "SKIP" && $3 ~ /:/ { print $2, $3 }' >"$table.d/rows"
    grep -E "$rows" "$table.d/rows"
}

# configure GEOMETRY WATCH OP: the file and the environment for them.
configure() {
    printf 'opencl.library = %s\ncache = off\n' "$library" >"$table.d/$1.conf"
    [ "$1" != gpu ] || echo 'opencl.geometry = gpu' >>"$table.d/$1.conf"
    export COLLET_CONFIG=$table.d/$1.conf
    unset OCLGRIND_DATA_RACES OCLGRIND_LOCAL_MEM_SIZE OCLGRIND_BUILD_OPTIONS
    # Oclgrind 21.10 lacks what clang makes of some loops: reductions of vectors, and the opposite of
    # a vector of booleans, which it takes for true. Its --uninitialized, which is not asked for,
    # ends at each `freeze`, as of a quotient and its rest, and reports the `poison` that clang stores
    # in front of the two halves of a pair. What IN_VECTORS asks for is done with -O1 too.
    case $1,$3 in
    *,sin | *,cos | cpu,log) export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable ;;
    cpu,copy) export OCLGRIND_BUILD_OPTIONS=-O1 ;;
    cpu,ternary_*) export OCLGRIND_BUILD_OPTIONS="-O1 -DIN_VECTORS=" ;;
    esac
    [ "$1" != panels ] || export OCLGRIND_LOCAL_MEM_SIZE=262144
    [ "$2" != races ] || export OCLGRIND_DATA_RACES=1
}

check_row() {
    timeout "$limit" "$check" "$pass" --seed "$seed" --timeout "$limit" --op "$1" --sig "$2" \
        "$plugin"
}

# run GEOMETRY WATCH OP SIGNATURE: one line of the table.
run() {
    local began=$SECONDS result text rc
    text=$table.d/${1}_${2}_$3_${4//[:*]/_}.txt
    configure "$1" "$2" "$3"
    check_row "$3" "$4" >"$text" 2>&1
    rc=$?
    case $rc in
    0) result=pass ;;
    124) result=slow ;;
    *) result=FAIL ;;
    esac
    grep -qE 'refused' "$text" && result=FAIL
    grep -q '^SKIP' "$text" && result=skip
    [ "$result" != pass ] || rm -f "$text"
    # backend-check keeps to itself what a kernel printed.
    [ "$result" != FAIL ] || OCLGRIND_LOG=$text.log check_row "$3" "$4" >/dev/null 2>&1
    echo "$label $1 $2 $3 $4 $result $((SECONDS - began))" >>"$table"
}

left=0
configure gpu memory -
list_rows >"$table.d/wanted"
[ -s "$table.d/wanted" ] || { echo "no row is wanted"; exit 2; }
for where in ${geometry//,/ }; do
    for what in ${watch//,/ }; do
        while read -r op sig; do
            grep -qF -- "$label $where $what $op $sig " "$table" && continue
            if [ $SECONDS -ge "$seconds" ]; then
                left=$((left + 1))
                continue
            fi
            run "$where" "$what" "$op" "$sig"
        done < <(if [ "$where" = panels ]; then grep '^matmul ' "$table.d/wanted"
                 else cat "$table.d/wanted"; fi)
    done
done
failed=$(grep -F -- "$label " "$table" | grep -vc ' pass ')
passed=$(grep -F -- "$label " "$table" | grep -c ' pass ')
echo "$passed rows of $label passed, $failed did not, $left left"
[ "$failed" = 0 ] || exit 1
[ "$left" = 0 ] || exit 75
