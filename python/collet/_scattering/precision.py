# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/scatter/test_scatter_input.py
"""Arrays of materials in float16 and long double, which the engine does not support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

TOLERANCE = 1e-5  # Tolerance of the sum of a voxel's fractions; SUM_TOLERANCE in engines/scatter/checks.c.
_HALF = 2.0**-11  # The largest relative error of rounding to float16.
_VOLUME, _DIRECTION, _UNALIGNED = 1, 5, 6  # Places in a material's tuple.

Given = Sequence[Any]  # The six arrays of a material as they were given; None: absent.
Arrays = tuple[Any, ...]  # A material: (whether float64, volume, alignment, theta, psi, direction, unaligned).


def known(array: npt.NDArray[Any]) -> np.dtype[Any]:
    """The dtype of an array; float64 instead of long double."""
    return np.dtype(np.float64) if array.dtype.char == "g" else array.dtype


def _sums(materials: Sequence[Arrays]) -> npt.NDArray[np.float64]:
    total: Any = 0.0
    for arrays in materials:
        for place in _VOLUME, _UNALIGNED:
            total = total if arrays[place] is None else total + arrays[place].astype(np.float64, copy=False)
        if arrays[_DIRECTION] is not None:
            total = total + np.square(arrays[_DIRECTION], dtype=np.float64).sum(-1)
    found: npt.NDArray[np.float64] = np.asarray(total)
    return found


def _divided(arrays: Arrays, total: npt.NDArray[np.float64]) -> Arrays:
    made = list(arrays)
    for place in _VOLUME, _UNALIGNED, _DIRECTION:
        array = arrays[place]
        if array is not None:
            by = np.sqrt(total)[..., None] if place == _DIRECTION else total
            made[place] = np.divide(array, by, dtype=np.float64).astype(array.dtype)
    return tuple(made)


def prepare(given: Sequence[Given], materials: Sequence[Arrays]) -> tuple[list[Arrays], str | None]:
    """The arrays with which to compute, and the text of a warning if some were given as float16 or long double.

    If fractions were given as float16, and their sums in a voxel differ from 1 by no more than the rounding to float16
    can explain, all fractions are divided by these sums. The engine refuses larger differences."""
    names = {"float16": "float32", "longdouble": "float64"}
    odd = {kind: [i for i, arrays in enumerate(given, 1) if any(a is not None and a.dtype.char == char for a in arrays)]
           for kind, char in (("float16", "e"), ("longdouble", "g"))}
    parts = []
    for kind, numbers in odd.items():
        for wide in (False, True):
            those = [str(i) for i in numbers if materials[i - 1][0] == wide]
            if those:
                parts.append(f"material{'s' * (len(those) > 1)} {', '.join(those)}: arrays of {kind} are converted to "
                             f"{'float64' if wide else names[kind]}")
    if not parts:
        return list(materials), None
    text = "; ".join(parts)
    halves = [a for arrays in given for a, place in zip(arrays, range(1, 7))
              if a is not None and place in (_VOLUME, _DIRECTION, _UNALIGNED) and a.dtype.char == "e"]
    if halves:
        total = _sums(materials)
        error = float(np.abs(total - 1).max(initial=0))
        squared = any(a.ndim == 4 for a in halves)  # the squared length of these vectors is a fraction
        if TOLERANCE < error <= (2 * _HALF if squared else _HALF) + TOLERANCE:
            text += (f"; the sums of the fractions differ from 1 by up to {error:.2g}, because float16 rounds the "
                     "fractions; they are divided by their sums")
            return [_divided(arrays, total) for arrays in materials], text
    return list(materials), text
