# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py, python/tests/test_operators.py
"""The elementwise functions under the names of the Python array API standard, made from libcore's list
of ops. An op computes operands of one dtype. An expression computes operands of different dtypes and
promotes them as NumPy 2 does. With Arrays the functions are lazy (python/src/lazy/elementwise.c)."""

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


def _same(about: dict[str, Any]) -> tuple[str, ...]:
    """The dtypes that the op accepts for all of its inputs at once; of `where`, for all but the condition."""
    letters = _core.dtype_letters()
    inputs = (sig.partition(":")[2][about["name"] == "where":] for sig in about["sigs"].split())
    return tuple(letters[i[0]] for i in inputs if len({*i}) == 1 and i[0] in letters)


@functools.lru_cache(64, typed=True)
def _power_of(exponent: float) -> Any:
    return _core.Expression(f"x**{exponent!r}")  # the expression uses products and a square root


def expression(name: str) -> str:
    """The text of the expression that computes the function of a, b and c."""
    op_name = _OPS.get(name, name)
    inputs = [o["name"] for o in _core.op_describe(op_name)["operands"] if not o["output"]]
    return "a" if op_name == "copy" else f"{op_name}({', '.join(inputs)})"


def _sentence(name: str, summary: str, words: str) -> str:
    """The summary of an op, with the function's arguments in place of the op's inputs a, b and c."""
    import re  # takes milliseconds
    called = dict(zip("abc", re.findall(r"\w+", words.replace("=None", ""))))
    text = re.sub(r"\b[abc]\b(?! bool)", lambda found: called[found[0]], summary.replace(", element by element", ""))
    text = f"whether x is {text}" if name[:2] == "is" else text
    return text[0].upper() + text[1:] if re.match(r"[a-z]{2,}\b[^(]", text) else text  # e is a number


def make(name: str) -> Function:
    """The function with this name. Raises KeyError if there is none."""
    op_name = _OPS.get(name, "" if name in _NOT else name)
    try:
        about = _core.op_describe(op_name)
    except _core.NotFoundError:
        raise KeyError(name) from None
    if not _is_elementwise(about):
        raise KeyError(name)
    inputs = len(about["operands"]) - 1
    words = "x, /, min=None, max=None" if name == "clip" else \
        ("x", "x1, x2", "x1, x2, x3" if name != "where" else "condition, x1, x2")[inputs - 1] + ", /"
    from .examples import EXAMPLES
    arguments, printed = EXAMPLES[name]
    doc = (f"{name}({words}, *, out=None)\n--\n\n{_sentence(name, about['summary'], words)}, by elements."
           "\n\nDtypes are promoted as in NumPy 2; Python's numbers are weak. `out` is an array of the result's "
           f"dtype and shape.\n\n>>> collet.{name}({arguments})\n{printed}")
    sides = tuple(functions[n] for n in ("maximum", "minimum", "positive")) if name == "clip" else None
    return _core.elementwise(name, doc, inputs, _ops.get(op_name), _core.Expression(expression(name)),
                             _same(about) if name != "positive" else (),
                             _power_of if name == "pow" else None, sides, name != "positive")


@functools.cache
def _next_of(dtype: str) -> Any:
    """nextafter for a 16-bit dtype: adds 0.6 to 1.2 times the local distance between numbers in float32,
    and rounds."""
    bits, least, most = (10, 2.0**-24, 65504.0) if dtype == "float16" else (7, 2.0**-133, (2 - 2.0**-7) * 2.0**127)
    a, b = "float32(a)", "float32(b)"
    step = f"copysign(maximum(abs({a})*{0.6 * 2.0**-bits!r}, {0.6 * least!r}), {b} - {a})"
    return _core.Expression(f"{dtype}(where((a == b) | isnan(b), {b}, "
                            f"where(isinf(a), copysign({most!r}, {a}), {a} + {step})))")


def _with_halves(function: Function) -> Function:
    """Adds float16 and bfloat16 to nextafter: the op lacks both."""
    @functools.wraps(function)
    def nextafter(x1: Any, x2: Any, /, *, out: Any = None) -> Any:
        dtypes = {str(x.dtype) for x in (x1, x2) if hasattr(x, "dtype")}
        if len(dtypes) == 1 and dtypes <= {"float16", "bfloat16"}:
            return _next_of(*dtypes)(x1, x2, out=out)
        return function(x1, x2, out=out)

    nextafter.__module__ = "collet"
    return nextafter


def get(name: str) -> Function:
    """The function with this name: the same object at each call."""
    return functions[name]


def owner(name: str) -> Any:
    """`__self__` of a function, for pickles."""
    return functions[name].__self__


class _Functions(dict):  # type: ignore[type-arg]
    """The functions by name. A function is made at its first use."""

    def __missing__(self, name: str) -> Function:
        function = make(name)
        self[name] = function = _with_halves(function) if name == "nextafter" else function
        return function


functions: dict[str, Function] = _Functions()
