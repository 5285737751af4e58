# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""The operators of collet.Array: for each the function that computes it."""

from __future__ import annotations

import functools

from .. import _core, op
from .elementwise import expression, functions

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._array import Array

    Operator = Callable[[Array, Any], Any]


def cast(array: Array, dtype: str) -> Array:
    """The array in another dtype."""
    return array if array._dtype == dtype else op.copy(array, dtype=dtype)


def _is_operand(value: Any) -> bool:
    """Whether an operator takes the value. A sequence would multiply itself by an integer Array."""
    if isinstance(value, (_core.Array, int, float, complex)) or hasattr(value, "__array_struct__"):
        return True
    if isinstance(value, (list, tuple, str, bytes, bytearray)):
        raise TypeError("operators take numbers, NumPy arrays and collet.Arrays, not "
                        f"{type(value).__name__}: convert it by collet.asarray")
    return False


def binary(name: str) -> tuple[Operator, Operator]:
    """The methods for the operator, with the Array on its left and on its right."""
    def forward(self: Array, other: Any) -> Any:
        if type(other) is type(self) or _is_operand(other):
            return functions[name](self, other)
        return NotImplemented

    def backward(self: Array, other: Any) -> Any:
        return functions[name](other, self) if _is_operand(other) else NotImplemented

    return forward, backward


def unary(name: str) -> Callable[[Array], Any]:
    def compute(self: Array) -> Any:
        return functions[name](self)

    return compute


@functools.lru_cache(512)
def _into(name: str, dtype: str) -> Callable[..., Any]:
    return _core.Expression(f"{dtype}({expression(name)})")


def _rank(dtype: str) -> int:
    return 0 if dtype == "bool" else 1 + "uifc".index(dtype.replace("bf", "f")[0])


def _check_kind(dtype: str, other: str, name: str) -> None:
    """DtypeError where the results have not the kind of the array that they go to."""
    both = dtype[0] + other[0]
    if _rank(other) > _rank(dtype) or (both in ("ui", "iu") and "u64" in (dtype, other)) or \
            (name == "divide" and _rank(dtype) < 3):
        raise _core.DtypeError(f"{name}: an operator in place cannot store results of {dtype} and {other} "
                               f"in an Array of {dtype}: use x = x + y")


def in_place(name: str) -> Operator:
    def assign(self: Array, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        if type(other) in (bool, int, float, complex):
            return functions[name](self, other, out=self)
        dtype = getattr(other, "_dtype", None) or _core.dtype_name(other.dtype)
        if dtype == self._dtype:
            return functions[name](self, other, out=self)
        _check_kind(self._dtype, dtype, name)
        return _into(name, self._dtype)(self, other, out=self)

    return assign


def matmul(a: Any, b: Any) -> Any:
    if not _is_operand(b) or isinstance(b, (int, float, complex)):
        return NotImplemented
    from ..functions import matmul as product
    return product(a, b)


def reduction(name: str, order: str) -> Callable[..., Array]:
    """A method that reduces, whose positional arguments have NumPy's order."""
    places = order.split()
    single = ("f32", "f64") if name[:3] != "arg" else ()  # what the op alone computes

    def reduce(self: Array, *arguments: Any, **keywords: Any) -> Array:
        given = {**dict(zip(places, arguments)), **keywords}
        if self._dtype in single and type(given.get("axis")) in (int, type(None)) and \
                not given.keys() - {"axis", "keepdims"}:
            return getattr(op, name)(self, axes=given.get("axis"), keepdims=bool(given.get("keepdims")))
        unknown = {n for n in given if n not in places} | {n for n in ("out",) if given.pop(n, None) is not None}
        if "ddof" in given:
            given["correction"] = given.pop("ddof")
        if given.get("dtype", ...) is None:
            del given["dtype"]
        if unknown or len(arguments) > len(places):
            raise TypeError(f"{name}: an Array takes no {', '.join(unknown) or 'more arguments'}; "
                            f"collet.op.{name} has out")
        from .. import functions
        return getattr(functions, name)(self, **given)

    reduce.__name__ = name
    return reduce
