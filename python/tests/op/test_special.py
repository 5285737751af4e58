# SPDX-License-Identifier: Apache-2.0
"""collet.special agrees with SciPy, also for infinities, NaN and empty axes, and has gradients."""

import warnings

import numpy as np
import pytest

import collet
from collet import special

INF, NAN = np.inf, np.nan
ARRAYS = [np.array([[0.5, -1.0, 3.0], [1000.0, 1001.0, 999.0]]), np.array([[-INF, -INF], [0.0, -INF], [INF, 1.0], [NAN, 1.0]]),
          np.array([[INF, INF], [INF, -INF], [-1e308, 1e308], [-745.2, -1e-320]]), np.array([[1, 2, 3], [4, 5, 6]]),
          np.array([[0.5, -1.0, 300.0]], "f4"), np.array(2.5), np.zeros((2, 0)), np.zeros((0, 3)), np.zeros((3, 1))]


def agree(found, wanted):
    wanted = np.asarray(wanted)
    assert np.shape(found) == wanted.shape
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=3e-6 if found.dtype == np.float32 else 4e-15, atol=1e-30)


def wanted(name, *arguments, **keywords):
    reference = pytest.importorskip("scipy.special")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(reference, name)(*arguments, **keywords)


@pytest.mark.parametrize("x", ARRAYS, ids=range(len(ARRAYS)))
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_against_scipy(x, axis):
    if not x.ndim and axis is not None:
        return
    for name in "logsumexp", "softmax", "log_softmax":
        function = getattr(special, name)
        if not x.size:
            if name == "logsumexp":
                made = special.logsumexp(x, axis)
                assert (made == -INF).all() and made.shape == x.sum(axis).shape
            else:
                assert function(x, axis).shape == x.shape
            continue
        found = function(x, axis)
        assert isinstance(found, np.ndarray) and found.dtype == (x.dtype if x.dtype.kind == "f" else np.float64)
        agree(found, wanted(name, x, axis))
        array = function(collet.asarray(x), axis)
        assert isinstance(array, collet.Array)
        np.testing.assert_array_equal(array, found)
    if x.size:
        agree(special.logsumexp(x, axis, keepdims=True), wanted("logsumexp", x, axis, keepdims=True))


def test_weights():
    a, b = ARRAYS[0], np.array([1.0, 0.0, 2.5])
    agree(special.logsumexp(a, 1, b), wanted("logsumexp", a, 1, b))
    agree(special.logsumexp(a, None, b, True), wanted("logsumexp", a, None, b, True))
    agree(special.logsumexp(np.array([INF, 1.0]), b=np.array([0, 2])), np.log(2) + 1)
    assert np.isnan(special.logsumexp(np.array([0.0, 1.0]), b=np.array([1.0, -1.0])))
    agree(special.logsumexp(a[0], b=2), wanted("logsumexp", a[0], b=2))


def test_signs():
    for a, b in (ARRAYS[0], [1.0, -2.0, 0.5]), (ARRAYS[3], [1, -1, -1]):
        for axis in None, 0, 1:
            for keepdims in False, True:
                found = special.logsumexp(collet.asarray(a), axis, collet.asarray(b), keepdims, return_sign=True)
                for x, y in zip(found, wanted("logsumexp", a, axis, np.array(b), keepdims, return_sign=True), strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-13)
    assert [float(x) for x in special.logsumexp(np.zeros(2), b=np.zeros(2), return_sign=True)] == [-INF, 0]
    a, b = np.array([0.5 + 1j, 700 - 2j, 701]), np.array([1, -2j, 3.0])
    size, sign = special.logsumexp(a, b=b, return_sign=True)
    whole = (b * np.exp(a)).sum()
    assert np.isclose(size, np.log(abs(whole)), rtol=1e-14) and np.isclose(sign, whole / abs(whole), rtol=1e-13)


def test_gradients_of_signs():
    b = np.array([1.0, -3.0])
    assert collet.grad(lambda x: special.logsumexp(x, b=b, return_sign=True)[0])(np.zeros(2)).tolist() == [-0.5, 1.5]
    a, c = np.array([0.5 + 1j, 1 - 2j]), np.array([1 - 1j, 2j])

    def value(parts):
        size, sign = special.logsumexp(collet.complex(parts[0], parts[1]), b=c, return_sign=True)
        return size + 3 * collet.real(sign) - 2 * collet.imag(sign)

    parts = np.stack([a.real, a.imag])
    found, step = collet.grad(value)(parts), 1e-6
    for i in np.ndindex(parts.shape):
        unit = np.zeros(parts.shape)
        unit[i] = step
        assert abs(float(found[i]) - (float(value(parts + unit)) - float(value(parts - unit))) / (2 * step)) < 1e-8


def test_complex_numbers():
    a = np.array([[1 + 2j, 0.5, -3j], [800, 801 + 1j, 799]])
    for axis in None, 0, 1:
        for name in "logsumexp", "softmax", "log_softmax":
            for kind in np.asarray, collet.asarray:
                found = getattr(special, name)(kind(a), axis)
                assert found.dtype == a.dtype
                total = wanted("logsumexp", a, axis, keepdims=True)
                plain = {"logsumexp": total.reshape(found.shape if name == "logsumexp" else total.shape),
                         "softmax": np.exp(a - total), "log_softmax": a - total}[name]
                np.testing.assert_allclose(np.exp(1j * np.imag(found)) * np.real(found), np.exp(1j * plain.imag) * plain.real, rtol=1e-12, atol=1e-13)
    x = collet.asarray(a[0])
    np.testing.assert_allclose(pytest.importorskip("scipy.special").erf(x), wanted("erf", a[0]))  # SciPy computes


def test_half():
    x = collet.asarray(ARRAYS[0]).astype("float16")
    for name in "logsumexp", "softmax", "log_softmax":
        found = getattr(special, name)(x, 1)
        assert found.dtype == np.float16
        np.testing.assert_allclose(found.astype("float64").to_numpy(),
                                   getattr(special, name)(x.astype("float64"), 1).to_numpy(), rtol=2e-3, atol=1e-4)
    assert set(dir(special)) == {"log_softmax", "logsumexp", "softmax"}


def test_gradients():
    x = np.array([[0.5, -1.0, 2.0], [600.0, 601.0, 599.0]])
    b = np.array([1.0, 0.5, 2.0])
    weights = np.arange(6.0).reshape(2, 3)
    step = 1e-5

    def slopes(f, x):
        found = np.zeros(x.shape)
        for i in np.ndindex(x.shape):
            unit = np.zeros(x.shape)
            unit[i] = step
            found[i] = (float(f(collet.asarray(x + unit))) - float(f(collet.asarray(x - unit)))) / (2 * step)
        return found

    for f in (lambda x: collet.sum(special.logsumexp(x, 1) * np.array([1.0, 3])), lambda x: special.logsumexp(x, b=b),
              lambda x: collet.sum(special.logsumexp(x, axis=0, keepdims=True)**2) * 1e-4,
              lambda x: collet.sum(special.softmax(x, 1) * weights), lambda x: collet.sum(special.log_softmax(x, 1) * weights),
              lambda x: collet.sum(special.softmax(x) * weights), lambda x: collet.sum(special.softmax(x, (0, 1)) * weights)):
        np.testing.assert_allclose(collet.grad(f)(x), slopes(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(collet.grad(lambda b: special.logsumexp(x[0], b=b))(b), slopes(lambda b: special.logsumexp(x[0], b=b), b),
                               rtol=1e-6)
    np.testing.assert_allclose(collet.hessian(special.logsumexp)(x[0]),
                               np.diag(special.softmax(x[0])) - np.outer(special.softmax(x[0]), special.softmax(x[0])), atol=1e-15)
    assert collet.grad(lambda x: special.logsumexp(x))(np.array([-INF, 0.0])).to_numpy().tolist() == [0, 1]
