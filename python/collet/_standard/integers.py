# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_integers.py
"""Integers that a dtype does not hold, as NumPy 2 has them: conversions wrap, comparisons have an answer."""

from __future__ import annotations

import functools

from .. import _core, op

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from .._array import Array

_WIDTHS = {f"{kind}{bits}": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


@functools.cache
def _conversion(source: str, dtype: str) -> Any:
    """An expression that converts integers modulo 2^width; None where the kernel's conversion, which
    saturates, loses none."""
    bits, width = _WIDTHS.get(dtype, 0), _WIDTHS.get(source, 0)
    if not bits or not width or source == dtype or (bits > width and source[0] + dtype[0] != "iu"):
        return None
    if bits == 64:
        if dtype == "uint64":
            return _core.Expression("where(x < 0, ~uint64(~int64(x)), uint64(x))")
        return _core.Expression("where(x >> 63 == 1, ~int64(~x), int64(x))")
    low = f"(int64(x) & {2**bits - 1})" if source != "uint64" else f"int64(x & {2**bits - 1})"
    half = 2**(bits - 1)
    return _core.Expression(f"{dtype}({low})" if dtype[0] == "u" else f"{dtype}(({low} ^ {half}) - {half})")


def converted(array: Array, dtype: str) -> Array:
    """A copy in another dtype; integers modulo 2^width."""
    conversion = _conversion(array._dtype, dtype)
    return conversion(array) if conversion else op.copy(array, dtype=dtype)


_SWAPPED = {"less": "greater", "less_equal": "greater_equal", "greater": "less",
            "greater_equal": "less_equal"}
_ABOVE = {"equal": False, "not_equal": True, "less": True, "less_equal": True, "greater": False,
          "greater_equal": False}  # of elements and a number that is greater than all


def comparison(name: str, x1: Any, x2: Any) -> Any:
    """The result of a comparison of an array of integers with an int that its dtype does not hold, on either
    side; None for any other function or operands, which includes numbers that it holds."""
    if type(x1) is int:
        x1, x2, name = x2, x1, _SWAPPED.get(name, name)
    if type(x2) is not int or name not in _ABOVE or not hasattr(x1, "shape"):
        return None
    dtype = getattr(x1, "_dtype", None) or _core.dtype_name(x1.dtype)
    if dtype not in _WIDTHS:
        return None
    most = 2**(_WIDTHS[dtype] - (dtype[0] == "i")) - 1
    if (-most - 1 if dtype[0] == "i" else 0) <= x2 <= most:
        return None
    answer = _ABOVE[name] if x2 > most or name in ("equal", "not_equal") else not _ABOVE[name]
    if isinstance(x1, _core.Array):
        return op.fill(value=answer, out=_core.empty(x1.shape, "bool"))
    import numpy
    return numpy.full(x1.shape, answer)
