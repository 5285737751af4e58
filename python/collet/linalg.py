# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_linalg.py
"""Linear algebra under numpy.linalg's names, on the ops of collet.op.

Matrices are the last two axes; axes before them are a batch. Results are collet.Arrays for collet.Arrays,
and NumPy arrays for everything else that numpy.asarray takes. Results are float32 if all arguments are
float32, float16 or bfloat16, else float64. If an argument is complex, they are complex64 or complex128.
Exceptions: cross, diagonal, matmul, matrix_transpose, outer, tensordot, trace and vecdot have NumPy's
dtypes, and powers of integer matrices are integers. Shapes that do not fit raise collet.ShapeError. A
single number is returned as an array without axes.
"""

import operator
from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError

from . import op
from ._core import Array, ShapeError, evaluate, is_pending
from ._hook import hook as _hook
from ._array.operands import arrays, axes_of, converted, floats, matrices, permuted, same_kind, zeros_as
from ._listing import own
from ._array.conversion import small
from .functions import (broadcast_to, cross, diagonal, matmul, matrix_transpose, outer, tensordot, trace,
                        triu, vecdot)

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
LUResult = namedtuple("LUResult", "P L U")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _numbers(*values):
    return floats(*values, complex_too=True)


def _matrices(a, square=False):
    return matrices(*_numbers(a), square)


def _check(info, what):
    if np.any(np.asarray(info)) if info.ndim else int(info):
        raise LinAlgError(what)


def _eye(a):
    """An identity matrix of the size of a's matrices."""
    made = zeros_as(a, (a.shape[-1],) * 2)
    op.fill(value=1, out=diagonal(made))
    return made


def _conj(a):
    return op.conj(a) if a.dtype.kind == "c" else a


def _adjoint(a):
    return _conj(matrix_transpose(a))


# ---- Products


def dot(a, b):
    """numpy.dot: the sum of products over the last axis of a and the last but one axis of b, or b's only
    axis. For vectors the inner product, for matrices the matrix product. If an argument has no axes: the
    product with that number.

    >>> collet.linalg.dot([[1.0, 2], [3, 4]], [1, 1])
    array([3., 7.])"""
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
    """The sum of conj(a) * b over all elements: a number. The sum is compensated.

    >>> float(collet.linalg.vdot([1, 2], [3, 4]))
    11.0"""
    a, b = _numbers(a, b)
    return op.dot(_conj(a).reshape(-1), b.reshape(-1))


def matrix_power(a, n):
    """The n-th power of square matrices. Powers of integers are computed modulo 2^width. A negative n:
    powers of the inverse. LinAlgError if the inverse does not exist.

    >>> collet.linalg.matrix_power([[1, 1], [0, 1]], 3)
    array([[1, 3],
           [0, 1]])"""
    a, n = matrices(*arrays(a), square=True), operator.index(n)
    if n < 0:
        a, n = inv(a), -n
    elif a.dtype.kind not in "biu":
        a, = _numbers(a)
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return op.copy(broadcast_to(_eye(a), a.shape)) if result is None else result


# ---- Equations


def solve(a, b):
    """Solves a x = b for x. a: square, (..., N, N). b: (N,) or (..., N, R). x: (..., N) or (..., N, R).

    LinAlgError if a matrix is singular (an exact zero as pivot). NaN where a or b is not finite.

    >>> collet.linalg.solve([[2, 0], [0, 4]], [2, 2])
    array([1. , 0.5])"""
    a, b = _numbers(_matrices(a, square=True), b)
    x = _solution("solve", a, b.reshape((-1, 1)) if b.ndim == 1 else b)
    return x.reshape(x.shape[:-1]) if b.ndim == 1 else x


def _solution(name, a, b):
    x, info = op.solve(a, b)
    _check(info, f"{name}: matrix {int(info) - 1} is singular")
    return x


def inv(a):
    """The inverse of square matrices. LinAlgError if one is singular.

    >>> collet.linalg.inv([[2.0]])
    array([[0.5]])"""
    a = _matrices(a, square=True)
    return _solution("inv", a, _eye(a))


def _significant(s, extent, rtol):
    """Whether singular values (..., K) exceed rtol times the largest."""
    rtol = np.finfo(s.dtype).eps * extent if rtol is None else rtol
    rtol = converted(floats(rtol)[0], s.dtype)[..., None] if np.ndim(rtol) else float(rtol)
    return op.greater(s, op.mul(s[..., :1], rtol))


def pinv(a, rtol=None):
    """The pseudo-inverse (..., N, M) of a (..., M, N). Singular values up to rtol times the
    largest count as 0; the default is the dtype's eps times max(M, N).

    >>> collet.linalg.pinv([[2.0], [0.0]])
    array([[0.5, 0. ]])"""
    u, s, vh = svd(a, full_matrices=False)
    kept = _significant(s, max(u.shape[-2], vh.shape[-1]), rtol)
    factors = op.where(kept, op.reciprocal(s), zeros_as(s, ()))
    return op.matmul(op.mul(_adjoint(vh), converted(factors, u.dtype)[..., None, :]), _adjoint(u))


def matrix_rank(a, rtol=None):
    """The number of singular values that exceed rtol times the largest: int64 (...). The default rtol is
    the dtype's eps times max(M, N).

    >>> int(collet.linalg.matrix_rank([[1, 2], [2, 4]]))
    1"""
    a = _matrices(a)
    return op.count_nonzero(_significant(svdvals(a), max(a.shape[-2:]), rtol), axes=-1)


# ---- Decompositions


def lu(a):
    """Factors a = P L U with partial pivoting, as scipy.linalg.lu. For a (..., M, N) and K = min(M, N): the
    permutation matrix P (..., M, M), L (..., M, K) with ones on its diagonal, U (..., K, N).

    A singular matrix is not an error. collet.op.lu returns the permutation as indices.

    >>> collet.linalg.lu([[0, 2], [4, 0]]).U
    array([[4., 0.],
           [0., 2.]])"""
    a = _matrices(a)
    perm, lower, upper, _ = op.lu(a)
    rows = same_kind(np.arange(a.shape[-2], dtype="i4"), a)[:, None]
    chosen = op.equal(rows, perm[..., None, :])
    return LUResult(converted(chosen, op.abs(upper[:0]).dtype), lower, upper)


def qr(a, mode="reduced"):
    """Factors a = Q R: the columns of Q are orthonormal, R is triangular with a diagonal >= 0. For a (...,
    M, N) and K = min(M, N): Q (..., M, K) and R (..., K, N).

    mode="complete": Q (..., M, M), R (..., M, N); "r": R alone.

    >>> collet.linalg.qr([[3], [4]], "r").shape
    (1, 1)"""
    a = _matrices(a)
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

    LinAlgError if a is not finite or the iteration does not converge.

    >>> collet.linalg.svd([[3, 0], [0, 4]]).S
    array([4., 3.])"""
    a = _matrices(a)
    u, s, vh, info = op.svd(a)
    _check(info, "svd: a matrix is not finite, or the iteration did not converge")
    if not compute_uv:
        return s
    if full_matrices:  # qr adds columns; those of U keep their signs, because R's diagonal is >= 0
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

    LinAlgError if a is not finite or the iteration does not converge.

    >>> collet.linalg.eig([[2]]).eigenvalues
    array([2.+0.j])"""
    values, vectors, info = op.eig(_matrices(a, square=True))
    _check(info, "eig: a matrix is not finite, or the iteration did not converge")
    return EigResult(values, vectors)


def eigvals(a):
    """The eigenvalues of eig.

    >>> collet.linalg.eigvals([[2]])
    array([2.+0.j])"""
    return eig(a).eigenvalues


def eigh(a, UPLO="L"):
    """Eigenvalues (..., N), ascending, and eigenvectors (..., N, N) of symmetric or Hermitian matrices. The
    eigenvectors are columns. Only the lower triangle is read; with UPLO="U" only the upper one.

    LinAlgError if a is not finite or the iteration does not converge.

    >>> collet.linalg.eigh([[3, 0], [0, 2]]).eigenvalues
    array([2., 3.])"""
    a = _matrices(a, square=True)
    if UPLO not in ("L", "U"):
        raise ValueError(f"eigh: UPLO is {UPLO!r}; it can be 'L' or 'U'")
    values, vectors, info = op.eigh(a if UPLO == "L" else _adjoint(a))
    _check(info, "eigh: a matrix is not finite, or the iteration did not converge")
    return EighResult(values, vectors)


def eigvalsh(a, UPLO="L"):
    """The eigenvalues of eigh.

    >>> collet.linalg.eigvalsh([[3, 0], [0, 2]])
    array([2., 3.])"""
    return eigh(a, UPLO).eigenvalues


def cholesky(a, *, upper=False):
    """Factors symmetric or Hermitian matrices: a = L L^H. Returns L; reads only the lower triangle of a.
    upper=True: returns U of a = U^H U, and reads only the upper triangle. LinAlgError if a matrix is not
    positive definite.

    >>> collet.linalg.cholesky([[4]])
    array([[2.]])"""
    a = _matrices(a, square=True)
    lower, info = op.cholesky(_adjoint(a) if upper else a)
    _check(info, "cholesky: a matrix is not positive definite")
    return _adjoint(lower) if upper else lower


# ---- Numbers of a matrix


def _sign(order):
    """The sign of a permutation. A cycle of n elements is n - 1 swaps."""
    seen, swaps = [False] * len(order), len(order)
    for i in range(len(order)):
        swaps -= not seen[i]
        while not seen[i]:
            seen[i] = True
            i = order[i]
    return -1.0 if swaps & 1 else 1.0


def _pivots(a):
    """The diagonals of U (..., N), and the signs (...) of the row permutations."""
    perm, _, upper, _ = op.lu(a)
    if a.ndim == 2:
        return diagonal(upper), _sign(perm.tolist())
    swapped = triu(op.greater(perm[..., :, None], perm[..., None, :]), k=1)  # marks the pairs that are out of order
    odd = op.bitwise_and(op.count_nonzero(swapped, axes=(-2, -1)), 1)
    return diagonal(upper), converted(op.sub(1, op.mul(odd, 2)), op.abs(upper[:0]).dtype)


def _times(x, factor):
    """x times a real factor. Multiplies real and imaginary parts separately, so that an infinity in one
    does not make the other NaN."""
    if x.dtype.kind != "c":
        return op.mul(x, factor)
    return op.complex(op.mul(op.real(x), factor), op.mul(op.imag(x), factor))


def _by_powers(x, power, shares):
    """x times 2^power, computed as several multiplications so that no factor overflows."""
    for _ in range(shares):
        part = op.floor(op.div(power, float(shares)))
        x, power, shares = _times(x, op.exp2(part)), op.sub(power, part), shares - 1
    return x


def _halves(x):
    """The products of pairs of the last axis."""
    half = x.shape[-1] // 2
    rest = x[..., 2 * half:]
    x = op.mul(x[..., :half], x[..., half:2 * half])
    if rest.shape[-1]:
        op.mul(x[..., :1], rest, out=x[..., :1])
    return x


def _product(x):
    """The product over the last axis. If a partial product might leave the range of the dtype, exponents
    are multiplied separately."""
    if not x.shape[-1]:
        return op.add(zeros_as(x, x.shape[:-1]), 1)
    size, room = op.abs(x), np.finfo(x.dtype).maxexp / x.shape[-1] - 1
    if bool(op.all(op.logical_and(op.less(size, 2.0**room), op.greater(size, 2.0**-room)))):
        if x.dtype.kind != "c":
            return op.prod(x, axes=-1)
        while x.shape[-1] > 1:  # the op prod does not support complex numbers
            x = _halves(x)
        return x[..., 0]
    total = zeros_as(size, x.shape[:-1])
    while True:
        size = op.abs(x)
        known = op.logical_and(op.greater(size, 0), op.less(size, np.inf))
        power = op.floor(op.log2(op.where(known, size, op.add(zeros_as(size, ()), 1))))
        total = op.add(total, op.sum(power, axes=-1))
        x = _by_powers(x, op.neg(power), 2)  # now magnitudes are from 1 to 2
        if x.shape[-1] == 1:
            break
        x = _halves(x)
    most = 2.1 * np.finfo(x.dtype).maxexp
    return _by_powers(x[..., 0], op.minimum(op.maximum(total, -most), most), 4)


def det(a):
    """The determinant (...) of square matrices: 0 if singular, NaN if not finite.

    >>> float(collet.linalg.det([[2, 0], [0, 4]]))
    8.0"""
    pivots, sign = _pivots(_matrices(a, square=True))
    return _times(_product(pivots), sign)


def slogdet(a):
    """The sign (...) of the determinant and the logarithm (...) of its magnitude: 0 and -inf if
    singular.

    >>> collet.linalg.slogdet([[0, 1], [1, 0]]).sign
    array(-1.)"""
    pivots, sign = _pivots(_matrices(a, square=True))
    return SlogdetResult(_times(_product(op.sign(pivots)), sign),
                         op.sum(op.log(op.abs(pivots)), axes=-1))


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
    """Magnitudes, or for real numbers x itself: the squares are the same."""
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
    keepdims: the axes stay, with length 1. ValueError for another ord or axis.

    >>> float(collet.linalg.norm([3, 4]))
    5.0"""
    vector = _as_vector(x) if axis is None and not keepdims and ord in (None, 2) else None
    if vector is not None and (ord is None or x.ndim == 1):
        return _root_of_dot(vector)
    x, = _numbers(x)
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
    x, = _numbers(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    size = _size(x, ord if axes else 1)
    return _without(_vector_norm(size, ord, axes) if axes else size, axes, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of the matrices in the last two axes. ord: as in norm.

    >>> float(collet.linalg.matrix_norm([[1, 2], [3, 4]], ord=1))
    6.0"""
    return norm(_matrices(x), ord, axis=(-2, -1), keepdims=keepdims)


def cond(x, p=None):
    """The condition number (...) of matrices: the ratio of the largest to the smallest singular value, inf
    if the smallest is 0. p: an ord of norm; then the condition number of square matrices in that norm.
    LinAlgError if a matrix has no inverse.

    >>> float(collet.linalg.cond([[2, 0], [0, 4]]))
    2.0"""
    x = _matrices(x)
    if p is None or p == 2:
        s = svdvals(x)
        return op.div(s[..., 0], s[..., -1])
    return op.mul(norm(x, p, axis=(-2, -1)), norm(inv(x), p, axis=(-2, -1)))


_hook(globals(), __name__, "linalg.", dict.fromkeys(("norm", "vector_norm"), small("norm")))


def __dir__():
    return own(globals(), ("LinAlgError", "cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot",
                           "trace", "vecdot"))
