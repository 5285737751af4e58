#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh DIRECTORY: makes Debian packages of the last commit in DIRECTORY, without debug symbols, and prints the
# report of lintian. Needs debhelper, lintian and the packages that debian/control names (`apt-get build-dep ./`).
# Exit status 1 if lintian finds faults.
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
# DIRECTORY/*.deb is what a user installs.
DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage --build=binary --no-sign
faults=0
lintian --fail-on error,warning --info ../*.changes || faults=$?
mv ../*.deb ../*.changes ../*.buildinfo "$directory"
ls -l "$directory"
[ "$faults" = 0 ] || {
    echo "deb.sh: lintian finds faults, see above" >&2
    exit 1
}
