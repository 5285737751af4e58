# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_integers.py
"""Conversions of integers that a dtype does not hold: they wrap, as in NumPy 2."""

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
