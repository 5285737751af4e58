#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# control_characters.sh PROGRAMS ZOO DATA: no program prints control characters that come from outside
# (names of files, devices and atoms, reasons, arguments). The JSON of every program is valid UTF-8.
set -eu
programs=$1 zoo=$2 data=$3
bad=$(printf '\033[2J\200\302\233')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir "$bad"
export XDG_CACHE_HOME="$work/cache" LC_ALL=C COLLET_BACKEND=cpu_scalar COLLET_PLUGIN_PATH="$work/$bad"
failed=0

# shown STATUS COMMAND...: the command must exit with STATUS. Its output must be UTF-8, without U+009B and without control
# characters of ASCII except line ends and tabs.
shown()
{
    expected=$1
    shift
    status=0
    "$programs/$@" >out 2>&1 </dev/null || status=$?
    if [ $status != "$expected" ] || [ "$(tr -d '\n\t' <out | tr -d '\000-\037\177' | wc -c)" != \
        "$(tr -d '\n\t' <out | wc -c)" ] || ! iconv -f UTF-8 -t UTF-8 out >/dev/null ||
        grep -q "$(printf '\302\233')" out; then
        echo "control_characters.sh: $* exited with $status and printed:" | cat -v
        cat -v out
        failed=1
    fi
}

cp "$zoo/zoo_hostile_text.so" "$programs/../lib/collet/cpu_scalar.so" "$bad"
awk 'NR == 3 { $0 = substr($0, 1, 10) "\033\377\t\302\233" substr($0, 16) } { print }' \
    "$data/peptide/conf.gro" >"$bad/top.gro"
cp "$data/peptide/traj.xtc" "$data/peptide/masses.txt" "$bad"

hostile="$PWD/$bad/zoo_hostile_text.so"
shown 0 backend-info "$hostile"
shown 0 backend-info --why "$hostile"
shown 0 backend-info --why --json "$hostile"
shown 0 backend-info --why --env
shown 0 backend-info --why --json
COLLET_BACKEND=$bad shown 2 backend-info nowhere
shown 1 backend-info "$bad/nothing.so"
shown 2 backend-info one "$bad"
shown 1 backend-check "$hostile"
shown 1 backend-check --json "$hostile"
set -- "$bad/top.gro" "$bad/traj.xtc"
shown 0 collet-extract --masses "$bad/masses.txt" -o "$bad/d/" "$@"
shown 0 collet-extract --masses "$bad/masses.txt" --json -o "$bad/x.npz" "$@"
shown 0 collet-extract --masses "$bad/masses.txt" --keys time_ps,com -o "$bad/w.npz" "$@"
shown 0 collet-merge -o "$bad/z.npz" "$bad/w.npz" "$bad/w.npz"
shown 0 collet-merge --check "$bad/w.npz"
for meta in "$bad/x.meta.json" "$bad/z.meta.json"; do
    iconv -f UTF-8 -t UTF-8 "$meta" >out || { echo "the meta file is not UTF-8"; failed=1; }
done
shown 1 collet-extract -o "$bad/y.npz" "$@"
shown 1 collet-extract -o "$bad/y.npz" --masses "$bad/top.gro" "$@"
shown 1 collet-extract -o "$bad/y.npz" "$1" "$bad/none.xtc"
shown 1 collet-extract -o "$bad/y.npz" --keys "$bad" "$@"
shown 2 collet-extract -o "$bad/y.npz" --selection "name $bad" "$@"
shown 2 collet-extract one two --step "$bad"
shown 0 collet-rsoxs make sphere --size 8 --radius 2 -o "$bad/m.h5"
shown 0 collet-rsoxs --plan -c "$bad/config.txt" "$bad/m.h5"
shown 0 collet-rsoxs --json -c "$bad/config.txt" -o "$bad/p" "$bad/m.h5"
shown 0 collet-rsoxs validate -c "$bad/config.txt" "$bad/m.h5"
shown 1 collet-rsoxs validate "$bad/none.h5"
shown 2 collet-rsoxs view -o "$bad" "$bad/m.h5"
shown 1 collet-ternary info "$bad/none.t2"
shown 2 collet-ternary "$bad"
exit $failed
