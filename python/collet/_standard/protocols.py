# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""NumPy's protocols: numpy's functions on Arrays call collet's functions, or raise."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import _core, fft, linalg
from .. import functions as composed
from .._array.elementwise import functions
from . import namespace, numpy_functions

_NAMES = {"absolute": "abs", "conjugate": "conj", "invert": "bitwise_invert", "rint": "round", "power": "pow",
          "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
          **{"arc" + n: "a" + n for n in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")}}
_PRODUCTS = ("matmul", "vecdot")
_ADVICE = "use the functions of collet, or give it a copy of the elements, x.to_numpy()"


def _of_ufunc(name: str) -> Any:
    name = _NAMES.get(name, name)
    if name == "divmod":
        return lambda a, b: (functions["floor_divide"](a, b), functions["remainder"](a, b))
    if name in _PRODUCTS:
        return getattr(composed, name)
    try:
        return functions[name]
    except KeyError:
        return None


def ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_ufunc__: numpy.sin(x) is collet.sin(x)."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    function = _of_ufunc(ufunc.__name__) if method == "__call__" else None
    if function is None:
        raise TypeError(f"numpy.{name} takes no collet.Array: {_ADVICE}")
    out, *_ = keywords.pop("out", (None,)) if ufunc.nout == 1 else (None,)
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise TypeError(f"numpy.{name} takes no {'=, '.join(keywords)}= with a collet.Array: {_ADVICE}")
    if dtype is not None:
        inputs = tuple(x.astype(dtype, copy=False) if hasattr(x, "astype") else x for x in inputs)
    if out is None:
        found = function(*inputs)
        if dtype is not None and found.dtype != dtype:
            raise TypeError(f"numpy.{name} gives a collet.Array of {found.dtype}, not of {dtype}: leave out "
                            "dtype=")
        return found
    if not isinstance(out, _core.Array):
        raise TypeError(f"numpy.{name} does not store a collet.Array in out=, an array of NumPy: {_ADVICE}")
    return function(*inputs, out=out)


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
_LAST = ("diagonal", "trace")  # by default collet uses the last two axes, NumPy the first two
_AS_THEY_ARE = {"broadcast_arrays", "meshgrid", "result_type", "can_cast", "atleast_1d", "atleast_2d",
                *numpy_functions.SIMPLE}


def _find(module: str, name: str) -> Any:
    if module in ("numpy.linalg", "numpy.fft"):
        return getattr(linalg if module == "numpy.linalg" else fft, name, None)
    return numpy_functions.FUNCTIONS.get(name) or getattr(namespace, _OTHER.get(name, name), None)


@functools.cache
def _parameters(function: Any) -> dict[str, Any]:
    """The parameters of a function of NumPy and their defaults."""
    if function.__name__ in _SIGNATURES:
        names = (n.partition("=") for n in _SIGNATURES[function.__name__].split())
        return {name: int(value) if value else None for name, _, value in names}
    return {p.name: p.default for p in inspect.signature(function).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _given(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """The arguments by NumPy's names, without those that have their defaults."""
    known = _parameters(function)
    given = {**dict(zip(known, arguments)), **keywords}
    return {n: v for n, v in given.items() if n not in known or n in [*known][:1] or v is not known[n]}


def function(function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_function__: numpy.concatenate is collet.concat. TypeError for arguments that collet's
    function lacks."""
    name, module = function.__name__, function.__module__
    ours = _find(module, name)
    if ours is None or not callable(ours):
        raise TypeError(f"{module}.{name} takes no collet.Array: {_ADVICE}")
    if name in _AS_THEY_ARE:
        return ours(*arguments, **keywords)
    if name in _LAST and arguments[0].ndim != 2:
        raise TypeError(f"{module}.{name} takes no collet.Array of {arguments[0].ndim} axes: collet.{name} "
                        "takes the last two axes")
    given = _given(function, arguments, keywords)
    if name == "where" and len(given) == 1:
        ours = _find(module, "nonzero")
    parameters = inspect.signature(ours).parameters.values()
    first = sum(p.kind is p.POSITIONAL_ONLY for p in parameters) or 1
    positional = [*given.values()][:first]
    rest = {_ARGUMENTS.get(n, n): v for n, v in [*given.items()][first:]}
    unknown = [n for n in rest if n not in {p.name for p in parameters}]
    if unknown:
        raise TypeError(f"{module}.{name} takes no {', '.join(unknown)}= with a collet.Array: {_ADVICE}")
    return ours(*positional, **rest)
