#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the array API, written once, run by Collet's lazy Arrays, NumPy, JAX and PyTorch, and by numexpr
where it has the functions, in turn, in one run.

    arrays.py [--threads 2] [--scale 1] [--python build/python] [options of others.py] [NAME...]

JAX compiles each program (jit), PyTorch runs it as it is written. Results are compared. others.py
measures, and describes its options and its table; without --busy no other program keeps the processors busy.
--scale divides the sizes. NAME limits the rows to those that contain it.
"""

import os
import sys

import others
from others import numbers

SCALE = int(os.environ.get("ARRAYS_SCALE", "1"))
M = (1 << 20) // SCALE

ROWS = [
    ("a*b + c*exp(d) 64M f32", "fused", 64 * M),
    ("softmax of 16K rows of 1,024 f32", "softmax", 16 * M // 1024, 1024),
    ("distances of 2,000 below a cutoff f64", "distances", 2000 // SCALE),
    ("running mean of 16M f32", "running_mean", 16 * M),
    ("histogram of masked values, 16M f32", "masked_histogram", 16 * M),
    ("one step of k-means, 1M x 8 f32", "k_means", M, 8),
    ("x + y of 10 f64", "fused_small", 10),
]


def fused(xp, a, b, c, d):
    return a*b + c*xp.exp(d)


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def distances(xp, x):
    apart = x[:, None, :] - x[None, :, :]
    r = xp.sqrt(xp.sum(apart * apart, axis=-1))
    return xp.sum(xp.where((r < 0.5) & (r > 0), 1 / (r + 1), xp.zeros_like(r)))


def running_mean(xp, x):
    width = 16
    total = xp.cumulative_sum(x)
    return (total[width:] - total[:-width]) / width


def masked_histogram(xp, x):
    return xp.histogram(x[x > 0], bins=100, range=(0.0, 1.0))[0]


def k_means(xp, x, centres):
    """The nearest centre of each point, and the new centres."""
    apart = xp.sum(x * x, axis=1)[:, None] - 2 * (x @ centres.T) + xp.sum(centres * centres, axis=1)[None, :]
    nearest = xp.argmin(apart, axis=1)
    chosen = xp.astype(nearest[:, None] == xp.arange(centres.shape[0])[None, :], x.dtype)
    return (chosen.T @ x) / xp.sum(chosen, axis=0)[:, None]


def small(xp, x, y):
    return x + y


class Library:
    """Runs a program on the library's arrays. `xp` is its namespace."""

    def placed(self, array):
        return array

    def program(self, function):
        return lambda *arrays: function(self.xp, *arrays)

    def of(self, function, *arrays):
        run, given, kept = self.program(function), [self.placed(a) for a in arrays], [None]

        def call():
            kept[0] = self.done(run(*given))
        return call, lambda: self.taken(kept[0])

    def done(self, result):
        return result

    def taken(self, result):
        return result

    def fused(self, n):
        return self.of(fused, *(numbers(n, seed=s) for s in range(4)))

    def softmax(self, rows, columns):
        return self.of(softmax, numbers((rows, columns)))

    def distances(self, n):
        return self.of(distances, numbers((n, 3), "f64"))

    def running_mean(self, n):
        return self.of(running_mean, numbers(n))

    def masked_histogram(self, n):
        return self.of(masked_histogram, numbers(n))

    def k_means(self, n, width):
        points = numbers((n, width))
        return self.of(k_means, points, points[:16].copy())

    def fused_small(self, n):
        return self.of(small, numbers(n, "f64"), numbers(n, "f64", 2))


class OfCollet(Library):
    def __init__(self, _options):
        sys.path.insert(0, os.environ["ARRAYS_PYTHON"])
        import collet
        self.xp = collet

    def placed(self, array):
        return self.xp.asarray(array)

    def done(self, result):
        assert result.device  # waits for the values
        return result

    def taken(self, result):
        return result.to_numpy()


class NumPy(Library):
    def __init__(self, _options):
        import numpy
        self.xp = numpy


class Jax(Library):
    def __init__(self, _options):
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.xp = jax, jax.numpy

    def placed(self, array):
        return self.jax.device_put(array)

    def program(self, function):
        return self.jax.jit(lambda *arrays: function(self.xp, *arrays))

    def done(self, result):
        return self.jax.block_until_ready(result)

    def masked_histogram(self, n):
        """jit has no arrays whose length is a value."""
        x = self.placed(numbers(n))
        kept = [None]

        def call():
            kept[0] = self.done(masked_histogram(self.xp, x))
        return call, lambda: kept[0]


class Torch(Library):
    def __init__(self, _options):
        import torch
        from array_api_compat import torch as namespace
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        self.torch, self.xp = torch, namespace

    def placed(self, array):
        return self.torch.from_numpy(array)

    def masked_histogram(self, n):
        x = self.placed(numbers(n))
        return self.of(lambda _, values: self.torch.histc(values[values > 0], 100, 0.0, 1.0), x.numpy())


class NumExpr(Library):
    def __init__(self, _options):
        import numexpr
        numexpr.set_num_threads(len(os.sched_getaffinity(0)))
        self.numexpr = numexpr

    def text(self, text, names, arrays):
        inputs, kept = dict(zip(names, arrays)), [None]

        def call():
            kept[0] = self.numexpr.evaluate(text, inputs)
        return call, lambda: kept[0]

    def fused(self, n):
        return self.text("a*b + c*exp(d)", "abcd", [numbers(n, seed=s) for s in range(4)])

    def fused_small(self, n):
        return self.text("a + b", "ab", [numbers(n, "f64"), numbers(n, "f64", 2)])

    offered = {"fused", "fused_small"}


if __name__ == "__main__":
    others.main_of(__doc__, ROWS, {"collet": OfCollet, "numpy": NumPy, "numexpr": NumExpr, "jax": Jax, "torch": Torch},
                   "ARRAYS")
