# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_lossy_input.py
"""Converts arguments to NumPy arrays. Accepts what numpy.asarray accepts, but not values that lose a part in
the conversion (masks, units). collet._core calls `array` for every argument that is not a numpy.ndarray."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

_PLAIN = {bool, int, float, complex, str, bytes, *np.sctypeDict.values()}


def _part(value: Any, name: str) -> Any:
    """An attribute; None if it is absent or its property raises."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _is_sequence(value: Any) -> bool:
    """Whether numpy.asarray takes the items one by one."""
    if not hasattr(value, "__len__") or not hasattr(value, "__getitem__") or \
            any(hasattr(value, f"__array{end}__") for end in ("", "_interface", "_struct")):
        return False
    try:
        memoryview(value)
    except TypeError:
        return True
    return False


def check(value: Any, name: str) -> None:
    """Raises TypeError for a mask or a unit, also inside of a sequence: numpy.asarray would drop them silently."""
    kind = type(value)
    own = isinstance(value, np.ndarray)
    if own and hasattr(kind, "mask") and hasattr(kind, "filled"):  # masked arrays of NumPy and astropy
        raise TypeError(f"{name} is a masked array, and masks are not supported: give "
                        ".filled(value), or .compressed() without the masked elements")
    if own or hasattr(kind, "to_base_units"):  # quantities of astropy, unyt or pint
        for unit in _part(value, "unit"), _part(value, "units"):
            if unit is not None and str(unit) not in ("", "dimensionless"):
                raise TypeError(f"{name} has the unit {unit}, which would be lost: give its value, "
                                "converted to the unit that is needed")
    elif kind not in _PLAIN and _is_sequence(value):
        items = value if isinstance(value, (list, tuple)) else list(value)
        if not _PLAIN.issuperset(map(type, items)):
            for item in items:
                check(item, name)


def number(value: Any, name: str) -> Any:
    """The value of a parameter. An array without axes becomes a Python number. A value that is not an array
    stays unchanged. Raises TypeError for other arrays."""
    check(value, name)
    if not hasattr(value, "__array__"):
        return value
    found = np.asarray(value)
    if found.ndim or found.dtype.kind not in "biufcV":
        raise TypeError(f"{name} is {value!r}; it must be a number")
    if found.dtype.char in "gG":  # more digits than float64
        raise _core.DtypeError(f"{name} is {found.dtype}, which collet does not support: convert it "
                               "to float or complex")
    return found.item()


def _converted(found: npt.NDArray[Any], dtype: np.dtype[Any], name: str) -> npt.NDArray[Any]:
    """Converts real numbers to a real `dtype`, any numbers to a complex dtype, and integers to a dtype that
    can hold them. Raises for texts, dates, objects and numbers with more digits than float64."""
    kinds = {"f": "biuf", "V": "biuf", "c": "biufc"}.get(dtype.kind, "biu")
    kind = "f" if found.dtype.name == "bfloat16" else found.dtype.kind
    made = None
    if kind in kinds and found.dtype.char not in "gG":
        made = found.astype(dtype, copy=False)
    if made is None or (kinds == "biu" and not np.array_equal(made, found)):
        raise _core.DtypeError(f"{name} is {found.dtype}, which cannot be converted to {dtype} without "
                               "loss: convert it by astype")
    return made


def array(value: Any, dtype: npt.DTypeLike | None = None,
          name: str = "the array") -> npt.NDArray[Any]:
    """Converts `value` to a numpy.ndarray, of `dtype` if given. Raises TypeError and DtypeError."""
    if type(value) is not np.ndarray:
        check(value, name)
        value = np.asanyarray(value)
        if type(value) is not np.ndarray:  # __array__ of another library may return this
            check(value, name)
            value = np.asarray(value)
    found: npt.NDArray[Any] = value
    return found if dtype is None else _converted(found, np.dtype(dtype), name)
