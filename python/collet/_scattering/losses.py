# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter_gradients.py
"""Losses of patterns, for collet.scatter.loss_and_grad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _host
from .._core import InvalidError, ShapeError
from .patterns import Floats, choice, extents

if TYPE_CHECKING:
    from ..scatter import Result

_ARRAYS = ("values", "polar", "mean", "parallel", "perpendicular", "anisotropy")


@dataclass(eq=False)
class LeastSquares:
    """A loss for loss_and_grad: half the sum of ((simulated - data) / sigma)**2.

    data: numbers, with the shape of the array `of`. Elements that are NaN in the data or in the simulation are
        left out
    sigma: standard deviations, a number or an array with the shape of the data
    of: the array to compare: "values" (the images), or an array of Integrals: "polar", "mean", "parallel",
        "perpendicular", "anisotropy"
    wedge: as in integrate()

    Calling it with a Result gives the loss and dL / dvalues. Raises ShapeError and InvalidError."""

    data: npt.ArrayLike
    sigma: npt.ArrayLike = 1.0
    of: str = "values"
    wedge: float = 90.0

    def __call__(self, result: Result) -> tuple[float, Floats]:
        choice("of", self.of, _ARRAYS)
        data = _host.array(self.data, float, "data")
        sigma = _host.array(self.sigma, float, "sigma")
        found = result.values if self.of == "values" else getattr(
            result.integrate(self.wedge, dtype="float64"), self.of)
        if data.shape != found.shape or sigma.shape not in ((), data.shape):
            raise ShapeError(f"data are {extents(data.shape)}, sigma {extents(sigma.shape)} and the simulated values "
                             f"{extents(found.shape)}; the shapes must be equal")
        known = np.isfinite(data) & np.isfinite(found)
        if not np.all(np.broadcast_to(sigma, data.shape)[known] > 0):
            raise InvalidError("sigma must be positive wherever data are known")
        off = np.where(known, (found - data) / sigma, 0.0)
        by = off / sigma
        loss = 0.5 * float(np.sum(off * off))
        if self.of == "values":
            return loss, by
        return loss, result.cotangents(wedge=self.wedge, **{self.of: by})
