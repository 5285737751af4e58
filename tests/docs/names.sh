#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# names.sh SOURCE: checks that public headers declare every name collet_... of the documents, and that docs/plugins/extensions.md
# names every extension of collet/extensions.h.
set -euo pipefail
cd "$1"
headers=(include/collet engines/*/include/collet)
documents=(README.md CHANGELOG.md SECURITY.md core/DESIGN.md plugins/README.md docs/{,python/,plugins/,kernels/,benchmarks/}*.md man/*)

# Ops are declared by rows COLLET_CALL(NAME, name, ...), COLLET_REDUCTION(NAME, name) and COLLET_ELEMENTWISE(NAME, id, name, ...). collet_backend_example is a package.
known=$(
    grep -rhoE '\bcollet_\w+' "${headers[@]}"
    grep -rhoE '\bCOLLET_(CALL|REDUCTION)\w*\(\w+, \w+' "${headers[@]}" | sed 's/.*, /collet_op_/'
    grep -rhoE '\bCOLLET_ELEMENTWISE\(\w+, [0-9]+, \w+' "${headers[@]}" | sed 's/.*, /collet_op_/'
    echo collet_backend_example
)
named=$(grep -hoE '\bcollet_\w*[a-z0-9]\b' "${documents[@]}")
unknown=$(comm -13 <(sort -u <<<"$known") <(sort -u <<<"$named"))
[ -z "$unknown" ] || {
    echo "No public header declares these names:" >&2
    # shellcheck disable=SC2086 # a list
    grep -nw -- "$unknown" "${documents[@]}" >&2
    exit 1
}

for extension in $(sed -n 's/^#define COLLET_EXTENSION_.* "\(.*\)"$/\1/p' include/collet/extensions.h); do
    grep -qF "\`$extension\`" docs/plugins/extensions.md || {
        echo "docs/plugins/extensions.md does not name $extension of include/collet/extensions.h" >&2
        exit 1
    }
done
