# SPDX-License-Identifier: Apache-2.0
"""Integers that a dtype does not hold, against NumPy: astype wraps, comparisons have an answer."""

import itertools
import operator

import numpy as np
import pytest

import collet
from collet._standard.integers import comparison

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
    for number in -10**30, int(limits.min) - 1, int(limits.max) + 1, 10**30:
        for x in host, collet.asarray(host):
            made = comparison(name, x, number), comparison(name, number, x)
            assert all(type(m) is type(x) and m.shape == (3,) for m in made)
            assert np.asarray(made[0]).tolist() == [function(int(n), number) for n in host]
            assert np.asarray(made[1]).tolist() == [function(number, int(n)) for n in host]
        x = collet.asarray(host)
        for made in function(x, number), getattr(collet, name)(host, number):
            assert np.asarray(made).tolist() == [function(int(n), number) for n in host]
        for made in function(number, x), getattr(collet, name)(number, x), getattr(collet, name)(number, host):
            assert np.asarray(made).tolist() == [function(number, int(n)) for n in host]
    for number in int(limits.min), int(limits.max):
        assert function(x, number).to_numpy().tolist() == [function(int(n), number) for n in host]
    for number in int(limits.min), int(limits.max), 0, True, 1.5:
        assert comparison(name, host, number) is None and comparison(name, number, host) is None
    assert comparison("add", host, 10**30) is None and comparison(name, np.ones(2), 10**30) is None
