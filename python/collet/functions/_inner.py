# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Inner products and the Kronecker product, as in NumPy. collet.functions exports them."""

from .._array.operands import taken
from . import _primitives as f
from ._arrangement import ravel


def dot(a, b):
    """The sum of products over the last axis of a and the last but one axis of b, or b's only axis. If a or b
    has no axes, the product of both.

    >>> int(collet.dot([1, 2], [3, 4]))
    11"""
    a, b = taken(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return f.matmul(a, b) if b.ndim <= 2 else f.tensordot(a, b, axes=((-1,), (-2,)))


def inner(a, b):
    """The sum of products over the last axes of a and b. If one of them has no axes, the product of both.

    >>> int(collet.inner([1, 2], [3, 4]))
    11"""
    a, b = taken(a, b)
    return f.tensordot(a, b, axes=((-1,), (-1,))) if a.ndim and b.ndim else a * b


def vdot(a, b):
    """The sum of the products conj(a) * b of all elements.

    >>> complex(collet.vdot([1j, 2], [1j, 4]))
    (9+0j)"""
    return f.vecdot(ravel(a), ravel(b))


def kron(a, b):
    """The Kronecker product: blocks of b, times each element of a.

    >>> collet.kron([1, 2], [1, 10])
    array([ 1, 10,  2, 20])"""
    a, b = taken(a, b)
    ndim = max(a.ndim, b.ndim)
    a, b = ((1,) * (ndim - x.ndim) + tuple(x.shape) for x in (a, b)), (a, b)
    (m, n), (a, b) = a, b
    a = a.reshape([k for extent in m for k in (extent, 1)])
    b = b.reshape([k for extent in n for k in (1, extent)])
    return (a * b).reshape([i * j for i, j in zip(m, n)])
