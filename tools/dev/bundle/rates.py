# SPDX-License-Identifier: Apache-2.0
"""rates.py BACKEND: measures programs of the array API with Collet on BACKEND and, if they are installed, with CuPy
and PyTorch (cuda) or NumPy and PyTorch (a processor), in turn. Prints milliseconds: the minimum of a few runs."""

import importlib
import sys
import time

import collet

SECONDS = 0.25  # the time for each program and library
M = 1 << 20


def softmax(xp, x):
    largest = xp.amax if xp.__name__ == "torch" else xp.max  # torch.max gives indices too
    e = xp.exp(x - largest(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


# Each program has a title and a function of (namespace, uniform); uniform(shape) gives f32 numbers below 1.
PROGRAMS = [
    ("a*b + c*exp(d), 16M f32", lambda xp, u: (lambda a, b, c, d: a*b + c*xp.exp(d), [u(16*M) for _ in range(4)])),
    ("softmax, 16K x 1,024", lambda xp, u: (lambda x: softmax(xp, x), [u((16*1024, 1024))])),
    ("sum, 64M", lambda xp, u: (xp.sum, [u(64*M)])),
    ("var, 64M", lambda xp, u: (xp.var, [u(64*M)])),
    ("prod, 8K x 8K, axis 1", lambda xp, u: (lambda x: xp.prod(x, axis=1), [u((8192, 8192))])),
    ("sort, 4M", lambda xp, u: (xp.sort, [u(4*M)])),
    ("argsort, 4M", lambda xp, u: (xp.argsort, [u(4*M)])),
    ("sort, 16K x 256", lambda xp, u: (lambda x: xp.sort(x, axis=-1), [u((16*1024, 256))])),
    ("cumulative sum, 16M", lambda xp, u: (xp.cumulative_sum if hasattr(xp, "cumulative_sum")
                                           else lambda x: xp.cumsum(x, axis=0), [u(16*M)])),
    ("x[i], 4M of 16M", lambda xp, u: (lambda x, i: x[i], [u(16*M), integers(xp, u, 4*M, 16*M)])),
    ("x[x > 0.5], 16M", lambda xp, u: (lambda x: x[x > 0.5], [u(16*M)])),
    ("searchsorted, 4M in 1M", lambda xp, u: (xp.searchsorted, [xp.sort(u(M)) if xp.__name__ != "torch"
                                                                else xp.sort(u(M))[0], u(4*M)])),
    ("matmul, 4,096 f32", lambda xp, u: (xp.matmul, [u((4096, 4096)), u((4096, 4096))])),
    ("matmul, 4,096 x 64 x 64 of 64 x 64", lambda xp, u: (xp.matmul, [u((4096, 64, 64)), u((4096, 64, 64))])),
    ("solve, 1,024", lambda xp, u: (xp.linalg.solve, [u((1024, 1024)), u((1024, 16))])),
    ("fft, 16 x 1M", lambda xp, u: (xp.fft.fft, [u((16, M)) + 0j])),
    ("transpose, 8K x 8K", lambda xp, u: (lambda x: x.T + 0, [u((8192, 8192))])),
    ("x + y of 10", lambda xp, u: (lambda x, y: x + y, [u(10), u(10)])),
]


def integers(xp, uniform, count, below):
    wide = uniform(count) * below
    return wide.long() if xp.__name__ == "torch" else wide.astype(xp.int64)


class Collet:
    def __init__(self, backend):
        self.xp, self.backend = collet, backend
        self.generator = collet.random.default_rng(1)

    def uniform(self, shape):
        return self.generator.random(out=collet.empty(shape, dtype=collet.float32))

    def finish(self, result):
        """Waiting Arrays are computed."""
        collet._core.flush()
        collet.finish()


class Torch:
    def __init__(self, backend):
        self.xp = importlib.import_module("torch")
        self.device = "cuda" if backend == "cuda" else "cpu"
        if self.device == "cuda" and not self.xp.cuda.is_available():
            raise ImportError("no GPU")
        self.xp.set_default_device(self.device)

    def uniform(self, shape):
        return self.xp.rand(shape)

    def finish(self, result):
        if self.device == "cuda":
            self.xp.cuda.synchronize()


class NumPy:
    name, on_gpu = "numpy", False

    def __init__(self, backend):
        if (backend == "cuda") != self.on_gpu:
            raise ImportError(f"{self.name} has no arrays there")
        self.xp = importlib.import_module(self.name)
        self.generator = self.xp.random.default_rng(1)

    def uniform(self, shape):
        return self.generator.random(shape, dtype="float32")

    def finish(self, result):
        pass


class CuPy(NumPy):
    name, on_gpu = "cupy", True

    def finish(self, result):
        self.xp.cuda.runtime.deviceSynchronize()


def milliseconds(library, program):
    function, arguments = program(library.xp, library.uniform)
    library.finish(function(*arguments))
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        begin = time.perf_counter()
        library.finish(function(*arguments))
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def main():
    backend = sys.argv[1]
    wanted = sys.argv[2:]
    collet.set_backend(backend)
    libraries = {}
    for name, kind in (("Collet", Collet), ("CuPy", CuPy), ("NumPy", NumPy), ("PyTorch", Torch)):
        try:
            libraries[name] = kind(backend)
        except ImportError:
            continue
    print(f"{'ms':36}", *(f"{name:>10}" for name in libraries))
    for title, program in PROGRAMS:
        if wanted and not any(word in title for word in wanted):
            continue
        cells = []
        for name, library in libraries.items():
            try:
                cells.append(f"{milliseconds(library, program):10.3f}")
            except Exception as error:
                if name == "Collet":
                    raise
                cells.append(f"{type(error).__name__[:10]:>10}")
        print(f"{title:36}", *cells, flush=True)


if __name__ == "__main__":
    main()
