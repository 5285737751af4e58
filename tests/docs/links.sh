#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# links.sh SOURCE: checks that the files and headings that the documents link to exist, and that no page of docs/ is longer
# than two screens.
set -euo pipefail
cd "$1"

# anchors FILE: of its headings, as GitHub makes them.
anchors() {
    sed -n 's/^#\{1,6\} \(.*\)$/\1/p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

faults=0 links=0
while read -r document; do
    while read -r link; do
        links=$((links + 1))
        file=${link%%#*}
        target=$document
        [ -z "$file" ] || target=$(dirname "$document")/$file
        if [ ! -e "$target" ]; then
            echo "$document links to $link: not found" >&2
        elif [[ $link == *#* ]] && ! anchors "$target" | grep -xF -- "${link#*#}" >/dev/null; then
            echo "$document links to $link: there is no such heading" >&2
        else
            continue
        fi
        faults=1
    done < <(grep -oE '\]\([^) ]+\)|src="[^"]+"' "$document" | sed -E 's/^\]\(|^src="|[)"]$//g' | grep -vE '^https?:')
done < <(find . -name '*.md' -not -path './build*' -not -path './docs/site/*' -not -path './out/*' -not -path './.git/*')
[ "$links" -gt 100 ] || { echo "only $links links were found" >&2; exit 1; }
while read -r length page; do
    [ "$length" -le 120 ] || { echo "$page has $length lines, more than 120: divide it" >&2; faults=1; }
done < <(find docs plugins -name '*.md' -not -path 'docs/site/*' -exec wc -l {} + | grep -v ' total$')
exit $faults
