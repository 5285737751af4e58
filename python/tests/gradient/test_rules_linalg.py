# SPDX-License-Identifier: Apache-2.0
"""Gradients of collet.linalg and collet.fft agree with central differences."""

import numpy as np
import pytest
from differences import compare, weighted

import collet
from collet import fft, linalg

generator = np.random.default_rng(3)


def normal(*shape, complex_too=False):
    x = generator.normal(size=shape)
    return x + 1j * generator.normal(size=shape) if complex_too else x


A, TALL, WIDE, B = normal(4, 4) + 3 * np.eye(4), normal(5, 3), normal(3, 5), normal(4, 2)
BATCH = normal(2, 3, 3) + 3 * np.eye(3)
C, TALL_C, WIDE_C = A + 1j * normal(4, 4), TALL + 1j * normal(5, 3), WIDE + 1j * normal(3, 5)
S, H = A @ A.T, C @ C.conj().T
W, U, TENSOR = normal(4, 4), normal(5, 2), normal(2, 3, 6)


def symmetric(x):
    return (x + collet.conj(x.mT) if x.dtype.kind == "c" else x + x.mT) * 0.5


def gauge_free(a, **options):
    """A function of the singular vectors that does not depend on their phases."""
    u, s, vh = linalg.svd(a, **options)
    return weighted(s, (u * np.arange(1.0, s.shape[-1] + 1)) @ vh)


CASES = {
    "solve": [(lambda x: linalg.solve(x, B), A, C), (lambda x: linalg.solve(A, x), B), (lambda x: linalg.solve(C, x), B),
              (lambda x: linalg.solve(x, B[:, 0]), A), (lambda x: linalg.solve(A, x), B[:, 0]),
              (lambda x: linalg.solve(x, B[:3]), BATCH), (lambda x: linalg.solve(BATCH, x), B[:3])],
    "solve_triangular": [
        (lambda x, t=t, l=l, u=u: linalg.solve_triangular(x, B, t, l, u), A, C) for t in (0, 1, 2) for l, u in ((0, 0), (1, 0), (1, 1))] + [
        (lambda x, t=t: linalg.solve_triangular(C, x, t), B, B[:, 0]) for t in "NTC"] + [
        (lambda x: linalg.solve_triangular(x, B[:3]), BATCH), (lambda x: linalg.solve_triangular(BATCH, x, lower=True), B[:3])],
    "lu_factor": [(lambda x: linalg.lu_factor(x)[0], A, C, BATCH)],
    "lu_solve": [(lambda x, t=t: linalg.lu_solve(linalg.lu_factor(x), B, t), A, C) for t in (0, 1, 2)] + [
        (lambda x: linalg.lu_solve(linalg.lu_factor(C), x), B, B[:, 0]),
        (lambda x: linalg.lu_solve(linalg.lu_factor(x), B[:3]), BATCH)],
    "cho_factor": [(lambda x: linalg.cho_factor(symmetric(x))[0], S, H)],
    "cho_solve": [(lambda x, l=l: linalg.cho_solve(linalg.cho_factor(symmetric(x), l), B), S, H) for l in (False, True)],
    "lstsq": [(lambda x: linalg.lstsq(x, U), TALL, TALL_C, np.stack([TALL, TALL_C.imag])), (lambda x: linalg.lstsq(x, B[:3]), WIDE, WIDE_C),
              (lambda x: linalg.lstsq(TALL_C, x), U, U[:, 0]), (lambda x: linalg.lstsq(WIDE, x, -1), B[:3])],
    "multi_dot": [(lambda x: linalg.multi_dot([x[0], x, W, x]), A, C), (lambda x: linalg.multi_dot([x, W, W[0]]), A)],
    "tensorsolve": [(lambda x: linalg.tensorsolve(x, W[:2, :3]), TENSOR), (lambda x: linalg.tensorsolve(TENSOR, x), W[:2, :3]),
                    (lambda x: linalg.tensorsolve(x, W[:3, :2], axes=(0,)), TENSOR.transpose(2, 1, 0))],
    "tensorinv": [(linalg.tensorinv, TENSOR), (lambda x: linalg.tensorinv(x, 1), TENSOR.reshape(6, 2, 3))],
    "expm": [(linalg.expm, A, C, BATCH, 0.01 * A, 30 * W, np.zeros((2, 2)))],
    "inv": [(linalg.inv, A, C, BATCH)],
    "pinv": [(linalg.pinv, A, TALL, WIDE, TALL_C, WIDE_C)],
    "cholesky": [(lambda x: linalg.cholesky(symmetric(x)), S, H),
                 (lambda x: linalg.cholesky(symmetric(x), upper=True), S, H)],
    "eigh": [(lambda x: linalg.eigh(symmetric(x)), S), (lambda x: linalg.eigh(symmetric(x), "U").eigenvalues, S, H),
             (lambda x: collet.abs(linalg.eigh(symmetric(x)).eigenvectors)**2, H),
             (lambda x: linalg.eigh(symmetric(x), S), W), (lambda x: linalg.eigh(W, symmetric(x), "U"), S),
             (lambda x: collet.abs(linalg.eigh(symmetric(x), H).eigenvectors)**2, C),
             (lambda x: collet.abs(linalg.eigh(A, symmetric(x)).eigenvectors)**2, H),
             (lambda x: linalg.eigh(symmetric(x), symmetric(x) @ symmetric(x)), S)],
    "eigvalsh": [(lambda x: linalg.eigvalsh(symmetric(x)), S, H), (lambda x: linalg.eigvalsh(W, symmetric(x)), S, H)],
    "svd": [(linalg.svd, A), (lambda x: linalg.svd(x, compute_uv=False), TALL, WIDE_C),
            (lambda x: linalg.svd(x, full_matrices=False), TALL, WIDE),
            (lambda x: gauge_free(x, full_matrices=False), TALL_C, WIDE_C, C)],
    "svdvals": [(linalg.svdvals, TALL, WIDE, C)],
    "qr": [(linalg.qr, A, TALL, TALL_C), (lambda x: linalg.qr(x, "r"), TALL, C)],
    "lu": [(lambda x: linalg.lu(x)[1:], A, C, BATCH)],
    "eig": [(lambda x: collet.abs(linalg.eig(x).eigenvectors)**2, C), (lambda x: linalg.eig(x).eigenvalues, A, C)],
    "eigvals": [(linalg.eigvals, A, C)],
    "det": [(linalg.det, A, C, BATCH)],
    "slogdet": [(linalg.slogdet, A, C, BATCH)],
    "norm": [(lambda x, o=o: linalg.norm(x, o), A, C) for o in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)] +
            [(lambda x, o=o: linalg.norm(x, o, axis=0), TALL, C) for o in (None, 2, 1, 3, -0.5, np.inf, -np.inf, 0)] +
            [(lambda x: linalg.norm(x, axis=(1, 0), keepdims=True), TALL)],
    "vector_norm": [(linalg.vector_norm, TALL, C), (lambda x: linalg.vector_norm(x, axis=1, ord=3), TALL),
                    (lambda x: linalg.vector_norm(x, axis=()), C)],
    "matrix_norm": [(linalg.matrix_norm, BATCH), (lambda x: linalg.matrix_norm(x, ord=2, keepdims=True), BATCH)],
    "cond": [(linalg.cond, A, TALL), (lambda x: linalg.cond(x, 1), A)],
    "matrix_power": [(lambda x, n=n: linalg.matrix_power(x, n), 0.4 * A) for n in (0, 1, 2, 5, -2)],
    "dot": [(lambda x: linalg.dot(x, W), A), (lambda x: linalg.dot(W, x[0]), C), (lambda x: linalg.dot(x[0], W), A),
            (lambda x: linalg.dot(x[0, 0], W), A), (lambda x: linalg.dot(W, x), normal(2, 4, 3)),
            (lambda x: linalg.dot([1, 2, 3, 4], x), A)],
    "vdot": [(lambda x: linalg.vdot(x, C), A, C), (lambda x: linalg.vdot(C, x), A, C)],
}


@pytest.mark.parametrize("name", CASES)
def test_linalg(name):
    for function, *points in CASES[name]:
        for x in points:
            compare(lambda x: weighted(function(x)), x)


def test_every_name():
    """Each function has a case here, is a function of the main namespace, raises, or is constant."""
    names = {n for n, f in vars(linalg).items() if hasattr(f, "__wrapped__") and f.__module__ == "collet.linalg"}
    assert names - CASES.keys() == {"matrix_rank", "null_space", "orth"}
    for name in "null_space", "orth":
        with pytest.raises(collet.UnsupportedError, match=f"collet.linalg.{name} has no rule"):
            collet.grad(lambda x: collet.sum(getattr(linalg, name)(x)))(A)
    assert collet.grad(lambda x: collet.sum(x) * linalg.matrix_rank(x))(A).to_numpy().tolist() == [[4.0] * 4] * 4


REAL, COMPLEX = normal(3, 6), normal(3, 6, complex_too=True)


@pytest.mark.parametrize("n, norm", [(None, None), (None, "backward"), (None, "ortho"), (7, "forward"), (4, None), (8, "ortho")])
def test_fft(n, norm):
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        for x in (REAL, COMPLEX) if name not in ("rfft", "ihfft") else (REAL,):
            for axis in (-1, 0):
                compare(lambda x: weighted(getattr(fft, name)(x, n, axis, norm)), x)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_fft_of_several_axes(norm):
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
        for x in (REAL, COMPLEX) if not name.startswith("rfft") else (REAL,):
            for options in ({}, {"s": (5, 4), "axes": (1, 0)}) if norm else ({"s": (2, 8)}, {"axes": (0, 1)}):
                compare(lambda x: weighted(getattr(fft, name)(x, norm=norm, **options)), x)
    compare(lambda x: weighted(fft.fftn(x, axes=(0,)), fft.fftshift(x), fft.ifftshift(x, axes=0)), COMPLEX)


def test_second_derivatives():
    """The gradient of a gradient agrees with central differences."""
    for function, x in ((linalg.inv, A), (linalg.det, A), (lambda x: linalg.solve(x, B), A),
                        (lambda x: linalg.cholesky(symmetric(x)), S), (lambda x: linalg.eigh(symmetric(x)), S),
                        (lambda x: linalg.svd(x, full_matrices=False), TALL), (linalg.qr, TALL), (linalg.pinv, TALL),
                        (linalg.norm, A), (linalg.slogdet, A), (linalg.expm, A), (lambda x: linalg.solve_triangular(x, B), A),
                        (lambda x: linalg.lstsq(x, U), TALL), (lambda x: linalg.eigh(W, symmetric(x)), S),
                        (lambda x: linalg.cho_solve(linalg.cho_factor(symmetric(x)), B), S), (lambda x: collet.abs(fft.rfft(x))**2, A)):
        compare(lambda x: weighted(collet.grad(lambda y: weighted(function(y)))(x)), x, 1e-5)


def test_determinants_of_singular_matrices():
    """The gradient is the matrix of cofactors, also in a recorded function and for each element of a batch."""
    gradient = collet.grad(lambda x: collet.sum(collet.real(linalg.det(x))))
    for a in (np.array([[1.0, 2], [2, 4]]), np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]), np.zeros((2, 2)), np.zeros((1, 1)),
              np.array([[[1.0, 1], [1, 1]], [[2.0, 1], [1, 3]]]), np.array([[1j, 2j], [1, 2]])):
        found = gradient(collet.asarray(a)).to_numpy()
        assert np.allclose(collet.jit(gradient)(collet.asarray(a)), found)
        assert np.allclose(collet.vmap(gradient)(collet.asarray(np.stack([a, a])))[1], found)
        n = a.shape[-1]
        for at in np.ndindex(a.shape):
            rest = np.delete(np.delete(a[at[:-2]], at[-2], 0), at[-1], 1)
            assert np.isclose(found[at], (-1)**(at[-2] + at[-1]) * (np.linalg.det(rest) if n > 1 else 1), atol=1e-12)
