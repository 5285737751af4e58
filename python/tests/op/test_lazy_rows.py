# SPDX-License-Identifier: Apache-2.0
"""Programs with reductions of rows among their steps give the bits of the same functions, computed one by one."""

import gc
import threading

import numpy as np
import pytest

import collet


def softmax(x):
    e = collet.exp(x - collet.max(x, axis=-1, keepdims=True))
    return e / collet.sum(e, axis=-1, keepdims=True)


def layer_norm(x):
    mean, var = collet.mean(x, axis=-1, keepdims=True), collet.var(x, axis=-1, keepdims=True, correction=1)
    return (x - mean) / collet.sqrt(var + 1e-5) * 2 + mean


def unit_rows(x):
    return x / collet.sqrt(collet.sum(x * x, axis=-1, keepdims=True))


def log_softmax(x):
    x = x - collet.max(x, axis=-1, keepdims=True)
    return x - collet.log(collet.sum(collet.exp(x), axis=-1, keepdims=True))


def scaled(x):
    low, high = collet.min(x, axis=x.ndim - 1, keepdims=True), collet.max(x, axis=-1, keepdims=True)
    return (x - low) / (high - low)


def twice(x):
    """Reductions of values that depend on reductions."""
    y = x - collet.mean(x, axis=-1, keepdims=True)
    z = y / collet.std(y, axis=-1, keepdims=True)
    return z * z - collet.mean(z * z, axis=-1, keepdims=True)


def narrow(x):
    """The result has one element per row."""
    return collet.sqrt(collet.mean(x * x, axis=-1, keepdims=True)) + collet.max(x, axis=-1, keepdims=True)


def operands(x):
    """Operands of other shapes."""
    row = collet.arange(x.shape[-1], dtype=x.dtype)
    column = collet.reshape(collet.arange(x.shape[-2], dtype=x.dtype), (-1, 1)) + 1
    m = collet.mean(x * row, axis=-1, keepdims=True)
    return (x - m * column) * row + collet.asarray(3, dtype=x.dtype) * 2.5


def distances(x):
    """Without the axis of the rows."""
    d = collet.sum((x - 1) ** 2, axis=-1)
    return collet.sqrt(d) * 2 + collet.max(x, axis=-1).astype(d.dtype)


def both(x):
    """With and without the axis of the rows."""
    m = collet.mean(x, axis=-1, keepdims=True)
    s = collet.sqrt(collet.mean((x - m) ** 2, axis=-1))
    return s / (collet.abs(s) + 1)


def signs(x):
    """Conversions and comparisons."""
    m = collet.mean(x, axis=-1, keepdims=True)
    return collet.where(x > m, x, m).astype("f4") * (m < 0).astype("f4")


PROGRAMS = [softmax, layer_norm, unit_rows, log_softmax, scaled, twice, narrow, operands, signs, distances, both]
SHAPES = [(70000, 3), (40000, 8), (30000, 9), (9000, 16), (3000, 100), (6000, 32), (4100, 33), (7, 32000), (165, 1024), (80, 60, 50), (3, 2, 5000, 40), (7, 900, 1, 64), (2, 70000), (5000, 33, 1)]


def arrays(rng, shape, dtype):
    return collet.asarray((rng.normal(size=shape) * 3 + 1).astype(dtype))


@pytest.fixture(autouse=True, scope="module")
def started():
    float(collet.sum(collet.ones(100000)))  # the first call chooses the backend and is computed at once


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_bits(program, dtype):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        x = arrays(rng, shape, dtype)
        with collet.eager():
            expected = program(x)
        found = program(x)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert np.array_equal(found.to_numpy(), expected.to_numpy(), equal_nan=True), shape


@pytest.mark.parametrize("program", [softmax, twice, operands, signs, distances, both])
def test_bits_on_a_device(program):
    """A device computes a program by single functions at first, and compiles a program that comes again."""
    if ("opencl", "usable") not in {(b.name, b.state) for b in collet.backends()}:
        pytest.skip("no device of OpenCL")
    with collet.using("opencl"):
        x = arrays(np.random.default_rng(8), (3000, 100), "f4")
        with collet.eager():
            expected = program(x).to_numpy()
        assert collet._core.is_pending(program(x))
        for _ in range(40):
            assert np.array_equal(program(x).to_numpy(), expected)
        assert collet._core.is_pending(collet.sum(x, axis=-1))


def test_many_groups():
    """Rows in several groups. The last group is smaller."""
    x = arrays(np.random.default_rng(2), (20011, 67), "f4")
    with collet.eager():
        expected = layer_norm(x)
    assert np.array_equal(layer_norm(x).to_numpy(), expected.to_numpy())
    y = x.reshape(-1, 1, 67)[:19998].reshape(2, 3, 3333, 67)
    with collet.eager():
        expected = softmax(y)
    assert np.array_equal(softmax(y).to_numpy(), expected.to_numpy())


def test_they_wait():
    x = arrays(np.random.default_rng(3), (5000, 64), "f8")
    m = collet.max(x, axis=-1, keepdims=True)
    assert collet._core.is_pending(m)
    y = x - m
    assert collet._core.is_pending(m) and collet._core.is_pending(y)
    assert collet._core.is_pending(collet.sqrt(collet.sum(x * x, axis=-1)))
    y.to_numpy()
    assert not collet._core.is_pending(m)  # the evaluation of y also stored m, because m is small
    for other in (collet.max(x, axis=0, keepdims=True), collet.max(x[:3], axis=-1, keepdims=True),
                  collet.max(x[:, ::2], axis=-1, keepdims=True), collet.sum(x.astype("i8"), axis=-1, keepdims=True)):
        assert not collet._core.is_pending(other)


def test_operands_that_are_written():
    x = arrays(np.random.default_rng(4), (4000, 50), "f8")
    before = x.to_numpy().copy()
    m = collet.mean(x, axis=-1, keepdims=True)
    y = x - m
    x[:] = 7
    assert np.allclose(y.to_numpy(), before - before.mean(-1, keepdims=True))
    assert np.allclose(m.to_numpy(), before.mean(-1, keepdims=True))
    assert (collet.mean(x, axis=-1, keepdims=True) == 7).all()
    y = x - collet.mean(x, axis=-1, keepdims=True)
    collet.add(y, 1, out=x)
    assert (x == 1).all()
    z = unit_rows(x)
    collet.divide(x, collet.sqrt(collet.sum(x * x, axis=-1, keepdims=True)), out=x)
    assert np.array_equal(x.to_numpy(), z.to_numpy())
    out = collet.zeros_like(x)
    assert collet.subtract(x, collet.max(x, axis=-1, keepdims=True), out=out) is out and (out == 0).all()


def test_values_that_are_needed_again():
    x = arrays(np.random.default_rng(5), (4000, 50), "f4")
    e = collet.exp(x - collet.max(x, axis=-1, keepdims=True))
    s = collet.sum(e, axis=-1, keepdims=True)
    first, second = e / s, e * s
    with collet.eager():
        g = collet.exp(x - collet.max(x, axis=-1, keepdims=True))
        t = collet.sum(g, axis=-1, keepdims=True)
        for found, expected in ((first, g / t), (second, g * t), (e, g), (s, t)):
            assert np.array_equal(found.to_numpy(), expected.to_numpy())


def test_special_values():
    a = np.random.default_rng(6).normal(size=(4000, 64)).astype("f4")
    a[::7, 3], a[1::7, 5], a[2::7, 9], a[3::7] = np.nan, np.inf, -np.inf, -np.inf
    x = collet.asarray(a)
    for program in PROGRAMS:
        with collet.eager():
            expected = program(x)
        assert np.array_equal(program(x).to_numpy(), expected.to_numpy(), equal_nan=True), program


def test_against_numpy():
    a = np.random.default_rng(7).normal(size=(4000, 64))
    x = collet.asarray(a)
    e = np.exp(a - a.max(-1, keepdims=True))
    np.testing.assert_allclose(softmax(x).to_numpy(), e / e.sum(-1, keepdims=True), rtol=1e-13)
    assert abs(softmax(x).to_numpy().sum(-1) - 1).max() < 1e-14
    np.testing.assert_allclose(unit_rows(x).to_numpy(), a / np.linalg.norm(a, axis=-1, keepdims=True), rtol=1e-13)


def test_reductions_of_waiting_results():
    x = arrays(np.random.default_rng(8), (4000, 64), "f8")
    y = softmax(x)
    assert abs(float(collet.sum(y)) - 4000) < 1e-9
    assert collet.sum(softmax(x), axis=-1).shape == (4000,)
    assert abs(collet.sum(softmax(x), axis=0, keepdims=True).to_numpy().sum() - 4000) < 1e-9
    a, b = collet.max(x, axis=-1, keepdims=True), collet.max(x.reshape(2000, 128), axis=-1, keepdims=True)
    assert (a + b.reshape(2000, 1).repeat(2, axis=0)).shape == (4000, 1)


def test_results_without_the_axis_of_rows():
    """They meet Arrays of other shapes, columns, computed Arrays, and reductions of their own."""
    rng = np.random.default_rng(12)
    a = rng.normal(size=(300, 40, 20))
    x = collet.asarray(a)
    s, m = a.sum(-1), a.max(-1, keepdims=True)
    norm = collet.sum(x, axis=-1)
    assert norm.shape == (300, 40) and collet._core.is_pending(norm)
    np.testing.assert_allclose((norm + collet.max(x, axis=-1, keepdims=True)[..., 0]).to_numpy(), s + m[..., 0], rtol=1e-12)
    for other in (collet.asarray(s), collet.ones((1, 40)), collet.asarray(2.0), collet.exp(collet.asarray(s * 0.01)), 3.0):
        b = np.asarray(other)
        np.testing.assert_allclose((collet.sum(x, axis=-1) * other).to_numpy(), s * b, rtol=1e-11)
        np.testing.assert_allclose((other - collet.sum(x, axis=-1)).to_numpy(), b - s, rtol=1e-11, atol=1e-11)
    y = collet.asarray(rng.normal(size=(300, 40, 40)))
    t = collet.sum(y, axis=-1)
    np.testing.assert_allclose((collet.sum(x, axis=-1) - t).to_numpy(), s - y.to_numpy().sum(-1), atol=1e-11)
    b = rng.normal(size=(400, 400))
    square = collet.asarray(b)
    np.testing.assert_allclose((square - collet.sum(square, axis=-1)).to_numpy(), b - b.sum(-1), atol=1e-11)
    np.testing.assert_allclose(collet.sum(collet.sum(x, axis=-1), axis=-1).to_numpy(), s.sum(-1), atol=1e-11)
    np.testing.assert_allclose(collet.max(collet.sum(x, axis=-1) * 2, axis=0).to_numpy(), (s * 2).max(0), rtol=1e-12)
    out = collet.zeros((300, 40))
    assert collet.multiply(collet.sum(x, axis=-1), 2, out=out) is out
    np.testing.assert_allclose(out.to_numpy(), 2 * s, rtol=1e-12)
    kept = collet.sum(x, axis=-1)
    root = collet.sqrt(kept * kept)
    x[:] = 0
    np.testing.assert_allclose(root.to_numpy(), abs(s), rtol=1e-12)
    np.testing.assert_allclose(kept.to_numpy(), s, rtol=1e-12)


def test_reductions_that_are_computed_before_their_functions():
    """A function of reductions is pending while the reductions are computed for themselves."""
    rng = np.random.default_rng(13)
    a, b = rng.normal(size=(4000, 40)), rng.normal(size=(4000, 40)) + 2
    x, y = collet.asarray(a), collet.asarray(b)
    for keepdims in (True, False):
        kept = {"axis": -1, "keepdims": keepdims}
        for order in range(6):
            m, s = collet.max(x, **kept), collet.sum(y, **kept)
            total, scaled = m + s, collet.sqrt(s) * 2 + m
            full = x - m if keepdims else collet.exp(s) - m
            for value in ((m,), (s,), (m, s), (s, m), (total,), (scaled, m))[order]:
                value.to_numpy()
            expected_m, expected_s = a.max(**kept), b.sum(**kept)
            assert total.shape == expected_m.shape == scaled.to_numpy().shape
            np.testing.assert_allclose(total.to_numpy(), expected_m + expected_s, rtol=1e-12)
            np.testing.assert_allclose(scaled.to_numpy(), np.sqrt(expected_s) * 2 + expected_m, rtol=1e-12)
            np.testing.assert_allclose(full.to_numpy(), a - expected_m if keepdims else np.exp(expected_s) - expected_m, rtol=1e-12)
            np.testing.assert_allclose((total * scaled + m).to_numpy(), total.to_numpy() * scaled.to_numpy() + expected_m, rtol=1e-12)


def test_pending_columns():
    """Columns that do not depend on reductions meet reductions of rows."""
    a = np.random.default_rng(14).normal(size=(2000, 100)).astype("f4")
    x, c = collet.asarray(a), collet.asarray(np.ones((2000, 1), "f4"))
    high, low = a.max(-1, keepdims=True), a.min(-1, keepdims=True)
    for made, expected in (
            (collet.max(x, axis=-1, keepdims=True) - (c + 1), high - 2), ((c + 1) - collet.max(x, axis=-1, keepdims=True), 2 - high),
            (collet.where(c > 0, collet.max(x, axis=-1, keepdims=True), collet.min(x, axis=-1, keepdims=True)), high),
            (collet.max(x, axis=-1) * (c[:, 0] + 1), high[:, 0] * 2), (x - (collet.max(x, axis=-1, keepdims=True) - (c + 1)), a - (high - 2))):
        assert np.asarray(made).shape == expected.shape == made.shape
        np.testing.assert_allclose(made, expected, rtol=1e-6)
    m, k = collet.max(x, axis=-1), collet.min(x, axis=-1)
    y = collet.where(m > 0, m, k)
    np.asarray(m)
    assert np.array_equal(y, np.where(high > 0, high, low)[:, 0])


def test_rows_of_two_lengths():
    rng = np.random.default_rng(9)
    x, y = arrays(rng, (4000, 64), "f8"), arrays(rng, (4000, 50), "f8")
    a, b = collet.sum(x, axis=-1, keepdims=True), collet.sum(y, axis=-1, keepdims=True)
    np.testing.assert_allclose((a * b).to_numpy(), x.to_numpy().sum(-1, keepdims=True) * y.to_numpy().sum(-1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose((y - a).to_numpy(), y.to_numpy() - x.to_numpy().sum(-1, keepdims=True), rtol=1e-12)
    with pytest.raises(ValueError, match="4000 x 50"):
        x - b - y


def test_memory_is_freed():
    def held():
        gc.collect()
        return collet.memory().current if hasattr(collet.memory(), "current") else 0
    x = arrays(np.random.default_rng(10), (4000, 64), "f8")
    before = held()
    for _ in range(20):
        y = softmax(x + 1)
        del y
        z = softmax(x + 1).to_numpy()
    del z
    assert held() <= before + x.nbytes


def test_threads():
    x = arrays(np.random.default_rng(11), (4000, 64), "f8")
    expected, wrong = softmax(x).to_numpy(), []

    def work():
        for _ in range(20):
            if not np.array_equal(softmax(x).to_numpy(), expected):
                wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_long_programs():
    """More steps and stages than one program may have."""
    x = arrays(np.random.default_rng(12), (4000, 64), "f8")
    y, with_eager = x, x
    for _ in range(40):
        y = y - collet.mean(y, axis=-1, keepdims=True) + 0.5 * collet.max(y, axis=-1, keepdims=True)
    with collet.eager():
        for _ in range(40):
            with_eager = with_eager - collet.mean(with_eager, axis=-1, keepdims=True) + 0.5 * collet.max(with_eager, axis=-1, keepdims=True)
    assert np.array_equal(y.to_numpy(), with_eager.to_numpy())
