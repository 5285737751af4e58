#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# man.sh PROGRAM PAGE: checks that the manual page documents every command and format of files that
# --help of the program lists, and every option that --help of the program and of its commands lists.
set -euo pipefail
program=$1 page=$2

# Words at the start of the lines below "Commands:".
commands=$("$program" --help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]\+\) .*/\1/p')
formats=$("$program" --help | sed -n '/^Formats/,/^$/s/^  \.\([a-z0-9]\+\) .*/\1/p')

# "--name" of each option, at the start of a line or after its short form.
listed=$({ "$program" --help; for command in $commands; do "$program" "$command" --help; done; } | grep -oE '^ +(-[[:alnum:]?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')

# Written .Fl -name.
described=$(sed 's/Fl -\([a-z]\)/--\1/g' "$page" | grep -oE -- '--[a-z-]+')

for command in $commands; do
    # The SYNOPSIS has a line ".Cm NAME" for each.
    grep -qE "^\.(It Cm|Ss) $command$" "$page" || {
        echo "$page does not document the command $command: it has no line \".Ss $command\" or \".It Cm $command\"" >&2
        exit 1
    }
done
for format in $formats; do
    grep -qE "^\.(It )?Pa \.$format" "$page" || {
        echo "$page does not document the format .$format" >&2
        exit 1
    }
done
missing=$(comm -23 <(sort -u <<<"$listed") <(sort -u <<<"$described") |
    grep -vE '^--(help|usage|version)$' || true)
if [ -n "$missing" ]; then
    echo "$page does not document ${missing//$'\n'/ }" >&2
    exit 1
fi
