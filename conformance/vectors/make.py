#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes vectors.bin: arguments of the elementwise functions and their values. Needs mpmath.

The values come from exact.py (Python's integers and fractions) and near.py (mpmath), which share no code with
plugins/ or with the kit's files in C. The random arguments have a fixed seed, so that the file is
the same on every machine: `python3 make.py && git diff --stat vectors.bin` shows no change.

vectors.bin is a sequence of 64-bit words, big-endian. For each function and dtype it has a header (id of the op;
dtype; parts of all inputs of a row; parts of its output; rows; 1 if the outputs are exact). Then come the columns of
the inputs and of the outputs; each number is a word, f64 or i64. If the outputs are not exact, columns of corrections
follow: (exact value - output) / output as f32, two in a word, the first in the upper half.
"""

import math
import pathlib
import random
import re
import struct
import sys

import exact
import near

HERE = pathlib.Path(__file__).resolve().parent
OPS = HERE.parents[1] / "include/collet/ops/elementwise.def"
TYPES = HERE.parents[1] / "include/collet/types.h"
SEED, RANDOM, PAIRS = 20261128, 40, 16
REALS = ("f32", "f64")


def read_ops():
    """The rows of elementwise.def, each as id, name, inputs, kinds, ulp, from, to."""
    rows = OPS.read_text().split("\nCOLLET_ELEMENTWISE(")[1:]
    for row in rows:
        _, number, name, inputs, _, kinds, ulp = re.match(r"(\w+), (\d+), (\w+), (\d), (\w+), (\w+), (\d+)", row).groups()
        low, high = re.search(r'", (-?[\d.]+), (-?[\d.]+),\s*"', row).groups()
        yield int(number), name, int(inputs), kinds, int(ulp), float(low), float(high)


def as_f32(x):
    return near.split(exact.nearest(exact.Fraction(x), "f32", x) if math.isfinite(x) else x)[0]


# ---- Arguments -------------------------------------------------------------------------------------

def ends(dtype):
    """Zeros, infinities, NaN, and the ends of the ranges of f64, f32 and f16, with both signs."""
    some = [0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 2.0**-149, 2.0**-126, 2.0**-126 - 2.0**-149, 2.0**-24, 2.0**-14, 65504.0, 2.0**24,
            2.0**23 + 0.5, 2.0**22 + 0.5, 3.4028234663852886e38, 2.0**-30, 1 + 2.0**-23, 1 - 2.0**-24, 2.0**-12, math.inf]
    if dtype == "f64":
        some += [2.0**-1074, 2.0**-1022, 2.0**-1022 - 2.0**-1074, 1.7976931348623157e308, 2.0**53, 2.0**52 + 0.5, 2.0**-60,
                 1 + 2.0**-52, 1 - 2.0**-53, 1e-160, 1e160]
    return [s * (as_f32(x) if dtype == "f32" else x) for x in some for s in (1.0, -1.0)] + [math.nan]


def around(x):
    """The f64 and f32 numbers next to x, and numbers whose distances from x are powers of two."""
    found = []
    for rounded, ulp in ((float(x), math.ulp(float(x))), (as_f32(float(x)), math.ulp(float(x)) * 2.0**29)):
        found += [rounded + k * ulp for k in (-3, -1, 0, 1, 3)]
    found += [float(x) + s * 2.0**-k for k in (4, 9, 20, 35) for s in (1, -1)]
    return found


def anywhere(rng):
    return math.copysign(math.ldexp(rng.uniform(1, 2), rng.randint(-1000, 1000)), rng.uniform(-1, 1))


def anywhere_f32(rng):
    return as_f32(math.copysign(math.ldexp(rng.uniform(1, 2), rng.randint(-120, 120)), rng.uniform(-1, 1)))


def arguments(name, low, high, rng):
    """Arguments of a function of one number with a limit. Half of the random arguments are f32 numbers."""
    found = ends("f64") + [p for x in near.HARD.get(name, []) for s in ((1, -1) if name != "lgamma" else (1,))
                           for p in around(s * near.mpf(x))]
    found += [s * x for x in near.FAR for s in (1, -1)] if name in ("sin", "cos", "tan") else []
    for _ in range(RANDOM):
        x = rng.uniform(low, high)
        found += [x, as_f32(rng.uniform(low, high)), anywhere(rng), anywhere_f32(rng)]
    found += [x for (x,) in worst(name)]
    return [(x,) for x in unique(found)]


def worst(name):
    rows = [line.split() for line in (HERE / "worst_f64.txt").read_text().splitlines() if line[:1] != "#"]
    return [[float.fromhex(x) for x in row[1:]] for row in rows if row[0] == name]


def unique(numbers):
    return list({struct.pack("<d", x): x for x in numbers}.values())


def several(name, count, low, high, rng, dtype):
    """Rows of `count` real arguments."""
    some = unique(ends(dtype))
    rows = [tuple(rng.choice(some) for _ in range(count)) for _ in range(80)]
    number, far = (float, anywhere) if dtype == "f64" else (as_f32, anywhere_f32)
    for _ in range(RANDOM):
        x = tuple(number(rng.uniform(low, high)) for _ in range(count))
        rows += [x, tuple(as_f32(rng.uniform(low, high)) for _ in range(count)), tuple(far(rng) for _ in range(count)),
                 (x[0], *[number(x[0] * (1 + rng.randint(-9, 9) * 2.0**-22)) for _ in x[1:]])]
    rows += [tuple(float(rng.randint(-9, 9)) / 2 for _ in range(count)) for _ in range(24)]
    return rows + [tuple(x) for x in worst(name)]


def complex_arguments(low, high, rng, count):
    """Every pair of special parts, points near the branch points 0, 1, -1, i, -i, and random points."""
    some = [s * x for x in (0.0, 0.5, 1.0, 2.0, 4.0) for s in (1.0, -1.0)]
    found = [complex(re, im) for re in some for im in some]
    for at in (0j, 1 + 0j, -1 + 0j, 1j, -1j):
        for _ in range(8):
            size = 2.0 ** -rng.randint(3, 22)
            found.append(at + complex(as_f32(size * rng.uniform(-1, 1)) if abs(at) == 0 else round(rng.uniform(-9, 9)) * size,
                                      round(rng.uniform(-9, 9)) * size))
    for _ in range(RANDOM):
        found += [complex(as_f32(rng.uniform(low, high)), as_f32(rng.uniform(low, high))),
                  complex(rng.uniform(low, high), rng.uniform(low, high))]
    found += [complex(s * 30.0, t) for s in (1, -1) for t in (0.0, -0.0, 1.0, -2.5)]
    found += [complex(t, s * 30.0) for s in (1, -1) for t in (0.0, -0.0, 1.0, -2.5)]
    if count == 1:
        return [(z,) for z in found]
    return [(rng.choice(found), rng.choice(found)) for _ in range(180)]


def integers(dtype, rng):
    bits = exact.bits_of(dtype)
    if dtype == "bool":
        return [0, 1]
    low, top = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)
    some = [0, 1, 2, 3, 7, bits - 1, bits, bits + 1, top, top - 1, low, low + 1, top // 2, 10, 46341, 65535, 255]
    some += [-x for x in some] + [rng.randint(low, top) for _ in range(8)] + [rng.randint(low, top) >> bits // 2 for _ in range(8)]
    return sorted({x for x in some if low <= x <= top})


# ---- The file --------------------------------------------------------------------------------------

def flat(row):
    return [p for x in row for p in ((x.real, x.imag) if isinstance(x, complex) else (x,))]


def pack(op, dtype, rows, results, rests=None):
    """A section: rows and results are lists of lists of parts."""
    body = struct.pack(">6Q", op, DTYPES[dtype], len(rows[0]), len(results[0]), len(rows), rests is None)
    for table in (rows, results):
        for column in zip(*table):
            body += b"".join(struct.pack(">d" if isinstance(x, float) else ">Q", x if isinstance(x, float) else x % (1 << 64)) for x in column)
    for column in zip(*(rests or [])):
        body += b"".join(struct.pack(">f", x) for x in column)
    return body + b"\0" * (-len(body) % 8)


def stored(x):
    return [x.real, x.imag] if isinstance(x, complex) else [x]


def exact_section(op, name, count, dtype, low, high, rng):
    function = exact.exact(name, dtype)
    if not function:
        return b""
    if dtype in REALS:
        rows = several(name, count, low, high, rng, dtype)
        rows = [(float(i % 2), *row[1:]) for i, row in enumerate(rows)] if name == "where" else rows
    elif dtype[0] == "c":
        number = complex if dtype == "c128" else lambda z: complex(as_f32(z.real), as_f32(z.imag))
        choices = [number(z) for (z,) in complex_arguments(low, high, rng, 1)]
        rows = [tuple(rng.choice(choices) for _ in range(count)) for _ in range(80)]
        rows = [(float(i % 2), *row[1:]) for i, row in enumerate(rows)] if name == "where" else rows
    else:
        some = integers(dtype, rng)
        rows = [tuple(rng.choice(some) for _ in range(count)) for _ in range(PAIRS * count)]
        if dtype == "bool":
            rows = [tuple(i >> k & 1 for k in range(count)) for i in range(1 << count)]
        rows = [(i % 2, *row[1:]) for i, row in enumerate(rows)] if name == "where" else rows
    part = "f32" if dtype in ("c64", "f32") else "f64"
    with_type = part if dtype[0] in "fc" else dtype
    results = [stored(function(with_type, *row)) for row in rows]
    results = [[float(x) if dtype[0] in "fc" else x for x in row] for row in results]
    return pack(op, dtype, [flat(row) for row in rows], results)


def near_section(op, name, count, dtype, low, high, rng):
    if dtype == "c128":
        rows = complex_arguments(low, high, rng, count)
        values = [near.complex_value(name, *row) for row in rows]
    else:
        rows = arguments(name, low, high, rng) if count == 1 else several(name, count, low, high, rng, "f64")
        values = [[near.real(name, *row)] for row in rows]
    kept = [(flat(row), value) for row, value in zip(rows, values) if value]
    return pack(op, dtype, [row for row, _ in kept], [[high for high, _ in value] for _, value in kept],
                [[low for _, low in value] for _, value in kept])


NEAR_COMPLEX = set(near.COMPLEX)
GROUPS = {"B": ["bool"], "I": ["i16", "u16", "i32", "u32", "i64", "u64", "i8", "u8"], "F": ["f32", "f64"], "W": ["f32", "f64"],
          "C": ["c64", "c128"]}


def sections(op, name, count, kinds, ulp, low, high):
    for dtype in [d for kind in kinds for d in GROUPS[kind]]:
        rng = random.Random(f"{SEED} {name} {dtype}")
        if dtype[0] == "c" and name in NEAR_COMPLEX:
            yield near_section(op, name, count, dtype, low, high, rng) if dtype == "c128" else b""
        elif dtype in REALS and ulp:
            yield near_section(op, name, count, dtype, low, high, rng) if dtype == "f64" else b""
        else:
            yield exact_section(op, name, count, dtype, low, high, rng)


DTYPES = {text: int(i) for i, text in re.findall(r"X\(\w+, (\d+), [^\"]*\"(\w+)\"", TYPES.read_text())}


def main():
    data = b"".join(part for op in read_ops() for part in sections(*op))
    (HERE / "vectors.bin").write_bytes(data)
    print(f"vectors.bin: {len(data)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
