# SPDX-License-Identifier: Apache-2.0
"""workers.py TOPOLOGY TRAJECTORY [FILMS]: does the same work in several ways, in turn: by the threads of one process,
by one and by two workers of Dask, and by a process pool of two workers. Prints the time of each way, and the processor
time of all processes, which matters on a machine with other work. Each figure is the smaller of two rounds, and is also
printed as a ratio to the threads' figure. Also prints the overhead of a task."""

import contextlib
import functools
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import psutil
from distributed import Client, LocalCluster

from collet import _jobs, md, scatter

ENERGIES = np.linspace(280, 290, 11)


def film(seed):
    fraction = np.random.default_rng(seed).random((64, 256, 256), np.float32)
    return scatter.Sample([scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], fraction),
                           scatter.Material([0] * 4, 1 - fraction)], ENERGIES, 5.0, angles=(0, 5, 175))


def nothing():
    pass


def scan(films, client):
    for _ in scatter.scan([(film, (i,)) for i in range(films)], client, then=lambda r: r.values.sum()):
        pass


def overhead(client):
    count = 200
    start = time.perf_counter()
    for _ in _jobs.Run(client, [_jobs.Task("nothing", nothing)] * count):
        pass
    return 1e3 * (time.perf_counter() - start) / count


def clocks():
    """The time in seconds, and the processor time of this process and of the processes that it started."""
    me = psutil.Process()
    used = [p.cpu_times() for p in (me, *me.children(recursive=True))]
    return time.perf_counter(), sum(u.user + u.system for u in used)


def dask(stack, workers):
    cluster = stack.enter_context(LocalCluster(n_workers=workers, threads_per_worker=1,
                                               dashboard_address=None, memory_limit=0))
    return stack.enter_context(Client(cluster))


def main():
    top, traj, *rest = sys.argv[1:]
    films = int(rest[0]) if rest else 20
    spawn = multiprocessing.get_context("spawn")
    work = {"scan": functools.partial(scan, films),
            "extract": lambda client: md.extract(top, traj, client=client)}
    with contextlib.ExitStack() as stack:
        clients = {"threads": None, "dask 1": dask(stack, 1), "dask 2": dask(stack, 2),
                   "pool 2": stack.enter_context(ProcessPoolExecutor(2, mp_context=spawn))}
        for name, client in clients.items():
            if client is not None:
                overhead(client)
                print(f"overhead of a task, {name}: {min(overhead(client) for _ in range(3)):.1f} ms",
                      flush=True)
        for what, function in work.items():
            best = {name: (float("inf"),) * 2 for name in clients}
            for _ in range(2):
                for name, client in clients.items():
                    start = clocks()
                    function(client)
                    best[name] = tuple(min(b, e - s) for b, s, e in zip(best[name], start, clocks()))
            for name, (wall, cpu) in best.items():
                print(f"{what}, {name}: {wall:.2f} s, {wall / best['threads'][0]:.2f}; processors "
                      f"{cpu:.2f} s, {cpu / best['threads'][1]:.2f}", flush=True)
    print("load", os.getloadavg())


if __name__ == "__main__":
    main()
