# SPDX-License-Identifier: Apache-2.0
"""Compares collet.md with collet-extract, and with rotmd's own numba kernels.

    PYTHONPATH=build/python python3 docs/benchmarks/python_md.py [--rotmd DIRECTORY] [--copies 200]

Results are ratios of one run. The two programs of each pair run alternately, and the shortest time of each program
counts. DIRECTORY is a checkout of rotmd, which needs numba. On a busy machine compare the processor times.
"""

import argparse
import importlib.util
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np

from collet import _core, md

ROOT = pathlib.Path(__file__).resolve().parents[2]
WATER = ROOT / "tests/data/md/water"
PROGRAM = pathlib.Path(_core.__file__).parents[2] / "bin/collet-extract"


def clocks(who):
    """Wall and processor time."""
    used = resource.getrusage(who)
    return np.array([time.perf_counter(), used.ru_utime + used.ru_stime])


def timed(function, who=resource.RUSAGE_SELF):
    """Wall and processor seconds of one call."""
    before = clocks(who)
    function()
    return clocks(who) - before


def least(turns, *cases):
    """For each case the least wall and processor seconds of `turns` turns."""
    found = [[timed(*case) for case in cases] for _ in range(turns)]
    return np.array(found).min(axis=0)


def show(name, seconds, others):
    """Prints a line for each program: its name, the wall time, the processor time, and their ratios to the first
    program's times."""
    for label, row in [(name, seconds), *others]:
        print(f"  {label:34} {row[0]:9.4f} s {row[1]:9.4f} s   x {row[0] / seconds[0]:8.2f} "
              f"x {row[1] / seconds[1]:8.2f}")


def extract(copies, turns):
    """Computes the same trajectory by the program and by the module."""
    with tempfile.TemporaryDirectory() as folder:
        long = pathlib.Path(folder) / "long.trr"
        with long.open("wb") as file:
            for _ in range(copies):
                file.write((WATER / "traj.trr").read_bytes())
        out = pathlib.Path(folder) / "out.npz"

        def program():
            out.unlink(missing_ok=True)
            subprocess.run([PROGRAM, "-q", WATER / "conf.gro", long, "-o", out, "--force"], check=True)

        def module():
            md.extract(WATER / "conf.gro", long)

        def batches():
            for _ in md.extract_batches(WATER / "conf.gro", long):
                pass

        def kept():
            np.savez(out, **md.extract(WATER / "conf.gro", long))
        program()
        rows = least(turns, (program, resource.RUSAGE_CHILDREN), (module,), (batches,), (kept,))
        size = long.stat().st_size >> 20
        print(f"{51 * copies} frames of 648 atoms, {size} MiB: wall, processor")
        show("collet-extract", rows[0], [("collet.md.extract", rows[1]),
                                         ("collet.md.extract_batches", rows[2]),
                                         ("collet.md.extract and numpy.savez", rows[3])])


def kernels(rotmd, frames, atoms, turns):
    """Computes com, inertia and L by rotmd's numba kernels and by collet.md."""
    spec = importlib.util.spec_from_file_location(
        "rotmd_kernels", pathlib.Path(rotmd) / "src/rotmd/core/kernels.py")
    numba = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(numba)
    assert numba.NUMBA_AVAILABLE, "numba is not installed"
    random = np.random.default_rng(1)
    masses = random.random(atoms) + 1
    for dtype in (np.float32, np.float64):
        positions, velocities = (random.random((frames, atoms, 3), dtype) for _ in range(2))
        results = {}

        def run(module):
            com = module.compute_com_batch(positions, masses)
            results[module] = (com, module.inertia_tensor_batch(positions, masses, com),
                               module.cross_product_trajectory(positions, velocities, masses, com))
        run(numba)
        run(md)
        for theirs, ours in zip(results[numba], results[md]):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-7)
        rows = least(turns, (lambda: md.observables(positions, masses, velocities),),
                     (lambda: run(md),), (lambda: run(numba),))
        print(f"com, inertia and L of {frames} x {atoms}, {np.dtype(dtype)}: wall, processor")
        show("collet.md.observables", rows[0],
             [("collet.md, the three kernels", rows[1]), ("rotmd's kernels, numba", rows[2])])


def main():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rotmd", help="a checkout of rotmd")
    parser.add_argument("--copies", type=int, default=200, help="of the trajectory, in one file")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    extract(options.copies, options.turns)
    if options.rotmd:
        kernels(options.rotmd, 10000, 1000, min(options.turns, 3))


if __name__ == "__main__":
    main()
