# SPDX-License-Identifier: Apache-2.0
"""Least squares, triangles, factors, exponentials and generalised eigenvalues: closed forms, arguments and errors.
test_linalg_random.py has random systems."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import collet
from collet import linalg

RNG = np.random.default_rng(11)
KINDS = [np.asarray, collet.asarray]


@pytest.fixture(name="kind", params=KINDS, ids=["numpy", "Array"])
def fixture_kind(request):
    return request.param


def close(found, wanted, rtol=1e-12):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol * max(1, abs(wanted).max(initial=0)))


def is_kind(found, kind):
    return isinstance(found, collet.Array) == (kind is collet.asarray)


def test_lstsq(kind):
    a = np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]])
    found = linalg.lstsq(kind(a), kind(np.array([-1, 0.2, 0.9, 2.1])))
    close(found.x, [-0.95, 1])
    close(found.residuals, [0.05])
    assert int(found.rank) == 2 and all(is_kind(part, kind) for part in found)
    x, residuals, rank, s = linalg.lstsq(kind(a), kind(a))
    close(x, np.eye(2))
    close(residuals, [0, 0])
    low = np.outer([1.0, 2, 3], [1.0, 1])  # rank 1: the solution of smallest norm
    found = linalg.lstsq(kind(low), kind(np.array([1.0, 2, 3])))
    close(found.x, [0.5, 0.5])
    assert found.residuals.shape == (0,) and int(found.rank) == 1
    assert linalg.lstsq(kind(np.stack([low, low])), kind(np.ones((2, 3, 2)))).residuals.shape == (2, 2)


def test_rcond(kind):
    a = np.diag([1.0, 1e-3, 1e-20])
    for rcond, rank in ((None, 2), (-1, 2), (1e-2, 1), (1e-30, 3), (0, 3), (2, 0)):
        assert int(linalg.lstsq(kind(a), kind(np.ones(3)), rcond).rank) == rank
    for rcond, rank in ((None, 2), (1e-2, 1)):
        assert linalg.null_space(kind(a), rcond).shape == (3, 3 - rank) and linalg.orth(kind(a), rcond).shape == (3, rank)
    # Singular values below 2 eps (the order is 2) count as 0 by default; with -1, singular values below eps.
    eps = np.diag([1, 1.5 * 2.0**-52])
    assert int(linalg.lstsq(kind(eps), kind(np.ones(2))).rank) == 1
    assert int(linalg.lstsq(kind(eps), kind(np.ones(2)), -1).rank) == 2


def test_empty_systems(kind):
    for rows, order in itertools.product((0, 2), repeat=2):
        found = linalg.lstsq(kind(np.zeros((rows, order))), kind(np.zeros((rows, 3))))
        assert found.x.shape == (order, 3) and found.s.shape == (min(rows, order),) and int(found.rank) == 0
        assert linalg.orth(kind(np.zeros((rows, order)))).shape == (rows, 0)
        close(linalg.null_space(kind(np.zeros((rows, order)))).shape, (order, order))
    nothing = kind(np.zeros((0, 0)))
    assert linalg.solve_triangular(nothing, kind(np.zeros((0, 2)))).shape == (0, 2)
    assert linalg.expm(nothing).shape == (0, 0) and linalg.eigh(nothing, nothing).eigenvectors.shape == (0, 0)
    assert linalg.lu_solve(linalg.lu_factor(nothing), kind(np.zeros(0))).shape == (0,)
    assert linalg.expm(kind(np.zeros((0, 2, 2)))).shape == (0, 2, 2)
    assert collet.grad(lambda x: collet.sum(linalg.expm(x)))(np.zeros((0, 0))).shape == (0, 0)


@pytest.mark.parametrize("dtypes, wanted", [("ff", "f"), ("fd", "d"), ("li", "d"), ("Ff", "F"), ("fD", "D"), ("eb", "d")])
def test_dtypes(kind, dtypes, wanted):
    a, b = np.eye(3).astype(dtypes[0]), np.ones((3, 1), dtypes[1])
    for name in ("lstsq", "solve_triangular", "tensorsolve"):
        found = getattr(linalg, name)(kind(a), kind(b if name != "tensorsolve" else b[:, 0]))
        assert (found.x if name == "lstsq" else found).dtype == wanted, name
    assert linalg.lu_solve(linalg.lu_factor(kind(a)), kind(b)).dtype == np.result_type(linalg.inv(a), wanted)
    alone = np.dtype({"e": "f", "l": "d"}.get(dtypes[0], dtypes[0]))
    for name in ("expm", "orth", "null_space", "tensorinv"):
        given = kind(a) if name != "tensorinv" else kind(a[:, :, None])
        found = getattr(linalg, name)(given) if name != "tensorinv" else linalg.tensorinv(given, 1)
        assert found.dtype == alone and is_kind(found, kind), name
    assert linalg.lu_factor(kind(a))[1].dtype == np.int32 and linalg.multi_dot([kind(a), kind(b)]).dtype == np.result_type(a, b)


@pytest.mark.parametrize("order", [1, 5, 64, 65, 200])
def test_triangles_of_every_size(kind, order):
    """Matrices of order above 64 are solved by halves. Elements outside the triangle are not read, nor is the diagonal
    with unit_diagonal."""
    a = RNG.normal(size=(order, order)) / order + 2 * np.eye(order)
    b = RNG.normal(size=(order, 2))
    for lower, triangle in ((False, np.triu), (True, np.tril)):
        for unit in (False, True):
            matrix = triangle(a) if not unit else triangle(a, k=-1 if lower else 1) + np.eye(order)
            given = np.where(triangle(np.ones((order, order)), k=(-1 if lower else 1) if unit else 0) == 1, a, np.nan)
            found = linalg.solve_triangular(kind(given), kind(matrix @ b), lower=lower, unit_diagonal=unit)
            close(found, b)
            close(linalg.solve_triangular(kind(given), kind(matrix.T @ b[:, 0]), "T", lower, unit), b[:, 0])


def test_lapack_form_of_lu(kind):
    """The pivots are exchanges of rows. Applied to a one after the other, they give L U."""
    for shape in ((4, 4), (5, 3), (3, 5), (2, 3, 3)):
        a = RNG.normal(size=shape)
        packed, pivots = (np.asarray(part) for part in linalg.lu_factor(kind(a)))
        steps = min(shape[-2:])
        for matrix, lu, piv in zip(a.reshape(-1, *shape[-2:]).copy(), packed.reshape(-1, *shape[-2:]), pivots.reshape(-1, steps)):
            for k, at in enumerate(piv):
                assert at >= k
                matrix[[k, at]] = matrix[[at, k]]
            close((np.tril(lu, -1)[:, :steps] + np.eye(shape[-2], steps)) @ np.triu(lu)[:steps], matrix)


def test_batches_are_broadcast(kind):
    a, b = RNG.normal(size=(3, 1, 4, 4)) + 4 * np.eye(4), RNG.normal(size=(2, 4, 2))
    wanted = np.linalg.inv(a) @ b
    close(linalg.lu_solve(linalg.lu_factor(kind(a)), kind(b)), wanted)
    close(linalg.lstsq(kind(a), kind(b)).x, wanted)
    positive = a @ np.swapaxes(a, -1, -2)
    close(linalg.cho_solve(linalg.cho_factor(kind(positive)), kind(b)), np.linalg.inv(positive) @ b, 1e-10)
    close(linalg.solve_triangular(kind(np.triu(a)), kind(b)), np.linalg.inv(np.triu(a)) @ b)
    close(linalg.lu_solve(linalg.lu_factor(kind(a)), kind(b[0, :, 0])), np.linalg.inv(a) @ b[0, :, 0])
    close(linalg.multi_dot([kind(x) for x in (a, b, b.swapaxes(-1, -2))]), a @ (b @ b.swapaxes(-1, -2)))
    close(linalg.expm(kind(a[:, 0]))[1], linalg.expm(kind(a[1, 0])))
    assert linalg.null_space(kind(np.ones((2, 3, 3)))).shape == (2, 3, 2)


def test_singular_systems(kind):
    a = np.stack([np.eye(3), np.diag([1.0, 0, 1]), np.zeros((3, 3))])
    for solve in (linalg.solve_triangular, lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b)):
        with pytest.raises(linalg.LinAlgError, match="solve_triangular: matrix 1 is singular"):
            solve(kind(a), kind(np.ones((3, 3, 1))))
    for call in (lambda: linalg.tensorsolve(kind(a[2]), kind(np.ones(3))), lambda: linalg.tensorinv(kind(a[2]), 1)):
        with pytest.raises(linalg.LinAlgError, match="is singular"):
            call()
    with pytest.raises(linalg.LinAlgError, match="matrix b is not positive definite"):
        linalg.eigh(kind(a[0]), kind(a[1]))
    with pytest.raises(linalg.LinAlgError, match="not positive definite"):
        linalg.cho_factor(kind(a))
    linalg.solve_triangular(kind(a[1]), kind(np.ones(3)), unit_diagonal=True)


def test_bad_arguments(kind):
    eye, b = kind(np.eye(3)), kind(np.ones(2))
    for name in ("lstsq", "solve_triangular", "solve"):
        with pytest.raises(collet.ShapeError, match=rf"{name}: a has the shape \(3, 3\) and b \(2,\); b needs 3 rows"):
            getattr(linalg, name)(eye, b)
    with pytest.raises(collet.ShapeError, match="lu_solve: lu has the shape"):
        linalg.lu_solve(linalg.lu_factor(eye), b)
    for solve in (linalg.solve_triangular, lambda a, b, trans: linalg.lu_solve(linalg.lu_factor(a), b, trans)):
        with pytest.raises(ValueError, match="trans is 3; it can be 0 or 'N'"):
            solve(eye, kind(np.ones(3)), 3)
    with pytest.raises(ValueError, match="multi_dot: 1 arrays"):
        linalg.multi_dot([eye])
    with pytest.raises(collet.ShapeError, match="array 1 has 1 axes"):
        linalg.multi_dot([eye, kind(np.ones(3)), eye])
    with pytest.raises(collet.ShapeError, match="2 rows and 4 columns"):
        linalg.tensorsolve(kind(np.ones((2, 4))), b)
    with pytest.raises(ValueError, match="ind is 0"):
        linalg.tensorinv(eye, 0)
    with pytest.raises(collet.ShapeError, match="ranks from 1 to 2"):
        linalg.orth(kind(np.stack([np.eye(2), np.ones((2, 2))])))
    with pytest.raises(collet.ShapeError, match="orders of their matrices have to be equal"):
        linalg.eigh(eye, kind(np.eye(2)))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(eye, "l")


def test_orders_of_multi_dot(kind):
    """The matrix chain of the textbook CLRS, section 15.2: the best order needs 15,125 multiplications of numbers."""
    sizes = [30, 35, 15, 5, 10, 20, 25]
    best = linalg._composed._split(sizes)

    def cost(first, last):
        k = best[first, last]
        return 0 if first == last else cost(first, k - 1) + cost(k, last) + sizes[first] * sizes[k] * sizes[last + 1]

    assert cost(0, 5) == 15125
    chain = [RNG.integers(-3, 4, shape) for shape in itertools.pairwise(sizes)]
    assert np.array_equal(linalg.multi_dot([kind(x) for x in chain]), np.linalg.multi_dot(chain))
    for ends in (slice(None), slice(0, 2)):
        vectors = [chain[0][0], *chain[1:-1], chain[-1][:, 0]][ends]
        close(linalg.multi_dot([kind(x) for x in vectors]), np.linalg.multi_dot(vectors))


def test_tensors(kind):
    a, b = RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3))
    x = linalg.tensorsolve(kind(a), kind(b))
    close(np.tensordot(a, np.asarray(x), 1), b)
    close(np.tensordot(np.asarray(linalg.tensorinv(kind(a))), b, 2), np.asarray(x))
    moved = np.moveaxis(a.reshape(2, 3, 3, 2), (0, 1), (2, 0))
    close(linalg.tensorsolve(kind(moved), kind(b.T), axes=(1, 3)), np.linalg.tensorsolve(moved, b.T, axes=(1, 3)))
    close(linalg.tensorinv(kind(a.reshape(6, 2, 3)), 1), np.linalg.tensorinv(a.reshape(6, 2, 3), 1))


# ---- expm


def test_exponentials_in_closed_form(kind):
    values = np.array([0.0, 1, -2, 30, -700, 700])
    close(np.diagonal(linalg.expm(kind(np.diag(values)))) / np.exp(values), np.ones(6), 1e-12)
    for size in (1e-300, 1.0, 1e6, 1e100):  # nilpotent: the series ends
        a = size * np.eye(3, k=1)
        np.testing.assert_allclose(np.asarray(linalg.expm(kind(a))), np.eye(3) + a + a @ a / 2, rtol=1e-14)
    for angle in (1e-9, 1.0, 100.0):  # skew-symmetric: a rotation
        found = np.asarray(linalg.expm(kind(np.array([[0, -angle], [angle, 0]]))))
        close(found, [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], 1e-13)
    found = linalg.expm(kind(1j * np.diag([np.pi, -np.pi / 2])))
    close(found, np.diag([-1, -1j]), 1e-14)
    # the matrix is not normal, and its norm is 1e6 times the eigenvalues: scaling by the norm loses 6 digits
    a = np.array([[1, 1e6], [0, -1]])
    close(np.asarray(linalg.expm(kind(a)))[0] / [np.e, 1e6 * np.sinh(1)], [1, 1], 1e-14)
    assert np.isnan(np.asarray(linalg.expm(kind(np.full((2, 2), np.inf))))).all()


@pytest.mark.parametrize("dtype", "fdFD")
def test_exponentials_of_batches(kind, dtype):
    """Each matrix of a batch is scaled separately."""
    a = RNG.normal(size=(5, 6, 6)) * np.array([0, 1e-3, 0.1, 2, 20])[:, None, None]
    a = (a - a.swapaxes(-1, -2)).astype(dtype)  # skew, so that the exponential is orthogonal
    a = a if dtype.islower() else (a + 1j * abs(a + a.swapaxes(-1, -2))).astype(dtype)
    found = linalg.expm(kind(a))
    assert found.dtype == dtype
    limit = 100 * np.finfo(dtype).eps
    for i, single in enumerate(a):
        close(np.asarray(found)[i] @ np.asarray(linalg.expm(kind(-single))), np.eye(6), 20 * limit)
        close(np.asarray(found)[i], linalg.expm(kind(single)), limit)
    values, vectors = np.linalg.eig(a[3].astype("D"))
    close(np.asarray(found)[3], (vectors * np.exp(values)) @ np.linalg.inv(vectors), 10 * limit)


def test_exponentials_beside_scipy():
    scipy = pytest.importorskip("scipy.linalg")
    for order, scale in itertools.product((1, 3, 10, 70), (1e-8, 0.3, 3, 30)):
        a = RNG.normal(size=(order, order)) * scale / np.sqrt(order)
        wanted = scipy.expm(a)
        np.testing.assert_allclose(linalg.expm(a), wanted, atol=1e-12 * abs(wanted).max())


# ---- Determinants and solutions at the ends of the range


def exact_determinant(a):
    """Computes the determinant by elimination in rational numbers."""
    a, found = [[Fraction(x) for x in row] for row in a.tolist()], Fraction(1)
    for k in range(len(a)):
        pivot = next((i for i in range(k, len(a)) if a[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            a[k], a[pivot], found = a[pivot], a[k], -found
        found *= a[k][k]
        for row in a[k + 1:]:
            factor = row[k] / a[k][k]
            row[k:] = [x - factor * y for x, y in zip(row[k:], a[k][k:])]
    return found


@pytest.mark.parametrize("order", [2, 3, 5, 9])
@pytest.mark.parametrize("scales", [(1e200,), (1e-200,), (1e200, 1e-200), (1e150, 1, 1e-150), (1e-310,), (1e300, 1e-308)])
def test_determinants_at_the_ends_of_the_range(kind, order, scales):
    for axis in (0, 1):
        a = RNG.normal(size=(order, order)) * np.expand_dims(np.resize(scales, order), 1 - axis)
        wanted = exact_determinant(a)
        size = abs(wanted)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        sign, logarithm = linalg.slogdet(kind(a))
        assert float(sign) == (1 if wanted > 0 else -1)
        reduced = float(size / Fraction(2) ** exponent)
        np.testing.assert_allclose(float(logarithm), exponent * np.log(2) + np.log(reduced), rtol=1e-12, atol=1e-11)
        found = float(linalg.det(kind(a)))
        if exponent > 1024:
            assert found == (np.inf if wanted > 0 else -np.inf)
        elif exponent > -1000:
            np.testing.assert_allclose(found, float(wanted), rtol=1e-11)
        elif exponent < -1080:
            assert found == 0


@pytest.mark.parametrize("dtype", "dD")
def test_backward_errors_at_the_ends_of_the_range(kind, dtype):
    """In each row the residual is small relative to |a| |x|, whatever the scales of rows and columns."""
    for order, scales in itertools.product((3, 7, 40), ((1e200,), (1e-200,), (1e150, 1e-150), (1e-290, 1e-10))):
        a = RNG.normal(size=(order, order)) + (1j * RNG.normal(size=(order, order)) if dtype == "D" else 0)
        a = a * 2.0 ** np.floor(np.log2(np.resize(scales, order)))
        x = np.asarray(linalg.solve(kind(a), kind(np.ones(order))))
        shift = 2.0 ** np.floor(np.log2(abs(a).max(0)))
        residual = (a / shift) @ (x * shift) - 1
        assert abs(residual).max() <= 1e-13 * order * (1 + (abs(a / shift) @ abs(x * shift)).max())


def test_numpy_calls_them():
    a = collet.asarray(RNG.normal(size=(4, 3)))
    for found, wanted in zip(np.linalg.lstsq(a, a, rcond=None), np.linalg.lstsq(a.to_numpy(), a.to_numpy(), rcond=None)):
        assert isinstance(found, collet.Array)
        close(found, wanted)
    for found in (np.linalg.multi_dot([a, a.T, a]), np.linalg.tensorsolve(collet.eye(3), a[0]),
                  np.linalg.tensorinv(collet.eye(3), ind=1), np.linalg.eigh(collet.eye(3), "U")[0]):
        assert isinstance(found, collet.Array)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("order", [2, 5, 40])
def test_systems_of_extreme_scales(dtype, order):
    """If rows and columns are scaled by any powers of two, the solution is as accurate as without the scaling."""
    rng = np.random.default_rng(order)
    a = rng.normal(size=(order, order)) + 4 * np.eye(order)
    a = (a + 1j * rng.normal(size=a.shape) if dtype == "c16" else a).astype(dtype)
    x = rng.normal(size=(order, 2)).astype(dtype)
    b = a @ x
    for powers in [1000, -900, *[0] * (order - 2)], [1000] * order, [-1000] * order, [*rng.integers(-1000, 1000, order - 1), 900]:
        factors = np.ldexp(1.0, powers)
        for kind in np.asarray, collet.asarray:
            found = np.asarray(linalg.solve(kind(a * factors[:, None]), kind(b * factors[:, None])))
            np.testing.assert_allclose(found, x, rtol=0, atol=1e-12 * abs(x).max())
            found = np.asarray(linalg.solve(kind(a * factors), kind(b))) * factors[:, None]
            np.testing.assert_allclose(found, x, rtol=0, atol=1e-12 * abs(x).max())
