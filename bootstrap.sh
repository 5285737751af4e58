#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
    cat <<'END'
Usage: ./bootstrap.sh [--help] [build|test [--full|--all]|docs [--check]|clean]

  build   (the default) installs what is missing, builds a release into build/ and computes an example:
          numbers and a picture. Two to three minutes on two processors, later runs seconds
  test    the same, then the tests that a newcomer needs: five minutes on two processors
          --full: all but the long ones, with the address and undefined-behaviour sanitizers in
          build-asan/, OpenCL by PoCL, all levels of x86-64, all of Python: 20 minutes
          --all: the long ones too, for about two hours: every signature of every kernel, every row
          under Oclgrind, emulated processors, every architecture of NVRTC, millions of numbers of each function
  docs    builds the site of the documents, build-docs/html/index.html, which a browser opens without a server; its
          tools come from PyPI into build-docs/venv/. All examples run: some minutes
          --check: opens every page in Chromium, too
  clean   removes build/ and build-*/; build-cache/: kernels compiled by tests

Works from any directory, is not interactive, and uses the network only when a package is missing.
With sudo or as root it installs the missing packages, else it lists them.

Environment:
  BOOTSTRAP_INSTALL=0    never install packages, only list missing ones
  BOOTSTRAP_SANITIZE=0   --full, --all: leave the sanitizers out
  BOOTSTRAP_JOBS=N       parallel jobs (default: one a processor, one more for tests)
  BOOTSTRAP_WERROR=1     warnings are errors (default: 1 when CI is set, else 0)
  CC, CXX, CFLAGS, CMAKE_GENERATOR   as for CMake
END
}

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf 'bootstrap.sh: %s\n' "$*" >&2
    exit 1
}

# ---- Packages ---------------------------------------------------------------------------------

missing=()
optional=()

# need PACKAGE COMMAND...: PACKAGE is missing when the command fails. gcc may be needed twice: OpenMP is part of it.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
}

# optionally PACKAGE COMMAND...: the same for optional packages.
optionally() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || optional+=("$package")
}

# compiles COMPILER LANGUAGE TEXT FLAG...: whether the compiler accepts the text.
compiles() {
    "$1" -x "$2" "${@:4}" -fsyntax-only - <<<"$3"
}

# OpenMP is part of gcc; for clang it is a package of the same version.
openmp_package() {
    case ${CC:-cc} in
    *clang-[0-9]*) echo "libomp-${CC##*clang-}-dev" ;;
    *clang*) echo libomp-dev ;;
    *) echo gcc ;;
    esac
}

# python_has MODULE: prints the first Python that has the module (the tests use it); fails if none has.
python_has() {
    local python
    for python in python3 /usr/bin/python3; do
        ! "$python" -c "import $1" 2>/dev/null || { echo "$python"; return 0; }
    done
    return 1
}

python_headers() {
    compiles "${CC:-cc}" c '#include <Python.h>' "-I$(python3 -c \
        'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)"
}

# find_missing build|docs|quick|full|all: Debian's packages. The commands test the contents of a package, so other
# systems work as well.
find_missing() {
    missing=()
    optional=()
    need gcc compiles "${CC:-cc}" c 'int collet;'
    need libc6-dev compiles "${CC:-cc}" c '#include <stdlib.h>'
    need "$(openmp_package)" compiles "${CC:-cc}" c '#include <omp.h>' -fopenmp
    need make eval 'command -v make || command -v ninja'
    need cmake command -v cmake
    need pkg-config command -v pkg-config
    need libcjson-dev pkg-config --exists libcjson
    need libzip-dev pkg-config --exists libzip
    need libhdf5-dev pkg-config --exists hdf5
    need libconfig-dev pkg-config --exists libconfig
    need libopenblas-dev pkg-config --exists openblas
    optionally libdnnl-dev compiles "${CC:-cc}" c '#include <oneapi/dnnl/dnnl.h>'
    optionally libcairo2-dev pkg-config --exists cairo
    optionally libbz2-dev compiles "${CC:-cc}" c '#include <bzlib.h>'
    optionally liblzma-dev pkg-config --exists liblzma
    optionally python3-dev python_headers
    optionally python3-numpy python_has numpy
    [ "$1" != build ] || return 0
    if [ "$1" = docs ]; then
        optional=()
        need libcairo2-dev pkg-config --exists cairo
        need python3-dev python_headers
        need python3-venv python3 -c 'import ensurepip'
        return 0
    fi
    need g++ compiles "${CXX:-c++}" c++ '#include <memory>'
    need libcmocka-dev pkg-config --exists cmocka
    optionally python3-pytest python_has pytest
    [ "$1" != quick ] || return 0
    optionally opencl-c-headers compiles "${CC:-cc}" c '#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>'
    optionally pocl-opencl-icd eval 'ls /etc/OpenCL/vendors/*.icd'
    optionally oclgrind command -v oclgrind
    optionally patchelf command -v patchelf
    optionally codespell command -v codespell
    optionally openmpi-bin command -v mpirun.openmpi
    optionally locales ls /usr/share/i18n/locales/de_DE
    optionally libclblast-dev compiles "${CC:-cc}" c '#include <clblast_c.h>'
    optionally python3-distributed python_has distributed
    optionally clang command -v clang
    optionally libomp-dev eval 'compiles clang c "#include <omp.h>" -fopenmp'
    if [ "$(uname -m)" = x86_64 ]; then
        optionally qemu-user command -v qemu-x86_64
        optionally gcc-aarch64-linux-gnu compiles aarch64-linux-gnu-gcc c '#include <stdlib.h>'
        optionally libc6-dev-arm64-cross compiles aarch64-linux-gnu-gcc c '#include <stdlib.h>'
    fi
    [ "$1" = all ] || return 0
    optionally mpich command -v mpirun.mpich
    optionally zsh command -v zsh
    optionally python3-nbclient python_has nbclient
    optionally python3-ipykernel python_has ipykernel
    optionally python3-matplotlib python_has matplotlib
}

apt() {
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo)
        if [ ! -t 0 ]; then
            as_root=(sudo -n) # a password cannot be typed
        fi
    fi
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get "$@" </dev/null
}

# `apt-get install` fails as a whole when a distribution does not have one package; then optional
# packages are installed one by one, which takes longer.
install_packages() {
    local package install=(install -q -y --no-install-recommends)
    apt update -q || return
    ! apt "${install[@]}" "${missing[@]}" "${optional[@]}" || return 0
    if [ ${#missing[@]} != 0 ]; then
        apt "${install[@]}" "${missing[@]}" || return
    fi
    for package in "${optional[@]}"; do
        apt "${install[@]}" "$package" || say "$package cannot be installed here"
    done
}

can_install() {
    [ "${BOOTSTRAP_INSTALL:-1}" != 0 ] && command -v apt-get >/dev/null &&
        { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
}

# The commands that install the missing packages.
suggest() {
    if command -v dnf >/dev/null; then
        echo "On Fedora the job 'fedora' of .github/workflows/ci.yml lists the packages by their names there."
    fi
    printf 'On Debian and its descendants, as root:\n    apt-get update\n'
    if [ ${#missing[@]} != 0 ]; then
        echo "    apt-get install ${missing[*]}"
    fi
    if [ ${#optional[@]} != 0 ]; then
        echo "    for p in ${optional[*]}; do apt-get install \$p; done    # optional"
    fi
}

# announce build|docs|quick|full|all: what this run does, for how long, and what it installs.
announce() {
    local work what # seconds of one processor, at 3 GHz
    case $1 in
    build) work=230 what="builds Collet in build/ and computes an example" ;;
    docs) work=330 what="builds Collet in build/ and its site in build-docs/" ;;
    quick) work=480 what="builds Collet in build/ and runs the short tests" ;;
    full) work=2400 what="builds Collet twice, in build/ and with sanitizers in build-asan/, and tests both" ;;
    all) work=18000 what="builds Collet in build/ and build-asan/ and runs every test" ;;
    esac
    if [ "$1" != build ] && [ "$1" != quick ] && [ "${BOOTSTRAP_SANITIZE:-1}" = 0 ]; then
        work=$((work * 2 / 3)) what="builds Collet in build/ and tests it, without sanitizers"
    fi
    if [ "$1" = build ] && [ -e build/bin/collet-extract ]; then
        say "This brings build/ up to date, in seconds if little has changed, and computes an example."
    else
        say "This $what: about $(((work / jobs + 59) / 60)) minutes with $jobs jobs."
    fi
    if [ ${#missing[@]} = 0 ] && [ ${#optional[@]} = 0 ]; then
        echo "Nothing has to be installed."
    elif can_install; then
        echo "It first installs, by apt-get: ${missing[*]} ${optional[*]}"
    elif [ "${BOOTSTRAP_INSTALL:-1}" = 0 ]; then
        echo "It installs nothing, because BOOTSTRAP_INSTALL=0. Missing: ${missing[*]} ${optional[*]}"
    else
        echo "It cannot install packages here (that needs apt-get, and root or sudo). Missing: ${missing[*]} ${optional[*]}"
    fi
}

require_packages() {
    find_missing "$1"
    announce "$1"
    if [ ${#missing[@]} = 0 ] && [ ${#optional[@]} = 0 ]; then
        return
    fi
    if can_install; then
        install_packages || say "apt-get failed; its messages are above"
        find_missing "$1"
    fi
    if [ ${#missing[@]} != 0 ]; then
        die "these packages are missing (Debian's names): ${missing[*]}
$(suggest)"
    fi
    if [ ${#optional[@]} != 0 ]; then
        say "Without ${optional[*]} some parts or tests are left out. $(suggest)"
    fi
}

# ---- Build, run, test -------------------------------------------------------------------------

jobs=${BOOTSTRAP_JOBS:-$(nproc)}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "BOOTSTRAP_JOBS is '$jobs', not a number from 1"

# build_preset PRESET DIRECTORY OPTION...: configures and builds a preset of CMakePresets.json.
build_preset() {
    local preset=$1 directory=$2 werror=OFF generator=()
    if [ "${BOOTSTRAP_WERROR:-${CI:+1}}" = 1 ]; then
        werror=ON
    fi
    if [ ! -e "$directory/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] &&
        command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    say "Building $directory/ ($preset)"
    cmake --preset "$preset" "${generator[@]}" -DCOLLET_WERROR="$werror" "${@:3}"
    cmake --build "$directory" --parallel "$jobs"
}

# cached OPTION OTHERWISE: the option's value in build/, if there is one.
cached() {
    local value=
    [ ! -e build/CMakeCache.txt ] || value=$(sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt)
    echo "${value:-$2}"
}

# levels: which kernels to build, only this machine's unless build/ has all levels already.
levels() {
    if [ -e build/CMakeCache.txt ]; then
        cached COLLET_LEVELS all
    else
        echo native
    fi
}

# The example: 50 frames of a peptide in vacuum.
peptide=tests/data/md/peptide
extract=(build/bin/collet-extract $peptide/conf.gro $peptide/traj.trr --masses $peptide/masses.txt --force)

compute() {
    local draw=(--plot build/peptide)
    [[ $(build/bin/collet-extract --help) == *--plot* ]] || draw=() # built without cairo
    say "Example: ${extract[*]} -o build/peptide.npz ${draw[*]}"
    "${extract[@]}" -o build/peptide.npz "${draw[@]}"
    # A table of a few quantities.
    "${extract[@]}" --quiet --keys rg,rmsd,asphericity,k_total,L_magnitude -o build/peptide.csv
}

show() {
    say "The first of 51 frames (build/peptide.csv; all quantities are in build/peptide.npz)"
    # The names of the columns, their units and the numbers, under each other.
    head -6 build/peptide.csv | LC_ALL=C awk -F, '
        NR == 1 {
            for (i = 1; i <= NF; i++) {
                unit[i] = $i ~ / \(/ ? $i : ""
                sub(/^.* \(/, "(", unit[i])
                sub(/_ps \(.*| \(.*/, "", $i)
                printf "%14s", $i
            }
            printf "\n"
            for (i = 1; i <= NF; i++)
                printf "%14s", unit[i]
        }
        NR > 1 { for (i = 1; i <= NF; i++) printf i == 1 ? "%14.2f" : "%14.4f", $i }
        { printf "\n" }'
    if [ -e build/peptide/size.png ]; then
        echo "A picture of all frames, in which the peptide unfolds: build/peptide/size.png"
    fi
    say "Backends of this machine (build/bin/backend-info)"
    build/bin/backend-info
}

next_steps() {
    cat <<'END'

== Next
A program of your own   cc -std=c11 examples/hello.c -Iinclude -Lbuild/lib/collet-link -Wl,-rpath,"$PWD/build/lib" -lcore -o build/hello
                        build/hello
END
    local python
    if [ -e build/python/collet/_core.abi3.so ] && python=$(python_has numpy); then
        echo "Python                  PYTHONPATH=build/python $python examples/hello.py"
    else
        echo "Python                  docs/install.md#python (python3-dev or python3-numpy is missing)"
    fi
    cat <<'END'
The documents           docs/README.md
END
}

# ---- Tests ------------------------------------------------------------------------------------

# select_tests SET: the options of ctest that select the set.
select_tests() {
    case $1 in
    quick) echo '--label-regex ^quick$' ;;
    full) echo '--label-exclude ^long$' ;;
    esac
}

passed=0 failed=0 skipped=0

# counted ATTRIBUTE: the number that the report's test suite has for it.
counted() {
    sed -n "/<testcase/q; s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$report"
}

# run_tests DIRECTORY SET: adds to passed, failed and skipped.
run_tests() {
    local directory=$1 report=$1/Testing/tests.xml last=$1/Testing/Temporary/LastTestsFailed.log status=0 bad=0 name
    say "Tests of $directory/"
    rm -f "$report" "$last"
    # Some tests wait for other processes or for a time, so one test more than processors runs at once.
    # shellcheck disable=SC2046 # two words
    ctest --test-dir "$directory" --output-on-failure $(select_tests "$2") \
        --output-junit Testing/tests.xml --parallel "${BOOTSTRAP_JOBS:-$((jobs + 1))}" || status=$?
    [ -e "$report" ] || die "ctest wrote no report"
    # The report counts a test that could not run, for instance without its program, as skipped.
    [ ! -s "$last" ] || bad=$(wc -l <"$last")
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        die "ctest ended with status $status"
    fi
    failed=$((failed + bad))
    skipped=$((skipped + $(counted skipped) + $(counted failures) - bad))
    passed=$((passed + $(counted tests) - $(counted disabled) - $(counted skipped) - $(counted failures)))
    [ "$bad" != 0 ] || return 0
    say "Each failed test again:"
    while IFS=: read -r _ name; do
        echo "    ctest --test-dir $directory --output-on-failure -R '^$name\$'"
    done <"$last"
}

# count_tests SET: how many tests of build/ are in the set.
count_tests() {
    # shellcheck disable=SC2046
    ctest --test-dir build -N $(select_tests "$1") | sed -n 's/^Total Tests: //p'
}

# summarise SET SECONDS: prints the last line.
summarise() {
    local more=
    if [ "$1" = quick ]; then
        more=" --full adds over $(($(count_tests full) - $(count_tests quick))) tests, sanitizers, OpenCL and all levels of x86-64: some $((2400 / jobs / 60)) minutes."
    elif [ "$1" = full ]; then
        more=" --all adds $(($(count_tests all) - $(count_tests full))) long tests: about two hours."
    fi
    printf '\n== %d tests passed, %d skipped, %d failed in %d s, with the build %d s.%s\n' \
        "$passed" "$skipped" "$failed" "$2" "$SECONDS" "$more"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}

# test_set quick|full|all
test_set() {
    local start
    require_packages "$1"
    if [ "$1" = quick ]; then
        build_preset release build -DCOLLET_TESTS=QUICK -DCOLLET_LEVELS="$(levels)"
    else
        build_preset release build -DCOLLET_TESTS=ON -DCOLLET_LEVELS=all
    fi
    compute
    if [ "$1" != quick ] && [ "${BOOTSTRAP_SANITIZE:-1}" != 0 ]; then
        build_preset asan build-asan -DCOLLET_TESTS=ON
    fi
    start=$SECONDS
    run_tests build "$1"
    if [ "$1" != quick ] && [ "${BOOTSTRAP_SANITIZE:-1}" != 0 ]; then
        run_tests build-asan "$1"
    fi
    summarise "$1" $((SECONDS - start))
}

# ---- Site -------------------------------------------------------------------------------------

# build_site [--check]
build_site() {
    local venv=build-docs/venv
    require_packages docs
    build_preset release build -DCOLLET_TESTS="$(cached COLLET_TESTS OFF)" -DCOLLET_LEVELS="$(levels)"
    say "Building the site, with Sphinx in $venv/"
    [ -x $venv/bin/pip ] || python3 -m venv $venv
    if ! cmp -s docs/site/requirements.txt $venv/requirements.txt; then
        $venv/bin/pip install -q -r docs/site/requirements.txt
        cp docs/site/requirements.txt $venv/
    fi
    mkdir -p build-docs/source
    $venv/bin/sphinx-build -q -W --keep-going -j "$jobs" -b html -c docs/site -d build-docs/trees build-docs/source build-docs/html
    find build-docs/source \( -name '*.md' -o -name '*.rst' \) -print0 | xargs -0 $venv/bin/codespell -I docs/site/words.txt
    if [ "${1:-}" = --check ]; then
        $venv/bin/python docs/site/check.py build-docs/html build-docs/screens
    fi
    say "The site: file://$PWD/build-docs/html/index.html"
}

for word; do
    case $word in
    -h | --help | help)
        usage
        exit
        ;;
    esac
done
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
case $* in
"" | build)
    require_packages build
    build_preset release build -DCOLLET_TESTS="$(cached COLLET_TESTS OFF)" -DCOLLET_LEVELS="$(levels)"
    compute
    show
    next_steps
    ;;
test) test_set quick ;;
"test --full") test_set full ;;
"test --all") test_set all ;;
docs | "docs --check") build_site "${2:-}" ;;
clean)
    rm -rf build build-*/
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
