# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py
"""Finds suspicious values in a scatter.Sample, as `collet-rsoxs validate` does in files."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _jobs

# The limits of engines/scatter/files/warnings.c and constants.c.
_ENERGY = (10, 1e5)  # eV
_VOXEL = (0.01, 1000)  # nm
_ANGLE = 12.6  # radians
_CONSTANT = 0.1

Floats = npt.NDArray[np.floating[Any]]
Arrays = tuple[Any, ...]  # arrays of a material: (is float64, volume, alignment, theta, psi, direction, unaligned)


def warn(texts: Iterable[str]) -> None:
    """Issues a RuntimeWarning for each value, at the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "collet":
        level, frame = level + 1, frame.f_back
    for text in texts:
        if _jobs.keep(text):
            continue
        warnings.warn(text, RuntimeWarning, stacklevel=level)


def _of_constants(energies: Floats, constants: Floats) -> Iterator[str]:
    for m in range(constants.shape[1]):
        own = constants[:, m]
        for energy in energies[(own[:, [1, 3]] < 0).any(1)][:1]:
            yield f"material {m + 1}: beta at {energy:g} eV is negative"
        for energy in energies[(abs(own) >= _CONSTANT).any(1)][:1]:
            yield (f"material {m + 1}: a constant at {energy:g} eV is {_CONSTANT:g} or more; with soft X-rays "
            "values are usually about 0.001")
    for energy in energies[~constants.any((1, 2))][:1]:
        yield f"at {energy:g} eV the optical constants of all materials are 0, so the pattern is 0"


def _largest_angle(alignment: Any, angle: Any) -> float:
    if isinstance(angle, _core.Array):
        if not bool(((abs(angle) > _ANGLE) & (alignment != 0)).any()):
            return 0.0
        alignment, angle = alignment.to_numpy(), angle.to_numpy()
    if abs(angle.min()) <= _ANGLE and abs(angle.max()) <= _ANGLE:  # the usual case, checked without copies
        return 0.0
    found = 0.0
    for s, layer in zip(alignment, angle):
        counted = abs(layer[(s != 0) & np.isfinite(layer)])
        found = max(found, float(counted.max(initial=0)))
    return found


def _of_voxels(number: int, arrays: Arrays) -> Iterator[str]:
    _, volume, alignment, theta, psi, direction, unaligned = arrays
    angles = [a for a in (theta, psi) if a is not None and a.size]
    if not any(a is not None and a.any() for a in (volume, direction, unaligned)):
        yield f"no voxel contains material {number}"
    if alignment is None and angles:
        yield f"material {number} has angles, but no alignment: it is treated as unaligned"
    elif angles:
        largest = max(_largest_angle(alignment, a) for a in angles)
        if largest > _ANGLE:
            yield f"material {number} has angles of up to {largest:g}; angles must be in radians"


def suspicions(energies: Floats, voxel: float, constants: Floats,
               materials: Sequence[Arrays]) -> Iterator[str]:
    """A text for each suspicious value. constants: (energies, materials, 4)."""
    minimum, maximum = _ENERGY
    for energy in energies[(energies < minimum) | (energies > maximum)][:1]:
        yield f"the energy {energy:g} eV is outside the X-ray range; energies must be in eV"
    if not _VOXEL[0] <= voxel <= _VOXEL[1]:
        yield f"the edge of a voxel is {voxel:g} nm; usual values are 0.1 to 100"
    yield from _of_constants(energies, constants)
    for number, arrays in enumerate(materials, 1):
        yield from _of_voxels(number, arrays)
