# SPDX-License-Identifier: Apache-2.0
"""The extension of collet.md.analysis. Programs do not import this module."""

from typing import Any

import numpy as np
import numpy.typing as npt

_Curve = npt.NDArray[np.float64]

def autocorrelation(x: Any, blocks: int, centered: bool, /) -> tuple[_Curve, _Curve]: ...
def displacement(x: Any, blocks: int, /) -> tuple[_Curve, _Curve]: ...
def rotation(axes: Any, blocks: int,
             /) -> tuple[_Curve, _Curve, _Curve, _Curve, _Curve, float]: ...
