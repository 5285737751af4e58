# SPDX-License-Identifier: Apache-2.0
"""The extension of collet.md. Not for programs."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

@final
class Extraction:
    def next(self) -> dict[str, npt.NDArray[np.float64]] | None: ...
    def collect(self) -> dict[str, npt.NDArray[np.float64]] | None: ...
    def meta(self) -> str | None: ...
    def close(self) -> None: ...

def open(topology: str | None, trajectory: str | None, selection: str | None, masses: str | None,
         mass_values: list[float] | None, reference: str | None, keys: str | None,
         axis: tuple[float, float, float], start: int, stop: int, step: int, batch_frames: int,
         batch_rows: int, progress: Callable[[int, float], Any] | None,
         source: tuple[Any, ...] | None, /) -> Extraction: ...
def quantities() -> list[tuple[str, str, str, tuple[int, ...]]]: ...
