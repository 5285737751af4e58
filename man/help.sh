#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# help.sh PROGRAM...: prints what --help of the program and of its commands says, for page.sh and complete.sh. A line "@ COMMAND"
# begins the part of a command, "@" alone the program's. An option is one line: "  -o, --output=OUT", a tab, and its text.
set -eu
export LC_ALL=C ARGP_HELP_FMT=rmargin=9999,opt-doc-col=60,no-dup-args-note COLUMNS=9999 # COLUMNS: argparse

whole=$("$@" --help)
{
    printf '@\n%s\n' "$whole"
    for command in $(printf '%s\n' "$whole" | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        text=$("$@" "$command" --help)
        # A program may have the same options for all its commands.
        [ "$text" = "$whole" ] || printf '@ %s\n%s\n' "$command" "$text"
    done
} | awk '
    /^Examples?:$/ { examples = 1 }
    /^@/ { examples = 0 }
    # "  -o, --output=OUT    TEXT"; the text of a long option is on the next line.
    !examples && /^ +-/ {
        if (match($0, /[^ ]  +[^ ]/))
            print substr($0, 1, RSTART) "\t" substr($0, RSTART + RLENGTH - 1)
        else
            long = $0
        next
    }
    long != "" && /^                    +[^ ]/ { sub(/^ +/, ""); print long "\t" $0; long = ""; next }
    { print }'
