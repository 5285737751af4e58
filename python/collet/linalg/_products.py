# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py
"""Products of arrays."""

import operator

from .. import op
from .._array.operands import arrays, matrices, permuted
from ..functions import broadcast_to, matmul
from ._arguments import conj, identity, numbers
from ._equations import inv


def dot(a, b):
    """numpy.dot: the sum of products over the last axis of a and the last but one axis of b, or b's only
    axis. For vectors the inner product, for matrices the matrix product. If an argument has no axes: the
    product with that number.

    >>> collet.linalg.dot([[1.0, 2], [3, 4]], [1, 1])
    array([3., 7.])"""
    a, b = numbers(a, b)
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
    a, b = numbers(a, b)
    return op.dot(conj(a).reshape(-1), b.reshape(-1))


def matrix_power(a, n):
    """The n-th power of square matrices. Powers of integers are computed modulo 2^width. A negative n:
    powers of the inverse. Raises LinAlgError if the inverse does not exist.

    >>> collet.linalg.matrix_power([[1, 1], [0, 1]], 3)
    array([[1, 3],
           [0, 1]])"""
    a, n = matrices(*arrays(a), square=True), operator.index(n)
    if n < 0:
        a, n = inv(a), -n
    elif a.dtype.kind not in "biu":
        a, = numbers(a)
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return op.copy(broadcast_to(identity(a), a.shape)) if result is None else result
