#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sum, mean, var, norm, dot and matvec next to NumPy, numba and JAX, in turn, each in a process of its own.

    sums.py [--level v3] [--most 8] [--dtype f32] [--turns 15] [--python build/python] [NAME...]

Rows are 10^3 to 10^MOST elements; `columns` sums along axis 0, `middle` along the middle one of three,
`matvec.T` multiplies by a transposed matrix. A figure is the median of the turns in microseconds; `ratio` is the
best peer's time divided by Collet's: 1 or more is as fast or faster; `least` the same of the shortest times, for
machines that others use too. --level caps Collet and its peers at an
instruction set. Libraries that are missing are left out, with a line.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

CAPS = {
    "v2": {"COLLET_ISA": "v2", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX "
           "AVX512_CNL AVX512_ICL AVX512_SPR", "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2", "NUMBA_CPU_NAME": "nehalem",
           "OPENBLAS_CORETYPE": "Nehalem"},
    "v3": {"COLLET_ISA": "v3", "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL "
           "AVX512_ICL AVX512_SPR", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2", "NUMBA_CPU_NAME": "haswell",
           "OPENBLAS_CORETYPE": "Haswell"}}
NAMES = ["sum", "mean", "var", "norm", "dot", "columns", "middle", "matvec", "matvec.T"]


def arguments(name, n, dtype):
    import numpy as np
    draw = np.random.default_rng(1)
    side, cube = round(n**0.5), round(n**(1 / 3))
    shape = {"columns": (side, side), "middle": (cube, cube, cube), "matvec": (side, side),
             "matvec.T": (side, side)}.get(name, (n,))
    x = draw.standard_normal(shape, dtype)
    if name == "dot":
        return x, draw.standard_normal(shape, dtype)
    return (x, draw.standard_normal(side, dtype)) if name.startswith("matvec") else (x,)


def functions(xp):
    return {"sum": xp.sum, "mean": xp.mean, "var": xp.var, "norm": xp.linalg.vector_norm,
            "dot": lambda x, y: x @ y, "columns": lambda x: xp.sum(x, axis=0), "middle": lambda x: xp.sum(x, axis=1),
            "matvec": lambda a, x: a @ x, "matvec.T": lambda a, x: a.T @ x}


def of_collet():
    import collet
    made = functions(collet)
    return lambda name, given: (made[name], [collet.asarray(a) for a in given])


def of_numpy():
    import numpy as np
    made = dict(functions(np), norm=np.linalg.norm, dot=np.dot)
    return lambda name, given: (made[name], given)


def of_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    made = {name: jax.jit(f) for name, f in functions(jax.numpy).items()}

    def prepared(name, given):
        return lambda *a: made[name](*a).block_until_ready(), [jax.device_put(a) for a in given]
    return prepared


def of_numba():
    import numpy as np
    from numba import njit, prange
    space = {"prange": prange, "np": np}
    loops = {
        "sum": ("x", "s += x[i]", "s"), "mean": ("x", "s += x[i]", "s / n"),
        "norm": ("x", "s += x[i] * x[i]", "np.sqrt(s)"), "dot": ("x, y", "s += x[i] * y[i]", "s")}
    made = {}
    for parallel in (False, True):
        options, over = {"parallel": parallel, "fastmath": True}, "prange" if parallel else "range"
        for name, (given, step, result) in loops.items():
            exec(f"def f({given}):\n n = x.size\n s = x.dtype.type(0)\n for i in {over}(n):\n  {step}\n return {result}",
                 space)
            made[name, parallel] = njit(**options)(space["f"])
        exec(f"def f(x):\n n = x.size\n m = x.dtype.type(0)\n s = x.dtype.type(0)\n for i in {over}(n):\n  m += x[i]\n"
             f" m /= n\n for i in {over}(n):\n  s += (x[i] - m)**2\n return s / n", space)
        made["var", parallel] = njit(**options)(space["f"])
        exec(f"def f(a, x):\n y = np.zeros(a.shape[0], a.dtype)\n for i in {over}(a.shape[0]):\n"
             "  s = a.dtype.type(0)\n  for j in range(a.shape[1]):\n   s += a[i, j] * x[j]\n  y[i] = s\n return y", space)
        made["matvec", parallel] = njit(**options)(space["f"])

    def prepared(name, given):
        chosen = made.get((name, given[0].size > 1 << 18))
        return None if chosen is None else (chosen, given)
    return prepared


MAKERS = {"collet": of_collet, "numpy": of_numpy, "numba": of_numba, "jax": of_jax}


def serve(library):
    """Answers lines: `prepare NAME N DTYPE` by the value, or - if it is missing, `time REPEATS` by seconds a call."""
    import numpy as np
    try:
        make = MAKERS[library]()
    except ImportError as e:
        print(f"- {e}", flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "prepare":
            made = make(rest[0], arguments(rest[0], int(rest[1]), rest[2]))
            value = made and float(np.abs(np.asarray(made[0](*made[1]), "f8")).sum())
            print("-" if made is None else value, flush=True)
        else:
            call, given = made
            call(*given)
            start = time.perf_counter()
            for _ in range(int(rest[0])):
                call(*given)
            print((time.perf_counter() - start) / int(rest[0]), flush=True)


class Library:
    def __init__(self, name):
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", name], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def answer(self, *words):
        if words:
            print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()


def row(libraries, name, n, dtype, turns):
    values = {k: library.answer("prepare", name, n, dtype) for k, library in libraries.items()}
    times = {k: [] for k, value in values.items() if value != "-"}
    for k in times:
        apart = abs(float(values[k]) - float(values["collet"]))
        assert apart <= 0.01 * abs(float(values[k])) + 1e-3 * n**0.5, (name, n, k, values)
    for _ in range(turns):
        for k, measured in times.items():
            time.sleep(0.03)  # OpenBLAS's threads spin
            measured.append(float(libraries[k].answer("time", max(3, min(1000, 3 * 10**7 // n)))))
    median = {k: statistics.median(t) * 1e6 for k, t in times.items()}
    best, least = (min((found(t), k) for k, t in times.items() if k != "collet") for found in (statistics.median, min))
    print(f"{name:9} {n:>11,} " + " ".join(f"{median.get(k, float('nan')):12.1f}" for k in libraries) +
          f" {best[0] * 1e6 / median['collet']:8.2f} {best[1]:6} {least[0] / min(times['collet']):8.2f} {least[1]}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=sorted(CAPS))
    parser.add_argument("--most", type=int, default=8)
    parser.add_argument("--dtype", default="f32", choices=["f32", "f64"])
    parser.add_argument("--turns", type=int, default=15)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--python", default=os.path.join(here, "../../build/python"))
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    o = parser.parse_args()
    if o.serve:
        return serve(o.serve)
    os.environ.update(CAPS.get(o.level, {}), COLLET_BACKEND="cpu_openmp", PYTHONPATH=os.path.abspath(o.python))
    libraries = {}
    for name in MAKERS:
        library = Library(name)
        said = library.answer()
        if said == "ready":
            libraries[name] = library
        else:
            print(f"{name} is left out: {said[2:]}")
    print(f"{o.dtype}, {o.level or 'the level of the machine'}, median of {o.turns} turns, us")
    print(f"{'':9} {'elements':>11} " + " ".join(f"{k:>12}" for k in libraries) + f" {'ratio':>8} best   {'least':>8}")
    for name in o.names or NAMES:
        for digits in range(3, o.most + 1):
            row(libraries, name, 10**digits, {"f32": "f4", "f64": "f8"}[o.dtype], o.turns)


if __name__ == "__main__":
    main()
