# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py, python/tests/test_operators.py
"""The elementwise functions under the names of the Python array API standard, made from libcore's list
of ops. An op computes operands of one dtype; an expression, which promotes as NumPy 2, all others."""

from __future__ import annotations

import functools

from .. import _core, _ops

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]

_OPS = {"subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "positive": "copy"}
_NOT = {*_OPS.values()}  # ops that have another name in the standard
_OPERANDS = {"out[...]", ":", "a[...]", "b[...]", "c[...]"}


def _is_elementwise(about: dict[str, Any]) -> bool:
    return about["family"] == "array" and not about["fields"] and {*about["shapes"].split()} <= _OPERANDS


@functools.cache
def names() -> list[str]:
    """The names of all functions, sorted."""
    found = (n for n in _core.op_names() if n not in _NOT and "." not in n)
    return sorted([*_OPS, *(n for n in found if _is_elementwise(_core.op_describe(n)))])


def _same(about: dict[str, Any]) -> frozenset[str]:
    """The dtypes of which the op takes all its inputs."""
    letters = _core.dtype_letters()
    inputs = (sig.partition(":")[2] for sig in about["sigs"].split())
    return frozenset(letters[i[0]] for i in inputs if len({*i}) == 1 and i[0] in letters)


def _one(single: Function, general: Function, same: frozenset[str]) -> Function:
    def function(x: Any, /, *, out: Any = None) -> Any:
        direct = getattr(x, "_dtype", None) in same
        return (single if direct else general)(x, out=out)

    return function


def _two(single: Function, general: Function, same: frozenset[str]) -> Function:
    floating = same & {"f16", "bf16", "f32", "f64", "c64", "c128"}
    weak = (float, int)  # what NumPy converts to these dtypes

    def function(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
        first, second = getattr(x1, "_dtype", None), getattr(x2, "_dtype", None)
        direct = first in same if first == second else \
            (first in floating and type(x2) in weak) or (second in floating and type(x1) in weak)
        return (single if direct else general)(x1, x2, out=out)

    return function


def _where(single: Function, general: Function, same: frozenset[str]) -> Function:
    def where(condition: Any, x1: Any, x2: Any, /, *, out: Any = None) -> Any:
        return general(condition, x1, x2, out=out)

    return where


def _three(single: Function, general: Function, same: frozenset[str]) -> Function:
    def function(x1: Any, x2: Any, x3: Any, /, *, out: Any = None) -> Any:
        return general(x1, x2, x3, out=out)

    return function


def _clip(single: Function, general: Function, same: frozenset[str]) -> Function:
    def clip(x: Any, /, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
        if min is None or max is None:
            if min is None and max is None:
                return functions["positive"](x, out=out)
            side = "minimum" if min is None else "maximum"
            return functions[side](x, max if min is None else min, out=out)
        return general(x, min, max, out=out)

    return clip


@functools.lru_cache(64, typed=True)
def _power_of(exponent: float) -> Function:
    return _core.Expression(f"x**{exponent!r}")


def _power(single: Function, general: Function, same: frozenset[str]) -> Function:
    two = _two(single, general, same)

    def pow(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
        if type(x2) in (int, float) and -16 <= x2 <= 16 and 2 * x2 == int(2 * x2):
            return _power_of(x2)(x1, out=out)  # products, and a square root
        return two(x1, x2, out=out)

    return pow


def _positive(single: Function, general: Function, same: frozenset[str]) -> Function:
    return _one(general, general, same)


_MADE_BY = {"where": _where, "clip": _clip, "pow": _power, "positive": _positive}
_BY_INPUTS = (_one, _two, _three)


def expression(name: str) -> str:
    """The text that computes the function of a, b and c."""
    op_name = _OPS.get(name, name)
    inputs = [o["name"] for o in _core.op_describe(op_name)["operands"] if not o["output"]]
    return "a" if op_name == "copy" else f"{op_name}({', '.join(inputs)})"


def make(name: str) -> Function:
    """The function with this name. KeyError if there is none."""
    op_name = _OPS.get(name, "" if name in _NOT else name)
    try:
        about = _core.op_describe(op_name)
    except _core.NotFoundError:
        raise KeyError(name) from None
    if not _is_elementwise(about):
        raise KeyError(name)
    maker = _MADE_BY.get(name) or _BY_INPUTS[len(about["operands"]) - 2]
    function = maker(_ops.get(op_name), _core.Expression(expression(name)), _same(about))
    function.__name__ = function.__qualname__ = name
    function.__module__ = "collet"
    function.__doc__ = (f"{about['summary'][0].upper()}{about['summary'][1:]}, by elements; a, b and c are the "
                        "arguments.\n\nDtypes are promoted as in NumPy 2; Python's numbers are weak. `out` "
                        "is an array of the result's dtype and shape.")
    return function


class _Functions(dict):  # type: ignore[type-arg]
    """The functions by name, made when they are first used."""

    def __missing__(self, name: str) -> Function:
        self[name] = function = make(name)
        return function


functions: dict[str, Function] = _Functions()
