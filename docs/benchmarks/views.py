#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares functions of arrays with several kinds of strides with NumPy's functions, in turn, in one process.

    views.py [--sizes 1e4,1e6] [--dtypes f8,f4,i8] [--worst 30] [--json FILE] [--python build/python] [NAME...]

Each function runs on vectors (adjacent, every second element, reversed), on square matrices (adjacent, transposed,
every second column) and on tables of three columns and of three rows. A figure is the shortest time in microseconds. A
ratio is Collet's time divided by NumPy's: at 1 or less, Collet is as fast or faster. The script prints the geometric
mean of the ratios and the largest ratios, with one line for each function and its slowest array. --json writes all
ratios. Needs NumPy 2.1 or later.
"""

import argparse
import json
import math
import sys
import time
import warnings

SAME = ("abs add all allclose any argmax argmin argsort ceil clip copysign cos count_nonzero diff divide exp expm1 flatnonzero "
        "floor hypot isfinite isnan log1p max maximum mean median min minimum multiply nan_to_num nanmax nanmean nansum "
        "negative prod ptp ravel round sign sin sort sqrt square std sum tanh var").split()
AXES = "any argmax argsort count_nonzero max mean median nanmean sort std sum var".split()
TWO = {"add": 1, "allclose": None, "copysign": None, "divide": 3, "hypot": None, "maximum": 0, "minimum": 0, "multiply": None}


def functions():
    """A dict from names to functions of a module (NumPy or Collet) and an array. A function returns None for an array
    that it does not support."""
    made = {"astype f4": lambda m, x: x.astype("f4"), "astype i4": lambda m, x: x.astype("i4"), "copy": lambda m, x: x.copy(),
            "x > 0": lambda m, x: x > 0, "x[x > 0]": lambda m, x: x[x > 0], "x[2]": lambda m, x: x[2], "x[1:-1]": lambda m, x: x[1:-1],
            "x[i]": lambda m, x: x[m.arange(x.shape[0])[::-1]], "x.T + x.T": lambda m, x: x.T + x.T,
            "concat": lambda m, x: m.concat([x, x]), "stack": lambda m, x: m.stack([x, x]), "repeat": lambda m, x: m.repeat(x, 3),
            "roll": lambda m, x: m.roll(x, 3), "tile": lambda m, x: m.tile(x, 2), "where": lambda m, x: m.where(x > 0, x, 0),
            "norm": lambda m, x: m.linalg.vector_norm(x), "x ** 2": lambda m, x: x**2, "pad": lambda m, x: m.pad(x, 1),
            "clip": lambda m, x: m.clip(x, -1, 1)}
    for name in SAME:
        if name not in made:
            made[name] = lambda m, x, n=name: getattr(m, n)(*((x, x if TWO[n] is None else TWO[n]) if n in TWO else (x,)))
    for name in "cumulative_sum", "unique_values":
        made[name] = lambda m, x, n=name: getattr(m, n)(x) if x.ndim == 1 else None
    for name in AXES:
        for axis in 0, -1:
            made[f"{name} {axis}"] = lambda m, x, n=name, a=axis: getattr(m, n)(x, axis=a) if x.ndim > 1 else None
    return made


def views(asarray, draw, n, dtype):
    side = round(n**0.5)

    def base(*shape):
        return asarray((draw.standard_normal(shape) * 9).astype(dtype))
    return {"x": base(n), "x[::2]": base(2 * n)[::2], "x[::-1]": base(n)[::-1], "square": base(side, side),
            "square.T": base(side, side).T, "square[:, ::2]": base(side, 2 * side)[:, ::2], "3 columns": base(n // 3, 3),
            "3 rows": base(3, n // 3), "a column of 3": base(n, 3)[:, 0]}


def seconds(function, module, x):
    def call():
        made = function(module, x)
        getattr(made, "strides", None)  # elementwise functions of Arrays wait until somebody needs the elements

    begin = time.perf_counter()
    call()
    once = time.perf_counter() - begin
    repeats, best = max(1, int(0.004 / max(once, 1e-7))), math.inf
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - begin) / repeats)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1e4,1e6")
    parser.add_argument("--dtypes", default="f8,f4,i8")
    parser.add_argument("--worst", type=int, default=30)
    parser.add_argument("--json")
    parser.add_argument("--python", default="build/python")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    sys.path.insert(0, given.python)
    warnings.simplefilter("ignore")
    import numpy as np

    import collet
    np.seterr(all="ignore")
    rows = []
    for size in given.sizes.split(","):
        for dtype in given.dtypes.split(","):
            n = int(float(size))
            hosts = views(np.asarray, np.random.default_rng(1), n, dtype)
            arrays = views(collet.asarray, np.random.default_rng(1), n, dtype)
            for name, function in functions().items():
                for view, host in hosts.items():
                    if given.names and name not in given.names or function(np, host) is None:
                        continue
                    ours, theirs = seconds(function, collet, arrays[view]), seconds(function, np, host)
                    rows.append({"function": name, "array": view, "dtype": dtype, "elements": n, "collet_us": ours * 1e6,
                                 "numpy_us": theirs * 1e6, "ratio": ours / theirs})
    for size in sorted({r["elements"] for r in rows}):
        ratios = [math.log(r["ratio"]) for r in rows if r["elements"] == size]
        print(f"{size} elements: {math.exp(sum(ratios) / len(ratios)):.2f} of NumPy's time, {len(ratios)} cases")
        worst = {}
        for r in rows:
            if r["elements"] == size and r["ratio"] > worst.get(r["function"], r)["ratio"] - 1e-12:
                worst[r["function"]] = r
        for r in sorted(worst.values(), key=lambda r: -r["ratio"])[:given.worst]:
            print(f"{r['ratio']:7.2f} {r['function']:16} {r['array']:14} {r['dtype']} {r['collet_us']:10.1f} {r['numpy_us']:10.1f} us")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
