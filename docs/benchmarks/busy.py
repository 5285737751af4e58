#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures calls of cpu_openmp alone and with busy processes, with default settings.

    docs/benchmarks/busy.py [--bench build/bin/backend-bench] [--seconds 1] [--busy 1,2] [NAME...]

Prints a line for each row: the time alone, then for each number of busy processes the mean as a
multiple of the fair time (the time alone over the share of the processors that a scheduler without
favourites leaves the call) and how far the 99th percentile is above that time. Marked with * is
more than 1.3 times, and more than 12 ms. NAME limits the rows to those that contain it.
"""
import argparse
import json
import subprocess
import sys

ROWS = """
exp 1M
exp 16M
add 64K
add 1M
sum 1M
sum 2048x2048 --axis 0
argmax 4M
transpose 2048x2048
normal 1M
matmul 256x256x256
matmul 512x512x512
matmul 1024x1024x1024
matmul 256x256x256 --dtype f64
matmul 1024x1024x1024 --dtype f64
matmul 512x512x512 --dtype bf16
matmul 512x512x512 --dtype i8
matvec 2048x2048
lu 256x256 --dtype f64
lu 1000x1000 --dtype f64
solve 512x1 --dtype f64
qr 512x512 --dtype f64
cholesky 1000 --dtype f64
svd 256x256 --dtype f64
eigh 256 --dtype f64
fft 512x512 --dtype c128
fft 1M --dtype c64
fft 64x64x64 --dtype c64
fft 2048x2048 --dtype c64
observables 100x1000
observables 10000x1000
rmsd 1000x1000
ternary_matmul 2048x2048
ternary_matmul 32x4096x4096
ternary_linear 4096x4096
"""


def time_text(seconds):
    if seconds < 1e-3:
        return f"{1e6 * seconds:.1f} us"
    return f"{1e3 * seconds:.2f} ms"


def measure(options, row, processes):
    command = [options.bench, *row.split(), "--backend", "cpu_openmp", "--json",
               "--seconds", str(options.seconds), "--busy", str(processes)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr.strip()}")
    return json.loads(run.stdout)["results"][0]


def with_others(result):
    busy = result["busy"]
    fair = busy["fair_seconds"]
    mean = busy["call_seconds"]["mean"] / fair
    above = max(0.0, busy["call_seconds"]["p99"] - fair)
    text = f"{mean:8.2f}{'*' if mean > 1.3 else ' '} {time_text(above):>10}"
    return text + ("*" if above > 12e-3 else " ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default="build/bin/backend-bench")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--busy", default="1,2")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    counts = [int(n) for n in options.busy.split(",")]
    rows = [row for row in ROWS.strip().split("\n")
            if not options.names or any(name in row for name in options.names)]
    print(f"{'':34} {'alone':>10}" + "".join(f"  {f'{n} busy: mean':>14} {'p99':>8}" for n in counts))
    for row in rows:
        results = [measure(options, row, n) for n in counts]
        alone = min(r["call_seconds"]["median"] for r in results)
        print(f"{row:34} {time_text(alone):>10}   " + "   ".join(map(with_others, results)), flush=True)


if __name__ == "__main__":
    main()
