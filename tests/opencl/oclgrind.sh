#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh [SETTING=VALUE...]: runs every kernel row of the opencl backend under Oclgrind, one process
# a row, and records the results in a table. Rows that are already in the table are not run again.
#   check=FILE     backend-check
#   plugin=FILE    opencl.so
#   library=FILE   Oclgrind's runtime, liboclgrind-rt.so
#   table=FILE     created or appended to; lines "label watch op signature result seconds"
#   label=TEXT     names the tested version, such as a commit; rows are done per label (default -)
#   watch=LIST     memory; races: memory and data races (default memory)
#   rows=REGEX     runs only rows whose "op signature" matches (default all)
#   seconds=N      starts no row after N seconds (default 3600)
#   limit=N        seconds allowed per row (default 600)
#   pass=OPTION    option of backend-check (default --sample)
#   seed=N         seed of the values (default 1)
#   resume=no      starts with an empty table
# Results: pass; skip, slow (over the limit) or FAIL, with the row's output in TABLE.d/. Exit status
# 0: every row of the label passed; 1: a row did not pass; 75: rows remain, run the script again.
set -u
check='' plugin='' library='' table='' label=- watch=memory rows=. seconds=3600
limit=600 pass=--sample seed=1 resume=yes
for setting; do
    case ${setting%%=*} in
    check | plugin | library | table | label | watch | rows | seconds | limit | pass | seed | resume)
        printf -v "${setting%%=*}" %s "${setting#*=}"
        ;;
    *)
        echo "unknown setting '${setting%%=*}'" >&2
        exit 2
        ;;
    esac
done
if [ ! -x "$check" ] || [ ! -f "$plugin" ] || [ -z "$table" ]; then
    sed -n '3,20s/^# //p' "$0"
    exit 2
fi
[ -f "$library" ] || { echo "Oclgrind not found"; exit 77; }
[ "$resume" = yes ] || rm -rf "$table" "$table.d"
mkdir -p "$table.d" || exit 1
touch "$table" || exit 1
export XDG_CACHE_HOME=$table.d

# Prints lines "op signature" of all rows. For a case number that does not exist, backend-check prints a SKIP line for
# each row.
list_rows() {
    [ -s "$table.d/rows" ] || COLLET_CONFIG=$table.d/conf "$check" --case 1000000 "$plugin" |
        awk '$1 == "SKIP" && $3 ~ /:/ { print $2, $3 }' >"$table.d/rows"
    grep -E "$rows" "$table.d/rows"
}

# configure WATCH OP: sets up the configuration file and the environment.
configure() {
    printf 'opencl.library = %s\ncache = off\n' "$library" >"$table.d/conf"
    export COLLET_CONFIG=$table.d/conf
    unset OCLGRIND_DATA_RACES OCLGRIND_BUILD_OPTIONS
    # Oclgrind 21.10 lacks instructions that clang generates for some loops. Its option --uninitialized is not used: it
    # aborts at each LLVM instruction `freeze`, which clang generates for a quotient with its remainder, and it reports
    # the `poison` that clang stores before it fills both elements of a pair.
    case $2 in
    sin | cos | scatter_euler | scatter_images | scatter_average | scatter_slices | scatter_amplitudes | scatter_intensities) export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable ;;
    esac
    [ "$1" != races ] || export OCLGRIND_DATA_RACES=1
}

check_row() {
    timeout "$limit" "$check" "$pass" --seed "$seed" --timeout "$limit" --op "$1" --sig "$2" \
        "$plugin"
}

# run WATCH OP SIGNATURE: appends one line to the table.
run() {
    local began=$SECONDS result text rc
    text=$table.d/${1}_$2_${3//[:*]/_}.txt
    configure "$1" "$2"
    check_row "$2" "$3" >"$text" 2>&1
    rc=$?
    # Clang's optimised code calls LLVM intrinsics that Oclgrind 21.10 lacks, such as llvm.usub.sat; backend-check does
    # not print Oclgrind's message. So try again without optimisation: accesses out of bounds are the same.
    if [ $rc != 0 ] && [ -z "${OCLGRIND_BUILD_OPTIONS-}" ]; then
        export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable
        check_row "$2" "$3" >"$text" 2>&1
        rc=$?
    fi
    case $rc in
    0) result=pass ;;
    124) result=slow ;;
    *) result=FAIL ;;
    esac
    # This device has enough memory for every case. Every device refuses some programs of evaluate.
    [ "$2" = evaluate ] || ! grep -q refused "$text" || result=FAIL
    grep -q '^SKIP' "$text" && result=skip
    [ "$result" != pass ] || rm -f "$text"
    # backend-check does not print a kernel's output: log it.
    [ "$result" != FAIL ] || OCLGRIND_LOG=$text.log check_row "$2" "$3" >/dev/null 2>&1
    echo "$label $1 $2 $3 $result $((SECONDS - began))" >>"$table"
}

left=0
configure memory -
list_rows >"$table.d/selected"
[ -s "$table.d/selected" ] || { echo "rows=$rows selects no row"; exit 2; }
for what in ${watch//,/ }; do
    while read -r op sig; do
        grep -qF -- "$label $what $op $sig " "$table" && continue
        if [ $SECONDS -ge "$seconds" ]; then
            left=$((left + 1))
            continue
        fi
        run "$what" "$op" "$sig"
    done <"$table.d/selected"
done
failed=$(grep -F -- "$label " "$table" | grep -vc ' pass ')
passed=$(grep -F -- "$label " "$table" | grep -c ' pass ')
echo "$passed rows of $label passed, $failed did not, $left remain"
[ "$failed" = 0 ] || exit 1
[ "$left" = 0 ] || exit 75
