#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh PAGE OUT PROGRAM...: writes a manual page to OUT. What --help of the program and of its commands says takes the
# place of these lines of PAGE:
#   .\" SYNOPSIS             the usage of the program and of its commands
#   .\" OPTIONS [COMMAND]    a list of the options of the program, or of COMMAND
#   .\" EXIT STATUS          a list of the statuses
#   .\" EXAMPLES             the examples of the program and of its commands
# It fails if a command has options of its own, and the page no place for them.
set -eu
page=$1 out=$2
shift 2
export LC_ALL=C

text=$("$(dirname "$0")/help.sh" "$@")
{
    printf '%s\n@@\n' "$text"
    cat "$page"
} | awk '
    function escaped(text) {
        gsub(/\\/, "\\e", text)
        return text ~ /^[.\047]/ ? "\\&" text : text
    }
    function add(list, line) {
        return list (list == "" ? "" : "\n") line
    }
    function note(option, text) {
        # The options --help, --usage and --version of the program hold for its commands too.
        if (command == "" || option !~ /--(help|usage|version)/)
            options[command] = add(options[command], item(option) "\n" escaped(text) ".")
    }
    # "  -o, --output=OUT" or "      --force" as an item of a list
    function item(option,   value, out) {
        value = option ~ /=/ ? option : ""
        sub(/^[^=]*=/, "", value)
        sub(/ +$/, "", value)
        sub(/=.*/, "", option)
        gsub(/, +--/, " , --", option)
        out = ".It"
        split(option, word, " ")
        for (i = 1; i in word; i++)
            out = out " " (word[i] ~ /^-/ ? "Fl " substr(word[i], 2) : word[i])
        return out (value == "" ? "" : " Ar " escaped(value))
    }
    # A usage, without the name of the program: lower case words at its start are commands.
    function usage(text,   out, count, i) {
        out = ".Nm"
        count = split(text, word, " ")
        for (i = 1; i <= count; i++) {
            if (word[i] == "[OPTION...]")
                out = add(out, ".Op Ar OPTION ...")
            else if (i == 1 && word[i] ~ /^[a-z]+$/)
                out = add(out, ".Cm " word[i])
            else
                out = add(out, (word[i] ~ /^-/ ? ".Fl " substr(word[i], 2) : ".Ar " word[i]))
        }
        return out
    }
    function fail(text) {
        print "page.sh: " text >"/dev/stderr"
        failed = 1
        exit 1
    }
    !page && $0 == "@@" { page = 1; next }
    !page && /^@/ { command = $2; part = "usage"; next }
    !page && part == "usage" && /^(Usage:|  or: ) / {
        $1 = $2 = "" # "Usage:" or "or:", and the program
        sub(/^ +/, "")
        synopsis = add(synopsis, usage($0))
        next
    }
    !page && /^ +-.*\t/ {
        split($0, option, "\t")
        note(option[1], option[2])
        next
    }
    !page && /^Examples?:$/ { part = "examples"; next }
    !page && part == "examples" && /^  / { examples = add(examples, escaped(substr($0, 3))); next }
    !page && /^Exit status: / {
        sub(/^Exit status: /, "")
        sub(/[.]$/, "")
        count = split($0, status, /; /)
        for (i = 1; i <= count; i++) {
            match(status[i], /^(128 [+] n|[0-9]+) /)
            statuses = add(statuses, ".It " substr(status[i], 1, RLENGTH - 1) "\n" \
                toupper(substr(status[i], RLENGTH + 1, 1)) substr(status[i], RLENGTH + 2) ".")
        }
        next
    }
    !page { part = ""; next }
    /^[.]\\" SYNOPSIS$/ { print synopsis; next }
    /^[.]\\" OPTIONS/ {
        if (!($3 in options))
            fail("no command has options and the name \"" $3 "\"")
        print ".Bl -tag -width Ds\n" options[$3] "\n.El"
        delete options[$3]
        next
    }
    /^[.]\\" EXIT STATUS$/ { print ".Bl -tag -width \"128 + n\"\n" statuses "\n.El"; next }
    /^[.]\\" EXAMPLES$/ { print ".Bd -literal -offset indent\n" examples "\n.Ed"; next }
    { print }
    END {
        if (!failed)
            for (command in options)
                fail("the page has no place for the options of " (command == "" ? "the program" : command))
    }
' >"$out.new"
mv "$out.new" "$out"
