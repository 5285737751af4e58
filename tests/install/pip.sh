#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pip.sh SOURCE WORK: runs the README's commands that install the Python package into a virtual environment, with a home
# directory in WORK, and the README's program. They must leave nothing in SOURCE. Needs PyPI.
set -euo pipefail
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
export HOME=$work

python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no python3-venv"; exit 77; }
python3 -m venv "$work/try"
"$work/try/bin/pip" download -q --no-deps -d "$work" scikit-build-core || { echo "PyPI cannot be reached"; exit 77; }

# The indented block after the line that installs Debian packages.
sed -n '/^    sudo apt-get install python3-venv/,/^$/{ /sudo/d; s/^    //; p }' "$source/README.md" >"$work/commands"
[ "$(grep -c . "$work/commands")" = 3 ] || { echo "the README has no three commands for pip" >&2; exit 1; }
before=$(git -C "$source" status --porcelain 2>/dev/null || true)
cd "$source"
unset PYTHONPATH
# shellcheck disable=SC1091
set +u && . "$work/commands" && set -u
python examples/hello.py | grep '^Rg 0\.8441 nm, grows by 7\.9%, by cpu_'
# The description that PyPI shows must have no relative links.
! grep -nE '\]\([^h#]|src="[^h]' "$VIRTUAL_ENV"/lib/python*/site-packages/collet_runtime-*.dist-info/METADATA || {
    echo "the lines above of METADATA have relative addresses" >&2
    exit 1
}
after=$(git -C "$source" status --porcelain 2>/dev/null || true)
[ "$before" = "$after" ] || { echo "the commands left files in the source: $after" >&2; exit 1; }
