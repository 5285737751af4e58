# SPDX-License-Identifier: Apache-2.0
"""Random systems of any shape, rank, batch, dtype and scale. The results of collet.linalg have the required
properties and agree with NumPy's results. COLLET_TEST_SYSTEMS is the number of systems."""

import os

import numpy as np
import pytest

import collet
from collet import linalg

SEEDS = int(os.environ.get("COLLET_TEST_SYSTEMS", 150))


class System:
    """A matrix of known rank whose singular values are from 1 to 10 times its scale, and right sides. `unit` and
    `sides` are the matrix and the right sides divided by their scales. The scales are powers of two."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.dtype = np.dtype(rng.choice(list("fdFD")))
        self.wide = self.dtype.char in "dD"
        self.kind = [np.asarray, collet.asarray][rng.integers(2)]
        self.rows, self.order = (int(rng.integers(0, most + 1)) for most in rng.choice([3, 8, 40], 2))
        self.batch = ((), (1,), (3,), (2, 2))[rng.choice(4, p=[0.55, 0.1, 0.2, 0.15])]
        least = min(self.rows, self.order)
        self.rank = least if rng.random() < 0.5 else int(rng.integers(0, least + 1))
        values = rng.uniform(1, 10, (*self.batch, 1, self.rank))
        u, v = self.orthonormal(self.rows, self.rank), self.orthonormal(self.order, self.rank)
        self.unit = ((u * values) @ np.swapaxes(v, -1, -2).conj()).astype(self.dtype)
        self.vector = not self.batch and rng.random() < 0.3
        self.sides = self.normal(self.rows, 1 if self.vector else int(rng.integers(1, 4)))
        most = 498 if self.wide else 49  # 1e150 or 1e15
        self.scale, self.sides_scale = (2.0 ** (2 * (int(rng.integers(-most, most + 1)) // 2)) for _ in range(2))
        self.tolerance = 60 * (2 + max(self.rows, self.order)) * np.finfo(self.dtype).eps

    def normal(self, *shape):
        made = self.rng.normal(size=(*self.batch, *shape))
        return (made + 1j * self.rng.normal(size=made.shape) if self.dtype.kind == "c" else made).astype(self.dtype)

    def orthonormal(self, rows, columns):
        return np.linalg.qr(self.normal(rows, columns).astype("D" if self.dtype.kind == "c" else "d"))[0]

    def given(self, unit, scale):
        return self.kind((unit * scale).astype(self.dtype))

    def small(self, found, size=1.0):
        """Raises unless the elements are at most the tolerance times size."""
        found = np.asarray(found)
        worst = abs(found).max(initial=0)
        assert worst <= self.tolerance * max(size, 1e-300), (worst / self.tolerance, size)


def host(found, dtype, factor=1.0):
    found = np.asarray(found)
    assert found.dtype == dtype, (found.dtype, dtype)
    return found.astype("D" if dtype.kind == "c" else "d") * factor


def adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


def check_ranks(s):
    """Least squares and bases."""
    a = s.given(s.unit, s.scale)
    real = np.finfo(s.dtype).dtype
    b = s.given(s.sides[:, 0] if s.vector else s.sides, s.sides_scale)
    rcond = None if s.rank else 0.5  # a matrix of rank 0 has only rounding errors
    found = linalg.lstsq(a, b, rcond)
    if s.rank:
        assert (np.asarray(found.rank) == s.rank).all() and found.rank.dtype == np.int64
    x = host(found.x, s.dtype, s.scale / s.sides_scale)
    assert x.shape == ((s.order,) if s.vector else (*s.batch, s.order, s.sides.shape[-1]))
    x = x[:, None] if s.vector else x
    error = s.sides - s.unit @ x
    s.small(adjoint(s.unit) @ error, 100 * np.linalg.norm(s.sides))  # the normal equations
    basis, null = (host(f(a, rcond), s.dtype) for f in (linalg.orth, linalg.null_space))
    assert basis.shape == (*s.batch, s.rows, s.rank) and null.shape == (*s.batch, s.order, s.order - s.rank)
    s.small(adjoint(basis) @ basis - np.eye(s.rank))
    s.small(adjoint(null) @ null - np.eye(s.order - s.rank))
    s.small(basis @ (adjoint(basis) @ s.unit) - s.unit, 10)
    s.small(s.unit @ null, 10)
    s.small(adjoint(null) @ x, np.linalg.norm(s.sides))  # the smallest norm
    sums = host(found.residuals, real, s.sides_scale**-2)
    if not s.batch and (s.rows <= s.order or s.rank < s.order):
        assert sums.shape == (0,)
    else:
        s.small(sums - (abs(error) ** 2).sum(-2), 10 + (abs(s.sides) ** 2).sum())
    values = host(found.s, real, 1 / s.scale)
    assert values.shape == (*s.batch, min(s.rows, s.order))
    s.small(values - np.linalg.svd(s.unit.astype("D"), compute_uv=False), 10)
    if not s.batch and s.rank:
        # 1e-4, because NumPy's default, eps times max(M, N), is too near to the rounding errors of float32
        wanted = np.linalg.lstsq(s.unit, s.sides, 1e-4)[0]
        s.small(x - wanted, 10 * np.linalg.norm(s.sides))
        assert len(np.linalg.lstsq(collet.asarray(s.unit), collet.asarray(s.sides), rcond=None)) == 4


def check_equations(s):
    """Factors and triangles. A residual is small relative to |a| |x|, whatever the condition number."""
    n = s.order
    unit, sides = s.normal(n, n), s.normal(n, 2)
    if not n:
        return
    unit[..., range(n), range(n)] += np.sign(unit[..., range(n), range(n)].real) * (1 + n)
    a, b, back = s.given(unit, s.scale), s.given(sides, s.sides_scale), s.scale / s.sides_scale
    transposes = (lambda x: x, lambda x: np.swapaxes(x, -1, -2), adjoint)
    factors = linalg.lu_factor(a)
    for trans, of in enumerate(transposes):
        x = host(linalg.lu_solve(factors, b, "NTC"[trans]), s.dtype, back)
        s.small(of(unit) @ x - sides, 10 + abs(of(unit)).max() * abs(x).max())
        for lower, triangle in ((True, np.tril), (False, np.triu)):
            x = host(linalg.solve_triangular(a, b, trans, lower), s.dtype, back)
            s.small(of(triangle(unit)) @ x - sides, 10 + abs(unit).max() * abs(x).max())
            x = host(linalg.solve_triangular(s.given(unit / (n + 1), 1), s.given(sides, s.sides_scale), trans, lower, True),
                     s.dtype, 1 / s.sides_scale)
            whole = triangle(unit / (n + 1), k=-1 if lower else 1) + np.eye(n)
            s.small(of(whole) @ x - sides, 10 + abs(whole).max() * abs(x).max() * n)
    positive = (unit @ adjoint(unit)).astype(s.dtype)
    positive[..., range(n), range(n)] = positive[..., range(n), range(n)].real
    c = s.given(positive, s.scale)
    for lower in (True, False):
        x = host(linalg.cho_solve(linalg.cho_factor(c, lower), b), s.dtype, back)
        s.small(positive @ x - sides, 10 + n * abs(positive).max() * abs(x).max())
    symmetric = ((unit + adjoint(unit)) / 2).astype(s.dtype)
    values, vectors = linalg.eigh(s.given(symmetric, s.sides_scale), c, UPLO=str(s.rng.choice(["L", "U"])))
    values = host(values, np.finfo(s.dtype).dtype, back)
    vectors = host(vectors, s.dtype, s.scale**0.5)
    gram = adjoint(vectors) @ positive @ vectors
    size = np.linalg.cond(positive.astype("D")).max()
    s.small(gram - np.eye(n), size)
    s.small(symmetric @ vectors - positive @ vectors * values[..., None, :], size * abs(symmetric).max() * abs(vectors).max())
    assert (np.diff(values) >= 0).all()


def check_products(s):
    n = s.order
    chain = [s.normal(p, q) for p, q in ((s.rows, n), (n, 3), (3, n))]
    found = host(linalg.multi_dot([s.kind(x) for x in chain]), s.dtype)
    s.small(found - chain[0] @ (chain[1] @ chain[2]), 10 * n + 10)
    a = (s.normal(n, n) * (10.0 ** s.rng.uniform(-8, 1) / (n + 1))).astype(s.dtype)
    there, back = (host(linalg.expm(s.kind(x)), s.dtype) for x in (a, -a))
    s.small(there @ back - np.eye(n), 100 * max(1, abs(there).max(initial=1) * abs(back).max(initial=1)))


def check(seed):
    system = System(seed)
    for part in (check_ranks, check_equations, check_products):
        part(system)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_systems(seed):
    check(seed)
