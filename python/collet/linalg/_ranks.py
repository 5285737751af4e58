# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py, python/tests/linalg/test_linalg_equations.py
"""Ranks, and functions that depend on ranks: least squares, pseudo-inverses, bases of ranges and null spaces."""

from collections import namedtuple

import numpy as np

from .. import op
from .._array.operands import converted, floats, zeros_as
from .._core import ShapeError
from ._arguments import adjoint, columns, like_sides, matrix, numbers
from ._decompositions import svd, svdvals

LstsqResult = namedtuple("LstsqResult", "x residuals rank s", module=__package__)


def _significant(s, extent, rtol):
    """Whether singular values (..., K) exceed rtol times the largest singular value."""
    rtol = np.finfo(s.dtype).eps * extent if rtol is None else rtol
    rtol = converted(floats(rtol)[0], s.dtype)[..., None] if np.ndim(rtol) else float(rtol)
    return op.greater(s, op.mul(s[..., :1], rtol))


def _reciprocals(s, kept, dtype):
    """1 / s for the singular values that are kept, else 0."""
    return converted(op.where(kept, op.reciprocal(s), zeros_as(s, ())), dtype)


def pinv(a, rtol=None):
    """The pseudo-inverse (..., N, M) of a (..., M, N). Singular values up to rtol times the
    largest count as 0; the default is the dtype's eps times max(M, N).

    >>> collet.linalg.pinv([[2.0], [0.0]])
    array([[0.5, 0. ]])"""
    u, s, vh = svd(a, full_matrices=False)
    factors = _reciprocals(s, _significant(s, max(u.shape[-2], vh.shape[-1]), rtol), u.dtype)
    return op.matmul(op.mul(adjoint(vh), factors[..., None, :]), adjoint(u))


def matrix_rank(a, rtol=None):
    """The number of singular values that exceed rtol times the largest: int64 (...). The default rtol is
    the dtype's eps times max(M, N).

    >>> int(collet.linalg.matrix_rank([[1, 2], [2, 4]]))
    1"""
    a = matrix(a)
    return op.count_nonzero(_significant(svdvals(a), max(a.shape[-2:]), rtol), axes=-1)


def lstsq(a, b, rcond=None):
    """The x of smallest norm among all x that minimise |b - a x|: least squares for a matrix of any shape
    and rank. a: (..., M, N). b: (M,) or (..., M, R).

    Returns (x, residuals, rank, s), as numpy.linalg.lstsq. x: (..., N) or (..., N, R). residuals: the sums of squares of
    b - a x, (..., R), or (1,) if b is a vector. rank: int64 (...). s: the singular values of a, (..., K). Singular values up
    to rcond times the largest count as 0; the default is the dtype's eps times max(M, N), and eps if rcond < 0.
    If there is no batch, and M <= N or rank < N, residuals is empty, as in NumPy.

    >>> collet.linalg.lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5]).x.round(9)
    array([1., 2.])"""
    a, b = numbers(matrix(a), b)
    sides, (rows, order) = columns("lstsq", a, b), a.shape[-2:]
    u, s, vh = svd(a, full_matrices=False)
    kept = _significant(s, max(rows, order), np.finfo(s.dtype).eps if rcond is not None and rcond < 0 else rcond)
    parts = op.mul(op.matmul(adjoint(u), sides), _reciprocals(s, kept, u.dtype)[..., None])
    x, rank = op.matmul(adjoint(vh), parts), op.count_nonzero(kept, axes=-1)
    error = op.abs(op.sub(sides, op.matmul(a, x)))
    residuals = op.sum(op.mul(error, error), axes=-2)
    if residuals.ndim == 1 and (rows <= order or int(rank) < order):
        residuals = residuals[:0]
    return LstsqResult(like_sides(x, b), residuals, rank, s)


def _common_rank(name, s, extent, rcond):
    ranks = op.count_nonzero(_significant(s, extent, rcond), axes=-1)
    if not ranks.size:
        return 0
    low, high = int(op.min(ranks)), int(op.max(ranks))
    if low < high:
        raise ShapeError(f"{name}: the matrices of the batch have ranks from {low} to {high}, so that the results differ in "
                         "shape: call it for each matrix")
    return low


def orth(A, rcond=None):
    """An orthonormal basis (..., M, rank) of the range of A (..., M, N), as scipy.linalg.orth. rcond: as rtol in
    matrix_rank. Raises ShapeError if the matrices of a batch have different ranks.

    >>> collet.linalg.orth([[2, 0], [0, 0]]).shape
    (2, 1)"""
    u, s, vh = svd(A, full_matrices=False)
    return u[..., :_common_rank("orth", s, max(u.shape[-2], vh.shape[-1]), rcond)]


def null_space(A, rcond=None):
    """An orthonormal basis (..., N, N - rank) of the null space of A (..., M, N), as scipy.linalg.null_space. rcond: as
    rtol in matrix_rank. Raises ShapeError if the matrices of a batch have different ranks.

    >>> abs(collet.linalg.null_space([[2, 0], [0, 0]]))
    array([[0.],
           [1.]])"""
    u, s, vh = svd(A)
    return adjoint(vh[..., _common_rank("null_space", s, max(u.shape[-1], vh.shape[-1]), rcond):, :])
