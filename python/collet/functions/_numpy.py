# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Functions that NumPy has beside the standard's, composed of these. collet.functions exports them. They
compute traced arrays too, since all that they call does."""

import operator

import numpy as np

import collet

from .. import op
from .._array import Array
from .._operands import zeros_as
from ._nan import along, has_nan, taken
from ._rounding import once_rounded


# ---- Comparison


@once_rounded("a", "b")
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether the elements are equal, or differ by at most atol + rtol * abs(b).

    >>> collet.isclose([1.0, 2.0], [1.000001, 2.1])
    array([ True, False])"""
    a, b = taken(a, b)
    a, b = a * 1.0, b * 1.0
    found = (abs(a - b) <= atol + rtol * abs(b)) & collet.isfinite(b) | (a == b)
    return found | collet.isnan(a) & collet.isnan(b) if equal_nan else found


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether isclose is true everywhere: a bool of Python.

    >>> collet.allclose([1.0, 2.0], [1.000001, 2.0])
    True"""
    return bool(collet.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal: a bool of Python.

    >>> collet.array_equal([1, 2], [1, 2])
    True"""
    a, b = taken(a1, a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and has_nan(a) and has_nan(b):
        same = same | collet.isnan(a) & collet.isnan(b)
    return bool(collet.all(same))


# ---- Statistics


@once_rounded("x", "weights")
def average(x, /, *, axis=None, weights=None, returned=False, keepdims=False):
    """The mean over axes, by default all, with weights of the shape of x, or of that of its axis; with
    `returned` also the sum of the weights. ZeroDivisionError if they add up to 0.

    >>> float(collet.average([1.0, 4.0], weights=[2, 1]))
    2.0"""
    x, weights = (*taken(x), None) if weights is None else taken(x, weights)
    if weights is None:
        found = collet.mean(x, axis=axis, keepdims=keepdims)
        return (found, collet.full_like(found, x.size / max(found.size, 1))) if returned else found
    if weights.shape != x.shape:
        if weights.ndim != 1 or not hasattr(axis, "__index__") or weights.shape[0] != x.shape[axis]:
            raise ValueError(f"average: the weights have the shape {weights.shape}, the array {x.shape}")
        weights = weights.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
        weights = collet.broadcast_to(weights, x.shape)
    products = x * weights * 1.0
    total = collet.sum(collet.astype(weights, products.dtype, copy=False), axis=axis, keepdims=keepdims)
    if not bool(collet.all(total != 0)):
        raise ZeroDivisionError("average: the weights add up to zero, so that there is no average")
    found = collet.sum(products, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def ptp(x, /, *, axis=None, keepdims=False):
    """The greatest minus the smallest element over axes, by default all.

    >>> int(collet.ptp([3, 9, 5]))
    6"""
    x, = taken(x)
    return collet.max(x, axis=axis, keepdims=keepdims) - collet.min(x, axis=axis, keepdims=keepdims)


@once_rounded("x", "y", products=True)
def cov(x, y=None, rowvar=True, bias=False, ddof=None):
    """The covariances of variables, which are rows, or columns without rowvar, of x and y; the divisor is the
    number of observations minus ddof, by default 1, with bias 0; if that is negative, 0.

    >>> collet.cov([[0.0, 1, 2], [2, 1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])"""
    parts = []
    for part in taken(x) if y is None else taken(x, y):
        if part.ndim > 2:
            raise collet.ShapeError(f"cov: the array has {part.ndim} axes; it can have 1 or 2")
        part = part * 1.0
        part = part.reshape((1, -1)) if part.ndim < 2 else part
        parts.append(part if rowvar or part.shape[0] == 1 else collet.matrix_transpose(part))
    rows = collet.concat(parts, axis=0)
    rows = rows - collet.mean(rows, axis=1, keepdims=True)
    divisor = max(rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1), 0.0)
    found = collet.matmul(rows, collet.conj(collet.matrix_transpose(rows))) / divisor
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
    spread = collet.sqrt(collet.real(collet.diagonal(found)))
    found = found / spread[:, None] / spread[None, :]
    parts = (found,) if found.dtype.kind != "c" else (collet.real(found), collet.imag(found))
    parts = [collet.clip(part, -1, 1) for part in parts]  # roundings may exceed 1
    return collet.complex(*parts) if len(parts) > 1 else parts[0]


def bincount(x, /, weights=None, minlength=0):
    """How often each integer from 0 on occurs in a vector, or the sum of its weights: int64 or float64.

    >>> collet.bincount([1, 1, 3])
    array([0, 2, 0, 1])"""
    x, = taken(x)
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise ValueError(f"bincount: the array has the dtype {x.dtype} and {x.ndim} axes; a vector of "
                         "integers is needed")
    x = collet.astype(x, collet.int64, copy=False)
    if minlength < 0 or x.size and int(collet.min(x)) < 0:
        raise ValueError("bincount: an element or minlength is negative")
    count = max(int(collet.max(x)) + 1 if x.size else 0, minlength)
    values = collet.ones_like(x) if weights is None else \
        collet.astype(taken(x, weights)[1], collet.float64, copy=False)
    if values.shape != x.shape:
        raise ValueError(f"bincount: the array is {x.shape}, its weights {values.shape}")
    return op.scatter_add(zeros_as(values, (count,)), x, values).out


# ---- Interpolation and integrals


def interp(x, xp, fp, left=None, right=None):
    """The piecewise linear function through the points (xp, fp), whose xp ascend, at x: float64. Before the first
    one it is `left`, by default its value, behind the last one `right`.

    >>> collet.interp([0.5, 9.0], [0, 1, 2], [0, 10, 30])
    array([ 5., 30.])"""
    x, xp, fp = (collet.astype(v, collet.float64, copy=False) for v in taken(x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.size:
        raise ValueError(f"interp: the points have the shapes {xp.shape} and {fp.shape}; vectors of one "
                         "length are needed")
    below = collet.searchsorted(xp, x, side="right") - 1
    below = collet.clip(below, 0, max(xp.size - 2, 0)).reshape(-1)
    above = collet.minimum(below + 1, xp.size - 1)
    x0, y0, x1, y1 = (collet.take(v, i).reshape(x.shape) for i in (below, above) for v in (xp, fp))
    found = y0 + (y1 - y0) / collet.where(x1 == x0, 1.0, x1 - x0) * (x - x0)
    found = collet.where(x == x1, y1, found)
    found = collet.where(x < xp[0], fp[0] if left is None else left, found)
    return collet.where(x > xp[-1], fp[-1] if right is None else right, found)


@once_rounded("y", "x")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by the trapezoidal rule, at the places x, or at distances dx.

    >>> float(collet.trapezoid([1.0, 2, 3]))
    4.0"""
    y, = taken(y)
    y = collet.moveaxis(y, axis, -1)
    if x is not None:
        x, = taken(x)
        dx = collet.diff(x if x.ndim == 1 else collet.moveaxis(x, axis, -1))
    return collet.sum((y[..., 1:] + y[..., :-1]) * dx / 2.0, axis=-1)


# ---- Arrangement


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
    """The arrays, numbers as vectors of one element; a tuple of several.

    >>> collet.atleast_1d(3)
    array([3])"""
    return _at_least(1, arrays)


def atleast_2d(*arrays):
    """The arrays, vectors as rows of a matrix; a tuple of several.

    >>> collet.atleast_2d([1, 2])
    array([[1, 2]])"""
    return _at_least(2, arrays)


def hstack(tup):
    """The arrays one behind the other along the second axis, vectors along their only one.

    >>> collet.hstack([[1, 2], [3]])
    array([1, 2, 3])"""
    parts = [atleast_1d(x) for x in tup]
    return collet.concat(parts, axis=min(1, parts[0].ndim - 1) if parts else 0)


def vstack(tup):
    """The arrays one below the other along the first axis; vectors are rows.

    >>> collet.vstack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])"""
    return collet.concat([atleast_2d(x) for x in tup], axis=0)


def split(x, indices_or_sections, /, axis=0):
    """Views of parts of an axis: of that many equal ones, or of those that begin at the indices.

    >>> [len(part) for part in collet.split([1, 2, 3, 4, 5], [1, 3])]
    [1, 2, 2]"""
    x, = taken(x)
    extent = x.shape[axis]
    if hasattr(indices_or_sections, "__index__"):
        count = operator.index(indices_or_sections)
        if count < 1 or extent % count:
            raise ValueError(f"split: an axis of length {extent} has no {count} equal parts")
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
    return collet.permute_dims(x, tuple(order))


def sliding_window_view(x, window_shape, axis=None):
    """A read-only view of all windows of `window_shape` elements, an integer or one for each axis, along the
    given axes, by default all: the windows are the last axes.

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
        x = x._windows(k, length) if isinstance(x, Array) else _copied_windows(x, k, length)
    return x


def _copied_windows(x, axis, length):
    places = np.arange(x.shape[axis] - length + 1)[:, None] + np.arange(length)
    return collet.moveaxis(collet.moveaxis(x, axis, -1)[..., places], -2, axis)


# ---- Sorting


def partition(x, kth, /, axis=-1):
    """The elements along an axis, with the one in its place that sorting puts at kth, in front of it those
    that are not greater, behind it those that are not smaller; several places need a complete sort.

    >>> int(collet.partition([3, 1, 2], 1)[1])
    2"""
    x, axis = along(*taken(x), axis)
    if hasattr(kth, "__index__") and x.dtype.kind != "b" and isinstance(x, (Array, np.ndarray)):
        extent, kth = x.shape[axis], operator.index(kth)
        if not -extent <= kth < extent:
            raise ValueError(f"partition: kth is {kth}; the axis has {extent} elements")
        return op.partition(x, axis=axis % x.ndim, kth=kth % extent)
    return collet.sort(x, axis=axis)


def argpartition(x, kth, /, axis=-1):
    """The indices of the elements in the order of partition, here of a complete sort.

    >>> collet.argpartition([3, 1, 2], 0)
    array([1, 2, 0])"""
    x, axis = along(*taken(x), axis)
    return collet.argsort(x, axis=axis)


def argwhere(x, /):
    """The indices of the elements that are not 0, in C order, a row for each.

    >>> collet.argwhere([[0, 5], [6, 0]])
    array([[0, 1],
           [1, 0]])"""
    x, = taken(x)
    return collet.stack(collet.nonzero(x), axis=1)


# ---- Products


def dot(a, b):
    """The sum over the last axis of a and the second to last, or only, axis of b; with a number the product.

    >>> int(collet.dot([1, 2], [3, 4]))
    11"""
    a, b = taken(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return collet.matmul(a, b) if b.ndim <= 2 else collet.tensordot(a, b, axes=((-1,), (-2,)))


def inner(a, b):
    """The sum over the last axes of both; with a number the product.

    >>> int(collet.inner([1, 2], [3, 4]))
    11"""
    a, b = taken(a, b)
    return collet.tensordot(a, b, axes=((-1,), (-1,))) if a.ndim and b.ndim else a * b


def vdot(a, b):
    """The sum of the products of all elements, those of a conjugated.

    >>> complex(collet.vdot([1j, 2], [1j, 4]))
    (9+0j)"""
    return collet.vecdot(ravel(a), ravel(b))


def kron(a, b):
    """The Kronecker product: blocks of b, times each element of a.

    >>> collet.kron([1, 2], [1, 10])
    array([ 1, 10,  2, 20])"""
    a, b = taken(a, b)
    ndim = max(a.ndim, b.ndim)
    a, b = ((1,) * (ndim - x.ndim) + tuple(x.shape) for x in (a, b)), (a, b)
    (m, n), (a, b) = a, b
    a = a.reshape([k for extent in m for k in (extent, 1)])
    b = b.reshape([k for extent in n for k in (1, extent)])
    return (a * b).reshape([i * j for i, j in zip(m, n)])


def diag(x, /, k=0):
    """The diagonal of a matrix, or the matrix with the diagonal x; k > 0: above the main one.

    >>> collet.diag([1, 2])
    array([[1, 0],
           [0, 2]])"""
    x, = taken(x)
    if x.ndim == 2:
        return collet.diagonal(x, offset=k)
    if x.ndim != 1:
        raise ValueError(f"diag: the array has {x.ndim} axes; it can have 1 or 2")
    found = zeros_as(x, (x.shape[0] + abs(k),) * 2)
    collet.diagonal(found, offset=k)[...] = x
    return found
