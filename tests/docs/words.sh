#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# words.sh PAGE PROGRAM...: compares the option letters and the exit statuses of every program and its commands, and
# what --help says about them, with the two tables of the page. A PROGRAM may
# have arguments, separated by |.
set -euo pipefail
page=$1
shift
letters=$(sed -n "s/^| \`-\(.\)\`, \`--\([a-z]*\)\`.*/\1 \2/p" "$page")
statuses=$(sed -n 's/^| \([0-9][0-9+ n]*\) | \(.*\) |$/\1 \2/p' "$page" | paste -sd '|' | sed 's/|/; /g')
[ -n "$letters" ] && [ -n "$statuses" ] || { echo "$page has no table of letters or statuses" >&2; exit 1; }
failed=0

fault() {
    echo "$*" >&2
    failed=1
}

# expect STATUS COMMAND...: fails unless the command exits with STATUS; its output goes to $out.
expect() {
    local wanted=$1 status=0
    shift
    "$@" >"$out" 2>/dev/null || status=$?
    [ $status = "$wanted" ] || fault "$*: exit status $status, not $wanted"
}

# check PROGRAM...: compares the letters and names of options in --help with the table. No option may have a letter
# without a name, or lack a letter that the table gives it.
check() {
    local help listed
    help=$("$@" --help)
    listed=$(sed -nE "s/^ +-(.)( [^ ,]+)?,( -.,)? +--([a-z0-9-]+).*/\1 \4/p" <<<"$help" | sed 's/^h help$/? help/')
    while read -r letter name; do
        grep -qxF -- "$letter $name" <<<"$letters" || fault "$*: -$letter, --$name is not in $page"
    done <<<"$listed"
    if alone=$(grep -E "^ +-[a-zA-Z]( |=|$)" <<<"$help" | grep -v -- ', --'); then
        fault "$*: a letter has no name: $alone"
    fi
    for name in $(sed -nE 's/^ +--([a-z0-9-]+).*/\1/p' <<<"$help"); do
        ! grep -q " $name$" <<<"$letters" || fault "$*: --$name has no letter"
    done
    out=/dev/null expect 0 "$@" --help
    out=/dev/full expect 1 "$@" --help
    out=/dev/null expect 2 "$@" --no-such-option
}

for line; do
    IFS='|' read -ra program <<<"$line"
    check "${program[@]}"
    help=$("${program[@]}" --help)
    [[ $(tr -s ' \n' ' ' <<<"$help") == *"Exit status: $statuses."* ]] ||
        fault "$line --help does not state the exit statuses of $page"
    for command in $(sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$help"); do
        check "${program[@]}" "$command"
    done
done
exit $failed
