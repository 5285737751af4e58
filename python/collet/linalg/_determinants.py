# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py
"""Determinants."""

import math
from collections import namedtuple

import numpy as np

from .. import op
from .._array.operands import converted, zeros_as
from ..functions import diagonal, triu
from ._arguments import matrix

SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet", module=__package__)


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
    """Returns x times a real factor. Multiplies real and imaginary parts separately, so that an infinity in one part
    does not make the other part NaN."""
    if x.dtype.kind != "c":
        return op.mul(x, factor)
    return op.complex(op.mul(op.real(x), factor), op.mul(op.imag(x), factor))


def _by_powers(x, power, shares):
    """Returns x times 2^power, computed as several multiplications so that no factor overflows."""
    for _ in range(shares):
        part = op.floor(op.div(power, float(shares)))
        x, power, shares = _times(x, op.exp2(part)), op.sub(power, part), shares - 1
    return x


def _halves(x):
    """Multiplies the elements of the last axis in pairs; half as many elements are left."""
    half = x.shape[-1] // 2
    rest = x[..., 2 * half:]
    x = op.mul(x[..., :half], x[..., half:2 * half])
    if rest.shape[-1]:
        op.mul(x[..., :1], rest, out=x[..., :1])
    return x


def _balanced(a):
    """If factors of the elimination might underflow, returns the matrices with rows multiplied by powers of 2, and
    the sums (...) of the exponents. Else returns a and None."""
    if not a.size:
        return a, None
    size, least = op.max(op.abs(a), axes=-1), 2.0 ** (-np.finfo(a.dtype).maxexp // 2)
    if not float(op.min(size)) < least * max(float(op.max(size)), 1):
        return a, None
    power = _exponents(size)
    return _by_powers(a, op.neg(power)[..., None], 2), op.sum(power, axes=-1)


def _exponents(size):
    """The binary exponents of magnitudes; 0 for 0 and for numbers that are not finite."""
    known = op.logical_and(op.greater(size, 0), op.less(size, np.inf))
    return op.floor(op.log2(op.where(known, size, op.add(zeros_as(size, ()), 1))))


def _product(x, total):
    """The product over the last axis, times 2^total unless `total` is None. If a partial product might leave the range
    of the dtype, multiplies the significands and adds the exponents."""
    if not x.shape[-1]:
        return op.add(zeros_as(x, x.shape[:-1]), 1)
    size, room = op.abs(x), np.finfo(x.dtype).maxexp / x.shape[-1] - 1
    if total is None and bool(op.all(op.logical_and(op.less(size, 2.0**room), op.greater(size, 2.0**-room)))):
        if x.dtype.kind != "c":
            return op.prod(x, axes=-1)
        while x.shape[-1] > 1:  # the op prod does not support complex numbers
            x = _halves(x)
        return x[..., 0]
    total = zeros_as(size, x.shape[:-1]) if total is None else total
    while True:
        power = _exponents(op.abs(x))
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
    a, total = _balanced(matrix(a, square=True))
    pivots, sign = _pivots(a)
    return _times(_product(pivots, total), sign)


def slogdet(a):
    """The sign (...) of the determinant and the logarithm (...) of its magnitude: 0 and -inf if
    singular.

    >>> collet.linalg.slogdet([[0, 1], [1, 0]]).sign
    array(-1.)"""
    a, total = _balanced(matrix(a, square=True))
    pivots, sign = _pivots(a)
    logarithm = op.sum(op.log(op.abs(pivots)), axes=-1)
    return SlogdetResult(_times(_product(op.sign(pivots), None), sign),
                         logarithm if total is None else op.add(logarithm, op.mul(total, math.log(2))))
