#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks of headers, symbols and libcore's sources.
#
#   check.sh headers           each header compiles alone as C11 and C++17; two C files with all link
#   check.sh interface FILE... the headers and these libraries still have everything in the frozen interface.c
#   check.sh planted FILE...   the check above fails with planted changes
#   check.sh slots             each function that a plugin supplies has a tag
#   check.sh names             no constant is both a macro and an enumerator; macros of constants have a type suffix
#   check.sh order             functions have their parameters in the order that collet.h states
#   check.sh plugin FILE.so    a plugin exports only collet_plugin_entry
#   check.sh library FILE.so   libcore exports only collet_*, all of the version COLLET_1
#   check.sh clash PROGRAM     the program runs even if another project's libcore.so.0 is loaded first
#   check.sh undefined FILE.so a plugin needs no symbol of libcore
#   check.sh glibc FILE        an object needs no symbol newer than glibc 2.28
#   check.sh core              libcore's sources name no backend
set -euo pipefail
# CMakeLists.txt sets these variables; FLAGS are flags of the sanitizer.
: "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${CXX:?}" "${FLAGS?}" "${LIBRARY:?}"

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

headers() {
    local header strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "-I$SOURCE/include")
    local include
    for include in "$SOURCE"/engines/*/include; do
        strict+=("-I$include")
    done
    mkdir -p "$WORK"
    for header in "$SOURCE"/{,engines/*/}include/collet/{,ops/}*.h; do
        [ -e "$header" ] || continue
        echo "#include <collet/${header##*/include/collet/}>" >"$WORK/alone.c"
        echo 'extern int nothing;' >>"$WORK/alone.c"
        cp "$WORK/alone.c" "$WORK/alone.cpp"
        "$CC" -std=c11 "${strict[@]}" -fsyntax-only "$WORK/alone.c" || fail "$header is not C11"
        "$CXX" -std=c++17 "${strict[@]}" -fsyntax-only "$WORK/alone.cpp" ||
            fail "$header is not C++17"
        # g++ does not report these casts inside extern "C".
        ! command -v clang++ >/dev/null ||
            clang++ -std=c++17 "${strict[@]}" -Wold-style-cast -fsyntax-only "$WORK/alone.cpp" ||
            fail "$header casts as in C"
    done
    "$CXX" -std=c++17 "${strict[@]}" -fsyntax-only "$SOURCE/tests/abi/types.cpp" ||
        fail "a constant does not have the type of its field"
    # shellcheck disable=SC2086 # FLAGS is a list
    "$CC" -std=c11 "${strict[@]}" $FLAGS "$SOURCE/tests/abi/first.c" "$SOURCE/tests/abi/second.c" \
        "$LIBRARY" "-Wl,-rpath,$(dirname "$LIBRARY")" -o "$WORK/two_files"
    "$WORK/two_files" || fail "a program of two files does not run"
}

# Programs that are already compiled must keep working. tools/dev/interface.py wrote interface.c.
interface() {
    local include=("-I$SOURCE/include") directory
    for directory in "$SOURCE"/engines/*/include; do
        include+=("-I$directory")
    done
    mkdir -p "$WORK"
    # shellcheck disable=SC2086 # FLAGS is a list
    "$CC" -std=c11 -Wall -Wextra -Werror $FLAGS "${include[@]}" "$SOURCE/tests/abi/interface.c" "$@" "-Wl,-rpath,$(dirname "$LIBRARY")" \
        -o "$WORK/interface" || fail "the C interface differs from tests/abi/interface.c, in the lines above: compiled programs break. \
Restore it. Until 0.1.0 is released, a change that is wanted is recorded by tools/dev/interface.py"
    "$WORK/interface" || fail "a program of the frozen interface does not start"
}

# The check of the interface finds a parameter of another type, a moved member, another value and a function that is gone.
planted() {
    local row file before after copy=$WORK/planted
    for row in 'types.h|X(F32, 3,|X(F32, 30,' 'array.h|int64_t count, int64_t step|int32_t count, int64_t step' \
        'runtime.h|uint32_t struct_size;|uint32_t struct_size; uint64_t planted;' \
        'status.h|const char *collet_version(void)|const char *collet_no_version(void)'; do
        IFS='|' read -r file before after <<<"$row"
        rm -rf "$copy"
        mkdir -p "$copy/tests"
        cp -R "$SOURCE/include" "$copy"
        cp -R "$SOURCE/tests/abi" "$copy/tests"
        (cd "$SOURCE" && tar -c engines/*/include) | tar -x -C "$copy"
        grep -qF -- "$before" "$copy/include/collet/$file" || fail "$file has no '$before': plant another change"
        sed -i "s|${before//\*/\\*}|$after|" "$copy/include/collet/$file"
        ! (SOURCE=$copy WORK=$copy interface "$@") >"$WORK/planted.log" 2>&1 || fail "$file: '$after' instead of '$before' is not found"
        grep -q 'the C interface differs' "$WORK/planted.log" || fail "$(cat "$WORK/planted.log")"
    done
}

# The comment at the top of plugin.h defines the tags. The comment of a slot begins with its tag. The struct of a
# kernel row or an extension has one comment before it, in which a tag follows the name of each function.
slots() {
    local tag='\\[(required|optional|memory|queue); (any thread|one a queue|last)\\]' found
    found=$(awk -v tag="$tag" '
        /^struct collet_host/ { host = 1 }
        /^}/ { host = 0 }
        $0 ~ "^ +(/\\*|\\*) " tag { before = 1 }
        $0 ~ "^ \\* +[a-z_]+ +" tag { tagged[$2] = 1 }
        /^ .*\(\*[a-z_]+\)\(/ && !host {
            name = $0; sub(/\)\(.*/, "", name); sub(/.*\(\*/, "", name)
            print name, before || name in tagged ? "tagged" : "bare"
            delete tagged[name]; before = 0
        }' "$SOURCE"/include/collet/{plugin,extensions}.h)
    [ "$(wc -l <<<"$found")" -gt 25 ] || fail "only these slots were found: $found"
    ! grep bare <<<"$found" || fail "the slots above have no tag"
}

# Prints the public headers after the preprocessor (with -P), or their macros (with -dM).
public() {
    local header include=("-I$SOURCE/include")
    for header in "$SOURCE"/engines/*/include; do
        include+=("-I$header")
    done
    for header in "$SOURCE"/{,engines/*/}include/collet/{,ops/}*.h; do
        [ ! -e "$header" ] || echo "#include <collet/${header##*/include/collet/}>"
    done | "$CC" "${include[@]}" "$1" -E -x c -
}

# Tools that translate headers for other languages would pick one of two definitions, and would derive the type of a
# macro from its value. So a constant that a field holds is an enumerator or has a suffix. Counts and sizes are macros.
names() {
    local both bare
    mkdir -p "$WORK"
    public -dM | grep '^#define COLLET_' >"$WORK/definitions"
    sed -nE 's/^#define (COLLET_[A-Z0-9_]+).*/\1/p' "$WORK/definitions" | sort -u >"$WORK/macros"
    # After the preprocessor only enumerators have such names.
    public -P | grep -oE '\bCOLLET_[A-Z0-9_]+' | sort -u >"$WORK/enumerators"
    [ "$(wc -l <"$WORK/enumerators")" -gt 120 ] || fail "no enumerators were found"
    both=$(comm -12 "$WORK/macros" "$WORK/enumerators")
    [ -z "$both" ] || fail "both a macro and an enumerator: $both"
    bare=$(grep -E ' -?[0-9]+$' "$WORK/definitions" |
        grep -vE '_(ABI|VERSION)_M|_VERSION_PATCH|_(BITS|CHI|DEPTH|DIMS|INPUTS|CONSTANTS|NAME|OPERANDS|OUTPUTS|STEPS|TEXT|VALUES) ' || true)
    [ -z "$bare" ] || fail "constants without the type of a field: $bare"
}

# Ranks of parameters, in ascending order: 1 the object, 2 outputs, 3 inputs, 4 options, 5 err. A pointer to void or to
# an opaque struct other than an array may be an output or an input, so it has no rank. A capacity follows its buffer
# and has no rank either.
order() {
    local found
    found=$(public -P | tr '\n' ' ' | awk '
        function rank(name, p,    type) {
            if (p ~ /collet_error \*/) return 5
            if (p ~ /\(\*[a-z_]+\) *\(/ || p ~ /^const .*\*const \*/) return 3
            if (p ~ /^const .*((_options|_params|_monitor) \*|\*params$)/) return 4
            if (p ~ /\*\*|\*const \*/) return 2
            if (p ~ /capacity$/) return 0
            if (p !~ /[*\[]/) return p ~ / op$/ && top < 2 ? 1 : 3
            type = p; sub(/^const /, "", type); sub(/ .*/, "", type)
            if (type ~ /^collet_(runtime|context)$/ || index(name, type "_") == 1) return 1
            if (top < 2 && (type ~ /^collet_(host|plugin|device|queue|kernel_call)$/ || p ~ /\*user$/))
                return 1
            if (p ~ /^const /) return 3
            return type in known || type !~ /^(void|struct|collet_)/ ? 2 : 0
        }
        {
            text = $0
            for (rest = text; match(rest, /\} collet_[a-z0-9_]+;/); rest = substr(rest, RSTART + RLENGTH))
                known[substr(rest, RSTART + 2, RLENGTH - 3)] = 1
            known["collet_status"] = known["collet_dtype"] = known["collet_array"] = 1
            while (match(text, /(collet_[a-z0-9_]+|\(\*[a-z0-9_]+\) *)\(/)) {
                name = substr(text, RSTART, RLENGTH); gsub(/[(*) ]/, "", name)
                text = substr(text, RSTART + RLENGTH)
                top = depth = 0; p = ""
                for (i = 1; depth >= 0; i++) {
                    c = substr(text, i, 1)
                    depth += (c == "(") - (c == ")")
                    if (depth >= 0 && (c != "," || depth)) { p = p c; continue }
                    gsub(/ +/, " ", p); gsub(/^ | $/, "", p)
                    r = rank(name, p)
                    if ((r && r < top || top == 5) && name !~ /^(collet_)?fail(_text)?$/)
                        print "wrong: " name ": " p
                    if (r > top) top = r
                    p = ""
                }
                body = substr(text, i) # of an inline function
                if (body ~ /^ *[{]/) {
                    depth = 1
                    for (i = index(body, "{") + 1; depth; i++) {
                        c = substr(body, i, 1)
                        depth += (c == "{") - (c == "}")
                    }
                    text = substr(body, i)
                }
                print name
            }
        }')
    [ "$(wc -l <<<"$found")" -gt 250 ] || fail "only these functions were found: $found"
    ! grep ^wrong <<<"$found" || fail "the parameters above do not stand where collet.h states"
}

# The symbols that the object exports, without those added by a sanitizer.
exported() {
    nm -D --defined-only "$1" | awk '{print $NF}' | sed 's/@.*//' |
        grep -vE '^(__(asan|ubsan|tsan|odr_asan|lsan)|_end$|_edata$|__bss_start$|_init$|_fini$)' |
        sort -u
}

plugin() {
    local names
    names=$(exported "$1" || true)
    [ "$names" = collet_plugin_entry ] || fail "$1 exports: $names"
}

undefined() {
    local names
    names=$(nm -D --undefined-only "$1" | awk '{print $NF}' | grep '^collet_' || true)
    [ -z "$names" ] || fail "$1 needs symbols of libcore: $names"
}

library() {
    local names
    names=$(exported "$1" | grep -vE '^(collet_|COLLET_1$)' || true)
    [ -z "$names" ] || fail "$1 also exports: $names"
    ! exported "$1" | grep '^collet_op_' || fail "$1 exports the typed calls above, which are inline"
    names=$(nm -D --defined-only "$1" | awk '$NF ~ /^collet_/ && $NF !~ /@@COLLET_1$/ {print $NF}')
    [ -z "$names" ] || fail "$1 exports without the version COLLET_1: $names"
}

clash() {
    local output
    mkdir -p "$WORK"
    echo 'int core_start(void); int core_start(void) { return 1; }' >"$WORK/other.c"
    # shellcheck disable=SC2086
    "$CC" $FLAGS -shared -fPIC -Wl,-soname,libcore.so.0 "$WORK/other.c" -o "$WORK/libcore.so.0"
    output=$(LD_PRELOAD=$WORK/libcore.so.0 "$1" cpu_scalar 2>&1) || fail "$1 with another libcore.so.0: $output"
    grep -q cpu_scalar <<<"$output" || fail "$1 printed $output"
}

# A build on an older glibc would use the older symbol versions of dlopen, exp and others.
# From glibc 2.38 on, strtol, scanf and their like have names like __isoc23_strtol.
glibc() {
    local names older='dl(open|close|sym|error|addr1?|info)|[fl]?stat|fstatat|__libc_start_main|pthread_.*'
    older+='|(exp|exp2|log|log2|pow|hypot|fmod)f?|__isoc23_(strtou?ll?|[fs]scanf)'
    names=$(objdump -T "$1" |
        awk '/[*]UND[*]/ && match($0, /GLIBC_2\.[0-9]+/) {
            if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > 28) print $NF }' |
        grep -vxE "$older" || true)
    [ -z "$names" ] || fail "$1 needs symbols newer than glibc 2.28: $names"
}

core() {
    if grep -riE --include='*.[ch]' 'cuda|opencl|openmp' "$SOURCE/core"; then
        fail "libcore names a backend in the lines above"
    fi
}

check=${1:?name a check, see the top of this file}
shift
"$check" "$@"
