#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# house.sh [DIRECTORY [BUILD]]: shows the folders of the sources and the includes between them, and checks
# these rules:
#   - includes between modules (a module is x.c with x.h), and between folders, have no cycles; with a build
#     directory, calls between them have no cycles either; the script finds calls in the symbols of the object
#     files of every library and program
#   - with a build directory: a function of core that another file calls is declared in the header with the name of
#     its file, or in a header without a .c file of its name
#   - core includes only core and the public headers; plugins, layers, engines, conformance, tools and python include
#     nothing of core; python and layers include only their own headers and the public headers; only tests include a
#     tool's headers
#   - an include is written from the root of its tree, or names a file of the same folder
#   - a name that begins with collet_ is declared in a public header
#   - the guard of a public header is its path; a private header has such a guard or #pragma once
#   - a folder holds at most 30 files, a function at most 60 lines
#   - the head of a source file names one to three tests of it, which exist and are built
#   - no kernel of a .dev file returns before a barrier: PoCL 6 then sometimes computes wrong numbers
#   - an example in a help text fits on a line
#   - no module of the Python package imports one of a layer above its own (layers.py)
#   - no library prints or reads numbers, or classifies bytes as letters, by the locale of the program
# Exit status: 0 without faults, else 1.
set -eu
build=${2:+$(cd "$2" && pwd)}
cd "${1:-$(dirname "$0")/../..}"
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fault() {
    printf 'FAULT: %s\n' "$*"
    failed=1
}

trees=
for tree in core engines conformance plugins layers tools python; do
    [ ! -d $tree ] || trees="$trees $tree"
done
find $trees include -type f | sort >"$work/all"
grep -E '\.(c|h|inc|dev|def)$' "$work/all" >"$work/files"

# Writes lines "includer included". A name is searched in the folder of the includer, then in each tree.
xargs awk '
    FILENAME == files { known[$1] = 1; next }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, part, "\"")
        directory = FILENAME
        sub("/[^/]*$", "", directory)
        count = split(directory " core engines conformance plugins layers tools python include", root, " ")
        for (i = 1; i <= count; i++) {
            path = root[i] "/" part[2]
            while (sub("[^/]+/[.][.]/", "", path)) {
            }
            if (path in known) {
                print FILENAME, path
                break
            }
        }
        if (i > count && part[2] !~ /texts[.]h$|^rows\//) # made by the build
            print FILENAME " -> " part[2] >unknown
    }' unknown="$work/unknown" files="$work/files" "$work/files" <"$work/files" | sort -u >"$work/includes"

[ ! -s "$work/unknown" ] ||
    fault "includes that are not written from a root: $(cat "$work/unknown")"

# A module is the path of a file without its ending.
sed -E 's/\.[a-z]+( |$)/\1/g' "$work/includes" | awk '$1 != $2' | sort -u >"$work/modules"
sed -E 's,/[^/ ]+( |$),\1,g' "$work/includes" | awk '$1 != $2' | sort | uniq -c |
    awk '{ print $2, $3, $1 }' >"$work/rooms"

printf 'Folders, each with the folders that it includes (number of includes):\n'
awk '
    $1 != last { printf "%s%s ->", last == "" ? "" : "\n", $1; last = $1 }
    { printf " %s (%d)", $2, $3 }
    END { print "" }' "$work/rooms"

# ---- Calls, by symbol --------------------------------------------------------------------------

# Writes lines "caller callee symbol" of modules. If a symbol has several definitions, the definition of the caller's
# own target (CMakeFiles/TARGET.dir) is called; without such a definition every one may be called.
: >"$work/calls"
if [ -n "$build" ]; then
    find "$build" -path '*/CMakeFiles/*.dir/*.c.o' >"$work/objects"
    # Objects without a source are left from an earlier build.
    awk -v build="$build/" '
        FILENAME == ARGV[1] { known[$1] = 1; next }
        {
            source = substr($0, length(build) + 1)
            match(source, "CMakeFiles/[^/]*[.]dir/")
            target = substr(source, RSTART, RLENGTH)
            sub("CMakeFiles/[^/]*[.]dir/", "", source)
            gsub("/__", "/..", source)
            while (sub("[^/]+/[.][.]/", "", source)) {
            }
            sub("[.]o$", "", source)
            if (source in known)
                print $0, source, target
        }' "$work/files" "$work/objects" >"$work/sources"
    cut -d' ' -f1 "$work/sources" | xargs "${NM:-nm}" -A -P >"$work/nm"
    awk '
        FILENAME == ARGV[1] { sub("[.]c$", "", $2); module[$1] = $2; target[$1] = $3; next }
        { sub(":$", "", $1) }
        $3 ~ /^[TDBRVWC]$/ { print "D", $2, module[$1], target[$1] }
        $3 == "U" { print "U", $2, module[$1], target[$1] }' "$work/sources" "$work/nm" |
        sort -u >"$work/symbols"
    # These functions belong to the C library, although backend-check and backend-bench define their own.
    libc='malloc|calloc|realloc|free|aligned_alloc|memalign|posix_memalign|strdup|pthread_create'
    awk -v libc="^($libc)$" '
        $2 ~ libc { next }
        $1 == "D" {
            own[$2, $4] = own[$2, $4] " " $3
            any[$2] = any[$2] " " $3
            next
        }
        {
            count = split(($2, $4) in own ? own[$2, $4] : any[$2], definer, " ")
            for (i = 1; i <= count; i++)
                if (definer[i] != $3)
                    print $3, definer[i], $2
        }' "$work/symbols" | sort -u >"$work/calls"
    unbuilt=$(awk 'FILENAME == ARGV[1] { built[$2] = 1; next }
        /^core\/.*[.]c$/ && !($1 in built)' "$work/sources" "$work/files")
    [ -z "$unbuilt" ] || fault "sources of core without an object file in $build: $unbuilt"
    for tree in core engines conformance plugins layers tools; do
        grep -q "^$tree/.* $tree/" "$work/calls" ||
            fault "no call between files of $tree was found in $build"
    done
    undeclared=$(grep -E '^core/.*\.[ch]$' "$work/files" | awk '
        FILENAME == ARGV[1] && $1 !~ /^core\// { next }
        FILENAME == ARGV[1] { call[$2 " " $3] = $2; symbol[$2 " " $3] = $3; next }
        /[.]c$/ { sub("[.]c$", ""); owned[$0] = 1; next }
        { header[++count] = $0 }
        END {
            for (i = 1; i <= count; i++) {
                module = substr(header[i], 1, length(header[i]) - 2)
                while ((getline line < header[i]) > 0)
                    while (match(line, "[A-Za-z_][A-Za-z_0-9]*")) {
                        word = substr(line, RSTART, RLENGTH)
                        said[module " " word] = 1
                        if (!(module in owned))
                            shared[word] = 1
                        line = substr(line, RSTART + RLENGTH)
                    }
            }
            for (c in call)
                if (symbol[c] !~ /^collet_/ && !(c in said) && !(symbol[c] in shared))
                    print call[c] ".c: " symbol[c]
        }' "$work/calls" - | sort)
    [ -z "$undeclared" ] || fault "functions that their own header does not declare: $undeclared"
fi

sed 's/$/ include/' "$work/modules" | sort - "$work/calls" >"$work/edges"

# circle WHAT END: reports a cycle that tsort found, with the calls and includes between its modules (END "^$") or
# folders.
circle() {
    sed -n 's/^tsort: \([^- ][^ ]*\)$/\1/p' "$work/circles" | sort -u >"$work/nodes"
    fault "$1 call or include each other in a circle: $(tr '\n' ' ' <"$work/nodes")"
    awk -v end="$2" '
        FILENAME == ARGV[1] { node[$1] = 1; next }
        { from = $1; to = $2; sub(end, "", from); sub(end, "", to) }
        from in node && to in node && from != to { print "    " $1 " -> " $2 ": " $3 }' \
        "$work/nodes" "$work/edges"
}
cut -d' ' -f1,2 "$work/edges" | tsort >/dev/null 2>"$work/circles" || circle modules '^$'
sed -E 's,/[^/ ]+ ([^ ]+)/[^/ ]+ .*, \1,' "$work/edges" | sort -u |
    tsort >"$work/order" 2>"$work/circles" || circle folders '/[^/]*$'
printf 'Folders, each calling and including only those before it:\n'
for tree in $trees; do
    awk -v tree="$tree" '
        sub("^" tree "(/|$)", "") { line = ($0 == "" ? "." : $0) (line == "" ? "" : " < " line) }
        END { print tree ": " line }' "$work/order"
done

# forbidden FROM TO WHY: files whose paths match FROM must not include files whose paths match TO (grep -E).
forbidden() {
    found=$(awk -v from="^$1" -v to="^$2" '$1 ~ from && $2 ~ to { print $1 " -> " $2 }' \
        "$work/includes")
    [ -z "$found" ] || fault "$3: $found"
}
forbidden core/ '(engines|conformance|plugins|layers|tools|python)/' 'core includes what is above it'
forbidden layers/ '(engines|conformance|plugins|tools)/' 'a layer includes what is no layer'
forbidden '(engines|conformance|plugins|layers|tools|python)/' core/ 'private headers of core are included'
forbidden '(core|engines|conformance|plugins|layers|python)/' tools/ 'a library includes a tool'
forbidden python/ '(conformance|plugins|layers)/' 'the package includes what is no public header'
forbidden '(engines|plugins)/' '(conformance|tools)/' 'an upward include'
forbidden engines/ plugins/ 'an engine includes a backend'
forbidden plugins/shared/host/ 'plugins/(shared/jit|cpu_|opencl|cuda)' 'shared code includes a backend'
forbidden plugins/shared/jit/ 'plugins/(cpu_|opencl|cuda)' 'shared code includes a backend'

returns=$(grep '[.]dev$' "$work/files" | xargs awk '
    /^[A-Za-z]/ { returned = 0 }
    /(^|[ )])return;/ { returned = FILENAME ":" FNR }
    /SYNC/ && returned { print returned; returned = 0 }')
[ -z "$returns" ] || fault "kernels return in front of a barrier: $returns"

# The rows of ops/*.def declare the functions that call ops. A string that is only a name does not name a function.
{
    grep -hoE 'collet_[A-Za-z0-9_]+' $(grep -E '^(engines/[^/]+/)?include/' "$work/files") | sed 's/^/declared /'
    xargs awk '{
        gsub(/"collet_[a-z_]+"/, "")
        while (match($0, "[A-Za-z0-9_]+")) {
            if (substr($0, RSTART, 7) == "collet_" && RLENGTH > 7)
                print FILENAME, substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' <"$work/files"
    [ -z "$build" ] || sed -n 's/^D \(collet_[^ ]*\) \([^ ]*\) .*/\2 \1/p' "$work/symbols"
} | sort -u >"$work/names"
private=$(awk 'FILENAME != last { last = FILENAME; pass++ }
    pass == 1 && $1 == "declared" { public[$2] = 1 }
    pass == 2 && $1 != "declared" && $2 !~ /^collet_op_/ && !($2 in public)' "$work/names" "$work/./names")
[ -z "$private" ] || fault "names that begin with collet_ but are in no public header: $private"

# These headers need no guard: headers *_params.h become texts of kernels, and two headers of tests are parts of other files.
guards=$(find $trees include tests -name '*.h' ! -name '*_params.h' ! -path 'tests/fakes/cuda/device.h' \
    ! -path 'tests/fakes/cuda/cusolver.inc.h' | xargs awk '
    FNR == 1 {
        guard = FILENAME
        sub("^(engines/[^/]+/)?include/", "", guard)
        gsub("[^A-Za-z0-9]", "_", guard)
        guard = toupper(guard)
        missing[FILENAME] = guard
    }
    $1 == "#ifndef" && $2 == guard { delete missing[FILENAME] }
    /^#pragma once$/ && FILENAME !~ /(^|\/)include\// { delete missing[FILENAME] }
    END {
        for (f in missing)
            print f ": " missing[f]
    }' | sort)
[ -z "$guards" ] || fault "headers without their guard or, if private, #pragma once: $guards"

crowded=$(sed 's,/[^/]*$,,' "$work/all" | sort | uniq -c | awk '$1 > 30 { print $2 " (" $1 ")" }')
[ -z "$crowded" ] || fault "more than 30 files in a folder: $crowded; move the files of one noun into a folder of their own"

# .clang-format puts the first and the last brace of a function into the first column.
xargs awk '
    FNR == 1 { open = 0 }
    /^[{]/ { open = FNR }
    /^[}]/ && open {
        if (FNR - open - 1 > 60)
            printf "%s:%d (%d) ", FILENAME, open, FNR - open - 1
        open = 0
    }' <"$work/files" >"$work/long"
[ ! -s "$work/long" ] || fault "functions of more than 60 lines: $(cat "$work/long")"

# A source file has "Tests: tests/core/test_queue.c, tests/core/test_failures.c" in front of its first include. A test
# is built if a CMakeLists.txt has its name; functions there may add the beginning of the name.
grep -E '\.(c|dev)$|^python/.*\.py$' "$work/all" | grep -v '^python/tests/' | xargs awk '
    function finish() {
        if (file && state < 2)
            print file, "-"
        state = 0
        file = FILENAME
    }
    FNR == 1 { finish() }
    state == 0 && /^#[ \t]*(include|define|if)/ { state = 1 }
    state == 0 && /^(\/\*| \*|#) Tests: / || state == 3 {
        sub(/^.*Tests: /, "")
        state = FILENAME ~ /[.]py$/ || /\*\// ? 2 : 3
        gsub(/\*\/| \* |,/, " ")
        count = split($0, test, " ")
        for (i = 1; i <= count; i++)
            print FILENAME, test[i]
    }
    END { finish() }' >"$work/named"
cut -d' ' -f2 "$work/named" | sort -u | while read -r test; do
    name=${test##*/}
    case $test in
    tests/*.c | tests/*.sh | tests/*.cmake) list=${test%/*}/CMakeLists.txt ;;
    conformance/*.c | python/tests/*.py) list= ;;
    *) [ "$test" = - ] || echo "$test is no test"; continue ;;
    esac
    bare=${name%.*} bare=${bare#test_}
    [ -f "$test" ] || echo "$test does not exist"
    while [ -n "$list" ] && [ ! -f "$list" ]; do
        list=${list%/*/*}/CMakeLists.txt
    done
    [ -z "$list" ] || grep -qE "(^|[^a-z0-9])(test_)?(${bare#fuzz_}|$name)([^a-z0-9_]|$)" "$list" ||
        echo "$test is not in $list"
done >"$work/tests"
awk '{ count[$1]++; if ($2 == "-") print $1 " names none" }
    END { for (file in count) if (count[file] > 3) print file " names more than three" }' "$work/named" >>"$work/tests"
[ ! -s "$work/tests" ] || fault "tests of source files: $(cat "$work/tests")"

# The locale of the program. A statement that formats a floating-point number or calls cJSON must call one of the
# functions that work in the locale C, or its own function sets this locale (numerals_begin).
grep -vE '^(conformance|tools)/' "$work/files" >"$work/libraries"
calls='([^A-Za-z0-9_]|^)'
by_locale=$(xargs grep -nE "$calls(is(alpha|alnum|upper|lower|space|blank|print|graph|punct|cntrl)|to(upper|lower)|strn?casecmp|strcoll|alphasort|strto(d|f|ld)|atof|wcsto(d|f))\\(" <"$work/libraries" || :)
[ -z "$by_locale" ] || fault "functions that follow the program's locale: $by_locale"
by_locale=$(xargs grep -nE "${calls}setlocale\\(" <"$work/files" |
    grep -vE 'setlocale\(LC_ALL, NULL\)|^conformance/verbs/conduct\.c|^conformance/conduct\.c' || :)
[ -z "$by_locale" ] || fault "a library or a tool sets the locale: $by_locale"
xargs awk '
    FNR == 1 || /^}/ { c_locale = 0; statement = "" }
    /numerals_begin\(|newlocale\(LC_ALL_MASK/ { c_locale = 1 }
    /^[ \t]*(\/?\*|\/\/)/ || /^#/ { next }
    {
        statement = statement $0
        if (!/[;{}][ \t]*(\/\*.*)?$/)
            next
        gsub(/%%/, "", statement)
        if (!c_locale && (statement ~ /cJSON_(Parse|Print)/ ||
            (statement ~ /"[^"]*%[-+#0-9.*]*[lL]?[aefgAEFG]/ &&
             statement !~ /((collet|trajectory_(text|reader))_fail|->fail|->log|log_message|text_add|scatter_warn|add_warning)\(/)))
            printf "%s:%d ", FILENAME, FNR
        statement = ""
    }' <"$work/libraries" >"$work/numbers"
[ ! -s "$work/numbers" ] || fault "numbers by the program's locale: $(cat "$work/numbers")"

# argp fills the lines of a help text to 79 columns: a longer example would be two commands.
xargs awk 'match($0, /"  (collet|backend)-[a-z]+ [^"]*"/) {
        example = substr($0, RSTART + 1, RLENGTH - 2)
        gsub(/\\n/, "", example)
        if (length(example) > 79)
            printf "%s:%d ", FILENAME, FNR
    }' <"$work/files" >"$work/examples"
[ ! -s "$work/examples" ] || fault "examples of help texts have more than 79 columns: $(cat "$work/examples")"

python3 tools/dev/layers.py . || failed=1

awk 'END { printf "%d files, ", NR }' "$work/files"
awk 'END { printf "%d includes between modules, ", NR }' "$work/modules"
awk 'END { printf "%d between folders\n", NR }' "$work/rooms"
exit $failed
