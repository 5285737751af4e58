# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py, python/tests/linalg/test_linalg_equations.py
"""Decompositions."""

import math
import operator
from collections import namedtuple

import numpy as np

from .. import op
from .._core import ShapeError
from .._array.operands import converted, same_kind, zeros_as
from ..functions import matrix_transpose, tril
from ._arguments import adjoint, check, matrix, numbers
from ._equations import solve_triangular

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors", module=__package__)
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors", module=__package__)
LUResult = namedtuple("LUResult", "P L U", module=__package__)
QRResult = namedtuple("QRResult", "Q R", module=__package__)
SVDResult = namedtuple("SVDResult", "U S Vh", module=__package__)


def lu(a):
    """Factors a = P L U with partial pivoting, as scipy.linalg.lu. For a (..., M, N) and K = min(M, N): the
    permutation matrix P (..., M, M), L (..., M, K) with ones on its diagonal, U (..., K, N).

    A singular matrix is not an error. collet.op.lu returns the permutation as indices.

    >>> collet.linalg.lu([[0, 2], [4, 0]]).U
    array([[4., 0.],
           [0., 2.]])"""
    a = matrix(a)
    perm, lower, upper, _ = op.lu(a)
    rows = same_kind(np.arange(a.shape[-2], dtype="i4"), a)[:, None]
    chosen = op.equal(rows, perm[..., None, :])
    return LUResult(converted(chosen, op.abs(upper[:0]).dtype), lower, upper)


def _exchanges(perm, steps):
    """The exchanges of rows that make the permutations perm (..., M), as LAPACK stores them: at step k, rows k and
    exchanges[..., k] are exchanged."""
    flat = np.asarray(perm).reshape((math.prod(perm.shape[:-1]), perm.shape[-1]))
    order, matrices = np.tile(np.arange(flat.shape[1]), (len(flat), 1)), np.arange(len(flat))
    place, found = order.copy(), np.empty((len(flat), steps), "i4")
    for k in range(steps):
        found[:, k] = at = place[matrices, flat[:, k]]
        moved = order[:, k]
        order[matrices, at] = moved
        place[matrices, moved] = at
    return found.reshape((*perm.shape[:-1], steps))


def lu_factor(a):
    """Factors a = P L U, as lu, for lu_solve. Returns (lu, piv), as scipy.linalg.lu_factor. For a (..., M, N) and K =
    min(M, N): lu (..., M, N) has U on and above its diagonal and L, without the ones of L's diagonal, below. piv (..., K),
    int32: row k was exchanged with row piv[k], for k from 0 on.

    A singular matrix is not an error.

    >>> collet.linalg.lu_factor([[0, 2], [4, 0]])[1]
    array([1, 1], dtype=int32)"""
    a = matrix(a)
    perm, lower, upper, _ = op.lu(a)
    steps, packed = upper.shape[-2], zeros_as(a, a.shape)
    packed[..., :steps] = tril(lower, k=-1)
    op.add(packed[..., :steps, :], upper, out=packed[..., :steps, :])
    return packed, same_kind(_exchanges(perm, steps), a)


def qr(a, mode="reduced"):
    """Factors a = Q R: the columns of Q are orthonormal, R is triangular with a diagonal >= 0. For a (...,
    M, N) and K = min(M, N): Q (..., M, K) and R (..., K, N).

    mode="complete": Q (..., M, M), R (..., M, N); "r": R alone.

    >>> collet.linalg.qr([[3], [4]], "r").shape
    (1, 1)"""
    a = matrix(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode is {mode!r}; it can be 'reduced', 'complete' or 'r'")
    rows, columns = a.shape[-2:]
    if mode == "complete" and columns < rows:
        padded = zeros_as(a, (*a.shape[:-1], rows))
        padded[..., :columns] = a
        q, r = op.qr(padded)
        return QRResult(q, r[..., :columns])
    q, r = op.qr(a)
    return r if mode == "r" else QRResult(q, r)


def svd(a, full_matrices=True, compute_uv=True):
    """Factors a = U diag(S) Vh, with S descending. For a (..., M, N) and K = min(M, N): U (..., M, M), S
    (..., K), Vh (..., N, N). Without full_matrices: U (..., M, K), Vh (..., K, N). Without compute_uv: only
    S.

    Raises LinAlgError if a is not finite or the iteration does not converge.

    >>> collet.linalg.svd([[3, 0], [0, 4]]).S
    array([4., 3.])"""
    a = matrix(a)
    u, s, vh, info = op.svd(a)
    check(info, "svd: a matrix is not finite, or the iteration did not converge")
    if not compute_uv:
        return s
    if full_matrices:  # qr adds columns; the columns of U keep their signs, because R's diagonal is >= 0
        rows, columns = a.shape[-2:]
        u = qr(u, "complete").Q if rows > columns else u
        vh = matrix_transpose(qr(matrix_transpose(vh), "complete").Q) if rows < columns else vh
    return SVDResult(u, s, vh)


def svdvals(a):
    """The singular values (..., K), descending. LinAlgError as svd.

    >>> collet.linalg.svdvals([[3, 0], [0, 4]])
    array([4., 3.])"""
    return svd(a, compute_uv=False)


def eig(a):
    """Eigenvalues (..., N), in any order, and right eigenvectors (..., N, N) of square matrices. The
    eigenvectors are columns of norm 1. Both results are always complex. Complex eigenvalues of real
    matrices come in exact conjugate pairs, with the positive imaginary part first.

    Raises LinAlgError if a is not finite or the iteration does not converge.

    >>> collet.linalg.eig([[2]]).eigenvalues
    array([2.+0.j])"""
    values, vectors, info = op.eig(matrix(a, square=True))
    check(info, "eig: a matrix is not finite, or the iteration did not converge")
    return EigResult(values, vectors)


def eigvals(a):
    """The eigenvalues of eig.

    >>> collet.linalg.eigvals([[2]])
    array([2.+0.j])"""
    return eig(a).eigenvalues


def eigh(a, b=None, UPLO="L", *, subset_by_index=None):
    """Eigenvalues (..., N), ascending, and eigenvectors (..., N, N) of symmetric or Hermitian matrices. The
    eigenvectors are columns. Only the lower triangle is read; with UPLO="U" only the upper triangle.

    With b, which has to be positive definite: solves a x = w b x for the eigenvalues w, as scipy.linalg.eigh. The
    eigenvectors X then have X^H b X = 1. UPLO is also accepted as the second argument, as in NumPy.

    subset_by_index: (first, last), the indices of the first and the last eigenvalue to return, as in SciPy. All are
    computed.

    Raises LinAlgError if a is not finite, the iteration does not converge, or b is not positive definite.

    >>> collet.linalg.eigh([[3, 0], [0, 2]]).eigenvalues
    array([2., 3.])"""
    if isinstance(b, str):
        b, UPLO = None, b
    if UPLO not in ("L", "U"):
        raise ValueError(f"eigh: UPLO is {UPLO!r}; it can be 'L' or 'U'")
    a = matrix(a, square=True)
    chosen = slice(None) if subset_by_index is None else _subset(subset_by_index, a.shape[-1])
    if b is not None:
        values, vectors = _eigh_of_pair(*numbers(a, matrix(b, square=True)), UPLO == "L")
    else:
        values, vectors = _eigh(a if UPLO == "L" else adjoint(a))
    return EighResult(values[..., chosen], vectors[..., chosen])


def _subset(indices, order):
    """The slice of the eigenvalues first to last."""
    try:
        first, last = map(operator.index, indices)
    except (TypeError, ValueError):
        raise TypeError(f"eigh: subset_by_index is {indices!r}; it must be two integers, the first and the last index") from None
    if not 0 <= first <= last < order:
        raise ValueError(f"eigh: subset_by_index is {indices!r}; it must be two ascending integers from 0 to {order - 1}")
    return slice(first, last + 1)


def _eigh(a):
    values, vectors, info = op.eigh(a)
    check(info, "eigh: a matrix is not finite, or the iteration did not converge")
    return EighResult(values, vectors)


def _eigh_of_pair(a, b, lower):
    """eigh(a, b) by b = L L^H: the eigenvalues are the eigenvalues of L^-1 a L^-H."""
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"eigh: a has the shape {a.shape} and b {b.shape}; the orders of their matrices have to be equal")
    a, b = (a, b) if lower else (adjoint(a), adjoint(b))
    factor, info = op.cholesky(b)
    check(info, "eigh: a matrix b is not positive definite")
    half = solve_triangular(factor, op.add(tril(a), adjoint(tril(a, k=-1))), lower=True)
    values, vectors = _eigh(solve_triangular(factor, adjoint(half), lower=True))
    return EighResult(values, solve_triangular(factor, vectors, trans=2, lower=True))


def eigvalsh(a, b=None, UPLO="L"):
    """The eigenvalues of eigh.

    >>> collet.linalg.eigvalsh([[3, 0], [0, 2]])
    array([2., 3.])"""
    return eigh(a, b, UPLO).eigenvalues


def cholesky(a, *, upper=False):
    """Factors symmetric or Hermitian matrices: a = L L^H. Returns L; reads only the lower triangle of a.
    upper=True: returns U of a = U^H U, and reads only the upper triangle. Raises LinAlgError if a matrix is not
    positive definite.

    >>> collet.linalg.cholesky([[4]])
    array([[2.]])"""
    a = matrix(a, square=True)
    lower, info = op.cholesky(adjoint(a) if upper else a)
    check(info, "cholesky: a matrix is not positive definite")
    return adjoint(lower) if upper else lower
