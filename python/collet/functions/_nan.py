# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""NumPy's functions that ignore NaN. collet.functions exports them."""

import math

import numpy as np

from .. import _hook as hook
from .._array.operands import axes_of, has_nan, taken
from . import _primitives as f
from ._moments import median
from ._rounding import once_rounded, wide


def _gathered(x, axis):
    """Moves the given axes to the end and merges them into one. Returns that array, the shape of a result without
    the axes, and the shape in which each of these axes has one element. axis: an int, a tuple, or None for all
    axes."""
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    others = [i for i in range(x.ndim) if i not in axes]
    left = tuple(x.shape[i] for i in others)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return f.permute_dims(x, (*others, *axes)).reshape((*left, math.prod(x.shape[i] for i in axes))), left, kept


def _filled(x, value):
    return f.where(f.isnan(x), value, x) if has_nan(x) else x


def nansum(x, /, axis=None, dtype=None, *, keepdims=False):
    """The sum over axes, by default all, of the elements that are not NaN.

    >>> float(collet.nansum([1.0, np.nan, 2.0]))
    3.0"""
    return f.sum(_filled(*taken(x), 0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(x, /, axis=None, dtype=None, *, keepdims=False):
    """The product over axes, by default all, of the elements that are not NaN.

    >>> float(collet.nanprod([3.0, np.nan, 2.0]))
    6.0"""
    return f.prod(_filled(*taken(x), 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _extreme(name, beyond, x, axis, keepdims):
    x, = taken(x)
    if not has_nan(x) or x.dtype.kind == "c":  # max of complex numbers raises DtypeError
        return getattr(f, name)(x, axis=axis, keepdims=keepdims)
    found = getattr(f, name)(_filled(x, beyond), axis=axis, keepdims=keepdims)
    if not hook.traced(x) and not (bool(f.any(found == beyond)) if found.ndim else float(found) == beyond):
        return found
    return f.where(f.all(f.isnan(x), axis=axis, keepdims=keepdims), np.nan, found)


def nanmax(x, /, axis=None, *, keepdims=False):
    """The greatest element over axes, by default all, ignoring NaN. NaN if all elements are NaN.

    >>> float(collet.nanmax([1.0, np.nan, 2.0]))
    2.0"""
    return _extreme("max", -np.inf, x, axis, keepdims)


def nanmin(x, /, axis=None, *, keepdims=False):
    """The smallest element; otherwise like nanmax.

    >>> float(collet.nanmin([1.0, np.nan, 2.0]))
    1.0"""
    return _extreme("min", np.inf, x, axis, keepdims)


def _place(name, beyond, x, axis, keepdims):
    x, = taken(x)
    if has_nan(x) and bool(f.any(f.all(f.isnan(x), axis=axis))):
        raise ValueError(f"nan{name}: all elements are NaN, or all elements along the axis")
    return getattr(f, name)(_filled(x, beyond), axis=axis, keepdims=keepdims)


def nanargmax(x, /, axis=None, *, keepdims=False):
    """The index of the first greatest element along an axis, or of all elements, ignoring NaN. ValueError
    if all are NaN.

    >>> int(collet.nanargmax([1.0, np.nan, 2.0]))
    2"""
    return _place("argmax", -np.inf, x, axis, keepdims)


def nanargmin(x, /, axis=None, *, keepdims=False):
    """The index of the first smallest element; otherwise like nanargmax.

    >>> int(collet.nanargmin([1.0, np.nan, 2.0]))
    0"""
    return _place("argmin", np.inf, x, axis, keepdims)


def _typed(x, dtype):
    return x if dtype is None else f.astype(*taken(x), dtype, copy=False)


def _count(known, axis, keepdims, dtype):
    """The number of elements that are not NaN, in a dtype that holds such counts exactly."""
    count = f.count_nonzero(known, axis=axis, keepdims=keepdims)
    return f.astype(count, wide(dtype, known.size))


def _divided(total, count):
    """Divides total by count, in the dtype of the total."""
    return f.astype(total / count, total.dtype, copy=False)


@once_rounded("x")
def _mean(x, axis, keepdims):
    if not has_nan(x):
        return f.mean(x, axis=axis, keepdims=keepdims)
    total = nansum(x, axis=axis, keepdims=keepdims)
    return _divided(total, _count(~f.isnan(x), axis, keepdims, f.real(total).dtype))


@once_rounded("x")
def _variance(x, axis, correction, keepdims):
    if not has_nan(x):
        return f.var(x, axis=axis, correction=correction, keepdims=keepdims)
    known = ~f.isnan(x)
    apart = abs(f.where(known, x - _mean(x, axis, True), 0))
    count = _count(known, axis, keepdims, apart.dtype) - correction
    total = f.sum(apart * apart, axis=axis, keepdims=keepdims)
    return f.where(count > 0, _divided(total, count), np.nan)


@once_rounded("x")
def _deviation(x, axis, correction, keepdims):
    return f.sqrt(_variance(x, axis, correction, keepdims))


def nanmean(x, /, axis=None, dtype=None, *, keepdims=False):
    """The mean over axes, by default all, of the elements that are not NaN, in dtype if that is given.

    >>> float(collet.nanmean([1.0, np.nan, 2.0]))
    1.5"""
    return _mean(_typed(x, dtype), axis, keepdims)


def nanvar(x, /, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """The variance of the elements that are not NaN, in dtype if given; see var. correction is another name
    of ddof.

    >>> float(collet.nanvar([1.0, np.nan, 3.0]))
    1.0"""
    return _variance(_typed(x, dtype), axis, ddof if correction is None else correction, keepdims)


def nanstd(x, /, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """The square root of nanvar.

    >>> float(collet.nanstd([1.0, np.nan, 3.0]))
    1.0"""
    return _deviation(_typed(x, dtype), axis, ddof if correction is None else correction, keepdims)


@once_rounded("x")
def nanmedian(x, /, axis=None, *, keepdims=False):
    """The median over axes, by default all, ignoring NaN. NaN if all elements are NaN.

    >>> float(collet.nanmedian([1.0, np.nan, 2.0, 9.0]))
    2.0"""
    x, = taken(x)
    if not has_nan(x):
        return median(x, axis=axis, keepdims=keepdims)
    x, left, kept = _gathered(x, axis)
    if not x.shape[-1]:
        return f.sum(x, axis=-1).reshape(kept if keepdims else left) * np.nan
    ordered = f.sort(x, axis=-1)  # NaN at the end
    count = f.count_nonzero(~f.isnan(x), axis=-1, keepdims=True)
    low = f.take_along_axis(ordered, f.maximum((count - 1) // 2, 0), axis=-1)
    found = (low + f.take_along_axis(ordered, count // 2, axis=-1)) / 2
    return found.reshape(kept if keepdims else left)


@once_rounded("x")
def nanquantile(x, /, q, axis=None, *, method="linear", keepdims=False):
    """The quantiles q, from 0 to 1, over axes, by default all, ignoring NaN. The axes of q come first.
    Interpolates linearly, the only method. NaN if all elements are NaN.

    >>> float(collet.nanquantile([1.0, np.nan, 2.0], 0.5))
    1.5"""
    x, = taken(x)
    if method != "linear":
        raise ValueError(f"nanquantile: method is {method!r}; only 'linear' is supported; numpy.nanquantile(x, q) "
                         "has other methods")
    shares = np.asarray(q, "f8")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"nanquantile: q is {q}; quantiles are from 0 to 1")
    if not has_nan(x):
        return f.quantile(x, q, axis=axis, keepdims=keepdims)
    x, left, kept = _gathered(x, axis)
    shape = kept if keepdims else left
    if not x.shape[-1]:
        return f.broadcast_to(f.sum(x, axis=-1).reshape(shape) * np.nan, shares.shape + shape)
    ordered = f.sort(x, axis=-1)  # NaN at the end
    last = f.count_nonzero(~f.isnan(x), axis=-1, keepdims=True) - 1
    found = []
    for share in shares.ravel().tolist():
        place = f.astype(f.maximum(last, 0), f.float64) * share
        below = f.astype(f.floor(place), f.int64)
        fraction = f.astype(place - f.floor(place), x.dtype, copy=False)
        low, high = (f.take_along_axis(ordered, i, axis=-1)
                     for i in (below, f.minimum(below + 1, f.maximum(last, 0))))
        part = low + (high - low) * fraction
        part = f.where(last < 0, np.nan, f.where((high == low) | (fraction == 0), low, part))
        found.append(part.reshape(shape))
    return found[0] if not shares.ndim else f.stack(found).reshape(shares.shape + found[0].shape)


@once_rounded("x")
def nanpercentile(x, /, q, axis=None, *, method="linear", keepdims=False):
    """nanquantile for q / 100.

    >>> float(collet.nanpercentile([1.0, np.nan, 2.0], 50))
    1.5"""
    return nanquantile(x, np.asarray(q, "f8") / 100, axis, method=method, keepdims=keepdims)


def nan_to_num(x, /, *, nan=0.0, posinf=None, neginf=None):
    """Replaces NaN by `nan`, inf by `posinf` and -inf by `neginf`. The default of posinf and neginf is the
    dtype's largest and smallest finite number.

    >>> collet.nan_to_num([1.0, np.nan, np.inf], posinf=9.0)
    array([1., 0., 9.])"""
    x, = taken(x)
    if not has_nan(x):
        return f.positive(x)
    if x.dtype.kind == "c":
        real, imag = (nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf) for part in (x.real, x.imag))
        if hook.traced(x):
            return real + 1j * imag
        made = f.astype(x, x.dtype)
        made.real[...], made.imag[...] = real, imag
        return made
    nan, posinf, neginf = (f.astype(*taken(v), x.dtype) if hasattr(v, "dtype") else v for v in (nan, posinf, neginf))
    limits = f.finfo(x.dtype)
    if posinf is None and neginf is None:
        return f.where(f.isnan(x), nan, f.clip(x, limits.min, limits.max))
    made = f.where(x == np.inf, limits.max if posinf is None else posinf, x)
    made = f.where(x == -np.inf, limits.min if neginf is None else neginf, made)
    return f.where(f.isnan(x), nan, made)
