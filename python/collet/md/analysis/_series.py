# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Series of frames, and the engine's curves of series."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _host
from ..._core import InvalidError, ShapeError

Floats = npt.NDArray[np.floating[Any]]

_AT_ONCE = 2**22  # numbers that are Fourier-transformed at a time: 32 MiB


def positive(value: Any, caller: str, name: str) -> float:
    """Returns the value as a finite float above 0. Raises InvalidError for others."""
    number = _host.number(value, f"{caller}: {name}")
    if not isinstance(number, (int, float)) or not 0 < number < float("inf"):
        raise InvalidError(f"{caller}: {name} is {value!r}; it must be a finite number above 0")
    return float(number)


class Series:
    """x as (bodies, components, frames) of float64, a slab of bodies at a time.

    x : F frames of B bodies: (F, B, 3) or (F, B, 1). (F, 3), (F, 1) and (F,) are frames of one body."""

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
        self.given = given
        self.x = given.reshape(len(given), 1, -1) if given.ndim < 3 else given
        self.frames, self.bodies, self.components = self.x.shape

    def place(self, frame: int, body: int, component: int | None = None) -> str:
        """The text that names an element of x in a message."""
        words = f"frame {frame}" + (f", body {body}" if len(self.shape) == 3 else "")
        return words + (f", component {component}" if component is not None and len(self.shape) > 1
                        else "")

    def made(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """function(x, *arguments) of collet._analysis."""
        single = self.given.dtype == np.float32
        x = self.given if single else \
            _host.array(self.given, np.float64, f"{self.caller}: {self.name}")
        try:
            return function(x, *arguments)
        except InvalidError as error:
            raise InvalidError(f"{self.caller}: {error}") from None

    def slabs(self, rows: int) -> Iterator[tuple[int, Floats]]:
        """The first body of each slab, and a copy of its numbers. `rows`: how many numbers the caller
        computes for each frame of a body. Raises InvalidError as numbers() does."""
        step = max(1, _AT_ONCE // (2 * self.frames * rows))
        for body in range(0, self.bodies, step):
            yield body, np.array(np.moveaxis(self.numbers(body, step), 0, 2), order="C")

    def numbers(self, body: int = 0, count: int | None = None) -> Floats:
        """The numbers of `count` bodies (None: all) from `body` on, as float64 (frames,
        bodies, components). May share memory with x. Raises InvalidError if a number is not finite."""
        end = None if count is None else body + count
        part = _host.array(self.x[:, body:end], np.float64, f"{self.caller}: {self.name}")
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            frame, b, component = bad[0]
            raise InvalidError(f"{self.caller}: {self.name} is {part[frame, b, component]} at "
                               f"{self.place(frame, body + b, component)}: leave such frames out, or "
                               "interpolate")
        return part
