# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_profiles.py
"""Histograms and potentials of mean force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _host
from ..._core import InvalidError, ShapeError
from ._blocks import count, jackknife
from ._series import Floats, positive

GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K
_JACOBIANS = (None, "sin", "cos", "r2")


@dataclass(frozen=True, eq=False)
class Histogram:
    """counts: (bins,), or (bins, bins) for two coordinates; sums of weights
    edges, centers: for each coordinate the edges and the centres of the bins, (bins + 1,) and (bins,)
    outside, nan: sums of weights of the samples beyond the range, and of the NaN samples. A sample with a NaN
        coordinate counts only in `nan`"""

    counts: Floats
    edges: tuple[Floats, ...]
    centers: tuple[Floats, ...]
    outside: float
    nan: float


@dataclass(frozen=True, eq=False)
class MeanForcePotential:
    """value: (bins,) or (bins, bins), in kJ/mol, 0 at the minimum; NaN in bins without samples
    error: standard error by blocks of the difference from the bin with the minimum; NaN if a bin has
        samples in one block only
    density: probability divided by the bin's width and by the Jacobian; the integral of density times
        Jacobian is 1
    histogram: the Histogram with the counts"""

    value: Floats
    error: Floats
    density: Floats
    histogram: Histogram
    temperature: float

    @property
    def centers(self) -> tuple[Floats, ...]:
        """The middles of the bins of each coordinate."""
        return self.histogram.centers


# ---- Arguments -----------------------------------------------------------------------------------


def _each(value: Any, axes: int, caller: str, name: str) -> list[Any]:
    """A value for each coordinate: repeats `value` unless it is a sequence."""
    if axes == 1 or value is None or np.ndim(value) == 0 or isinstance(value, str):
        return [value] * axes
    if len(value) != axes:
        raise ShapeError(f"{caller}: {name} is {value!r}; it must have one item for each coordinate")
    return list(value)


def _coordinates(x: Any, y: Any, caller: str) -> list[Floats]:
    """(frames, bodies) of each coordinate."""
    found = []
    for values, name in ((x, "x"), (y, "y")):
        if values is None:
            continue
        array = _host.array(values, np.float64, f"{caller}: {name}")
        if array.ndim not in (1, 2) or not array.size:
            shape = " x ".join(map(str, array.shape)) or "a scalar"
            raise ShapeError(f"{caller}: {name} is {shape}; it must be frames, or frames x bodies")
        found.append(array.reshape(len(array), -1))
    if len(found) == 2 and found[0].shape != found[1].shape:
        raise ShapeError(f"{caller}: x and y have different shapes, {found[0].shape} and "
                         f"{found[1].shape}")
    return found


def _weights_of(weights: Any, shape: tuple[int, ...], caller: str) -> Floats:
    if weights is None:
        return np.ones(shape)
    found = _host.array(weights, np.float64, f"{caller}: weights")
    if found.ndim not in (1, 2) or len(found) != shape[0]:
        raise ShapeError(f"{caller}: weights must be as long as x, {shape[0]} frames")
    if not (np.isfinite(found) & (found >= 0)).all():
        raise InvalidError(f"{caller}: weights must be finite and not negative")
    return np.broadcast_to(found.reshape(len(found), -1), shape)


def _edges(values: Floats, bins: Any, limits: Any, caller: str) -> Floats:
    number = count(bins, caller, "bins", 1)
    if limits is None:
        finite = values[np.isfinite(values)]
        if not finite.size:
            raise InvalidError(f"{caller}: no number is finite: there is no range")
        low, high = float(finite.min()), float(finite.max())
        if low == high:
            raise InvalidError(f"{caller}: all numbers are {low:g}: give the range")
    else:
        try:
            low, high = map(float, limits)
        except (TypeError, ValueError):
            raise InvalidError(f"{caller}: range is {limits!r}, not two numbers") from None
        if not -np.inf < low < high < np.inf:
            raise InvalidError(f"{caller}: range is {low:g} to {high:g}; it must rise, and be finite")
    return np.linspace(low, high, number + 1)


# ---- Counting ------------------------------------------------------------------------------------


class Bins:
    """The bin of each sample and its weight.

    edges: the edges of the bins of each coordinate; shape: the number of bins of each coordinate
    index, inside: (frames, bodies), the bin in C order, and whether the sample is in the range
    outside, nan: sums of weights of samples outside of the range, and of NaN samples"""

    def __init__(self, coordinates: list[Floats], edges: list[Floats], periodic: list[Any],
                 weights: Floats) -> None:
        self.edges, self.shape = edges, tuple(len(e) - 1 for e in edges)
        index = np.zeros(weights.shape, np.int64)
        inside: Any = np.ones(weights.shape, bool)
        empty = np.zeros(weights.shape, bool)
        for values, edge, wraps in zip(coordinates, edges, periodic):
            low, high, size = edge[0], edge[-1], len(edge) - 1
            empty |= np.isnan(values)
            known = np.isfinite(values)
            with np.errstate(invalid="ignore"):
                where = np.where(known, values, low)
                if wraps:
                    where = low + np.mod(where - low, high - low)
                within = known & (where >= low) & (where <= high)
                # searchsorted puts a number that equals an edge into the bin that begins there.
                bins = np.searchsorted(edge, where, side="right") - 1
            inside &= within
            index = index * size + np.clip(bins, 0, size - 1)  # the last bin includes its upper edge
        self.index, self.inside, self._weights = index, inside, weights
        self.outside = float(weights[~inside & ~empty].sum())
        self.nan = float(weights[empty].sum())

    def counts(self, frames: slice = slice(None)) -> Floats:
        """The sums of weights in each bin, from these frames."""
        chosen = self.inside[frames]
        found = np.bincount(self.index[frames][chosen], self._weights[frames][chosen],
                            int(np.prod(self.shape)))
        return np.asarray(found.reshape(self.shape), np.float64)

    def histogram(self) -> Histogram:
        """The counts of all frames."""
        return Histogram(self.counts(), tuple(self.edges),
                         tuple((e[1:] + e[:-1]) / 2 for e in self.edges), self.outside, self.nan)


def binned(x: Any, y: Any, bins: Any, limits: Any, weights: Any, periodic: Any,
            caller: str) -> Bins:
    coordinates = _coordinates(x, y, caller)
    axes = len(coordinates)
    ranges: Sequence[Any] = [limits] if axes == 1 else [None, None] if limits is None else limits
    if len(ranges) != axes:
        raise ShapeError(f"{caller}: range is {limits!r}; it must have one pair for each coordinate")
    edges = [_edges(values, number, pair, caller) for values, number, pair in
             zip(coordinates, _each(bins, axes, caller, "bins"), ranges)]
    wraps = _each(periodic, axes, caller, "periodic")
    if any(w and pair is None for w, pair in zip(wraps, ranges)):
        raise InvalidError(f"{caller}: a periodic coordinate needs its range, one period")
    return Bins(coordinates, edges, wraps, _weights_of(weights, coordinates[0].shape, caller))


def histogram(x: Any, y: Any = None, *, bins: Any = 50, range: Any = None, weights: Any = None,
              periodic: Any = False) -> Histogram:
    """Counts over equal bins of a coordinate, or of two: a Histogram.

    x, y: (frames,) or (frames, bodies); the samples of all bodies are counted together
    bins: number of bins; with y also a pair, one for each coordinate
    range: (low, high), with y two pairs; None: the smallest and the largest number. A bin includes its lower
        edge; the last bin includes both. Numbers outside and NaN are counted separately
    weights: (frames,) or the shape of x; None: all weights are 1
    periodic: True: the range is one period, and numbers are first moved into it; with y also a pair, one for each
        coordinate

    >>> analysis.histogram(np.array([0.1, 0.2, 0.9]), bins=2, range=(0, 1)).counts
    array([2., 1.])"""
    return binned(x, y, bins, range, weights, periodic, "histogram").histogram()


# ---- Potential of mean force ---------------------------------------------------------------------


def _jacobian(kind: Any, edges: Floats, caller: str) -> npt.NDArray[np.floating[Any]]:
    """The mean of the Jacobian over each bin."""
    if kind is None:
        return np.ones(len(edges) - 1)
    low, high = edges[:-1], edges[1:]
    if kind == "sin":
        if low[0] < -1e-12 or high[-1] > np.pi + 1e-12:
            raise InvalidError(f"{caller}: the Jacobian sin needs a range within 0 and pi, in rad, "
                               f"not {low[0]:.7g} to {high[-1]:.7g}; pi is 3.141592")
        return np.asarray((np.cos(low) - np.cos(high)) / (high - low))
    if kind == "cos":
        if max(-low[0], high[-1]) > np.pi / 2 + 1e-12:
            raise InvalidError(f"{caller}: the Jacobian cos needs a range within -pi/2 and pi/2, in "
                               f"rad, not {low[0]:.7g} to {high[-1]:.7g}; pi/2 is 1.570796")
        return np.asarray((np.sin(high) - np.sin(low)) / (high - low))
    if kind == "r2":
        if low[0] < 0:
            raise InvalidError(f"{caller}: the Jacobian r2 needs a range from 0 on, not {low[0]:g}")
        return np.asarray((high**2 + high * low + low**2) / 3)
    raise InvalidError(f"{caller}: jacobian is {kind!r}, not one of {_JACOBIANS}")


def potential_of_mean_force(x: Any, y: Any = None, *, bins: Any = 50, range: Any = None,
                            temperature: float = 300, jacobian: Any = None, weights: Any = None,
                            periodic: Any = False, blocks: int = 5) -> MeanForcePotential:
    """Computes -k T ln(p / J) along one coordinate, or over two, in kJ/mol. Returns a MeanForcePotential.

    x, y, bins, range, weights, periodic: as in histogram; weights undo a bias: exp(bias / k T)
    temperature: in K
    jacobian: J, the density of the coordinate without any force; its mean over each bin is used. None: J is 1;
        "sin": for an angle in rad from 0 to pi between two axes, such as theta of euler_zyz (most directions
        are near pi / 2); "cos": for an angle from 0 to pi / 2 between an axis and a plane, such as
        tilt_deg; "r2": for a distance in three dimensions. With y, a pair: one for each coordinate
    blocks: the number of blocks of frames, for errors

    InvalidError if no sample is within the range.

    >>> x = np.random.default_rng(1).normal(size=100000)
    >>> analysis.potential_of_mean_force(x, bins=3, range=(-1.5, 1.5)).value.round(1)
    array([1.1, 0. , 1.2])"""
    caller = "potential_of_mean_force"
    scale = GAS_CONSTANT * positive(temperature, caller, "temperature")
    parts = count(blocks, caller, "blocks", 2)
    samples = binned(x, y, bins, range, weights, periodic, caller)
    found = samples.histogram()
    total = found.counts.sum()
    if not total > 0:
        raise InvalidError(f"{caller}: no sample is within the range, {found.outside:g} are outside "
                           f"and {found.nan:g} are NaN")
    measure = np.ones(())
    for kind, edges in zip(_each(jacobian, len(found.edges), caller, "jacobian"), found.edges):
        measure = np.multiply.outer(measure, _jacobian(kind, edges, caller) * np.diff(edges))
    density = found.counts / total / measure
    length = len(samples.inside) // parts
    error = np.full(density.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(found.counts > 0, -scale * np.log(density), np.nan)
        lowest = int(np.nanargmin(value))
        if length:
            each = np.stack([samples.counts(slice(b * length, (b + 1) * length))
                             for b in np.arange(parts)])
            curves = -scale * np.log((each.sum(axis=0) - each) / measure)
            flat = curves.reshape(parts, -1)
            spread = jackknife(flat - flat[:, lowest:lowest + 1])
            error = np.where(np.isfinite(spread), spread, np.nan).reshape(density.shape)
    return MeanForcePotential(value - value.ravel()[lowest], error, density, found,
                              float(temperature))
