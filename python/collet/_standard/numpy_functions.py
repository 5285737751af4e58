# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_functions.py
"""Functions that NumPy has and collet has not, or with other arguments, for Arrays: numpy.nanmean(x)."""

from __future__ import annotations

from typing import Any

from .elementwise import functions as elementwise


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    from .._operands import promoted
    a, b, _ = promoted(a, b, 1.0)
    found = (abs(a - b) <= atol + rtol * abs(b)) & elementwise["isfinite"](b) | (a == b)
    return found | elementwise["isnan"](a) & elementwise["isnan"](b) if equal_nan else found


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
                raise ValueError(f"numpy.average: the weights have the shape {weights.shape}, the array "
                                 f"{a.shape}")
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


def _at_least_1d(*arrays: Any) -> Any:
    from .._array import asarray
    found = tuple(a if a.ndim else a.reshape(1) for a in (asarray(a, copy=False) for a in arrays))
    return found if len(found) > 1 else found[0]


def _vstack(tup: Any) -> Any:
    from ..functions import concat
    rows = _at_least_1d(*tup)
    rows = rows if isinstance(rows, tuple) else (rows,)
    return concat([r if r.ndim > 1 else r.reshape(1, -1) for r in rows])


def _hstack(tup: Any) -> Any:
    from ..functions import concat
    parts = _at_least_1d(*tup)
    parts = parts if isinstance(parts, tuple) else (parts,)
    return concat(parts, axis=min(1, parts[0].ndim - 1))


def _two_axes(*arrays: Any) -> Any:
    found = tuple(a if a.ndim > 1 else a.reshape(1, -1) for a in map(_at_least_1d, arrays))
    return found if len(found) > 1 else found[0]


def _einsum(subscripts: Any, *operands: Any, dtype: Any = None, optimize: Any = False, order: str = "K",
            casting: str = "safe") -> Any:
    import collet
    found = collet.einsum(subscripts, *operands)
    return found if dtype is None else found.astype(dtype, copy=False)


def _like(name: str) -> Any:
    """numpy.NAME_like, with shape=."""
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
             device: Any = None) -> Any:
        import collet
        make = getattr(collet, name)
        return make(a.shape if shape is None else shape, a.dtype if dtype is None else dtype,
                    device=a.device if device is None else device)

    return like


def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
               shape: Any = None, *, device: Any = None) -> Any:
    import collet
    values = collet.asarray(fill_value, dtype=a.dtype if dtype is None else dtype)
    extents = a.shape if shape is None else shape
    return collet.broadcast_to(values, extents if isinstance(extents, tuple) else (extents,)).copy()


SIMPLE = {  # called with the arguments that NumPy's function has got
    "isclose": _isclose, "allclose": lambda *a, **k: _all(_isclose(*a, **k)),
    "array_equal": lambda a, b: a.shape == b.shape and _all(a == b),
    "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
    "copy": lambda a: a.copy(), "ravel": lambda a: a.reshape(-1),
    "iscomplexobj": lambda a: a._dtype in ("c64", "c128"),
    "isrealobj": lambda a: a._dtype not in ("c64", "c128"),
    "atleast_1d": _at_least_1d, "atleast_2d": _two_axes, "average": _average, "may_share_memory": _may_share,
    "swapaxes": lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    "vstack": _vstack, "hstack": _hstack, "einsum": _einsum, "full_like": _full_like,
    **{name + "_like": _like(name) for name in ("empty", "zeros", "ones")}}


# ---- Functions whose arguments are given by name, and refused if they are not among these


def _unique(ar: Any, equal_nan: bool = True) -> Any:
    import collet
    found = collet.unique_values(ar)
    if not equal_nan or not collet.isdtype(found.dtype, ("real floating", "complex floating")):
        return found
    number = collet.isnan(found)
    return collet.concat((found[~number], found[number][:1]))


def _diag(v: Any, k: int = 0) -> Any:
    import collet
    if v.ndim == 2:
        return collet.diagonal(v, offset=k)
    if v.ndim != 1:
        raise ValueError(f"numpy.diag: the array has {v.ndim} axes; it can have 1 or 2")
    found = collet.zeros((len(v) + abs(k),) * 2, v.dtype, device=v.device)
    collet.diagonal(found, offset=k)[...] = v
    return found


def _partition(a: Any, kth: Any, axis: int = -1) -> Any:
    import collet
    return collet.sort(a, axis=axis)


def _argpartition(a: Any, kth: Any, axis: int = -1) -> Any:
    import collet
    return collet.argsort(a, axis=axis)


def _has_nans(a: Any) -> bool:
    import collet
    return bool(collet.isdtype(a.dtype, ("real floating", "complex floating")))


def _filled(name: str, value: float) -> Any:
    """numpy.nanNAME: the function of the elements with `value` for NaN."""
    def function(a: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        import collet
        keywords = {n: v for n, v in (("dtype", dtype), ("keepdims", keepdims)) if v}
        given = collet.where(collet.isnan(a), value, a) if _has_nans(a) else a
        if name.startswith("cumulative") and axis is None:
            given, axis = given.reshape(-1), 0
        return getattr(collet, name)(given, axis=axis, **keywords)

    return function


def _extreme(name: str, value: float) -> Any:
    """numpy.nanmax and nanmin: NaN of elements that are all NaN."""
    filled = _filled(name, value)

    def function(a: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        import collet
        found = filled(a, axis=axis, keepdims=keepdims)
        if not _has_nans(a):
            return found
        return collet.where(collet.all(collet.isnan(a), axis=axis, keepdims=keepdims), float("nan"), found)

    return function


def _place(name: str, value: float) -> Any:
    """numpy.nanargmax and nanargmin."""
    filled = _filled(name, value)

    def function(a: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        import collet
        if _has_nans(a) and collet.any(collet.all(collet.isnan(a), axis=axis)):
            raise ValueError(f"numpy.nan{name}: all elements are NaN, or all along the axis")
        return filled(a, axis=axis, keepdims=keepdims)

    return function


def _mean(a: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    import collet
    if not _has_nans(a):
        return collet.mean(a, axis=axis, keepdims=keepdims)
    count = collet.count_nonzero(~collet.isnan(a), axis=axis, keepdims=keepdims)
    total = _filled("sum", 0)(a, axis=axis, keepdims=keepdims)
    return total / count.astype(total.real.dtype)


def _var(a: Any, /, *, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
    import collet
    if not _has_nans(a):
        return collet.var(a, axis=axis, correction=correction, keepdims=keepdims)
    known = ~collet.isnan(a)
    distance = abs(collet.where(known, a - _mean(a, axis=axis, keepdims=True), 0))
    count = collet.count_nonzero(known, axis=axis, keepdims=keepdims).astype(distance.dtype) - correction
    total = collet.sum(distance * distance, axis=axis, keepdims=keepdims)
    return collet.where(count > 0, total / count, float("nan"))


def _std(a: Any, /, *, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
    return elementwise["sqrt"](_var(a, axis=axis, correction=correction, keepdims=keepdims))


def _median(a: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of the one or two numbers in the middle; sort has NaN at the end."""
    import collet
    if not _has_nans(a):
        return collet.median(a, axis=axis, keepdims=keepdims)
    if axis is None:
        found = _median(a.reshape(-1), axis=0)
        return found.reshape([1] * a.ndim) if keepdims else found
    ordered = collet.sort(a, axis=axis)
    count = collet.count_nonzero(~collet.isnan(a), axis=axis, keepdims=True)
    low = collet.take_along_axis(ordered, collet.maximum((count - 1) // 2, 0), axis=axis)
    high = collet.take_along_axis(ordered, count // 2, axis=axis)
    found = (low + high) / 2
    return found if keepdims else collet.squeeze(found, axis=axis)


_INF = float("inf")
FUNCTIONS = {
    **SIMPLE, "unique": _unique, "diag": _diag, "partition": _partition, "argpartition": _argpartition,
    "nansum": _filled("sum", 0), "nanprod": _filled("prod", 1),
    "nancumsum": _filled("cumulative_sum", 0), "nancumprod": _filled("cumulative_prod", 1),
    "nanmax": _extreme("max", -_INF), "nanmin": _extreme("min", _INF), "nanargmax": _place("argmax", -_INF),
    "nanargmin": _place("argmin", _INF), "nanmean": _mean, "nanvar": _var, "nanstd": _std, "nanmedian": _median}
