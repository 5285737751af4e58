#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# project.sh [check | set VERSION]: the version of Collet and the addresses of the project.
#   project.sh              prints the version
#   project.sh check        compares every place below with the version of include/collet/types.h and with [project.urls]
#                           of pyproject.toml, and prints those that differ
#   project.sh set VERSION  writes the version into the header and all other places
# Build files read the header; the files listed below cannot read it. The release's first line in debian/changelog and
# its section in CHANGELOG.md are written by hand; release.sh checks both.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
header=include/collet/types.h

# Lines "FILE|text with VERSION": each file has the text at least once.
versions='CMakeLists.txt|set(version "VERSION")
CITATION.cff|version: VERSION
python/cyrsoxs/pyproject.toml|version = "VERSION"
python/cyrsoxs/pyproject.toml|"collet-runtime==VERSION"
plugins/cpu_scalar/manifest.json|"version": "VERSION"
plugins/cpu_openmp/manifest.json|"version": "VERSION"
plugins/opencl/manifest.json|"version": "VERSION"
plugins/cuda/manifest.json|"version": "VERSION"
plugins/worker/manifest.json|"version": "VERSION"
layers/validation/manifest.json|"version": "VERSION"
packaging/conda/recipe.yaml|version: "VERSION"
packaging/spack/package.py|version("VERSION"
packaging/spack/package.py|tags/vVERSION.tar.gz'

# Lines "FILE|text with a name of [project.urls] in braces".
addresses='CMakeLists.txt|HOMEPAGE_URL "{Homepage}"
CITATION.cff|url: {Homepage}
CITATION.cff|repository-code: {Repository}
debian/control|Homepage: {Homepage}
pyproject.toml|]({Repository}/blob/HEAD/
pyproject.toml|src="{Repository}/raw/HEAD/
python/cyrsoxs/pyproject.toml|Homepage = "{Homepage}"
packaging/conda/recipe.yaml|source: {Repository}
packaging/conda/recipe.yaml|homepage: {Homepage}
packaging/conda/recipe.yaml|repository: {Repository}
packaging/spack/package.py|homepage = "{Homepage}"
packaging/spack/package.py|git = "{Repository}.git"
packaging/spack/package.py|url = "{Repository}/archive/'

fail() {
    echo "project.sh: $*" >&2
    exit 1
}

version() {
    sed -n 's/^#define COLLET_VERSION "\(.*\)"$/\1/p' $header
}

# address NAME: prints the address NAME of [project.urls].
address() {
    sed -n '/^\[project.urls\]$/,/^$/s/^'"$1"' = "\(.*\)"$/\1/p' pyproject.toml
}

check() {
    local now file text name faults=0 major minor patch
    now=$(version)
    IFS=. read -r major minor patch <<<"$now"
    for text in "MAJOR $major" "MINOR $minor" "PATCH $patch"; do
        grep -qx "#define COLLET_VERSION_$text" $header || { echo "$header: COLLET_VERSION_$text is expected" && faults=1; }
    done
    while IFS='|' read -r file text; do
        grep -qF -- "${text//VERSION/$now}" "$file" || { echo "$file: '${text//VERSION/$now}' is expected" && faults=1; }
    done <<<"$versions"
    while IFS='|' read -r file text; do
        name=${text#*\{} name=${name%%\}*}
        [ -n "$(address "$name")" ] || fail "pyproject.toml: [project.urls] has no $name"
        text=${text//"{$name}"/$(address "$name")}
        grep -qF -- "$text" "$file" || { echo "$file: '$text' is expected" && faults=1; }
    done <<<"$addresses"
    [ $faults = 0 ] || fail "the places above differ from $header or from [project.urls] of pyproject.toml"
}

# set_version VERSION: writes the version into the header and all other places.
set_version() {
    local now file text content major minor patch
    [[ $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version is '$1', not three numbers such as 0.2.0"
    now=$(version)
    IFS=. read -r major minor patch <<<"$1"
    sed -i -e "s/^\(#define COLLET_VERSION_MAJOR\) .*/\1 $major/; s/^\(#define COLLET_VERSION_MINOR\) .*/\1 $minor/" \
        -e "s/^\(#define COLLET_VERSION_PATCH\) .*/\1 $patch/; s/^\(#define COLLET_VERSION\) \".*\"/\1 \"$1\"/" $header
    while IFS='|' read -r file text; do
        content=$(<"$file")
        [[ $content == *"${text//VERSION/$now}"* ]] || fail "$file has no '${text//VERSION/$now}'"
        printf '%s\n' "${content//"${text//VERSION/$now}"/"${text//VERSION/$1}"}" >"$file"
    done <<<"$versions"
}

case $* in
"") version ;;
check) check ;;
"set "*) set_version "${2-}" ;;
-h | --help) sed -n 's/^# \{0,1\}//; 3,9p' "$0" ;;
*)
    sed -n 's/^# \{0,1\}//; 3,9p' "$0" >&2
    exit 2
    ;;
esac
