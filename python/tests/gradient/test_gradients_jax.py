# SPDX-License-Identifier: Apache-2.0
"""Gradients agree with JAX in float64, for random functions and for functions of complex arrays. Skipped without
JAX."""

import types

import numpy as np
import pytest
from programs import inputs, program

import collet

jax = pytest.importorskip("jax")
scipy = pytest.importorskip("jax.scipy.linalg")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)


def compare(found, wanted, limit=1e-9):
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=limit, atol=limit * max(1, abs(wanted).max()))


@pytest.mark.parametrize("seed", range(200))
def test_random_functions(seed):
    text, function = program(seed)
    x, y = inputs(seed)
    ours = collet.value_and_grad(lambda x, y: function(collet, x, y), argnums=(0, 1))(x, y)
    theirs = jax.value_and_grad(lambda x, y: function(jnp, x, y), argnums=(0, 1))(x, y)
    compare(ours[0], theirs[0])
    for found, wanted in zip(ours[1], theirs[1]):
        compare(found, wanted)


@pytest.mark.parametrize("seed", range(20))
def test_hessians(seed):
    text, function = program(seed, steps=4)
    x, y = inputs(seed)
    ours = collet.hessian(lambda x: function(collet, x, y))(x)
    compare(ours, jax.hessian(lambda x: function(jnp, x, y))(x), 1e-8)


generator = np.random.default_rng(2)
Z, W = (generator.normal(size=(3, 3)) + 1j * generator.normal(size=(3, 3)) for _ in range(2))
R = generator.normal(size=(3, 3))


def hermitian(xp, z):
    return z @ xp.conj(z).T + 3.0 * xp.eye(3)


COMPLEX = [
    lambda xp, z: xp.real(z), lambda xp, z: xp.imag(z), lambda xp, z: xp.abs(z), lambda xp, z: xp.real(z * W),
    lambda xp, z: xp.abs(z * z)**2, lambda xp, z: xp.real(z * xp.conj(z)),
    lambda xp, z: xp.imag(xp.conj(z) * W / z),
    lambda xp, z: xp.real(xp.exp(1j * z)), lambda xp, z: xp.abs(xp.sin(z) + xp.cos(z * W)),
    lambda xp, z: xp.real(z**3),
    lambda xp, z: xp.imag(xp.log(z)), lambda xp, z: xp.abs(xp.sqrt(z) - xp.tanh(z)),
    lambda xp, z: xp.real(1 / z),
    lambda xp, z: xp.real(z**(1 + 2j)), lambda xp, z: xp.abs(2.0**z), lambda xp, z: xp.real(z @ W),
    lambda xp, z: xp.abs(W @ z @ z),
    lambda xp, z: xp.real(xp.where(R > 0, z, xp.conj(z)) * W), lambda xp, z: xp.abs(xp.sum(z, axis=0)),
    lambda xp, z: xp.abs(xp.mean(z * z, axis=1)), lambda xp, z: xp.real(z[::-1, np.array([0, 0, 2])] * W),
    lambda xp, z: xp.abs(xp.fft.fft(z)), lambda xp, z: xp.fft.irfft(z) + xp.real(xp.fft.ifft(z * z))[:, :1],
    lambda xp, z: xp.abs(xp.fft.rfft(xp.real(z)))**2, lambda xp, z: xp.abs(xp.fft.fftn(z, norm="ortho"))**3,
    lambda xp, z: xp.abs(xp.linalg.inv(z)), lambda xp, z: xp.real(xp.linalg.solve(z, W)),
    lambda xp, z: xp.abs(xp.linalg.det(z)),
    lambda xp, z: xp.linalg.slogdet(z).logabsdet, lambda xp, z: xp.real(xp.linalg.slogdet(z).sign * (1 + 2j)),
    lambda xp, z: xp.real(xp.linalg.cholesky(hermitian(xp, z)) * W),
    lambda xp, z: xp.linalg.eigvalsh(hermitian(xp, z)) * R,
    lambda xp, z: xp.linalg.svd(z, compute_uv=False) * R, lambda xp, z: xp.linalg.norm(z),
    lambda xp, z: xp.real(xp.einsum(
        "ij,kj->ik", z, W)), lambda xp, z: xp.real(xp.vecdot(z, W)), lambda xp, z: xp.real(xp.vecdot(W, z)),
    lambda xp, z: xp.real(xp.prod(z, axis=0) * W), lambda xp, z: xp.imag(xp.cumulative_sum(z, axis=0) * W),
    lambda xp, z: xp.abs(xp.concat([z, W * z])), lambda xp, z: xp.imag(xp.asin(z) * xp.atan(z)),
]


@pytest.mark.parametrize("number", range(len(COMPLEX)))
def test_complex(number):
    function = COMPLEX[number]
    for point in Z, R:  # R is real; of() converts it to complex numbers
        def of(xp, z):
            found = function(xp, z * (1 + 0j))
            return xp.sum(found * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape))
        wanted = jax.grad(lambda z: of(jnp, z))(point)
        compare(collet.grad(lambda z: of(collet, z))(point), wanted, 1e-8)


# la is the module with linear algebra, of Collet or of JAX and SciPy; z is a matrix.
LINEAR = [
    lambda la, z: la.lstsq(z[:, :2], W)[0], lambda la, z: la.lstsq(z[:2], W[:2])[0], lambda la, z: la.lstsq(W[:, :2], z)[0],
    lambda la, z: la.expm(z), lambda la, z: la.expm(20 * z),
    *(lambda la, z, t=t, l=l: la.solve_triangular(z, W, trans=t, lower=l) for t in (0, 1, 2) for l in (False, True)),
    lambda la, z: la.solve_triangular(z, z, unit_diagonal=True), lambda la, z: la.lu_factor(z)[0],
    *(lambda la, z, t=t: la.lu_solve(la.lu_factor(z), W, t) for t in (0, 1, 2)),
    lambda la, z: la.cho_solve((la.cholesky(z @ z.T.conj() + 3 * np.eye(3)), True), W),
    lambda la, z: la.multi_dot([z[0], z, W, z, W[0]]), lambda la, z: la.tensorsolve(z, W[0]),
    lambda la, z: la.tensorinv(z, 1), lambda la, z: la.tensorsolve(z.T, z[0], axes=(0,)),
]


@pytest.mark.parametrize("number", range(len(LINEAR)))
def test_linear_algebra(number):
    theirs = types.SimpleNamespace(**{**vars(scipy), **vars(jnp.linalg)})
    for point in Z, R:
        def of(xp, la, z):
            found = LINEAR[number](la, z)
            return xp.sum(xp.real(found * (2 - 1j)) * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape))
        wanted = jax.grad(lambda z: of(jnp, theirs, z))(point)
        compare(collet.grad(lambda z: of(collet, collet.linalg, z))(point), wanted, 1e-8)


def test_vjp_and_jacobian():
    """The results are complex, or real functions of complex arguments."""
    value, pullback = collet.vjp(lambda z: z * z * W, Z)
    theirs, back = jax.vjp(lambda z: z * z * W, Z)
    compare(value, theirs)
    compare(pullback(collet.asarray(W))[0], back(jnp.asarray(W))[0])
    compare(collet.jacobian(lambda x: collet.tanh(x @ R))(R), jax.jacobian(lambda x: jnp.tanh(x @ R))(R))
