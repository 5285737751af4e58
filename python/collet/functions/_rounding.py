# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_half.py
"""16-bit floats. float16 holds integers up to 2,048 exactly, and no number above 65,504. Functions composed
of several ops therefore compute in float32, and round once at the end."""

import functools
import inspect

import numpy as np

from .. import _core
from .. import _hook as hook
from .._array.names import astype
from .._array.operands import arrays, result_type

COUNT = 2**24  # up to this number float32 holds all integers


def is_half(dtype):
    """Whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def wide(dtype, size):
    """The dtype for counts and sums of `size` elements of this dtype."""
    if is_half(dtype):
        return _core.dtype("float64" if size > COUNT else "float32")
    single = {"float32": "float64", "complex64": "complex128"}.get(dtype.name)
    return np.dtype(single) if single and size > COUNT else dtype


def _array(value):
    """Converts a value to an array; lists may contain 16-bit numbers. Arrays stay unchanged."""
    if hasattr(value, "dtype"):
        return value
    return hook.asarray(value, None) if hook.traced(value) else arrays(value)[0]


def _rounded(found, dtype):
    if isinstance(found, tuple):
        return tuple(_rounded(part, dtype) for part in found)
    return astype(found, dtype, copy=False) if found.dtype.kind in "fcV" else found


def once_rounded(*names, products=False):
    """A decorator for a function whose parameters `names` are arrays. If their common dtype is float16 or
    bfloat16, the function gets them in float32, and its results are converted back. products: the function
    sums by matmul, in the arrays' dtype, so it gets long float32 arrays in float64."""
    def decorate(function):
        signature = inspect.signature(function)
        places = [(i, n) for i, n in enumerate(signature.parameters) if n in names]

        @functools.wraps(function)
        def compute(*arguments, **keywords):
            given = {i: arguments[i] for i, _ in places if i < len(arguments)}
            given |= {n: keywords[n] for _, n in places if n in keywords}
            given = {at: _array(value) for at, value in given.items() if value is not None and
                     type(value) not in (bool, int, float, complex)}
            dtype = None
            size = max((x.size for x in given.values()), default=0)
            if any(is_half(x.dtype) for x in given.values()) or products and size > COUNT:
                common = result_type(*given.values())
                if wide(common, size) != common and (is_half(common) or products):
                    dtype = common
                    given = {at: astype(x, wide(dtype, size), copy=False) for at, x in given.items()}
            found = function(*(given.get(i, value) for i, value in enumerate(arguments)),
                             **{n: given.get(n, value) for n, value in keywords.items()})
            return found if dtype is None else _rounded(found, dtype)

        del compute.__wrapped__  # hook.hook skips functions with __wrapped__
        compute.__signature__ = signature
        return compute

    return decorate
