# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py
"""Norms and condition numbers."""

import numpy as np

from .. import op
from .._array.operands import axes_of, converted, permuted, same_kind
from .._core import Array, ShapeError, evaluate, is_pending
from ._arguments import matrix, numbers
from ._decompositions import svdvals
from ._equations import inv


def _as_vector(x):
    """The elements of a real Array as a vector view, in any order. None for other arrays, for Arrays
    without such a view, and for lazy Arrays: these are computed together with the norm."""
    single = isinstance(x, Array) and x._dtype in ("float32", "float64")
    if not single or not x.ndim or x.ndim > 1 and is_pending(x):
        return None
    try:
        return x if x.ndim == 1 else x._permute(sorted(range(x.ndim), key=lambda i: -x.strides[i]))._view([-1])
    except ShapeError:
        return None


def _size(x, ord=2):
    """Magnitudes. For the 2-norm of real numbers returns x itself, because the squares are equal."""
    return x if ord == 2 and x.dtype.kind == "f" else op.abs(x)


def _root_of_dot(x):
    """The Euclidean norm of a real vector; squares of float32 do not overflow in float64."""
    square = op.dot(x, x, dtype="float64")
    return op.sqrt(square) if x.dtype.itemsize == 8 else op.copy(op.sqrt(square), dtype="float32")


def _euclidean(x, axes, keepdims=True):
    where = f"axis={axes}, " if len(axes) < x.ndim else ""
    return op.sqrt(evaluate(f"sum(x*x, {where}keepdims={keepdims})", {"x": x}))


def _vector_norm(x, ord, axes):
    if ord == 0:
        return converted(op.count_nonzero(x, axes=axes, keepdims=True), x.dtype)
    found = {1: op.sum, 2: _euclidean, np.inf: op.max, -np.inf: op.min}.get(ord)
    if found:
        return found(x, axes=axes, keepdims=True)
    if not isinstance(ord, (int, float)):
        raise ValueError(f"norm: ord of a vector is {ord!r}; it can be None or a number")
    return op.pow(op.sum(op.pow(x, ord), axes=axes, keepdims=True), 1 / ord)


def _matrix_norm(x, ord, axes):
    if ord in (1, -1, np.inf, -np.inf):
        first, second = axes if abs(ord) == 1 else axes[::-1]
        sums = op.sum(x, axes=first, keepdims=True)
        return (op.max if ord > 0 else op.min)(sums, axes=second, keepdims=True)
    found = {2: op.max, -2: op.min, "nuc": op.sum}.get(ord)
    if not found:
        raise ValueError(f"norm: ord of a matrix is {ord!r}; it can be None, 'fro', 'nuc', 1, -1, "
                         "2, -2, inf or -inf")
    others = [i for i in range(x.ndim) if i not in axes]
    values = found(svdvals(permuted(x, [*others, *axes])), axes=-1)
    return values.reshape([1 if i in axes else n for i, n in enumerate(x.shape)])


def _without(x, axes, keepdims):
    """Removes the reduced axes of length 1, unless keepdims."""
    return x if keepdims else x.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def norm(x, ord=None, axis=None, keepdims=False):
    """Norms of vectors (axis is an int) or of matrices (axis is two ints). Without axis: the norm of all
    elements if ord is None, else of x as a vector or matrix.

    ord of vectors: None or 2 (Euclidean), 0 (how many are not 0), inf, -inf, or a number p, the p-th root
    of the sum of p-th powers; of matrices: None or "fro" (Frobenius),
    "nuc", 1, -1, 2, -2, inf, -inf.
    keepdims: the axes stay, with length 1. Raises ValueError for another ord or axis.

    >>> float(collet.linalg.norm([3, 4]))
    5.0"""
    vector = _as_vector(x) if axis is None and not keepdims and ord in (None, 2) else None
    if vector is not None and (ord is None or x.ndim == 1):
        return _root_of_dot(vector)
    x, = numbers(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    if ord is not None and len(axes) not in (1, 2):
        raise ValueError(f"norm: {len(axes)} axes with ord {ord!r}; give one axis or two")
    if ord is None or (ord == "fro" and len(axes) == 2):
        result = _euclidean(_size(x), axes)
    elif len(axes) == 1:
        result = _vector_norm(_size(x, ord), ord, axes)
    else:
        result = _matrix_norm(x if ord in (2, -2, "nuc") else op.abs(x), ord, axes)
    return _without(result, axes, keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norms of vectors along axes, by default of all elements. ord: as in norm.

    >>> float(collet.linalg.vector_norm([3, 4]))
    5.0"""
    vector = _as_vector(x) if ord == 2 and axis is None and not keepdims else None
    if vector is not None:
        return _root_of_dot(vector)
    x, = numbers(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    size = _size(x, ord if axes else 1)
    return _without(_vector_norm(size, ord, axes) if axes else size, axes, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of the matrices in the last two axes. ord: as in norm.

    >>> float(collet.linalg.matrix_norm([[1, 2], [3, 4]], ord=1))
    6.0"""
    return norm(matrix(x), ord, axis=(-2, -1), keepdims=keepdims)


def cond(x, p=None):
    """The condition number (...) of matrices: the ratio of the largest to the smallest singular value, inf
    if the smallest is 0. p: an ord of norm; then the condition number of square matrices in that norm.
    Raises LinAlgError if a matrix has no inverse.

    >>> float(collet.linalg.cond([[2, 0], [0, 4]]))
    2.0"""
    x = matrix(x)
    if p is None or p == 2:
        s = svdvals(x)
        ratio = op.div(s[..., 0], s[..., -1])
        return op.where(op.equal(s[..., 0], same_kind(np.zeros((), s.dtype), s)), same_kind(np.full((), np.inf, s.dtype), s), ratio)
    return op.mul(norm(x, p, axis=(-2, -1)), norm(inv(x), p, axis=(-2, -1)))
