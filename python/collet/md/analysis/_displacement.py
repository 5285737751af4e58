# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Mean square displacement, and the diffusion coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _analysis, _host
from ..._core import InvalidError, ShapeError
from ._blocks import bound, chosen_lags, count, jackknife, others, padded
from ._series import Floats, Series, positive


@dataclass(frozen=True, eq=False)
class MeanSquareDisplacement:
    """lag, value, error: (frames,); value in the square of x's unit. blocks: (blocks, lags), the
    curve of each block. dimensions: the number of dimensions of the motion. With times that are not
    equally spaced, lag, value and error are (lags,), and each block is a group of bodies."""

    lag: Floats
    value: Floats
    error: Floats
    blocks: Floats
    dimensions: int
    regular: bool = True


@dataclass(frozen=True)
class Diffusion:
    """A diffusion coefficient, in the unit of the displacement over the unit of lag: nm^2/ps =
    0.01 cm^2/s.

    error: standard error by blocks; NaN if the fit goes beyond the lags of a block
    start, stop: first and last lag of the fit; lags: the number of lags
    intercept: the value of the line at lag 0"""

    value: float
    error: float
    start: float
    stop: float
    lags: int
    intercept: float
    dimensions: int


def displacement(series: Series, dt: float, blocks: int, dimensions: int) -> MeanSquareDisplacement:
    """The mean square displacement of a series of positions or angles."""
    whole, parts = series.made(_analysis.displacement, blocks)
    return MeanSquareDisplacement(dt * np.arange(series.frames), whole,
                                  padded(jackknife(others(parts)), series.frames), parts,
                                  dimensions)


_PAIRS = 20_000_000  # pairs of frames: 6,000 frames, 160 MB


def _lags(times: Floats, caller: str) -> tuple[Floats, npt.NDArray[np.intp]]:
    """The different lags of all pairs of frames, and for each pair (i, j >= i), row by row, the index of its lag."""
    if len(times) * (len(times) + 1) // 2 > _PAIRS:
        raise InvalidError(f"{caller}: {len(times)} frames whose times are not equally spaced have too many pairs: "
                           "choose fewer frames")
    first, second = np.triu_indices(len(times))
    lags = times[second] - times[first]
    order = np.argsort(lags, kind="stable")
    ascending = lags[order]
    # Lags that differ only by rounding are one lag.
    new = np.diff(ascending) > 1e-6 * ascending[1:] + 1e-12 * times.max(initial=0)
    index = np.empty(len(lags), np.intp)
    index[order] = np.concatenate([[0], np.cumsum(new)])
    return np.bincount(index, lags) / np.bincount(index), index


def _of_pairs(series: Series, times: Floats, blocks: int) -> MeanSquareDisplacement:
    """Computes the displacement from all pairs of frames. Lags are differences of their times."""
    lag, index = _lags(times, series.caller)
    groups = np.array_split(np.arange(series.bodies), min(blocks, series.bodies))
    sums = np.zeros((len(groups), len(lag)))
    for group, total in zip(groups, sums):
        for body in group:
            x = series.numbers(body, 1)[:, 0]
            moved = np.concatenate([((x[i:] - x[i])**2).sum(axis=1) for i in range(len(x))])
            total += np.bincount(index, moved, len(lag))
    pairs = np.bincount(index)
    parts = sums / pairs / np.array([[len(group)] for group in groups])
    if len(groups) < blocks:
        parts = parts[:0]
    error = jackknife(others(parts)) if len(parts) else np.full(len(lag), np.nan)
    return MeanSquareDisplacement(lag, sums.sum(axis=0) / pairs / series.bodies, error, parts, series.components, False)


def _checked(times: Any, series: Series) -> Floats:
    caller = series.caller
    found = _host.array(times, np.float64, f"{caller}: times")
    if found.shape != (series.frames,):
        raise ShapeError(f"{caller}: times are {found.shape}, but x has {series.frames} frames")
    wrong = np.flatnonzero(~(np.diff(found) > 0))
    if len(wrong) or not np.isfinite(found).all():
        raise InvalidError(f"{caller}: times must rise" + (
            f": {found[wrong[0] + 1]:.10g} follows {found[wrong[0]]:.10g}" if len(wrong) else ""))
    return found


def mean_square_displacement(x: Any, dt: float = 1, *, blocks: int = 5, times: Any = None) -> MeanSquareDisplacement:
    """The mean square displacement at each lag k: the sum over t of |x[t + k] - x[t]|^2 / (frames - k), averaged
    over bodies.

    x: unwrapped positions, which do not jump at a periodic box
    times: (frames,), for frames that are not equally spaced, such as powers of two; then dt is not used. Lags are all
        differences of times, and each is averaged over its pairs. Errors are computed from groups of bodies; they are
        NaN if there are fewer bodies than blocks. At most 6,000 frames
    All lags come from Fourier transforms (V. Calandrini et al., Collection SFN 12 (2011) 201) of x without
    its drift from the first to the last frame. The drift's contribution is then added exactly. Rounding
    errors are about 1e-15 frames / (frames - k) times the mean square of x without the drift.

    >>> analysis.mean_square_displacement(np.arange(10.0)).value[:4].round(9)
    array([0., 1., 4., 9.])"""
    caller = "mean_square_displacement"
    dt, blocks = positive(dt, caller, "dt"), count(blocks, caller, "blocks", 2)
    series = Series(x, caller)
    if times is not None:
        return _of_pairs(series, _checked(times, series), blocks)
    return displacement(series, dt, blocks, series.components)


def diffusion(msd: MeanSquareDisplacement, start: float | None = None,
              stop: float | None = None) -> Diffusion:
    """The diffusion coefficient by Einstein's relation: the slope of a line fitted to msd, over
    twice the dimensions. A Diffusion.

    msd: the result of mean_square_displacement, or of rotational_mean_square_displacement: the diffusion coefficient is
        then in rad^2 over the unit of lag
    start, stop: the range of lags where msd is linear, in the unit of lag; None: from a tenth to half of the
        length of a block (2 and 10 % of the trajectory for 5 blocks); with `times`, 2 and 10 % of the longest lag
    The fit is least squares without weights, with an intercept. Raises InvalidError if the range has
    fewer than two lags.

    >>> x = np.cumsum(np.random.default_rng(1).normal(size=(1000, 3)), axis=0)
    >>> found = analysis.diffusion(analysis.mean_square_displacement(x), 1, 10)
    >>> 0.4 < found.value < 0.6
    True"""
    caller = "diffusion"
    length = msd.blocks.shape[1] if len(msd.blocks) else 0
    lags = msd.lag
    usual = (0.02 * lags[-1], 0.1 * lags[-1]) if not msd.regular else \
        (lags[min(max(length // 10, 1), len(lags) - 1)], lags[length // 2])
    low = bound(start, caller, "start", float(usual[0]))
    high = bound(stop, caller, "stop", float(usual[1]))
    chosen = chosen_lags(lags, low, high, caller)
    times = lags[chosen] - lags[chosen].mean()
    weights = times / (times @ times) / (2 * msd.dimensions)
    value = float(weights @ msd.value[chosen])
    error = float("nan")
    if chosen[-1] < length:
        error = float(jackknife(others(msd.blocks)[:, chosen] @ weights))
    intercept = float(msd.value[chosen].mean() - 2 * msd.dimensions * value * lags[chosen].mean())
    return Diffusion(value, error, float(lags[chosen[0]]), float(lags[chosen[-1]]), len(chosen),
                     intercept, msd.dimensions)
