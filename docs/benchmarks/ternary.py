#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_studies.py
"""Measures operations with ternary weights: the operations that Rotor's document measures, and larger products.

    PYTHONPATH=build/python python3 docs/benchmarks/ternary.py [NAME] [--backend NAME] [--threads N] [--seconds S] [--json]

Measures packing and unpacking, a dot product, products of a matrix and a vector, and a network with 512 inputs, 256
hidden units, 10 outputs and a batch of 32. The weights are random. Prints the milliseconds of a call by Python. With
NAME, only cases whose names contain NAME are measured.
"""

import argparse
import json
import sys
import time

import collet
import numpy as np
from collet import bench, ternary

RANDOM = np.random.default_rng(1)
NETWORK = "network 512-256-10, batch 32"


def codes(*shape):
    """Random codes: -1, 0 and 1 are equally frequent."""
    return collet.asarray(RANDOM.integers(-1, 2, shape).astype(np.int8))


def numbers(*shape):
    return collet.asarray(RANDOM.uniform(-1, 1, shape).astype(np.float32))


def pack_and_unpack():
    c = codes(1 << 20)
    return lambda: ternary.unpack(ternary.pack(c))


def dot():
    a, b = ternary.pack(codes(1 << 20)), ternary.pack(codes(1 << 20))
    return lambda: ternary.dot(a, b)


def matvec(n, kind):
    weights = ternary.pack(codes(n, n))
    x = numbers(n) if kind == "f32" else codes(n) if kind == "W2A8" else ternary.pack(codes(n))
    return lambda: ternary.matmul(weights, x)


def network(activations):
    layers = [ternary.Linear(ternary.Weights.from_codes(codes(*shape)), activations=activations, relu=relu)
              for shape, relu in (((256, 512), True), ((10, 256), False))]
    net, x = ternary.Network(layers), numbers(32, 512)
    return lambda: net(x)


CASES = [("pack and unpack, 1M weights", "t2", pack_and_unpack), ("dot, 1M weights", "W2A2", dot),
         *((f"matvec {n} x {n}", kind, lambda n=n, kind=kind: matvec(n, kind))
           for n, kinds in ((2048, "W2A2 W2A8 f32"), (4096, "W2A2 W2A8"), (8192, "W2A2 W2A8")) for kind in kinds.split()),
         *((NETWORK, kind, lambda kind=kind: network(kind)) for kind in ("ternary", "int8", "f32"))]


def measure(make, seconds):
    call = make()
    began = time.perf_counter()
    call()
    collet.finish()
    calls = max(1, int(seconds / (time.perf_counter() - began)))
    return bench.benchmark_function(call, n_warmup=3, n_calls=calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="", metavar="NAME")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each measurement (default: 0.5)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.threads:
        collet.set_num_threads(options.threads)
    chosen = [case for case in CASES if options.name in case[0]]
    if not chosen:
        sys.exit(f"ternary.py: no case is called '{options.name}'")
    rows = []
    with collet.using(options.backend):
        if not options.json:
            print(f"{'':29} {'':8} {'backend':11} {'median ms':>10} {'p95':>10} {'p99':>10} {'max':>10}")
        for name, kind, make in chosen:
            r = measure(make, options.seconds)
            rows.append({"case": name, "kind": kind, "backend": collet.last_backend(), "samples": r.n_calls,
                         "milliseconds": r.to_dict()["latency_ms"]})
            if not options.json:
                print(f"{name:29} {kind:8} {rows[-1]['backend']:11} {r.median_ms:10.4f} {r.p95_ms:10.4f} {r.p99_ms:10.4f} "
                      f"{r.max_ms:10.4f}", flush=True)
    if options.json:
        print(json.dumps({"cases": rows}, indent=2))


if __name__ == "__main__":
    main()
