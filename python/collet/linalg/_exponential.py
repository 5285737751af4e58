# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg_equations.py
"""The matrix exponential, by scaling and squaring of a Pade approximation (Al-Mohy and Higham, SIAM J. Matrix Anal. Appl.
31, 970, 2009)."""

import math

import numpy as np

from .. import op
from .._array.operands import converted, same_kind, zeros_as
from .._core import evaluate
from ._arguments import identity, matrix

# (degree, norm): up to this norm of a matrix, the backward error of the approximation is at most half an eps.
_DEGREES = {"float32": ((3, 0.4258730016922831), (5, 1.880152677804762), (7, 3.925724783138660)),
            "float64": ((3, 0.01495585217958292), (5, 0.2539398330063230), (7, 0.9504178996162932), (13, 4.25))}


def _norms(a):
    """The 1-norms of matrices, on the host."""
    return np.asarray(op.max(op.sum(op.abs(a), axes=-2), axes=-1), "f8")


def _scaled(a, exponents):
    """a * 2^-exponents."""
    factors = np.exp2(-exponents).astype(np.finfo(a.dtype).dtype)[..., None, None]
    return op.mul(a, converted(same_kind(factors, a), a.dtype))


def _powers(a, degree):
    """a^0, a^2, a^4 and a^6, as far as the degree needs them."""
    square = op.matmul(a, a)
    found = [identity(a), square]
    while len(found) < 4 and 2 * len(found) < degree:
        found.append(op.matmul(found[-1], square))
    return found


def _sum(coefficients, powers):
    text = " + ".join(f"{c!r}*p{k}" for k, c in enumerate(coefficients))
    return evaluate(text, {f"p{k}": p for k, p in enumerate(powers[:len(coefficients)])})


def _polynomial(coefficients, powers):
    low = _sum(coefficients[:4], powers)
    if len(coefficients) <= 4:
        return low
    return op.add(low, op.matmul(powers[3], _sum([0.0, *coefficients[4:]], powers)))


def _approximation(a, powers, degree):
    c = [math.comb(degree, k) * math.factorial(2 * degree - k) / math.factorial(2 * degree) for k in range(degree + 1)]
    odd, even = op.matmul(a, _polynomial(c[1::2], powers)), _polynomial(c[::2], powers)
    return op.solve(op.sub(even, odd), op.add(even, odd)).x


def _exponents(norms, limit):
    """The smallest exponents >= 0 for which norms / 2^exponents is at most the limit; 0 for norms that are not finite."""
    norms = np.where(np.isfinite(norms), norms, 0)
    return np.maximum(np.ceil(np.log2(np.maximum(norms, limit) / limit)), 0)


def _log2_of_power(size, count):
    """log2 of the 1-norms of size^count. No element of `size` may be negative."""
    row, total = op.add(zeros_as(size, (*size.shape[:-2], 1, size.shape[-1])), 1), 0
    for _ in range(count):
        row = op.matmul(row, size)
        largest = op.maximum(op.max(row, axes=-1, keepdims=True), float(np.finfo(size.dtype).tiny))
        row, total = op.div(row, largest), total + np.log2(np.asarray(largest, "f8"))
    return total[..., 0, 0]


def _fewest_exponents(a, most, powers, degree, limit):
    """Returns exponents for the scaling, which are at most `most`, and less for many matrices that are not normal. `a`
    and `powers` are already scaled by 2^-most."""
    limits = np.maximum(_norms(powers[2]) ** (1 / 4), _norms(powers[3]) ** (1 / 6))
    fewer = np.minimum(most, np.floor(np.log2(limit / np.maximum(limits, 2.0**-1000))))
    wanted = np.maximum(most - fewer, 0)
    if (wanted == most).all():
        return most
    # A bound of the error's first term: powers of |a| are at least the magnitudes of the powers of a
    term = _log2_of_power(op.abs(a), 2 * degree + 1) - np.log2(np.maximum(_norms(a), np.finfo("f8").tiny)) + \
        2 * degree * (most - wanted) - math.log2(math.comb(2 * degree, degree) * math.factorial(2 * degree + 1))
    more = np.ceil((term - np.log2(np.finfo(a.dtype).eps / 2)) / (2 * degree))
    return np.minimum(wanted + np.maximum(more, 0), most)


def expm(A):
    """The exponential of square matrices (..., N, N), as scipy.linalg.expm. NaN where A is not finite.

    >>> collet.linalg.expm([[0, 1], [0, 0]])
    array([[1., 1.],
           [0., 1.]])"""
    a = matrix(A, square=True)
    if not a.size:
        return op.copy(a)
    norms, degrees = _norms(a), _DEGREES[np.finfo(a.dtype).dtype.name]
    degree, limit = next((d for d in degrees if (norms <= d[1]).all()), degrees[-1])
    exponents = _exponents(norms, limit)
    scaled = _scaled(a, exponents)
    powers = _powers(scaled, degree)
    if exponents.any():
        fewest = _fewest_exponents(scaled, exponents, powers, degree, limit)
        if (fewest < exponents).any():
            exponents, scaled = fewest, _scaled(a, fewest)
            powers = _powers(scaled, degree)
    x = _approximation(scaled, powers, degree)
    for k in range(int(exponents.max())):
        square = op.matmul(x, x)
        x = square if k < exponents.min() else op.where(same_kind(k < exponents[..., None, None], x), square, x)
    return x
