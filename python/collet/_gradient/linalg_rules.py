# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules_linalg.py
"""Rules for collet.linalg. The gradient with respect to a complex argument is the conjugate of the
textbook's gradient. Rules of analytic functions therefore use transposes where textbooks use adjoints.
Other rules conjugate twice."""

import math

import numpy as np

from .. import functions as f
from .. import linalg
from .._array.operands import axes_of
from ..linalg import _composed
from ..linalg._equations import transposition
from .reduction_rules import _array
from .rules import E_, composite, conj, fitted, is_complex, rule
from .tape import COMPOSITES, CONSTANTS, bottom, refuse

CONSTANTS.add("linalg.matrix_rank")
COMPOSITES.update((f"linalg.{name}", function) for name, function in vars(_composed).items()
                  if getattr(function, "__module__", "") == _composed.__name__)

_T = f.matrix_transpose


def _adjoint(a):
    return conj(_T(a))


def _numbers(*values):
    """Converts the values to arrays of one floating-point dtype."""
    values = [_array(v) for v in values]
    whole = not any(v.dtype.kind in "fc" for v in values)
    dtype = np.result_type(*(v.dtype for v in values), *("d" if whole else ""))
    return [v if v.dtype == dtype else v.astype(dtype) for v in values]


def _diagonals(d):
    """Matrices with these diagonals."""
    return f.expand_dims(d, -1) * f.eye(d.shape[-1], dtype=bottom(d).dtype)


def _symmetric(a):
    return (a + _adjoint(a)) * 0.5


# ---- Products


@composite("linalg.dot")
def _dot(a, b):
    a, b = _numbers(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return f.tensordot(a, b, axes=([-1], [max(b.ndim - 2, 0)]))


@composite("linalg.vdot")
def _vdot(a, b):
    a, b = _numbers(a, b)
    return f.vecdot(f.reshape(a, -1), f.reshape(b, -1))


@composite("linalg.matrix_power")
def _matrix_power(a, n):
    if n < 0:
        a, n = linalg.inv(a), -n
    if not n:
        return linalg.matrix_power(bottom(a), 0)
    result = None
    while n:
        if n & 1:
            result = a if result is None else f.matmul(result, a)
        n >>= 1
        a = f.matmul(a, a) if n else a
    return result


# ---- Equations


def _solution(a, b, x, solve, by_matrix=lambda g: g):
    """Returns x, the solution of a x = b, and its backward function. solve: solves with the transposed matrix.
    by_matrix: converts the gradient with respect to the equation's matrix to the gradient with respect to a."""
    vector = len(b.shape) == 1
    to_a, to_b = fitted(a, by_matrix), fitted(b, lambda g: g)

    def back(g):
        by_b = solve(g[..., None] if len(g.shape) < len(a.shape) else g)
        column = x[..., None] if len(x.shape) < len(a.shape) else x
        by_a = to_a and to_a(-f.matmul(by_b, _T(column)))
        by_b = f.sum(by_b, axis=tuple(range(len(a.shape) - 2))) if vector and len(a.shape) > 2 else by_b
        return by_a, to_b and to_b(by_b[..., 0] if vector else by_b), None, None, None

    return x, back


@rule("linalg.solve")
def _solve(a, b):
    a, b = _array(a), _array(b)
    return _solution(a, b, linalg.solve(a, b), lambda g: linalg.solve(_T(a), g))


@rule("linalg.solve_triangular")
def _solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    a, b, trans = _array(a), _array(b), transposition("solve_triangular", trans)
    x = linalg.solve_triangular(a, b, trans, lower, unit_diagonal)

    def by_matrix(g):
        g = (g, _T(g), _adjoint(g))[trans]
        return f.tril(g, k=-int(unit_diagonal)) if lower else f.triu(g, k=int(unit_diagonal))

    return _solution(a, b, x, lambda g: linalg.solve_triangular(conj(a) if trans == 2 else a, g, 0 if trans else 1, lower,
                                                                unit_diagonal), by_matrix)


@composite("linalg.lstsq")
def _lstsq(a, b, rcond=None):
    """Valid where small changes of the matrix do not change its rank."""
    made = linalg.lstsq(bottom(a), bottom(b), rcond)
    a, b = _numbers(a, b)
    sides = b[:, None] if b.ndim == 1 else b
    x = f.matmul(linalg.pinv(a, np.finfo(a.dtype).eps if rcond is not None and rcond < 0 else rcond), sides)
    error = E_["abs"](sides - f.matmul(a, x))
    residuals = f.sum(error * error, axis=-2) if made.residuals.size else made.residuals
    return made._replace(x=x[..., 0] if b.ndim == 1 else x, residuals=residuals, s=linalg.svdvals(a))


@rule("linalg.inv")
def _inv(a):
    made = linalg.inv(a)
    return made, (lambda g: -f.matmul(_T(made), f.matmul(g, _T(made))),)


@rule("linalg.pinv")
def _pinv(a, rtol=None):
    """Valid where small changes of the matrix do not change its rank."""
    made = linalg.pinv(a, rtol)

    def back(g):
        g, p = conj(g), made
        h, b = _adjoint(p), _adjoint(g)
        first = f.matmul(b, f.matmul(p, h))  # The part for changes of a's column space.
        second = f.matmul(f.matmul(h, p), b)  # The part for changes of a's row space.
        found = first - f.matmul(a, f.matmul(p, first)) + second - f.matmul(f.matmul(second, p), a)
        return conj(found - f.matmul(h, f.matmul(g, h)))

    return made, (back, None)


# ---- Decompositions


def _lower(x):
    """The lower triangle with half of the diagonal."""
    return f.tril(x) - 0.5 * _diagonals(f.diagonal(x))


@rule("linalg.cholesky")
def _cholesky(a, *, upper=False):
    """The rule differentiates the function of (a + a^H) / 2, so the gradient is Hermitian."""
    made = linalg.cholesky(a, upper=upper)
    lower = _adjoint(made) if upper else made

    def back(g):
        g = _T(g) if upper else conj(g)  # the gradient with respect to the lower factor, in the convention of textbooks
        inner = _lower(f.matmul(_adjoint(lower), f.tril(g)))
        right = linalg.solve(_adjoint(lower), inner)  # L^-H X L^-1
        whole = _adjoint(linalg.solve(_adjoint(lower), _adjoint(right)))
        return conj(_symmetric(whole))

    return made, (back,)


def _gaps(s):
    """The matrix of 1 / (s_j - s_i), with zeros on the diagonal."""
    gaps = s[..., None, :] - s[..., :, None]
    same = f.eye(s.shape[-1], dtype="bool")
    return E_["where"](same, 0, 1 / E_["where"](same, 1, gaps))


@rule("linalg.eigh")
def _eigh(a, b=None, UPLO="L", *, subset_by_index=None):
    """Eigenvalues have to differ; the gradients are Hermitian."""
    a, b = _array(a), b if b is None or isinstance(b, str) else _array(b)
    made = linalg.eigh(a, b, UPLO)
    back, to_a, to_b = _eigh_back(*made), fitted(a, lambda g: g), fitted(b, lambda g: g)
    first, last = (0, a.shape[-1] - 1) if subset_by_index is None else subset_by_index

    def both(gradients):
        sides = (first, a.shape[-1] - 1 - last)
        whole = [g if g is None or not any(sides) else f.pad(g, [*[(0, 0)] * (g.ndim - 1), sides]) for g in gradients]
        return to_a and to_a(back(whole)), to_b and to_b(back(whole, by_b=True)), None

    return type(made)(*(x[..., first:last + 1] for x in made)), both


def _eigh_back(values, vectors):
    """Returns the function that computes the gradient of a, or of b in a x = w b x, from the gradients of the
    results."""
    def back(gradients, by_b=False):
        by_values, by_vectors = gradients
        inner = 0 if by_values is None else _diagonals(by_values)
        lengths = 0  # the vectors' lengths depend on b
        if by_vectors is not None:
            product = f.matmul(_adjoint(vectors), conj(by_vectors))
            inner = inner + product * _gaps(values)
            lengths = _diagonals(E_["real"](f.diagonal(product))) * 0.5
        inner = -(inner * values[..., None, :] + lengths) if by_b else inner
        found = f.matmul(f.matmul(vectors, inner.astype(vectors.dtype)), _adjoint(vectors))
        return conj(_symmetric(found))

    return back


@composite("linalg.eigvalsh")
def _eigvalsh(a, b=None, UPLO="L"):
    return linalg.eigh(a, b, UPLO).eigenvalues


def _skew(a):
    return a - _adjoint(a)


@rule("linalg.svd")
def _svd(a, full_matrices=True, compute_uv=True):
    """Valid where the singular values differ from each other and from 0."""
    rows, columns = a.shape[-2:]
    if compute_uv and full_matrices and rows != columns:
        refuse("collet.linalg.svd with full_matrices=True of matrices that are not square")
    u, s, vh = made = linalg.svd(a, full_matrices=False)

    def back(gradients):
        by_u, by_s, by_vh = gradients if compute_uv else (None, gradients, None)
        inner = 0 if by_s is None else _diagonals(by_s)
        gaps = _gaps(s * s)
        found = 0
        if by_u is not None:
            by_u = conj(by_u)
            product = f.matmul(_adjoint(u), by_u)
            inner = inner + _skew(product) * gaps * s[..., None, :]
            if is_complex(u):
                inner = inner + _diagonals(E_["imag"](f.diagonal(product)) / s) * 1j
            if rows > columns:
                across = by_u - f.matmul(u, product)
                found = found + f.matmul(across / s[..., None, :], vh)
        if by_vh is not None:
            by_v = _T(by_vh)
            product = f.matmul(vh, by_v)
            inner = inner + s[..., :, None] * (_skew(product) * gaps)
            if columns > rows:
                across = _adjoint(by_v) - f.matmul(_adjoint(product), vh)
                found = found + f.matmul(u / s[..., None, :], across)
        return conj(f.matmul(f.matmul(u, inner.astype(u.dtype)), vh) + found), None, None

    return (made if compute_uv else s), back


@composite("linalg.svdvals")
def _svdvals(a):
    return linalg.svd(a, compute_uv=False)


@rule("linalg.qr")
def _qr(a, mode="reduced"):
    if mode == "complete" or a.shape[-2] < a.shape[-1]:
        refuse("collet.linalg.qr of mode 'complete', or of matrices that are wider than high,")
    q, r = made = linalg.qr(a)

    def back(gradients):
        by_q, by_r = (None, gradients) if mode == "r" else gradients
        inner = 0
        if by_r is not None:
            inner = f.matmul(r, _T(by_r))
        if by_q is not None:
            by_q = conj(by_q)
            inner = inner - f.matmul(_adjoint(by_q), q)
        below, middle = f.tril(inner, k=-1), E_["real"](f.diagonal(inner))
        found = f.matmul(q, below + _adjoint(below) + _diagonals(middle))
        found = found if by_q is None else found + by_q
        return conj(_adjoint(linalg.solve(r, _adjoint(found)))), None

    return (r if mode == "r" else made), back


@rule("linalg.lu")
def _lu(a):
    if a.shape[-2] != a.shape[-1]:
        refuse("collet.linalg.lu of matrices that are not square")
    permutation, lower, upper = made = linalg.lu(a)

    def back(gradients):
        _, by_lower, by_upper = gradients
        inner = 0
        if by_lower is not None:
            inner = f.tril(f.matmul(_T(lower), by_lower), k=-1)
        if by_upper is not None:
            inner = inner + f.triu(f.matmul(by_upper, _T(upper)))
        right = _T(linalg.solve(upper, _T(inner)))  # X U^-T
        return (f.matmul(permutation, linalg.solve(_T(lower), right)),)

    return made, back


@composite("linalg.lu_factor")
def _lu_factor(a):
    _, lower, upper = linalg.lu(a)
    return f.tril(lower, k=-1) + upper, linalg.lu_factor(bottom(a))[1]


@rule("linalg.eig")
def _eig(a):
    """Eigenvalues have to differ."""
    values, vectors = made = linalg.eig(a)
    real = a.dtype.kind != "c"

    def back(gradients):
        by_values, by_vectors = gradients
        inner = 0 if by_values is None else _diagonals(conj(by_values))
        if by_vectors is not None:
            product = f.matmul(_adjoint(vectors), conj(by_vectors))
            length = f.matmul(_adjoint(vectors), vectors) * E_["real"](f.diagonal(product))[..., None, :]
            inner = inner + (product - length) * conj(_gaps(values))
        found = conj(linalg.solve(_adjoint(vectors), f.matmul(inner, _adjoint(vectors))))
        return (E_["real"](found) if real else found,)

    return made, back


@composite("linalg.eigvals")
def _eigvals(a):
    return linalg.eig(a).eigenvalues


@rule("linalg.expm")
def _expm(A):
    """The derivative in a direction is a block of the exponential of a matrix of twice the order (Higham, Functions of
    Matrices, equation 3.16). The gradient is the derivative at the transposed matrix in the gradient's direction."""
    def back(g):
        if not A.size:
            return g
        n, a, size = A.shape[-1], _T(A), f.max(E_["abs"](bottom(g)), axis=(-2, -1), keepdims=True)
        size = E_["where"](size > 0, size, 1)  # with this factor the size of g does not change how the matrix is scaled
        above = f.concat([a, g / size], axis=-1)
        blocks = linalg.expm(f.concat([above, f.concat([f.zeros_like(a), a], axis=-1)], axis=-2))
        return blocks[..., :n, n:] * size

    return linalg.expm(A), (back,)


# ---- Numbers of a matrix


@rule("linalg.det")
def _det(a):
    """The matrices must not be singular where the gradient is differentiated again."""
    made = linalg.det(a)

    def back(g):
        if bottom(a) is not a:  # singular values that are equal have no derivatives
            return (g * made)[..., None, None] * _T(linalg.inv(a))
        return g[..., None, None] * _cofactors(a)

    return made, (back,)


def _cofactors(a):
    """The derivatives of the determinant, also for singular matrices, from products of all singular values but one."""
    u, s, vh = linalg.svd(a)
    products = f.prod(E_["where"](f.eye(s.shape[-1], dtype="bool"), 1.0, s[..., None, :]), axis=-1)
    phase = linalg.det(u) * linalg.det(vh)
    return phase[..., None, None] * f.matmul(conj(u) * products[..., None, :], conj(vh))


@rule("linalg.slogdet")
def _slogdet(a):
    made = linalg.slogdet(a)

    def back(gradients):
        by_sign, by_log = gradients
        inverse = _T(linalg.inv(a))
        found = None
        if by_log is not None:
            found = by_log[..., None, None] * inverse
        if by_sign is not None and is_complex(a):  # only the phase of sign can change, because |sign| is 1
            turn = E_["imag"](by_sign * made.sign)
            part = (turn * 1j)[..., None, None] * inverse
            found = part if found is None else found + part
        return (found,)

    return made, back


def _axes_of_norm(x, ord, axis):
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    if ord is not None and len(axes) not in (1, 2):
        raise ValueError(f"norm: {len(axes)} axes with ord {ord!r}; give one axis or two")
    return axes


def _euclidean(size, axes):
    return E_["sqrt"](f.sum(size * size, axis=axes, keepdims=True))


def _of_vectors(size, ord, axes):
    if ord == 0:
        return f.sum((size != 0).astype(size.dtype), axis=axes, keepdims=True)
    if ord in (2, math.inf, -math.inf, 1):
        reduce = {2: None, math.inf: f.max, -math.inf: f.min, 1: f.sum}[ord]
        return _euclidean(size, axes) if reduce is None else reduce(size, axis=axes, keepdims=True)
    return E_["pow"](f.sum(E_["pow"](size, ord), axis=axes, keepdims=True), 1 / ord)


def _of_matrices(x, ord, axes):
    if ord in (1, -1, math.inf, -math.inf):
        first, second = axes if abs(ord) == 1 else axes[::-1]
        sums = f.sum(E_["abs"](x), axis=first, keepdims=True)
        return (f.max if ord > 0 else f.min)(sums, axis=second, keepdims=True)
    others = [i for i in range(x.ndim) if i not in axes]
    values = linalg.svdvals(f.permute_dims(x, [*others, *axes]))
    found = {2: f.max, -2: f.min, "nuc": f.sum}[ord](values, axis=-1)
    return f.reshape(found, [1 if i in axes else n for i, n in enumerate(x.shape)])


def _without(x, axes, keepdims):
    return x if keepdims else f.reshape(x, [n for i, n in enumerate(x.shape) if i not in axes])


@composite("linalg.norm")
def _norm(x, ord=None, axis=None, keepdims=False):
    axes = _axes_of_norm(x, ord, axis)
    linalg.norm(bottom(x), ord, axis)  # checks ord
    if ord is None or (ord == "fro" and len(axes) == 2):
        return _without(_euclidean(E_["abs"](x), axes), axes, keepdims)
    found = _of_vectors(E_["abs"](x), ord, axes) if len(axes) == 1 else _of_matrices(x, ord, axes)
    return _without(found, axes, keepdims)


@composite("linalg.vector_norm")
def _vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    size = E_["abs"](x)
    return _without(_of_vectors(size, ord, axes) if axes else size, axes, keepdims)


@composite("linalg.matrix_norm")
def _matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


@composite("linalg.cond")
def _cond(x, p=None):
    if p is None or p == 2:
        s = linalg.svdvals(x)
        return s[..., 0] / s[..., -1]
    return linalg.norm(x, p, axis=(-2, -1)) * linalg.norm(linalg.inv(x), p, axis=(-2, -1))
