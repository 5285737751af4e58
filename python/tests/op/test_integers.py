# SPDX-License-Identifier: Apache-2.0
"""Integers that a dtype does not hold, against NumPy: astype wraps them, and comparisons with them are exact."""

import itertools
import operator

import numpy as np
import pytest

import collet

DTYPES = "i1 u1 i2 u2 i4 u4 i8 u8".split()


def edges(dtype):
    limits = np.iinfo(dtype)
    near = {0, 1, 2, limits.max, limits.max - 1, limits.min, limits.min + 1}
    near |= {2**n + d for n in (7, 8, 15, 16, 31, 32, 63) for d in (-1, 0, 1)} | {-2**n + d for n in (7, 15, 31) for d in (-1, 0, 1)}
    return np.array(sorted(n for n in near if limits.min <= n <= limits.max), dtype)


@pytest.mark.parametrize("source, dtype", [*itertools.product(DTYPES, repeat=2)])
def test_astype_wraps(source, dtype):
    host = edges(source)
    for x, a in (collet.asarray(host), host), (collet.asarray(host[::-2]), host[::-2]), (collet.asarray(host)[:0], host[:0]):
        for made in x.astype(np.dtype(dtype)), collet.astype(x, np.dtype(dtype)):
            assert made.dtype == dtype and np.array_equal(made.to_numpy(), a.astype(dtype))
    if host.size > 2:
        x = collet.zeros(host.size, np.dtype(dtype))
        x[:] = collet.asarray(host)
        assert np.array_equal(x.to_numpy(), host.astype(dtype))
        x[[1, 0]] = collet.asarray(host[:2])
        assert np.array_equal(x.to_numpy()[:2], host[1::-1].astype(dtype))


def test_other_conversions():
    x = collet.asarray([-1e30, -1.5, float("nan"), 300.0])
    assert x.astype("uint8").to_numpy().tolist() == [0, 0, 0, 255] and x.astype("int8").to_numpy().tolist() == [-128, -1, 0, 127]
    assert collet.asarray([0, 256]).astype("?").to_numpy().tolist() == [False, True]
    assert collet.asarray([True]).astype("int8").to_numpy().tolist() == [1]


@pytest.mark.parametrize("source", ["f4", "f8"])
@pytest.mark.parametrize("dtype", [t for t in DTYPES if t[1] != "8"])
def test_floats_saturate(source, dtype):
    limits = np.iinfo(dtype)
    near = [v + d for v in (limits.min, limits.max, 0) for d in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
    rest = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e30, -1e30, 2.0**31, 2.0**32, 2.0**63]
    host = np.random.default_rng(3).choice(np.array(near + rest, source), 1500)
    whole = np.trunc(np.where(np.isnan(host), 0, host).astype("f8"))
    want = np.clip(whole, limits.min, limits.max).astype(dtype)
    for begin, end in (0, 1500), (1, 1500), (3, 520), (0, 5), (7, 1040):
        assert np.array_equal(collet.asarray(host)[begin:end].astype(dtype).to_numpy(), want[begin:end])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", "equal not_equal less less_equal greater greater_equal".split())
def test_comparisons(dtype, name):
    host, limits = np.array([0, 1, 7], dtype), np.iinfo(dtype)
    function = getattr(operator, {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
                                  "greater_equal": "ge"}[name])
    for number in -10**30, -2**63 - 1, int(limits.min) - 1, int(limits.max) + 1, 2**63, 2**64 - 1, 2**64, 10**30:
        x, out = collet.asarray(host), collet.empty(3, "bool")
        left, right = [function(int(n), number) for n in host], [function(number, int(n)) for n in host]
        for made in (function(x, number), getattr(collet, name)(host, number), getattr(collet, name)(x, number),
                     getattr(collet, name)(x, number, out=out), out):
            assert np.asarray(made).tolist() == left
        for made in function(number, x), getattr(collet, name)(number, x), getattr(collet, name)(number, host):
            assert np.asarray(made).tolist() == right
        assert isinstance(getattr(collet, name)(host, number), np.ndarray) and isinstance(function(x, number), collet.Array)
        sign = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}[name]
        if abs(number) < 2**127:
            assert collet.evaluate(f"x {sign} {number}", {"x": host}).tolist() == left
        if -2**63 <= number < 2**64:
            assert collet.evaluate(f"x {sign} k", {"x": host, "k": number}).tolist() == left
            assert collet.evaluate(f"k {sign} x", {"x": host, "k": number}).tolist() == right
    for number in int(limits.min), int(limits.max):
        assert function(collet.asarray(host), number).to_numpy().tolist() == [function(int(n), number) for n in host]
    x = collet.asarray([1e30, 2.0])
    assert function(x, 10**30).to_numpy().tolist() == [function(1e30, 1e30), function(2.0, 1e30)]


def numbers(dtype, count=3000):
    """Numbers near the limits of a dtype, near 0, near powers of two, and random numbers."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(limits.bits)
    near = [v for p in range(limits.bits) for v in (2**p - 1, 2**p, 2**p + 1, -2**p) if limits.min <= v <= limits.max]
    found = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, *near]
    return np.concatenate((np.asarray(found, dtype), rng.integers(limits.min, limits.max, count, dtype, endpoint=True)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_divisor(dtype):
    host = numbers(dtype)
    x = collet.asarray(host)
    for divisor in {int(v) for v in numbers(dtype, 40)} | {1, 3, 7, 10, 100}:
        if divisor == 0 or (divisor == -1 and dtype[0] == "i"):
            continue
        y = np.asarray(divisor, dtype)
        assert np.array_equal((x // y).to_numpy(), host // y), divisor
        assert np.array_equal((x % y).to_numpy(), host % y), divisor
    assert not (x // np.asarray(0, dtype)).to_numpy().any() and not (x % np.asarray(0, dtype)).to_numpy().any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_shift(dtype):
    host = numbers(dtype)
    x, bits = collet.asarray(host), np.iinfo(dtype).bits
    for count in range(bits):
        assert np.array_equal((x >> count).to_numpy(), host >> np.asarray(count, dtype)), count
    assert np.array_equal((x >> bits).to_numpy(), np.where(host < 0, -1, 0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions_of_many(dtype):
    host = numbers(dtype, 40000)
    for view in (slice(None), slice(None, None, 3), slice(None, None, -1)):
        for other in DTYPES:
            found = collet.asarray(host)[view].astype(other)
            assert found.dtype == other and np.array_equal(found.to_numpy(), host[view].astype(other)), other


@pytest.mark.parametrize("dtype", [*DTYPES, "?"])
def test_integers_are_finite(dtype):
    for shape in ((), (3,), (300, 1000), (0, 2)):
        x = collet.ones(shape, dtype)
        for name, value in (("isnan", False), ("isinf", False), ("isfinite", True)):
            found = getattr(collet, name)(x)
            assert found.dtype == "?" and found.shape == shape and np.all(found.to_numpy() == value)
