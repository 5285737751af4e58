# SPDX-License-Identifier: Apache-2.0
"""Integers that a dtype does not hold, against NumPy: astype wraps, comparisons have an answer."""

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
