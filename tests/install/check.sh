#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks an installation without access to the source.
#
#   check.sh lay        installs the build into $WORK/prefix and checks the installed files
#   check.sh pkg_config compiles a C11 and a C++17 program with the flags of pkg-config
#   check.sh package    builds the same programs as a CMake project with find_package(collet)
#   check.sh plugin     builds the templates of plugins, copies them to a plugin directory, calls one
#   check.sh tools      the installed programs find the installed library, plugins and collet-probe
#   check.sh components   find_package(collet COMPONENTS ...) finds exactly the installed components
#   check.sh parts        installs single components, and checks `uninstall`
#   check.sh on_core      builds engines, tools and the Python package on an installed libcore, without its sources
#   check.sh options      cmake refuses invalid options, with the reason
#   check.sh subproject   builds Collet as a part of another project, by add_subdirectory
#   check.sh fetch        like subproject, by FetchContent
#   check.sh absolute     pkg-config files and rpaths are right for absolute directories
#   check.sh into_source  cmake refuses the source directory as a prefix
#   check.sh moved      everything still works after the tree was moved
#
set -euo pipefail
# CMakeLists.txt sets these variables. FLAGS: flags of the sanitizer. PYTHON: empty if there is no Python package or no
# NumPy.
: "${BUILD:?}" "${SOURCE:?}" "${WORK:?}" "${CC:?}" "${CXX:?}" "${FLAGS?}" "${BACKENDS:?}" "${PYTHON?}" \
    "${LIBDIR:?}" "${VERSION:?}"

prefix=$WORK/prefix
consumer=$WORK/consumer
warnings="-Wall -Wextra -Wpedantic -Werror"

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

# expect PATTERN COMMAND...: the command succeeds and prints a matching line.
expect() {
    local pattern=$1 output
    shift
    output=$("$@" 2>&1) || fail "'$*' failed: $output"
    grep -Eq -- "$pattern" <<<"$output" || fail "'$*' printed '$output', not '$pattern'"
}

lay() {
    rm -rf "$WORK"
    mkdir -p "$WORK"
    cmake --install "$BUILD" --prefix "$prefix" >"$WORK/install.log"
    local path name
    for path in include/collet/{collet.h,status.h,runtime.h,context.h,array.h,native.h,call.h,expression.h,progress.h,extensions.h,floating.h,plugin.h,types.h,ops.def,ops.h,ops/array.def,ops/array.h,devices.h,analysis.h,trajectory.h,scatter.h,ternary.h} \
        "$LIBDIR"/{libcollet-core.so,libcollet-core.so.0,collet-link/libcore.so,collet/collet-probe,collet/collet-{worker,inspect},collet/validation.so,pkgconfig/collet.pc} \
        "$LIBDIR"/{libcollet-trajectory.so{,.0},pkgconfig/collet-trajectory.pc} \
        "$LIBDIR"/{libcollet-{analysis,scatter,ternary}.so{,.0},pkgconfig/collet-{analysis,scatter,ternary}.pc} \
        "$LIBDIR"/cmake/collet/collet-config{,-version}.cmake \
        bin/{backend-info,backend-check,backend-bench,collet-extract,collet-merge,collet-rsoxs,collet-ternary} \
        share/man/man1/{backend-info,backend-check,backend-bench,collet-extract,collet-merge,collet-rsoxs,collet-ternary,collet-worker}.1 share/man/man7/collet.7 \
        share/bash-completion/completions/{backend-info,backend-check,backend-bench,collet-extract,collet-merge,collet-rsoxs,collet-ternary} \
        share/zsh/site-functions/_{backend-info,backend-check,backend-bench,collet-extract,collet-merge,collet-rsoxs,collet-ternary} \
        share/doc/collet/{README.md,CHANGELOG.md,CONTRIBUTING.md,LICENSE,conformance/README.md,docs/KERNELS.md,docs/kernels/array.md,docs/plugins/build.md} \
        share/doc/collet/{core/DESIGN.md,plugins/README.md,tests/data/md/peptide/traj.trr,examples/{plugin,plugin_async}/plugin.c}; do
        [ -e "$prefix/$path" ] || fail "the installation has no $path"
    done
    for name in slurm.sh parallel.sh; do
        [ -x "$prefix/share/doc/collet/examples/cluster/$name" ] || fail "examples/cluster/$name cannot be run"
    done
    for name in $BACKENDS; do
        [ -f "$prefix/$LIBDIR/collet/$name.so" ] || fail "the plugin $name.so is not installed"
    done
    # An installation must not refer to the build or the source directory.
    # The pages in doc are exempt: they may mention a path such as /src.
    if grep -rIlE --exclude-dir=doc "$BUILD|$SOURCE" "$prefix"; then
        fail "the files above name the build or the source directory"
    fi
    for path in "$prefix"/share/man/man1/*.1; do
        name=$(basename "$path" .1)
        [ -x "$prefix/bin/$name" ] || [ -x "$prefix/$LIBDIR/collet/$name" ] || fail "$path: there is no program $name"
        grep -qx ".It Xr $name 1" "$prefix/share/man/man7/collet.7" || fail "collet.7 does not name $name"
    done
    [ -z "$(find "$prefix" -xtype l)" ] || fail "links without their files: $(find "$prefix" -xtype l)"
    "$SOURCE/tests/docs/links.sh" "$prefix/share/doc/collet" || fail "the links above of installed documents are dead"
    # No rpath may name the folders of the build, nor Debian's folder hdf5/serial (of the link libhdf5.so).
    for path in "$prefix"/{bin/*,"$LIBDIR"/*.so,"$LIBDIR"/collet/*}; do
        if readelf -d "$path" 2>/dev/null | grep -E "R(UN)?PATH.*($BUILD|$SOURCE|hdf5/serial)"; then
            fail "$path searches the directories above for libraries"
        fi
    done
    # An empty element of a search path is the current directory.
    for path in {"$BUILD","$prefix"}/{bin/*,lib*/*.so,lib*/collet/*}; do
        if readelf -d "$path" 2>/dev/null | grep -E 'PATH.*(\[:|::|:\])'; then
            fail "$path loads libraries from the current directory"
        fi
    done
}

use_pkg_config() {
    export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
}

# refuses TEXT COMMAND...: the command fails and prints TEXT.
refuses() {
    local text=$1 output
    shift
    ! output=$("$@" 2>&1) || fail "'$*' did not fail: $output"
    grep -qF -- "$text" <(tr -s ' \n' ' ' <<<"$output") || fail "'$*' printed '$output', not '$text'" # cmake breaks lines
}

# CPU backends compute; a backend without a device reports that.
run_programs() {
    local directory=$1 backend
    expect "^3 -4 by worker:cpu_scalar\$" "$directory/program_c" worker:cpu_scalar
    for backend in $BACKENDS; do
        if [[ $backend == cpu_* ]] || "$prefix/bin/backend-info" "$backend" >"$WORK/info" 2>&1; then
            expect "^3 -4 by $backend\$" "$directory/program_c" "$backend"
        else
            refuses "the backend '$backend' cannot be used" "$directory/program_c" "$backend"
        fi
    done
    expect '^2 1 4 3 by cpu_' "$directory/program_cpp"
    expect '^51 rows of com, warnings: 0$' "$directory/trajectory_c" "$WORK/water/conf.gro" \
        "$WORK/water/traj.trr"
    expect '^0.020 ps  .* nm.2$' "$directory/diffusion_c" "$WORK/water/conf.gro" \
        "$WORK/water/traj.trr"
    expect '^y = 1.8375 3.1800$' "$directory/ternary_c" "$WORK/layer.t2"
    expect '2 x 4 t2, 2 bits a weight' "$prefix/bin/collet-ternary" info "$WORK/layer.t2"
}

pkg_config() {
    use_pkg_config
    local directory=$WORK/pkg_config flags
    mkdir -p "$directory"
    [ "$(pkg-config --modversion collet)" = "$VERSION" ] || fail "the version of collet.pc is not $VERSION"
    [ -f "$(pkg-config --variable=plugindir collet)/cpu_scalar.so" ] || fail "plugindir is wrong"
    flags="$(pkg-config --cflags --libs collet) -Wl,-rpath,$prefix/$LIBDIR"
    # shellcheck disable=SC2086 # the flags are a list
    "$CC" -std=c11 $warnings $FLAGS "$consumer/program.c" $flags -o "$directory/program_c"
    # shellcheck disable=SC2086
    "$CXX" -std=c++17 $warnings $FLAGS "$consumer/program.cpp" $flags -o "$directory/program_cpp"
    # shellcheck disable=SC2046
    "$CC" -std=c11 $warnings $FLAGS "$consumer/trajectory.c" \
        $(pkg-config --cflags --libs collet-trajectory) "-Wl,-rpath,$prefix/$LIBDIR" \
        -o "$directory/trajectory_c"
    # shellcheck disable=SC2046
    "$CC" -std=c11 $warnings $FLAGS "$consumer/ternary.c" \
        $(pkg-config --cflags --libs collet-ternary) "-Wl,-rpath,$prefix/$LIBDIR" \
        -o "$directory/ternary_c"
    # shellcheck disable=SC2046
    "$CC" -std=c11 $warnings $FLAGS "$consumer/diffusion.c" \
        $(pkg-config --cflags --libs collet-analysis collet-trajectory) \
        "-Wl,-rpath,$prefix/$LIBDIR" -o "$directory/diffusion_c"
    run_programs "$directory"
}

# cmake_build SOURCE BUILD: configures and builds against the installed tree only.
cmake_build() {
    cmake -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
        -DCMAKE_C_FLAGS="$warnings $FLAGS" -DCMAKE_CXX_FLAGS="$warnings $FLAGS" >"$2.log" ||
        fail "cmake cannot configure $1: $(cat "$2.log")"
    cmake --build "$2" >>"$2.log" 2>&1 || fail "$1 does not build: $(cat "$2.log")"
}

package() {
    cmake_build "$consumer" "$WORK/package"
    run_programs "$WORK/package"
    local project built=$WORK/documents
    find "$prefix/share/doc" -name CMakeLists.txt -printf '%h\n' >"$built.list"
    while read -r project; do
        cmake_build "$project" "$built"
        rm -rf "$built"
    done <"$built.list"
}

# find_components NAME...: configures a project that needs these components of Collet $version.
version=
find_components() {
    rm -rf "$WORK/components"
    mkdir "$WORK/components"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(components LANGUAGES C)' \
        "find_package(collet $version REQUIRED COMPONENTS $*)" 'message(found)' \
        >"$WORK/components/CMakeLists.txt"
    cmake -S "$WORK/components" -B "$WORK/components/build" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$CC"
}

components() {
    expect '^found$' find_components analysis core plugin scatter ternary trajectory
    expect '^found$' find_components core OPTIONAL_COMPONENTS foo
    refuses 'collet has no component foo; it has core, plugin, analysis, scatter,' find_components core foo
    for version in 0 0.1 "$VERSION" 0.1...1 0.0.5...0.1.9 "0.1...<0.2" "$VERSION...$VERSION"; do
        expect '^found$' find_components core
    done
    for version in 0.0 0.1.9 0.2 1 0.2...1 "0.0...<$VERSION"; do
        refuses 'requested version' find_components core
    done
}

# listed PREFIX: its files.
listed() {
    (cd "$1" && find . ! -type d | sort)
}

components='runtime backends development engines engines-development tools docs'

parts() {
    local part at=$WORK/parts
    rm -rf "$at"
    mkdir -p "$at/manifests"
    for part in $components; do
        cmake --install "$BUILD" --component "$part" --prefix "$at/$part" >/dev/null
        cmake --install "$BUILD" --component "$part" --prefix "$at/all" >/dev/null
        cp "$BUILD/install_manifest_$part.txt" "$at/manifests/"
        [ -n "$(listed "$at/$part")" ] || fail "the component $part is empty"
    done
    [ "$(for part in $components; do listed "$at/$part"; done | sort)" = "$(listed "$prefix")" ] ||
        fail "the components have not each installed file once: $(diff <(listed "$at/all") <(listed "$prefix"))"
    expect "^\./$LIBDIR/collet/cpu_scalar\.so\$" listed "$at/backends"
    expect '^\./include/collet/collet\.h$' listed "$at/development"
    expect '^\./bin/backend-info$' listed "$at/tools"
    touch "$at/all/share/doc/collet/mine"
    refuses install_manifest.txt: cmake -DBUILD="$at" -P "$SOURCE/cmake/uninstall.cmake"
    cmake -DBUILD="$at/manifests" -P "$SOURCE/cmake/uninstall.cmake" >/dev/null 2>&1
    [ "$(listed "$at/all")" = ./share/doc/collet/mine ] || fail "uninstall leaves $(listed "$at/all")"
    [ ! -e "$at/all/include/collet" ] || fail "uninstall leaves empty folders"
}

# with OPTION...: configures Collet alone.
with() {
    cmake -S "$SOURCE" -B "$WORK.options" -DCMAKE_C_COMPILER="$CC" -DCOLLET_TESTS=OFF "$@"
}

# Each invalid option is refused early in the configuration.
options() {
    rm -rf "$WORK.options"
    local few='-DCOLLET_ENGINES=OFF -DCOLLET_PYTHON=OFF'
    # shellcheck disable=SC2086 # lists
    refuses 'no static libraries' with $few -DBUILD_SHARED_LIBS=OFF
    refuses "COLLET_ENGINES: there is no 'analisis'" with -UBUILD_SHARED_LIBS '-DCOLLET_ENGINES=analisis;ternary'
    refuses "COLLET_BACKENDS: there is no 'openmp'" with -DCOLLET_ENGINES=OFF -DCOLLET_BACKENDS=openmp
    refuses 'COLLET_PYTHON=OFF leaves the package out' with -DCOLLET_BACKENDS=ON -DCOLLET_PYTHON=ON
    refuses 'names cpu_openmp, but COLLET_OPENMP is OFF' with -DCOLLET_PYTHON=OFF -DCOLLET_OPENMP=OFF \
        '-DCOLLET_BACKENDS=cpu_scalar;cpu_openmp'
    refuses '-DCOLLET_HDF5=OFF builds' with -DCOLLET_ENGINES=trajectory -DCOLLET_BACKENDS=cpu_scalar \
        -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=TRUE
    refuses "COLLET_CORE is built or installed, not 'system'" with -DCOLLET_CORE=system
    refuses 'the tests need the parts of libcore' with -DCOLLET_CORE=installed -DCOLLET_TESTS=ON
    rm -rf "$WORK.options"
}

# part_of_project LINE...: builds a project that includes Collet with these lines. Collet installs no documents there.
part_of_project() {
    local at=$WORK.$stage
    rm -rf "$at"
    mkdir "$at"
    echo 'of the parent' >"$at/README.md"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(parent VERSION 7 LANGUAGES C)' 'include(GNUInstallDirs)' \
        'set(BUILD_SHARED_LIBS OFF)' 'install(FILES README.md TYPE DOC COMPONENT docs)' \
        "$@" 'add_executable(program program.c)' \
        'target_link_libraries(program PRIVATE collet::core)' >"$at/CMakeLists.txt"
    cp "$SOURCE/examples/hello.c" "$at/program.c"
    expect 'cpu_openmp is not built: COLLET_OPENMP is OFF' cmake -S "$at" -B "$at/build" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_BUILD_TYPE=Debug -DCOLLET_ENGINES=OFF -DCOLLET_PYTHON=OFF -DCOLLET_OPENMP=OFF
    expect '^CMAKE_BUILD_TYPE:[A-Z]*=Debug$' cat "$at/build/CMakeCache.txt"
    expect 'No tests were found|Total Tests: 0' ctest --test-dir "$at/build" -N
    cmake --install "$at/build" --component docs --prefix "$at/prefix" >/dev/null
    [ "$(listed "$at/prefix")" = ./share/doc/parent/README.md ] || fail "the parent's documents: $(listed "$at/prefix")"
    cmp "$at/README.md" "$at/prefix/share/doc/parent/README.md"
    cmake --build "$at/build" --target program plugin_cpu_scalar collet-probe >"$at/log" 2>&1 || fail "$(cat "$at/log")"
    expect '^2 4 6, computed by cpu_scalar$' "$at/build/program"
    cmake "$at/build" -DCMAKE_BUILD_TYPE= >/dev/null
    expect '^CMAKE_BUILD_TYPE:[A-Z]*=$' cat "$at/build/CMakeCache.txt"
    rm -rf "$at"
}

subproject() {
    part_of_project "add_subdirectory(\"$SOURCE\" collet)"
}

fetch() {
    part_of_project 'include(FetchContent)' "FetchContent_Declare(collet SOURCE_DIR \"$SOURCE\")" \
        'FetchContent_MakeAvailable(collet)'
}

# Only configures: the files of pkg-config are in the build directory.
absolute() {
    local built=$WORK.absolute at=/opt/of/collet
    rm -rf "$built"
    cmake -S "$SOURCE" -B "$built" -DCMAKE_C_COMPILER="$CC" -DCOLLET_TESTS=OFF \
        -DCMAKE_INSTALL_PREFIX=$at -DCMAKE_INSTALL_LIBDIR=$at-lib -DCMAKE_INSTALL_INCLUDEDIR=$at-include \
        >"$built.log" 2>&1 || fail "cmake failed: $(cat "$built.log")"
    export PKG_CONFIG_PATH=$built
    expect "^-I$at-include -L$at-lib/collet-link -L$at-lib -lcollet-scatter (-L$at-lib/collet-link )?-lcore *\$" \
        pkg-config --cflags --libs collet-scatter
    expect "^$at\$" pkg-config --variable=prefix collet
    expect "^$at-lib/collet\$" pkg-config --variable=plugindir collet
    expect "rpath,\"?$at-lib:" grep -rh --include=link.txt --include=build.ninja rpath "$built"
    cmake "$built" -DCMAKE_INSTALL_LIBDIR=lib >"$built.log" 2>&1
    expect "^-I$at-include" pkg-config --cflags collet
    expect '^libdir=\$\{prefix\}/lib$' cat "$built/collet.pc"
    rm -rf "$built"
}

plugin() {
    local built=$WORK/plugin drop=$WORK/drop
    cmake_build "$WORK/plugin_source" "$built"
    cmake_build "$WORK/plugin_async_source" "$built"_async
    mkdir -p "$drop"
    cp "$built/example.so" "${built}_async/example_async.so" "$drop/"
    export COLLET_PLUGIN_PATH=+$drop
    expect '^example: -1 -0\.5 0\.25 1$' "$built/call_clamp"
    expect '^3 -4 by example$' "$WORK/package/program_c" example
    expect "$drop/example.so" "$prefix/bin/backend-info" example
    expect 'example' "$prefix/bin/backend-check" --sample "$drop/example.so"
    expect '^3 -4 by example_async$' "$WORK/package/program_c" example_async
    expect 'example_async' "$prefix/bin/backend-check" --sample "$drop/example_async.so"
    expect "example_async" "$prefix/bin/backend-check" --layer validation --verbs --op memory \
        "$drop/example_async.so"
    COLLET_PLUGIN_PATH='' expect "there is no op 'example.clamp'" \
        bash -c "! '$built/call_clamp'"
}

# run_tools PREFIX
run_tools() {
    local at=$1 name
    for name in $BACKENDS; do
        # (Its status is 1 if the backend has no device.)
        expect "$at/$LIBDIR/collet/$name.so" bash -c "'$at/bin/backend-info' $name || true"
    done
    expect '"status":[[:space:]]*"usable"' "$at/bin/backend-info" --json
    if "$at/bin/backend-info" --why | grep -i 'probe-unavailable'; then
        fail "the installed collet-probe is not found"
    fi
    expect 'cpu_scalar' "$at/bin/backend-check" cpu_scalar --sample --op add
    "$at/bin/collet-extract" "$WORK/water/conf.gro" "$WORK/water/traj.trr" --stop 2 --quiet --force \
        -o "$WORK/water.npz"
    [ -s "$WORK/water.npz" ] || fail "collet-extract wrote no water.npz"
    [ -s "$WORK/water.npz.meta.json" ] || [ -s "$WORK/water.meta.json" ] ||
        fail "collet-extract wrote no .meta.json"
    "$at/bin/collet-merge" --force -o "$WORK/merged.npz" "$WORK/water.npz"
    "$at/bin/collet-rsoxs" make sphere --size 16 --radius 4 --energies 280 --force -o "$WORK/sphere"
    "$at/bin/collet-rsoxs" "$WORK/sphere/morphology.h5" -c "$WORK/sphere/config.txt" --force -o "$WORK/patterns"
    expect 'accuracy 9[5-9]' "$at/bin/collet-ternary" run "$SOURCE/examples/digits/digits.t2" \
        "$SOURCE/examples/digits/held_out.npy" --labels "$SOURCE/examples/digits/labels.npy"
}

tools() {
    run_tools "$prefix"
}

# use_package DIRECTORY PREFIX: the Python package in DIRECTORY computes with the libcore of PREFIX.
use_package() {
    expect "^7\.0 by cpu_ on $2/$LIBDIR\$" env PYTHONPATH="$1" "$PYTHON" -c '
import collet
print(float(collet.sum(collet.asarray([1.0, 2, 4]))), "by", collet.last_backend()[:4], "on", collet._core.directory())'
}

# Builds only from the sources of engines, tools and Python, on an installed libcore without engines.
on_core() {
    local at=$WORK/on_core part log
    log=$at/log
    rm -rf "$at"
    mkdir -p "$at/source"
    cp -r "$SOURCE"/{CMakeLists.txt,cmake,conformance,engines,layers,man,python,tools} "$at/source/"
    for part in runtime backends development; do
        cmake --install "$BUILD" --component $part --prefix "$at/core" >/dev/null
    done
    # (-O0 takes a third of the time.)
    cmake -S "$at/source" -B "$at/build" -DCOLLET_CORE=installed -DCMAKE_PREFIX_PATH="$at/core" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_C_FLAGS_RELEASE= -DCMAKE_INSTALL_LIBDIR="$LIBDIR" -DCOLLET_PYTHON_DIRECTORY=lib/python >"$log" 2>&1 ||
        fail "cmake fails: $(cat "$log")"
    cmake --build "$at/build" >"$log" 2>&1 || fail "the build fails: $(cat "$log")"
    [ -z "$PYTHON" ] || use_package "$at/build/python" "$at/core"
    # The two builds install no file twice, and together the same files as one build. Neither installs the Python
    # package.
    for part in engines engines-development tools; do
        cmake --install "$at/build" --component $part --prefix "$at/rest" >/dev/null
    done
    diff <({ listed "$at/core" && listed "$at/rest"; } | sort) <(listed "$prefix" | grep -v '^./share/doc/') ||
        fail "two builds do not install what one does"
    cmake --install "$at/build" --prefix "$at/core" >/dev/null
    prefix=$at/core
    run_tools "$prefix"
    if [ -n "$PYTHON" ]; then
        use_package "$prefix/lib/python" "$prefix"
        expect '"status":[[:space:]]*"usable"' env PYTHONPATH="$prefix/lib/python" "$PYTHON" -m collet --json
        expect 'RESULTS' env PYTHONPATH="$prefix/lib/python" "$PYTHON" "$prefix/bin/collet-analyse" --help
        expect "^$VERSION\$" env PYTHONPATH="$prefix/lib/python" "$PYTHON" -c '
import importlib.metadata as m; print(m.version("collet-runtime"))'
    fi
    cmake_build "$consumer" "$at/package"
    run_programs "$at/package"
    rm -rf "$at"
}

# (With an empty component nothing would be installed even if the prefix were accepted.)
into_source() {
    refuses 'is the source directory' cmake --install "$BUILD" --prefix "$SOURCE" --component none
}

moved() {
    rm -rf "$WORK/elsewhere"
    cp -a "$prefix" "$WORK/elsewhere"
    mv "$prefix" "$prefix.away"
    trap 'mv "$prefix.away" "$prefix"' EXIT
    run_tools "$WORK/elsewhere"
    [ "$(PKG_CONFIG_PATH=$WORK/elsewhere/$LIBDIR/pkgconfig pkg-config --variable=libdir collet |
        xargs realpath)" = "$WORK/elsewhere/$LIBDIR" ] || fail "collet.pc is not relocatable"
}

stage=${1:?a stage, see the top of this file}
if [ "$stage" = lay ]; then
    lay
    # The stages build from copies, which cannot find other files of the source tree.
    cp -r "$SOURCE/tests/install/consumer" "$consumer"
    cp "$SOURCE/examples/"{ternary,diffusion}.c "$consumer/"
    cp -r "$SOURCE/examples/plugin" "$WORK/plugin_source"
    cp -r "$SOURCE/examples/plugin_async" "$WORK/plugin_async_source"
    cp -r "$SOURCE/tests/data/md/water" "$WORK/water"
else
    "$stage"
fi
