#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh DOCUMENT [DIRECTORY]: runs every ```sh block of the document, in order, in a copy of the
# directory, by default in a copy of the project's root after ./bootstrap.sh. Does not
# run indented blocks.
set -euo pipefail
# CMakeLists.txt sets these variables. FLAGS: flags of the sanitizer. PYTHON: "" if no Python has NumPy. prefix: an
# installation.
: "${BUILD:?}" "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${CXX:?}" "${FLAGS?}" "${PYTHON?}" "${prefix:?}"
CC=$(command -v "$CC") CXX=$(command -v "$CXX") # the folder of stand-ins comes first in PATH
document=$1
directory=${2:-}
root=$WORK/$(basename "$(dirname "$document")")-$(basename "$document" .md)

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

# Links everything except build/ and out/ from the source; new files are written here.
link_project() {
    local path
    for path in "$SOURCE"/*; do
        case ${path##*/} in
        build | build-* | out) ;;
        *) ln -s "$path" "$root/" ;;
        esac
    done
    ln -s "$BUILD" "$root/build"
}

make_root() {
    rm -rf "$root"
    mkdir -p "$root/.bin" "$root/.home"
    if [ -n "$directory" ]; then
        cp -r "$directory"/. "$root/"
    else
        link_project
    fi
    # A compiler that is a link to ccache looks for the compiler in PATH, where it must not find the stand-in.
    # shellcheck disable=SC2016 # the wrapper expands "$@"
    printf '#!/bin/sh\nPATH=%q\nexec %s %s "$@"\n' "$PATH" "$CC" "$FLAGS" >"$root/.bin/cc"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nPATH=%q\nexec %s %s "$@"\n' "$PATH" "$CXX" "$FLAGS" >"$root/.bin/c++"
    printf '#!/bin/sh\nexec %s "$@"\n' "$PYTHON" >"$root/.bin/python3"
    chmod +x "$root/.bin/"*
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
        if [ -z "$PYTHON" ] && grep -q python3 "$block"; then
            echo "not run, because no Python here has NumPy: $(cat "$block")"
            continue
        fi
        (cd "$root" && HOME=$root/.home PATH=$root/.bin:$PATH CC=$root/.bin/cc \
            bash -euo pipefail "$block") >"$root/.output" 2>&1 || fail "a block of $document fails:
$(cat "$block")
It prints:
$(cat "$root/.output")"
        count=$((count + 1))
    done
    echo "$document: $count blocks ran"
}

# A shell splits the output of pkg-config at blanks, and the path of this folder may have blanks.
if [ -n "${PKG_CONFIG_PATH-}" ]; then
    link=$(mktemp -d)
    trap 'rm -r "$link"' EXIT
    ln -s "$prefix" "$link/prefix"
    export PKG_CONFIG_PATH=$link/prefix${PKG_CONFIG_PATH#"$prefix"}
fi
make_root
extract_blocks
run_blocks
