# SPDX-License-Identifier: Apache-2.0
"""Friction, memory and torque of collet.md.analysis, against closed forms."""

import numpy as np
import pytest

import collet
from collet.md import analysis

HEAT = 8.31446261815324e-3 * 310
random = np.random.default_rng(5)


def given(value, dt, blocks=()):
    """A Correlation with these values, made without a trajectory."""
    value = np.asarray(value)
    return analysis.Correlation(dt * np.arange(len(value)), value, 0 * value,
                                np.asarray(blocks or [value, value]), 0.0, 0.0, 0.0)


def ornstein(frames, tau, dt, count=()):
    rho = np.exp(-dt / tau)
    x = np.empty((frames, *count))
    x[0] = random.normal(size=count)
    noise = random.normal(size=x.shape) * (1 - rho**2)**0.5
    for i in range(1, frames):
        x[i] = rho * x[i - 1] + noise[i]
    return x


@pytest.mark.parametrize("method, limit", [("integral", 1e-3), ("initial_slope", 1e-2),
                                           ("exponential_fit", 1e-9)])
def test_friction_of_an_exponential(method, limit):
    time = 0.02 * np.arange(1500)
    value = np.r_[3 * np.exp(-time / 2), -1e-9]
    found = analysis.extract_friction_from_acf(given(value, 0.02), 50, 310, method)
    np.testing.assert_allclose([found.tau_c, found.gamma, found.diffusion_coeff],
                               [2, 25, HEAT / 25], rtol=limit)
    assert found.tau_c_error == 0 == found.gamma_error


def test_friction_of_a_process_within_errors():
    acf = analysis.autocorrelation(ornstein(20000, 2, 0.1, (4, 3)), 0.1)
    for method in ("integral", "exponential_fit"):
        found = analysis.extract_friction_from_acf(acf, 50, method=method)
        assert abs(found.tau_c - 2) < 4 * found.tau_c_error < 0.8
        assert abs(found.gamma - 25) < 4 * found.gamma_error + 0.5
    both = analysis.anisotropic_friction_tensor(acf, acf, 50, 100)
    np.testing.assert_allclose([both.anisotropy, both.parallel.gamma], [2, both.perp.gamma / 2])


def test_friction_depends_on_the_orientation():
    """A body that changes every 1000 frames between two orientations with different frictions."""
    parts = [ornstein(1000, (1, 4)[i % 2], 0.1, (3,)) for i in range(60)]
    theta = np.repeat(np.tile([20, 70], 30), 1000)
    found = analysis.orientation_dependent_friction(
        theta, np.zeros(60000), np.concatenate(parts), 0.1, 10, bins=(2, 1), lags=300)
    assert found.counts.tolist() == [[30000], [30000]]
    np.testing.assert_allclose(found.tau_c[:, 0], [1, 4], rtol=0.25)
    np.testing.assert_allclose(found.gamma, 10 / found.tau_c)
    few = analysis.orientation_dependent_friction(theta[:60], np.zeros(60), parts[0][:60], 0.1, 10,
                                                  bins=(2, 2))
    assert np.isnan(few.tau_c[1]).all() and few.counts.sum() == 60


def oscillator(time, decay, strength):
    """The correlation function C of the memory kernel K = strength decay exp(-decay t). It solves
    C'' + decay C' + strength decay C = 0 with C(0) = 1 and C'(0) = 0."""
    root = np.sqrt(complex(decay**2 / 4 - strength * decay))
    return (np.exp(-decay / 2 * time) *
            (np.cosh(root * time) + decay / (2 * root) * np.sinh(root * time))).real


@pytest.mark.parametrize("decay, strength", [(5.0, 1.0), (2.0, 6.0)])
def test_memory_of_an_exponential_kernel(decay, strength):
    errors = []
    for dt in (0.02, 0.01):
        time = dt * np.arange(round(2 / dt) + 1)
        acf = given(4 * oscillator(time, decay, strength), dt)
        found = analysis.memory_kernel(acf, 1.5)
        exact = strength * decay * np.exp(-decay * found.lag)
        whole = strength * (1 - np.exp(-decay * found.lag))
        errors.append([np.abs(found.integral - whole).max() / strength,
                       np.abs(found.value - exact)[1:-1].max() / strength / decay])
    assert len(found.lag) == 151 and errors[1][0] < 2e-3 and errors[1][1] < 0.02
    assert errors[1][0] < 0.35 * errors[0][0]  # the errors are of second order in dt


@pytest.mark.parametrize("dt", [0.1, 0.05, 0.025])
def test_memory_at_lag_0_and_errors_of_steps(dt):
    """K = 8 e^(-2 t): roots of s^2 + 2 s + 8."""
    time = dt * np.arange(round(8 / dt))
    roots = np.roots([1, 2, 8])
    acf = (((roots[0] + 2) * np.exp(roots[0] * time) - (roots[1] + 2) * np.exp(roots[1] * time)) / (roots[0] - roots[1])).real
    found = analysis.memory_kernel(given(acf, dt), 2)
    wrong = np.abs(found.value - 8 * np.exp(-2 * found.lag))
    assert wrong[0] < 20 * dt**2  # of second order
    assert (wrong < 2 * found.step_error + 1e-3).all() and found.step_error[0] < 2 * wrong[0]
    assert np.isnan(analysis.memory_kernel(given(acf, dt), 8 * dt).step_error).all()


def test_memory_of_a_process_without_memory():
    exact = analysis.memory_kernel(given(2 * np.exp(-0.5 * 0.1 * np.arange(100)), 0.1), 5)
    np.testing.assert_allclose(exact.integral, 0.5, atol=2e-3)
    acf = analysis.autocorrelation(ornstein(20000, 2, 0.1, (4, 3)), 0.1)
    found = analysis.memory_kernel(acf, 1)
    assert np.abs(found.integral - 0.5).max() < 0.1  # the integral is the friction from lag 0 on
    assert (np.abs(found.integral - 0.5) < 6 * found.integral_error + 0.02).all()
    assert np.isnan(analysis.memory_kernel(analysis.autocorrelation(ornstein(50, 2, 0.1)), 12)
                    .value_error).all()


def test_torque_is_the_change_of_angular_momentum():
    time = 0.01 * np.arange(400)[:, None] + np.array([0, 1, 2])
    L, torque = np.sin(time) + 4, np.cos(time)
    found = analysis.torque_consistency(L, torque, 0.01)
    np.testing.assert_allclose(found.derivative[1:-1], torque[1:-1] * np.sin(0.01) / 0.01)
    np.testing.assert_allclose([found.relative, found.slope, found.correlation],
                               [1 - np.sin(0.01) / 0.01, np.sin(0.01) / 0.01, 1], atol=1e-9)
    pair = analysis.torque_consistency(np.stack([L, 2 * L], 1), np.stack([torque, 2 * torque], 1),
                                       0.01)
    assert pair.residual.shape == (400, 2, 3)
    np.testing.assert_allclose(pair.residual[:, 1], 2 * found.residual, atol=1e-12)
    assert analysis.torque_consistency(L, -torque, 0.01).slope < -0.99
    with pytest.warns(UserWarning, match="dL/dt and torque are correlated by only"):
        analysis.torque_consistency(L, np.random.default_rng(1).normal(size=L.shape))


@pytest.mark.parametrize("call, error, words", [
    (lambda: analysis.extract_friction_from_acf(given([1, .5, -1], 1), 0), collet.InvalidError,
     "moment_of_inertia is 0"),
    (lambda: analysis.extract_friction_from_acf(given([1, .5, -1], 1), 1, method="fit"),
     collet.InvalidError, "method is 'fit'"),
    (lambda: analysis.extract_friction_from_acf(given([1, .5], 1), 1), collet.ShapeError, "2 lags"),
    (lambda: analysis.memory_kernel(given([1, .5, -1], 1)), collet.InvalidError, "needs 3"),
    (lambda: analysis.orientation_dependent_friction([1], [1], np.zeros((5, 3)), 1, 1),
     collet.ShapeError, "as long as omega, 5"),
    (lambda: analysis.torque_consistency(np.zeros((5, 3)), np.zeros((4, 3))), collet.ShapeError,
     r"\(5, 3\) and \(4, 3\)"),
    (lambda: analysis.torque_consistency(np.zeros((5, 3)), np.zeros((5, 3))), collet.InvalidError,
     "torque is 0"),
    (lambda: analysis.torque_consistency(np.full((5, 3), np.nan), np.zeros((5, 3))),
     collet.InvalidError, "L has numbers that are not finite")])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
