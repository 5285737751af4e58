#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# links.sh SOURCE: checks that the files and headings exist to which the documents link. Also checks the paths that they
# name in `code`: paths that begin with a folder of the root, and FOLDER/FILE names of sources. NAME and <name> stand
# for any name. Every folder of the root must be described in CONTRIBUTING.md and in core/DESIGN.md. No page of docs/
# and plugins/ is longer than two screens.
set -euo pipefail
cd "$1"

# anchors FILE: prints the anchors of the headings, as GitHub makes them.
anchors() {
    sed -n 's/^#\{1,6\} \(.*\)$/\1/p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

roots=$(sed -nE 's,^\| `([a-zA-Z.]+)/`.*,\1,p' CONTRIBUTING.md | sed 's/[.]/\\./' | paste -sd '|')
tree=$(mktemp)
trap 'rm -f "$tree"' EXIT
find . -not -path './build*' -not -path './out/*' -not -path './.git/*' >"$tree"

# named DOCUMENT: prints the paths that the document names in code.
named() {
    grep -oE '`[^`]+`' "$1" | tr -d '`' | tr ' ' '\n' | sed -E 's/^[("]+//; s/[]",.;:)]+$//; s/^(\.\.?\/)+//; s/\/$//' |
        grep -E "^($roots)/[A-Za-z0-9_.*<>/-]+$|^[A-Za-z0-9_.*<>/-]+/[A-Za-z0-9_.*<>-]+\.(c|h|hpp|cpp|inc|def|dev|sh|py|cmake)$" | sort -u
}

# Paths in other projects, and files that the build makes.
foreign='tests/unit/test_cuda_device_utils.py lib/collet/__init__.py rows/<name>.inc'

# exists PATH: succeeds if the tree has the path, perhaps in a folder that the surrounding text names.
exists() {
    local pattern
    [[ " $foreign " != *" $1 "* ]] || return 0
    pattern=$(sed -E 's/[.]/\\./g; s/<[^>]*>|(NAME|DIRECTORY|FAMILY)|\*/[^\/]*/g' <<<"$1")
    grep -qE "/$pattern$" "$tree"
}

faults=0 links=0 paths=0
for folder in $(git ls-tree -d --name-only HEAD 2>/dev/null); do # a tarball has no git
    for page in CONTRIBUTING.md core/DESIGN.md; do
        grep -qE "^(\| \`|    )$folder/" $page || {
            echo "$page does not say what $folder/ is" >&2
            faults=1
        }
    done
done
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
    [ -e CMakeLists.txt ] || continue # installed documents, without the sources
    while read -r path; do
        paths=$((paths + 1))
        exists "$path" || {
            echo "$document names $path: not found" >&2
            faults=1
        }
    done < <(named "$document")
# docs/site/ is left out: it links to pages that its own build makes and checks.
done < <(grep '\.md$' "$tree" | grep -v 'CHANGELOG\|docs/site/')
[ "$links" -gt 100 ] || { echo "only $links links were found" >&2; exit 1; }
[ ! -e CMakeLists.txt ] || [ "$paths" -gt 200 ] || { echo "only $paths paths were found" >&2; exit 1; }
while read -r length page; do
    [ "$length" -le 120 ] || { echo "$page has $length lines, more than 120: divide it" >&2; faults=1; }
done < <(find docs plugins -name '*.md' -not -path 'docs/site/*' -exec wc -l {} + | grep -v ' total$')
exit $faults
