# SPDX-License-Identifier: Apache-2.0
"""The programs of programs.py as loops, compiled by numba."""
# pylint: disable=not-an-iterable

import math

from numba import njit, prange
import numpy as np


@njit(parallel=True)
def softmax(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        m, total = x[i, 0], x.dtype.type(0)
        for j in range(x.shape[1]):
            m = max(m, x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - m)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@njit(parallel=True)
def logsumexp(x):
    out = np.empty((x.shape[0], 1), x.dtype)
    for i in prange(x.shape[0]):
        m, total = x[i, 0], x.dtype.type(0)
        for j in range(x.shape[1]):
            m = max(m, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - m)
        out[i, 0] = m + math.log(total)
    return out


@njit
def moments(x, i):
    """The mean and the variance of row i."""
    total = x.dtype.type(0)
    squares = x.dtype.type(0)
    for j in range(x.shape[1]):
        total += x[i, j]
    mean = total / x.dtype.type(x.shape[1])
    for j in range(x.shape[1]):
        squares += (x[i, j] - mean) ** 2
    return mean, squares / x.dtype.type(x.shape[1])


@njit(parallel=True)
def layer_norm(x, weight, bias):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        mean, variance = moments(x, i)
        scale = 1 / math.sqrt(variance + x.dtype.type(1e-5))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]
    return out


@njit(parallel=True)
def variance(x):
    out = np.empty((x.shape[0], 1), x.dtype)
    for i in prange(x.shape[0]):
        out[i, 0] = moments(x, i)[1]
    return out


@njit(parallel=True)
def unit_rows(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        total = math.sqrt(total)
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / total
    return out


@njit(parallel=True)
def cosine(x, y):
    out = np.empty((x.shape[0], 1), x.dtype)
    for i in prange(x.shape[0]):
        xy, xx, yy = x.dtype.type(0), x.dtype.type(0), x.dtype.type(0)
        for j in range(x.shape[1]):
            xy += x[i, j] * y[i, j]
            xx += x[i, j] * x[i, j]
            yy += y[i, j] * y[i, j]
        out[i, 0] = xy / math.sqrt(xx * yy)
    return out


@njit(parallel=True)
def spread(x):
    out = np.empty((x.shape[0], 1), x.dtype)
    for i in prange(x.shape[0]):
        low, high, total = x[i, 0], x[i, 0], x.dtype.type(0)
        for j in range(x.shape[1]):
            low, high = min(low, x[i, j]), max(high, x[i, j])
            total += x[i, j]
        out[i, 0] = (high - low) / (total / x.dtype.type(x.shape[1]))
    return out


@njit(parallel=True)
def distances(x, point):
    out = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += (x[i, j] - point[j]) ** 2
        out[i] = math.sqrt(total)
    return out


@njit(parallel=True)
def pairs(x, y):
    out = np.empty((x.shape[0], y.shape[0]), x.dtype)
    for i in prange(x.shape[0]):
        for k in range(y.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += (x[i, j] - y[k, j]) ** 2
            out[i, k] = math.sqrt(total)
    return out


@njit(parallel=True)
def nearest(x, centres):
    out = np.empty(x.shape[0], np.int64)
    for i in prange(x.shape[0]):
        least = np.inf
        for k in range(centres.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += (x[i, j] - centres[k, j]) ** 2
            if total < least:
                least, out[i] = total, k
    return out


@njit(parallel=True)
def accelerations(x, masses):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        ax = ay = az = 0.0
        for k in range(x.shape[0]):
            dx, dy, dz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = masses[k] / (r2 * math.sqrt(r2))
            ax, ay, az = ax + dx * f, ay + dy * f, az + dz * f
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
    return out


def elementwise(formula):
    """The loop over three inputs of a formula that programs.py has for all libraries."""
    formula = njit(formula)

    @njit(parallel=True)
    def loop(a, b, c):
        out = np.empty_like(a)
        for i in prange(a.size):
            out[i] = formula(np, a[i], b[i], c[i])
        return out
    return loop
