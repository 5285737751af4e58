# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Functions that count elements by value and in bins. collet.functions exports them."""

import operator

import numpy as np

from .. import _core, op
from .._array.creation import asarray
from .._array.operands import taken, zeros_as
from . import _primitives as f
from ._arrangement import ravel


def bincount(x, /, weights=None, minlength=0):
    """The number of occurrences of each integer 0, 1, ... in a vector (int64), or with weights the sum of
    their weights (float64).

    >>> collet.bincount([1, 1, 3])
    array([0, 2, 0, 1])"""
    x, = taken(x)
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise ValueError(f"bincount: the array has the dtype {x.dtype} and {x.ndim} axes; a vector of "
                         "integers is needed")
    x = f.astype(x, f.int64, copy=False)
    if minlength < 0 or x.size and int(f.min(x)) < 0:
        raise ValueError("bincount: an element or minlength is negative")
    count = max(int(f.max(x)) + 1 if x.size else 0, minlength)
    values = f.broadcast_to(f.ones_like(x[:1]), x.shape) if weights is None else \
        f.astype(taken(x, weights)[1], f.float64, copy=False)
    if values.shape != x.shape:
        raise ValueError(f"bincount: the array is {x.shape}, its weights {values.shape}")
    return op.scatter_add(zeros_as(values, (count,)), x, values).out


def digitize(x, bins, right=False):
    """The index i of the bin of each element: bins[i-1] <= x < bins[i]. With `right`: bins[i-1] < x <=
    bins[i]. The edges ascend or descend.

    >>> collet.digitize([0.5, 2.0, 9.0], [1.0, 2.0])
    array([0, 2, 2])"""
    x, bins = taken(x, bins)
    if bins.ndim != 1 or not (bool(f.all(bins[1:] >= bins[:-1])) or bool(f.all(bins[1:] <= bins[:-1]))):
        raise ValueError("digitize: bins must be a vector of edges that ascend or descend")
    side = "left" if right else "right"
    if bins.size > 1 and bool(bins[0] > bins[-1]):
        return bins.shape[0] - f.searchsorted(f.flip(bins), x, side=side)
    return f.searchsorted(bins, x, side=side)


def _edges(name, values, bins, range):
    """The edges of an axis as a NumPy array of float64."""
    if hasattr(bins, "__len__"):
        edges = np.asarray(bins, "f8")
        if edges.ndim != 1 or edges.size < 2 or (np.diff(edges) < 0).any():
            raise ValueError(f"{name}: edges must be a vector of at least two numbers that ascend")
        return edges
    low, high = range if range is not None else \
        (float(f.min(values)), float(f.max(values))) if values.size else (0.0, 1.0)
    if not (np.isfinite([low, high]).all() and low <= high) or operator.index(bins) < 1:
        raise ValueError(f"{name}: {bins} bins from {low} to {high}: at least one bin and a finite, ascending range "
                         "are needed")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return np.linspace(low, high, operator.index(bins) + 1)


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """The number of points (x, y) in each bin (float64), and the edges of both axes (NumPy arrays). bins: a
    number of bins or edges, or a pair of these; range: a pair of (low, high).

    >>> collet.histogram2d([0.0, 1, 1], [0.0, 1, 1], bins=2)[0]
    array([[1., 0.],
           [0., 2.]])"""
    axes = [ravel(f.astype(v, f.float64, copy=False)) for v in taken(x, y)]
    if axes[0].shape != axes[1].shape:
        raise ValueError(f"histogram2d: x has {axes[0].size} elements, y {axes[1].size}")
    pair = bins if hasattr(bins, "__len__") and len(bins) == 2 else (bins, bins)
    edges = [_edges("histogram2d", v, b, r) for v, b, r in zip(axes, pair, range or (None, None))]
    place, inside = 0, True
    for values, ends in zip(axes, edges):
        at = f.searchsorted(asarray(ends) if isinstance(values, _core.Array) else ends, values,
                                 side="right") - 1
        at = f.where(values == ends[-1], ends.size - 2, at)  # the last bin includes both of its edges
        inside = inside & (at >= 0) & (at < ends.size - 1)
        place = place * (ends.size - 1) + at
    weights = f.ones_like(axes[0]) if weights is None else ravel(taken(axes[0], weights)[1])
    shape = tuple(e.size - 1 for e in edges)
    counts = bincount(place[inside], weights[inside], shape[0] * shape[1]).reshape(shape)
    if density:
        counts = counts / f.sum(counts) / np.multiply.outer(*map(np.diff, edges))
    return counts, *edges
