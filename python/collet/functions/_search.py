# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Functions that sort, search, select and count. collet.functions exports them."""

from collections import namedtuple

import numpy as np

from .. import op
from .._array.operands import arrays, axes_of, axis_of, converted, empty_as, promoted, same_kind
from ._shapes import broadcast_to, concat, moveaxis

UniqueAllResult = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = namedtuple("UniqueInverseResult", "values inverse_indices")

# ---- Sorting


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """Sorts the elements along an axis. NaN is greater than every number, and -0 is less than +0.

    >>> collet.sort([3, 1, 2], descending=True)
    array([3, 2, 1])"""
    x, = arrays(x)
    return op.sort(x, axis=axis_of(axis, x.ndim), descending=bool(descending))


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The int64 indices that sort the elements along an axis. The sort is always stable: indices of equal elements
    ascend.

    >>> collet.argsort([3, 1, 2])
    array([1, 2, 0])"""
    x, = arrays(x)
    return op.argsort(x, axis=axis_of(axis, x.ndim), descending=bool(descending))


def _comparable(*values):
    """The values promoted to a common dtype. An int that an integer dtype of the others cannot hold keeps its value."""
    limits = [np.iinfo(v.dtype) for v in values if getattr(getattr(v, "dtype", None), "kind", "") in ("i", "u")]
    return promoted(*[np.asarray(v) if type(v) is int and any(not i.min <= v <= i.max for i in limits) else v for v in values])


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The int64 index at which each number of x2 would be inserted in the ascending vector x1: before equal
    elements, or with side="right" after them. sorter: the indices that sort x1.

    >>> collet.searchsorted([1, 2, 3], [2, 9])
    array([1, 3])"""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; it can be 'left' or 'right'")
    x1, x2 = _comparable(x1, x2)
    if sorter is not None:
        x1 = take(x1, sorter)
    return op.searchsorted(x1, x2, right=side == "right")


# ---- Selection


def _raise_outside(info, what, indices, extent):
    """Raises IndexError if an op found an index that is out of range."""
    place = int(info)
    if place:
        wrong = int(indices.reshape(-1)[place - 1:place].reshape(()))
        raise IndexError(f"{what}: index {wrong} is out of range for an axis of length {extent}")


def _indices(x, indices):
    x, indices = arrays(x, indices)
    if indices.dtype.kind not in "iu" and indices.size:
        raise IndexError(f"indices must be integers, not {indices.dtype}")
    wide = indices.dtype in (np.int32, np.int64)
    return x, indices if wide else converted(indices, np.dtype("i8"))


def take(x, indices, /, *, axis=None):
    """The elements at the indices of an axis. `axis` is optional only for a vector. Negative indices count
    from the end. The axes of `indices` replace that axis.

    >>> collet.take([5, 6, 7], [2, -3])
    array([7, 5])"""
    x, indices = _indices(x, indices)
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: an axis is needed, since the array has {x.ndim}")
    axis = axis_of(-1 if axis is None else axis, x.ndim)
    flat = indices if indices.ndim == 1 else indices.reshape(-1)
    out = empty_as(x, [*x.shape[:axis], flat.size, *x.shape[axis + 1:]])
    info = op.take(moveaxis(x, axis, -1), flat, out=(moveaxis(out, axis, -1), None)).info
    _raise_outside(info, "take", flat, x.shape[axis])
    return out if flat is indices else out.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]])


def take_along_axis(x, indices, /, *, axis=-1):
    """The element at each index of the axis, with the positions on the other axes unchanged.

    >>> collet.take_along_axis([[1, 2], [3, 4]], [[1], [0]])
    array([[2],
           [3]])"""
    x, indices = _indices(x, indices)
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: the array has {x.ndim} axes, the indices {indices.ndim}")
    axis = axis_of(axis, x.ndim)
    places = moveaxis(indices, axis, -1)
    out, info = op.take_along_axis(moveaxis(x, axis, -1), places)
    if int(info):
        shape = (*out.shape[:-1], places.shape[-1])
        _raise_outside(info, "take_along_axis", broadcast_to(places, shape), x.shape[axis])
    return moveaxis(out, -1, axis)


def nonzero(x, /):
    """The indices of the elements that differ from 0, in C order: an array for each axis.

    >>> collet.nonzero([[0, 5], [6, 0]])
    (array([0, 1]), array([1, 0]))"""
    x, = arrays(x)
    if not x.ndim:
        raise ValueError("nonzero: the array has no axes")
    found = op.nonzero(x, shape=(x.ndim, int(op.count_nonzero(x)))).out
    return tuple(found[i] for i in range(x.ndim))


def _selected(x, mask, count):
    return op.compress(x, mask, shape=(count,)).out


# ---- Counting


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """The int64 number of elements that differ from 0, over axes, by default all.

    >>> int(collet.count_nonzero([[0, 5], [6, 7]]))
    3"""
    x, = arrays(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    if not axes:  # without axes an op would reduce all axes
        return converted(op.not_equal(x, same_kind(np.zeros((), x.dtype), x)), np.dtype("i8"))
    return op.count_nonzero(x, axes=axes, keepdims=bool(keepdims))


# ---- Sets


def _order(x):
    """The indices that sort a vector. Complex numbers are ordered by real part, then by imaginary part."""
    if x.dtype.kind != "c":
        return op.argsort(x)
    order = op.argsort(op.add(x.imag, 0.0))  # -0 becomes 0
    return take(order, op.argsort(take(op.add(x.real, 0.0), order)))


def _sorted(x):
    x, = arrays(x)
    flat = x.reshape(-1)
    return take(flat, _order(flat)) if x.dtype.kind == "c" else op.sort(flat)


def _runs(ordered):
    """A mask: whether each element of a sorted vector differs from its predecessor."""
    mask = empty_as(ordered, ordered.shape, np.dtype("?"))
    if ordered.size:
        op.fill(value=1, out=mask[:1])
        op.not_equal(ordered[1:], ordered[:-1], out=mask[1:])
    return mask, int(op.count_nonzero(mask))


def unique_values(x, /):
    """The distinct elements, ascending. Complex numbers are ordered by real part, then by imaginary part.
    Every NaN counts as distinct.

    >>> collet.unique_values([2, 1, 2])
    array([1, 2])"""
    ordered = _sorted(x)
    return _selected(ordered, *_runs(ordered))


def _counts(mask, count):
    """The lengths of the runs."""
    starts = op.nonzero(mask, shape=(1, count)).out[0]
    ends = concat([starts[1:], same_kind(np.asarray([mask.size][:count], "i8"), mask)])
    return op.sub(ends, starts)


def unique_counts(x, /):
    """A named tuple: `values`, the distinct elements, ascending; `counts`, the number of occurrences of
    each.

    >>> collet.unique_counts([2, 1, 2]).counts
    array([1, 2])"""
    ordered = _sorted(x)
    mask, count = _runs(ordered)
    return UniqueCountsResult(_selected(ordered, mask, count), _counts(mask, count))


def unique_all(x, /):
    """A named tuple: `values`, the distinct elements, ascending; `indices` of the first occurrence of each
    in C order; `inverse_indices`, with the shape of x, so that x is values[inverse_indices]; `counts`.

    >>> collet.unique_all([2, 1, 2]).indices
    array([1, 0])"""
    x, = arrays(x)
    flat = x.reshape(-1)
    order = _order(flat)
    ordered = take(flat, order)
    mask, count = _runs(ordered)
    numbers = op.sub(op.cumulative_sum(mask), 1)
    inverse = op.put(empty_as(x, flat.shape, np.dtype("i8")), order, numbers).out
    return UniqueAllResult(_selected(ordered, mask, count), _selected(order, mask, count),
                           inverse.reshape(x.shape), _counts(mask, count))


def unique_inverse(x, /):
    """A named tuple with values and inverse_indices of unique_all.

    >>> collet.unique_inverse([2, 1, 2]).inverse_indices
    array([1, 0, 1])"""
    found = unique_all(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


_MANY = 1024  # From this number of elements on, a table may be faster than a sort.
_TABLE = 6  # A table is faster than a sort if it has at most this many numbers for each element.


def _above(x, low):
    """x - low as int64. In a shorter dtype the subtraction may wrap, but its bits are x - low as an unsigned number."""
    apart = op.sub(x, low)
    return (apart if apart.dtype.itemsize == 8 else apart.astype(f"u{apart.dtype.itemsize}")).astype("i8", copy=False)


def _in_table(x1, x2, least, most):
    """Computes isin for integers x2 from least to most, by a table with an entry for each of these numbers. One more
    entry at each end stands for all elements of x1 below `least` or above `most`, if the dtype has such numbers."""
    limits = np.iinfo(x1.dtype)
    low, high = max(least - 1, int(limits.min)), min(most + 1, int(limits.max))
    table, there = (same_kind(np.full(n, v), x1) for n, v in ((high - low + 1, False), (1, True)))
    low, high = (same_kind(np.asarray(n, x1.dtype), x1) for n in (low, high))
    table = op.put(table, _above(x2, low), broadcast_to(there, x2.shape)).out
    return op.take(table, _above(op.clip(x1, low, high), low).reshape(-1)).out.reshape(x1.shape)


def isin(x1, x2, /, *, invert=False):
    """Whether each element of x1 equals an element of x2; with invert, whether it equals none of them.

    >>> collet.isin([1, 2, 3], [3, 1])
    array([ True, False,  True])"""
    x1, x2 = _comparable(x1, x2)
    many = x1.size >= _MANY and x2.size and x1.dtype.kind in "iu"
    least, most = (int(op.min(x2)), int(op.max(x2))) if many else (0, -1)
    if not x2.size:
        found = same_kind(np.zeros(x1.shape, "?"), x1)
    elif 0 <= most - least <= _TABLE * (x1.size + x2.size):
        found = _in_table(x1, x2.reshape(-1), least, most)
    else:
        ordered = op.sort(x2.reshape(-1))
        places = op.searchsorted(ordered, x1.reshape(-1))
        places = op.minimum(places, ordered.size - 1)
        found = op.equal(x1, op.take(ordered, places).out.reshape(x1.shape))
    return op.logical_not(found) if invert else found
