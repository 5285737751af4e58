# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""Operators of collet.Array that are written in Python. All other operators are in python/src/lazy/operators.c."""

from __future__ import annotations

from .. import _core, op
from .._array.conversion import REDUCTIONS, small
from . import namespace

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array import Array


def matmul(a: Any, b: Any) -> Any:
    made = small("matmul")(a, b)
    if made is not None:
        return made
    if not isinstance(b, _core.Array) and not hasattr(b, "__array_struct__"):
        return NotImplemented
    from ..functions import matmul as product
    return product(a, b)


_REDUCED = {"sum": "array([4., 6.])", "prod": "array([3., 8.])", "mean": "array([2., 3.])",
            "var": "array([1., 1.])", "std": "array([1., 1.])", "max": "array([3., 4.])",
            "min": "array([1., 2.])", "any": "array([ True,  True])", "all": "array([ True,  True])",
            "argmax": "array([1, 0])", "argmin": "array([0, 1])"}


def _given(name: str, places: list[str], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments by name. Raises TypeError if one is given twice."""
    given = {**dict(zip(places, arguments)), **keywords}
    if len(given) < len(arguments) + len(keywords) and len(arguments) <= len(places):
        twice = next(n for n in places[:len(arguments)] if n in keywords)
        raise TypeError(f"{name}: {twice} is given by position and by name")
    return given


def reduction(name: str, order: str) -> Callable[..., Array]:
    """Makes a method that reduces an Array. Its positional arguments have the same order as NumPy's."""
    places = order.split()
    single = ("float32", "float64") if name[:3] != "arg" else ()  # dtypes for which the op alone is enough

    def reduce(self: Array, *arguments: Any, **keywords: Any) -> Array:
        made = small(name)(self, *arguments, **keywords) if name in REDUCTIONS else None
        if made is not None:
            return made
        given = _given(name, places, arguments, keywords)
        if self._dtype in single and type(given.get("axis")) in (int, type(None)) and \
                not given.keys() - {"axis", "keepdims"} and not _core.is_pending(self):
            return getattr(op, name)(self, axes=given.get("axis"), keepdims=bool(given.get("keepdims")))
        if given.keys() & {"where", "initial"} or given.get("out") is not None and "out" in places or \
                name in ("mean", "var", "std") and given.get("dtype") is not None:
            import numpy
            return getattr(numpy, name)(self, **given)  # type: ignore[no-any-return]
        unknown = {n for n in given if n not in places}
        given.pop("out", None)
        if "ddof" in given:
            given["correction"] = given.pop("ddof")
        if given.get("dtype", ...) is None:
            del given["dtype"]
        if unknown or len(arguments) > len(places):
            raise TypeError(f"{name}: an Array takes no {', '.join(unknown) or 'more arguments'}" +
                            (f"; collet.op.{name} has out" if "out" in unknown else f": it takes {order}"))
        from .. import functions
        return getattr(functions, name)(self, **given)

    reduce.__name__ = name
    reduce.__doc__ = (f"collet.{name} of the elements: {', '.join(places)} as in NumPy.\n\n"
                      f">>> collet.asarray([[1.0, 4], [3, 2]]).{name}(axis=0).to_numpy()\n{_REDUCED[name]}")
    return reduce


# Functions that are also methods. Each entry has the function, its arguments in NumPy's order, with
# required arguments before "/", and the output of an example.
METHODS = {
    "argsort": ("argsort", "/ axis", "(axis=1)", "array([[0, 1],\n       [1, 0]])"),
    "clip": ("clip", "/ min max", "(2, 3)", "array([[2., 3.],\n       [3., 2.]])"),
    "conj": ("conj", "/", "()", "array([[1., 4.],\n       [3., 2.]])"),
    "conjugate": ("conj", "/", "()", "array([[1., 4.],\n       [3., 2.]])"),
    "cumprod": ("cumulative_prod", "/ axis dtype", "(axis=0)", "array([[1., 4.],\n       [3., 8.]])"),
    "cumsum": ("cumulative_sum", "/ axis dtype", "(axis=0)", "array([[1., 4.],\n       [4., 6.]])"),
    "dot": ("dot", "b /", "([1.0, 0])", "array([1., 3.])"),
    "ptp": ("ptp", "/ axis keepdims", "(axis=1)", "array([3., 1.])"),
    "repeat": ("repeat", "repeats / axis", "(2, axis=1)", "array([[1., 1., 4., 4.],\n       [3., 3., 2., 2.]])"),
    "take": ("take", "indices / axis", "([1], axis=1)", "array([[4.],\n       [2.]])"),
}


_FLAT = ("cumprod", "cumsum", "take")  # methods whose axis is None by default: all elements in C order


def method(name: str, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """A method from METHODS. call(name, arguments, keywords) computes the function."""
    function, order, example, printed = METHODS[name]
    before, after = (part.split() for part in order.split("/"))
    places = before + after

    def compute(self: Any, *arguments: Any, **keywords: Any) -> Any:
        given = _given(name, places, arguments, keywords)
        others = given.keys() - set(places)
        if name not in ("conj", "conjugate", "dot") and len(arguments) <= len(places) and others <= {"kind", "mode", "out"} and \
                (others or name == "argsort" and given.get("axis", -1) is None):
            import numpy
            return getattr(numpy, name)(self, **given)
        if len(arguments) > len(places) or given.keys() - set(places) or set(before) - given.keys():
            raise TypeError(f"{name} takes {', '.join(places) or 'no arguments'}")
        if name in _FLAT and given.get("axis") is None:
            self, given = self.reshape(-1), {**given, "axis": 0}
        return call(function, (self, *(given.pop(n) for n in before)), given)

    compute.__name__ = name
    compute.__doc__ = (f"collet.{function} of the array: {', '.join(places) or 'no arguments'}.\n\n"
                       f">>> collet.asarray([[1.0, 4], [3, 2]]).{name}{example}.to_numpy()\n{printed}")
    return compute


# Methods that call NumPy's function of the same name, with its arguments. Each entry has an example and its output.
NUMPY_METHODS = {
    "argpartition": ("([0, 3, 2]", "(1)[1].item()", "2"),
    "choose": ("([0, 1]", "([[1, 2], [3, 4]]).tolist()", "[1, 4]"),
    "compress": ("([1.0, 4, 3]", "([True, False, True]).tolist()", "[1.0, 3.0]"),
    "diagonal": ("([[1.0, 4], [3, 2]]", "().tolist()", "[1.0, 2.0]"),
    "put": ("([1.0, 4, 3]", "([1], 7)", None),
    "round": ("([1.26, 4.0]", "(1).tolist()", "[1.3, 4.0]"),
    "searchsorted": ("([1.0, 4, 5]", "(3).item()", "1"),
    "trace": ("([[1.0, 4], [3, 2]]", "().item()", "3.0"),
}


def numpy_method(name: str) -> Callable[..., Any]:
    """A method that calls numpy's function of that name, by the protocols."""
    def compute(self: Any, *arguments: Any, **keywords: Any) -> Any:
        import numpy
        if name == "compress":  # numpy.compress has the condition before the array
            return numpy.compress(*arguments[:1], self, *arguments[1:], **keywords)
        return getattr(numpy, name)(self, *arguments, **keywords)

    values, example, printed = NUMPY_METHODS[name]
    compute.__name__ = name
    compute.__doc__ = (f"numpy.{name} of the array, with NumPy's arguments.\n\n"
                       f">>> collet.asarray{values}).{name}{example}" + (f"\n{printed}" if printed else ""))
    return compute


def call_function(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return getattr(namespace, name)(*arguments, **keywords)
