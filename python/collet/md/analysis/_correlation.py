# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Autocorrelation functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _analysis
from ..._core import InvalidError
from ._blocks import count, first, jackknife, others, padded
from ._series import Floats, Series, positive


@dataclass(frozen=True, eq=False)
class Correlation:
    """An autocorrelation function.

    lag, value, error: (frames,); lag in the unit of dt, value in the square of x's unit, or without unit if normalised
    blocks: (blocks, lags), the curve of each block, not normalised
    integral_time: integral of value / value[0] by trapezoids, in the unit of dt, up to the first lag at which the value
        is not positive; the value there counts as 0. NaN if there is no such lag
        The noise shifts this end. So the time of an exponential function is too long on average: by 3 % for three
        components of 1,000 correlation times, by 7 % for 400; this is less than half of integral_error
    integral_error: the standard error of integral_time, for an integral up to that lag
    integral_stop: the lag at which the integral ends"""

    lag: Floats
    value: Floats
    error: Floats
    blocks: Floats
    integral_time: float
    integral_error: float
    integral_stop: float

def curves_of(series: Series, blocks: int, centered: bool) -> tuple[Floats, Floats]:
    """Computes C[k] of all frames and of each block."""
    whole, parts = series.made(_analysis.autocorrelation, blocks, centered)
    return whole, parts


def correlation(whole: Floats, blocks: Floats, dt: float, normalise: bool) -> Correlation:
    frames, length, nan = len(whole), blocks.shape[1], float("nan")
    rest = others(blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = rest / rest[:, :1]
    error = jackknife(shares if normalise else rest)
    time = spread = stop = nan
    end = first(whole <= 0, frames)
    if 0 < end < frames:
        stop = dt * end
        time = dt * float(whole[:end].sum() / whole[0] - 0.5)
        if end <= length:
            spread = dt * float(jackknife(shares[:, :end].sum(axis=1)))
    return Correlation(dt * np.arange(frames), whole / whole[0] if normalise else whole,
                       padded(error, frames), blocks, time, spread, stop)


def autocorrelation(x: Any, dt: float = 1, normalise: bool = True, subtract_mean: bool = False, *,
                    blocks: int = 5) -> Correlation:
    """Computes C[k] = sum over t of x[t] . x[t + k] / (frames - k), averaged over bodies. Returns a Correlation.

    normalise: divides C[k] by C[0]
    subtract_mean: first subtracts from each body's x its mean over all frames
    All lags come from Fourier transforms of x padded with zeros (theorem of Wiener and Khinchin).
    Rounding errors are about 1e-15 C[0] frames / (frames - k). Raises InvalidError if C[0] is 0 and
    normalise is true.

    >>> x = np.cos(0.1 * np.arange(1000))
    >>> analysis.autocorrelation(x).value[:3].round(2)
    array([1.  , 0.99, 0.98])"""
    caller = "autocorrelation"
    dt = positive(dt, caller, "dt")
    series = Series(x, caller)
    whole, parts = curves_of(series, count(blocks, caller, "blocks", 2), subtract_mean)
    if normalise and whole[0] <= 0:
        why = "x is constant" if subtract_mean else "x is 0, or its squares are below float64"
        raise InvalidError(f"{caller}: C[0] is 0 and cannot normalise: {why}; give normalise=False")
    return correlation(whole, parts, dt, normalise)
