# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_linalg.py
"""Linear algebra under numpy.linalg's names, on the ops of collet.op.

Matrices are the last two axes, axes before them a batch. NumPy arrays, and what numpy.asarray
takes, give NumPy arrays; collet.Arrays give collet.Arrays. Results are f32 if all arguments are
f32, f16 or bf16, else f64; c64 or c128 if one is complex. Shapes that do not fit raise
collet.ShapeError. A result of one number is an array
without axes.
"""

from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError

from . import op
from ._core import ShapeError
from ._operands import arrays, axes_of, floats, permuted, same_kind, zeros_like

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
LUResult = namedtuple("LUResult", "P L U")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _numbers(*values):
    return floats(*values, complex_too=True)


def _matrices(a, square=False):
    a, = _numbers(a)
    if a.ndim < 2 or (square and a.shape[-1] != a.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ShapeError(f"the shape is {a.shape}; {kind} in the last two axes are needed")
    return a


def _check(info, what):
    if np.any(np.asarray(info)):
        raise LinAlgError(what)


def _eye(a):
    return same_kind(np.eye(a.shape[-1], dtype=a.dtype), a)


def _conj(a):
    return op.conj(a) if a.dtype.kind == "c" else a


def _adjoint(a):
    return _conj(matrix_transpose(a))


# ---- Products


def matrix_transpose(x):
    """A view with the last two axes swapped. Any dtype."""
    x, = arrays(x)
    if x.ndim < 2:
        raise ShapeError(f"the shape is {x.shape}; two axes are needed")
    return permuted(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def matmul(a, b):
    """The product of (..., M, K) and (..., K, N), batch axes broadcast: (..., M, N). An argument
    with one axis is a vector, whose axis is not in the result."""
    a, b = _numbers(a, b)
    if not a.ndim or not b.ndim:
        raise ShapeError("matmul: an argument has no axes; multiply by it instead")
    if a.ndim == 1 and b.ndim == 1:
        return op.dot(a, b)
    if b.ndim == 1:
        return op.matvec(a, b)
    return op.matvec(matrix_transpose(b), a) if a.ndim == 1 else op.matmul(a, b)


def dot(a, b):
    """The sum over the last axis of a and the second to last, or only, axis of b, as numpy.dot: a
    number for vectors, the product for matrices; if an argument has no axes, the product with that
    number."""
    a, b = _numbers(a, b)
    if not a.ndim or not b.ndim:
        return op.mul(a, b)
    if b.ndim <= 2:
        return matmul(a, b)
    rest = b.shape[:-2] + b.shape[-1:]
    columns = permuted(b, [b.ndim - 2, *range(b.ndim - 2), b.ndim - 1])
    product = matmul(a, columns.reshape((b.shape[-2], -1)))
    return product.reshape(tuple(a.shape[:-1]) + tuple(rest))


def vdot(a, b):
    """The inner product of all elements of a, conjugated if complex, and b: a number. Sums are
    compensated."""
    a, b = _numbers(a, b)
    return op.dot(_conj(a).reshape(-1), b.reshape(-1))


def outer(a, b):
    """All products of an element of a and one of b: (size of a, size of b)."""
    a, b = _numbers(a, b)
    return op.mul(a.reshape((-1, 1)), b.reshape((1, -1)))


def matrix_power(a, n):
    """The n-th power of square matrices; a negative n gives powers of the inverse, or LinAlgError
    if singular."""
    a = _matrices(a, square=True)
    if n < 0:
        a, n = inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else op.matmul(result, a)
        n >>= 1
        a = op.matmul(a, a) if n else a
    return op.add(zeros_like(a, a.shape), _eye(a)) if result is None else result


# ---- Equations


def solve(a, b):
    """x of a x = b, for square a (..., N, N) and b (N,) or (..., N, R): (..., N) or (..., N, R).

    LinAlgError if a matrix is singular (an exact zero as pivot). NaN where a or b is not finite."""
    a, b = _numbers(_matrices(a, square=True), b)
    x, info = op.solve(a, b[:, None] if b.ndim == 1 else b)
    _check(info, f"solve: matrix {int(info) - 1} is singular")
    return x[..., 0] if b.ndim == 1 else x


def inv(a):
    """The inverse of square matrices. LinAlgError if one is singular."""
    a = _matrices(a, square=True)
    return solve(a, _eye(a))


def pinv(a, rcond=None):
    """The pseudo-inverse (..., N, M) of a (..., M, N). Singular values up to rcond times the
    largest count as 0; the default is the dtype's eps times max(M, N)."""
    u, s, vh = svd(a, full_matrices=False)
    values = np.asarray(s)
    kept = values > _cutoff(values, max(u.shape[-2], vh.shape[-1]), rcond)
    inverse = np.divide(1, values, out=np.zeros_like(values), where=kept)
    factors = inverse[..., None, :].astype(u.dtype)
    return op.matmul(op.mul(_adjoint(vh), same_kind(factors, s)), _adjoint(u))


def _cutoff(values, extent, relative):
    if relative is None:
        relative = np.finfo(values.dtype).eps * extent
    return relative * values.max(axis=-1, keepdims=True, initial=0)


def matrix_rank(a, rtol=None):
    """How many singular values exceed rtol times the largest: int64 (...). The default of rtol is
    the dtype's eps times max(M, N)."""
    a = _matrices(a)
    values = np.asarray(svdvals(a))
    count = np.sum(values > _cutoff(values, max(a.shape[-2:]), rtol), axis=-1)
    return same_kind(np.asarray(count, "i8"), a)


# ---- Decompositions


def lu(a):
    """P, L, U with a = P L U, by partial pivoting, as scipy.linalg.lu: for a (..., M, N), with
    K = min(M, N), the permutation matrix P (..., M, M), L (..., M, K) with ones on its diagonal,
    U (..., K, N).

    A singular matrix is not an error. collet.op.lu returns the permutation as indices."""
    a = _matrices(a)
    perm, lower, upper, _ = op.lu(a)
    rows = np.eye(a.shape[-2], dtype=np.zeros(0, a.dtype).real.dtype)[np.asarray(perm)]
    return LUResult(same_kind(np.swapaxes(rows, -1, -2), a), lower, upper)


def qr(a, mode="reduced"):
    """Q, R with a = Q R, Q with orthonormal columns, R triangular with a diagonal >= 0: for a (...,
    M, N), with K = min(M, N), Q (..., M, K) and R (..., K, N).

    mode="complete": Q (..., M, M), R (..., M, N); "r": R alone."""
    a = _matrices(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode is {mode!r}; it can be 'reduced', 'complete' or 'r'")
    rows, columns = a.shape[-2:]
    if mode == "complete" and columns < rows:
        padded = zeros_like(a, (*a.shape[:-1], rows))
        padded[..., :columns] = a
        q, r = op.qr(padded)
        return QRResult(q, r[..., :columns])
    q, r = op.qr(a)
    return r if mode == "r" else QRResult(q, r)


def svd(a, full_matrices=True, compute_uv=True):
    """U, S, Vh with a = U diag(S) Vh, S descending: for a (..., M, N), with K = min(M, N), U (...,
    M, M), S (..., K), Vh (..., N, N); without full_matrices U (..., M, K), Vh (..., K, N). Without
    compute_uv S alone.

    LinAlgError if a is not finite or the iteration does not converge."""
    a = _matrices(a)
    u, s, vh, info = op.svd(a)
    _check(info, "svd: a matrix is not finite, or the iteration did not converge")
    if not compute_uv:
        return s
    if full_matrices:  # the columns that U has keep their signs: R's diagonal is >= 0
        u = qr(u, "complete").Q
        vh = matrix_transpose(qr(matrix_transpose(vh), "complete").Q)
    return SVDResult(u, s, vh)


def svdvals(a):
    """The singular values (..., K), descending. LinAlgError as svd."""
    return svd(a, compute_uv=False)


def eig(a):
    """Eigenvalues (..., N), in any order, and right eigenvectors (..., N, N), as columns of length 1,
    of square matrices: always complex.

    LinAlgError if a is not finite or the iteration does not converge."""
    values, vectors, info = op.eig(_matrices(a, square=True))
    _check(info, "eig: a matrix is not finite, or the iteration did not converge")
    return EigResult(values, vectors)


def eigvals(a):
    """The eigenvalues of eig."""
    return eig(a).eigenvalues


def eigh(a, UPLO="L"):
    """Eigenvalues (..., N), ascending, and eigenvectors (..., N, N), as columns, of symmetric
    or Hermitian matrices. Only the lower triangle is read; with UPLO="U" only the upper one.

    LinAlgError if a is not finite or the iteration does not converge."""
    a = _matrices(a, square=True)
    if UPLO not in ("L", "U"):
        raise ValueError(f"eigh: UPLO is {UPLO!r}; it can be 'L' or 'U'")
    values, vectors, info = op.eigh(a if UPLO == "L" else _adjoint(a))
    _check(info, "eigh: a matrix is not finite, or the iteration did not converge")
    return EighResult(values, vectors)


def eigvalsh(a, UPLO="L"):
    """The eigenvalues of eigh."""
    return eigh(a, UPLO).eigenvalues


def cholesky(a, *, upper=False):
    """L with a = L L^H, for symmetric or Hermitian matrices, whose lower triangle is read;
    upper=True: U with a = U^H U, from the upper triangle. LinAlgError if a matrix is not positive
    definite."""
    a = _matrices(a, square=True)
    lower, info = op.cholesky(_adjoint(a) if upper else a)
    _check(info, "cholesky: a matrix is not positive definite")
    return _adjoint(lower) if upper else lower


# ---- Numbers of a matrix


def _signs(perm):
    """The signs of permutations (..., N)."""
    perm, sign = perm.copy(), np.ones(perm.shape[:-1])
    for i in range(perm.shape[-1]):  # number i to place i, in all of them
        place = np.argmax(perm == i, axis=-1)[..., None]
        sign *= np.where(place[..., 0] == i, 1, -1)
        np.put_along_axis(perm, place, perm[..., i:i + 1], -1)
        perm[..., i] = i
    return sign


def _pivots(a):
    """The diagonals of U, and the signs of the row permutations, in the host's memory."""
    perm, _, upper, _ = op.lu(a)
    diagonal = op.sum(op.mul(upper, _eye(a)), axes=-1)
    return np.asarray(diagonal), _signs(np.asarray(perm)).astype(a.dtype)


def det(a):
    """The determinant (...) of square matrices: 0 if singular, NaN if not finite."""
    a = _matrices(a, square=True)
    diagonal, sign = _pivots(a)
    return same_kind(np.asarray(sign * np.prod(diagonal, axis=-1)), a)


def slogdet(a):
    """The sign (...) of the determinant and the logarithm (...) of its magnitude: 0 and -inf if
    singular."""
    a = _matrices(a, square=True)
    diagonal, sign = _pivots(a)
    with np.errstate(divide="ignore"):
        logarithm = np.log(np.abs(diagonal)).sum(axis=-1)
    size = np.abs(diagonal)
    sign = sign * np.divide(diagonal, size, out=np.zeros_like(diagonal), where=size != 0).prod(-1)
    return SlogdetResult(same_kind(np.asarray(sign), a), same_kind(np.asarray(logarithm), a))


def _euclidean(x, axes, keepdims=True):
    return op.sqrt(op.sum(op.mul(x, x), axes=axes, keepdims=keepdims))


def _vector_norm(x, ord, axes):
    found = {1: op.sum, 2: _euclidean, np.inf: op.max, -np.inf: op.min}.get(ord)
    if not found:
        raise ValueError(f"norm: ord of a vector is {ord!r}; it can be None, 1, 2, inf or -inf")
    return found(x, axes=axes, keepdims=True)


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
    return found(svdvals(permuted(x, [*others, *axes])), axes=-1)


def norm(x, ord=None, axis=None, keepdims=False):
    """Norms of vectors (axis an int) or matrices (axis two ints); without axis of all elements if
    ord is None, else of x as a vector or matrix.

    ord of vectors: None or 2 (Euclidean), 1, inf, -inf; of matrices: None or "fro" (Frobenius),
    "nuc", 1, -1, 2, -2, inf, -inf.
    keepdims: the axes stay, with length 1. ValueError for another ord or axis."""
    x, = _numbers(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    if ord is not None and len(axes) not in (1, 2):
        raise ValueError(f"norm: {len(axes)} axes with ord {ord!r}; give one axis or two")
    if ord is None or (ord == "fro" and len(axes) == 2):
        result = _euclidean(op.abs(x), axes)
    elif len(axes) == 1:
        result = _vector_norm(op.abs(x), ord, axes)
    else:
        result = _matrix_norm(x if ord in (2, -2, "nuc") else op.abs(x), ord, axes)
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    return result.reshape(tuple(shape))


def cond(x, p=None):
    """The condition number (...) of matrices: the ratio of the largest and smallest singular value,
    inf if that is 0; with p, an ord of norm, the number of square matrices in this norm, and
    LinAlgError if one is singular."""
    x = _matrices(x)
    if p is None or p == 2:
        s = svdvals(x)
        return op.div(s[..., 0], s[..., -1])
    return op.mul(norm(x, p, axis=(-2, -1)), norm(inv(x), p, axis=(-2, -1)))
