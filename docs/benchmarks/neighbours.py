#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpu_openmp next to others: figures of

    contexts  two contexts on two threads: the time together over the time of one after the other
              (median of rounds), and each one's share of the calls in a second
    idle      processor time that other threads of the process use from 1 ms after the last call on,
              over a second
    quota     calls in a cgroup with fewer and fewer processors (needs the right to make one)
    pools     right results with the threads of NumPy, JAX, numba and PyTorch in the same process:
              one library after the other on one thread, and each on a thread of its own

    neighbours.py [--library build/lib/libcore.so] [--rounds 9] [PART...]

Needs Python 3; pools those of the packages that there are.
"""

import argparse
import array
import faulthandler
import os
import statistics
import sys
import threading
import time

from collet_ctypes import BYTES, Collet


def values(count, code="f"):
    """Numbers in [-1, 1) that look random."""
    return array.array(code, (((i * 2654435761) % 4294967296) / 2147483648 - 1
                              for i in range(count)))


class Calls:
    """Calls of one context by the name of a row."""

    def __init__(self, options, runtime=None):
        self.collet = Collet(options.library, options.backend, runtime)

    def op(self, name, outs, ins, axes=None):
        arrays = [self.collet.array(dtype, shape) for dtype, shape in outs]
        inputs = []
        for dtype, shape in ins:
            made = self.collet.array(dtype, shape)
            code = "f" if dtype in ("f32", "c64") else "d"
            inputs.append(made.write(values(made.count * BYTES[dtype] // (4 if code == "f" else 8),
                                            code)))
        return self.collet.op(name, arrays, inputs, axes)

    def row(self, name):
        square = ("f64", (256, 256))
        return {
            "exp 4K": lambda: self.op("exp", [("f32", (4096,))], [("f32", (4096,))]),
            "exp 64K": lambda: self.op("exp", [("f32", (65536,))], [("f32", (65536,))]),
            "exp 4M": lambda: self.op("exp", [("f32", (1 << 22,))], [("f32", (1 << 22,))]),
            "sum 1M": lambda: self.op("sum", [("f32", ())], [("f32", (1 << 20,))]),
            "matmul 512": lambda: self.op("matmul", [("f32", (512, 512))],
                                          [("f32", (512, 512))] * 2),
            "fft 512x512": lambda: self.op("fft", [("c64", (512, 512))], [("c64", (512, 512))], 2),
            "lu 256": lambda: self.op("lu", [("i32", (256,)), square, square, ("i32", ())],
                                      [square]),
            "svd 256": lambda: self.op("svd", [square, ("f64", (256,)), square, ("i32", ())],
                                       [square]),
        }[name]()


# ---- Two contexts --------------------------------------------------------------------------------

def together(bodies):
    """Runs each on a thread of its own."""
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def repeat(call, times):
    for _ in range(times):
        call()


def seconds_of(body):
    begin = time.perf_counter()
    body()
    return time.perf_counter() - begin


def shares(pair, seconds):
    """How often each calls in so many seconds."""
    counts = [0, 0]
    end = time.perf_counter() + seconds

    def body(k):
        while time.perf_counter() < end:
            pair[k]()
            counts[k] += 1
    together([lambda: body(0), lambda: body(1)])
    return counts


def contexts(options):
    """Prints a line for each pair of rows."""
    first = Calls(options)
    second = Calls(options, first.collet.runtime)
    pairs = [("exp 64K", "exp 64K"), ("exp 4M", "exp 4M"), ("sum 1M", "sum 1M"),
             ("matmul 512", "matmul 512"), ("fft 512x512", "fft 512x512"), ("lu 256", "lu 256"),
             ("svd 256", "svd 256"), ("exp 64K", "matmul 512"), ("exp 4M", "svd 256")]
    print(f"{'two contexts':28}{'together':>9}{'shares':>10}")
    for names in pairs:
        pair = [first.row(names[0]), second.row(names[1])]
        alone = []
        for call in pair:
            repeat(call, 3)
            alone.append(seconds_of(lambda: repeat(call, 5)) / 5)
        times = [max(3, int(0.1 / t)) for t in alone]
        bodies = [lambda k=k: repeat(pair[k], times[k]) for k in (0, 1)]
        ratios = []
        for _ in range(options.rounds):
            apart = seconds_of(lambda: [body() for body in bodies])
            ratios.append(seconds_of(lambda: together(bodies)) / apart)
        work = [n * t for n, t in zip(shares(pair, 1.0), alone)]
        part = [100 * w / sum(work) for w in work]
        print(f"{names[0] + ', ' + names[1]:28}{statistics.median(ratios):9.2f}"
              f"{part[0]:6.0f} :{part[1]:3.0f}", flush=True)


# ---- Idle ----------------------------------------------------------------------------------------

def idle(options):
    """Prints a line for each kind of calls before."""
    calls = Calls(options)
    print(f"{'processor time after calls':28}{'median':>12}{'largest':>12}   over a second")
    for name in ("exp 4K", "exp 64K", "exp 4M", "sum 1M", "matmul 512", "fft 512x512", "lu 256",
                 "svd 256"):
        call, used = calls.row(name), []
        for _ in range(options.rounds):
            end = time.perf_counter() + 0.1
            while time.perf_counter() < end:
                call()
            time.sleep(1e-3)
            begin = time.process_time() - time.thread_time()
            time.sleep(1)
            spent = time.process_time() - time.thread_time() - begin
            used.append(max(0.0, 1e6 * spent))
        print(f"{name:28}{statistics.median(used):9.0f} us{max(used):9.0f} us", flush=True)


# ---- Quota ---------------------------------------------------------------------------------------

class Group:
    """A cgroup of its own, of version 1 or 2."""

    def __init__(self):
        for self.version, root in ((1, "/sys/fs/cgroup/cpu"), (2, "/sys/fs/cgroup")):
            self.path = f"{root}/collet-neighbours-{os.getpid()}"
            try:
                os.mkdir(self.path)
            except OSError:
                continue
            try:
                self.limit(None)
                return
            except OSError:
                os.rmdir(self.path)
        raise OSError("no cgroup with a quota of processors can be made")

    def write(self, name, text):
        with open(f"{self.path}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def limit(self, processors):
        """In periods of 100 ms; None: no quota."""
        quota = None if processors is None else int(1e5 * processors)
        if self.version == 1:
            self.write("cpu.cfs_quota_us", str(-1 if quota is None else quota))
        else:
            self.write("cpu.max", f"{'max' if quota is None else quota} 100000")

    def throttled(self):
        """Periods in which it was stopped."""
        with open(f"{self.path}/cpu.stat", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("nr_throttled"))


def quotas(options, group):
    """In the group."""
    calls = Calls(options)
    print(f"{'quota':20}{'processors':>10}{'median':>10}{'mean':>10}{'p99':>10}{'largest':>10}"
          f"{'stopped':>9}   ms, periods")
    for name in ("exp 64K", "exp 4M", "matmul 512", "svd 256"):
        call = calls.row(name)
        for processors in (None, 1.5, 1, 0.5, None):
            group.limit(processors)
            end = time.perf_counter() + 1.5  # until the change is noticed
            while time.perf_counter() < end:
                call()
            stopped, samples, end = group.throttled(), [], time.perf_counter() + 2
            while time.perf_counter() < end:
                samples.append(1e3 * seconds_of(call))
            samples.sort()
            print(f"{name:20}{processors or 'all':>10}{statistics.median(samples):10.3f}"
                  f"{statistics.fmean(samples):10.3f}{samples[len(samples) * 99 // 100]:10.3f}"
                  f"{samples[-1]:10.3f}{group.throttled() - stopped:9}", flush=True)


def quota(options):
    """Prints a line for each row and quota, measured by a child process in the group."""
    try:
        group = Group()
    except OSError as error:
        print(f"quota: not measured: {error}")
        return
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        group.write("cgroup.procs", "0")
        quotas(options, group)
        sys.stdout.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    os.rmdir(group.path)
    if status:
        sys.exit(f"neighbours.py: quota: the child process failed ({status})")


# ---- Pools of other libraries --------------------------------------------------------------------

def product_numpy(n):
    import numpy
    a = numpy.arange(n * n, dtype="f4").reshape(n, n) % 7
    return lambda: float((a @ a).sum(dtype="f8"))


def product_jax(n):
    import jax
    import jax.numpy as jnp
    a = (jnp.arange(n * n) % 7).astype("float32").reshape(n, n)
    product = jax.jit(jnp.matmul)
    import numpy
    return lambda: float(numpy.asarray(product(a, a)).sum(dtype="f8"))


def product_torch(n):
    import torch
    torch.set_num_threads(os.cpu_count())
    a = (torch.arange(n * n) % 7).to(torch.float32).reshape(n, n)
    return lambda: (float((a @ a).sum(dtype=torch.float64)),
                    float(torch.exp(a).sum(dtype=torch.float64)))


def product_numba(n):
    import numba_kernels
    import numpy
    a = numpy.arange(n * n, dtype="f4").reshape(n, n) % 7
    x, y = numpy.ones(n, "f4"), numpy.empty(n, "f4")

    def call():
        numba_kernels.matvec(a, x, y)
        numba_kernels.matvec(a, y, x)
        total = float(x.sum(dtype="f8"))
        x.fill(1)
        return total
    return call


def product_collet(options, n):
    calls = Calls(options)
    a = calls.collet.array("f32", (n, n), array.array("f", (i % 7 for i in range(n * n))))
    c, total = calls.collet.array("f32", (n, n)), calls.collet.array("f64", ())
    add = calls.collet.op("sum", [total], [c])
    steps = [calls.collet.op("matmul", [c], [a, a]), calls.collet.op("exp", [c], [a])]
    decompose = calls.row("svd 256")

    def sum_after(step):
        step()
        add()
        return array.array("d", total.read())[0]

    def call():
        decompose()
        return tuple(sum_after(step) for step in steps)
    return call


def pools(options):
    """Prints the calls of each library alone, of all in turn, of all at the same time."""
    size, made = 512, {"collet": product_collet(options, 512)}
    for name, make in (("numpy", product_numpy), ("jax", product_jax), ("numba", product_numba),
                       ("torch", product_torch)):
        try:
            made[name] = make(size)
        except ImportError as missing:
            print(f"pools: without {name}: {missing}")
    expected = {name: call() for name, call in made.items()}
    counts = dict.fromkeys(made, 0)
    wrong = []
    faulthandler.dump_traceback_later(120, exit=True)

    def body(names, end):
        while time.perf_counter() < end:
            for name in names:
                if made[name]() != expected[name]:
                    wrong.append(name)
                counts[name] += 1

    def run(seconds, threads):
        counts.update(dict.fromkeys(made, 0))
        end = time.perf_counter() + seconds
        together([lambda names=names: body(names, end) for names in threads])
        print("pools: " + ", ".join(f"{name} {counts[name] / seconds:.0f} calls/s"
                                    for names in threads for name in names), flush=True)

    for name in made:
        run(1, [[name]])
    run(5, [list(made)])
    run(5, [[name] for name in made])
    faulthandler.cancel_dump_traceback_later()
    same = expected["collet"][0] == expected.get("numpy", expected["collet"][0])
    print(f"pools: {len(wrong)} wrong results; NumPy's and Collet's are "
          f"{'equal' if same else 'DIFFERENT'}")
    if wrong or not same:
        sys.exit(1)


def main():
    """Runs the parts."""
    here = os.path.dirname(os.path.abspath(__file__))
    parts = {"contexts": contexts, "idle": idle, "quota": quota, "pools": pools}
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.path.join(here, "../../build/lib/libcore.so"))
    parser.add_argument("--backend", default="cpu_openmp")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    for name in options.parts or parts:
        if name not in parts:
            sys.exit(f"neighbours.py: no part {name}; there are {', '.join(parts)}")
    for name in options.parts or parts:
        if os.fork() == 0:  # each in a process of its own
            parts[name](options)
            sys.stdout.flush()
            os._exit(0)
        _, status = os.wait()
        if status:
            sys.exit(f"neighbours.py: {name} failed")


if __name__ == "__main__":
    main()
