# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_functions.py
"""Functions of NumPy that collet lacks, or has with other arguments, implemented for Arrays: numpy.diag(x)."""

from __future__ import annotations

import functools
from typing import Any

from .. import _core
from ..functions._rounding import once_rounded
from . import namespace

def _may_share(a: Any, b: Any, max_work: Any = None) -> bool:
    """numpy.may_share_memory: always true for Arrays, because an Array can be a view of any other array."""
    return bool(a.size and b.size)


def _einsum(subscripts: Any, *operands: Any, dtype: Any = None, optimize: Any = False, order: str = "K",
            casting: str = "safe") -> Any:
    found = namespace.einsum(subscripts, *operands)
    return found if dtype is None else found.astype(dtype, copy=False)


def _like(name: str) -> Any:
    """numpy.NAME_like, with shape=."""
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
             device: Any = None) -> Any:
        make = getattr(namespace, name)
        return make(a.shape if shape is None else shape, a.dtype if dtype is None else dtype,
                    device=a.device if device is None else device)

    return like


def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
               shape: Any = None, *, device: Any = None) -> Any:
    values = namespace.asarray(fill_value, dtype=a.dtype if dtype is None else dtype)
    extents = a.shape if shape is None else shape
    return namespace.broadcast_to(values, extents if isinstance(extents, tuple) else (extents,)).copy()


def _array(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False,
           ndmin: int = 0) -> Any:
    """numpy.array(object, like=x)"""
    found = namespace.asarray(object, dtype, copy=True if copy else None)
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def _round(a: Any, decimals: int = 0) -> Any:
    """numpy.round(a, decimals): rounds halves to even digits."""
    if a.dtype.kind not in "fcV":
        scale = 10 ** max(-decimals, 0)
        return a if scale == 1 else namespace.round(a / scale).astype(a.dtype) * scale
    return once_rounded("a")(_rounded)(a, 10.0 ** abs(decimals), decimals)


def _rounded(a: Any, scale: float, decimals: int) -> Any:
    return namespace.round(a * scale) / scale if decimals >= 0 else namespace.round(a / scale) * scale


def _on_host(name: str) -> Any:
    """numpy.save and similar functions: save copies in the host's memory."""
    def save(*arguments: Any, **keywords: Any) -> Any:
        import numpy as np

        def copied(value: Any) -> Any:
            return value.to_numpy() if isinstance(value, _core.Array) else value

        return getattr(np, name)(*map(copied, arguments), **{n: copied(v) for n, v in keywords.items()})

    return save


SIMPLE = {  # replacements, called with the arguments of NumPy's function
    "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
    "copy": lambda a: a.copy(), "array": _array,
    "iscomplexobj": lambda a: a._dtype in ("complex64", "complex128"),
    "isrealobj": lambda a: a._dtype not in ("complex64", "complex128"),
    **dict.fromkeys(("round", "round_", "around"), _round),
    **{name: _on_host(name) for name in ("save", "savez", "savez_compressed", "savetxt")},
    "may_share_memory": _may_share, "einsum": _einsum, "full_like": _full_like,
    **{name + "_like": _like(name) for name in ("empty", "zeros", "ones")}}


# ---- Functions that take only these arguments, by name


def _unique(ar: Any, equal_nan: bool = True) -> Any:
    found = namespace.unique_values(ar)
    if not equal_nan or found.dtype.kind not in "fcV":
        return found
    number = namespace.isnan(found)
    return namespace.concat((found[~number], found[number][:1]))


def _cumulative(name: str, value: float) -> Any:
    """numpy.nancumNAME: replaces NaN by `value` and calls the function."""
    def function(a: Any, /, *, axis: Any = None, dtype: Any = None) -> Any:
        given = namespace.where(namespace.isnan(a), value, a) if a.dtype.kind in "fcV" else a
        if axis is None:
            given, axis = given.reshape(-1), 0
        return getattr(namespace, name)(given, axis=axis, dtype=dtype)

    return function


def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """numpy.histogram. For float32 numbers and equal bins the edges are float32 too, so numbers on an edge are
    counted as in NumPy."""
    single = a.dtype == "float32" and hasattr(bins, "__index__") and not getattr(bins, "ndim", 0) and (range or a.size)
    if single:
        import numpy as np
        low, high = range or (np.float32(a.min().item()), np.float32(a.max().item()))
        if low <= high < np.inf and low > -np.inf and int(bins) > 0:
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
            bins = namespace.asarray(np.linspace(low, high, int(bins) + 1, dtype=a.dtype))
    counts, edges = namespace.histogram(a, bins, range, bool(density), weights)
    return counts, edges.astype(a.dtype, copy=False) if single else edges


def _in_double(name: str) -> Any:
    """numpy.NAME computes in float64, or complex128."""
    function = getattr(namespace, name)

    @functools.wraps(function)
    def call(x: Any, y: Any = None, *arguments: Any, **keywords: Any) -> Any:
        x, y = (v if v is None else namespace.asarray(v) for v in (x, y))
        x, y = (v if v is None else v.astype(namespace.result_type(v.dtype, "float64"), copy=False) for v in (x, y))
        return function(x, y, *arguments, **keywords)

    return call


def _mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """numpy.mean: dtype= is the dtype of the numbers that are added."""
    if dtype is not None:
        kind = _core.dtype(dtype).kind
        if kind not in "fcV" or (kind != "c" and a.dtype.kind == "c"):
            raise TypeError(f"mean: collet does not add {a.dtype} in {_core.dtype_name(dtype)}")
        a = a.astype(dtype, copy=False)
    return namespace.mean(a, axis=axis, keepdims=keepdims)


FUNCTIONS = {**SIMPLE, "mean": _mean, "histogram": _histogram, "cov": _in_double("cov"), "corrcoef": _in_double("corrcoef"), "unique": _unique, "nancumsum": _cumulative("cumulative_sum", 0),
             "nancumprod": _cumulative("cumulative_prod", 1)}
