# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py
"""The parts of the Python array API standard that are not functions of arrays: dtypes, constants,
inspection. collet exports the names."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._hook import hook as _hook
from .operands import arrays, result_type

__array_api_version__ = "2025.12"
e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi

_KINDS = {"bool": ("bool",), "signed integer": ("int8", "int16", "int32", "int64"),
          "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
          "real floating": ("bfloat16", "float16", "float32", "float64"),
          "complex floating": ("complex64", "complex128")}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_DTYPES = _KINDS["bool"] + _KINDS["numeric"]

Finfo = namedtuple("Finfo", "bits eps max min smallest_normal dtype")
Iinfo = namedtuple("Iinfo", "bits max min dtype")


def __getattr__(name):
    """The dtypes are NumPy's. bfloat16 is from ml_dtypes and absent without that package."""
    if name not in _DTYPES:
        raise AttributeError(f"module 'collet' has no attribute {name!r}")
    try:
        return _core.dtype(name)
    except _core.DtypeError as error:
        raise AttributeError(str(error)) from None


def names():
    """The names of everything that collet exports."""
    return [*_EXPORTED, *_DTYPES]


def _dtype_of(value):
    return value.dtype if hasattr(value, "dtype") and hasattr(value, "shape") and \
        not isinstance(value, (type, np.dtype)) else _core.dtype(value)


def astype(x: Any, dtype: npt.DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Any:
    """The array in another dtype. If the dtype is unchanged and copy is false, the array itself. Integers
    are converted modulo 2^width, as in NumPy. For an Array, a conversion from floats to integers truncates,
    saturates, and maps NaN to 0.

    >>> collet.astype(np.array([1.5, 257]), "int32")
    array([  1, 257], dtype=int32)
    >>> collet.astype(np.array([1, 257]), "uint8")
    array([1, 1], dtype=uint8)"""
    x, = arrays(x)
    if x.dtype.kind == "c" and _core.dtype(dtype).kind not in "cb":
        raise _core.DtypeError(f"astype: {x.dtype} cannot be converted to {dtype}: take real(x) or imag(x)")
    made = x.astype(_core.dtype(dtype), copy=bool(copy))
    return made if device is None else made.to_device(device)


def can_cast(from_: Any, to: npt.DTypeLike, /) -> bool:
    """Whether promotion can lead from one dtype to another. from_: a dtype or an array.

    >>> collet.can_cast("float32", "float64")
    True"""
    return bool(np.can_cast(_dtype_of(from_), _core.dtype(to)))


def finfo(type: Any, /) -> Finfo:
    """Returns bits, eps, max, min and smallest_normal of a floating dtype. A complex dtype has the values of its
    parts.
    type: a dtype or an array.

    >>> collet.finfo("float32").bits
    32"""
    dtype = _dtype_of(type)
    dtype = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    if dtype.name == "bfloat16":
        return Finfo(16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126, dtype)
    if dtype.kind != "f":
        raise _core.DtypeError(f"finfo: {dtype} is not a floating dtype")
    found = np.finfo(dtype)
    return Finfo(found.bits, float(found.eps), float(found.max), float(found.min),
                 float(found.smallest_normal), dtype)


def iinfo(type: Any, /) -> Iinfo:
    """Returns bits, max and min of an integer dtype. type: a dtype or an array.

    >>> collet.iinfo("int8").max
    127"""
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise _core.DtypeError(f"iinfo: {dtype} is not an integer dtype")
    found = np.iinfo(dtype)
    return Iinfo(found.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: npt.DTypeLike, kind: Any) -> bool:
    """Whether a dtype has the given kind. kind: a dtype, a tuple of kinds, or one of "bool", "signed
    integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric".

    >>> collet.isdtype(collet.float32, "real floating")
    True"""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return _core.dtype(dtype).name in _KINDS[kind]
    return _core.dtype(dtype) == _core.dtype(kind)


class __array_namespace_info__:
    """The capabilities of the library, in the form that the standard defines."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        return "host"

    def devices(self) -> tuple[str, ...]:
        """The host, and the devices with memory of their own."""
        from .._runtime import backends
        return ("host", *(d.choice for b in backends() for d in b.devices if d.own_memory))

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        return {"real floating": np.dtype("f8"), "complex floating": np.dtype("c16"),
                "integral": np.dtype("i8"), "indexing": np.dtype("i8")}

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[
            str, np.dtype[Any]]:
        kinds = _KINDS if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise ValueError(f"there is no kind {unknown[0]!r} of dtypes; it can be {', '.join(_KINDS)}")
        chosen = {name for k in kinds for name in _KINDS[k]} - {"bfloat16", "float16"}  # the standard lacks these
        return {name: _core.dtype(name) for name in _DTYPES if name in chosen}


_EXPORTED = ("__array_api_version__", "__array_namespace_info__", "astype", "can_cast", "e", "finfo", "iinfo",
             "inf", "isdtype", "nan", "newaxis", "pi", "result_type")

_hook(globals(), __name__)
