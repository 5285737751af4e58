# SPDX-License-Identifier: Apache-2.0
"""Products of a matrix with its own transpose. cpu_openmp computes one triangle of such a product."""

import numpy as np
import pytest

import collet

COUNTS = collet.get_num_threads()


@pytest.fixture(params=[1, 2, 5], autouse=True)
def threads(request):
    collet.set_num_threads(request.param)
    yield
    collet.set_num_threads(COUNTS)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(96, 97), (100, 300), (333, 128), (130, 700), (1000, 65), (257, 257)])
def test_products(shape, dtype):
    rng = np.random.default_rng(1)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    a = a.astype(dtype)
    x = collet.asarray(a)
    rtol = 1e-4 if dtype in ("f4", "c8") else 1e-12
    for found, expected in ((x.T @ x, a.T @ a), (x @ x.T, a @ a.T), (collet.matmul(x.T, x), a.T @ a)):
        found = found.to_numpy()
        assert np.array_equal(found, found.T), "exactly symmetric"
        assert abs(found - expected).max() <= rtol * abs(expected).max()


def test_batches_and_strides():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 2, 120, 110))
    x = collet.asarray(a)
    found, expected = (x.mT @ x).to_numpy(), a.swapaxes(-1, -2) @ a
    assert np.array_equal(found, found.swapaxes(-1, -2)) and abs(found - expected).max() < 1e-10
    y, b = x[1:, :, 5:, 3:], a[1:, :, 5:, 3:]
    assert abs((y @ y.mT).to_numpy() - b @ b.swapaxes(-1, -2)).max() < 1e-10
    out = collet.zeros((3, 2, 150, 140))
    collet.op.matmul(x.mT, x, out=out[:, :, 7:117, 9:119])  # the rows of the result have gaps
    assert abs(out.to_numpy()[:, :, 7:117, 9:119] - expected).max() < 1e-10
    assert out.to_numpy()[:, :, :7].sum() == 0 and out.to_numpy()[:, :, 117:].sum() == 0


def test_other_products_of_one_matrix():
    """Views of the same memory that are not transposes of each other."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=(200, 200))
    x = collet.asarray(a)
    assert abs((x @ x).to_numpy() - a @ a).max() < 1e-10
    assert abs((x.T @ x.T).to_numpy() - a.T @ a.T).max() < 1e-10
    assert abs((x[:, 1:].T @ x[:, :-1]).to_numpy() - a[:, 1:].T @ a[:, :-1]).max() < 1e-10
    assert abs((x[::-1].T @ x).to_numpy() - a[::-1].T @ a).max() < 1e-10
    z = collet.asarray(a + 1j * a.T)
    assert abs((collet.conj(z).T @ z).to_numpy() - np.conj(z.to_numpy()).T @ z.to_numpy()).max() < 1e-10
