# SPDX-License-Identifier: Apache-2.0
"""collet.linalg beside numpy.linalg."""

import numpy as np
import pytest

import collet
from collet import linalg

RNG = np.random.default_rng(7)
KINDS = [np.asarray, collet.asarray]


def close(found, wanted, rtol=1e-10):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol)


def complex_normal(shape, dtype="D"):
    values = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (values if dtype.isupper() else values.real).astype(dtype)


def orthonormal(q):
    close(np.swapaxes(q, -1, -2).conj() @ q - np.eye(q.shape[-1]), 0)


def kind_of(a):
    return collet.Array if isinstance(a, collet.Array) else np.ndarray


@pytest.fixture(name="kind", params=KINDS, ids=["numpy", "Array"])
def fixture_kind(request):
    return request.param


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
                                    ((5, 2, 3), (3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)),
                                    ((2, 3), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 2))])
def test_products(kind, shapes):
    a, b = (RNG.normal(size=s) for s in shapes)
    for name in ("matmul", "dot"):
        found = getattr(linalg, name)(kind(a), kind(b))
        assert type(found) is kind_of(kind(a))
        close(found, getattr(np, name)(a, b))
    close(linalg.outer(kind(a), kind(b)), np.outer(a, b))


@pytest.mark.parametrize("dtypes", ["FF", "DD", "dD", "Ff"])
def test_complex_products(kind, dtypes):
    for shapes in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4))):
        a, b = (complex_normal(s, d) for s, d in zip(shapes, dtypes))
        found = linalg.matmul(kind(a), kind(b))
        assert found.dtype == np.result_type(a, b)
        close(found, a @ b, 1e-5 if dtypes[0] == "F" else 1e-10)
    close(linalg.vdot(kind(a), kind(a)), np.vdot(a, a), 1e-5)


def test_numbers_in_products(kind):
    a = RNG.normal(size=(2, 3))
    close(linalg.dot(kind(a), 2), 2 * a)
    assert linalg.dot(kind(a.astype("f4")), 2).dtype == "f4" and linalg.dot(2, 3).dtype == "f8"
    close(linalg.vdot(kind(a), kind(a)), np.vdot(a, a))
    c = np.array([1j, 2])
    close(linalg.outer(kind(c), kind(c)), np.outer(c, c))
    assert linalg.matrix_transpose(kind(np.zeros((4, 2, 3), "i4"))).shape == (4, 3, 2)
    with pytest.raises(collet.ShapeError, match="no axes"):
        linalg.matmul(kind(a), 2)


@pytest.mark.parametrize("dtypes, wanted", [("ff", "f"), ("fd", "d"), ("ef", "f"), ("ei", "d"),
                                            ("?l", "l")])
def test_dtypes(kind, dtypes, wanted):
    a, b = (kind(np.ones((2, 2), d)) if d != "?" else np.ones((2, 2), d) for d in dtypes)
    found = linalg.matmul(a, b)
    assert found.dtype == wanted and (np.asarray(found) == 2).all()
    assert type(found) is (kind_of(b))


def test_other_arguments(kind):
    with pytest.raises(collet.DtypeError, match="numbers"):
        linalg.det(np.array([["a"]]))
    for function in (linalg.inv, linalg.det, linalg.eigh, linalg.cholesky):
        with pytest.raises(collet.ShapeError, match=r"\(2, 3\); square"):
            function(kind(np.ones((2, 3))))
    with pytest.raises(collet.ShapeError, match="matrices in the last"):
        linalg.svd(kind(np.ones(3)))


@pytest.mark.parametrize("dtype", "dD")
def test_equations(kind, dtype):
    a, b = complex_normal((5, 3, 3), dtype), complex_normal((5, 3, 2), dtype)
    close(linalg.solve(kind(a), kind(b)), np.linalg.solve(a, b))
    close(linalg.solve(kind(a[0]), kind(b[0, :, 0])), np.linalg.solve(a[0], b[0, :, 0]))
    close(linalg.solve(kind(a), kind(b[0, :, 0])), np.linalg.inv(a) @ b[0, :, 0])
    close(linalg.inv(kind(a)), np.linalg.inv(a))
    for n in (-2, 0, 1, 5):
        close(linalg.matrix_power(kind(a), n), np.linalg.matrix_power(a, n))
    singular = a.copy()
    singular[2] = 0
    with pytest.raises(np.linalg.LinAlgError, match="solve: matrix 2 is singular"):
        linalg.solve(kind(singular), kind(b))
    with pytest.raises(np.linalg.LinAlgError, match="inv: matrix 2 is singular"):
        linalg.inv(kind(singular))
    with pytest.raises(linalg.LinAlgError):
        linalg.inv(kind(np.zeros((2, 2))))
    assert np.isnan(np.asarray(linalg.inv(kind(np.full((2, 2), np.nan))))).all()


@pytest.mark.parametrize("dtype", "dD")
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 6, 3), (2, 3, 6)])
def test_decompositions(kind, shape, dtype):
    a = complex_normal(shape, dtype)
    rows, columns = shape[-2:]
    p, l, u = found = linalg.lu(kind(a))
    assert type(found.P) is kind_of(kind(a))
    close(np.asarray(p) @ np.asarray(l) @ np.asarray(u), a)
    for mode, width in (("reduced", min(rows, columns)), ("complete", rows)):
        q, r = (np.asarray(x) for x in linalg.qr(kind(a), mode))
        assert q.shape == (*shape[:-1], width) and r.shape == (*shape[:-2], width, columns)
        close(q @ r, a)
        orthonormal(q)
    close(linalg.qr(kind(a), "r"), linalg.qr(a).R)
    u, s, vh = linalg.svd(kind(a))
    assert u.shape[-1] == rows and vh.shape[-1] == columns
    close(s, np.linalg.svd(a, compute_uv=False))
    close(linalg.svdvals(kind(a)), np.asarray(s))
    for full in (True, False):
        u, s, vh = (np.asarray(x) for x in linalg.svd(kind(a), full_matrices=full))
        k = min(rows, columns)
        close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)
        orthonormal(u)
        orthonormal(np.swapaxes(vh, -1, -2))
    close(linalg.pinv(kind(a)), np.linalg.pinv(a))


def test_full_matrices_of_a_low_rank(kind):
    a = np.outer([1.0, 2, 3, 4], [1.0, 1])
    u, s, vh = (np.asarray(x) for x in linalg.svd(kind(a)))
    close(u.T @ u, np.eye(4))
    close((u[:, :2] * s) @ vh, a)
    assert int(linalg.matrix_rank(kind(a))) == 1
    close(linalg.pinv(kind(a)), np.linalg.pinv(a))


@pytest.mark.parametrize("dtype", "dD")
def test_symmetric_matrices(kind, dtype):
    a = complex_normal((2, 4, 4), dtype)
    a = a @ np.swapaxes(a, -1, -2).conj() + 4 * np.eye(4)
    for triangle, name in ((np.tril, "L"), (np.triu, "U")):
        half = triangle(a)
        values, vectors = (np.asarray(x) for x in linalg.eigh(kind(half), name))
        close(values, np.linalg.eigvalsh(a))
        close(a @ vectors, vectors * values[:, None, :])
        close(linalg.cholesky(kind(half), upper=name == "U"),
              np.linalg.cholesky(a) if name == "L"
              else np.swapaxes(np.linalg.cholesky(a), 1, 2).conj())
    close(linalg.eigvalsh(kind(a)), np.linalg.eigvalsh(a))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        linalg.cholesky(kind(-a))
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        linalg.eigh(kind(np.full((2, 2), np.nan)))
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        linalg.svd(kind(np.full((2, 2), np.nan)))


@pytest.mark.parametrize("dtype", "fdFD")
def test_any_eigenvectors(kind, dtype):
    tolerance = 1e-4 if dtype in "fF" else 1e-10
    for n in (1, 4, 30):
        a = complex_normal((2, n, n), dtype)
        values, vectors = (np.asarray(x) for x in linalg.eig(kind(a)))
        assert values.dtype == vectors.dtype == ("F" if dtype in "fF" else "D")
        close(a @ vectors, vectors * values[:, None, :], tolerance)
        close(np.linalg.norm(vectors, axis=1), np.ones((2, n)), tolerance)
        for w, v in zip(values, np.swapaxes(vectors, 1, 2)) if dtype in "fd" else ():
            assert (w[w.imag > 0] == w[w.imag < 0].conj()).all() and not v[w.imag == 0].imag.any()
            assert (v[w.imag > 0] == v[w.imag < 0].conj()).all()
        for found, wanted in zip(values, np.linalg.eigvals(a.astype("D"))):
            distances = np.abs(np.subtract.outer(found, wanted))
            assert max(distances.min(0).max(), distances.min(1).max()) < 10 * tolerance
    close(np.sort(np.asarray(linalg.eigvals(kind(np.array([[0, 1.0], [-1, 0]])))).imag), [-1, 1])
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        linalg.eig(kind(np.full((2, 2), np.nan)))


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("backend", [b.name for b in collet.backends() if b.state == "usable"])
def test_defective_matrices(backend, dtype):
    """Eigenvectors of a triangular matrix with a single eigenvalue overflow unless they are scaled."""
    a = (5 * np.eye(150) + 3 * np.eye(150, k=1)).astype(dtype)
    with collet.using(backend):
        values, vectors = (np.asarray(x) for x in linalg.eig(a))
    close(np.linalg.norm(vectors, axis=0), np.ones(150), 1e-5)
    close(a @ vectors, vectors * values, 1e-4 if dtype in "fF" else 1e-10)


@pytest.mark.parametrize("dtype", "dD")
def test_determinants(kind, dtype):
    a = complex_normal((7, 5, 5), dtype)
    a[3, 1] = 0
    close(linalg.det(kind(a)), np.linalg.det(a))
    sign, logarithm = linalg.slogdet(kind(a))
    close(sign, np.linalg.slogdet(a)[0])
    close(np.delete(np.asarray(logarithm), 3), np.delete(np.linalg.slogdet(a)[1], 3))
    zero = linalg.slogdet(kind(np.zeros((2, 2))))
    assert float(zero.sign) == 0 and float(zero.logabsdet) == -np.inf
    for order in ([2, 0, 1], [1, 0, 2], [0, 1, 2], [2, 1, 0]):
        close(linalg.det(kind(np.eye(3)[order])), np.linalg.det(np.eye(3)[order]))
    assert float(linalg.det(kind(np.zeros((0, 0))))) == 1
    assert np.isnan(np.asarray(linalg.det(kind(np.full((2, 2), np.inf)))))


@pytest.mark.parametrize("ord, axis", [
    (None, None), (None, 1), (None, (0, 2)), (2, 0), (1, -1), (np.inf, 1), (-np.inf, 2),
    ("fro", (0, 1)), ("nuc", (1, 2)), (1, (0, 1)), (-1, (2, 0)), (2, (-2, -1)), (-2, (2, 0)),
    (np.inf, (0, 1)), (-np.inf, (1, 2))])
def test_norms(kind, ord, axis):
    a = RNG.normal(size=(2, 3, 4))
    for keepdims in (False, True):
        found = linalg.norm(kind(a), ord, axis, keepdims)
        assert type(found) is kind_of(kind(a))
        wanted = np.linalg.norm(a, ord, axis, keepdims)
        assert found.shape == wanted.shape
        close(found, wanted)
    close(linalg.norm(kind(1j * a), ord, axis), np.linalg.norm(a, ord, axis))


def test_norms_that_there_are_not(kind):
    a = kind(np.ones((2, 2, 2)))
    for ord, axis in (("nuc", 0), ("fro", 0), (3, (0, 1)), (2, None), (2, (0, 0)), (2, 3)):
        with pytest.raises(ValueError):
            linalg.norm(a, ord, axis)
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(kind(np.eye(2)), "raw")
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(kind(np.eye(2)), "l")


def test_conditions_and_ranks(kind):
    a = RNG.normal(size=(3, 3))
    for p in (None, 2, 1, np.inf, "fro"):
        close(linalg.cond(kind(a), p), np.linalg.cond(a, p), 1e-8)
    a[2] = a[0] + a[1]
    found = linalg.matrix_rank(kind(np.stack([a, np.eye(3), 0 * a])))
    assert np.asarray(found).tolist() == [2, 3, 0] and found.dtype == np.int64


def test_norms_of_large_and_small_f32():
    """Squares beyond float32 are summed in float64."""
    for scale in (1e30, 1e-30):
        x = np.array([3 * scale, 4 * scale], "f4")
        for norm in (linalg.vector_norm, linalg.norm):
            made = norm(collet.asarray(x))
            assert made.dtype == np.dtype("f4") and made.ndim == 0
            np.testing.assert_allclose(float(made), 5 * scale, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_determinants_beyond_the_range(dtype):
    """Partial products of pivots leave the range of the dtype. The determinant is in the range, infinite,
    or 0."""
    most = 2.0 ** (90 if dtype in ("f4", "c8") else 900)
    for count in 1, 2, 3, 7, 30:
        values = np.array([most, 1 / most] * count + [3.0])
        np.random.default_rng(count).shuffle(values)
        a = np.diag(values).astype(dtype)
        for given in a, collet.asarray(a), np.stack([a, -a]):
            found = np.asarray(linalg.det(given))
            assert found.dtype == dtype and np.allclose(np.abs(found), 3)
    for values, expected in (([most] * 3, np.inf), ([-most] * 3, -np.inf), ([1 / most] * 3, 0), ([most, 0, most], 0)):
        found = complex(linalg.det(np.diag(values).astype(dtype)))
        assert found.real == expected and found.imag == 0
    assert np.isnan(np.asarray(linalg.det(np.array([[np.nan, 1], [1, 1]], dtype))))
    assert linalg.det(np.ones((0, 0), dtype)) == 1


def test_powers_of_integers():
    for dtype in "i1", "u2", "i4", "i8", "?":
        a = np.array([[1, 1], [0, 1]], dtype)
        for n in 0, 1, 5, 300:
            for given in a, collet.asarray(a):
                found = np.asarray(linalg.matrix_power(given, n))
                assert found.dtype == dtype and np.array_equal(found, np.linalg.matrix_power(a, n))
    assert np.array_equal(linalg.matrix_power(np.array([[1, 1], [0, 1]]), -2), [[1, -2], [0, 1]])


@pytest.mark.parametrize("backend", ["cpu_scalar", "cpu_openmp", "opencl"])
def test_equations_of_the_whole_range(backend):
    if not any(b.name == backend and b.devices for b in collet.backends()):
        pytest.skip(f"no {backend}")
    with collet.using(backend):
        for n in 2, 3, 8, 20:
            scales = np.resize([1e-300, 1e300], n)
            a = np.diag(scales)
            assert np.allclose(linalg.inv(a).diagonal() * scales, 1, rtol=1e-15)
            assert np.allclose(linalg.solve(a, np.ones(n)) * scales, 1, rtol=1e-15)
            assert np.allclose(linalg.solve(a.astype("c16"), np.ones(n)) * scales, 1, rtol=1e-15)


def test_subsets_of_eigenvalues():
    a = collet.asarray([[[2.0, 1, 0], [1, 3, 1], [0, 1, 4]], [[1.0, 0, 0], [0, 5, 0], [0, 0, 3]]])
    b = collet.asarray(np.diag([1.0, 2, 3]))
    for given in ((a,), (a, b), (a[0], "U")):
        values, vectors = linalg.eigh(*given)
        for first, last in (0, 0), (1, 2), (2, 2), (0, 2):
            found = linalg.eigh(*given, subset_by_index=[first, last])
            assert (found.eigenvalues == values[..., first:last + 1]).all() and (found.eigenvectors == vectors[..., first:last + 1]).all()
    whole, part = (collet.grad(f)(a[0]) for f in (
        lambda a: collet.sum(linalg.eigh(a)[0][1:2]) + collet.sum(linalg.eigh(a)[1][0, 1:2]**2),
        lambda a: collet.sum(linalg.eigh(a, subset_by_index=(1, 1))[0]) + collet.sum(linalg.eigh(a, subset_by_index=(1, 1))[1][0]**2)))
    assert np.allclose(whole, part)
    assert (collet.vmap(lambda a: linalg.eigh(a, subset_by_index=(1, 2))[0])(a) == linalg.eigh(a)[0][:, 1:]).all()
    for wrong, error, text in (((1, 3), ValueError, "ascending integers from 0 to 2"), ((-1, 1), ValueError, "from 0 to 2"), ((2, 1), ValueError, "ascending"),
                               (1, TypeError, "two integers"), ((0, 1, 2), TypeError, "two integers"), ((0.5, 1), TypeError, "two integers")):
        with pytest.raises(error, match=text):
            linalg.eigh(a, subset_by_index=wrong)
