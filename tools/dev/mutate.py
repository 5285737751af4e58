#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py [--count N] [--seed N] [--only PART] [--tests REGEX] [--build DIR]
          [--redo FILE] [--resume]

Plants N defects (mutants) in libcore and in the parsers of the engines. For each mutant it runs the
tests that reach the mutant until one fails. One build has all mutants; MUTANT=<number> in the
environment chooses one. The build starts from DIR (default: build), in an overlay on this tree that is
deleted afterwards. The results are lines of mutants.txt. --redo tries the survivors in such a file
again, for example with the build of a sanitizer as DIR; --resume appends to the results of an
interrupted run of the same tree.

A mutant may kill or delete anything. So tests run in namespaces of their own, and every file system is
read-only except an empty /tmp. Needs root and python3-clang.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import clang.cindex
from clang.cindex import CursorKind as Kind

SOURCES = ["core/**/*.c", "engines/io/*.c", "engines/trajectory/formats/**/*.c", "engines/trajectory/reading/*.c",
           "engines/trajectory/atoms/*.c", "engines/ternary/formats/*.c"]
LABELS = {"core", "fault", "fuzz", "io", "extract", "ternary", "worker", "info"}
LONG = 10  # A test that takes more seconds runs only if no other test reaches the mutant.
WAIT = 90  # Seconds that a test may take without a mutant. Its processor time is limited too.
SANDBOX = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child", "sh", "-c", """
    set -e; ulimit -c 0; ulimit -t "$2"
    mount -t tmpfs none /tmp
    mount -o remount,ro,bind "$0"
    mount -o remount,ro,bind /
    cd "$1"; shift 2; exec "$@" """]
PLACES = {f"XDG_{name}_HOME": f"/tmp/{name}" for name in ("CACHE", "CONFIG", "DATA")}
LAYER = """mount -t overlay -o lowerdir="$0",upperdir="$1"/upper,workdir="$1"/work overlay "$0" &&
    cd "$0" && shift && exec "$@" """
CHOICE = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static int chosen = -1;
static volatile char *reached;
__attribute__((constructor)) static void choose(void)
{
    const char *number = getenv("MUTANT"), *map = getenv("MUTANT_MAP");
    int file = map ? open(map, O_RDWR | O_CLOEXEC) : -1;
    chosen = number ? atoi(number) : -1;
    if (file < 0)
        return;
    void *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    reached = p == MAP_FAILED ? NULL : p;
    close(file);
}
int collet_mutant(int number)
{
    if (reached)
        reached[number] = 1;
    return number == chosen;
}
"""
BINARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
          "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>",
          ">>": "<<", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)


class File:
    """A source file and its places for mutants: {(first, end): [texts of mutants]}."""

    def __init__(self, path, arguments):
        with open(path, "rb") as f:
            self.text = f.read()
        self.path, self.found = path, {}
        unit = clang.cindex.Index.create().parse(path, args=arguments)
        for c in unit.cursor.get_children():
            if c.kind == Kind.FUNCTION_DECL and c.location.file and c.location.file.name == path:
                self.visit(c, None)

    def part(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def add(self, cursor, mutant):
        first, end = self.part(cursor)
        if first < end <= len(self.text) and cursor.extent.start.file.name == self.path:
            self.found.setdefault((first, end), []).append(mutant)

    def visit(self, c, parent):
        children = list(c.get_children())
        text = self.text[slice(*self.part(c))].decode()
        if c.kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            (a, b), (d, e) = map(self.part, children)
            operator = self.text[b:d].decode().strip()
            if operator in BINARY:
                left, right = self.text[a:b].decode(), self.text[d:e].decode()
                self.add(c, f"{left} {BINARY[operator]} {right}")
        elif c.kind == Kind.UNARY_OPERATOR and text[:1] == "!":
            self.add(c, "!" + text)
        elif c.kind == Kind.UNARY_OPERATOR and "++" in (text[:2], text[-2:]):
            self.add(c, text.replace("++", "--"))
        elif c.kind == Kind.UNARY_OPERATOR and "--" in (text[:2], text[-2:]):
            self.add(c, text.replace("--", "++"))
        elif c.kind == Kind.INTEGER_LITERAL and re.fullmatch(r"\d+\w*", text):
            self.add(c, "0" if text == "1" else f"{text} + 1")
        if parent and parent.kind == Kind.COMPOUND_STMT:
            if c.kind in (Kind.CALL_EXPR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) or (
                    c.kind == Kind.BINARY_OPERATOR and re.match(r"[^=!<>]+=[^=]", text)):
                self.add(c, "(void)0")
        if c.kind in (Kind.IF_STMT, Kind.WHILE_STMT) and children[0].kind == Kind.CALL_EXPR:
            self.add(children[0], "!" + self.text[slice(*self.part(children[0]))].decode())
        for child in children:
            self.visit(child, c)

    def line(self, first):
        return self.text.count(b"\n", 0, first) + 1

    def describe(self, first, end, mutant):
        begin = self.text.rfind(b"\n", 0, first) + 1
        stop = (self.text + b"\n").find(b"\n", end)
        old = self.text[begin:stop].decode().split()
        new = (self.text[begin:first].decode() + mutant + self.text[end:stop].decode()).split()
        return f"{self.path}:{self.line(first)}: {' '.join(old)} -> {' '.join(new)}"

    def rewritten(self, mutants):
        """The text with the mutants {number: (first, end, mutant)}. Every line keeps its number."""
        text = self.text
        for number, (first, end, mutant) in sorted(mutants.items(), key=lambda m: -m[1][0]):
            old, new = text[first:end].decode(), mutant.replace("\n", " ")
            cast = "(void)" if mutant == "(void)0" else ""
            change = f"(collet_mutant({number}) ? ({new}) : {cast}({old}))"
            text = text[:first] + change.encode() + text[end:]
        first = f'int collet_mutant(int number);\n# 1 "{os.path.abspath(self.path)}"\n'
        return first.encode() + text


class Work:
    def __init__(self, options):
        self.options = options
        self.source = os.getcwd()
        self.build = os.path.join(self.source, options.build)
        self.chosen, self.kills = {}, {}  # number: (file, first, end, mutant)

    def check(self, command):
        done = run(["sh", "-c", command])
        if done.returncode:
            sys.exit(done.stdout[-3000:])
        return done.stdout

    def configure(self):
        library = f"{self.build}/libmutant.so"
        with open(self.build + "/mutant.c", "w", encoding="utf-8") as f:
            f.write(CHOICE)
        self.check(f"cc -O2 -shared -fPIC -o '{library}' '{self.build}/mutant.c'")
        self.check(f"cmake -B '{self.build}' -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCOLLET_WERROR=OFF "
                   f"-DCMAKE_C_STANDARD_LIBRARIES='{library}'")
        with open(self.build + "/compile_commands.json", encoding="utf-8") as f:
            self.commands = {c["file"]: shlex.split(c["command"]) for c in json.load(f)}
        listed = self.check(f"ctest --test-dir '{self.build}' -LE '^long$' --show-only=json-v1")
        self.tests = {}
        for t in json.loads(listed[listed.index("{"):])["tests"]:
            p = {q["name"]: q["value"] for q in t.get("properties", [])}
            if "command" in t and LABELS & set(p.get("LABELS", [])) and (
                    "opencl" not in t["name"] and re.search(self.options.tests, t["name"])):
                self.tests[t["name"]] = (t["command"], p)

    def choose(self):
        """Chooses places that do not overlap, at random."""
        files, places = {}, []
        for path in sorted(p for s in SOURCES for p in glob.glob(s, recursive=True)):
            command = self.commands.get(f"{self.source}/{path}")
            if command and self.options.only in path:
                flags = [a for a in command if a[:2] in ("-I", "-D")]
                flags += ["-isystem" + b for a, b in zip(command, command[1:]) if a == "-isystem"]
                files[path] = File(path, flags)
                places += [(path, *at, m) for at, all in files[path].found.items() for m in all]
        random.Random(self.options.seed).shuffle(places)
        self.places, taken, again = len(places), {}, None
        if self.options.redo:
            with open(self.options.redo, encoding="utf-8") as f:
                again = {l.split(": ", 1)[1].rstrip("\n") for l in f if not l.startswith("killed")}
        for path, first, end, mutant in places:
            if again is not None and files[path].describe(first, end, mutant) not in again:
                continue
            if any(first < e and f < end for f, e in taken.setdefault(path, [])):
                continue
            taken[path].append((first, end))
            self.chosen[len(self.chosen)] = (files[path], first, end, mutant)
            if len(self.chosen) == self.options.count * 13 // 10:
                break

    def compile(self):
        """Builds with all mutants, and leaves out mutants that do not compile."""
        every = {c[0] for c in self.chosen.values()}
        while True:
            files = {file: {} for file in every}
            for number, (file, *place) in self.chosen.items():
                files.setdefault(file, {})[number] = place
            for file, mutants in files.items():
                text, path = file.rewritten(mutants), f"{self.source}/{file.path}"
                with open(path, "rb") as f:
                    if f.read() == text:
                        continue
                with open(path, "wb") as f:
                    f.write(text)
            done = run(["ninja", "-k", "0", "-C", self.build])
            if not done.returncode:
                return
            wrong = {(os.path.relpath(os.path.normpath(os.path.join(self.build, m[1])), self.source),
                      int(m[2])) for m in re.finditer(r"^([^\s:]+):(\d+):\d+: error", done.stdout, re.M)}
            left = {n: c for n, c in self.chosen.items()
                    if not any(c[0].path == p and c[0].line(c[1]) <= l <= c[0].line(c[2])
                               for p, l in wrong)}
            if len(left) == len(self.chosen):
                sys.exit(done.stdout[-3000:])
            self.chosen = left

    def one(self, name, number=None, seconds=WAIT, wait=WAIT, marks=None):
        """Whether the test passes."""
        command, p = self.tests[name]
        environment = dict(os.environ)
        environment.update(e.split("=", 1) for e in p.get("ENVIRONMENT", []))
        environment.update(PLACES)
        if number is not None:
            environment["MUTANT"] = str(number)
        if marks:
            environment["MUTANT_MAP"] = marks
        place = p.get("WORKING_DIRECTORY", self.build)
        with subprocess.Popen(SANDBOX + [self.source, place, str(int(seconds) + 1)] + command,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment) as child:
            try:
                return child.wait(wait) in (0, p.get("SKIP_RETURN_CODE", 0))
            except subprocess.TimeoutExpired:
                child.kill()
                return False

    def measure(self, name):
        """(name, seconds, the mutants that the test reaches), or None if the test fails without a mutant."""
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as marks:
            marks.truncate(1 << 16)
            began = time.monotonic()
            passed = self.one(name, marks=marks.name)
            seconds = time.monotonic() - began
            with open(marks.name, "rb") as f:
                reached = f.read()
        if not passed:
            print(f"left out, as it fails here without a mutant: {name}", flush=True)
            return None
        return name, seconds, {n for n in self.chosen if reached[n]}

    def killer(self, number):
        """The test that fails twice, or None. Quick tests that killed other mutants of the file run first."""
        kills = self.kills.setdefault(self.chosen[number][0].path, {})
        reaching = [m for m in self.measured if number in m[2]]
        reaching = [m for m in reaching if m[1] < LONG] or reaching
        reaching.sort(key=lambda m: -(kills.get(m[0], 0) + 0.1) / (m[1] + 0.1))
        for name, seconds, _ in reaching:
            limits = 3 + 3 * seconds, 15 + 5 * seconds
            if not self.one(name, number, *limits) and not self.one(name, number, *limits):
                kills[name] = kills.get(name, 0) + 1
                return name
        return None

    def all(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.measured = [m for m in pool.map(self.measure, sorted(self.tests)) if m]
            numbers = list(self.chosen)[self.options.skip:self.options.count]
            print(f"{self.places} places, {len(numbers)} mutants, {len(self.measured)} tests", flush=True)
            with open(self.options.results, "a", encoding="utf-8") as results:
                for number, killer in zip(numbers, pool.map(self.killer, numbers)):
                    file, *place = self.chosen[number]
                    reached = any(number in m[2] for m in self.measured)
                    how = f"killed by {killer}" if killer else "survived" if reached else "not reached"
                    print(f"{how}: {file.describe(*place)}", file=results, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--build", default="build")
    parser.add_argument("--results", default="mutants.txt")
    parser.add_argument("--tests", default="")
    parser.add_argument("--redo")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & ignores this signal, but tests need it
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if not options.inside:
        with tempfile.TemporaryDirectory() as layer:
            for name in ("upper", "work"):
                os.mkdir(f"{layer}/{name}")
            # (The file of results is opened here, outside the overlay.)
            with open(options.results, "a+" if options.resume else "w+", encoding="utf-8") as results:
                results.seek(0)
                done = subprocess.run(
                    ["unshare", "--mount", "sh", "-c", LAYER, top, layer, sys.executable,
                     os.path.abspath(__file__), *sys.argv[1:], "--inside", "--skip", str(len(list(results))),
                     "--results", f"/proc/self/fd/{results.fileno()}"],
                    pass_fds=[results.fileno()], check=False)
                results.seek(0)
                how = [re.match("\\w+", line)[0] for line in results]
            print(f"{len(how)} mutants: {how.count('killed')} killed, {how.count('survived')} survived, "
                  f"{how.count('not')} not reached")
            sys.exit(done.returncode)
    if options.redo:
        options.redo = os.path.abspath(options.redo)
    os.chdir(top)
    work = Work(options)
    work.configure()
    work.choose()
    work.compile()
    work.all()


if __name__ == "__main__":
    main()
