# SPDX-License-Identifier: Apache-2.0
"""Reductions, products and norms of small Arrays, computed by calls/small.c, equal the results of the general
call."""

import os

import numpy as np
import pytest

import collet
from collet import _core, op
from collet._array.conversion import REDUCTIONS, small


@pytest.fixture(autouse=True)
def host():
    with collet.using("cpu_openmp"):
        op.add(collet.ones(1), collet.ones(1))  # Collet now knows that the backend computes synchronously
        yield


def numbers(shape, dtype="f4"):
    return collet.asarray(np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(dtype))


def is_taken(function, *arguments, **keywords):
    return function(*arguments, **keywords) is not None


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_those_of_the_general_call(name, dtype):
    for shape in ((7,), (3, 5), (2, 3, 4), (1, 9)):
        x = numbers(shape, dtype)
        for view in (x, x.T, x[::-1], x[..., ::2]):
            for axis in (None, *range(-view.ndim, view.ndim)):
                for keepdims in (False, True):
                    assert is_taken(small(name), view, axis=axis, keepdims=keepdims)
                    axes = {} if axis is None else {"axes": axis}
                    expected = getattr(op, name)(view, keepdims=keepdims, **axes)
                    for found in (getattr(collet, name)(view, axis=axis, keepdims=keepdims),
                                  getattr(view, name)(axis, keepdims=keepdims)):
                        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                        assert found.to_numpy().tobytes() == expected.to_numpy().tobytes()


def test_corrections():
    x = numbers(5)
    for correction in (1, 0.5):
        assert is_taken(small("var"), x, correction=correction)
        assert float(collet.var(x, correction=correction)) == float(op.var(x, correction=float(correction)))
    assert float(x.var(ddof=1)) == float(collet.var(x, correction=1))


def test_what_is_left_to_the_general_call():
    x = numbers((3, 4))
    before = _core.wait_from(0)
    for other in (x + 1, x.to_numpy(), x[0, 0], numbers((0, 3)), [1.0], 1.0, None,
                  collet.ones(3, dtype="i4"), collet.ones(3, dtype="c8")):
        assert not is_taken(small("sum"), other)
        assert not is_taken(small("norm"), other) and not is_taken(small("matmul"), other, other)
    _core.wait_from(before)
    for wrong in ({"axis": 2}, {"axis": (0, 1)}, {"axis": True}, {"axis": 1 << 70}, {"dtype": "f8"}, {"keepdims": 1},
                  {"other": 1}, {"correction": 1.0}):
        assert not is_taken(small("sum"), x, **wrong)
    assert not is_taken(small("var"), x, correction=1 << 2000) and not is_taken(small("sum"), x, 0, True)
    with pytest.raises(TypeError, match="axis"):
        x.sum(0, axis=1)
    assert not is_taken(small("sum")) and not is_taken(small("norm"), x.T) and not is_taken(small("norm"), x[0], axis=0)
    with pytest.raises(TypeError):
        collet.sum(x, 0)
    with pytest.raises(TypeError):
        collet.sum()
    with pytest.raises(IndexError):
        collet.sum(x, axis=2)
    assert collet.sum(x, axis=(0, 1)).shape == () and collet.sum(x, dtype="f8").dtype == "f8"
    assert float(collet.linalg.norm(x=collet.asarray([3.0, 4]))) == 5
    assert is_taken(small("norm"), x) and collet.linalg.norm(collet.asarray([[3.0], [4]])).tolist() == 5


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_are_those_of_the_general_call(dtype):
    v, w, m, n = (numbers(s, dtype) for s in ((6,), (4,), (4, 6), (6, 3)))
    for a, b, expected in ((v, v, op.dot(v, v)), (m, v, op.matvec(m, v)), (m.T, w, op.matvec(m.T, w)),
                           (m, n, op.matmul(m, n))):
        assert is_taken(small("matmul"), a, b)
        for found in (a @ b, collet.matmul(a, b)):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            assert found.to_numpy().tobytes() == expected.to_numpy().tobytes()
    for a, b in ((v, w), (m, w), (m, m), (v, m), (w, collet.astype(w, "c16"))):
        assert not is_taken(small("matmul"), a, b)
    with pytest.raises(ValueError):
        m @ w
    assert (w @ m).shape == (6,)


@pytest.mark.skipif(os.environ.get("COLLET_MEASURE") != "off", reason="a library may be measured to be faster")
@pytest.mark.parametrize("dtype, limit", [("f4", 2 ** -20), ("f8", 2 ** -49)])
def test_long_products(dtype, limit):
    """The error of long sums stays within the limit, also for sums of 0.1 * 0.1, where all rounding errors have the
    same sign."""
    tenths = np.full((8, 2000), 0.1, dtype)
    square = float(tenths[0, 0]) ** 2
    with collet.using("cpu_openmp"):
        found = op.matmul(tenths, np.ascontiguousarray(tenths.T))
    assert np.abs(np.asarray(found) - 2000 * square).max() <= limit * 2000 * square


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_norms(dtype):
    x = numbers(9, dtype)
    square = op.dot(x, x, dtype="f8")
    assert is_taken(small("norm"), x)
    for found in (collet.linalg.norm(x), collet.linalg.vector_norm(x)):
        assert found.dtype == dtype and found.shape == ()
        assert found.to_numpy() == np.sqrt(square.to_numpy()).astype(dtype)
    long = collet.full(200_000, 2.0, dtype=dtype)
    assert is_taken(small("norm"), long) and np.isclose(float(collet.linalg.norm(long)), 800_000 ** 0.5, rtol=1e-6)
    large = numbers(9, dtype) * 1e30
    assert is_taken(small("norm"), large) == (dtype == "f8") and float(collet.linalg.norm(large)) > 1e30


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "c8"])
def test_squares(dtype):
    """x**2 of small Arrays is computed at once as a product, with the bits of the expression."""
    for x in (numbers(9), collet.asarray([0.0, -0.0, np.nan, -np.inf, 1e-30, 1e30]), numbers(2000), numbers((4, 3)).T):
        x = x.astype(dtype) if dtype != "i4" else numbers(x.shape).astype(dtype) + 3
        for exponent in (2, 2.0):
            found = x**exponent
            at_once = dtype in ("f4", "f8") and x.size < 1024
            assert _core.is_pending(found) != at_once and found.shape == x.shape
            np.testing.assert_array_equal(found, _core.evaluate(f"x**{exponent}", {"x": x}))
    for exponent in (3, 2.5, -2, 2**70 if dtype != "i4" else 1, numbers(9) * 0 + 2):
        np.testing.assert_allclose(np.asarray(numbers(9) ** exponent, "f8"), np.asarray(numbers(9), "f8") ** np.asarray(exponent, "f8"), rtol=1e-5)


def test_observers_hear_of_each_call():
    heard = []
    x = numbers(3)
    before = _core.observe(lambda name, begins: heard.append(name))
    try:
        collet.sum(x), x @ x, collet.linalg.norm(x)
    finally:
        _core.observe(before)
    assert {"sum", "dot"} <= set(heard)


def test_only_functions_of_fitting_ops_are_taken():
    for make, wrong in ((_core.small_reduction, op.any), (_core.small_reduction, op.add), (_core.small_reduction, len), (_core.small_norm, None)):
        with pytest.raises(TypeError):
            make(wrong)
    with pytest.raises(TypeError):
        _core.small_product(op.dot, op.dot, len)
