# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_tensors.py
"""Diffusion tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _analysis, _host
from ..._core import InvalidError, ShapeError
from ._blocks import bound, chosen_lags, count, jackknife, others
from ._rotation import warn_of_signs
from ._series import Floats, Series, positive

_PAIRS = ((0, 1), (0, 2), (1, 2))
_ORTHOGONAL = 1e-3  # tolerance for axes in float32, and for files with few digits


@dataclass(frozen=True, eq=False)
class DiffusionTensor:
    """A diffusion tensor, in the square of x's unit, or rad^2, over the unit of lag.

    tensor, error: (3, 3), in the frame of the axes, or without axes in the laboratory's frame; and standard errors
    values, values_error: (3,), the tensor's eigenvalues, ascending, and their standard errors
    frame: (3, 3), the eigenvectors as columns, right-handed
    start, stop, lags: first and last lag of the fit, and the number of lags
    Errors are NaN if the fit goes beyond the lags of a block."""

    tensor: Floats
    error: Floats
    values: Floats
    values_error: Floats
    frame: Floats
    start: float
    stop: float
    lags: int


def _axes(axes: Any, caller: str) -> Floats:
    """Checks axes and returns them as (frames, bodies, 3, 3), with orthogonal axes as columns."""
    found = _host.array(axes, np.float64, f"{caller}: axes")
    if found.ndim not in (3, 4) or found.shape[-2:] != (3, 3) or not found.size:
        shape = " x ".join(map(str, found.shape)) or "a scalar"
        raise ShapeError(f"{caller}: axes are {shape}; they must be frames x 3 x 3, or frames x "
                         "bodies x 3 x 3, with the axes as columns")
    found = found.reshape(len(found), -1, 3, 3)
    wrong = np.abs(np.einsum("fbij,fbik->fbjk", found, found) - np.eye(3)).max(axis=(2, 3))
    bad = np.argwhere(~(wrong < _ORTHOGONAL))
    if len(bad):
        raise InvalidError(f"{caller}: axes at frame {bad[0][0]}, body {bad[0][1]} are not three "
                           "orthogonal unit vectors")
    return found


def _symmetric(diagonal: Floats, sums: Floats) -> Floats:
    """The tensors C(i, j), (..., lags, 3, 3). `diagonal` has the curves C(i) of the components, `sums` the curves
    C(i + j) of the sums of two, (3, ..., lags) each: C(i + j) = C(i) + C(j) + 2 C(i, j)."""
    made = np.empty((*diagonal.shape[1:], 3, 3))
    for i in range(3):
        made[..., i, i] = diagonal[i]
    for (i, j), both in zip(_PAIRS, sums):
        made[..., i, j] = made[..., j, i] = (both - diagonal[i] - diagonal[j]) / 2
    return made


def _slopes(curves: Floats, lags: Floats) -> Floats:
    """The slopes of least-squares lines with an intercept, over the axis of lags, the third from the end."""
    times = lags - lags.mean()
    return np.asarray(np.einsum("k,...kij->...ij", times / (times @ times), curves))


def _fitted(whole: Floats, parts: Floats, lags: Floats, chosen: Any,
            tensor_of: Callable[[Floats], Floats]) -> DiffusionTensor:
    """The tensor from curves (lags, 3, 3), and its errors from the curves of blocks (blocks, lags, 3, 3)."""
    tensor = tensor_of(_slopes(whole[chosen], lags[chosen]))
    values, frame = np.linalg.eigh(tensor)
    if np.linalg.det(frame) < 0:
        frame = -frame
    error, values_error = np.full((3, 3), np.nan), np.full(3, np.nan)
    if chosen[-1] < parts.shape[1]:
        estimates = tensor_of(_slopes(parts[:, chosen], lags[chosen]))
        if np.isfinite(estimates).all():
            error = jackknife(estimates)
            values_error = jackknife(np.linalg.eigvalsh(estimates))
    return DiffusionTensor(tensor, error, values, values_error, frame, float(lags[chosen[0]]),
                           float(lags[chosen[-1]]), len(chosen))


# ---- Rotation ------------------------------------------------------------------------------------


def _correlations(axes: Floats, blocks: int) -> tuple[Floats, Floats]:
    """Computes the symmetric part of <R(0)^T R(t)>, (lags, 3, 3), for all frames and for each block."""
    curves: list[tuple[Floats, Floats]] = []
    for i, j in ((0, 0), (1, 1), (2, 2), *_PAIRS):
        x = axes[..., i] if i == j else axes[..., i] + axes[..., j]
        curves.append(_analysis.autocorrelation(x, blocks, False))
    whole, parts = (np.stack([c[k] for c in curves]) for k in (0, 1))
    return _symmetric(whole[:3], whole[3:]), _symmetric(parts[:3], parts[3:])


def _logarithms(curves: Floats) -> Floats:
    """-log of symmetric matrices; NaN for a matrix that is not positive definite."""
    values, vectors = np.linalg.eigh(curves)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(values > 0, -np.log(values), np.nan)
    return np.asarray(np.einsum("...ij,...j,...kj->...ik", vectors, logs, vectors))


def rotational_diffusion_tensor(axes: Any, dt: float = 1, start: float | None = None,
                                stop: float | None = None, *, blocks: int = 5) -> DiffusionTensor:
    """The rotational diffusion tensor of a body and its frame, in rad^2 over the unit of dt: a
    DiffusionTensor in the frame of the axes.

    axes: (frames, 3, 3) or (frames, bodies, 3, 3), three axes as columns that are fixed in the body, such as
        principal axes. The tensor's components refer to these axes
    start, stop: range of lags of the fit; None: from dt to where the smallest eigenvalue of
        <R(0)^T R(t)> falls below 1 / e, and to at most half a block

    In free rotational diffusion <R(0)^T R(t)> = exp(-(tr D - D) t) in any frame of the body (L. D.
    Favro, Phys. Rev. 119 (1960) 53): a line with an intercept is fitted to the logarithm, element by
    element. Raises InvalidError if the range has fewer than two lags, or correlations in it are not above
    0. Gives the same UserWarning as rotation.

    >>> turns = np.random.default_rng(1).normal(scale=0.1, size=(300, 3))
    >>> frames = [np.eye(3)]
    >>> for a, b, c in turns:
    ...     q = np.linalg.qr(np.eye(3) + np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]))[0]
    ...     frames.append(frames[-1] @ (q * np.sign(np.diag(q))))
    >>> analysis.rotational_diffusion_tensor(np.array(frames), 1, 1, 10).tensor.shape
    (3, 3)"""
    caller = "rotational_diffusion_tensor"
    dt = positive(dt, caller, "dt")
    rotations = _axes(axes, caller)
    warn_of_signs([np.einsum("fbij,fbij->fbj", rotations[1:], rotations[:-1])], caller,
                  "so is this tensor")
    whole, parts = _correlations(rotations, count(blocks, caller, "blocks", 2))
    lags, length = dt * np.arange(len(whole)), parts.shape[1]
    smallest = np.linalg.eigvalsh(whole)[:, 0]
    fast = np.flatnonzero(smallest < np.exp(-1))
    last = min(length // 2, int(fast[0]) - 1 if len(fast) else len(lags))
    low = bound(start, caller, "start", dt)
    high = bound(stop, caller, "stop", float(lags[max(last, min(2, len(lags) - 1))]))
    chosen = chosen_lags(lags, low, high, caller)
    logs = np.full_like(whole, np.nan)
    logs[chosen] = _logarithms(whole[chosen])
    if not np.isfinite(logs[chosen]).all():
        raise InvalidError(f"{caller}: correlations up to lag {high:g} fall to 0: give a smaller "
                           "stop, or more frames")
    rest = np.full_like(parts, np.nan)
    if chosen[-1] < length:
        rest[:, chosen] = _logarithms(others(parts)[:, chosen])

    def tensor_of(slopes: Floats) -> Floats:
        traces = np.trace(slopes, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(traces / 2 * np.eye(3) - slopes)

    return _fitted(logs, rest, lags, chosen, tensor_of)


# ---- Translation ---------------------------------------------------------------------------------


def _in_body(x: Floats, axes: Any, caller: str) -> Floats:
    """Positions whose steps between frames are the steps of x, projected on the axes of the earlier frame."""
    rotations = _axes(axes, caller)
    if rotations.shape[:2] != x.shape[:2]:
        raise ShapeError(f"{caller}: axes have {rotations.shape[0]} frames and {rotations.shape[1]} bodies, but x "
                         f"has {x.shape[0]} and {x.shape[1]}")
    steps = np.einsum("fbij,fbi->fbj", rotations[:-1], np.diff(x, axis=0))
    return np.concatenate([np.zeros((1, *x.shape[1:])), steps.cumsum(axis=0)])


def translational_diffusion_tensor(x: Any, dt: float = 1, start: float | None = None,
                                   stop: float | None = None, *, axes: Any = None,
                                   blocks: int = 5) -> DiffusionTensor:
    """The translational diffusion tensor, half the slope of <d_i d_j>, d = x(t) - x(0): a
    DiffusionTensor, in the laboratory or along the axes.

    x: (frames, 3) or (frames, bodies, 3), unwrapped positions, which do not jump at a periodic box
    axes: as in rotational_diffusion_tensor: gives the tensor along the axes of the body. Each step is projected on
        the axes of the previous frame, and d is the sum of these steps (Y. Han et al., Science 314 (2006)
        626): between two frames the body must turn little
    start, stop: range of lags of the fit, as in diffusion

    >>> x = np.cumsum(np.random.default_rng(1).normal(size=(1000, 3)), axis=0)
    >>> analysis.translational_diffusion_tensor(x, 1, 1, 10).tensor.shape
    (3, 3)"""
    caller = "translational_diffusion_tensor"
    dt = positive(dt, caller, "dt")
    parts_count = count(blocks, caller, "blocks", 2)
    series = Series(x, caller)
    if series.components != 3:
        raise ShapeError(f"{caller}: x has {series.components} component; it must be frames x 3 or "
                         "frames x bodies x 3")
    moved = series.numbers()
    if axes is not None:
        moved = _in_body(moved, axes, caller)
    curves = []
    for i, j in ((0, 0), (1, 1), (2, 2), *_PAIRS):
        one = moved[..., i] if i == j else moved[..., i] + moved[..., j]
        curves.append(Series(one[..., None], caller).made(_analysis.displacement, parts_count))
    whole, parts = (np.stack([c[k] for c in curves]) for k in (0, 1))
    lags, length = dt * np.arange(series.frames), parts.shape[-1]
    low = bound(start, caller, "start", float(lags[min(max(length // 10, 1), len(lags) - 1)]))
    high = bound(stop, caller, "stop", float(lags[length // 2]))
    return _fitted(_symmetric(whole[:3], whole[3:]), others(_symmetric(parts[:3], parts[3:])), lags,
                   chosen_lags(lags, low, high, caller), lambda slopes: slopes / 2)
