# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Standard errors by blocks, and checks of arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _host
from ..._core import InvalidError
from ._series import Floats


def count(value: Any, caller: str, name: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{caller}: {name} is {value!r}, not an integer") from None
    if number < least:
        raise InvalidError(f"{caller}: {name} is {number}; it must be at least {least}")
    return number


def others(blocks: Floats) -> Floats:
    """For each block, the mean over all other blocks."""
    return np.asarray((blocks.sum(axis=0) - blocks) / (len(blocks) - 1))


def student(blocks: int) -> float:
    """Student's factor. With the probability of one standard deviation, 0.6827, the mean of normally distributed blocks
    differs from the true mean by less than this factor times its standard error."""
    n = blocks - 1
    if n == 1:
        return 1.8373  # This is Cauchy's distribution.
    # The asymptotic expansion of the quantile for many blocks (Abramowitz and Stegun 26.7.5), at x = 1.
    return 1 + 1 / (2 * n) + 1 / (4 * n**2) + 1 / (16 * n**3)


def jackknife(estimates: Floats) -> Floats:
    """Returns the error, with Student's factor. Each of the given estimates leaves out one block."""
    spread = ((estimates - estimates.mean(axis=0))**2).sum(axis=0)
    blocks = len(estimates)
    return np.asarray(student(blocks) * np.sqrt(spread * (blocks - 1) / blocks))


def padded(error: Floats, frames: int) -> Floats:
    whole = np.full(frames, np.nan)
    whole[:len(error)] = error
    return whole


def first(wrong: npt.NDArray[np.bool_], otherwise: int) -> int:
    """The index of the first True; `otherwise` if there is none."""
    return int(np.argmax(wrong)) if wrong.any() else otherwise


def bound(value: Any, caller: str, name: str, otherwise: float) -> float:
    return otherwise if value is None else float(_host.number(value, f"{caller}: {name}"))


def chosen_lags(lags: Floats, low: float, high: float, caller: str) -> Any:
    """The indices of the lags from low to high, for the fit of a line."""
    tiny = 1e-9 * float(lags[-1])  # lags are rounded products, k * dt
    chosen = np.flatnonzero((lags >= low - tiny) & (lags <= high + tiny))
    if len(chosen) < 2:
        raise InvalidError(f"{caller}: {len(chosen)} lags from {low:g} to {high:g}, and a line needs two: lags go from 0 to "
                           f"{lags[-1]:g}; choose others (start and stop; of collet-analyse: --fit FROM:TO), or fewer blocks")
    return chosen
