#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh DIRECTORY: Debian packages of the last commit, in DIRECTORY, with the report of lintian. Needs debhelper, lintian and the
# packages that debian/control names (`apt-get build-dep ./`).
set -eu
[ $# = 1 ] || {
    echo "usage: deb.sh DIRECTORY" >&2
    exit 2
}
mkdir -p "$1"
directory=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/collet"
git archive HEAD | tar -x -C "$work/collet"
cd "$work/collet"
dpkg-buildpackage --build=binary --no-sign
lintian --fail-on error,warning --info ../*.changes || echo "deb.sh: lintian finds faults" >&2
for file in ../*.deb ../*.ddeb ../*.changes ../*.buildinfo; do
    [ ! -e "$file" ] || mv "$file" "$directory"
done
ls -l "$directory"
