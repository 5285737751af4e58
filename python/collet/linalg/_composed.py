# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg_equations.py
"""Functions that are composed of other functions, and so need no rules for gradients."""

import math
import operator

import numpy as np

from .. import _hook as hook
from .._array.operands import axes_of, same_kind, taken
from .._core import Array, ShapeError
from ..functions import _primitives as f
from ..functions import broadcast_shapes, broadcast_to, expand_dims, matmul, moveaxis, reshape, take_along_axis
from ._equations import transposition
from ._primitives import cholesky, inv, solve, solve_triangular


def _split(sizes):
    """Returns a dict from (first, last) to k: where to split each part of the chain, the matrices first to last. The
    product of the matrices first to k - 1, times the product of the matrices k to last, takes the fewest operations."""
    count, cost, best = len(sizes) - 1, {}, {}
    for length in range(count):
        for first in range(count - length):
            last = first + length
            cost[first, last], best[first, last] = min(
                ((cost[first, k - 1] + cost[k, last] + sizes[first] * sizes[k] * sizes[last + 1], k)
                 for k in range(first + 1, last + 1)), default=(0, last))
    return best


def multi_dot(arrays):
    """The product of two or more matrices, multiplied in the order that needs the fewest operations. The first and the
    last may be vectors. Matrices may have batch axes before the last two, which are broadcast.

    >>> collet.linalg.multi_dot([[1, 2], [[1, 0], [0, 3]], [1, 1]])
    array(7)"""
    chain = taken(*arrays)
    if len(chain) < 2:
        raise ValueError(f"multi_dot: {len(chain)} arrays; at least two are needed")
    for i, x in enumerate(chain):
        if x.ndim < (1 if i in (0, len(chain) - 1) else 2):
            raise ShapeError(f"multi_dot: array {i} has {x.ndim} axes; matrices are needed, or vectors at both ends")
    sizes = [math.prod(chain[0].shape[-2:-1]), *(x.shape[-2:][0] for x in chain[1:]),
             chain[-1].shape[-1] if chain[-1].ndim > 1 else 1]
    best = _split(sizes)

    def product(first, last):
        k = best[first, last]
        return chain[first] if first == last else matmul(product(first, k - 1), product(k, last))

    return product(0, len(chain) - 1)


def _square(name, a, rows, shape):
    """Returns a as a square matrix, with a column for each element of an array of the shape `shape`. Raises ShapeError
    if this number differs from `rows`."""
    if rows != math.prod(shape):
        raise ShapeError(f"{name}: the axes of a make {rows} rows and {math.prod(shape)} columns; a square matrix is needed")
    return reshape(a, (rows, rows))


def tensorsolve(a, b, axes=None):
    """Solves tensordot(a, x, x.ndim) = b for x. a has the axes of b, followed by the axes of x. axes: axes of a that
    are first moved to its end. Raises LinAlgError if a is singular.

    >>> collet.linalg.tensorsolve(2 * np.eye(4).reshape(2, 2, 4), [[2, 4], [6, 8]])
    array([1., 2., 3., 4.])"""
    a, b = taken(a, b)
    if axes is not None:
        listed = axes_of(axes, a.ndim)
        a = moveaxis(a, listed, tuple(range(a.ndim - len(listed), a.ndim)))
    shape = tuple(a.shape[b.ndim:])
    return reshape(solve(_square("tensorsolve", a, math.prod(b.shape), shape), reshape(b, -1)), shape)


def tensorinv(a, ind=2):
    """The inverse of tensordot with a: tensordot(tensorinv(a, ind), b, ind) solves tensordot(a, x, x.ndim) = b. The
    first `ind` axes of a are the axes of b, and the last axes of the result. Raises LinAlgError if a is singular.

    >>> collet.linalg.tensorinv(2 * np.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)"""
    (a,), ind = taken(a), operator.index(ind)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind is {ind}; it has to be positive")
    first, last = tuple(a.shape[:ind]), tuple(a.shape[ind:])
    return reshape(inv(_square("tensorinv", a, math.prod(first), last)), last + first)


def _rows_taken(pivots, inverse):
    """The permutations (..., N) that exchanges of rows produce, or their inverses, computed by NumPy."""
    flat = np.asarray(pivots).reshape((math.prod(pivots.shape[:-1]), pivots.shape[-1]))
    order, matrices = np.tile(np.arange(flat.shape[1]), (len(flat), 1)), np.arange(len(flat))
    for k, at in enumerate(flat.T):
        order[matrices, at], order[:, k] = order[:, k], order[matrices, at].copy()
    return (np.argsort(order, -1) if inverse else order).reshape(pivots.shape)


def _rows_followed(pivots, inverse):
    """Like _rows_taken, for pivots whose values are not known while collet.jit records: exchanges rows by where."""
    n = pivots.shape[-1]
    places = f.arange(n)
    order = broadcast_to(places, pivots.shape)
    for k in range(n):
        at = pivots[..., k:k + 1]
        other = take_along_axis(order, at, axis=-1)
        order = f.where(places == k, other, f.where(places == at, order[..., k:k + 1], order))
    return f.argsort(order, axis=-1) if inverse else order


def _exchanged(b, pivots, inverse):
    """b (..., N, R) with its rows exchanged."""
    if hook.traced(pivots):
        rows = expand_dims(_rows_followed(pivots, inverse), -1)
        shape = (*broadcast_shapes(rows.shape[:-2], b.shape[:-2]), *b.shape[-2:])
        return take_along_axis(broadcast_to(b, shape), broadcast_to(rows, shape), axis=-2)
    rows = _rows_taken(pivots, inverse)[..., None]
    batch = broadcast_shapes(rows.shape[:-2], b.shape[:-2])
    rows = np.broadcast_to(rows, (*batch, b.shape[-2], b.shape[-1]))
    b = broadcast_to(b, rows.shape)
    return take_along_axis(b, rows if isinstance(b, np.ndarray) else same_kind(rows.copy(), b), axis=-2)


def lu_solve(lu_and_piv, b, trans=0):
    """Solves a x = b for x with (lu, piv) of lu_factor(a). b: (N,) or (..., N, R). trans: 1 or "T" solves a^T x = b, 2 or
    "C" solves a^H x = b. Raises LinAlgError if a matrix is singular.

    >>> collet.linalg.lu_solve(collet.linalg.lu_factor([[0, 2], [4, 0]]), [2, 4])
    array([1., 1.])"""
    (lu, pivots), trans = lu_and_piv, transposition("lu_solve", trans)
    lu, b = taken(lu, b)
    x = expand_dims(b, -1) if b.ndim == 1 else b
    if lu.ndim < 2 or lu.shape[-2:] != (x.shape[-2],) * 2:
        raise ShapeError(f"lu_solve: lu has the shape {lu.shape} and b {b.shape}; square matrices are needed, and b with as "
                         "many rows")
    x = x if trans else _exchanged(x, pivots, False)
    for lower in (False, True) if trans else (True, False):
        x = solve_triangular(lu, x, trans, lower, unit_diagonal=lower)
    x = _exchanged(x, pivots, True) if trans else x
    return x[..., 0] if b.ndim == 1 else x


def cho_factor(a, lower=False):
    """Factors symmetric or Hermitian matrices for cho_solve. Returns (c, lower), as scipy.linalg.cho_factor: c is
    cholesky(a, upper=not lower), with zeros in the other triangle.

    >>> collet.linalg.cho_factor([[4]])
    (array([[2.]]), False)"""
    return cholesky(a, upper=not lower), bool(lower)


def cho_solve(c_and_lower, b):
    """Solves a x = b for x with (c, lower) of cho_factor(a). b: (N,) or (..., N, R).

    >>> collet.linalg.cho_solve(collet.linalg.cho_factor([[4]]), [8])
    array([2.])"""
    c, lower = c_and_lower
    return solve_triangular(c, solve_triangular(c, b, 0 if lower else 2, lower), 2 if lower else 0, lower)
