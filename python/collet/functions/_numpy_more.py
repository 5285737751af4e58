# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""More functions that NumPy has beside the standard's: bins, sets, arrangement, differences. collet.functions
exports them."""

import operator

import numpy as np

import collet

from ._nan import along, taken
from ._numpy import bincount, ravel, sliding_window_view
from ._rounding import once_rounded

# ---- Bins


def digitize(x, bins, right=False):
    """The number of the bin of each element: i where bins[i-1] <= x < bins[i], with `right` bins[i-1] < x <=
    bins[i]. The edges ascend or descend.

    >>> collet.digitize([0.5, 2.0, 9.0], [1.0, 2.0])
    array([0, 2, 2])"""
    x, bins = taken(x, bins)
    if bins.ndim != 1 or not (bool(collet.all(bins[1:] >= bins[:-1])) or bool(collet.all(bins[1:] <= bins[:-1]))):
        raise ValueError("digitize: bins is a vector of edges that ascend or descend")
    side = "left" if right else "right"
    if bins.size > 1 and bool(bins[0] > bins[-1]):
        return bins.shape[0] - collet.searchsorted(collet.flip(bins), x, side=side)
    return collet.searchsorted(bins, x, side=side)


def _edges(name, values, bins, range):
    """The edges of an axis as a NumPy array of float64."""
    if hasattr(bins, "__len__"):
        edges = np.asarray(bins, "f8")
        if edges.ndim != 1 or edges.size < 2 or (np.diff(edges) < 0).any():
            raise ValueError(f"{name}: edges are a vector of at least two numbers that ascend")
        return edges
    low, high = range if range is not None else \
        (float(collet.min(values)), float(collet.max(values))) if values.size else (0.0, 1.0)
    if not (np.isfinite([low, high]).all() and low <= high) or operator.index(bins) < 1:
        raise ValueError(f"{name}: {bins} bins from {low} to {high}")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return np.linspace(low, high, operator.index(bins) + 1)


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """How many points (x, y) each bin has, float64, and the edges of both axes, NumPy arrays. bins: a number of
    bins or edges, or a pair of these; range: a pair of (low, high).

    >>> collet.histogram2d([0.0, 1, 1], [0.0, 1, 1], bins=2)[0]
    array([[1., 0.],
           [0., 2.]])"""
    axes = [ravel(collet.astype(v, collet.float64, copy=False)) for v in taken(x, y)]
    if axes[0].shape != axes[1].shape:
        raise ValueError(f"histogram2d: x has {axes[0].size} elements, y {axes[1].size}")
    pair = bins if hasattr(bins, "__len__") and len(bins) == 2 else (bins, bins)
    edges = [_edges("histogram2d", v, b, r) for v, b, r in zip(axes, pair, range or (None, None))]
    place, inside = 0, True
    for values, ends in zip(axes, edges):
        at = collet.searchsorted(collet.asarray(ends) if isinstance(values, collet.Array) else ends, values,
                                 side="right") - 1
        at = collet.where(values == ends[-1], ends.size - 2, at)  # the last bin has both of its edges
        inside = inside & (at >= 0) & (at < ends.size - 1)
        place = place * (ends.size - 1) + at
    weights = collet.ones_like(axes[0]) if weights is None else ravel(taken(axes[0], weights)[1])
    shape = tuple(e.size - 1 for e in edges)
    counts = bincount(place[inside], weights[inside], shape[0] * shape[1]).reshape(shape)
    if density:
        counts = counts / collet.sum(counts) / np.multiply.outer(*map(np.diff, edges))
    return counts, *edges


# ---- Sets


def union1d(ar1, ar2):
    """The elements of either array, each once, sorted.

    >>> collet.union1d([1, 3], [2, 3])
    array([1, 2, 3])"""
    return collet.unique_values(collet.concat([ravel(v) for v in taken(ar1, ar2)]))


def intersect1d(ar1, ar2):
    """The elements that both arrays have, each once, sorted.

    >>> collet.intersect1d([1, 3, 3], [3, 2])
    array([3])"""
    both = collet.sort(collet.concat([collet.unique_values(ravel(v)) for v in taken(ar1, ar2)]))
    return both[:-1][both[1:] == both[:-1]]


def setdiff1d(ar1, ar2):
    """The elements of the first array that the second has not, each once, sorted.

    >>> collet.setdiff1d([1, 3, 3], [3, 2])
    array([1])"""
    ar1, ar2 = taken(ar1, ar2)
    found = collet.unique_values(ravel(ar1))
    return found[~collet.isin(found, ar2)]


# ---- Arrangement


def column_stack(tup):
    """The arrays side by side; vectors are columns.

    >>> collet.column_stack([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])"""
    return collet.concat([v if v.ndim > 1 else v.reshape((-1, 1)) for v in taken(*tup)], axis=1)


def fliplr(m, /):
    """A view with the second axis reversed.

    >>> collet.fliplr([[1, 2]])
    array([[2, 1]])"""
    return collet.flip(*taken(m), axis=1)


def flipud(m, /):
    """A view with the first axis reversed.

    >>> collet.flipud([1, 2])
    array([2, 1])"""
    return collet.flip(*taken(m), axis=0)


def rot90(m, k=1, axes=(0, 1)):
    """A view turned k times by 90 degrees, from the first of the axes to the second.

    >>> collet.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])"""
    m, = taken(m)
    first, second = (a % m.ndim for a in axes)
    if first == second:
        raise ValueError(f"rot90: axes is {axes}; it has two different axes")
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if k % 4 == 0:
        return m[...]
    if k % 4 == 2:
        return collet.flip(m, axis=(first, second))
    return collet.permute_dims(collet.flip(m, axis=second), tuple(order)) if k % 4 == 1 else \
        collet.flip(collet.permute_dims(m, tuple(order)), axis=second)


def append(arr, values, axis=None):
    """The elements of both arrays, one behind the other along an axis, or all as a vector.

    >>> collet.append([1, 2], 3)
    array([1, 2, 3])"""
    arr, values = taken(arr, values)
    if axis is None:
        arr, values, axis = ravel(arr), ravel(values), 0
    return collet.concat([arr, values], axis=axis)


def delete(arr, obj, axis=None):
    """The array without the places of an axis, or of all elements as a vector: an index, a slice, several
    indices, or a mask.

    >>> collet.delete([5, 6, 7], 1)
    array([5, 7])"""
    arr, axis = along(*taken(arr), axis)
    keep = np.ones(arr.shape[axis], bool)
    keep[obj.to_numpy() if isinstance(obj, collet.Array) else obj] = False
    return collet.take(arr, np.flatnonzero(keep), axis=axis)


def flatnonzero(a, /):
    """The indices in C order of the elements that are not 0.

    >>> collet.flatnonzero([[0, 5], [6, 0]])
    array([1, 2])"""
    return collet.nonzero(ravel(a))[0]


def select(condlist, choicelist, default=0):
    """The elements of the first choice whose condition is true, else `default`.

    >>> collet.select([[True, False], [True, True]], [[1, 2], [3, 4]])
    array([1, 4])"""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices")
    found = default
    for condition, choice in [*zip(condlist, choicelist)][::-1]:
        found = collet.where(condition, choice, found)
    return found


# ---- Differences and angles


def _apart(name, spacing, extent):
    """The distances along an axis: one number, or those between places."""
    if not hasattr(spacing, "shape") and not hasattr(spacing, "__len__"):
        return spacing
    spacing, = taken(spacing)
    if spacing.ndim and spacing.shape != (extent,):
        raise ValueError(f"{name}: the places are {spacing.shape}; the axis has {extent} elements")
    return collet.diff(spacing) if spacing.ndim else spacing


def _derivative(f, axis, spacing):
    y = collet.moveaxis(f, axis, -1)
    h = _apart("gradient", spacing, y.shape[-1])
    steps = (y[..., 1:] - y[..., :-1]) / h
    if getattr(h, "ndim", 0):
        before, after = h[:-1], h[1:]
        middle = (before * steps[..., 1:] + after * steps[..., :-1]) / (before + after)
    else:
        middle = (y[..., 2:] - y[..., :-2]) / (2.0 * h)
    return collet.moveaxis(collet.concat([steps[..., :1], middle, steps[..., -1:]], axis=-1), -1, axis)


@once_rounded("f")
def gradient(f, *varargs, axis=None):
    """The derivatives along axes, by default all, by central differences, one-sided at the ends; a tuple for
    several axes. varargs: the distance of elements, or one distance or the places for each axis.

    >>> collet.gradient([0.0, 1, 4])
    array([1., 2., 3.])"""
    f, = taken(f)
    f = f * 1.0
    axes = [*range(f.ndim)] if axis is None else [axis] if hasattr(axis, "__index__") else [*axis]
    spacings = [1.0] * len(axes) if not varargs else [*varargs] * (len(axes) if len(varargs) == 1 else 1)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    if any(f.shape[a] < 2 for a in axes):
        raise ValueError(f"gradient: the array is {f.shape}; an axis has at least two elements")
    found = tuple(_derivative(f, a, s) for a, s in zip(axes, spacings))
    return found if len(found) != 1 else found[0]


@once_rounded("a", "v")
def convolve(a, v, mode="full"):
    """The convolution of two vectors: where they overlap at all ("full"), with the length of the longer one
    ("same"), or where they overlap completely ("valid"). For long ones take scipy.signal.fftconvolve.

    >>> collet.convolve([1, 2, 3], [1, 10])
    array([ 1, 12, 23, 30])"""
    a, v = taken(a, v)
    if a.ndim > 1 or v.ndim > 1 or not a.size or not v.size or mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: arrays of {a.shape} and {v.shape}, mode {mode!r}; it takes vectors with elements, and full, "
                         "same or valid")
    a, v = (ravel(a), ravel(v)) if a.size >= v.size else (ravel(v), ravel(a))
    more = v.size - 1
    pads = {"full": (more, more), "same": (v.size // 2, more - v.size // 2), "valid": (0, 0)}[mode]
    return collet.matmul(sliding_window_view(collet.pad(a, pads), v.size), collet.flip(v))


@once_rounded("p")
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """The array with multiples of the period added, so that no difference along the axis is larger than half
    of it, or than discont. Integers with an integer as period stay integers.

    >>> collet.unwrap([0.0, 3.0, 6.5, 0.5], period=6)
    array([0. , 3. , 0.5, 0.5])"""
    p, = taken(p)
    whole = p.dtype.kind in "iu" and isinstance(period, int)
    p = collet.moveaxis(p if whole else p * 1.0, axis, -1)
    steps = p[..., 1:] - p[..., :-1]
    half = period // 2 if whole else period / 2
    short = (steps + half) % period - half
    if not whole or period % 2 == 0:
        short = collet.where((short == -half) & (steps > 0), half, short)
    more = collet.where(abs(steps) < (half if discont is None else discont), 0, short - steps)
    found = collet.concat([p[..., :1], p[..., 1:] + collet.cumulative_sum(more, axis=-1, dtype=p.dtype)], axis=-1)
    return collet.moveaxis(found, -1, axis)


@once_rounded("x")
def degrees(x, /):
    """Radians in degrees.

    >>> float(collet.degrees(np.pi))
    180.0"""
    return taken(x)[0] * (180 / np.pi)


@once_rounded("x")
def radians(x, /):
    """Degrees in radians.

    >>> float(collet.radians(180.0)) == np.pi
    True"""
    return taken(x)[0] * (np.pi / 180)
