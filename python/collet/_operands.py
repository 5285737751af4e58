# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_op.py, python/tests/test_lossy_input.py
"""Converts arguments of functions: to Arrays if one of them is an Array, else to NumPy arrays, in
dtypes that ops accept."""

import operator

import numpy as np

from . import _core, _host
from ._array import Array, asarray

_SINGLE = ("float16", "bfloat16", "float32", "complex64")


def _together(found):
    if any(isinstance(a, Array) for a in found):
        return [asarray(a, copy=False) for a in found]
    return found


def _array(value):
    return value if isinstance(value, Array) else _host.array(value)


def arrays(*values):
    """Every value as NumPy array, or as Array if one of them is one."""
    return _together([_array(v) for v in values])


def floats(*values, complex_too=False):
    """Arrays of one dtype: f32 if all have at most that, Python's numbers aside, else f64; with
    complex_too, c64 or c128 if one is complex. DtypeError for other dtypes."""
    found = [_array(v) for v in values]
    names = [a.dtype.name for a in found]
    kinds = ["f" if n == "bfloat16" else a.dtype.kind for n, a in zip(names, found)]
    if not set(kinds) <= set("biufc" if complex_too else "biuf") or \
            any(a.dtype.char in "gG" for a in found):  # more digits than f64
        raise _core.DtypeError(f"the dtypes are {', '.join(names)}; " +
                               ("numbers" if complex_too else "real numbers") + " are needed")
    typed = [n for n, v in zip(names, values) if type(v) not in (bool, int, float, complex)]
    single = typed and all(n in _SINGLE for n in typed)
    real, compound = ("float32", "complex64") if single else ("float64", "complex128")
    common = compound if "c" in kinds else real
    if "c" in kinds:  # collet.Arrays of real numbers have no conversion of their own
        found = [a if k == "c" else np.asarray(a).astype(common) for a, k in zip(found, kinds)]
    return _together([a.astype(common, copy=False) for a in found])


def axes_of(axes, ndim):
    """Axes, an int or ints, as a tuple of ints from 0 on. ValueError for invalid or repeated axes."""
    listed = tuple(operator.index(a) for a in ((axes,) if hasattr(axes, "__index__") else axes))
    for axis in listed:
        if not -ndim <= axis < ndim:
            raise ValueError(f"there is no axis {axis} of {ndim}")
    listed = tuple(a % ndim for a in listed)
    if len(set(listed)) < len(listed):
        raise ValueError(f"the axes {listed} are not different")
    return listed


def permuted(a, order):
    """A view with axes in that order."""
    return a.transpose(tuple(order))


def zeros_like(a, shape):
    """Zeros of the kind and dtype of a."""
    zeros = np.zeros(shape, a.dtype)
    return asarray(zeros, copy=False) if isinstance(a, Array) else zeros


def same_kind(values, a):
    """A NumPy array, or an Array of it if a is one."""
    return asarray(values) if isinstance(a, Array) else values
