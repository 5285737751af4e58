# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_op.py, python/tests/test_lossy_input.py
"""Converts arguments of functions: to Arrays if one of them is an Array, else to NumPy arrays, in
dtypes that ops accept."""

import operator

import numpy as np

from .. import _core, _host
from .. import _hook as hook
from .._core import Array
from .conversion import cast
from .creation import asarray, empty, shared, zeros

_REAL = ("float32", "float64")
_FLOATING = ("float32", "float64", "complex64", "complex128")
_SINGLE = ("float16", "bfloat16", "float32", "complex64")


def _together(found):
    if any([isinstance(a, Array) for a in found]):
        return [a if isinstance(a, Array) else shared(a) for a in found]
    return found


def _array(value):
    return value if isinstance(value, Array) else _host.array(value)


def arrays(*values):
    """Converts the values to arrays: to Arrays if one value is an Array, else to NumPy arrays."""
    if all([isinstance(v, Array) for v in values]):
        return list(values)
    return _together([_array(v) for v in values])


def taken(*values):
    """Converts the values to arrays. Traced arrays stay unchanged."""
    if hook.traced(*values):
        return [v if hasattr(v, "shape") else np.asarray(v) for v in values]
    return arrays(*values)


def has_nan(x):
    return x.dtype.kind in "fcV"


def along(x, axis):
    """Returns x and the axis. If the axis is None: all elements as a vector, and axis 0."""
    return (x.reshape(-1), 0) if axis is None else (x, operator.index(axis))


def floats(*values, complex_too=False):
    """Converts the values to arrays of one dtype: float32 if no array is wider, else float64. Python's
    numbers do not count. With complex_too: complex64 or complex128 if one value is complex. DtypeError for
    other dtypes."""
    first = getattr(values[0], "_dtype", None) if values else None
    if first in (_FLOATING if complex_too else _REAL) and \
            all(isinstance(v, Array) and v._dtype == first for v in values):
        return list(values)
    found = [_array(v) for v in values]
    names = [a.dtype.name for a in found]
    kinds = ["f" if n == "bfloat16" else a.dtype.kind for n, a in zip(names, found)]
    if not set(kinds) <= set("biufc" if complex_too else "biuf") or \
            any(a.dtype.char in "gG" for a in found):  # more digits than float64
        raise _core.DtypeError(f"the dtypes are {', '.join(names)}; " +
                               ("numbers" if complex_too else "real numbers") + " are needed")
    typed = [n for n, v in zip(names, values) if type(v) not in (bool, int, float, complex)]
    single = typed and all(n in _SINGLE for n in typed)
    real, compound = ("float32", "complex64") if single else ("float64", "complex128")
    common = np.dtype(compound if "c" in kinds else real)
    return _together([converted(a, common) for a in found])


_WEAK = {bool: 0, int: 1, float: 2, complex: 3}  # Python's numbers, which have a kind and no width


def _kind(dtype):
    kind = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}.get(dtype.kind, 9)
    return 2 if kind == 9 and dtype.name == "bfloat16" else kind


def _dtype_of(value):
    if isinstance(value, (str, type, np.dtype)):
        return _core.dtype(value)
    return value.dtype if hasattr(value, "shape") else _array(value).dtype


def result_type(*arrays_and_dtypes):
    """The dtype of an operator's result in NumPy 2. The values are arrays, dtypes and Python's numbers;
    Python's numbers are weak.

    >>> collet.result_type(np.ones(2, "f4"), "int8", 1.5)
    dtype('float32')"""
    dtypes = [_dtype_of(v) for v in arrays_and_dtypes]
    strong = [d for d, v in zip(dtypes, arrays_and_dtypes) if type(v) not in _WEAK]
    dtype = np.result_type(*(strong or dtypes))
    kind = max((_WEAK.get(type(v), 0) for v in arrays_and_dtypes), default=0)
    if kind > _kind(dtype):
        single = _kind(dtype) == 2 and dtype.itemsize < 8
        dtype = np.dtype(("?", "i8", "f8", "c8" if single else "c16")[kind])
    return dtype


def promoted(*values):
    """Converts the values to arrays of one dtype: the dtype of an operator's result in NumPy 2."""
    first = getattr(values[0], "_dtype", None) if values else None
    if first and all([isinstance(v, Array) and v._dtype == first for v in values]):
        return list(values)
    found = [v if type(v) in _WEAK else _array(v) for v in values]
    dtype = result_type(*found)
    return _together([converted(_array(v), dtype) for v in found])


def converted(a, dtype):
    """Returns the array in another dtype; the array itself if it has that dtype already."""
    if isinstance(a, Array):
        return cast(a, _core.dtype_name(dtype))
    return a.astype(dtype, copy=False)


def narrowed(a, dtype):
    """Converts 64-bit sums to another dtype. Integers are converted modulo 2^width, as in NumPy."""
    return a.astype(np.dtype(dtype), copy=False)


def matrices(a, square=False):
    """Returns the array. Raises ShapeError if it has fewer than two axes, or if `square` and the last two differ
    in length."""
    if a.ndim < 2 or (square and a.shape[-1] != a.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise _core.ShapeError(f"the shape is {a.shape}; {kind} in the last two axes are needed")
    return a


class AxisError(ValueError, IndexError):
    """The axis is out of range. Derives from both errors, like NumPy's AxisError."""


def axes_of(axes, ndim):
    """Converts axes, an int or ints, to a tuple of ints from 0 on. Raises AxisError for invalid axes, and ValueError
    for repeated axes."""
    alone = hasattr(axes, "__index__") and not getattr(axes, "ndim", 0)
    listed = [operator.index(axes)] if alone else [operator.index(a) for a in axes]
    for axis in listed:
        if not -ndim <= axis < ndim:
            raise AxisError(f"axis {axis} is out of range: the array has {ndim}")
    listed = tuple([a % ndim for a in listed])
    if len(listed) > 1 and len(set(listed)) < len(listed):
        raise ValueError(f"the axes {listed} are not different")
    return listed


def axis_of(axis, ndim):
    """Converts an axis to an int from 0 on. Raises AxisError if it is invalid."""
    if axis is None:
        raise TypeError("axis is None; give an int, or merge all axes by reshape(-1)")
    return axes_of(operator.index(axis), ndim)[0]


def permuted(a, order):
    """A view with axes in that order."""
    return a.transpose(tuple(order))


def empty_as(a, shape, dtype=None):
    """An array with undefined elements: an Array if a is an Array, else a NumPy array. The default dtype is
    the dtype of a."""
    dtype = dtype or a.dtype
    if isinstance(a, Array):
        return empty(tuple(shape), dtype)
    return np.empty(tuple(shape), dtype if dtype.isnative else dtype.newbyteorder("="))


def zeros_as(a, shape):
    """An array of zeros: an Array if a is an Array, else a NumPy array, with the dtype of a."""
    return (zeros if isinstance(a, Array) else np.zeros)(tuple(shape), a.dtype)


def same_kind(values, a):
    """The NumPy array itself, or an Array of its values if a is an Array."""
    return asarray(values) if isinstance(a, Array) else values
