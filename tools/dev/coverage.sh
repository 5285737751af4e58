#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coverage.sh [BUILD]: prints the table of docs/coverage.md: how many branches of the loader, the manifest, the cache,
# the probe and the parsers the short tests take. gcov and gcovr (5.2 or later) count them. Then it prints the number
# of branches that no test takes, with the reasons from coverage.txt. The script configures and builds the folder BUILD
# (default: build-coverage) and keeps it; BUILD/missed.txt gets every line with a branch that no test takes. Exit
# status 1: such a branch has no reason.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-coverage}
mkdir -p "$build"

# Processes that end by _exit (the probe, children of tests) or raise a signal would lose their counts
# without these functions.
cat >"$build/exit.c" <<END
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_raise(int number);
int __wrap_raise(int number);
void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
int __wrap_raise(int number)
{
    __gcov_dump();
    return __real_raise(number);
}
END
cc -fPIC -c -o "$build/exit.o" "$build/exit.c"

# Only libcore and the engines are measured. They are compiled without optimisation, and with atomic counters
# because tests have threads. (ccache would give the objects the .gcno files of another directory.)
cat >"$build/compile.sh" <<END
#!/bin/sh
for argument; do
    case \$argument in
    "$PWD"/core/*.c | "$PWD"/engines/*.c)
        exec env CCACHE_DISABLE=1 "\$@" -O0 --coverage -fprofile-update=atomic ;;
    esac
done
exec "\$@"
END
chmod +x "$build/compile.sh"
here=$(cd "$build" && pwd)
launcher="$here/compile.sh${CMAKE_C_COMPILER_LAUNCHER:+;$CMAKE_C_COMPILER_LAUNCHER}"
link="--coverage -Wl,--wrap=_exit,--wrap=raise"
cmake --preset release -G Ninja -B "$build" -DCOLLET_TESTS=ON \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_EXE_LINKER_FLAGS="$link" \
    -DCMAKE_SHARED_LINKER_FLAGS="$link" \
    -DCMAKE_MODULE_LINKER_FLAGS="$link" -DCMAKE_C_STANDARD_LIBRARIES="$here/exit.o" >/dev/null
cmake --build "$build" --parallel "$(nproc)"
find "$build" -name '*.gcda' -delete
# The script names tests that fail here; their counts are included. (gcov does not survive the failing allocations
# of the test program_allocations.)
ctest --test-dir "$build" -E program_allocations -L '^(core|fault|fuzz|io|extract|ternary|layers)$' -LE '^long$' \
    --parallel "$(nproc)" --output-on-failure >"$build/tests.log" 2>&1 || true
sed -n '/The following tests FAILED/,/Errors/p' "$build/tests.log"
# (A child that is forked while other threads count may leave a negative count, which gcovr leaves out.)
gcovr --root . "$build" -j "$(nproc)" --exclude-unreachable-branches --gcov-ignore-parse-errors \
    --filter 'core/' --filter 'engines/' --json "$build/coverage.json" 2>"$build/gcovr.log"
python3 tools/dev/coverage.py "$build/coverage.json" "$build/missed.txt"
