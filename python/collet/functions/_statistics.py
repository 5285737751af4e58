# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Cumulative sums, histograms and order statistics. collet.functions exports them."""

import operator

import numpy as np

from .. import _core, op
from .._array.operands import (arrays, axes_of, axis_of, converted, empty_as, narrowed, permuted, promoted,
                        same_kind)
from ._rounding import is_half
from ._search import take
from ._shapes import concat, moveaxis

# ---- Cumulative sums


_WIDE = {"b": np.dtype("i8"), "i": np.dtype("i8"), "u": np.dtype("u8")}


def _cumulative(name, x, axis, dtype, include_initial):
    x, = arrays(x)
    if axis is None and x.ndim > 1:
        raise ValueError(f"{name}: an axis is needed, since the array has {x.ndim}")
    x = x.reshape(1) if not x.ndim else x
    own = x.dtype
    dtype = _WIDE.get(own.kind, own) if dtype is None else _core.dtype(dtype)
    whole = own.kind in "biu" and dtype.kind in "iu"
    if dtype.kind == "b":
        x = converted(x, dtype)
    elif own is not dtype and _WIDE.get(own.kind) != _WIDE.get(dtype.kind, 0) and not whole:
        x = converted(x, _WIDE.get(dtype.kind, dtype))  # else the op widens integers
    own = x.dtype
    if own.kind in "fV" and own.itemsize < 4:  # 16-bit floats are summed in float32
        x = converted(x, np.dtype("f4"))
    axis = axis_of(-1 if axis is None else axis, x.ndim)
    first = int(bool(include_initial))
    out = empty_as(x, [n + first * (i == axis) for i, n in enumerate(x.shape)], _WIDE.get(own.kind))
    rows = moveaxis(out, axis, -1)
    if first and out.size:
        op.fill(value=int(name == "cumulative_prod"), out=rows[..., :1])
    behind = rows[..., first:] if first else rows
    if name == "cumulative_prod" and own.kind == "c":
        op.copy(_complex_products(moveaxis(x, axis, -1)), out=behind)
    else:
        getattr(op, name)(moveaxis(x, axis, -1), out=behind)
    return out if out.dtype == dtype else narrowed(out, dtype)


def _complex_products(x):
    """The cumulative products, from products of the last 2, 4, 8, ... elements up to each element. The op does not
    support complex numbers."""
    count = 1
    while count < x.shape[-1]:
        x = concat([x[..., :count], op.mul(x[..., count:], x[..., :-count])], axis=-1)
        count *= 2
    return x


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The cumulative sums along an axis. `axis` is optional only for a vector. Sums of integers and bool
    are int64 or uint64. include_initial: the sums begin with 0, so the axis is longer by one.

    >>> collet.cumulative_sum([1, 2, 3], include_initial=True)
    array([0, 1, 3, 6])"""
    if getattr(x, "_dtype", None) in ("float64", "float32", "int64") and x.ndim == 1 and axis in (None, -1, 0) and \
            dtype is None and not include_initial and isinstance(x, _core.Array):
        return op.cumulative_sum(x)
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The cumulative products; see cumulative_sum. include_initial: the products begin with 1.

    >>> collet.cumulative_prod([1, 2, 3])
    array([1, 2, 6])"""
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


# ---- Order statistics: numpy.quantile's methods, as positions among the sorted elements


MIDDLE = "the mean of two"  # The method of numpy.median.
_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")  # Methods that select an element.


def _places(q, n, method):
    """The fractional positions, from 0 to n - 1, of the quantiles q of n elements."""
    alpha_beta = {"interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
                  "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}
    at = (n - 1) * q
    if method in alpha_beta:
        alpha, beta = alpha_beta[method]
        at = n * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        below = np.ceil(n * q) - 1
        at = below + (0.5 if method[0] == "a" else 0) * (n * q == below + 1)
    elif method == "closest_observation":
        at = n * q - 1.5
        floor = np.floor(at)
        at = floor + ~((at == floor) & (floor % 2 == 1))
    elif method in ("lower", "higher", "nearest"):
        at = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}[method](at)
    elif method == "midpoint":
        at = 0.5 * (np.floor(at) + np.ceil(at))
    elif method not in ("linear", MIDDLE):
        raise ValueError(f"quantile: method is {method!r}; it is one of numpy.quantile")
    return np.clip(at, 0, max(n - 1, 0))


def quantile(x, /, q, *, axis=None, method="linear", keepdims=False):
    """The quantiles q, from 0 to 1, over axes, by default all. The axes of q come first. method: as in
    numpy.quantile. NaN if an element is NaN, or if there are no elements. Methods that select an element
    keep the dtype of x. Methods that interpolate compute integers and bool in float64; they compute
    float16, bfloat16 and float32 in their own dtype if q is a Python number, else in float64.

    >>> collet.quantile([1, 2, 4, 8], [0.5, 1])
    array([3., 8.])"""
    plain, q = isinstance(q, (int, float)), np.asarray(q, "f8")
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError(f"quantile: q is {q}; quantiles are from 0 to 1, percentiles from 0 to 100")
    x, = arrays(x)
    if x.dtype.kind not in "fV" and method not in _ELEMENTS:
        x = converted(x, np.dtype("f8"))
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    others = [i for i in range(x.ndim) if i not in axes]
    kept = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    x = permuted(x, [*others, *axes]).reshape([*(x.shape[i] for i in others), -1]) \
        if x.size else empty_as(x, [*(x.shape[i] for i in others), 0])
    n = x.shape[-1]
    dtype = x.dtype if plain or method in _ELEMENTS else np.result_type(x.dtype, "f8")
    if not n:
        dtype = dtype if dtype.kind in "fV" else "f8"
        return same_kind(np.full([*q.shape, *kept], np.nan, dtype), x)
    at = _places(q.reshape(-1), n, method)
    x, at = _selected(x, at) if at.size == 1 and n >= _MANY and x.dtype.kind in "fiu" else (op.sort(x), at)
    if method in _ELEMENTS:
        found = take(x, at.astype("i8"), axis=-1)
    else:  # 16-bit results are computed in float32 and rounded once
        work = _core.dtype("float32") if is_half(dtype) else dtype
        found = converted((_mean_of_two if method == MIDDLE else _interpolated)(x, at, work), dtype)
    if x.dtype.kind in "fV":  # NaN comes after all numbers
        last = converted(x[..., -1:], dtype)
        found = op.where(op.isnan(last), last, found)
    return moveaxis(found, -1, 0).reshape([*q.shape, *kept])


_MANY = 1024  # elements of an axis, from which on a partition is faster than a sort


def _selected(x, at):
    """Returns three elements of each sorted last axis: the elements before and after the position `at`, and the
    greatest. Also returns the position among these three."""
    below, above = int(np.floor(at[0])), int(np.ceil(at[0]))
    x = op.partition(x, axis=-1, kth=above)
    there = x[..., above:above + 1]
    before = op.max(x[..., :above], axes=-1, keepdims=True) if below < above else there
    return concat([before, there, op.max(x[..., above:], axes=-1, keepdims=True)], axis=-1), at - below


def _interpolated(x, at, dtype):
    """Interpolates the last axis at fractional positions."""
    below = np.floor(at)
    share, above = at - below, np.ceil(at)  # without a fraction both are the same element
    base, share = np.where(share < 0.5, (below, share), (above, share - 1))
    first, second, base = (converted(take(x, i.astype("i8"), axis=-1), dtype) for i in
                           (below, above, base))
    part = op.mul(op.sub(second, first), same_kind(share.astype(dtype), x))
    return op.where(op.equal(first, second), first, op.add(base, part))


def _mean_of_two(x, at, dtype):
    """The means of the elements below and above the positions. The mean of a number and an infinity is the
    infinity."""
    first, second = (converted(take(x, i.astype("i8"), axis=-1), dtype) for i in (np.floor(at), np.ceil(at)))
    half = op.mul(op.add(first, second), same_kind(np.asarray(0.5, dtype), x))
    return op.where(op.equal(first, second), first, half)


# ---- Histograms


def histogram(x, /, bins=10, range=None, density=False, weights=None):
    """The number of elements in each bin, or with weights the sum of their weights, and the edges. bins: a
    number of equal bins, or ascending edges. range: (lower, upper) of equal bins, by default the smallest
    and the largest element. A bin excludes its upper edge, except for the last bin. The counts are int64,
    or have the dtype of the weights. density: divides the counts by their sum and the widths.

    >>> collet.histogram([1, 2, 2, 9], 2, (0, 4))
    (array([1, 2]), array([0., 2., 4.]))"""
    values = arrays(x) if weights is None else arrays(x, weights)
    if len(values) > 1 and values[1].shape != values[0].shape:
        raise ValueError(f"histogram: the array is {values[0].shape}, its weights {values[1].shape}")
    x, *factors = (a.reshape(-1) for a in values)
    for name, a in zip(("array is", "weights are"), (x, *factors)):
        if a.dtype.kind == "c":
            raise _core.DtypeError(f"histogram: the {name} {a.dtype}; real numbers are needed")
    given = [converted(a, np.dtype("f8")) for a in factors]
    if hasattr(bins, "__index__") and not getattr(bins, "ndim", 0):
        count = operator.index(bins)
        if count < 1:
            raise ValueError(f"histogram: bins is {count}; it must be positive")
        if x.dtype.name not in ("float32", "float64", "uint8", "uint16", "int32", "int64"):
            x = converted(x, np.dtype("f8" if x.dtype.kind in "fV" or x.dtype == np.uint64 else "i8"))
        edges, low, high = _equal_edges(x, count, range)
        found = op.histogram(x, *given, bins=count, low=low, high=high)
    else:
        if isinstance(bins, str):
            raise TypeError(f"histogram: bins is {bins!r}; it can be a number of bins, or their edges")
        x, edges = promoted(x, bins)
        count = edges.size - 1
        if edges.ndim != 1 or count < 1 or bool(op.any(op.less(edges[1:], edges[:-1]))):
            raise ValueError("histogram: the edges are a vector of two or more that ascend")
        places = op.searchsorted(edges, x, right=True)  # 1 to count in a bin
        last = same_kind(np.asarray(count), x)
        places = op.where(op.equal(x, edges[-1:]), last, places)
        found = op.histogram(places, *given, bins=count, low=0.5, high=count + 0.5)
        edges = converted(edges, np.dtype("f8")) if density else edges
    if density:
        found = converted(found, np.dtype("f8"))
        return op.div(op.div(found, op.sub(edges[1:], edges[:-1])), op.sum(found)), edges
    return converted(found, factors[0].dtype) if factors else found, edges


def _equal_edges(x, count, limits):
    if limits is None:
        limits = (float(op.min(x)), float(op.max(x))) if x.size else (0, 1)
    low, high = (float(n) for n in limits)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ValueError(f"histogram: the range is {low} to {high}; it must be finite and ascend")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return same_kind(np.linspace(low, high, count + 1), x), low, high
