# SPDX-License-Identifier: Apache-2.0
"""Fits spheres with a shell, in a film, to a noisy anisotropy A(q) at three energies.

The unknowns are the radius of the cores, the thickness of the shells, and delta and beta of the shells along their
(radial) direction at each energy. scatter.loss_and_grad gives the gradient with respect to every voxel; the chain
rule turns it into the gradient with respect to the two lengths. Needs SciPy."""

import numpy as np
from scipy.optimize import minimize

from collet import scatter

ENERGIES = [284.0, 285.2, 287.0]
SHAPE, VOXEL = (16, 64, 64), 2.0  # voxels, nm
CENTRES = [(15.0, 30.0, 34.0), (15.0, 92.0, 26.0), (17.0, 36.0, 98.0), (16.0, 98.0, 90.0)]  # z, y, x in nm
ACROSS = [(6e-4, 3e-4), (4e-4, 9e-4), (9e-4, 6e-4)]  # delta, beta of the shells perpendicular to the radius
CORE = [1.5e-3, 6e-4, 1.5e-3, 6e-4]
MATRIX = [2e-4, 1e-4, 2e-4, 1e-4]
SIGMA = 0.005  # standard deviation of the noise of A(q)

TRUTH = np.array([9.0, 4.0, 1.5e-3, 0.8e-3, -0.6e-3, 2.4e-3, 2.0e-3, 1.2e-3])
GUESS = np.array([8.0, 5.0, 1.0e-3, 1.0e-3, 0.0, 1.6e-3, 1.4e-3, 1.0e-3])
SCALE = np.array([1.0, 1.0, *[1e-3] * 6])

place = np.stack(np.meshgrid(*((np.arange(n) + 0.5) * VOXEL for n in SHAPE), indexing="ij"), -1)
away = place - np.array(CENTRES)[:, None, None, None]  # from each centre: z, y, x
distance = np.linalg.norm(away, axis=-1)
nearest = np.take_along_axis(away, distance.argmin(0)[None, ..., None], 0)[0]
theta = np.arccos(nearest[..., 0] / np.linalg.norm(nearest, axis=-1))
psi = np.arctan2(nearest[..., 1], nearest[..., 2])


def spheres(radius):
    """The fraction of each voxel within the radius of the nearest centre, and its derivative: the edge of a
    sphere is as wide as a voxel."""
    t = np.tanh((radius - distance.min(0)) / (0.5 * VOXEL))
    return (1 + t) / 2, (1 - t * t) / VOXEL


def film(x):
    inner, outer = spheres(x[0])[0], spheres(x[0] + x[1])[0]
    shell = [[*x[2 + 2 * i:4 + 2 * i], *ACROSS[i]] for i in range(len(ENERGIES))]
    return scatter.Sample([scatter.Material(CORE, inner),
                           scatter.Material(shell, outer - inner, np.ones(SHAPE), theta, psi),
                           scatter.Material(MATRIX, 1 - outer)],
                          ENERGIES, VOXEL, angles=(0, 15, 165), mask=True)


def loss_of(scaled, measured):
    """The loss and its gradient for the scaled unknowns."""
    x = scaled * SCALE
    loss, (core, shell, matrix) = scatter.loss_and_grad(
        film(x), scatter.LeastSquares(measured, SIGMA, of="anisotropy"), wrt=["constants", "volume"])
    by_inner = np.sum((core.volume - shell.volume) * spheres(x[0])[1])
    by_outer = np.sum((shell.volume - matrix.volume) * spheres(x[0] + x[1])[1])
    return loss, SCALE * [by_inner + by_outer, by_outer, *shell.constants[:, :2].ravel()]


def fit():
    """Returns SciPy's result, the standard deviations of the unknowns, and the data."""
    measured = scatter.simulate(film(TRUTH), dtype="f64").integrate(dtype="f64").anisotropy
    measured += np.random.default_rng(1).normal(0, SIGMA, measured.shape)
    bounds = [(4, 10), (1, 6), *[(-5, 5), (0.01, 5)] * len(ENERGIES)]
    found = minimize(loss_of, GUESS / SCALE, args=(measured,), jac=True, method="L-BFGS-B", bounds=bounds,
                     options={"maxiter": 300, "ftol": 1e-12, "gtol": 1e-2})
    steps = 1e-4 * np.eye(len(TRUTH))
    hessian = [(loss_of(found.x + s, measured)[1] - loss_of(found.x - s, measured)[1]) / 2e-4 for s in steps]
    return found, np.sqrt(np.diag(np.linalg.inv(hessian))), measured


if __name__ == "__main__":
    found, deviations, measured = fit()
    print(f"{found.nit} iterations, {found.nfev} losses with gradients; "
          f"chi^2 / number of data = {2 * found.fun / np.isfinite(measured).sum():.2f}")
    names = ["radius", "shell"] + [f"{n} at {e}" for e in ENERGIES for n in ("delta", "beta")]
    for name, x, sigma, true in zip(names, found.x * SCALE, deviations * SCALE, TRUTH):
        print(f"{name:15} {x:10.3g} +- {sigma:.1g}   (true: {true:g})")
