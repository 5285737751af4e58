# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Comparison of whole arrays, within tolerances. collet.functions exports them."""

from .._array.operands import has_nan, taken
from . import _primitives as f
from ._rounding import once_rounded


@once_rounded("a", "b")
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether the elements are equal, or differ by at most atol + rtol * abs(b).

    >>> collet.isclose([1.0, 2.0], [1.000001, 2.1])
    array([ True, False])"""
    a, b = taken(a, b)
    a, b = a * 1.0, b * 1.0
    found = (abs(a - b) <= atol + rtol * abs(b)) & f.isfinite(b) | (a == b)
    return found | f.isnan(a) & f.isnan(b) if equal_nan else found


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether isclose is true for all elements: a Python bool.

    >>> collet.allclose([1.0, 2.0], [1.000001, 2.0])
    True"""
    return bool(f.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal: a Python bool.

    >>> collet.array_equal([1, 2], [1, 2])
    True"""
    a, b = taken(a1, a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and has_nan(a) and has_nan(b):
        same = same | f.isnan(a) & f.isnan(b)
    return bool(f.all(same))
