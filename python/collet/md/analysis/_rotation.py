# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Rotation of axes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _analysis, _host
from ..._core import InvalidError, ShapeError
from ._blocks import count, jackknife
from ._correlation import Correlation, correlation
from ._displacement import MeanSquareDisplacement, displacement
from ._series import Floats, Series, positive


@dataclass(frozen=True, eq=False)
class Rotation:
    """c1, c2: correlation functions of the first and the second Legendre polynomial. s2: the order parameter
    S^2; s2_error: its standard error."""

    c1: Correlation
    c2: Correlation
    s2: float
    s2_error: float


_FAR = 0.5   # If |u.u'| of an axis in two frames is less, its sign is a guess.
_MANY = 0.05  # Results are doubtful if more than this fraction of the signs are guesses.


def warn_of_signs(dots: Iterable[Floats], caller: str, effect: str) -> None:
    """Issues a UserWarning if axes often turn so far in a step that their sign is a guess. dots: parts of the dot
    products of each axis with itself one frame later."""
    far = steps = 0
    for part in dots:
        far += int((np.abs(part) < _FAR).sum())
        steps += part.size
    if far > _MANY * steps:
        warnings.warn(
            f"{caller}: axes turn by more than 60 degrees in {100 * far / steps:.0f} % of the steps. "
            "If the signs of the axes are arbitrary, like those of principal axes, the turns are ambiguous and "
            f"{effect}; give frames that are closer together, or a vector that has a direction, such as a vector "
            "between two atoms", UserWarning, stacklevel=3)


def _dots(series: Series) -> Iterator[Floats]:
    for body, slab in series.slabs(6):
        units = _unit(series, body, slab)
        yield (units[..., 1:] * units[..., :-1]).sum(axis=1)


def _directions(axes: Any, caller: str) -> Series:
    shape = getattr(axes, "shape", ())
    if len(shape) == 4 and shape[-2:] == (3, 3):
        raise ShapeError(f"{caller}: axes are frames x bodies x 3 x 3, like principal axes: give one axis, the "
                         "column axes[..., 0]")
    series = Series(axes, caller, "axes")
    if series.components != 3:
        raise ShapeError(f"{caller}: axes have {series.components} component; they must be "
                         "frames x 3 or frames x bodies x 3")
    # Principal axes of one body have the shape of three bodies, but their vectors are columns.
    some = _host.array(series.x[:1000], np.float64, f"{caller}: axes")
    if series.bodies == 3 and np.allclose(np.einsum("fbc,fdc->fbd", some, some), np.eye(3),
                                          atol=1e-5):
        raise ShapeError(f"{caller}: axes are three orthogonal vectors in every frame, like principal axes: give one "
                         "axis, the column axes[..., 0]")
    return series


def _unit(series: Series, first: int, slab: Floats) -> Floats:
    """Normalises a slab of axes."""
    slab /= np.abs(slab).max(axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    lengths = np.sqrt((slab**2).sum(axis=1, keepdims=True))
    zero = np.argwhere(lengths[:, 0].T == 0)
    if len(zero):
        raise InvalidError(f"{series.caller}: axes have length 0 at "
                           f"{series.place(zero[0][0], first + zero[0][1])}")
    slab /= lengths
    return slab


def rotation(axes: Any, dt: float = 1, *, blocks: int = 5) -> Rotation:
    """Rotational correlation of axes u, of any length: C1 = <u(0).u(t)>, C2 = <3 (u(0).u(t))^2 - 1> / 2,
    and the order parameter S^2 = (3 sum over i, j of <u_i u_j>^2 - 1) / 2. If the body cannot tumble, C2
    falls to S^2.

    axes: (frames, 3) or (frames, bodies, 3). Principal axes are (frames, 3, 3) or (frames, bodies, 3, 3): give
        one column, axes[..., 0]. With many bodies axes[:, :, 0] would be a row, with a component of each of the
        three axes; this mistake is not detected
    C2 is the autocorrelation of the tensor u u^T - 1/3. S^2: G. Lipari and A. Szabo, J. Am. Chem.
    Soc. 104 (1982) 4546; E. R. Henry and A. Szabo, J. Chem. Phys. 82 (1985) 4753. The computed S^2 is too large by
    about (1 - S^2) / (number of independent samples). Returns a Rotation.

    A UserWarning says if |u(t).u(t + dt)| < 0.5 in more than 5 % of the steps. Then C1 is meaningless if the sign of
    u is arbitrary; C2 and S^2 do not depend on signs.

    >>> t = 0.1 * np.arange(200)
    >>> axes = np.stack([np.cos(t), np.sin(t), 0 * t], -1)
    >>> analysis.rotation(axes).c1.value[:3].round(3)
    array([1.   , 0.995, 0.98 ])"""
    caller = "rotation"
    dt = positive(dt, caller, "dt")
    blocks = count(blocks, caller, "blocks", 2)
    series = _directions(axes, caller)
    c1, c1_parts, c2, c2_parts, without, order = series.made(_analysis.rotation, blocks)
    warn_of_signs(_dots(series), caller, "C1 and its integral time have no meaning (C1 falls by half "
                  "in each step); C2 and S^2 do not depend on signs")
    error = float(jackknife(without)) if series.frames >= blocks else float("nan")
    return Rotation(correlation(c1, c1_parts, dt, True), correlation(c2, c2_parts, dt, True), order,
                    error)


def order_parameters(axes: Any) -> Floats:
    """The order parameter S^2 (see `rotation`) of each body, (bodies,). axes: (frames, bodies, 3)."""
    series = _directions(axes, "order_parameters")
    found = [1.5 * ((units @ units.transpose(0, 2, 1) / series.frames)**2).sum(axis=(1, 2)) - 0.5
             for units in (_unit(series, body, slab) for body, slab in series.slabs(6))]
    return np.concatenate(found)


def _turned(series: Series) -> Iterator[tuple[int, Floats]]:
    """The first body of each slab and its angular displacements, (bodies, 3, frames)."""
    coarse = None
    for body, slab in series.slabs(9):
        units = _unit(series, body, slab)
        now, then = units[..., :-1], units[..., 1:]
        turns = np.cross(now, then, axis=1)
        sines, cosines = np.sqrt((turns**2).sum(axis=1)), (now * then).sum(axis=1)
        back = np.argwhere(((sines == 0) & (cosines < 0)).T)
        if len(back):
            raise InvalidError(f"{series.caller}: axes turn by 180 degrees after "
                               f"{series.place(back[0][0], body + back[0][1])}, so the direction of the turn is "
                               "unknown: give more frames, or axes without changes of sign")
        wide = np.argwhere((cosines < 0).T)
        if coarse is None and len(wide):
            coarse = series.place(wide[0][0], body + wide[0][1])
        turns *= np.divide(np.arctan2(sines, cosines), sines, out=np.ones_like(sines),
                           where=sines > 0)[:, None]
        angles = np.zeros_like(slab)
        np.cumsum(turns, axis=2, out=angles[..., 1:])
        yield body, angles
    if coarse:
        warnings.warn(f"{series.caller}: axes turn by more than 90 degrees after {coarse}: too "
                      "few frames for this motion", RuntimeWarning, stacklevel=4)


def _displaced(series: Series) -> Floats:
    found = np.empty((series.frames, series.bodies, 3))
    for body, angles in _turned(series):
        found[:, body:body + len(angles)] = np.moveaxis(angles, 2, 0)
    return found.reshape(series.shape)


def angular_displacement(axes: Any) -> Floats:
    """Computes the angles about x, y and z, in rad, by which axes have turned since the first frame. They are the
    sums of the smallest rotations from each frame to the next (S. Kaemmerer, W. Kob, R. Schilling, Phys.
    Rev. E 56 (1997) 5450). The shape is the shape of axes, (frames, 3) or (frames, bodies, 3).

    Issues a RuntimeWarning if an axis turns by more than 90 degrees in a step: its path is then unknown.
    Raises InvalidError if it turns by 180.

    >>> t = 0.1 * np.arange(200)
    >>> axes = np.stack([np.cos(t), np.sin(t), 0 * t], -1)
    >>> analysis.angular_displacement(axes)[1].round(3)
    array([0. , 0. , 0.1])"""
    return _displaced(_directions(axes, "angular_displacement"))


def rotational_mean_square_displacement(axes: Any, dt: float = 1, *,
                                        blocks: int = 5) -> MeanSquareDisplacement:
    """The mean_square_displacement of angular_displacement(axes), in rad^2. In free rotational diffusion of an axis it
    is 4 D t, and diffusion() of the result gives D. Issues the same UserWarning as rotation.

    >>> t = 0.1 * np.arange(200)
    >>> axes = np.stack([np.cos(t), np.sin(t), 0 * t], -1)
    >>> analysis.rotational_mean_square_displacement(axes).value[:3].round(3)
    array([0.  , 0.01, 0.04])"""
    caller = "rotational_mean_square_displacement"
    dt, blocks = positive(dt, caller, "dt"), count(blocks, caller, "blocks", 2)
    series = _directions(axes, caller)
    angles = Series(_displaced(series), caller, "axes")
    warn_of_signs(_dots(series), caller, "so are these angles")
    return displacement(angles, dt, blocks, 2)
