#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares programs of several functions and reductions in Collet, NumPy, numexpr, numba, JAX and PyTorch.

    programs.py [--cpu] [--rounds 7] [--seconds 0.2] [--with LIBRARIES] [NAME...]

Each library has a process of its own. For each program all libraries first compute the same values; the script compares
the sums of their magnitudes. Then the libraries take turns, `rounds` times. The table has the median of Collet's time,
and for each other library the median of Collet's time divided by the library's time in the same round. The last column
names the fastest library. JAX and PyTorch compile the program (`jit`, `torch.compile`), numba compiles loops
(numba_programs.py), and numexpr computes the programs that it can express. A missing library is left out; a line of the
output names it. --cpu is for a busy machine: it compares processor times, with one thread for each library. With NAME,
only programs whose names contain NAME are measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "COLLET_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1",
              "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


# ---- Programs ------------------------------------------------------------------------------------
# xp is a library's namespace.

LAST = {"axis": -1, "keepdims": True}


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, **LAST))
    return e / xp.sum(e, **LAST)


def logsumexp(xp, x):
    m = xp.max(x, **LAST)
    return m + xp.log(xp.sum(xp.exp(x - m), **LAST))


def layer_norm(xp, x, weight, bias):
    return (x - xp.mean(x, **LAST)) / xp.sqrt(xp.var(x, **LAST) + 1e-5) * weight + bias


def variance(xp, x):
    return xp.var(x, **LAST)


def unit_rows(xp, x):
    return x / xp.sqrt(xp.sum(x * x, **LAST))


def cosine(xp, x, y):
    return xp.sum(x * y, **LAST) / xp.sqrt(xp.sum(x * x, **LAST) * xp.sum(y * y, **LAST))


def spread(xp, x):
    return (xp.max(x, **LAST) - xp.min(x, **LAST)) / xp.mean(x, **LAST)


def distances(xp, x, point):
    d = x - point
    return xp.sqrt(xp.sum(d * d, axis=-1))


def pairs(xp, x, y):
    d = x[:, None, :] - y[None, :, :]
    return xp.sqrt(xp.sum(d * d, axis=-1))


def nearest(xp, x, centres):
    d = x[:, None, :] - centres[None, :, :]
    return xp.argmin(xp.sum(d * d, axis=-1), axis=-1)


def accelerations(xp, x, masses):
    d = x[None, :, :] - x[:, None, :]
    r2 = xp.sum(d * d, **LAST) + 0.01
    return xp.sum(d * (masses[:, None] / (r2 * xp.sqrt(r2))), axis=1)


def density(xp, t, s, p):
    """Sea water by the equation of state of 1980: kg/m3 of degrees, practical salinity and bar."""
    root = xp.sqrt(s)
    water = 999.842594 + t * (6.793952e-2 + t * (-9.095290e-3 + t * (1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9))))
    surface = water + s * (0.824493 + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9)))
                           + root * (-5.72466e-3 + t * (1.0227e-4 + t * -1.6546e-6)) + s * 4.8314e-4)
    k = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 + t * -5.155288e-5)))
    k = k + s * (54.6746 + t * (-0.603459 + t * (1.09987e-2 + t * -6.1670e-5)) + root * (7.944e-2 + t * (1.6483e-2 + t * -5.3009e-4)))
    a = 3.239908 + t * (1.43713e-3 + t * (1.16092e-4 + t * -5.77905e-7))
    a = a + s * (2.2838e-3 + t * (-1.0981e-5 + t * -1.6078e-6) + root * 1.91075e-4)
    b = 8.50935e-5 + t * (-6.12293e-6 + t * 5.2787e-8) + s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10))
    return surface / (1 - p / (k + p * (a + p * b)))


def black_scholes(xp, price, strike, years):
    """European calls. The normal distribution is Abramowitz and Stegun's formula 26.2.17."""
    spread_ = 0.3 * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (0.02 + 0.5 * 0.3 * 0.3) * years) / spread_
    d2 = d1 - spread_
    k1, k2 = 1 / (1 + 0.2316419 * xp.abs(d1)), 1 / (1 + 0.2316419 * xp.abs(d2))
    tail1 = 0.3989422804014327 * xp.exp(-0.5 * d1 * d1) * k1 * (0.31938153 + k1 * (-0.356563782 + k1 * (
        1.781477937 + k1 * (-1.821255978 + k1 * 1.330274429))))
    tail2 = 0.3989422804014327 * xp.exp(-0.5 * d2 * d2) * k2 * (0.31938153 + k2 * (-0.356563782 + k2 * (
        1.781477937 + k2 * (-1.821255978 + k2 * 1.330274429))))
    return price * (0.5 + xp.sign(d1) * (0.5 - tail1)) - strike * xp.exp(-0.02 * years) * (0.5 + xp.sign(d2) * (0.5 - tail2))


# name: program, dtype, for each input its shape and range
ROWS = {
    "softmax 4096x1024": (softmax, "f4", [((4096, 1024), -4, 4)]),
    "softmax 65536x16": (softmax, "f4", [((65536, 16), -4, 4)]),
    "logsumexp 4096x1024": (logsumexp, "f4", [((4096, 1024), -4, 4)]),
    "layer norm 4096x1024": (layer_norm, "f4", [((4096, 1024), -4, 4), ((1024,), 0, 1), ((1024,), 0, 1)]),
    "variance 4096x1024": (variance, "f4", [((4096, 1024), -4, 4)]),
    "min max mean 4096x1024": (spread, "f4", [((4096, 1024), 1, 4)]),
    "cosine 4096x1024": (cosine, "f4", [((4096, 1024), -1, 4), ((4096, 1024), -1, 4)]),
    "unit rows 100000x3": (unit_rows, "f8", [((100000, 3), -4, 4)]),
    "distances 1000000x3": (distances, "f8", [((1000000, 3), -4, 4), ((3,), -4, 4)]),
    "pairs 1000x1000": (pairs, "f8", [((1000, 3), -4, 4), ((1000, 3), -4, 4)]),
    "k-means 100000x8, 16": (nearest, "f8", [((100000, 8), -4, 4), ((16, 8), -4, 4)]),
    "n-body 1000": (accelerations, "f8", [((1000, 3), -4, 4), ((1000,), 0, 1)]),
    "sea water 1000000": (density, "f8", [((1000000,), 0, 30), ((1000000,), 1, 40), ((1000000,), 0, 1000)]),
    "Black-Scholes 1000000": (black_scholes, "f8", [((1000000,), 10, 50), ((1000000,), 10, 50), ((1000000,), 1, 2)]),
}


# ---- Libraries -----------------------------------------------------------------------------------
# A library's function returns the library's version and a function `make(program, inputs)`, which returns a call that
# computes the result, or None if the library does not have the program. numpy.asarray makes a result a NumPy array.

def use_collet(_cpu):
    import collet as xp

    def make(program, arrays):
        inputs = [xp.asarray(a) for a in arrays]

        def call():
            result = program(xp, *inputs)
            result._place()  # computes the elements
            return result
        return call
    return xp.__version__, make


def use_numpy(_cpu):
    import numpy as np
    return np.__version__, lambda program, arrays: lambda: program(np, *arrays)


def use_numexpr(cpu):
    import numexpr as ne
    ne.set_num_threads(1 if cpu else ne.detect_number_of_cores())

    class Text:
        """Operators and functions make the text of an expression."""

        def __init__(self, text):
            self.text = text

    def term(x):
        return x.text if isinstance(x, Text) else repr(x)

    for name, sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
        setattr(Text, f"__{name}__", lambda a, b, sign=sign: Text(f"({term(a)} {sign} {term(b)})"))
        setattr(Text, f"__r{name}__", lambda a, b, sign=sign: Text(f"({term(b)} {sign} {term(a)})"))

    class Namespace:
        def __getattr__(self, name):
            return lambda *x: Text(f"{name}({', '.join(map(term, x))})")

    def make(program, arrays):
        if program not in (density, black_scholes):
            return None
        names = "abc"[:len(arrays)]
        text, inputs = program(Namespace(), *map(Text, names)).text, dict(zip(names, arrays))
        return lambda: ne.evaluate(text, inputs)
    return ne.__version__, make


def use_numba(_cpu):
    import numba
    import numba_programs

    def make(program, arrays):
        loop = getattr(numba_programs, program.__name__, None) or numba_programs.elementwise(program)
        return lambda: loop(*arrays)
    return numba.__version__, make


def use_jax(_cpu):
    import jax
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)

    def make(program, arrays):
        run, inputs = jax.jit(lambda *x: program(jax.numpy, *x)), [jax.device_put(a) for a in arrays]
        return lambda: jax.block_until_ready(run(*inputs))
    return jax.__version__, make


def use_torch(cpu):
    import torch
    if cpu:
        torch.set_num_threads(1)

    class Namespace:
        """torch with the arguments of the array API."""
        max, min = (staticmethod(lambda x, axis, keepdims, f=f: f(x, axis, keepdims)) for f in (torch.amax, torch.amin))
        mean = staticmethod(lambda x, axis, keepdims: torch.mean(x, axis, keepdims))
        var = staticmethod(lambda x, axis, keepdims: torch.var(x, axis, correction=0, keepdim=keepdims))
        sum = staticmethod(lambda x, axis, keepdims=False: torch.sum(x, axis, keepdims))
        argmin = staticmethod(lambda x, axis: torch.argmin(x, axis))
        exp, log, sqrt, abs, sign = map(staticmethod, (torch.exp, torch.log, torch.sqrt, torch.abs, torch.sign))

    def make(program, arrays):
        torch.compiler.reset()  # torch.compile compiles a function at most eight times
        run, inputs = torch.compile(lambda *x: program(Namespace, *x)), [torch.from_numpy(a) for a in arrays]
        return lambda: run(*inputs)
    return torch.__version__, make


LIBRARIES = {"collet": use_collet, "numpy": use_numpy, "numexpr": use_numexpr, "numba": use_numba, "jax": use_jax,
             "torch": use_torch}


# ---- A library's process -------------------------------------------------------------------------

def inputs_of(name):
    """The same in every process."""
    import numpy as np
    generator = np.random.default_rng(1)
    _, dtype, inputs = ROWS[name]
    return [generator.uniform(low, high, shape).astype(dtype) for shape, low, high in inputs]


def serve(options):
    """Reads commands, one per line: the name of a row, or the seconds of a turn with the last row. Writes answers."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print
    clock = time.process_time if options.cpu else time.perf_counter
    if options.cpu:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        version, make = LIBRARIES[options.serve](options.cpu)
    except ImportError as missing:
        print(json.dumps({"missing": str(missing)}), file=answers)
        return
    import numpy as np
    print(json.dumps({"version": version}), file=answers)
    call = None
    for line in sys.stdin:
        command = json.loads(line)
        if isinstance(command, str):
            call = make(ROWS[command][0], inputs_of(command))
            total = float(np.abs(np.asarray(call()), dtype="f8").sum()) if call else None
            print(json.dumps(total), file=answers)
            continue
        end, count, begin = time.perf_counter() + command, 0, clock()
        while count == 0 or time.perf_counter() < end:
            call()
            count += 1
        print(json.dumps((clock() - begin) / count), file=answers)


class Client:
    """A library's process, as the parent sees it."""

    def __init__(self, name, cpu):
        self.name = name
        command = [sys.executable, os.path.abspath(__file__), "--serve", name] + ["--cpu"] * cpu
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | (ONE_THREAD if cpu else {}))
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"programs.py: the process of {self.name} ended")
        return json.loads(line)

    def ask(self, command):
        print(json.dumps(command), file=self.process.stdin, flush=True)
        return self.answer()


# ---- Measuring -----------------------------------------------------------------------------------

def measure(name, clients, options):
    """Prints a row of the table."""
    sums = {c: c.ask(name) for c in clients}
    ours = sums[clients[0]]
    for client, total in sums.items():
        if total is not None and not abs(total - ours) <= 1e-4 * abs(ours):
            sys.exit(f"programs.py: {name}: {client.name} has {total}, Collet {ours}")
    taking = [c for c in clients if sums[c] is not None]
    rounds = [[c.ask(options.seconds) for c in taking] for _ in range(options.rounds)]
    ratios = {c: statistics.median(r[0] / r[i] for r in rounds) for i, c in enumerate(taking)}
    best = max(taking, key=ratios.get)
    cells = [f"{ratios[c]:9.2f}" if c in ratios else f"{'':9}" for c in clients[1:]]
    print(f"{name:24}{1e3 * statistics.median(r[0] for r in rounds):9.2f}" + "".join(cells) + f"  {best.name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--cpu", action="store_true", help="processor time, one thread")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    parser.add_argument("--with", dest="others", default=",".join(list(LIBRARIES)[1:]))
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.serve:
        serve(options)
        return
    clients = [Client(name, options.cpu) for name in ["collet"] + options.others.split(",")]
    for client in clients:
        print(client.name, client.about.get("version") or f"is not measured: {client.about['missing']}")
    clients = [c for c in clients if "version" in c.about]
    if not clients or clients[0].name != "collet":
        sys.exit("programs.py: without Collet there is nothing to compare")
    print(f"{'':24}{'ms':>9}" + "".join(f"{c.name:>9}" for c in clients[1:]) + "  fastest")
    for name in ROWS:
        if not options.names or any(part in name for part in options.names):
            measure(name, clients, options)


if __name__ == "__main__":
    main()
