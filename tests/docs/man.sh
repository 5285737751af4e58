#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# man.sh PROGRAM PAGE [COMMAND...]: checks that the manual page documents every option listed by
# --help of the program and of its commands.
set -euo pipefail
program=$1 page=$2
shift 2

# "--name" of each option, at the start of a line or after its short form.
listed=$({ "$program" --help; for command; do "$program" "$command" --help; done; } | grep -oE '^ +(-[[:alnum:]?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')

# Written --name, \-\-name or .Fl -name.
described=$(sed 's/\\-/-/g; s/Fl -\([a-z]\)/--\1/g' "$page" | grep -oE -- '--[a-z-]+')

missing=$(comm -23 <(sort -u <<<"$listed") <(sort -u <<<"$described") |
    grep -vE '^--(help|usage|version)$' || true)
if [ -n "$missing" ]; then
    echo "$page does not document ${missing//$'\n'/ }" >&2
    exit 1
fi
