# SPDX-License-Identifier: Apache-2.0
"""Diffusion tensors of collet.md.analysis for rotors and walkers whose tensor is known."""

import numpy as np
import pytest

import collet
from collet.md import analysis

random = np.random.default_rng(11)


def turned(vectors):
    """Rotation matrices of rotation vectors (..., 3), by Rodrigues."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    cross = np.zeros((*vectors.shape, 3))
    x, y, z = np.moveaxis(vectors, -1, 0)
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -z, y, -x
    cross -= np.swapaxes(cross, -1, -2)
    safe = np.where(angle > 0, angle, 1)
    return np.eye(3) + np.sin(angle) / safe * cross + (1 - np.cos(angle)) / safe**2 * cross @ cross


def random_rotation():
    q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def rotor(tensor, frames, bodies, dt):
    """Axes that rotate at random with this diffusion tensor. The tensor is in the frame of the axes."""
    steps = random.normal(size=(frames - 1, bodies, 3)) @ np.linalg.cholesky(2 * dt * tensor).T
    axes = np.empty((frames, bodies, 3, 3))
    axes[0] = [random_rotation() for _ in range(bodies)]
    turns = turned(steps)
    for i in range(1, frames):
        axes[i] = axes[i - 1] @ turns[i - 1]
    return axes


def perrin(a, b, volume_friction=1.0):
    """Diffusion coefficients of a prolate ellipsoid with the half axes a > b = b, by F. Perrin (J. Phys.
    Radium 7 (1936) 1): translation and rotation along and across the long axis. volume_friction is
    k T / (6 pi eta)."""
    p = b / a
    root = np.sqrt(1 - p**2)
    s = 2 / (a * root) * np.log((1 + root) / p)
    along = volume_friction * 3 / 8 * ((2 * a**2 - b**2) * s - 2 * a) / (a**2 - b**2)
    across = volume_friction * 3 / 16 * ((2 * a**2 - 3 * b**2) * s + 2 * a) / (a**2 - b**2)
    scale = volume_friction * 9 / 16
    spin = scale * (2 * a - b**2 * s) / ((a**2 - b**2) * b**2)
    tumble = scale * ((2 * a**2 - b**2) * s - 2 * a) / (a**4 - b**4)
    return (along, across), (spin, tumble)


def test_perrin_becomes_stokes():
    (along, across), (spin, tumble) = perrin(1.0001, 1.0)
    np.testing.assert_allclose([along, across], 1, rtol=1e-3)  # k T / (6 pi eta r)
    np.testing.assert_allclose([spin, tumble], 0.75, rtol=1e-3)  # k T / (8 pi eta r^3)


def test_ellipsoid_of_perrin():
    dt = 0.01
    (along, across), (spin, tumble) = perrin(2.5, 1.0)
    body = random_rotation()
    rotations = body @ np.diag([spin, tumble, tumble]) @ body.T
    axes = rotor(rotations, 4000, 12, dt)
    found = analysis.rotational_diffusion_tensor(axes, dt, blocks=8)
    assert found.lags > 10 and found.start == dt
    assert (np.abs(found.tensor - rotations) < 5 * found.error + 0.01 * spin).all()
    exact = np.sort([spin, tumble, tumble])
    assert (np.abs(found.values - exact) < 5 * found.values_error + 0.01 * spin).all()
    assert found.values_error[2] < 0.1 * spin
    assert abs(found.frame[:, 2] @ body[:, 0]) > 0.95
    np.testing.assert_allclose(np.linalg.det(found.frame), 1)

    moves = body @ np.diag([along, across, across]) @ body.T
    steps = random.normal(size=(3999, 12, 3)) @ np.linalg.cholesky(2 * dt * moves).T
    x = np.concatenate([np.zeros((1, 12, 3)),
                        np.einsum("fbij,fbj->fbi", axes[:-1], steps).cumsum(axis=0)])
    found = analysis.translational_diffusion_tensor(x, dt, dt, 20 * dt, axes=axes, blocks=8)
    assert (np.abs(found.tensor - moves) < 5 * found.error).all()
    assert abs(found.frame[:, 2] @ body[:, 0]) > 0.95 and found.error.max() < 0.1 * along
    free = analysis.translational_diffusion_tensor(x, dt, dt, 20 * dt, blocks=8)
    mean = (along + 2 * across) / 3  # the body tumbles: in the laboratory all directions are equivalent
    assert np.abs(free.tensor - mean * np.eye(3)).max() < 0.15 * mean


def test_exact_tensor_of_given_correlations():
    """A body that turns about one axis alone, by equal steps: <R(0)^T R(t)> = cos(t)."""
    angle = 0.01 * np.arange(3000)
    axes = turned(np.stack([0 * angle, 0 * angle, angle], -1))
    found = analysis.rotational_diffusion_tensor(axes, 0.5, 10, 20)
    cosine = np.cos(0.01 * np.arange(20, 41))
    slope = np.polyfit(np.arange(20, 41) * 0.5, -np.log(cosine), 1)[0]
    # -log M = tr D - D: slopes (s, s, 0) of D = (0, 0, s)
    np.testing.assert_allclose(found.tensor, np.diag([0, 0, slope]), atol=1e-10)


def test_steps_are_taken_along_the_axes_before():
    """A body that swims along its first axis and turns by large steps."""
    axes = turned(random.normal(size=(200, 3)))
    x = np.concatenate([np.zeros((1, 3)), axes[:-1, :, 0].cumsum(axis=0)])
    found = analysis.translational_diffusion_tensor(x, 1, 4, 6, axes=axes)
    # the body moves by lag along axis 0: half the slope of a line through lag^2 at lags 4 to 6 is 5
    np.testing.assert_allclose(found.tensor, np.diag([5, 0, 0]), atol=1e-9)


def test_walk_with_correlated_directions():
    tensor = np.array([[2, 0.5, 0], [0.5, 1, -0.2], [0, -0.2, 0.7]])
    x = (random.normal(size=(4000, 10, 3)) @ np.linalg.cholesky(2 * tensor).T).cumsum(axis=0)
    found = analysis.translational_diffusion_tensor(x, 1, 1, 30)
    assert (np.abs(found.tensor - tensor) < 5 * found.error).all() and found.error.max() < 0.2
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(found.tensor))
    one = analysis.translational_diffusion_tensor(x, 1, 1, 30)
    trace = analysis.diffusion(analysis.mean_square_displacement(x), 1, 30)
    np.testing.assert_allclose(np.trace(one.tensor) / 3, trace.value)
    still = analysis.translational_diffusion_tensor(
        x, 1, 1, 30, axes=np.broadcast_to(np.eye(3), (4000, 10, 3, 3)))
    np.testing.assert_allclose(still.tensor, found.tensor)
    assert np.isnan(analysis.translational_diffusion_tensor(x, 1, 1, 3000).error).all()


AXES = np.broadcast_to(np.eye(3), (50, 3, 3))


@pytest.mark.parametrize("call, error, words", [
    (lambda: analysis.rotational_diffusion_tensor(AXES[:, 0]), collet.ShapeError, "50 x 3; they"),
    (lambda: analysis.rotational_diffusion_tensor(2 * AXES), collet.InvalidError,
     "frame 0, body 0 are not three orthogonal"),
    (lambda: analysis.rotational_diffusion_tensor(np.nan * AXES), collet.InvalidError, "frame 0"),
    (lambda: analysis.rotational_diffusion_tensor(AXES, 1, 60, 70), collet.InvalidError, "0 lags"),
    (lambda: analysis.rotational_diffusion_tensor(rotor(5 * np.eye(3), 200, 1, 1.0), 1, 50, 99),
     collet.InvalidError, "fall to 0: give a smaller stop"),
    (lambda: analysis.translational_diffusion_tensor(np.zeros((50, 1))), collet.ShapeError,
     "1 component"),
    (lambda: analysis.translational_diffusion_tensor(np.full((50, 3), np.nan)),
     collet.InvalidError, "x is nan at frame 0, component 0"),
    (lambda: analysis.translational_diffusion_tensor(np.zeros((51, 3)), axes=AXES),
     collet.ShapeError, "axes have 50 frames and 1 bodies, but x has 51 and 1")])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
