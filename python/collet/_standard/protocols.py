# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""NumPy's protocols: numpy's functions on Arrays call collet's functions. NumPy itself computes functions that collet
lacks (numpy_itself.py)."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, fft, linalg
from .. import functions as composed
from .._array.elementwise import functions
from . import namespace, numpy_functions, numpy_itself

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = {"absolute": "abs", "conjugate": "conj", "invert": "bitwise_invert", "rint": "round", "power": "pow",
          "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
          **{"arc" + n: "a" + n for n in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")}}
_PRODUCTS = ("matmul", "vecdot")
_BOOLEAN = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
            "logical_not", "isnan", "isinf", "isfinite", "signbit"}


@functools.lru_cache(512)
def _of_ufunc(ufunc: Any) -> Any:
    """collet's function that computes the same as a ufunc of NumPy or SciPy; None if there is none."""
    name = ufunc.__name__
    owners = np, sys.modules.get("scipy.special")
    if all(getattr(owner, name, None) is not ufunc for owner in owners):  # such as numba's ufuncs
        return None
    name = _NAMES.get(name, name)
    if name == "divmod":
        return lambda a, b: (functions["floor_divide"](a, b), functions["remainder"](a, b))
    if name in _PRODUCTS:
        return getattr(composed, name)
    try:
        return functions[name]
    except KeyError:
        return None


class _Lacking(TypeError):
    """Raised with a text that says what collet lacks for a call."""


_NO_FUNCTION = "is a function that collet lacks"


def _no_parameters(names: Iterable[str]) -> str:
    return f"has {'=, '.join(names)}=, which collet's function lacks"


def _numpy(function: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], error: Exception) -> Any:
    """Calls NumPy's function after collet's function raised `error`. If NumPy refuses too, raises `error`."""
    if isinstance(error, _Lacking):
        return numpy_itself.compute(function, name, arguments, keywords, str(error), 4)
    # dtypes, axes or values that collet's function does not take
    if keywords.get("dtype") is not None:
        _core.dtype_name(keywords["dtype"])  # raises for a dtype that Arrays do not have
    try:
        found = numpy_itself.compute(function, name, arguments, keywords, f"failed in collet ({error})", 4)
    except (TypeError, ValueError) as refused:
        raise error from refused
    if found is NotImplemented:
        raise error
    return found


def ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Array.__array_ufunc__: numpy.sin(x) is collet.sin(x)."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    function = _of_ufunc(ufunc) if method == "__call__" else None
    try:
        return _ufunc(name, function, inputs, dict(keywords), ufunc.nout)
    except (TypeError, ValueError) as failed:
        error = failed
    owner = "numpy." if getattr(np, ufunc.__name__, None) is ufunc else ""
    return _numpy(getattr(ufunc, method), owner + name, inputs, keywords, error)


def _ufunc(name: str, function: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], outputs: int) -> Any:
    if function is None:
        raise _Lacking(_NO_FUNCTION)
    if name in _KINDS:
        inputs = _as_numpy(name, inputs)
    out, *others = keywords.pop("out", (None,))
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise _Lacking(_no_parameters(keywords))
    if any(o is not None for o in others) or (out is not None and (outputs > 1 or not isinstance(out, _core.Array))):
        raise _Lacking("stores into an array of NumPy")
    if dtype is not None:
        _check_cast(name, inputs, _core.dtype(dtype))
        inputs = tuple(x.astype(dtype, copy=False) if hasattr(x, "astype") else x for x in inputs)
    if out is not None:
        return function(*inputs, out=out)
    found = function(*inputs)
    for part in found if isinstance(found, tuple) else (found,):
        if dtype is not None and part.dtype != dtype:
            raise _Lacking(f"gives {part.dtype} in collet, not {dtype}")
    return found


# Functions whose results have other dtypes in collet than in NumPy, for arguments of these kinds. If NumPy's result is
# a float, the arguments are first converted to the dtype of this result; otherwise NumPy computes.
_KINDS = {**dict.fromkeys(("arctan2", "copysign", "hypot", "logaddexp", "reciprocal", "rint"), "biu"), "nextafter": "biuf",
          "conjugate": "b"}


def _as_numpy(name: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a function of _KINDS in the dtype of NumPy's result."""
    kinds = {"biufc"["biufc".find(x.dtype.kind)] for x in inputs if hasattr(x, "dtype")}
    if not kinds <= {*_KINDS[name]}:
        return inputs
    dtype = getattr(np, name)(*(np.ones(1, x.dtype) if hasattr(x, "dtype") else x for x in inputs)).dtype
    if dtype.kind != "f":
        raise _Lacking("computes integers, which collet's function does not")
    return tuple(x.astype(dtype) if hasattr(x, "dtype") else x for x in inputs)


def _check_cast(name: str, inputs: tuple[Any, ...], dtype: Any) -> None:
    """Raises unless the inputs can be converted to dtype= by NumPy's rule "same_kind", and the results of the
    function are not bool."""
    if name in _BOOLEAN:
        raise _Lacking("has dtype=, which collet's function does not support")
    for x in inputs:
        kind = getattr(x, "dtype", None) or {bool: "?", int: "i8", float: "f4", complex: "c8"}.get(type(x))
        if kind is None or not (dtype.kind in "fcV" and type(x) in (int, float) or np.can_cast(kind, dtype, "same_kind")):
            raise _Lacking(f"casts an input to {dtype}, which collet's function does not")


# ---- __array_function__

# NumPy's functions that have another name in collet; all other functions have the same name.
_OTHER = {"concatenate": "concat", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod", "amax": "max",
          "amin": "min", "bitwise_not": "bitwise_invert"}
_ARGUMENTS = {"ddof": "correction", "newshape": "shape", "reps": "repetitions", "a_min": "min",
              "a_max": "max"}
# The parameters of NumPy's functions that have no signature, in order.
_SIGNATURES = {"concatenate": "arrays axis=0 out dtype", "where": "condition x y", "dot": "a b", "vdot": "a b",
               "inner": "a b", "argpartition": "a kth axis=-1", "bincount": "x weights minlength",
               **dict.fromkeys(("asarray", "asanyarray"), "a dtype order like")}
_STABLE = ("quicksort", "heapsort", "mergesort", "stable")
_LAST = ("diagonal", "trace")  # by default collet uses the last two axes, NumPy the first two
_AS_THEY_ARE = {"broadcast_arrays", "meshgrid", "result_type", "can_cast", "atleast_1d", "atleast_2d",
                *numpy_functions.SIMPLE}


_FLAT = {"cumsum", "cumprod", "take", "sort", "argsort", "partition", "argpartition"}  # axis=None: all elements


def _find(module: str, name: str) -> Any:
    if module in ("numpy.linalg", "numpy.fft"):
        return getattr(linalg if module == "numpy.linalg" else fft, name, None)
    if module != "numpy" and not module.startswith("numpy.lib"):
        return None
    return numpy_functions.FUNCTIONS.get(name) or getattr(namespace, _OTHER.get(name, name), None)


class _Plan:
    """What is known about a function of NumPy before a call: collet's function, and how NumPy's arguments are
    converted to its arguments."""

    __slots__ = ("accepted", "as_they_are", "defaults", "first", "flat", "lacking", "last", "name", "names", "ours",
                 "positional", "stable", "title", "variadic")

    def __init__(self, function: Any) -> None:
        self.name, module = function.__name__, function.__module__
        self.title = f"{module}.{self.name}"
        found = _find(module, self.name)
        self.ours = found if callable(found) else None
        self.as_they_are = self.ours is not None and self.name in _AS_THEY_ARE
        self.lacking: set[str] = set()  # parameters that collet's function lacks
        if self.ours is None or self.as_they_are:
            return
        self.defaults, self.variadic = _parameters(function)
        self.names = *self.defaults,
        self.first = self.names[0] if self.names else None
        self.last = self.name in _LAST
        self.flat = self.name in _FLAT
        parameters = inspect.signature(self.ours).parameters.values()
        self.accepted = {p.name for p in parameters}
        self.positional = sum(p.kind is p.POSITIONAL_ONLY for p in parameters) or 1
        self.stable = "stable" in self.accepted  # collet's sorts are stable
        if not self.variadic:
            self.lacking = {n for n in self.names[self.positional:] if _ARGUMENTS.get(n, n) not in self.accepted}
        if self.stable:
            self.lacking.discard("kind")

    def given(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        """The arguments by NumPy's names and in NumPy's order, without arguments that equal their defaults."""
        pairs = [*zip(self.names, arguments)]
        if keywords:
            pairs += [(n, keywords[n]) for n in self.names if n in keywords] if len(keywords) > 1 else keywords.items()
            pairs += [(n, v) for n, v in keywords.items() if n not in self.defaults and len(keywords) > 1]
        found, defaults = {}, self.defaults
        for n, v in pairs:
            if v is defaults.get(n, self) and n != self.first:
                continue
            if callable(v) and not isinstance(v, type):
                raise _Lacking("calls a function of yours, which collet's does not")
            found[n] = v
        return found


_plan = functools.cache(_Plan)


def _parameters(function: Any) -> tuple[dict[str, Any], bool]:
    """The parameters of a function of NumPy and their defaults, and whether it takes any number of arguments by position, as
    numpy.gradient does."""
    if function.__name__ in _SIGNATURES:
        names = (n.partition("=") for n in _SIGNATURES[function.__name__].split())
        return {name: int(value) if value else None for name, _, value in names}, False
    known = inspect.signature(function).parameters.values()
    return ({p.name: p.default for p in known if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)},
            any(p.kind is p.VAR_POSITIONAL for p in known))


def function(self: Any, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Array.__array_function__: numpy.concatenate is collet.concat."""
    plan = _plan(function)
    if plan.ours is None:
        return numpy_itself.compute(function, plan.title, arguments, keywords, _NO_FUNCTION)
    if keywords and (unknown := [n for n, v in keywords.items() if n in plan.lacking and v is not plan.defaults[n]]):
        return numpy_itself.compute(function, plan.title, arguments, keywords, _no_parameters(unknown))
    try:
        return plan.ours(*arguments, **keywords) if plan.as_they_are else _function(plan, arguments, keywords)
    except (TypeError, ValueError) as failed:
        error = failed
    return _numpy(function, plan.title, arguments, keywords, error)


def _function(plan: _Plan, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given, ours = plan.given(arguments, keywords), plan.ours
    if plan.last and (ndim := getattr(next(iter(given.values()), None), "ndim", 0)) != 2:
        raise _Lacking(f"has an array of {ndim} axes, and collet.{plan.name} takes the last two")
    if plan.name == "where" and len(given) == 1:
        ours = _find("numpy", "nonzero")
    if plan.flat and given.get("axis", plan.defaults.get("axis")) is None:
        given = {**given, plan.first: namespace.asarray(given[plan.first]).reshape(-1), "axis": 0}
    if plan.stable and given.get("kind") in _STABLE:
        del given["kind"]
    if plan.variadic:
        positional, rest = arguments, keywords
    else:
        values = [*given.items()]
        positional = [v for _, v in values[:plan.positional]]
        rest = {_ARGUMENTS.get(n, n): v for n, v in values[plan.positional:]}
    if not rest.keys() <= plan.accepted:
        raise _Lacking(_no_parameters([n for n in rest if n not in plan.accepted]))
    return ours(*positional, **rest)


_core.Array.__array_ufunc__ = ufunc  # type: ignore[attr-defined]
_core.Array.__array_function__ = function  # type: ignore[attr-defined]
