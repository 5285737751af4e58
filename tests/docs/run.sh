#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh DOCUMENT [DIRECTORY]: runs every ```sh block of the document, in order, in a copy of the
# directory, or else in one that looks like the root of the project after ./bootstrap.sh; and checks
# that what the document's links name exists. Blocks that are only indented are not run.
set -euo pipefail
# From CMakeLists.txt; FLAGS are those of the sanitizer.
: "${BUILD:?}" "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${FLAGS?}"
document=$1
directory=${2:-}
root=$WORK/$(basename "$(dirname "$document")")

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

# Everything but build/ is the source's; what a block writes lands here.
link_project() {
    local path
    for path in "$SOURCE"/*; do
        case ${path##*/} in
        build | build-*) ;;
        *) ln -s "$path" "$root/" ;;
        esac
    done
    ln -s "$BUILD" "$root/build"
}

lay_root() {
    rm -rf "$root"
    mkdir -p "$root/.bin" "$root/.home"
    if [ -n "$directory" ]; then
        cp -r "$directory"/. "$root/"
    else
        link_project
    fi
    # shellcheck disable=SC2016 # "$@" is the wrapper's
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$CC" "$FLAGS" >"$root/.bin/cc"
    chmod +x "$root/.bin/cc"
}

# Each block becomes $root/.block.N.
extract_blocks() {
    awk -v prefix="$root/.block." '
        /^```sh$/ { file = prefix sprintf("%03d", ++n); next }
        /^```/    { file = ""; next }
        file      { print > file }' "$document"
}

run_blocks() {
    local block count=0
    for block in "$root"/.block.*; do
        [ -e "$block" ] || fail "$document has no block to run"
        (cd "$root" && HOME=$root/.home PATH=$root/.bin:$PATH CC=$root/.bin/cc \
            bash -euo pipefail "$block") >"$root/.said" 2>&1 || fail "this of $document fails:
$(cat "$block")
and says:
$(cat "$root/.said")"
        count=$((count + 1))
    done
    echo "$document: $count blocks ran"
}

check_links() {
    local link
    { grep -oE '\]\([^)# ]+\)' "$document" || true; } | sed 's/^](//; s/)$//' | while read -r link; do
        case $link in
        http*) ;;
        *) [ -e "$(dirname "$document")/$link" ] || fail "$document links to $link, which is not there" ;;
        esac
    done
}

lay_root
extract_blocks
check_links
run_blocks
