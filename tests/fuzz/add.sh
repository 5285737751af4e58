#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# add.sh NAME FILE...: adds inputs to corpus/NAME.tar, or replaces those that have the same names. Without FILE the
# archive is only written again. The same inputs always make the same archive.
set -euo pipefail
name=${1:?"usage: add.sh NAME FILE..."}
shift
archive=$(dirname "$0")/corpus/$name.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
[ ! -e "$archive" ] || tar -xf "$archive" -C "$work"
[ $# = 0 ] || cp -- "$@" "$work/$name"
tar -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX \
    -cf "$archive" "$name"
