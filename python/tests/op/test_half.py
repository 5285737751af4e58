# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16: the result of every composed function is the float64 result, rounded once. Tested
with few elements, and with so many that float16 cannot represent their number."""

import numpy as np
import pytest

import collet
from collet import functions as f

# Functions that arrange, select, compare, count or create elements. They do not round numbers, or they compute in
# integers.
EXACT = """all any append arange argmax argmin argpartition argsort argwhere array_equal atleast_1d atleast_2d
    broadcast_arrays broadcast_shapes broadcast_to column_stack concat count_nonzero delete diag diagonal digitize
    empty_like expand_dims eye flatnonzero flip fliplr flipud full_like hstack intersect1d isin linspace
    matrix_transpose max meshgrid min moveaxis nanargmax nanargmin nanmax nanmin nonzero ones_like pad partition
    permute_dims ravel repeat reshape roll rot90 searchsorted select setdiff1d sliding_window_view sort split squeeze
    stack swapaxes take take_along_axis tile transpose tril triu union1d unique_all unique_counts unique_inverse
    unique_values unstack vstack zeros_like""".split()

# Calls of all other functions, with vectors x and y, and z, which contains NaN.
CASES = {
    "allclose": lambda x, y, z: f.allclose(x, x) and not f.allclose(x, y),
    "average": lambda x, y, z: [f.average(x), f.average(x, weights=y), *f.average(x[:5], weights=y[:5], returned=True)],
    "bincount": lambda x, y, z: f.bincount(collet.asarray(np.arange(x.size) % 3), weights=x),
    "convolve": lambda x, y, z: f.convolve(x[:2000], y[:1000], "valid") if x.size > 10 else f.convolve(x, y),
    "corrcoef": lambda x, y, z: [f.corrcoef(x, y), f.corrcoef(x, x)],
    "cov": lambda x, y, z: [f.cov(x), f.cov(x, y), f.cov(x, ddof=0)],
    "cross": lambda x, y, z: f.cross(x[:9].reshape(3, 3), y[:9].reshape(3, 3)),
    "cumulative_prod": lambda x, y, z: f.cumulative_prod(x[:20]),
    "cumulative_sum": lambda x, y, z: f.cumulative_sum(x),
    "degrees": lambda x, y, z: f.degrees(x), "radians": lambda x, y, z: f.radians(x),
    "diff": lambda x, y, z: f.diff(x), "dot": lambda x, y, z: f.dot(x, y),
    "einsum": lambda x, y, z: [f.einsum("i,i->", x, y), f.einsum("i,i,i->", x, y, x), f.einsum("i,j->", x, y),
                               f.einsum("i->", x), f.einsum("i,i,i->i", x, y, x)],
    "gradient": lambda x, y, z: [f.gradient(x), f.gradient(x, f.cumulative_sum(y * 0 + 0.5)[:x.size])
                                 if x.size == 10 else f.gradient(x, 3.0)],
    "histogram": lambda x, y, z: [*f.histogram(x, 5), *f.histogram(x, 4, (0, 1), density=True),
                                  f.histogram(x, 3, weights=y)[0]],
    "histogram2d": lambda x, y, z: f.histogram2d(x, y, 4, weights=x)[0],
    "inner": lambda x, y, z: f.inner(x, y), "isclose": lambda x, y, z: f.isclose(x, y, atol=1e-8, rtol=1e-5),
    "interp": lambda x, y, z: f.interp(y, f.sort(x), f.sort(y)),
    "kron": lambda x, y, z: f.kron(x[:10], y[:10]), "outer": lambda x, y, z: f.outer(x[:10], y[:10]),
    "matmul": lambda x, y, z: [f.matmul(x.reshape(2, -1), y.reshape(-1, 2)), f.matmul(x, y),
                               f.matmul(x.reshape(2, -1), y[:x.size // 2])],
    "mean": lambda x, y, z: f.mean(x), "median": lambda x, y, z: [f.median(x), f.median(x[1:])],
    "nan_to_num": lambda x, y, z: f.nan_to_num(z, nan=0.5),
    "nanmean": lambda x, y, z: f.nanmean(z), "nanmedian": lambda x, y, z: f.nanmedian(z),
    "nanpercentile": lambda x, y, z: [f.nanpercentile(z, q) for q in (0, 13, 50, 99.99)],
    "nanprod": lambda x, y, z: f.nanprod(z[:10]),
    "nanquantile": lambda x, y, z: [f.nanquantile(z, q) for q in (0.0, 0.131, 0.7, 0.99999)],
    "nanstd": lambda x, y, z: f.nanstd(z), "nansum": lambda x, y, z: f.nansum(z),
    "nanvar": lambda x, y, z: [f.nanvar(z), f.nanvar(z, correction=1)],
    "percentile": lambda x, y, z: [f.percentile(x, q) for q in (0, 13, 50, 99.99)],
    "prod": lambda x, y, z: f.prod(x[:10]), "ptp": lambda x, y, z: f.ptp(x),
    "quantile": lambda x, y, z: [f.quantile(x, q) for q in (0.0, 0.131, 0.7, 0.99999)] + [f.quantile(x, [0.3, 0.6])],
    "std": lambda x, y, z: f.std(x), "sum": lambda x, y, z: [f.sum(x), f.sum(x.reshape(2, -1), axis=1)],
    "tensordot": lambda x, y, z: f.tensordot(x, y, axes=1), "trace": lambda x, y, z: f.trace(x[:9].reshape(3, 3)),
    "trapezoid": lambda x, y, z: [f.trapezoid(x), f.trapezoid(x[:9], f.sort(y[:9]))],
    "unwrap": lambda x, y, z: f.unwrap(x[:2000] * 8),
    "var": lambda x, y, z: [f.var(x), f.var(x, correction=1)], "vdot": lambda x, y, z: f.vdot(x, y),
    "vecdot": lambda x, y, z: f.vecdot(x, y),
}


def test_every_function_has_a_place():
    names = {n for n, function in vars(f).items() if not n.startswith("_") and callable(function)}
    assert names == {*EXACT, *CASES}


def inputs(dtype, size):
    """x, y and z, in dtype, and the same numbers in float64."""
    generator = np.random.default_rng(size)
    x, y, z = (generator.random(size) * (1 if size > 10 else 4) for _ in range(3))
    z[::7] = np.nan
    narrow = [collet.asarray(v).astype(dtype) for v in (x, y, z)]
    return narrow, [v.astype("float64") for v in narrow]


def parts(found):
    return [p for part in found for p in parts(part)] if isinstance(found, (list, tuple)) else [found]


def agrees(got, want, dtype):
    """Whether the results are equal, except for one rounding to `dtype` and errors of float32."""
    got = got.astype("float64") if hasattr(got, "dtype") and got.dtype.kind in "fV" else got
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    bits, most, least = (11, 65520.0, 2.0**-25) if dtype == "float16" else (8, 3.4e38, 1e-40)
    want = np.where(np.abs(want) >= most, np.copysign(np.inf, want), want)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= np.abs(want) * 2.0**-bits * 1.01 + least + 2e-6 * np.nanmax(np.abs(want), initial=1)
    return bool(np.all((got == want) | near | np.isnan(got) & np.isnan(want)))


@pytest.mark.parametrize("size", [10, 100_000])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "NumPy's float16"])
@pytest.mark.parametrize("name", CASES)
def test_as_float64(name, kind, size):
    dtype = kind.rpartition(" ")[2]
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")  # which has the dtype
    narrow, wide = inputs(dtype, size)
    if kind != dtype:
        narrow, wide = ([v.to_numpy() for v in values] for values in (narrow, wide))
    for got, want in zip(parts(CASES[name](*narrow)), parts(CASES[name](*wide)), strict=True):
        assert agrees(got, want, dtype), (got, want)


def test_what_fell():
    half = np.float16
    for make in np.asarray, collet.asarray:
        ones = make(np.ones(70000, half))
        assert float(f.nanmean(ones)) == 1 and f.nanmean(ones).dtype == half
        assert float(f.average(ones, weights=ones)) == 1
        halves = make(np.tile(np.array([0, 1], half), 70000))
        assert float(f.cov(halves)) == 0.25 and f.cov(halves).dtype == half
        assert float(f.nanvar(halves)) == 0.25 and float(f.nanstd(halves)) == 0.5
        assert float(f.median(make(np.array([60000, 50000], half)))) == float(half(54992))
        assert float(f.nanmedian(make(np.array([60000, 50000, np.nan], half)))) == float(half(54992))
        assert float(f.quantile(make(np.array([-60000, 60000], half)), 0.75)) == 30000
        places = make(np.arange(5000).astype(half) / half(4))
        assert float(f.nanquantile(f.concat([places, places[:1] * np.nan]), 0.7)) == float(f.quantile(places, 0.7))
        assert float(np.round(collet.asarray(np.array(60000, half)), 2)) == 60000
    assert f.median([half(60000), half(50000)]).dtype == half
    assert f.nanmean([half(1), np.float32(2)]).dtype == np.float32
    assert f.cov(np.ones(3, half), y=np.ones(3)).dtype == np.float64


def test_float32_counts_beyond_its_integers():
    x = np.broadcast_to(np.float32(1), 2**24 + 2)
    assert float(f.nanmean(x)) == 1 and f.nanmean(x).dtype == np.float32
    assert float(f.nanvar(x)) == 0
    halves = np.tile(np.array([0, 1], "f4"), 2**23 + 2**21)
    assert float(f.cov(halves)) == 0.25 and f.cov(halves).dtype == np.float32


def test_gradients_of_lists():
    found = collet.grad(lambda x: f.nanmean([x[0], x[1] * x[1]]) + f.average([x[0], x[2]], weights=[1, 3]))
    assert found(np.array([1.0, 2, 3])).tolist() == [0.75, 2, 0.75]


def test_gradients():
    x = collet.asarray(np.array([1, 2, 4, 3], np.float16))
    for function in f.median, f.nanmean, f.cov, f.nanvar, lambda x: f.quantile(x, 0.4):
        got = collet.grad(lambda x: collet.sum(function(x)))(x)
        want = collet.grad(lambda x: collet.sum(function(x)))(x.astype("float64"))
        assert got.dtype == np.float16 and np.allclose(got.to_numpy(), want.to_numpy(), rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_nextafter(dtype):
    """All numbers of the dtype, towards both infinities, zeros, NaN and 1."""
    name = pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype
    a = np.arange(2**16, dtype=np.uint16).view(name)
    for to in np.inf, -np.inf, 0.0, -0.0, np.nan, 1.0:
        b = np.full(a.shape, to, name)
        with np.errstate(over="ignore"):
            want = np.where(a == b, b, np.nextafter(a, b))  # as in C, the result is b if a == b: -0 and 0
        for got in collet.nextafter(collet.asarray(a), collet.asarray(b)), collet.nextafter(a, b):
            got = got.to_numpy() if isinstance(got, collet.Array) else got
            assert got.dtype == want.dtype
            same = got.view(np.uint16) == want.view(np.uint16)
            number = ~np.isnan(want.astype("f4")) & (np.abs(a.astype("f4")) >= (2.0**-120 if dtype == "bfloat16" else 0))
            assert same[number].all() and np.isnan(got.astype("f4"))[np.isnan(want.astype("f4"))].all()
    x = collet.asarray(np.array([1, 2], np.float16))
    assert collet.nextafter(x, 3).dtype == np.float16 and np.nextafter(x, x + 1).dtype == np.float16
