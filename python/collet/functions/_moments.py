# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Weighted averages, medians, percentiles, ranges, covariances and correlations. collet.functions exports them."""

import numpy as np

from .. import _core
from .. import _hook as hook
from .._array.operands import taken
from . import _primitives as f
from ._rounding import once_rounded
from ._statistics import MIDDLE


@once_rounded("x", "weights")
def average(x, /, *, axis=None, weights=None, returned=False, keepdims=False):
    """The weighted mean over axes, by default all. The weights have the shape of x, or are a vector along the
    axis. With `returned`: also returns the sum of the weights. Raises ZeroDivisionError if the weights add up to
    0.

    >>> float(collet.average([1.0, 4.0], weights=[2, 1]))
    2.0"""
    x, weights = (*taken(x), None) if weights is None else taken(x, weights)
    if weights is None:
        found = f.mean(x, axis=axis, keepdims=keepdims)
        return (found, f.full_like(found, x.size / max(found.size, 1))) if returned else found
    if weights.shape != x.shape:
        if weights.ndim != 1 or not hasattr(axis, "__index__") or weights.shape[0] != x.shape[axis]:
            raise ValueError(f"average: the weights have the shape {weights.shape}, the array {x.shape}")
        weights = weights.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
        weights = f.broadcast_to(weights, x.shape)
    products = x * weights * 1.0
    total = f.sum(f.astype(weights, products.dtype, copy=False), axis=axis, keepdims=keepdims)
    known = hook.known(total)  # not known under jit: no error, the average is then infinite or NaN
    if not hook.traced(known) and not bool(f.all(known != 0)):
        raise ZeroDivisionError("average: the weights add up to zero, so there is no average")
    found = f.sum(products, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def ptp(x, /, *, axis=None, keepdims=False):
    """The greatest minus the smallest element over axes, by default all.

    >>> int(collet.ptp([3, 9, 5]))
    6"""
    x, = taken(x)
    return f.max(x, axis=axis, keepdims=keepdims) - f.min(x, axis=axis, keepdims=keepdims)


@once_rounded("x", "y", products=True)
def cov(x, y=None, rowvar=True, bias=False, ddof=None):
    """The covariances of variables. A variable is a row of x or y, without rowvar a column. The divisor is
    the number of observations minus ddof, at least 0. ddof is 1 by default, and 0 with bias.

    >>> collet.cov([[0.0, 1, 2], [2, 1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])"""
    parts = []
    for part in taken(x) if y is None else taken(x, y):
        if part.ndim > 2:
            raise _core.ShapeError(f"cov: the array has {part.ndim} axes; it can have 1 or 2")
        part = part * 1.0
        part = part.reshape((1, -1)) if part.ndim < 2 else part
        parts.append(part if rowvar or part.shape[0] == 1 else f.matrix_transpose(part))
    rows = f.concat(parts, axis=0)
    rows = rows - f.mean(rows, axis=1, keepdims=True)
    divisor = max(rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1), 0.0)
    found = f.matmul(rows, f.conj(f.matrix_transpose(rows))) / divisor
    return found.reshape(()) if found.shape == (1, 1) else found


@once_rounded("x", "y", products=True)
def corrcoef(x, y=None, rowvar=True):
    """The correlations of variables: the covariances divided by the standard deviations.

    >>> collet.corrcoef([0.0, 1, 2], [4.0, 2, 0])
    array([[ 1., -1.],
           [-1.,  1.]])"""
    found = cov(x, y, rowvar)
    if not found.ndim:
        return found / found
    spread = f.sqrt(f.real(f.diagonal(found)))
    found = found / spread[:, None] / spread[None, :]
    parts = (found,) if found.dtype.kind != "c" else (f.real(found), f.imag(found))
    parts = [f.clip(part, -1, 1) for part in parts]  # rounding errors may exceed 1
    return f.complex(*parts) if len(parts) > 1 else parts[0]


def percentile(x, /, q, *, axis=None, method="linear", keepdims=False):
    """quantile for q / 100.

    >>> float(collet.percentile([1, 2, 4, 8], 50))
    3.0"""
    shares = q / 100 if isinstance(q, (int, float)) or hook.traced(q) else np.asarray(q) / 100
    return f.quantile(x, shares, axis=axis, method=method, keepdims=keepdims)


def median(x, /, *, axis=None, keepdims=False):
    """The quantile 0.5. For an even number of elements: the mean of the middle two.

    >>> float(collet.median([1, 9, 4]))
    4.0"""
    return f.quantile(x, 0.5, axis=axis, method=MIDDLE, keepdims=keepdims)
