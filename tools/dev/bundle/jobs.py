# SPDX-License-Identifier: Apache-2.0
"""jobs.py BACKEND WATER FOLDER: computes the observables of a trajectory of water and the scattering of a
core-shell sphere with BACKEND and with cpu_scalar; fails if the results differ by more than rounding."""

import os
import subprocess
import sys
import time

import collet as xp
from collet import md, scatter

CLOSE = {"observables": 1e-9, "patterns": 2e-5}


def difference(a, b):
    """The largest difference, relative to the largest magnitude in b."""
    a, b = (xp.asarray(x, dtype=xp.float64) for x in (a, b))
    if a.size == 0:
        return 0.0
    return float(xp.max(xp.abs(a - b))) / max(float(xp.max(xp.abs(b))), 1e-300)


def observables(water, _):
    names = [os.path.join(water, name) for name in ("conf.gro", "traj.trr", "masses.txt")]
    keys = ("com", "L_vector", "inertia_tensor", "rmsd")
    found = md.extract(*names[:2], masses=names[2], selection="resid 1:100", keys=",".join(keys))
    return {key: found[key] for key in keys}


def patterns(_, folder):
    film = os.path.join(folder, "film")
    if not os.path.isdir(film):
        subprocess.run(["collet-rsoxs", "make", "core-shell", "--quiet", "--size=32,128,128", "--radius=10", "--thickness=4",
                        "--angles=0,10,90", "--energies=284,284.5,285,285.5,286", "-o", film], check=True)
    sample = scatter.read(os.path.join(film, "morphology.h5"), os.path.join(film, "config.txt"))
    return {"patterns": scatter.simulate(sample).values}


def main():
    backend, water, folder = sys.argv[1:]
    bad = False
    for name, job in (("observables", observables), ("patterns", patterns)):
        results = []
        for used in ("cpu_scalar", backend):
            with xp.using(used):
                begin = time.perf_counter()
                results.append(job(water, folder))
                print(f"{name} by {used}: {time.perf_counter() - begin:.2f} s")
        for key, expected in results[0].items():
            apart = difference(results[1][key], expected)
            wrong = not apart <= CLOSE[name]
            bad = bad or wrong
            print(f"{name}, {key}: {apart:.1e} of the largest{', too much' if wrong else ''}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
