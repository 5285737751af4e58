# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Elements selected by order, condition or membership in sets. collet.functions exports them."""

import operator

import numpy as np

from .. import _core, op
from .._array.operands import along, taken
from . import _primitives as f
from ._arrangement import ravel


def partition(x, kth, /, axis=-1):
    """Reorders the elements along an axis so that the element at kth is in its sorted place. No element before it is
    greater, and no element after it is smaller. With several places the axis is sorted completely.

    >>> int(collet.partition([3, 1, 2], 1)[1])
    2"""
    x, axis = along(*taken(x), axis)
    if hasattr(kth, "__index__") and x.dtype.kind != "b" and isinstance(x, (_core.Array, np.ndarray)):
        extent, kth = x.shape[axis], operator.index(kth)
        if not -extent <= kth < extent:
            raise ValueError(f"partition: kth is {kth}; the axis has {extent} elements")
        return op.partition(x, axis=axis % x.ndim, kth=kth % extent)
    return f.sort(x, axis=axis)


def argpartition(x, kth, /, axis=-1):
    """The indices that partition the elements. They sort the elements completely.

    >>> collet.argpartition([3, 1, 2], 0)
    array([1, 2, 0])"""
    x, axis = along(*taken(x), axis)
    return f.argsort(x, axis=axis)


def argwhere(x, /):
    """The indices of the elements that differ from 0, in C order: a row for each element.

    >>> collet.argwhere([[0, 5], [6, 0]])
    array([[0, 1],
           [1, 0]])"""
    x, = taken(x)
    return f.stack(f.nonzero(x), axis=1)


def flatnonzero(a, /):
    """The indices, in C order, of the elements that differ from 0.

    >>> collet.flatnonzero([[0, 5], [6, 0]])
    array([1, 2])"""
    return f.nonzero(ravel(a))[0]


def select(condlist, choicelist, default=0):
    """Selects each element from the first choice whose condition is true. `default` where no condition is
    true.

    >>> collet.select([[True, False], [True, True]], [[1, 2], [3, 4]])
    array([1, 4])"""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices")
    found = default
    for condition, choice in [*zip(condlist, choicelist)][::-1]:
        found = f.where(condition, choice, found)
    return found


def union1d(ar1, ar2):
    """The elements of either array, each once, sorted.

    >>> collet.union1d([1, 3], [2, 3])
    array([1, 2, 3])"""
    return f.unique_values(f.concat([ravel(v) for v in taken(ar1, ar2)]))


def intersect1d(ar1, ar2):
    """The distinct elements that occur in both arrays, sorted.

    >>> collet.intersect1d([1, 3, 3], [3, 2])
    array([3])"""
    both = f.sort(f.concat([f.unique_values(ravel(v)) for v in taken(ar1, ar2)]))
    return both[:-1][both[1:] == both[:-1]]


def setdiff1d(ar1, ar2):
    """The distinct elements of the first array that do not occur in the second, sorted.

    >>> collet.setdiff1d([1, 3, 3], [3, 2])
    array([1])"""
    ar1, ar2 = taken(ar1, ar2)
    found = f.unique_values(ravel(ar1))
    return found[~f.isin(found, ar2)]
