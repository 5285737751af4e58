#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# complete.sh TYPES DIRECTORY NAME PROGRAM...: writes completion of the command NAME from what --help of the program and of its
# commands says: DIRECTORY/bash/NAME and DIRECTORY/zsh/_NAME. TYPES is the header with the list of dtypes.
# The name of a value determines how it is completed: a|b|c by one of these words; FILE, DIR, OUT and names with a dot by files;
# NAME of --backend and --devices by a backend, OP by an op, DTYPE by a dtype. A comma in the name stands for a list.
set -eu
export LC_ALL=C
types=$1 out=$2 name=$3
shift 3
here=$(dirname "$0")
dtypes=$(sed -n 's/^ *X([A-Z0-9]*, [0-9]*, [0-9]*, "\([a-z0-9]*\)",.*/\1/p' "$types" | tr '\n' ' ')
text=$("$here/help.sh" "$@")

# Rows "command|options|list or one|kinds|name of the value|text"; arguments have no options, a command's own text the option @.
rows=$(printf '%s\n' "$text" | awk -v OFS='|' -v dtypes="$dtypes" '
    # What the name of a value stands for: words, and the kinds files, backends, ops.
    function kinds(value, option,   part, count, i, found) {
        gsub(/[.][.][.]|[][]/, "", value)
        if (option ~ /^--(backend|devices)$/)
            return " backends"
        if (value == "BODIES")
            return " residue molecule segment chain"
        count = split(value, part, /[|,]/)
        for (i = 1; i <= count; i++)
            if (part[i] ~ /^OP$/)
                found = found " ops"
            else if (part[i] ~ /^DTYPE$/)
                found = found " " dtypes
            else if (part[i] ~ /^NAME(:.*)?$/ && option == "")
                found = found " backends"
            else if (part[i] ~ /^[a-z0-9_-]+$/ || (part[i] == "S" && count > 1))
                found = found " " part[i]
            else if (part[i] ~ /[.\/]/ || part[i] ~ /^(FILE|DIR|OUT|PICTURE)$/ || (option == "" && part[i] ~ /^(TOP|TRAJ|WEIGHTS|RESULTS)$/))
                found = found " files"
        return found
    }
    /^@/ { command = $2; next }
    /^(Usage:|  or: ) / {
        for (i = 4; i <= NF; i++)
            if ($i ~ /^-/)
                i += $i !~ /=/
            else if ($i !~ /OPTION|COMMAND|ARGUMENT/)
                arguments[command] = arguments[command] kinds($i, "")
        next
    }
    /^(Commands|Analyses):$/ { listed = 1; next }
    listed && /^  [a-z-]+ / { word = $1; sub(/^ +[a-z-]+ +/, ""); print word, "@", "one", "", "", $0; next }
    /^positional arguments:$/ { named = 1; next } # of argparse
    named && /^  [A-Z]+ / { arguments[""] = arguments[""] kinds($1, ""); next }
    /^$/ { listed = named = 0 }
    /^ +-.*\t/ {
        split($0, part, "\t")
        # "-o, --output=OUT" of argp, "-o OUT, --output OUT" of argparse
        value = part[1]
        if (!sub(/^[^=]*=/, "", value) && !sub(/^.*-[a-z0-9-]+ /, "", value))
            value = ""
        gsub(/[{]/, "", value)
        if (sub(/[}].*/, "", value))
            gsub(/,/, "|", value)
        options = ""
        count = split(part[1], token, /[ ,=]+/)
        for (i = 1; i <= count; i++)
            if (token[i] ~ /^-/)
                options = options (options == "" ? "" : " ") (long = token[i])
        shown = value
        gsub(/[|]/, " or ", shown)
        gsub(/[|]/, " or ", part[2])
        print command, options, value ~ /,/ ? "list" : "one", kinds(value, long), shown, part[2]
    }
    END {
        for (command in arguments)
            print command, "", "one", arguments[command], "", ""
    }')
mkdir -p "$out/bash" "$out/zsh"
function=_$(echo "$name" | tr - _)

# fill TEMPLATE ROWS: prints the template with the rows in place of its line @ROWS@. bash's rows have no texts.
fill() {
    printf '%s\n' "$2" | sed -e "/^@ROWS@\$/{ r /dev/stdin" -e 'd; }' -e "s/@NAME@/$name/g; s/@FUNCTION@/$function/g" "$1"
}
fill "$here/complete.bash" "$(printf '%s\n' "$rows" | cut -d'|' -f1-5)" >"$out/bash/$name"
fill "$here/complete.zsh" "$(printf '%s\n' "$rows" | sed "s/'/'\\\\''/g")" >"$out/zsh/_$name"
