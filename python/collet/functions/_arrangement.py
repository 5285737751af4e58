# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Functions that rearrange arrays, as in NumPy. collet.functions exports them."""

import itertools
import operator

import numpy as np

from .. import _core, op
from .._array.operands import along, taken, zeros_as
from . import _primitives as f


def ravel(x, /):
    """The elements in C order as a vector: a view if strides allow one.

    >>> collet.ravel([[1, 2], [3, 4]])
    array([1, 2, 3, 4])"""
    x, = taken(x)
    return x.reshape(-1)


def _at_least(ndim, arrays):
    found = tuple(x if x.ndim >= ndim else x.reshape(((1,) * (ndim - x.ndim)) + tuple(x.shape))
                  for x in taken(*arrays))
    return found if len(found) != 1 else found[0]


def atleast_1d(*arrays):
    """Converts arrays without axes to vectors of one element, and keeps other arrays. Returns a tuple for
    several arguments.

    >>> collet.atleast_1d(3)
    array([3])"""
    return _at_least(1, arrays)


def atleast_2d(*arrays):
    """Converts vectors to matrices of one row, and keeps arrays with more axes. Returns a tuple for several
    arguments.

    >>> collet.atleast_2d([1, 2])
    array([[1, 2]])"""
    return _at_least(2, arrays)


def hstack(tup):
    """Concatenates arrays along the second axis, and vectors along their only axis.

    >>> collet.hstack([[1, 2], [3]])
    array([1, 2, 3])"""
    parts = [atleast_1d(x) for x in tup]
    return f.concat(parts, axis=min(1, parts[0].ndim - 1) if parts else 0)


def vstack(tup):
    """Concatenates arrays along the first axis. Vectors count as rows.

    >>> collet.vstack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])"""
    return f.concat([atleast_2d(x) for x in tup], axis=0)


def column_stack(tup):
    """Concatenates arrays along the second axis. Vectors count as columns.

    >>> collet.column_stack([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])"""
    return f.concat([v if v.ndim > 1 else v.reshape((-1, 1)) for v in taken(*tup)], axis=1)


def append(arr, values, axis=None):
    """Concatenates two arrays along an axis. axis None: all elements as a vector.

    >>> collet.append([1, 2], 3)
    array([1, 2, 3])"""
    arr, values = taken(arr, values)
    if axis is None:
        arr, values, axis = ravel(arr), ravel(values), 0
    return f.concat([arr, values], axis=axis)


def delete(arr, obj, axis=None):
    """Removes elements of an axis. obj: an index, a slice, several indices, or a mask. axis None: flattens the
    array first.

    >>> collet.delete([5, 6, 7], 1)
    array([5, 7])"""
    arr, axis = along(*taken(arr), axis)
    keep = np.ones(arr.shape[axis], bool)
    keep[obj.to_numpy() if isinstance(obj, _core.Array) else obj] = False
    return f.take(arr, np.flatnonzero(keep), axis=axis)


def split(x, indices_or_sections, /, axis=0):
    """Splits an axis; the parts are views. indices_or_sections: the number of equal parts, or the indices
    at which parts begin.

    >>> [len(part) for part in collet.split([1, 2, 3, 4, 5], [1, 3])]
    [1, 2, 2]"""
    x, = taken(x)
    extent = x.shape[axis]
    if hasattr(indices_or_sections, "__index__"):
        count = operator.index(indices_or_sections)
        if count < 1 or extent % count:
            raise ValueError(f"split: an axis of length {extent} cannot be divided into {count} equal parts; "
                             "give the indices at which parts begin")
        ends = [extent // count * i for i in range(count + 1)]
    else:
        ends = [0, *map(operator.index, indices_or_sections), None]
    lead = (slice(None),) * (axis % x.ndim)
    return [x[(*lead, slice(a, b))] for a, b in zip(ends, ends[1:])]


def swapaxes(x, axis1, axis2, /):
    """A view with two axes swapped.

    >>> collet.swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)"""
    x, = taken(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return f.permute_dims(x, tuple(order))


def fliplr(m, /):
    """A view with the second axis reversed.

    >>> collet.fliplr([[1, 2]])
    array([[2, 1]])"""
    return f.flip(*taken(m), axis=1)


def flipud(m, /):
    """A view with the first axis reversed.

    >>> collet.flipud([1, 2])
    array([2, 1])"""
    return f.flip(*taken(m), axis=0)


def rot90(m, k=1, axes=(0, 1)):
    """A view rotated k times by 90 degrees, from the first of the two axes towards the second.

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
        return f.flip(m, axis=(first, second))
    return f.permute_dims(f.flip(m, axis=second), tuple(order)) if k % 4 == 1 else \
        f.flip(f.permute_dims(m, tuple(order)), axis=second)


def diag(x, /, k=0):
    """The diagonal of a matrix, or for a vector x the matrix with the diagonal x. k > 0: a diagonal above
    the main diagonal.

    >>> collet.diag([1, 2])
    array([[1, 0],
           [0, 2]])"""
    x, = taken(x)
    if x.ndim == 2:
        return f.diagonal(x, offset=k)
    if x.ndim != 1:
        raise ValueError(f"diag: the array has {x.ndim} axes; it can have 1 or 2")
    found = zeros_as(x, (x.shape[0] + abs(k),) * 2)
    f.diagonal(found, offset=k)[...] = x
    return found


def sliding_window_view(x, window_shape, axis=None):
    """A read-only view of all windows along the given axes, by default all. The axes of a window come last.
    window_shape: an integer, or one for each axis.

    >>> collet.sliding_window_view(np.arange(4), 2)
    array([[0, 1],
           [1, 2],
           [2, 3]])"""
    x, = taken(x)
    lengths = np.atleast_1d(window_shape).tolist()
    axes = list(range(x.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    if len(lengths) != len(axes):
        raise ValueError(f"sliding_window_view: {len(lengths)} lengths of windows for {len(axes)} axes")
    if isinstance(x, np.ndarray):
        return np.lib.stride_tricks.sliding_window_view(x, lengths, axes)
    for k, length in zip([k + x.ndim if k < 0 else k for k in axes], lengths):
        x = x._windows(k, length) if isinstance(x, _core.Array) else _copied_windows(x, k, length)
    return x


def _copied_windows(x, axis, length):
    places = np.arange(x.shape[axis] - length + 1)[:, None] + np.arange(length)
    return f.moveaxis(f.moveaxis(x, axis, -1)[..., places], -2, axis)


def transpose(x, /, axes=None):
    """A view with the axes in another order, by default reversed. See numpy.transpose.

    >>> collet.transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])"""
    x, = taken(x)
    return f.permute_dims(x, axes=tuple(range(x.ndim))[::-1] if axes is None else axes)


def unstack(x, /, *, axis=0):
    """A view for each index of an axis, without that axis.

    >>> collet.unstack([[1, 2], [3, 4]], axis=1)[0]
    array([1, 3])"""
    x = f.moveaxis(x, axis, 0)
    return tuple(x[i, ...] for i in range(x.shape[0]))


def meshgrid(*arrays, indexing="xy"):
    """Coordinate arrays of a grid. Array i has an axis for each vector; it contains vector i along axis i, and
    repeats it along the other axes. "xy" swaps the first two axes, "ij" does not.

    >>> collet.meshgrid([1, 2], [3, 4])[1]
    array([[3, 3],
           [4, 4]])"""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it can be 'xy' or 'ij'")
    found = [x.reshape([-1 if i == axis else 1 for i in range(len(arrays))])
             for axis, x in enumerate(taken(*arrays))]
    if indexing == "xy" and len(found) > 1:
        found = [f.permute_dims(x, [1, 0, *range(2, len(found))]) for x in found]
    return tuple(op.copy(x) for x in f.broadcast_arrays(*found))


def tile(x, repetitions, /):
    """Repeats the whole array along each axis. New axes come first.

    >>> collet.tile([1, 2], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])"""
    x, = taken(x)
    counts = (repetitions,) if hasattr(repetitions, "__index__") else tuple(repetitions)
    ndim = max(x.ndim, len(counts))
    shape = [*(1,) * (ndim - x.ndim), *x.shape]
    counts = [*(1,) * (ndim - len(counts)), *counts]
    twice = list(itertools.chain(*zip(counts, shape)))
    wide = x.reshape(list(itertools.chain(*((1, n) for n in shape))))
    return op.copy(f.broadcast_to(wide, twice)).reshape([n * m for n, m in zip(counts, shape)])
