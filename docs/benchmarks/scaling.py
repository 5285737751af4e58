#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates how much faster calls of cpu_openmp would be on machines with more processors.

    scaling.py [--python build/python] [--here]

The script measures one thread of this machine: the processor time, in nanoseconds, of an item whose operands are in the
L2 cache. A simulated team of threads takes the pieces of a call as team.c does: the caller writes the parts and wakes
four workers, each of these wakes four more, each thread takes the pieces of its own part and then pieces of other
parts. A piece takes its computing time, or the time to transfer its bytes if that is longer; threads share the
bandwidth of the node that has the pages. The script prints the speedups over one thread of the simulated machine.
--here compares the simulation with the times of two threads of this machine, which must be idle.
"""

import argparse
import heapq
import os
import sys
import time

# Constants of plugins/cpu_openmp/runtime/team.c and job.h, and the times (us) that core/DESIGN.md derives.
PARTS, PIECES, FAN = 64, 8, 4
WAKE, RUNS, LINE, REPORT = 1.5, 5.0, 0.08, 0.1
# For each machine: the number of threads, the number of nodes, and the bandwidths in GB/s of one thread, of one node,
# and of a thread that reads pages of the other node. The figures of the servers are the nominal bandwidths of 8 and 12
# channels of DDR5-4800 times 0.8.
MACHINES = {"8": (8, 1, 20, 60, 0), "64": (64, 1, 15, 245, 0), "192": (192, 2, 12, 370, 4), "192, one node": (192, 2, 12, 370, 4)}


def families(xp):
    """Maps each name to a function that makes operands of n items, the call, the bytes of memory for an item, and the
    grain."""
    def f32(n, k):
        return [xp.asarray([0.5] * 8, dtype=xp.float32)[xp.arange(n) % 8] for _ in range(k)]

    def rows(n):
        return [xp.reshape(f32(n, 1)[0], (-1, 64))]
    return {"add": (lambda n: f32(n, 2), xp.add, 12, 32 << 10), "exp": (lambda n: f32(n, 1), xp.exp, 8, 8 << 10),
            "sum": (lambda n: f32(n, 1), xp.sum, 4, 32 << 10), "softmax of rows of 64": (rows, lambda x: xp.exp(x) / xp.sum(xp.exp(x), axis=1, keepdims=True), 8, 8 << 10),
            "take": (lambda n: [f32(n, 1)[0], xp.arange(n)], xp.take, 16, 16 << 10)}


def measured(call, operands, n):
    """The shortest processor time of an item, in nanoseconds."""
    best = float("inf")
    for _ in range(7):
        begin, turns = time.process_time_ns(), 60
        for _ in range(turns):
            getattr(call(*operands), "strides", None)  # waits for the elements
        best = min(best, (time.process_time_ns() - begin) / turns / n)
    return best


def simulated(machine, n, item, size, grain, cached, asleep, one_node=False):
    """Microseconds of a call: `item` ns of computing and `size` bytes for each of n items."""
    threads, nodes, one, node, remote = machine
    parts = int(max(1, min(n // grain, threads, PARTS)))
    pieces = int(max(1, min(n // grain // parts, PIECES * threads // parts)))
    width, used = n / parts / pieces, int(max(1, min(n // grain, threads)))

    def piece(thread, active):
        here = thread * nodes // threads
        share = active / (1 if one_node else nodes)
        rate = min(remote if one_node and here else one, node / max(1, share))
        return max(item * width, 0 if cached else size * width / rate) / 1000
    if used == 1:
        return piece(0, 1) * parts * pieces
    clock = LINE * parts + (WAKE if asleep else 0)
    start = {0: clock}
    wakers, woken = [(clock, 0)], 1
    while woken < used:  # a spinning worker reads the caller's cache line; the transfers follow each other
        if not asleep:
            start[woken] = LINE * woken
            woken += 1
            continue
        at, _ = heapq.heappop(wakers)
        for _ in range(min(FAN, used - woken)):
            start[woken] = at + WAKE + RUNS
            heapq.heappush(wakers, (at + WAKE + RUNS, woken))
            woken += 1
    left, ready, end = [pieces] * parts, [(t, i) for i, t in start.items()], 0.0
    heapq.heapify(ready)
    while ready:
        at, thread = heapq.heappop(ready)
        end = max(end, at)
        part = next((p % parts for p in range(thread, thread + parts) if left[p % parts]), None)
        if part is not None:
            left[part] -= 1
            heapq.heappush(ready, (at + piece(thread, used) + (REPORT if left[part] == 0 else 0), thread))
    return end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="build/python", help="folder of the package")
    parser.add_argument("--here", action="store_true", help="compare with two threads of this machine")
    options = parser.parse_args()
    os.environ.setdefault("COLLET_BACKEND", "cpu_openmp")
    sys.path.insert(0, options.python)
    import collet

    collet.set_num_threads(1)
    cases = (("10^6, in caches", 10**6, True, False), ("10^6", 10**6, False, False), ("10^8", 10**8, False, True))
    print(f"{'':22} {'ns an item':>10}  " + "  ".join(f"{label + ': ' + ', '.join(MACHINES):>44}" for label, *_ in cases))
    for name, (make, call, size, grain) in families(collet).items():
        item = measured(call, make(1 << 14), 1 << 14)
        line = []
        for _, n, cached, asleep in cases:
            gains = []
            for key, machine in MACHINES.items():
                alone = simulated((1, 1, machine[2], machine[3], 0), n, item, size, grain, cached, False)
                gains.append(alone / simulated(machine, n, item, size, grain, cached, asleep, key.endswith("node")))
            line.append(", ".join(f"{g:.1f}" for g in gains))
        print(f"{name:22} {item:10.3f}  " + "  ".join(f"{text:>44}" for text in line))
    if options.here:
        here(collet)


def here(xp):
    """Prints the speedups of two threads, simulated and measured, of operands in the L2 caches."""
    for name, (make, call, size, grain) in families(xp).items():
        n = 1 << 18
        operands, times = make(n), []
        for threads in 1, 2:
            xp.set_num_threads(threads)
            best = float("inf")
            for _ in range(200):
                begin = time.perf_counter_ns()
                getattr(call(*operands), "strides", None)
                best = min(best, time.perf_counter_ns() - begin)
            times.append(best)
        item = times[0] / n
        model = times[0] / 1000 / simulated((2, 1, 20, 40, 0), n, item, size, grain, True, False)
        print(f"{name:22} two threads: simulated {model:.2f}, measured {times[0] / times[1]:.2f}")


if __name__ == "__main__":
    main()
