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
    from collections.abc import Callable

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
    """What collet lacks for a call."""


def _either(ours: Callable[[], Any], function: Any, name: str, arguments: tuple[Any, ...],
            keywords: dict[str, Any]) -> Any:
    """Calls collet's function, or NumPy's function if collet's lacks something. If NumPy refuses too, collet's error
    is raised."""
    try:
        return ours()
    except _Lacking as lacking:
        reason = str(lacking)
    except (TypeError, ValueError) as error:  # dtypes, axes or values that collet's function does not take
        if keywords.get("dtype") is not None:
            _core.dtype_name(keywords["dtype"])  # raises for a dtype that Arrays do not have
        try:
            found = numpy_itself.compute(function, name, arguments, keywords, f"failed in collet ({error})")
        except (TypeError, ValueError) as refused:
            raise error from refused
        if found is NotImplemented:
            raise
        return found
    return numpy_itself.compute(function, name, arguments, keywords, reason)


def ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_ufunc__: numpy.sin(x) is collet.sin(x)."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    owner = "numpy." if getattr(np, ufunc.__name__, None) is ufunc else ""
    function = _of_ufunc(ufunc) if method == "__call__" else None
    return _either(lambda: _ufunc(name, function, inputs, dict(keywords), ufunc.nout),
                   getattr(ufunc, method), owner + name, inputs, keywords)


def _ufunc(name: str, function: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], outputs: int) -> Any:
    if function is None:
        raise _Lacking("is a function that collet lacks")
    if name in _KINDS:
        inputs = _as_numpy(name, inputs)
    out, *others = keywords.pop("out", (None,))
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise _Lacking(f"has {'=, '.join(keywords)}=, which collet's function lacks")
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


# Functions that have other dtypes in collet, for arguments of these kinds: NumPy's results are floats, or computed by NumPy.
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
    """dtype= is the dtype of the inputs too, except of functions whose results are bool; and only within a kind."""
    if name in _BOOLEAN:
        raise _Lacking("computes with dtype= what collet's function does not")
    for x in inputs:
        kind = getattr(x, "dtype", None) or {bool: "?", int: "i8", float: "f4", complex: "c8"}.get(type(x))
        if kind is None or not (dtype.kind in "fcV" and type(x) in (int, float) or np.can_cast(kind, dtype, "same_kind")):
            raise _Lacking(f"casts an input to {dtype}, which NumPy decides")


# ---- __array_function__

# NumPy's functions that have another name in collet; all others have the same name.
_OTHER = {"concatenate": "concat", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod", "amax": "max",
          "amin": "min", "bitwise_not": "bitwise_invert"}
_ARGUMENTS = {"ddof": "correction", "newshape": "shape", "reps": "repetitions", "a_min": "min",
              "a_max": "max"}
# The parameters, in order, of functions without a signature.
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


@functools.cache
def _parameters(function: Any) -> dict[str, Any]:
    """The parameters of a function of NumPy and their defaults."""
    if function.__name__ in _SIGNATURES:
        names = (n.partition("=") for n in _SIGNATURES[function.__name__].split())
        return {name: int(value) if value else None for name, _, value in names}
    return {p.name: p.default for p in inspect.signature(function).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


@functools.cache
def _is_variadic(function: Any) -> bool:
    """Whether a function of NumPy takes any number of arguments by position, as numpy.gradient does."""
    return function.__name__ not in _SIGNATURES and any(p.kind is p.VAR_POSITIONAL for p in
                                                        inspect.signature(function).parameters.values())


@functools.cache
def _ours(function: Any) -> tuple[frozenset[str], int]:
    """The names of the parameters of a function of collet, and how many are positional."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(p.name for p in parameters), sum(p.kind is p.POSITIONAL_ONLY for p in parameters)


def _given(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """The arguments by NumPy's names, without those that have their defaults."""
    known = _parameters(function)
    given = {**dict(zip(known, arguments)), **keywords}
    given = {n: given[n] for n in [*known, *given] if n in given}  # in NumPy's order, which decides about positions
    return {n: v for n, v in given.items() if n not in known or n in [*known][:1] or v is not known[n]}


def function(function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_function__: numpy.concatenate is collet.concat."""
    name = f"{function.__module__}.{function.__name__}"
    return _either(lambda: _function(function, arguments, keywords), function, name, arguments, keywords)


def _function(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    name, module = function.__name__, function.__module__
    ours = _find(module, name)
    if not callable(ours):
        raise _Lacking("is a function that collet lacks")
    if name in _AS_THEY_ARE:
        return ours(*arguments, **keywords)
    given = _given(function, arguments, keywords)
    if any(callable(v) and not isinstance(v, type) for v in given.values()):
        raise _Lacking("calls a function of yours, which collet's does not")
    ndim = getattr(next(iter(given.values()), None), "ndim", 0)
    if name in _LAST and ndim != 2:
        raise _Lacking(f"has an array of {ndim} axes, and collet.{name} takes the last two")
    if name == "where" and len(given) == 1:
        ours = _find(module, "nonzero")
    if name in _FLAT and given.get("axis", _parameters(function).get("axis")) is None:
        first = next(iter(given))
        given = {**given, first: namespace.asarray(given[first]).reshape(-1), "axis": 0}
    names, positional_only = _ours(ours)
    if given.get("kind") in _STABLE and "stable" in names:
        del given["kind"]  # collet's sorts are stable
    if _is_variadic(function):
        positional, rest = [*arguments], keywords
    else:
        first = positional_only or 1
        positional = [*given.values()][:first]
        rest = {_ARGUMENTS.get(n, n): v for n, v in [*given.items()][first:]}
    unknown = [n for n in rest if n not in names]
    if unknown:
        raise _Lacking(f"has {'=, '.join(unknown)}=, which collet's function lacks")
    return ours(*positional, **rest)
