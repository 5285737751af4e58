# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Series of frames, and sums over all pairs of frames a lag apart, by the op fft."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _host, op
from ..._core import InvalidError, ShapeError

Floats = npt.NDArray[np.floating[Any]]

_AT_ONCE = 2**22  # numbers that are transformed together: 32 MiB


def positive(value: Any, caller: str, name: str) -> float:
    """A finite number above 0."""
    number = _host.number(value, f"{caller}: {name}")
    if not isinstance(number, (int, float)) or not 0 < number < float("inf"):
        raise InvalidError(f"{caller}: {name} is {value!r}; it must be a finite number above 0")
    return float(number)


def _smooth(least: int) -> int:
    """The smallest number from `least` on without prime factors above 5."""
    found = 1
    while found < least:
        found *= 2
    odd = 1
    while odd < found:
        five = odd
        while five < found:
            even = five
            while even < least:
                even *= 2
            found = min(found, even)
            five *= 5
        odd *= 3
    return found


class Series:
    """x as (bodies, components, frames) of f64, a slab of bodies at a time.

    x : (F, B, 3), made of (F,), (F, 3), or (F, B, 3); with one component instead of three (F, 1) or
        (F, B, 1)"""

    def __init__(self, x: Any, caller: str, name: str = "x") -> None:
        self.caller, self.name = caller, name
        given = _host.array(x, None, f"{caller}: {name}")
        self.shape = given.shape
        shape = " x ".join(map(str, given.shape)) or "a scalar"
        if not 1 <= given.ndim <= 3 or (given.ndim > 1 and given.shape[-1] not in (1, 3)):
            raise ShapeError(f"{caller}: {name} is {shape}; it must be frames, frames x 3, or "
                             "frames x bodies x 3 (or x 1: scalars of bodies)")
        if not given.size:
            raise ShapeError(f"{caller}: {name} is {shape}: there is nothing to average")
        self.x = given.reshape(len(given), 1, -1) if given.ndim < 3 else given
        self.frames, self.bodies, self.components = self.x.shape

    def place(self, frame: int, body: int, component: int | None = None) -> str:
        """The words for a place in x."""
        words = f"frame {frame}" + (f", body {body}" if len(self.shape) == 3 else "")
        return words + (f", component {component}" if component is not None and len(self.shape) > 1
                        else "")

    def slabs(self, rows: int) -> Iterator[tuple[int, Floats]]:
        """The first body of each slab and its numbers, a copy; `rows`: series that the caller
        makes of a body. InvalidError as of numbers()."""
        step = max(1, _AT_ONCE // (2 * self.frames * rows))
        for body in range(0, self.bodies, step):
            yield body, np.array(np.moveaxis(self.numbers(body, step), 0, 2), order="C")

    def numbers(self, body: int = 0, count: int | None = None) -> Floats:
        """(frames, bodies, components) of f64, of some bodies or all, perhaps x itself. InvalidError
        for numbers that are not finite."""
        end = None if count is None else body + count
        part = _host.array(self.x[:, body:end], np.float64, f"{self.caller}: {self.name}")
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            frame, b, component = bad[0]
            raise InvalidError(f"{self.caller}: {self.name} is {part[frame, b, component]} at "
                               f"{self.place(frame, body + b, component)}: leave such frames out, or "
                               "interpolate")
        return part


def parts_of(rows: Floats, count: int) -> Floats:
    """(series, count, frames // count): consecutive parts of equal length, without the frames that
    are left."""
    length = rows.shape[1] // count
    return rows[:, :count * length].reshape(len(rows), count, length)


def power(rows: Floats) -> Floats:
    """Power spectra, summed over the first axis, of rows padded to at least twice their length."""
    *axes, length = rows.shape
    if not length:
        return np.zeros((*axes[1:], 0))
    points = _smooth(2 * length - 1)
    padded = np.zeros((*axes, points))
    padded[..., :length] = rows
    spectrum = np.asarray(op.fft(padded, axes=1, shape=(*axes, points // 2 + 1), dtype="c16"))
    parts = spectrum.view(np.float64).reshape(*spectrum.shape, 2)
    return np.asarray(np.einsum("s...c,s...c->...", parts, parts))


def pair_sums(spectra: Floats, length: int) -> Floats:
    """Sums over t of x[t] x[t + k], for k below length, from power()."""
    if not length:
        return np.zeros((*spectra.shape[:-1], 0))
    points = _smooth(2 * length - 1)
    made = op.fft(spectra.astype(np.complex128), axes=1, inverse=True,
                  shape=(*spectra.shape[:-1], points), dtype="f8")
    return np.asarray(made)[..., :length]


class CorrelationSums:
    """Sums for autocorrelations of all frames and of parts of them."""

    def __init__(self, frames: int, parts: int) -> None:
        self._frames, self._parts = frames, parts
        self._whole: Any = 0.0
        self._part: Any = 0.0

    def add(self, rows: Floats) -> None:
        """Adds series, (series, frames)."""
        self._whole = self._whole + power(rows)
        if self._parts:
            self._part = self._part + power(parts_of(rows, self._parts))

    def curves(self) -> tuple[Floats, Floats]:
        """sum x[t] x[t + k] / (frames - k), of all frames and of each part."""
        whole = pair_sums(self._whole, self._frames) / np.arange(self._frames, 0, -1)
        if not self._parts:
            return whole, np.zeros((0, 0))
        length = self._frames // self._parts
        return whole, pair_sums(self._part, length) / np.arange(length, 0, -1)


class DisplacementSums:
    """Sums for mean square displacements of all frames and of parts of them.

    A line through the first and the last frame is subtracted and its displacement added again to
    the means, so that a drift cancels no digits."""

    def __init__(self, frames: int, parts: int) -> None:
        self._lengths, self._parts = (frames, frames // parts), (1, parts)
        self._speed = 0.0  # sum of squares of slopes
        self._sums: list[list[Any]] = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]

    def add(self, rows: Floats) -> None:
        """Adds series, (series, frames), which it changes."""
        frames = rows.shape[1]
        slopes = (rows[:, -1] - rows[:, 0]) / max(frames - 1, 1)
        rows -= rows[:, :1] + slopes[:, None] * np.arange(frames)
        rows -= rows.mean(axis=1, keepdims=True)
        self._speed += float(slopes @ slopes)
        for sums, count in zip(self._sums, self._parts):
            part = parts_of(rows, count)
            sums[0] = sums[0] + power(part)
            sums[1] = sums[1] + np.einsum("s...,s...->...", part, part)
            sums[2] = sums[2] + np.einsum("s,s...->...", slopes, part)

    def curves(self) -> tuple[Floats, Floats]:
        """sum (x[t + k] - x[t])^2 / (frames - k), of all frames and of each part."""
        whole, parts = (self._curve(sums, length)
                        for sums, length in zip(self._sums, self._lengths))
        return whole[0], parts

    def _curve(self, sums: list[Any], length: int) -> Floats:
        spectra, squares, along = sums
        lags = np.arange(length)
        early, late = (np.cumsum(squares, axis=-1)[..., ::-1],
                       np.cumsum(squares[..., ::-1], axis=-1)[..., ::-1])
        before, after = (np.cumsum(along, axis=-1)[..., ::-1],
                         np.cumsum(along[..., ::-1], axis=-1)[..., ::-1])
        pairs = early + late - 2 * pair_sums(spectra, length) + 2 * lags * (after - before)
        curve = pairs / (length - lags) + self._speed * lags**2
        curve[..., :1] = 0
        return np.asarray(np.maximum(curve, 0))  # rounding may leave small negative numbers
