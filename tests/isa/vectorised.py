#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vectorised.py OBJDUMP LEVEL EXCEPTIONS OBJECT...

Fails if a function of the objects has loops, but no loop with arithmetic on whole vector registers of LEVEL (v2, v3,
v4, aarch64), unless EXCEPTIONS lists the function. A line of EXCEPTIONS is `LEVELS PATTERN reason`; PATTERN is a
regular expression that must match the function's whole name. A pattern that matches no function, or that has no reason,
is a failure too. So the test finds, on any machine, a loop that a compiler no longer vectorises.
"""

import collections
import re
import subprocess
import sys

REGISTERS = {"v2": "%xmm", "v3": "%ymm", "v4": "%zmm", "aarch64": r"\bv\d+\.(4s|2d|8h|16b)"}
LEAST = 500  # least number of functions with loops; fewer mean that this test is broken
MOVES = re.compile(r"v?(mov|zero|lddqu|extract|insert|p?broadcast|pinsr|pextr|p?shuf|p?unpck|pack|perm|p?align)|"
                   r"v?p?blend|"
                   r"ld|st|dup|ins|[us]?mov|zip|uzp|trn|ext|tbl|rev|xtn")
LOGIC = re.compile(r"v?(and|andn|or|xor)p[sd]|v?pxor")
JUMPS = re.compile(r"j|b$|b\.|cbn?z|tbn?z")
SCALAR = re.compile(r"s[sdh]$|s[sdh]2|2s[sdh]$|2si$")


def functions(objdump, path):
    """Names and instructions (address, mnemonic, operands)."""
    command = [objdump, "-d", "--no-show-raw-insn", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for part in re.split(r"\n(?=[0-9a-f]+ <.+>:\n)", text)[1:]:
        name = re.match(r"[0-9a-f]+ <(.+)>:", part)[1]
        found = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)[ \t]*(.*)$", part, re.M)
        yield name, [(int(address, 16), code, rest) for address, code, rest in found]


def loops(body):
    """The instructions of each loop, without the instructions of loops inside it."""
    ends, place = {}, {address: i for i, (address, _, _) in enumerate(body)}
    for i, (_, code, rest) in enumerate(body):
        target = re.match(r"(?:.*, )?([0-9a-f]+) <", rest) if JUMPS.match(code) else None
        begin = place.get(int(target[1], 16), i + 1) if target else i + 1
        if begin <= i:
            ends[begin] = max(i, ends.get(begin, 0))
    for begin, end in ends.items():
        part = body[begin:end + 1]
        for b, e in ends.items():
            if (b, e) != (begin, end) and begin <= b and e <= end:
                part[b - begin:e + 1 - begin] = [None] * (e + 1 - b)
        yield [i for i in part if i]


def is_scalar(code):
    return SCALAR.search(code) is not None and not re.match(r"v?p", code)


def computes(level, part):
    """Whether a loop computes on whole registers. In a loop with scalar arithmetic, vector logic alone does not
    count, because compilers use it to change the sign of a scalar."""
    whole = [(code, rest) for _, code, rest in part
             if re.search(REGISTERS[level], rest) and not MOVES.match(code) and not is_scalar(code)]
    logic = [rest for code, rest in whole if LOGIC.match(code)]
    if len(logic) < len(whole):
        return True
    return any(len(set(rest.split(",")[:2])) == 2 for rest in logic) and \
        not any(is_scalar(code) for _, code, _ in part)


def exceptions(path, level):
    made = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split(maxsplit=2)
            if not words or words[0][0] == "#":
                continue
            if len(words) < 3:
                sys.exit(f"{path}:{number}: a line is LEVELS PATTERN reason")
            if level in words[0].split(","):
                made.append((number, re.compile(words[1])))
    return made


def main():
    objdump, level, listed, *objects = sys.argv[1:]
    allowed, used, failed, count = exceptions(listed, level), collections.Counter(), [], 0
    for path in objects:
        for name, body in functions(objdump, path):
            name = re.sub(r"\.(part|constprop|isra|cold)\b.*", "", name)
            matched = [number for number, pattern in allowed if pattern.fullmatch(name)]
            used.update(matched)
            parts = list(loops(body)) if body else []
            count += bool(parts)
            if parts and not matched and not any(computes(level, part) for part in parts):
                failed.append(f"{path}: {name}: no loop of it is vectorised")
    failed += [f"{listed}:{number}: no function is called {pattern.pattern}"
               for number, pattern in allowed if not used[number]]
    if count < LEAST:
        failed.append(f"{count} functions with loops in {len(objects)} objects, fewer than {LEAST}")
    print(*failed, f"{level}: {count} functions with loops, {sum(used.values())} listed", sep="\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
