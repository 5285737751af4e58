#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collet and NumPy in turn, in one run: exp, log and sqrt of 16,384 numbers on one thread, and
random numbers, NumPy's on the one thread that it has and Collet's on one and on all.

    numpy_rates.py [--bench build/bin/backend-bench] [--backend cpu_openmp] [--json]

Needs Python 3 and NumPy; no build and no test does. A rate is 1e9 numbers a second of the fastest
call, the ratio Collet's over NumPy's.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy

ELEMENTWISE = 16384
RANDOM = 4 << 20
ROUNDS = 3
DTYPES = {"f32": numpy.float32, "f64": numpy.float64}


def numpy_rate(call, count, seconds):
    """Numbers a second of the fastest sample, which lasts at least 20 microseconds."""
    calls = 1
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - begin > 20e-6:
            break
        calls *= 2
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter() - begin)
    return count * calls / best


def collet_rate(options, op, count, dtype, threads):
    """The same of Collet, by backend-bench; also its threads."""
    command = [options.bench, op, str(count), "--dtype", dtype, "--backend", options.backend,
               "--seconds", str(options.seconds), "--json"]
    if threads:
        command += ["--threads", str(threads)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit("numpy_rates.py: this failed: " + " ".join(command))
    report = json.loads(run.stdout)
    return count / report["results"][0]["call_seconds"]["min"], report["host"]["threads"]


def numpy_calls(dtype):
    """Each op's call by NumPy, its elements, and the threads that Collet may use."""
    kind = DTYPES[dtype]
    generator = numpy.random.default_rng(20261121)
    values = generator.uniform(0.5, 2.0, ELEMENTWISE).astype(kind)
    out = numpy.empty(ELEMENTWISE, kind)
    numbers = numpy.empty(RANDOM, kind)
    return [
        ("exp", ELEMENTWISE, (1,), lambda: numpy.exp(values, out)),
        ("log", ELEMENTWISE, (1,), lambda: numpy.log(values, out)),
        ("sqrt", ELEMENTWISE, (1,), lambda: numpy.sqrt(values, out)),
        ("uniform", RANDOM, (1, 0), lambda: generator.random(dtype=kind, out=numbers)),
        ("normal", RANDOM, (1, 0), lambda: generator.standard_normal(dtype=kind, out=numbers)),
    ]


def measure(options):
    """One row for each op, dtype and number of threads, best of several rounds taken in turn."""
    rows = []
    for dtype in DTYPES:
        for op, count, teams, call in numpy_calls(dtype):
            theirs = 0.0
            ours = {}
            for _ in range(ROUNDS):
                theirs = max(theirs, numpy_rate(call, count, options.seconds))
                for team in teams:
                    rate, threads = collet_rate(options, op, count, dtype, team)
                    ours[threads] = max(ours.get(threads, 0.0), rate)
            for threads, rate in ours.items():
                rows.append({"op": op, "dtype": dtype, "elements": count, "threads": threads,
                             "numpy_g_per_s": 1e-9 * theirs, "collet_g_per_s": 1e-9 * rate,
                             "ratio": rate / theirs})
    return rows


def main():
    """Prints a table, or JSON."""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--bench", default=os.path.join(here, "../../build/bin/backend-bench"),
                        help="the backend-bench to run (default: the one in build/)")
    parser.add_argument("--backend", default="cpu_openmp", help="of Collet (default: cpu_openmp)")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each figure and round")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rows = measure(options)
    if options.json:
        print(json.dumps({"numpy": numpy.__version__, "results": rows}, indent=2))
        return
    print(f"NumPy {numpy.__version__}, one thread; 1e9 numbers a second")
    print(f"{'op':9}{'dtype':6}{'elements':>9}{'threads':>8}{'NumPy':>8}{'Collet':>8}{'ratio':>7}")
    for row in rows:
        print(f"{row['op']:9}{row['dtype']:6}{row['elements']:9}{row['threads']:8}"
              f"{row['numpy_g_per_s']:8.3f}{row['collet_g_per_s']:8.3f}{row['ratio']:7.2f}")


if __name__ == "__main__":
    main()
