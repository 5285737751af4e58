# SPDX-License-Identifier: Apache-2.0
"""What users of other libraries reported about fused programs, extrema, products and conversions."""

import numpy as np
import pytest

import collet

INF, NAN = np.inf, np.nan
ROWS = 600  # rows of 128: enough elements for the lazy programs and for several threads


def softmax(xp, x, scale=None):
    y = x if scale is None else x * scale
    e = xp.exp(y - xp.max(y, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def rows(seed, columns=128, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal((ROWS, columns)).astype(dtype)


def agree(own, other, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(own), other, rtol=rtol, atol=1e-30)


@pytest.mark.parametrize("columns", [3, 31, 128, 1000])
def test_softmax_of_large_and_masked_values(columns):
    x = rows(1, columns)
    with np.errstate(all="ignore"):
        agree(softmax(collet, collet.asarray(x - 200)), softmax(np, x - 200), 1e-4)  # only large negative numbers
        masked = x.copy()
        masked[:, : columns // 2 + 1] = -INF
        agree(softmax(collet, collet.asarray(masked)), softmax(np, masked), 1e-4)  # whole vectors of -inf
        masked[7] = -INF
        masked[9, -1] = NAN
        agree(softmax(collet, collet.asarray(masked)), softmax(np, masked), 1e-4)  # a row of -inf, a NaN in a masked row
        x[:, 0] = INF
        plain = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
        own = collet.asarray(x)
        agree(collet.exp(own) / collet.sum(collet.exp(own), axis=1, keepdims=True), plain, 1e-4)  # NaN next to zeros


@pytest.mark.parametrize("magnitude", [2.0**31, 1e20, 1e30])
def test_softmax_of_a_scaled_value_is_finite(magnitude):
    """softmax subtracts the maximum of x * scale from x * scale. If the product were computed twice, with different
    roundings, the difference could be far above 0, and exp() would overflow."""
    x = (rows(2) * magnitude).astype(np.float32)
    own = np.asarray(softmax(collet, collet.asarray(x), np.float32(1 / 3)))
    assert np.isfinite(own).all()
    agree(own.sum(axis=1), 1.0)
    assert (own.max(axis=1) > 0.99).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 33, 64, 65, 200])
def test_nan_at_each_place(dtype, size):
    """min and argmin find a NaN at each place; nanmin and nanargmin ignore it."""
    clean = np.random.default_rng(size).standard_normal(size).astype(dtype)
    for place in range(size):
        x = clean.copy()
        x[place] = NAN
        for lines in (x, np.stack([x, clean, x]), np.ascontiguousarray(np.stack([x, clean], 1).T)):
            own = collet.asarray(lines)
            for name in ("min", "max", "argmin", "argmax"):
                np.testing.assert_array_equal(np.asarray(getattr(collet, name)(own, axis=-1)),
                                              getattr(np, name)(lines, axis=-1), f"{name} {place}")
            if size > 1:
                for name in ("nanmin", "nanmax", "nanargmin", "nanargmax"):
                    np.testing.assert_array_equal(np.asarray(getattr(collet, name)(own, axis=-1)),
                                                  getattr(np, name)(lines, axis=-1), f"{name} {place}")


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("size", [3, 100, 100_000])
def test_extrema_of_infinities_and_nan(size):
    for low in (-INF, INF, np.finfo(np.float64).min):
        x = np.full(size, NAN)
        x[size // 2] = low
        assert np.asarray(collet.nanmax(collet.asarray(x))) == low  # not the reduction's initial value
        assert np.asarray(collet.nanmin(collet.asarray(x))) == low
    assert np.isnan(np.asarray(collet.nanmax(collet.asarray(np.full(size, NAN)))))
    two = np.full((2, size), NAN)
    two[1] = 5
    np.testing.assert_array_equal(np.asarray(collet.nanmin(collet.asarray(two), axis=1)), [NAN, 5])
    with pytest.raises(ValueError, match="NaN"):
        collet.nanargmax(collet.asarray(two), axis=1)


@pytest.mark.parametrize("n", [3, 40, 100, 300])
def test_products_into_overlapping_and_strided_memory(n):
    a = np.random.default_rng(n).standard_normal((2, n, n))
    expected = a @ a
    own = collet.asarray(a)
    np.testing.assert_allclose(np.asarray(collet.matmul(own, own)), expected)
    np.matmul(own, own, out=own)  # the factors are the output
    np.testing.assert_allclose(np.asarray(own), expected, rtol=1e-9, atol=1e-9)
    left, right = np.random.default_rng(1).standard_normal((2, n, n))
    for out in (np.zeros((2 * n, 2 * n))[::-2, ::-2], np.zeros((n, n), order="F"), np.zeros((n, 2 * n))[:, ::2]):
        collet.op.matmul(left, right, out=out)
        np.testing.assert_allclose(out, left @ right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("target", [np.uint8, np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_conversions_saturate_at_each_place(source, target):
    """Values outside the range of the target become its limits, and NaN becomes 0, at each place of a vector."""
    info = np.iinfo(target)
    edges = np.array([NAN, INF, -INF, 0.0, -0.0, -0.5, 0.5, -1.0, 255.9, 256.0, 1e300, -1e300, 127.99, 128.0, -128.9, -129.0,
                      2.0**31 - 1, 2.0**31, -2.0**31, 2.0**32 - 1, 2.0**32, 2.0**63, 2.0**64, -2.0**63, 3.7, -3.7])
    with np.errstate(over="ignore"):
        edges = edges.astype(source)
    for size in (1, 5, 16, 31, 67, 1000):
        for turn in range(0, 26, 5):
            x = np.resize(np.roll(edges, turn), size)
            expected = [0 if np.isnan(v) else info.min if v < info.min else info.max if v > info.max else int(v)
                        for v in x.tolist()]
            np.testing.assert_array_equal(np.asarray(collet.astype(collet.asarray(x), target)), np.array(expected, target))


def test_numbers_outside_of_a_dtype_are_compared_as_they_are():
    x = np.array([0, 44, 255], np.uint8)
    for number in (300, -1, 44, 2**40):
        np.testing.assert_array_equal(np.asarray(collet.isin(collet.asarray(x), number)), x == number)
        assert int(collet.searchsorted(collet.asarray(x), number)) == np.searchsorted(x.astype(int), number)


def test_nan_to_num_replaces_each_number_once():
    x = np.array([NAN, INF, -INF, -0.0, 2.0])
    for options in ({}, {"nan": INF, "posinf": 7.0}, {"nan": -INF, "neginf": 3.0}, {"posinf": -INF, "neginf": 1.0}):
        for values in (x, x + 0j, np.array([INF + 1j, complex(NAN, 2), complex(-0.0, -0.0), complex(3, -INF)])):
            np.testing.assert_array_equal(np.asarray(collet.nan_to_num(collet.asarray(values), **options)),
                                          np.nan_to_num(values, **options))
    half = collet.asarray(np.array([NAN, 1], np.float16))
    assert str(collet.nan_to_num(half, nan=np.array(3.0)).dtype) == "float16"


def test_extrema_of_complex_numbers_are_refused_by_name():
    for name in ("nanmax", "nanmin"):
        with pytest.raises(TypeError, match=name[3:] + ".*complex128"):
            getattr(collet, name)(collet.asarray(np.array([1 + 1j])))
