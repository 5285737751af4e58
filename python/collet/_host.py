# SPDX-License-Identifier: Apache-2.0
"""What becomes a NumPy array on its way in: what numpy.asarray takes, unless it would drop a part.
collet._core calls `array` for all that is not a numpy.ndarray itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

_NUMBERS = (bool, int, float, complex, np.generic)


def check(value: Any, name: str) -> None:
    """TypeError for a mask or a unit, which numpy.asarray drops without a word, also in lists."""
    if isinstance(value, (list, tuple)):
        if value and not isinstance(value[0], _NUMBERS):
            for item in value:
                check(item, name)
        return
    own = isinstance(value, np.ndarray)
    if own and hasattr(value, "mask") and hasattr(value, "filled"):  # of NumPy, astropy
        raise TypeError(f"{name} is a masked array, whose mask would be lost: give .filled(value), "
                        "or .compressed() without the masked elements")
    if own or hasattr(value, "to_base_units"):  # of astropy, unyt; pint
        unit = str(getattr(value, "unit", getattr(value, "units", "")))
        if unit not in ("", "dimensionless"):
            raise TypeError(f"{name} has the unit {unit}, which would be lost: give its value, "
                            "converted to the unit that is needed")


def _converted(found: npt.NDArray[Any], dtype: np.dtype[Any], name: str) -> npt.NDArray[Any]:
    """Real numbers as the real `dtype`, numbers as a complex one, integers as one that holds them;
    neither texts, dates, objects nor what has more digits than f64."""
    kinds = {"f": "biuf", "V": "biuf", "c": "biufc"}.get(dtype.kind, "biu")
    kind = "f" if found.dtype.name == "bfloat16" else found.dtype.kind
    made = None
    if kind in kinds and found.dtype.char not in "gG":
        made = found.astype(dtype, copy=False)
    if made is None or (kinds == "biu" and not np.array_equal(made, found)):
        raise _core.DtypeError(f"{name} is {found.dtype}, which does not become {dtype} without "
                               "loss: convert it by astype")
    return made


def array(value: Any, dtype: npt.DTypeLike | None = None,
          name: str = "the array") -> npt.NDArray[Any]:
    """A numpy.ndarray of `value`, in `dtype` unless that is None. TypeError, DtypeError."""
    if type(value) is not np.ndarray:
        check(value, name)
        value = np.asanyarray(value)
        if type(value) is not np.ndarray:  # what __array__ of another library may return
            check(value, name)
            value = np.asarray(value)
    found: npt.NDArray[Any] = value
    return found if dtype is None else _converted(found, np.dtype(dtype), name)
