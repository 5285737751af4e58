#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bootstrap.sh SOURCE WORK BUILD: tests how bootstrap.sh finds and installs packages, with stand-ins for
# the compiler, pkg-config, apt-get, sudo and cmake in a separate PATH. $state/installed lists the
# installed packages, $state/archive those that apt-get can install.
set -euo pipefail
source=$1 work=$2 build=$3 project=$2/project bin=$2/bin state=$2/state

fail() {
    printf 'bootstrap.sh: %s\n%s\n' "$*" "$(cat "$work/output")" >&2
    exit 1
}

# stand_in NAME: creates a program from the script on stdin. Removes an old link first: writing
# through it would overwrite the system's own program.
stand_in() {
    rm -f "$bin/$1"
    { printf '#!/bin/bash\nstate=%s\nhas() { grep -qx -- "$1" "$state/installed"; }\n' "$state"; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

# Stand-ins that map headers and pkg-config modules to packages.
stand_ins() {
    local program compiler
    for program in awk bash cat dirname env grep head ls mkdir readlink rm sed tr wc; do
        ln -s "$(command -v $program)" "$bin/$program"
    done
    for compiler in cc c++ clang clang-16; do
        stand_in $compiler <<'END'
text=$(cat)
case ${0##*/},$text in
clang,*omp.h*) has libomp-dev ;;
clang-16,*omp.h*) has libomp-16-dev ;;
*'int collet'* | *omp.h*) has gcc ;;
*dnnl.h*) has libdnnl-dev ;;
*cl.h*) has opencl-c-headers ;;
*clblast_c.h*) has libclblast-dev ;;
*bzlib.h*) has libbz2-dev ;;
esac
END
    done
    stand_in pkg-config <<'END'
case $2 in
cairo) has libcairo2-dev ;;
cmocka) has libcmocka-dev ;;
fftw3) has libfftw3-dev ;;
*) has "$2-dev" || has "lib$2-dev" ;;
esac
END
    # One unknown name fails the whole command, as with apt-get.
    stand_in apt-get <<'END'
echo "apt-get $*" >>"$state/log"
[ "$1" = install ] || exit 0
shift
for name; do
    [[ $name == -* ]] || grep -qx -- "$name" "$state/archive" || exit 100
done
for name; do
    [[ $name == -* ]] || echo "$name" >>"$state/installed"
done
END
    stand_in cmake <<<'echo "cmake $*" >>"$state/log"; exit 9'
    stand_in python3 <<<'exit 1'
    stand_in make </dev/null
    stand_in nproc <<<'echo 2'
    stand_in uname <<<'echo riscv64'
    stand_in oclgrind </dev/null
    rm "$bin/oclgrind"
}

prepare() {
    rm -rf "$work"
    mkdir -p "$project" "$bin" "$state"
    cp "$source/bootstrap.sh" "$project/"
    stand_ins
    reset
}

# A machine with only a compiler; its archive lacks oclgrind, as Debian 13 does.
reset() {
    echo gcc >"$state/installed"
    printf '%s\n' libcjson-dev libzip-dev libhdf5-dev libconfig-dev libopenblas-dev libdnnl-dev libcairo2-dev \
        libbz2-dev liblzma-dev opencl-c-headers \
        pocl-opencl-icd libclblast-dev libcmocka-dev libfftw3-dev libomp-dev >"$state/archive"
    : >"$state/log"
    stand_in id <<<'echo 0'
    rm -f "$bin/sudo"
}

# bootstrap [NAME=VALUE...] COMMAND
bootstrap() {
    status=0
    env -i PATH="$bin" HOME="$work" "$@" >"$work/output" 2>&1 </dev/null || status=$?
}

prints() {
    grep -qE -- "$1" "$work/output" || fail "it did not print '$1', but:"
}

reached_cmake() {
    grep -q '^cmake ' "$state/log" || fail "cmake was not called:"
}

test_optional_package_is_not_in_the_archive() {
    reset
    bootstrap "$project/bootstrap.sh" test --full
    reached_cmake
    for package in libcmocka-dev libdnnl-dev libcairo2-dev libclblast-dev opencl-c-headers; do
        grep -qx $package "$state/installed" || fail "$package was not installed:"
    done
    prints 'oclgrind cannot be installed here'
    prints 'Without .*oclgrind'
}

test_required_package_is_not_in_the_archive() {
    reset
    sed -i /libzip-dev/d "$state/archive"
    bootstrap "$project/bootstrap.sh" build
    prints 'packages are missing .*libzip-dev'
    ! grep -q '^cmake ' "$state/log" || fail "cmake was called:"
}

test_clang_needs_its_openmp() {
    reset
    bootstrap CC=clang BOOTSTRAP_INSTALL=0 "$project/bootstrap.sh"
    prints 'packages are missing .* libomp-dev'
    bootstrap CC=clang-16 BOOTSTRAP_INSTALL=0 "$project/bootstrap.sh"
    prints 'packages are missing .* libomp-16-dev'
    bootstrap CC=clang "$project/bootstrap.sh"
    reached_cmake
}

# Without permission to install, it prints commands that install every package.
test_suggestion_names_optional_packages() {
    reset
    stand_in id <<<'echo 1000'
    bootstrap "$project/bootstrap.sh" test --full
    prints '^ *apt-get install .*libzip-dev'
    prints 'for p in libdnnl-dev libcairo2-dev .*opencl-c-headers.*; do apt-get install'
    ! grep -q '^apt-get' "$state/log" || fail "apt-get was called:"
    printf '%s\n' libcjson-dev libzip-dev libhdf5-dev libconfig-dev libopenblas-dev >>"$state/installed"
    bootstrap "$project/bootstrap.sh" build
    prints 'for p in libdnnl-dev libcairo2-dev.*; do apt-get install'
    reached_cmake
}

test_each_package_is_listed_once() {
    reset
    : >"$state/installed"
    bootstrap BOOTSTRAP_INSTALL=0 "$project/bootstrap.sh"
    prints 'packages are missing .*: gcc libcjson-dev '
    ! grep -q 'gcc.*gcc' "$work/output" || fail "gcc is listed twice:"
}

test_help_comes_before_everything() {
    local words
    reset
    for words in --help -h help 'test --help' '--nonsense --help'; do
        # shellcheck disable=SC2086 # words
        bootstrap "$project/bootstrap.sh" $words
        prints '^Usage: ./bootstrap.sh'
        [ ! -s "$state/log" ] || fail "with '$words' it did something:"
    done
    bootstrap "$project/bootstrap.sh" --nonsense
    prints '^Usage: ./bootstrap.sh'
}

# bootstrap.sh says first what it will install. Without python3-pytest the tests of Python would be left out.
test_it_says_what_it_installs() {
    reset
    bootstrap "$project/bootstrap.sh"
    prints '^== This builds Collet .* about [0-9]+ minutes with 2 jobs'
    prints '^It first installs, by apt-get: libcjson-dev .*libcairo2-dev'
    ! grep -q 'python3-pytest\|libcmocka-dev\|pocl' "$work/output" || fail "it installs packages of tests:"
    bootstrap "$project/bootstrap.sh" test
    prints '^== This builds Collet .* tests: about'
    grep -qx libcmocka-dev "$state/installed" || fail "libcmocka-dev was not installed:"
    ! grep -qx pocl-opencl-icd "$state/installed" || fail "the short tests need no PoCL:"
}

# Uses the programs of this build. The output ends with the README's table, a picture, the backends, and what to type
# next.
test_it_ends_with_a_result() {
    local line
    reset
    stand_in cmake <<<'echo "cmake $*" >>"$state/log"'
    mkdir -p "$project/build" "$project/tests"
    ln -sfn "$build/bin" "$project/build/bin"
    ln -sfn "$source/tests/data" "$project/tests/data"
    bootstrap "$project/bootstrap.sh"
    grep -q 'cmake --preset release.*-DCOLLET_LEVELS=native' "$state/log" || fail "no native build:"
    sed -n '/^== The first of/,/^A picture/p' "$source/README.md" >"$work/expected"
    [ "$(grep -c . "$work/expected")" = 9 ] || fail "the README has no table of 9 lines; it printed:"
    if [[ $("$build/bin/collet-extract" --help) != *--plot* ]]; then
        sed -i '/^A picture/d' "$work/expected" # built without cairo
    else
        [ -s "$project/build/peptide/size.png" ] || fail "there is no picture:"
    fi
    while IFS= read -r line; do
        sed 's/ *$//' "$work/output" | grep -qxF -- "$line" || fail "it did not print the README's line '$line', but:"
    done <"$work/expected"
    prints '^. cpu_scalar  usable'
    prints '^A program of your own .* examples/hello.c'
    prints '^Python  *docs/install.md#python'
    prints '^The documents  *docs/README.md'
    # An existing build keeps its levels and tests. A build by an earlier version has all levels.
    mkdir -p "$project/build/python/collet"
    touch "$project/build/python/collet/_core.abi3.so"
    stand_in python3 </dev/null
    echo 'COLLET_TESTS:STRING=QUICK' >"$project/build/CMakeCache.txt"
    bootstrap "$project/bootstrap.sh"
    grep -q 'cmake --preset release.*-DCOLLET_TESTS=QUICK -DCOLLET_LEVELS=all' "$state/log" || fail "what was built is dropped:"
    prints '^== This brings build/ up to date'
    prints '^Python  *PYTHONPATH=build/python python3 examples/hello.py'
    rm -r "$project/build"
}

# A failed test is named with the command that repeats it. The last line of the output gives the numbers of tests.
test_failures_are_named() {
    reset
    mkdir -p "$project/build/bin" "$project/build/Testing/Temporary"
    stand_in cmake <<<'exit 0'
    printf '#!/bin/bash\n' >"$project/build/bin/collet-extract"
    chmod +x "$project/build/bin/collet-extract"
    stand_in ctest <<'END'
case $* in
*" -N"*)
    [[ $* == *quick* ]] && echo "Total Tests: 4" || echo "Total Tests: 9"
    exit
    ;;
esac
echo "ctest $*" >>"$state/log"
report=build/Testing/tests.xml
# A test that cannot run is listed as failed, and counted as skipped.
read -r failures unrun <"$state/failures"
printf '<?xml version="1.0"?>\n<testsuite name="(empty)"\n\ttests="5"\n\tfailures="%s"\n\tdisabled="1"\n\tskipped="%s"\n' \
    "$failures" $((1 + unrun)) >$report
printf '\t>\n\t<testcase name="a"><system-out>tests="77" failures="66"</system-out></testcase>\n' >>$report
[ $((failures + unrun)) != 0 ] || exit 0
[ "$failures" = 9 ] || echo 12:test_b >build/Testing/Temporary/LastTestsFailed.log
exit 8
END
    echo 9 0 >"$state/failures" # ctest itself fails
    bootstrap "$project/bootstrap.sh" test
    prints 'ctest ended with status 8'
    [ "$status" = 1 ] || fail "its exit status was $status:"
    echo 0 1 >"$state/failures"
    bootstrap "$project/bootstrap.sh" test
    prints '^== 2 tests passed, 1 skipped, 1 failed'
    [ "$status" = 1 ] || fail "its exit status was $status:"
    echo 1 0 >"$state/failures"
    bootstrap "$project/bootstrap.sh" test
    grep -q 'ctest .*--label-regex ^quick\$' "$state/log" || fail "the short tests were not chosen:"
    prints "ctest --test-dir build --output-on-failure -R '\^test_b\\$'"
    prints '^== 2 tests passed, 1 skipped, 1 failed in [0-9]+ s, with the build [0-9]+ s\. --full adds over 5 tests'
    [ "$status" = 1 ] || fail "its exit status was $status:"
    echo 0 0 >"$state/failures"
    bootstrap "$project/bootstrap.sh" test
    prints '^== 3 tests passed, 1 skipped, 0 failed'
    [ "$status" = 0 ] || fail "its exit status was $status:"
    rm -r "$project/build"
}

# In a locale with decimal commas the table must still be right: awk must not use the locale.
test_the_table_in_another_locale() {
    reset
    mkdir -p "$project/build/bin"
    stand_in cmake </dev/null
    stand_in awk <<<'[ "$LC_ALL" = C ] && echo "one locale" || echo "awk reads by the locale"'
    printf '#!/bin/bash\n[ -e build/peptide.csv ] || echo "time_ps (ps)" >build/peptide.csv\n' >"$project/build/bin/collet-extract"
    cp "$project/build/bin/collet-extract" "$project/build/bin/backend-info"
    chmod +x "$project/build/bin/"*
    bootstrap LC_ALL=de_DE.UTF-8 "$project/bootstrap.sh"
    prints '^one locale$'
    rm -r "$project/build"
    rm "$bin/awk"
    ln -s "$(command -v awk)" "$bin/awk"
}

test_numbers_of_jobs() {
    local number
    reset
    for number in 0 08 x -1; do
        bootstrap BOOTSTRAP_JOBS=$number "$project/bootstrap.sh"
        prints "BOOTSTRAP_JOBS is '$number', not a number from 1"
        [ "$status" = 1 ] || fail "its exit status was $status:"
    done
}

test_sudo_does_not_ask_for_a_password() {
    reset
    stand_in id <<<'echo 1000'
    stand_in sudo <<<'echo "sudo $1" >>"$state/log"; shift; exec "$@"'
    bootstrap "$project/bootstrap.sh" build
    grep -q '^sudo -n$' "$state/log" || fail "no sudo -n:"
    reached_cmake
}

test_a_stand_in_is_not_written_through_a_link() {
    reset
    echo kept >"$work/kept"
    ln -sf "$work/kept" "$bin/nproc"
    stand_in nproc <<<'echo 2'
    [ "$(cat "$work/kept")" = kept ] || fail "what the link pointed to has changed:"
}

prepare
for name in $(compgen -A function test_); do
    "$name"
    echo "$name"
done
