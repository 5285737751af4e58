#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Collet with NumPy, SciPy, numba, JAX and DUCC, each with its default settings. They take turns in one run:
on an idle machine, and while 1 and 2 other processes are busy.

    others.py [--library build/lib/libcollet-core.so] [--seconds 1] [--busy 0,1,2] [--with LIBRARIES] [NAME...]

Each library has a process of its own. For each row the libraries first compute the same values, and the script compares
the sums of their magnitudes. Then the libraries take turns. A pause before each turn lets threads fall asleep. The
table has, for each library and number of busy processes, the median, the mean and the 99th percentile of the time of a
call; with busy processes also the mean as a multiple of the fair time (see backend-bench --busy). `<` marks a library
whose mean is better than Collet's by more than 10 %. A missing library is left out; a line of the output names it. With
NAME, only rows whose names contain NAME are measured.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 3
PAUSE = 0.06  # OpenBLAS's threads spin for 25 ms
BETTER = 1.1

# Each row calls a method of the libraries' classes with these arguments.
ROWS = [
    ("exp 1M", "exp", 1 << 20),
    ("exp 16M", "exp", 1 << 24),
    ("add 64K", "add", 1 << 16),
    ("add 1M", "add", 1 << 20),
    ("sum 1M", "sum", 1 << 20),
    ("sum 2048x2048 axis 0", "sum_rows", 2048),
    ("argmax 4M", "argmax", 1 << 22),
    ("transpose 2048x2048", "transpose", 2048),
    ("matmul 256 f32", "matmul", 256, "f32"),
    ("matmul 512 f32", "matmul", 512, "f32"),
    ("matmul 1024 f32", "matmul", 1024, "f32"),
    ("matmul 256 f64", "matmul", 256, "f64"),
    ("matmul 1024 f64", "matmul", 1024, "f64"),
    ("matvec 512 f32", "matvec", 512),
    ("matvec 2048 f32", "matvec", 2048),
    ("lu 256 f64", "lu", 256),
    ("lu 1000 f64", "lu", 1000),
    ("solve 512x1 f64", "solve", 512),
    ("qr 512 f64", "qr", 512),
    ("cholesky 1000 f64", "cholesky", 1000),
    ("svd 256 f64", "svd", 256),
    ("eigh 256 f64", "eigh", 256),
    ("fft 1M c64", "fft", (1 << 20,), 1, "c64"),
    ("fft 1000 of 1024 c64", "fft", (1000, 1024), 1, "c64"),
    ("fft 1000003 c128", "fft", (1000003,), 1, "c128"),
    ("fft 512x512 c128", "fft", (512, 512), 2, "c128"),
    ("fft 2048x2048 c64", "fft", (2048, 2048), 2, "c64"),
    ("fft 64x64x64 c64", "fft", (64, 64, 64), 3, "c64"),
    ("fft 128x128x128 c128", "fft", (128, 128, 128), 3, "c128"),
    ("normal 1M f32", "normal", 1 << 20, "f32"),
    ("normal 1M f64", "normal", 1 << 20, "f64"),
    ("com 1000x1000", "com", 1000, 1000),
    ("observables 100x1000", "observables", 100, 1000),
    ("observables 10000x1000", "observables", 10000, 1000),
]


# ---- Inputs --------------------------------------------------------------------------------------

def kind(dtype):
    """NumPy's type for this dtype."""
    import numpy
    return {"f32": numpy.float32, "f64": numpy.float64, "c64": numpy.complex64,
            "c128": numpy.complex128, "i32": numpy.int32, "i64": numpy.int64}[dtype]


def numbers(shape, dtype="f32", seed=1):
    """Numbers in [-1, 1), the same in every process."""
    import numpy
    generator = numpy.random.default_rng(seed)
    values = generator.uniform(-1, 1, shape)
    if dtype[0] == "c":
        values = values + 1j * generator.uniform(-1, 1, shape)
    return values.astype(kind(dtype))


def positive(n):
    """A symmetric, positive definite matrix."""
    a = numbers((n, n), "f64")
    return a @ a.T / n + numpy_eye(n)


def numpy_eye(n):
    """The unit matrix."""
    import numpy
    return numpy.eye(n)


def frames(count, atoms):
    """Positions, masses, velocities and forces."""
    masses = abs(numbers(atoms, "f32", 2)) + kind("f32")(1)
    return (numbers((count, atoms, 3), "f32", 1), masses, numbers((count, atoms, 3), "f32", 3),
            numbers((count, atoms, 3), "f32", 4))


# ---- Libraries -----------------------------------------------------------------------------------
# A method prepares a call; it returns the call, and a function that returns the call's result.

class NumPy:
    """Functions with `out` write into outputs that exist already."""

    def __init__(self, _options):
        import numpy
        self.np = numpy

    def into(self, function, out, *arguments):
        return lambda: function(*arguments, out=out), lambda: out

    def value(self, function, *arguments, part=None):
        kept = [None]

        def call():
            kept[0] = function(*arguments)
        return call, lambda: kept[0] if part is None else kept[0][part]

    def exp(self, n):
        a = numbers(n)
        return self.into(self.np.exp, self.np.empty_like(a), a)

    def add(self, n):
        a = numbers(n)
        return self.into(self.np.add, self.np.empty_like(a), a, numbers(n, seed=2))

    def sum(self, n):
        return self.value(self.np.sum, numbers(n) + kind("f32")(1))

    def sum_rows(self, n):
        a, out = numbers((n, n)), self.np.empty(n, kind("f32"))
        return lambda: self.np.sum(a, axis=0, out=out), lambda: out

    def argmax(self, n):
        return self.value(self.np.argmax, numbers(n))

    def transpose(self, n):
        a = numbers((n, n))
        out = self.np.empty_like(a)
        return lambda: self.np.copyto(out, a.T), lambda: out[0]

    def matmul(self, n, dtype):
        a = numbers((n, n), dtype)
        return self.into(self.np.matmul, self.np.empty_like(a), a, numbers((n, n), dtype, 2))

    def matvec(self, n):
        return self.into(self.np.dot, self.np.empty(n, kind("f32")), numbers((n, n)), numbers(n))

    def solve(self, n):
        return self.value(self.np.linalg.solve, positive(n), numbers((n, 1), "f64"))

    def qr(self, n):
        return self.value(self.np.linalg.qr, numbers((n, n), "f64"), part=1)

    def cholesky(self, n):
        return self.value(self.np.linalg.cholesky, positive(n))

    def svd(self, n):
        a = numbers((n, n), "f64")
        return self.value(lambda: self.np.linalg.svd(a, full_matrices=False), part=1)

    def eigh(self, n):
        return self.value(self.np.linalg.eigh, positive(n), part=0)

    def fft(self, shape, axes, dtype):
        a = numbers(shape, dtype)
        out = self.np.empty_like(a)
        last = tuple(range(-axes, 0))
        return lambda: self.np.fft.fftn(a, axes=last, out=out), lambda: out

    def normal(self, n, dtype):
        generator = self.np.random.default_rng(1)
        out = self.np.empty(n, kind(dtype))
        return lambda: generator.standard_normal(dtype=kind(dtype), out=out), lambda: out


class SciPy(NumPy):
    """The functions that NumPy lacks, or that SciPy has in another form."""

    offered = {"lu", "solve", "qr", "cholesky", "svd", "eigh", "fft"}

    def __init__(self, options):
        super().__init__(options)
        import scipy.fft
        import scipy.linalg
        self.linalg, self.transforms = scipy.linalg, scipy.fft

    def lu(self, n):
        a = numbers((n, n), "f64")
        return self.value(lambda: self.linalg.lu(a, p_indices=True, check_finite=False), part=2)

    def solve(self, n):
        a, b = positive(n), numbers((n, 1), "f64")
        return self.value(lambda: self.linalg.solve(a, b, check_finite=False, assume_a="gen"))

    def qr(self, n):
        a = numbers((n, n), "f64")
        return self.value(lambda: self.linalg.qr(a, mode="economic", check_finite=False), part=1)

    def cholesky(self, n):
        a = positive(n)
        return self.value(lambda: self.linalg.cholesky(a, lower=True, check_finite=False))

    def svd(self, n):
        a = numbers((n, n), "f64")
        return self.value(lambda: self.linalg.svd(a, full_matrices=False, check_finite=False),
                          part=1)

    def eigh(self, n):
        a = positive(n)
        return self.value(lambda: self.linalg.eigh(a, driver="evd", check_finite=False), part=0)

    def fft(self, shape, axes, dtype):
        a, last = numbers(shape, dtype), tuple(range(-axes, 0))
        return self.value(lambda: self.transforms.fftn(a, axes=last, workers=-1))


class Ducc:
    """DUCC's fft, on all processors."""

    def __init__(self, _options):
        import ducc0
        self.transforms = ducc0.fft

    def fft(self, shape, axes, dtype):
        a = numbers(shape, dtype)
        out, last = a.copy(), tuple(range(-axes, 0))
        return lambda: self.transforms.c2c(a, axes=last, out=out, nthreads=0), lambda: out


class Jax(NumPy):
    """Compiled functions. Each call waits for its result."""

    offered = {"exp", "add", "sum", "sum_rows", "argmax", "transpose", "matmul", "matvec", "lu",
               "solve", "qr", "cholesky", "svd", "eigh", "fft", "normal"}

    def __init__(self, options):
        super().__init__(options)
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jax.numpy

    def compiled(self, function, *arguments, part=None):
        run, given = self.jax.jit(function), [self.jax.device_put(a) for a in arguments]
        return self.value(lambda: self.jax.block_until_ready(run(*given)), part=part)

    def exp(self, n):
        return self.compiled(self.jnp.exp, numbers(n))

    def add(self, n):
        return self.compiled(self.jnp.add, numbers(n), numbers(n, seed=2))

    def sum(self, n):
        return self.compiled(self.jnp.sum, numbers(n) + kind("f32")(1))

    def sum_rows(self, n):
        return self.compiled(lambda a: self.jnp.sum(a, axis=0), numbers((n, n)))

    def argmax(self, n):
        return self.compiled(self.jnp.argmax, numbers(n))

    def transpose(self, n):
        return self.compiled(self.jnp.transpose, numbers((n, n)), part=0)

    def matmul(self, n, dtype):
        return self.compiled(self.jnp.matmul, numbers((n, n), dtype), numbers((n, n), dtype, 2))

    def matvec(self, n):
        return self.compiled(self.jnp.matmul, numbers((n, n)), numbers(n))

    def lu(self, n):
        def factors(a):
            packed, _, order = self.jax.lax.linalg.lu(a)
            return order, self.jnp.tril(packed, -1) + self.jnp.eye(n), self.jnp.triu(packed)
        return self.compiled(factors, numbers((n, n), "f64"), part=2)

    def solve(self, n):
        return self.compiled(self.jnp.linalg.solve, positive(n), numbers((n, 1), "f64"))

    def qr(self, n):
        return self.compiled(self.jnp.linalg.qr, numbers((n, n), "f64"), part=1)

    def cholesky(self, n):
        return self.compiled(self.jnp.linalg.cholesky, positive(n))

    def svd(self, n):
        return self.compiled(lambda a: self.jnp.linalg.svd(a, full_matrices=False),
                             numbers((n, n), "f64"), part=1)

    def eigh(self, n):
        return self.compiled(self.jnp.linalg.eigh, positive(n), part=0)

    def fft(self, shape, axes, dtype):
        last = tuple(range(-axes, 0))
        return self.compiled(lambda a: self.jnp.fft.fftn(a, axes=last), numbers(shape, dtype))

    def normal(self, n, dtype):
        random = self.jax.random
        return self.compiled(lambda key: random.normal(key, (n,), kind(dtype)), random.key(1))


class Numba:
    """The loop that a user would write, compiled with parallel=True; see numba_kernels.py."""

    def __init__(self, _options):
        import numba_kernels
        self.kernels = numba_kernels

    def loop(self, name, out, *arguments):
        function = getattr(self.kernels, name)
        return lambda: function(*arguments, *out), lambda: out[0]

    def value(self, name, *arguments):
        function, kept = getattr(self.kernels, name), [None]

        def call():
            kept[0] = function(*arguments)
        return call, lambda: kept[0]

    def exp(self, n):
        a = numbers(n)
        return self.loop("exp", [a.copy()], a)

    def add(self, n):
        a = numbers(n)
        return self.loop("add", [a.copy()], a, numbers(n, seed=2))

    def sum(self, n):
        return self.value("sum_all", numbers(n) + kind("f32")(1))

    def transpose(self, n):
        a = numbers((n, n))
        call, result = self.loop("transpose", [a.copy()], a)
        return call, lambda: result()[0]

    def matvec(self, n):
        return self.loop("matvec", [numbers(n)], numbers((n, n)), numbers(n))

    def normal(self, n, dtype):
        return self.loop("normal", [numbers(n, dtype)])

    def com(self, count, atoms):
        positions, masses, _, _ = frames(count, atoms)
        return self.loop("com", [numbers((count, 3), "f64")], positions, masses)

    def observables(self, count, atoms):
        out = [numbers(shape, "f64") for shape in
               ((count, 3), (count, 3, 3), (count, 3), (count, 3), (count, 3))]
        call, _ = self.loop("observables", out, *frames(count, atoms))
        import numpy
        return call, lambda: numpy.concatenate([a.reshape(-1) for a in out])


class OfCollet:
    """Collet, called by its C interface."""

    def __init__(self, options):
        from collet_ctypes import Collet
        self.collet = Collet(options.library, options.backend)

    def array(self, values):
        names = {kind(name): name for name in ("f32", "f64", "c64", "c128", "i32", "i64")}
        return self.collet.array(names[values.dtype.type], values.shape, values)

    def call(self, name, outs, ins, axes=None, part=0):
        import numpy
        inputs = [self.array(a) for a in ins]
        outputs = [self.collet.array(dtype, shape) for dtype, shape in outs]

        def result():
            if part is None:
                return numpy.concatenate([numpy.frombuffer(a.read(), kind(a.dtype))
                                          for a in outputs])
            a = outputs[part]
            return numpy.frombuffer(a.read(), kind(a.dtype)).reshape(a.shape)
        return self.collet.op(name, outputs, inputs, axes), result

    def exp(self, n):
        return self.call("exp", [("f32", (n,))], [numbers(n)])

    def add(self, n):
        return self.call("add", [("f32", (n,))], [numbers(n), numbers(n, seed=2)])

    def sum(self, n):
        return self.call("sum", [("f32", ())], [numbers(n) + kind("f32")(1)])

    def sum_rows(self, n):
        return self.call("sum", [("f32", (n,))], [numbers((n, n))], axes=1)

    def argmax(self, n):
        return self.call("argmax", [("i64", ())], [numbers(n)])

    def transpose(self, n):
        call, result = self.call("transpose", [("f32", (n, n))], [numbers((n, n))])
        return call, lambda: result()[0]

    def matmul(self, n, dtype):
        return self.call("matmul", [(dtype, (n, n))],
                         [numbers((n, n), dtype), numbers((n, n), dtype, 2)])

    def matvec(self, n):
        return self.call("matvec", [("f32", (n,))], [numbers((n, n)), numbers(n)])

    def lu(self, n):
        return self.call("lu", [("i32", (n,)), ("f64", (n, n)), ("f64", (n, n)), ("i32", ())],
                         [numbers((n, n), "f64")], part=2)

    def solve(self, n):
        return self.call("solve", [("f64", (n, 1)), ("i32", ())],
                         [positive(n), numbers((n, 1), "f64")])

    def qr(self, n):
        return self.call("qr", [("f64", (n, n)), ("f64", (n, n))], [numbers((n, n), "f64")],
                         part=1)

    def cholesky(self, n):
        return self.call("cholesky", [("f64", (n, n)), ("i32", ())], [positive(n)])

    def svd(self, n):
        return self.call("svd", [("f64", (n, n)), ("f64", (n,)), ("f64", (n, n)), ("i32", ())],
                         [numbers((n, n), "f64")], part=1)

    def eigh(self, n):
        return self.call("eigh", [("f64", (n,)), ("f64", (n, n)), ("i32", ())], [positive(n)])

    def fft(self, shape, axes, dtype):
        return self.call("fft", [(dtype, shape)], [numbers(shape, dtype)], axes=axes)

    def normal(self, n, dtype):
        return self.call("normal", [(dtype, (n,))], [])

    def com(self, count, atoms):
        return self.call("com", [("f64", (count, 3))], frames(count, atoms)[:2])

    def observables(self, count, atoms):
        outs = [("f64", shape) for shape in
                ((count, 3), (count, 3, 3), (count, 3), (count, 3), (count, 3))]
        return self.call("observables", outs, frames(count, atoms), part=None)


LIBRARIES = {"collet": OfCollet, "numpy": NumPy, "scipy": SciPy, "numba": Numba, "jax": Jax,
             "ducc": Ducc}


# ---- The process of a library --------------------------------------------------------------------

class Server:
    """Prepares a row, measures its turns, and reports the figures."""

    def __init__(self, library):
        self.library, self.call, self.samples, self.used, self.passed = library, None, [], 0.0, 0.0

    def begin(self, row):
        """Prepares the call and runs it for 0.2 s. Returns the sum of the result's magnitudes; None if the library
        lacks the call."""
        import numpy
        method = ROWS[row][1]
        if not hasattr(self.library, method) or \
                method not in getattr(self.library, "offered", {method}):
            return {"sum": None}
        try:
            self.call, result = getattr(self.library, method)(*ROWS[row][2:])
            if self.call is None:
                return {"sum": None}
            self.call()
        except Exception as failure:  # pylint: disable=broad-except
            return {"sum": None, "failure": f"{type(failure).__name__}: {failure}".splitlines()[0][:200]}
        total = float(numpy.sum(numpy.abs(numpy.asarray(result()).astype(complex))))
        self.turn(0.2)
        self.stats()
        return {"sum": total}

    def turn(self, seconds):
        """Repeats the call for this number of seconds, at least once."""
        call, clock, samples = self.call, time.perf_counter, self.samples
        used, begin = time.process_time(), clock()
        end = begin + seconds
        while True:
            before = clock()
            call()
            after = clock()
            samples.append(after - before)
            if after > end:
                break
        self.used += time.process_time() - used
        self.passed += after - begin
        return {}

    def stats(self):
        """The statistics of the turns since the last report."""
        samples = sorted(self.samples)
        result = {"median": statistics.median(samples), "mean": statistics.fmean(samples),
                  "p99": samples[min(len(samples) - 1, len(samples) * 99 // 100)],
                  "threads": self.used / self.passed}
        self.samples, self.used, self.passed = [], 0.0, 0.0
        return result


def serve(options):
    """Reads commands, one per line, and writes answers."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        server = Server(LIBRARIES[options.serve](options))
    except (ImportError, OSError) as missing:
        print(json.dumps({"missing": str(missing)}), file=answers)
        return
    print(json.dumps({}), file=answers)
    gc.disable()
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(server, name)(*arguments)), file=answers)


class Client:
    """A library's process, as the parent sees it."""

    def __init__(self, name, options):
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--serve", name, "--library",
             options.library, "--backend", options.backend],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.missing = self.answer().get("missing")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"others.py: the process of {self.name} ended")
        return json.loads(line)

    def ask(self, *command):
        """Sends a command and waits for its answer."""
        print(json.dumps(command), file=self.process.stdin, flush=True)
        return self.answer()


# ---- Measuring -----------------------------------------------------------------------------------

def busy_processes(count):
    """Processes that are busy until they are killed or this process ends."""
    text = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n" \
           "    for _ in range(1000000): pass"
    return [subprocess.Popen([sys.executable, "-c", text]) for _ in range(count)]


def measure(clients, count, seconds):
    """The statistics of each client, with `count` busy processes."""
    processes = busy_processes(count)
    time.sleep(0.3 if count else 0)
    for _ in range(ROUNDS):
        for client in clients:
            client.ask("turn", seconds / ROUNDS)
            time.sleep(PAUSE)
    for process in processes:
        process.kill()
        process.wait()
    return [client.ask("stats") for client in clients]


def begin_row(clients, row):
    """Returns the clients that can compute the row, after comparing their results."""
    answers = [client.ask("begin", row) for client in clients]
    for client, answer in zip(clients, answers):
        if "failure" in answer:
            print(f"{ROWS[row][0]}: not measured with {client.name}: {answer['failure']}")
    sums = [answer.get("sum") for answer in answers]
    if sums[0] is None:
        return []
    taking = [client for client, total in zip(clients, sums) if total is not None]
    tolerance = 1e-2 if ROWS[row][1] == "normal" else 1e-4
    for client, total in zip(clients, sums):
        if total is not None and abs(total - sums[0]) > tolerance * abs(sums[0]):
            sys.exit(f"others.py: {ROWS[row][0]}: {client.name} has {total}, Collet {sums[0]}")
    return taking


def time_text(seconds):
    """A time with three digits and its unit."""
    unit, scale = ("us", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    value = seconds * scale
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def cell(stats, ours, alone, busy):
    """The columns of the table for one library and one number of busy processes."""
    mark = "<" if stats["mean"] * BETTER < ours["mean"] else " "
    text = f"{time_text(stats['median']):>8} {time_text(stats['mean']):>8}{mark}" \
           f"{time_text(stats['p99']):>8}"
    if busy:
        share = min(1.0, len(os.sched_getaffinity(0)) / (alone["threads"] + busy))
        text += f" {stats['mean'] * share / alone['median']:5.2f}"
    return text


def print_row(name, counts, clients, results):
    """Returns a text for each case in which a library is faster than Collet by more than 10 %."""
    print(name)
    better = []
    for index, client in enumerate(clients):
        cells = []
        for busy, stats in zip(counts, results):
            cells.append(cell(stats[index], stats[0], results[0][index], busy))
            if stats[index]["mean"] * BETTER < stats[0]["mean"]:
                ratio = stats[0]["mean"] / stats[index]["mean"]
                better.append(f"{name}, {busy} busy: {client.name} {ratio:.2f} times as fast")
        print(f"  {client.name:7}" + "  |".join(cells), flush=True)
    return better


def main():
    """Prints a table, and at its end the rows in which a library is better."""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--library", default=os.path.join(here, "../../build/lib/libcollet-core.so"))
    parser.add_argument("--backend", default="cpu_openmp", help="of Collet (default: cpu_openmp)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each figure")
    parser.add_argument("--busy", default="0,1,2", help="0 first (default: 0,1,2)")
    parser.add_argument("--with", dest="others", default=",".join(list(LIBRARIES)[1:]))
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.serve:
        serve(options)
        return
    counts = [int(n) for n in options.busy.split(",")]
    if counts[0] != 0:
        sys.exit("others.py: --busy begins with 0: the fair time needs the time alone")
    clients = [Client(name, options) for name in ["collet"] + options.others.split(",")]
    for client in clients:
        if client.missing:
            print(f"{client.name}: not measured: {client.missing}")
    clients = [client for client in clients if not client.missing]
    if not clients or clients[0].name != "collet":
        sys.exit("others.py: without Collet there is nothing to compare")
    print(" " * 9 + "  |".join(
        f"{n} busy: median{'mean':>7}{'p99':>9}" + ("  fair" if n else "") for n in counts))
    better = []
    for row, (name, *_) in enumerate(ROWS):
        if options.names and not any(part in name for part in options.names):
            continue
        taking = begin_row(clients, row)
        if not taking:
            continue
        results = [measure(taking, count, options.seconds) for count in counts]
        better += print_row(name, counts, taking, results)
    print(f"\nBetter than Collet by more than 10 % (mean): {len(better)}")
    for line in sorted(better):
        print(f"  {line}")


if __name__ == "__main__":
    main()
