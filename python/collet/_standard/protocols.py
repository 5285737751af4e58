# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""NumPy's protocols: its functions compute Arrays by the functions of collet, or refuse them."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import _core
from .elementwise import functions

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
        from .. import functions as composed
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
    if keywords:
        raise TypeError(f"numpy.{name} takes no {'=, '.join(keywords)}= with a collet.Array: {_ADVICE}")
    if out is None:
        return function(*inputs)
    if not isinstance(out, _core.Array):
        raise TypeError(f"numpy.{name} does not store a collet.Array in out=, an array of NumPy: {_ADVICE}")
    return function(*inputs, out=out)


# ---- __array_function__

# NumPy's functions that have another name here; the rest have the same.
_OTHER = {"concatenate": "concat", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod", "amax": "max",
          "amin": "min", "transpose": "permute_dims", "bitwise_not": "bitwise_invert",
          "round_": "round"}
_ARGUMENTS = {"ddof": "correction", "newshape": "shape", "reps": "repetitions", "a_min": "min",
              "a_max": "max"}
# The parameters of functions that tell no signature, in order.
_SIGNATURES = {"concatenate": "arrays axis out dtype", "where": "condition x y", "dot": "a b", "vdot": "a b",
               "inner": "a b", "empty_like": "x dtype order subok shape device"}
_LAST = ("diagonal", "trace")  # the last two axes here, the first two there


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    from .._operands import promoted
    a, b, _ = promoted(a, b, 1.0)
    found = (abs(a - b) <= atol + rtol * abs(b)) & functions["isfinite"](b) | (a == b)
    return found | functions["isnan"](a) & functions["isnan"](b) if equal_nan else found


def _all(values: Any) -> bool:
    from ..functions import all
    return bool(all(values))


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *,
             keepdims: bool = False) -> Any:
    import collet
    if weights is None:
        found = collet.mean(a, axis=axis, keepdims=keepdims)
        total = found * 0 + a.size / max(found.size, 1)
    else:
        weights = collet.asarray(weights, copy=False)
        if weights.shape != a.shape:
            if weights.ndim != 1 or not isinstance(axis, int) or len(weights) != a.shape[axis]:
                raise ValueError(f"numpy.average: the weights have the shape {weights.shape}, the array {a.shape}")
            extents = [1] * a.ndim
            extents[axis] = -1
            weights = collet.broadcast_to(weights.reshape(extents), a.shape)
        products = a * weights
        total = collet.sum(weights, axis=axis, dtype=collet.result_type(products, "f4"), keepdims=keepdims)
        if not _all(total != 0):
            raise ZeroDivisionError("numpy.average: the weights add up to zero, so that there is no average")
        found = collet.sum(products, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def _may_share(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether they might, as numpy.may_share_memory asks: an Array can be a view of any other array."""
    return bool(a.size and b.size)


def _unique(ar: Any, equal_nan: bool = True) -> Any:
    import collet
    found = collet.unique_values(ar)
    if not equal_nan or not collet.isdtype(found.dtype, ("real floating", "complex floating")):
        return found
    number = collet.isnan(found)
    return collet.concat((found[~number], found[number][:1]))


_SIMPLE = {"isclose": _isclose, "allclose": lambda *a, **k: _all(_isclose(*a, **k)),
           "average": _average, "may_share_memory": _may_share,
           "array_equal": lambda a, b: a.shape == b.shape and _all(a == b),
           "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
           "copy": lambda a: a.copy(), "ravel": lambda a: a.reshape(-1),
           "iscomplexobj": lambda a: a._dtype in ("c64", "c128"),
           "isrealobj": lambda a: a._dtype not in ("c64", "c128")}


def _find(module: str, name: str) -> Any:
    import collet
    if module in ("numpy.linalg", "numpy.fft"):
        return getattr(getattr(collet, module[6:]), name, None)
    if name == "unique":
        return _unique
    if name in ("dot", "vdot"):
        return getattr(collet.linalg, name)
    return _SIMPLE.get(name) or getattr(collet, _OTHER.get(name, name), None)


@functools.cache
def _parameters(function: Any) -> dict[str, Any]:
    """The parameters of a function of NumPy and their defaults."""
    if function.__name__ in _SIGNATURES:
        return dict.fromkeys(_SIGNATURES[function.__name__].split())
    return {p.name: p.default for p in inspect.signature(function).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _given(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """The arguments by NumPy's names, without those that have their defaults."""
    known = _parameters(function)
    given = {**dict(zip(known, arguments)), **keywords}
    return {n: v for n, v in given.items() if n not in known or n in [*known][:1] or v is not known[n]}


def function(function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_function__: numpy.concatenate is collet.concat, with the arguments that this has."""
    name, module = function.__name__, function.__module__
    ours = _find(module, name)
    if ours is None or not callable(ours):
        raise TypeError(f"{module}.{name} takes no collet.Array: {_ADVICE}")
    if name in ("einsum", "broadcast_arrays", "meshgrid", "result_type", "can_cast"):
        return ours(*arguments, **keywords)
    if ours in _SIMPLE.values():
        return ours(*arguments, **keywords)
    if name in _LAST and arguments[0].ndim != 2:
        raise TypeError(f"{module}.{name} takes no collet.Array of {arguments[0].ndim} axes: collet.{name} takes "
                        "the last two axes")
    given = _given(function, arguments, keywords)
    if name == "where" and len(given) == 1:
        ours = _find(module, "nonzero")
    if name == "transpose" and len(given) == 1:
        return arguments[0].T
    parameters = inspect.signature(ours).parameters.values()
    first = sum(p.kind is p.POSITIONAL_ONLY for p in parameters) or 1
    positional = [*given.values()][:first]
    rest = {_ARGUMENTS.get(n, n): v for n, v in [*given.items()][first:]}
    unknown = [n for n in rest if n not in {p.name for p in parameters}]
    if unknown:
        raise TypeError(f"{module}.{name} takes no {', '.join(unknown)}= with a collet.Array: {_ADVICE}")
    return ours(*positional, **rest)
