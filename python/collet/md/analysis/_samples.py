# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Independent samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _host
from ..._core import InvalidError
from ._blocks import count, first
from ._correlation import curves_of
from ._series import Series, positive

_LEAST_LAGS = 3  # lags that the statistical inefficiency always sums, so that noise does not end the sum early


@dataclass(frozen=True)
class Equilibration:
    """frame, time: the first frame that counts as equilibrated, and its time. inefficiency: the number of frames per
    independent sample from there on; samples: the number of independent samples from there on."""

    frame: int
    time: float
    inefficiency: float
    samples: float


def _inefficiency(series: Series) -> float:
    """The number of frames per independent sample; 0 if the series is constant."""
    whole, _ = curves_of(series, 0, centered=True)
    frames = series.frames
    if whole[0] <= 0:
        return 0.0
    lags = np.arange(1, frames)
    shares = whole[1:] / whole[0]
    end = first((shares <= 0) & (lags > _LEAST_LAGS), max(frames - 2, 0))
    return max(1.0, float(1 + 2 * (shares[:end] * (1 - lags[:end] / frames)).sum()))


def statistical_inefficiency(x: Any) -> float:
    """The number of frames per independent sample, at least 1: g = 1 + 2 sum over k of C[k] / C[0] (1 - k /
    frames), up to the first k above 3 with C[k] <= 0, where C is the autocorrelation of x without its mean (J. D.
    Chodera et al., J. Chem. Theory Comput. 3 (2007) 26; as in pymbar). The mean of x has the standard error
    std(x) sqrt(g / frames).

    Raises InvalidError if x is constant.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> analysis.statistical_inefficiency(x) < 2
    True"""
    found = _inefficiency(Series(x, "statistical_inefficiency"))
    if not found:
        raise InvalidError("statistical_inefficiency: x is constant: there are no fluctuations")
    return found


def equilibration_time(x: Any, dt: float = 1, *, candidates: int = 100) -> Equilibration:
    """The frame from which x has the most independent samples, (frames - frame) / g (J. D.
    Chodera, J. Chem. Theory Comput. 12 (2016) 1799), with g as in statistical_inefficiency.

    candidates: the number of frames that are tried, equally spaced from frame 0; each needs a Fourier transform of x
    If x is constant from a candidate on, these frames count as one sample, as in pymbar. InvalidError if
    all of x is constant.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> x[:100] += 50
    >>> 80 < analysis.equilibration_time(x).frame < 120
    True"""
    caller = "equilibration_time"
    dt = positive(dt, caller, "dt")
    step = -(-Series(x, caller).frames // count(candidates, caller, "candidates", 1))
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
