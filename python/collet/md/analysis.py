# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_md_analysis.py
"""Correlation, displacement and diffusion of series of frames, as of arrays that collet.md.extract
returns.

    found = md.extract("conf.gro", "traj.trr")
    dt = found["time_ps"][1] - found["time_ps"][0]
    acf = analysis.autocorrelation(found["L_vector"], dt, subtract_mean=True)
    msd = analysis.mean_square_displacement(found["com"], dt)
    print(acf.integral_time, analysis.diffusion(msd))

A series is (frames,), (frames, 3), or (frames, bodies, 3), equally spaced in time; scalars of
bodies are (frames, bodies, 1). Results are means over all pairs of frames a lag apart and over all
bodies; one body's are of x[:, body]. Everything is computed in f64 and returned as NumPy arrays;
the Fourier transforms run on the backend that collet.using or collet.set_backend chose. Beside
the input they need some 100 MiB, or about ten times the series of one body if that is more. dt is
the time between frames; lags and times have its unit.

Errors are standard errors by blocks: the frames are cut into `blocks` consecutive parts of equal
length (a rest shorter than a block is not used), each gives a curve, and the jackknife of
Quenouille and Tukey over the curves gives the error; without a normalisation it is the standard
deviation of the blocks divided by the root of their number. Blocks shorter than the correlation
time give errors that are too small. A lag as long as a block or longer has no error: NaN.

InvalidError for numbers that are not finite, ShapeError for other shapes or no frames, DtypeError
for what is not real, TypeError for masks and units.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _host
from .._core import InvalidError, ShapeError
from ._series import CorrelationSums, DisplacementSums, Floats, Series, parts_of, positive

_LEAST_LAGS = 3  # of the statistical inefficiency, which noise shall not cut at once
_ROOT2 = 2**0.5


@dataclass(frozen=True, eq=False)
class Correlation:
    """An autocorrelation function.

    lag, value, error: (frames,); lag in the unit of dt, value 1 or the square of x's unit
    blocks: (blocks, lags), the curve of each block, not normalised
    integral_time: integral of value / value[0] by trapezoids up to the first lag that is not
        positive, counted as 0; NaN if there is none. In the unit of dt
    integral_error: its standard error, for this range
    integral_stop: that lag"""

    lag: Floats
    value: Floats
    error: Floats
    blocks: Floats
    integral_time: float
    integral_error: float
    integral_stop: float


@dataclass(frozen=True, eq=False)
class MeanSquareDisplacement:
    """lag, value, error: (frames,); value in the square of x's unit. blocks: (blocks, lags), the
    curve of each block. dimensions: of the motion."""

    lag: Floats
    value: Floats
    error: Floats
    blocks: Floats
    dimensions: int


@dataclass(frozen=True)
class Diffusion:
    """A diffusion coefficient, in the unit of the displacement over the unit of lag: nm^2/ps =
    0.01 cm^2/s.

    error: standard error by the blocks, NaN if the fit goes beyond their lags
    start, stop: first and last lag of the fit; lags: their number
    intercept: of the line at lag 0"""

    value: float
    error: float
    start: float
    stop: float
    lags: int
    intercept: float
    dimensions: int


@dataclass(frozen=True, eq=False)
class Rotation:
    """c1, c2: correlation of the first and second Legendre polynomials. s2: the order parameter
    S^2, s2_error its standard error."""

    c1: Correlation
    c2: Correlation
    s2: float
    s2_error: float


@dataclass(frozen=True)
class Equilibration:
    """frame, time: the first that counts as equilibrated. inefficiency: frames per independent
    sample from there on; samples: independent samples from there on."""

    frame: int
    time: float
    inefficiency: float
    samples: float


# ---- Errors --------------------------------------------------------------------------------------


def _count(value: Any, caller: str, name: str, least: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{caller}: {name} is {value!r}, not an integer") from None
    if count < least:
        raise InvalidError(f"{caller}: {name} is {count}; it must be at least {least}")
    return count


def _others(blocks: Floats) -> Floats:
    """For each block the mean over all others."""
    return np.asarray((blocks.sum(axis=0) - blocks) / (len(blocks) - 1))


def _jackknife(estimates: Floats) -> Floats:
    """The standard error, of estimates that each leave one block out."""
    spread = ((estimates - estimates.mean(axis=0))**2).sum(axis=0)
    return np.asarray(np.sqrt(spread * (len(estimates) - 1) / len(estimates)))


def _padded(error: Floats, frames: int) -> Floats:
    whole = np.full(frames, np.nan)
    whole[:len(error)] = error
    return whole


def _first(wrong: npt.NDArray[np.bool_], otherwise: int) -> int:
    """The index of the first True."""
    return int(np.argmax(wrong)) if wrong.any() else otherwise


# ---- Autocorrelation -----------------------------------------------------------------------------


def _centered(rows: Floats) -> Floats:
    """Rows without their means, in place; constant ones become exactly 0."""
    rows -= rows[:, :1]
    rows -= rows.mean(axis=1, keepdims=True)
    return rows


def _curves(series: Series, blocks: int, centered: bool) -> tuple[Floats, Floats]:
    """C[k] of all frames and of each block."""
    sums = CorrelationSums(series.frames, blocks)
    for _, slab in series.slabs(series.components):
        rows = slab.reshape(-1, series.frames)
        sums.add(_centered(rows) if centered else rows)
    whole, parts = sums.curves()
    if not np.isfinite(whole[0]):
        raise InvalidError(f"{series.caller}: the squares of {series.name} are too large for f64: "
                           "divide it by a scale")
    return whole / series.bodies, parts / series.bodies


def _correlation(whole: Floats, blocks: Floats, dt: float, normalise: bool) -> Correlation:
    frames, length, nan = len(whole), blocks.shape[1], float("nan")
    others = _others(blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = others / others[:, :1]
    error = _jackknife(shares if normalise else others)
    time = spread = stop = nan
    end = _first(whole <= 0, frames)
    if 0 < end < frames:
        stop = dt * end
        time = dt * float(whole[:end].sum() / whole[0] - 0.5)
        if end <= length:
            spread = dt * float(_jackknife(shares[:, :end].sum(axis=1)))
    return Correlation(dt * np.arange(frames), whole / whole[0] if normalise else whole,
                       _padded(error, frames), blocks, time, spread, stop)


def autocorrelation(x: Any, dt: float = 1, normalise: bool = True, subtract_mean: bool = False, *,
                    blocks: int = 5) -> Correlation:
    """C[k] = sum over t of x[t] . x[t + k] / (frames - k), the mean over bodies: a Correlation.

    normalise: C[k] / C[0]
    subtract_mean: first from each body's x its mean over all frames
    All lags come from Fourier transforms of x padded with zeros (theorem of Wiener and Khinchin).
    Rounding errors are about 1e-15 C[0] frames / (frames - k). InvalidError if C[0] is 0 and
    normalise is true."""
    caller = "autocorrelation"
    dt = positive(dt, caller, "dt")
    series = Series(x, caller)
    whole, parts = _curves(series, _count(blocks, caller, "blocks", 2), subtract_mean)
    if normalise and whole[0] <= 0:
        why = "x is constant" if subtract_mean else "x is 0, or its squares are below f64"
        raise InvalidError(f"{caller}: C[0] is 0 and cannot normalise: {why}; give normalise=False")
    return _correlation(whole, parts, dt, normalise)


# ---- Displacement and diffusion ------------------------------------------------------------------


def _displacement(sums: DisplacementSums, series: Series, dt: float,
                  dimensions: int) -> MeanSquareDisplacement:
    whole, parts = (curve / series.bodies for curve in sums.curves())
    if not np.isfinite(whole).all():
        raise InvalidError(f"{series.caller}: the squares of {series.name} are too large for f64: "
                           "divide it by a scale")
    return MeanSquareDisplacement(dt * np.arange(series.frames), whole,
                                  _padded(_jackknife(_others(parts)), series.frames), parts,
                                  dimensions)


def mean_square_displacement(x: Any, dt: float = 1, *, blocks: int = 5) -> MeanSquareDisplacement:
    """sum over t of |x[t + k] - x[t]|^2 / (frames - k), the mean over bodies.

    x: positions that no periodic box cuts: unwrapped
    All lags come from Fourier transforms (V. Calandrini et al., Collection SFN 12 (2011) 201) of x
    without its drift from the first to the last frame, which is added again exactly. Rounding
    errors are about 1e-15 frames / (frames - k) of the mean square of x about this line."""
    caller = "mean_square_displacement"
    dt, blocks = positive(dt, caller, "dt"), _count(blocks, caller, "blocks", 2)
    series = Series(x, caller)
    sums = DisplacementSums(series.frames, blocks)
    for _, slab in series.slabs(series.components):
        sums.add(slab.reshape(-1, series.frames))
    return _displacement(sums, series, dt, series.components)


def _bound(value: Any, caller: str, name: str, otherwise: float) -> float:
    return otherwise if value is None else float(_host.number(value, f"{caller}: {name}"))


def diffusion(msd: MeanSquareDisplacement, start: float | None = None,
              stop: float | None = None) -> Diffusion:
    """The diffusion coefficient by Einstein's relation: the slope of a line fitted to msd, over
    twice the dimensions. A Diffusion.

    msd: of mean_square_displacement; of rotational_mean_square_displacement the result is in rad^2
        over the unit of lag
    start, stop: the range of lags, in their unit, where msd is linear; None: a tenth and a half of
        the length of a block, which are 2 and 10 % of the trajectory with 5 blocks
    The fit is least squares without weights, with an intercept. InvalidError if the range has
    fewer than two lags."""
    caller = "diffusion"
    length = msd.blocks.shape[1]
    lags = msd.lag
    low = _bound(start, caller, "start", float(lags[min(max(length // 10, 1), len(lags) - 1)]))
    high = _bound(stop, caller, "stop", float(lags[length // 2]))
    tiny = 1e-9 * float(lags[-1])  # lags are products that may be rounded
    chosen = np.flatnonzero((lags >= low - tiny) & (lags <= high + tiny))
    if len(chosen) < 2:
        raise InvalidError(f"{caller}: {len(chosen)} lags from {low:g} to {high:g}, and a line "
                           f"needs two: lags go from 0 to {lags[-1]:g}; give start and stop")
    times = lags[chosen] - lags[chosen].mean()
    weights = times / (times @ times) / (2 * msd.dimensions)
    value = float(weights @ msd.value[chosen])
    error = float("nan")
    if chosen[-1] < length:
        error = float(_jackknife(_others(msd.blocks)[:, chosen] @ weights))
    intercept = float(msd.value[chosen].mean() - 2 * msd.dimensions * value * lags[chosen].mean())
    return Diffusion(value, error, float(lags[chosen[0]]), float(lags[chosen[-1]]), len(chosen),
                     intercept, msd.dimensions)


# ---- Rotation ------------------------------------------------------------------------------------


def _directions(axes: Any, caller: str) -> Series:
    series = Series(axes, caller, "axes")
    if series.components != 3:
        raise ShapeError(f"{caller}: axes have {series.components} component; they must be "
                         "frames x 3 or frames x bodies x 3")
    # Principal axes of one body have the shape of three bodies, but their vectors are columns.
    some = _host.array(series.x[:1000], np.float64, f"{caller}: axes")
    if series.bodies == 3 and np.allclose(np.einsum("fbc,fdc->fbd", some, some), np.eye(3),
                                          atol=1e-5):
        raise ShapeError(f"{caller}: axes are three orthogonal vectors in every frame, as "
                         "principal axes are, whose vectors are columns: give one, axes[:, :, 0]")
    return series


def _unit(series: Series, first: int, slab: Floats) -> Floats:
    """A slab of axes, each divided by its length."""
    slab /= np.abs(slab).max(axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
    lengths = np.sqrt((slab**2).sum(axis=1, keepdims=True))
    zero = np.argwhere(lengths[:, 0].T == 0)
    if len(zero):
        raise InvalidError(f"{series.caller}: axes have length 0 at "
                           f"{series.place(zero[0][0], first + zero[0][1])}")
    slab /= lengths
    return slab


def _tensors(slab: Floats) -> Floats:
    """(bodies, 6, frames): u u^T - 1/3, whose scalar product for two u is cos^2 - 1/3."""
    x, y, z = np.moveaxis(slab, 1, 0)
    return np.stack([x * x - 1 / 3, y * y - 1 / 3, z * z - 1 / 3,
                     _ROOT2 * x * y, _ROOT2 * x * z, _ROOT2 * y * z], axis=1)


def rotation(axes: Any, dt: float = 1, *, blocks: int = 5) -> Rotation:
    """Rotational correlation of axes u, of any length: C1 = <u(0).u(t)>,
    C2 = <3 (u(0).u(t))^2 - 1> / 2, and the order parameter
    S^2 = (3 sum over i, j of <u_i u_j>^2 - 1) / 2, to which C2 falls if the body cannot tumble.

    axes: (frames, 3) or (frames, bodies, 3); of principal axes (frames, 3, 3) one: axes[:, :, 0]
    C2 is the autocorrelation of the tensor u u^T - 1/3. S^2: G. Lipari and A. Szabo, J. Am. Chem.
    Soc. 104 (1982) 4546; E. R. Henry and A. Szabo, J. Chem. Phys. 82 (1985) 4753. It is about
    (1 - S^2) / (independent samples) too large. A Rotation."""
    caller = "rotation"
    dt = positive(dt, caller, "dt")
    blocks = _count(blocks, caller, "blocks", 2)
    series = _directions(axes, caller)
    first, second = (CorrelationSums(series.frames, blocks) for _ in range(2))
    order, orders = 0.0, np.zeros(blocks)
    for body, slab in series.slabs(9):
        units = _unit(series, body, slab)
        tensors = _tensors(units).reshape(-1, series.frames)
        first.add(units.reshape(-1, series.frames))
        second.add(tensors)
        order += 1.5 * float((tensors.mean(axis=1)**2).sum())
        if series.frames >= blocks:
            means = parts_of(tensors, blocks).mean(axis=2).T
            orders += 1.5 * (_others(means)**2).sum(axis=1)
    c1, c2 = (_correlation(whole * factor, parts * factor, dt, True)
              for factor, (whole, parts) in ((1 / series.bodies, first.curves()),
                                             (1.5 / series.bodies, second.curves())))
    error = float(_jackknife(orders / series.bodies)) if series.frames >= blocks else float("nan")
    return Rotation(c1, c2, order / series.bodies, error)


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
                               f"{series.place(back[0][0], body + back[0][1])}, in no direction: "
                               "give more frames, or axes without changes of sign")
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
                      "few frames for this motion", RuntimeWarning, stacklevel=3)


def angular_displacement(axes: Any) -> Floats:
    """The angle about x, y and z, in rad, by which axes turned since the first frame: the sum of
    the smallest rotations from each frame to the next (S. Kaemmerer, W. Kob, R. Schilling, Phys.
    Rev. E 56 (1997) 5450). The shape is the shape of axes, (frames, 3) or (frames, bodies, 3).

    A RuntimeWarning if an axis turns by more than 90 degrees in a step: its way is then unknown.
    InvalidError if it turns by 180."""
    series = _directions(axes, "angular_displacement")
    found = np.empty((series.frames, series.bodies, 3))
    for body, angles in _turned(series):
        found[:, body:body + len(angles)] = np.moveaxis(angles, 2, 0)
    return found.reshape(series.shape)


def rotational_mean_square_displacement(axes: Any, dt: float = 1, *,
                                        blocks: int = 5) -> MeanSquareDisplacement:
    """mean_square_displacement of angular_displacement(axes), rad^2: 4 D t in free rotational
    diffusion of an axis, so that diffusion() of it gives D."""
    caller = "rotational_mean_square_displacement"
    dt, blocks = positive(dt, caller, "dt"), _count(blocks, caller, "blocks", 2)
    series = _directions(axes, caller)
    sums = DisplacementSums(series.frames, blocks)
    for _, angles in _turned(series):
        sums.add(angles.reshape(-1, series.frames))
    return _displacement(sums, series, dt, 2)


# ---- Independent samples -------------------------------------------------------------------------


def _inefficiency(series: Series) -> float:
    """Frames per independent sample; 0 of a constant."""
    whole, _ = _curves(series, 0, centered=True)
    frames = series.frames
    if whole[0] <= 0:
        return 0.0
    lags = np.arange(1, frames)
    shares = whole[1:] / whole[0]
    end = _first((shares <= 0) & (lags > _LEAST_LAGS), max(frames - 2, 0))
    return max(1.0, float(1 + 2 * (shares[:end] * (1 - lags[:end] / frames)).sum()))


def statistical_inefficiency(x: Any) -> float:
    """Frames per independent sample, at least 1: g = 1 + 2 sum over k of C[k] / C[0] (1 - k /
    frames), C of x without its mean, up to the first k above 3 with C[k] <= 0 (J. D. Chodera et
    al., J. Chem. Theory Comput. 3 (2007) 26; as pymbar). The mean of x has the standard error
    std(x) sqrt(g / frames).

    InvalidError if x is constant."""
    found = _inefficiency(Series(x, "statistical_inefficiency"))
    if not found:
        raise InvalidError("statistical_inefficiency: x is constant: there are no fluctuations")
    return found


def equilibration_time(x: Any, dt: float = 1, *, candidates: int = 100) -> Equilibration:
    """The frame from which on x has the most independent samples, (frames - frame) / g (J. D.
    Chodera, J. Chem. Theory Comput. 12 (2016) 1799), with g as in statistical_inefficiency.

    candidates: frames that are tried, at equal distances from frame 0; each takes a transform of x
    If x is constant from a candidate on, that counts as one sample, as in pymbar. InvalidError if
    all of x is constant."""
    caller = "equilibration_time"
    dt = positive(dt, caller, "dt")
    step = -(-Series(x, caller).frames // _count(candidates, caller, "candidates", 1))
    x = _host.array(x, None, f"{caller}: x")
    best = Equilibration(0, 0.0, 0.0, 0.0)
    for frame in range(0, len(x), step):
        rest = len(x) - frame
        found = _inefficiency(Series(x[frame:], caller))
        if not found and not frame:
            raise InvalidError(f"{caller}: x is constant: there are no fluctuations")
        g = found or float(rest)
        if rest / g > best.samples:
            best = Equilibration(frame, dt * frame, g, rest / g)
    return best


if __name__ == "__main__":
    from collet.md._analyse import main
    raise SystemExit(main())
