# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_friction.py
"""Friction and memory of a velocity, and torque against the change of angular momentum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _host, op
from ..._core import InvalidError, ShapeError
from ._blocks import count, first, jackknife, others
from ._correlation import Correlation
from ._profile import GAS_CONSTANT, binned
from ._series import Floats, positive

_METHODS = ("integral", "initial_slope", "exponential_fit")


@dataclass(frozen=True)
class Friction:
    """gamma: moment_of_inertia / tau_c, in amu nm^2/ps if the moment is in amu nm^2 and times are in ps
    tau_c: correlation time of the velocity
    diffusion_coeff: k T / gamma, rad^2/ps
    gamma_error, tau_c_error: standard errors by the blocks of the correlation function"""

    gamma: float
    gamma_error: float
    tau_c: float
    tau_c_error: float
    diffusion_coeff: float
    method: str


@dataclass(frozen=True)
class AnisotropicFriction:
    """Friction of rotations about the long axis (parallel) and about axes perpendicular to it (perp); anisotropy:
    gamma of perp over gamma of parallel."""

    parallel: Friction
    perp: Friction
    anisotropy: float


@dataclass(frozen=True, eq=False)
class FrictionMap:
    """gamma, tau_c, counts: (theta bins, psi bins); gamma and tau_c are NaN where there are too few counts
    edges: the edges of the bins of theta and of psi"""

    gamma: Floats
    tau_c: Floats
    counts: Floats
    edges: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class MemoryKernel:
    """lag: (lags,), in the unit of acf.lag
    value: K, in 1 over the square of lag's unit
    integral: the integral of K from 0 on, which rises to the friction divided by the mass. integral[0] is
        the friction without memory: a delta function in K that `value` does not contain
    value_error, integral_error: standard errors by blocks
    step_error: an estimate of the error of value that the steps between lags cause, from the kernel of every second lag
        (Richardson); NaN if there are fewer than 10 lags"""

    lag: Floats
    value: Floats
    value_error: Floats
    integral: Floats
    integral_error: Floats
    step_error: Floats


@dataclass(frozen=True, eq=False)
class TorqueConsistency:
    """derivative: dL/dt by central differences; residual: derivative - torque. (frames, ..., 3)
    relative: root mean square of residual / root mean square of torque; frames at the ends do not count
    slope: the least-squares slope in derivative = slope * torque; correlation: of derivative and torque"""

    derivative: Floats
    residual: Floats
    relative: float
    slope: float
    correlation: float


# ---- Friction ------------------------------------------------------------------------------------


def _integral_time(shares: Floats, dt: float) -> float:
    end = first(shares <= 0, len(shares))
    return dt * float(shares[:end].sum() - 0.5) if 0 < end < len(shares) else float("nan")


def _slope_time(shares: Floats, dt: float) -> float:
    drop = 1 - float(shares[1])
    return dt / drop if drop > 0 else float("nan")


def _fitted_time(shares: Floats, dt: float) -> float:
    """Returns tau of exp(-t / tau), fitted by least squares to the values before the first value that is not
    positive."""
    end = first(shares <= 0, len(shares))
    times, values = dt * np.arange(end), shares[:end]
    start = _integral_time(shares, dt)
    rate = 1 / start if start > 0 else _first_rate(values, dt)
    for _ in range(100):
        model = np.exp(-rate * times)
        slope = -times * model
        power = float(slope @ slope)
        if not power > 0:
            return float("nan")
        step = float(slope @ (values - model)) / power
        rate = max(rate + step, rate / 2)
        if abs(step) <= 1e-13 * rate:
            break
    return 1 / rate


def _first_rate(values: Floats, dt: float) -> float:
    """The rate of the exponential through 1 at lag 0 and the last value."""
    fall = max(-float(np.log(values[-1])), 1e-3)
    return fall / (dt * max(len(values) - 1, 1))


_TIMES: dict[str, Callable[[Floats, float], float]] = {
    "integral": _integral_time, "initial_slope": _slope_time, "exponential_fit": _fitted_time}


def extract_friction_from_acf(acf: Correlation, moment_of_inertia: float,
                              temperature: float = 300, method: str = "integral") -> Friction:
    """Computes the friction of a rotation. The correlation function of its velocity is C(t) = exp(-gamma t / I).
    Returns a Friction.

    acf: the result of autocorrelation for angular velocities, with lags in ps
    moment_of_inertia: in amu nm^2; temperature: in K
    method: how the correlation time follows from C / C[0]: "integral": its integral_time;
        "initial_slope": from the value at the first lag; "exponential_fit": by least squares over all lags before
        the first lag at which C is not positive
    Results are NaN if C has no such time. The function and its arguments have the names that they have in the package
    rotmd (docs/from-rotmd.md). The units are nm and kJ/mol, and the integral ends where C first falls to 0.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> round(analysis.extract_friction_from_acf(analysis.autocorrelation(x), 1.0).tau_c, 1)
    0.5"""
    caller = "extract_friction_from_acf"
    if method not in _TIMES:
        raise InvalidError(f"{caller}: method is {method!r}, not one of {_METHODS}")
    inertia = positive(moment_of_inertia, caller, "moment_of_inertia")
    heat = GAS_CONSTANT * positive(temperature, caller, "temperature")
    if len(acf.lag) < 3:
        raise ShapeError(f"{caller}: acf has {len(acf.lag)} lags; it must have at least 3")
    dt = float(acf.lag[1])
    tau = _TIMES[method](acf.value / acf.value[0], dt)
    error = gamma_error = float("nan")
    if acf.blocks.shape[1] >= 3:
        rest = others(acf.blocks)
        estimates = np.array([_TIMES[method](curve / curve[0], dt) for curve in rest])
        error = float(jackknife(estimates))
        gamma_error = float(jackknife(inertia / estimates))
    gamma = inertia / tau
    return Friction(gamma, gamma_error, tau, error, heat / gamma, method)


def anisotropic_friction_tensor(omega_parallel_acf: Correlation, omega_perp_acf: Correlation,
                                i_parallel: float, i_perp: float, temperature: float = 300,
                                method: str = "integral") -> AnisotropicFriction:
    """The results of extract_friction_from_acf for the rotations about the long axis and across it.

    i_parallel, i_perp: moments of inertia about the long axis and across it

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> acf = analysis.autocorrelation(x)
    >>> round(analysis.anisotropic_friction_tensor(acf, acf, 1.0, 2.0).anisotropy, 2)
    2.0"""
    parallel = extract_friction_from_acf(omega_parallel_acf, i_parallel, temperature, method)
    perp = extract_friction_from_acf(omega_perp_acf, i_perp, temperature, method)
    return AnisotropicFriction(parallel, perp, perp.gamma / parallel.gamma)


def orientation_dependent_friction(theta: Any, psi: Any, omega: Any, dt: float,
                                   moment_of_inertia: float, *, bins: Any = (10, 12),
                                   range: Any = ((0, 90), (0, 360)), lags: int = 200,
                                   min_samples: int = 50) -> FrictionMap:
    """Computes moment_of_inertia / tau_c in each bin of orientations. tau_c is the integral of the correlation of
    omega from frames whose orientation is in the bin: C[k] = mean of omega[t] . omega[t + k] over t in the bin.
    Returns a FrictionMap.

    theta, psi: (frames,), angles, in the unit of `range`; omega: (frames, 3)
    bins, range: numbers of bins and ranges of theta and of psi; psi is periodic
    lags: longest lag of the integral, in frames; the integral ends where C first falls to 0
    min_samples: results of bins with fewer frames are NaN

    >>> theta, psi = np.random.default_rng(1).uniform(0, 90, (2, 5000))
    >>> omega = np.random.default_rng(2).normal(size=(5000, 3))
    >>> found = analysis.orientation_dependent_friction(theta, psi, omega, 0.1, 1.0, bins=(3, 4), lags=10)
    >>> found.gamma.shape
    (3, 4)"""
    caller = "orientation_dependent_friction"
    dt, inertia = (positive(dt, caller, "dt"),
                   positive(moment_of_inertia, caller, "moment_of_inertia"))
    velocity = _host.array(omega, np.float64, f"{caller}: omega")
    if velocity.ndim != 2 or velocity.shape[1] != 3 or len(velocity) < 3:
        raise ShapeError(f"{caller}: omega must be frames x 3, at least 3 frames")
    if not np.isfinite(velocity).all():
        raise InvalidError(f"{caller}: omega has numbers that are not finite")
    found = binned(theta, psi, bins, range, None, (False, True), caller)
    if found.inside.shape != (len(velocity), 1):
        raise ShapeError(f"{caller}: theta and psi must be as long as omega, {len(velocity)}")
    longest = min(count(lags, caller, "lags", 2), len(velocity) - 1)
    size = int(np.prod(found.shape))
    curves = np.empty((longest + 1, size))
    index = np.where(found.inside[:, 0], found.index[:, 0], size)  # one more bin, for frames outside of the range
    for k in np.arange(longest + 1):
        products = np.einsum("fi,fi->f", velocity[:len(velocity) - k], velocity[k:])
        where = index[:len(products)]
        pairs = np.bincount(where, minlength=size + 1)[:size]
        with np.errstate(invalid="ignore", divide="ignore"):
            curves[k] = np.bincount(where, products, size + 1)[:size] / pairs
    counts = found.counts()
    times = np.full(size, np.nan)
    for b in np.flatnonzero(counts.ravel() >= min_samples):
        if curves[0, b] > 0:
            times[b] = _integral_time(curves[:, b] / curves[0, b], dt)
    tau = times.reshape(found.shape)
    return FrictionMap(inertia / tau, tau, counts, tuple(found.edges))


# ---- Memory --------------------------------------------------------------------------------------


def _derivatives(curve: Floats, dt: float) -> Floats:
    return np.asarray(np.gradient(curve, dt, axis=-1, edge_order=2))


# Weights of five values in the derivatives at the first, the second and the middle value, times 12 dt: fourth order.
_FIVE = np.array([[-25, 48, -36, 16, -3], [-3, -10, 18, -6, 1], [1, -8, 0, 8, -1]], np.float64)


def _slopes(curves: Floats, dt: float) -> Floats:
    """The derivatives of rows, by formulas of fourth order. K(0) follows from the first of these derivatives: if their
    errors were of second order, the error of K(0) would be of first order."""
    n = curves.shape[-1]
    if n < 5:
        return _derivatives(curves, dt)
    found = np.empty_like(curves)
    found[:, :2] = curves[:, :5] @ _FIVE[:2].T
    found[:, -2:] = -(curves[:, :-6:-1] @ _FIVE[1::-1].T)
    found[:, 2:-2] = sum(_FIVE[2, k] * curves[:, k:n - 4 + k] for k in np.arange(5))
    return found / (12 * dt)


def _integrals(curves: Floats, dt: float) -> Floats:
    """Solves C[0] G(t) = -C'(t) - integral of G(s) C'(t - s) ds for G, by trapezoids, for each row C of `curves`."""
    shares = curves / curves[:, :1]
    slope = _slopes(shares, dt)
    found = np.empty_like(shares)
    found[:, 0] = -slope[:, 0]
    head = 1 + dt / 2 * slope[:, 0]
    for n in np.arange(1, shares.shape[1]):
        sums = np.einsum("bj,bj->b", found[:, 1:n], slope[:, n - 1:0:-1])
        found[:, n] = -(slope[:, n] + dt * (sums + found[:, 0] * slope[:, n] / 2)) / head
    return found


def memory_kernel(acf: Correlation, stop: float | None = None) -> MemoryKernel:
    """Computes K of the generalised Langevin equation dC/dt = -integral of K(s) C(t - s) ds over s from 0 to
    t, for the correlation function C of a velocity: a MemoryKernel.

    acf: the result of autocorrelation for a velocity in a constant potential
    stop: last lag, in the unit of acf.lag; None: half a block. The computing time grows with the square of stop

    The integral of K is computed as the solution of a Volterra equation of the second kind, by trapezoids (B.
    Kowalik et al., Phys. Rev. E 100 (2019) 012126); K is its derivative. Errors of both are of the
    order of dt^2; step_error estimates them. Errors grow with the lag. Issues a UserWarning if the integral exceeds
    1 / dt: C then falls within a step, and the solution diverges.

    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> x = np.convolve(x, np.ones(20), "same")
    >>> analysis.memory_kernel(analysis.autocorrelation(x), stop=5).value.shape
    (6,)"""
    caller = "memory_kernel"
    length = acf.blocks.shape[1]
    lags = len(acf.lag)
    last = min(length // 2, lags - 1) if stop is None else \
        int(np.searchsorted(acf.lag, positive(stop, caller, "stop") * (1 + 1e-9), "right")) - 1
    if last < 3:
        raise InvalidError(f"{caller}: {last} lags after 0, and a kernel needs 3: give more frames, "
                           "or a larger stop")
    dt = float(acf.lag[1])
    integral = _integrals(acf.value[None, :last + 1], dt)[0]
    value = _derivatives(integral, dt)
    largest = float(np.abs(integral).max())
    if not largest * dt <= 1:
        warnings.warn(f"{caller}: the integral of the kernel reaches {largest:.3g}, more than 1 / dt = "
                      f"{1 / dt:.3g}: the correlation falls within a step, and the solution diverges: "
                      "use frames that are closer together, or a smaller stop", stacklevel=2)
    error, integral_error = np.full(last + 1, np.nan), np.full(last + 1, np.nan)
    if last < length:
        estimates = _integrals(others(acf.blocks)[:, :last + 1], dt)
        integral_error, error = jackknife(estimates), jackknife(_derivatives(estimates, dt))
    lag = acf.lag[:last + 1]
    step_error = np.full(last + 1, np.nan)
    if last >= 9:
        coarse = _derivatives(_integrals(acf.value[None, :last + 1:2], 2 * dt)[0], 2 * dt)
        step_error = np.interp(lag, lag[::2], np.abs(value[::2] - coarse) / 3)
    return MemoryKernel(lag, value, error, integral, integral_error, step_error)


_FOLLOWS = 0.9  # dL/dt and torque agree if their correlation is at least this


# ---- Torque --------------------------------------------------------------------------------------


def torque_consistency(L: Any, torque: Any, dt: float = 1) -> TorqueConsistency:
    """Compares torque with the change of the angular momentum L. Returns a TorqueConsistency.

    L, torque: (frames, 3) or (frames, bodies, 3), at least 3 frames
    Differences have three causes. Frames may be too far apart: the error grows as the square of dt. Leap-frog
    integrators write velocities of half a step earlier. If the periodic box cuts a body, its torque is wrong.
    Raises InvalidError if all torque is 0. Issues a UserWarning if dL/dt and torque are correlated by less than 0.9:
    then the slope has no meaning.

    >>> t = 0.1 * np.arange(100)
    >>> L = np.stack([np.sin(t), np.cos(t), 0 * t], -1)
    >>> torque = np.stack([np.cos(t), -np.sin(t), 0 * t], -1)
    >>> float(analysis.torque_consistency(L, torque, 0.1).correlation) > 0.99
    True"""
    caller = "torque_consistency"
    dt = positive(dt, caller, "dt")
    momentum = _host.array(L, np.float64, f"{caller}: L")
    turning = _host.array(torque, np.float64, f"{caller}: torque")
    if momentum.shape != turning.shape or momentum.ndim not in (2, 3) or \
            momentum.shape[-1] != 3 or len(momentum) < 3:
        raise ShapeError(f"{caller}: L and torque are {momentum.shape} and {turning.shape}; they must "
                         "be frames x 3 or frames x bodies x 3, at least 3 frames")
    for values, name in ((momentum, "L"), (turning, "torque")):
        if not np.isfinite(values).all():
            raise InvalidError(f"{caller}: {name} has numbers that are not finite")
    times = dt * np.arange(len(momentum))
    bodies = momentum.reshape(len(momentum), -1, 3)
    derivative = np.stack([np.asarray(op.time_derivative(np.ascontiguousarray(bodies[:, b]),
                                                         times).derivative)
                           for b in range(bodies.shape[1])], axis=1).reshape(momentum.shape)
    inner, other = derivative[1:-1].ravel(), turning[1:-1].ravel()
    power = float(other @ other)
    if not power > 0:
        raise InvalidError(f"{caller}: torque is 0 in all frames between the first and the last")
    left = inner - other
    across = float(inner @ other)
    size = float(inner @ inner)
    correlation = across / np.sqrt(size * power) if size else 0.0
    if abs(correlation) < _FOLLOWS:
        warnings.warn(f"{caller}: dL/dt and torque are correlated by only {correlation:.2g}, so the slope has no "
                      "meaning: the frames are too far apart for dL/dt, or the torque acts on other "
                      "atoms", stacklevel=2)
    return TorqueConsistency(derivative, derivative - turning, float(np.sqrt(left @ left / power)),
                             across / power, correlation)
