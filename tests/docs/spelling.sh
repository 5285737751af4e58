#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# spelling.sh SOURCE: codespell finds no misspelt word in the documents and public headers. Skipped without codespell.
set -euo pipefail
command -v codespell || {
    echo "there is no codespell (Debian: codespell)"
    exit 77
}
cd "$1"
find . -path './build*' -prune -o -path './out' -prune -o \( -name '*.md' -o -path '*include/collet*' -name '*.h' \) -print0 |
    xargs -0 codespell -I docs/site/words.txt
