# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_integers.py, python/tests/test_operators.py, python/tests/op/test_small.py
"""Conversions between dtypes, in-place operators, and the fast path for small Arrays. Integers that the new
dtype cannot hold wrap around, as in NumPy 2."""

from __future__ import annotations

import functools

from .. import _core, op
from .elementwise import expression, functions

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._standard.array import Array

_WIDTHS = {f"{kind}{bits}": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def converted(array: Array, dtype: str) -> Array:
    """A copy in another dtype. Integers are converted modulo 2^width."""
    made: Array | None = _core.small_astype(array, dtype)
    if made is not None:
        return made
    source = array._dtype
    bits, width = _WIDTHS.get(dtype, 0), _WIDTHS.get(source, 0)
    if bits and 0 < width < bits and source[0] + dtype[0] == "iu":
        return op.copy(array, dtype=dtype[1:])._low(dtype)
    wraps = bits and width and source != dtype and (width > bits or (width == bits and source[0] != dtype[0]))
    return op.copy(array._low(dtype) if wraps else array, dtype=dtype)


def cast(array: Array, dtype: str) -> Array:
    """The array in another dtype."""
    if array._dtype == dtype:
        return array
    converted = _core.convert(array, dtype)
    return op.copy(array, dtype=dtype) if converted is None else converted


@functools.lru_cache(512)
def _into(name: str, dtype: str) -> Callable[..., Any]:
    return _core.Expression(f"{dtype}({expression(name)})")


def _rank(dtype: str) -> int:
    return 0 if dtype == "bool" else 1 + "uifc".index(dtype.replace("bf", "f")[0])


def check_kind(dtype: str, other: str, name: str, sign: str = "+") -> None:
    """Raises DtypeError if the result's kind differs from the kind of the array that stores it."""
    both = dtype[0] + other[0]
    if _rank(other) > _rank(dtype) or (both in ("ui", "iu") and "uint64" in (dtype, other)) or \
            (name == "divide" and _rank(dtype) < 3):
        raise _core.DtypeError(f"{name}: an operator in place cannot store results of {dtype} and {other} "
                               f"in an Array of {dtype}: use x = x {sign} y")


def assign(name: str, array: Array, other: Any) -> Any:
    """Computes array += other, or another in-place operator, where `other` has another dtype."""
    dtype = getattr(other, "_dtype", None) or _core.dtype_name(other.dtype)
    if dtype == array._dtype:
        return functions[name](array, other, out=array)
    check_kind(array._dtype, dtype, name)
    if array._dtype[0] in "iu":  # integers wrap; _into would saturate
        return op.copy(converted(functions[name](array, other), array._dtype), out=array)
    return _into(name, array._dtype)(array, other, out=array)


REDUCTIONS = ("sum", "prod", "mean", "var", "std", "min", "max")  # functions that keep the dtypes float32 and float64


@functools.cache
def small(name: str) -> Callable[..., Any]:
    """The function that computes small Arrays quickly. It returns None for other arguments."""
    if name == "matmul":
        return _core.small_product(op.dot, op.matvec, op.matmul)
    if name == "norm":
        return _core.small_norm(op.dot)
    return _core.small_reduction(getattr(op, name))
