# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py
"""Reductions over axes. collet.functions exports them."""

import numpy as np

from .. import _core, op
from .._array.conversion import REDUCTIONS, small
from .._array.operands import arrays, axes_of, axis_of, converted, narrowed, zeros_as

_FUSED = {"sum", "mean", "min", "max", "any", "all", "count_nonzero"}  # fused with pending functions
_WIDE = {"b": np.dtype("i8"), "i": np.dtype("i8"), "u": np.dtype("u8")}

SMALL = {n: small(n) for n in REDUCTIONS}


def _axes(x, axis):
    """Returns x and the axes to reduce. For an empty list of axes an op would reduce all axes, so x gets an axis of
    length 1."""
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    return (x, axes) if axes else (x.reshape((1, *x.shape)), None)


def _is_single(x, axis):
    """Whether a single op reduces x: x is an Array of float32 or float64 that is not pending, and the
    reduction is along one axis or all."""
    if not isinstance(x, _core.Array) or x._dtype not in ("float32", "float64") or _core.is_pending(x) or not x.ndim:
        return False
    return axis is None or (type(axis) is int and -x.ndim <= axis < x.ndim)


def _rows(name, x, axis, keepdims, correction=0.0):
    """Returns the reduction of a large Array's rows as a lazy Array. Functions that subtract it or divide by
    it are then computed in the same pass. Returns None for other reductions."""
    return _core.reduce_rows(x, name, axis, bool(keepdims), correction) if type(axis) is int else None


def _reduced(name, x, axis, keepdims, **parameters):
    x, axes = _axes(x, axis)
    waiting = x.size and name in _FUSED and _core.is_pending(x)
    made = _core.reduce(x, name, axes, bool(keepdims), 0.0) if waiting else None
    if made is not None:
        return made
    if axes is None:
        return getattr(op, name)(x, axes=0, **parameters)
    return getattr(op, name)(x, axes=axes, keepdims=bool(keepdims), **parameters)


def _total(name, x, axis, dtype, keepdims):
    x, = arrays(x)
    dtype = _WIDE.get(x.dtype.kind, x.dtype) if dtype is None else _core.dtype(dtype)
    work = _WIDE.get(dtype.kind, dtype)
    if dtype.kind == "b":
        x = converted(x, dtype)  # converted before the sum, as in NumPy: sum([1, -1], dtype=bool) is True
    elif _WIDE.get(x.dtype.kind, x.dtype) != work and (x.dtype.kind not in "biu" or dtype.kind not in "iu"):
        x = converted(x, work)
    total = _complex_product if name == "prod" and x.dtype.kind == "c" else _reduced
    return narrowed(total(name, x, axis, keepdims), dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum over axes, by default all. Sums of integers and bool are int64 or uint64.

    >>> float(collet.sum([1.5, 2]))
    3.5"""
    if dtype is None and (made := _rows("sum", x, axis, keepdims)) is not None:
        return made
    if dtype is None and _is_single(x, axis):
        return op.sum(x, axes=axis, keepdims=bool(keepdims))
    return _total("sum", x, axis, dtype, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over axes. Arguments and dtypes as in sum.

    >>> int(collet.prod([2, 3, 4]))
    24"""
    return _total("prod", x, axis, dtype, keepdims)


def _complex_product(_, x, axis, keepdims):
    """Multiplies halves of the axis until it has one element, because the op does not support complex numbers."""
    x, axes = _axes(x, axis)
    for i in axes or (0,):
        x = x if x.shape[i] else op.add(zeros_as(x, [n or int(j == i) for j, n in enumerate(x.shape)]), 1)
        while x.shape[i] > 1:
            half, odd = divmod(x.shape[i], 2)
            lead = (slice(None),) * i
            first = op.mul(x[(*lead, slice(half))], x[(*lead, slice(half, 2 * half))])
            if odd:
                op.mul(first[(*lead, slice(1))], x[(*lead, slice(2 * half, None))],
                       out=first[(*lead, slice(1))])
            x = first
    if keepdims and axes is not None:
        return x
    return x.reshape([n for i, n in enumerate(x.shape) if i not in (axes or (0,))])


def _floating(x):
    """Converts integers and bool to float64."""
    x, = arrays(x)
    return converted(x, np.dtype("f8")) if x.dtype.kind in "biu" else x


def mean(x, /, *, axis=None, keepdims=False):
    """The mean over axes, by default all. Means of integers are float64.

    >>> float(collet.mean([1, 2]))
    1.5"""
    if (made := _rows("mean", x, axis, keepdims)) is not None:
        return made
    if _is_single(x, axis):
        return op.mean(x, axes=axis, keepdims=bool(keepdims))
    x = _floating(x)
    if x.dtype.kind != "c":
        return _reduced("mean", x, axis, keepdims)
    total = _reduced("sum", x, axis, keepdims)
    return op.mul(total, total.size / x.size) if x.size else op.div(total, 0.0)


def _spread(name, x, axis, correction, keepdims):
    if (made := _rows(name, x, axis, keepdims, float(correction))) is not None:
        return made
    if _is_single(x, axis):
        return getattr(op, name)(x, axes=axis, keepdims=bool(keepdims), correction=float(correction))
    x = _floating(x)
    if x.dtype.kind != "c":
        return _reduced(name, x, axis, keepdims, correction=float(correction))
    apart = op.abs(op.sub(x, mean(x, axis=axis, keepdims=True)))
    total = _reduced("sum", op.square(apart), axis, keepdims)
    count = (x.size / total.size if total.size else 1) - correction
    found = op.mul(total, 1 / count if count > 0 else float("nan"))
    return op.sqrt(found) if name == "std" else found


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over axes, by default all: the sum of squared distances from the mean, divided by the
    number of elements minus `correction`.

    >>> float(collet.var([1, 2, 3], correction=1))
    1.0"""
    return _spread("var", x, axis, correction, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation: the square root of var.

    >>> float(collet.std([1, 3]))
    1.0"""
    return _spread("std", x, axis, correction, keepdims)


def _check_elements(name, x, axis):
    if not x.size and 0 in [x.shape[i] for i in axes_of(range(x.ndim) if axis is None else axis, x.ndim)]:
        raise ValueError(f"{name}: the shape is {x.shape}; without elements there is no {name[-3:]}imum")


def _extreme(name, of_bool, x, axis, keepdims):
    if (made := _rows(name, x, axis, keepdims)) is not None:
        return made
    x, = arrays(x)
    _check_elements(name, x, axis)
    return _reduced(of_bool if x.dtype.kind == "b" else name, x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest element over axes, by default all. NaN if any element is NaN.

    >>> int(collet.min([2, 1]))
    1"""
    return _extreme("min", "all", x, axis, keepdims)


def max(x, /, *, axis=None, keepdims=False):
    """The greatest element over axes, by default all. NaN if any element is NaN.

    >>> int(collet.max([2, 1]))
    2"""
    return _extreme("max", "any", x, axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Whether any element over axes, by default all, differs from 0. NaN differs from 0.

    >>> bool(collet.any([0, 2]))
    True"""
    return _reduced("any", *arrays(x), axis, keepdims)


def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements over axes, by default all axes, differ from 0.

    >>> bool(collet.all([0, 2]))
    False"""
    return _reduced("all", *arrays(x), axis, keepdims)


def _place(name, x, axis, keepdims):
    if _is_single(x, axis) and x.ndim == 1 and x.size:
        return getattr(op, name)(x, axes=0, keepdims=bool(keepdims))
    x, = arrays(x)
    if x.dtype.kind == "b":
        x = converted(x, np.dtype("u1"))
    _check_elements(name, x, axis)
    if axis is None:
        found = getattr(op, name)(x.reshape(-1), axes=0)
        return found.reshape((1,) * x.ndim) if keepdims else found
    return getattr(op, name)(x, axes=axis_of(axis, x.ndim), keepdims=bool(keepdims))


def argmin(x, /, *, axis=None, keepdims=False):
    """The int64 index of the first smallest element along an axis. axis None: among all elements, in C
    order. NaN counts as the smallest.

    >>> int(collet.argmin([2, 1, 1]))
    1"""
    return _place("argmin", x, axis, keepdims)


def argmax(x, /, *, axis=None, keepdims=False):
    """The int64 index of the first greatest element; otherwise like argmin. NaN counts as the greatest.

    >>> int(collet.argmax([2, 1, 2]))
    0"""
    return _place("argmax", x, axis, keepdims)
