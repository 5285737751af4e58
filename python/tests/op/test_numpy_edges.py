# SPDX-License-Identifier: Apache-2.0
"""NumPy's results in special cases: infinities, dtypes of integers, errors of functions that the user gives, other byte
orders."""

import itertools
import warnings

import numpy as np
import pytest

import collet

INF, NAN = np.inf, np.nan
RNG = np.random.default_rng(11)


def convolved(a, v, mode):
    with np.errstate(all="ignore"):
        return np.convolve(a, v, mode)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(7, 3), (300, 70), (70, 300), (3000, 1), (2000, 129), (40000, 2), (500, 500)])
def test_convolution_beside_infinities(lengths, mode):
    a, v = (RNG.normal(size=n) for n in lengths)
    size = abs(a).max() * abs(v).max() * min(lengths)
    for places in [], [0], [-1], [0, 1, -1], [len(a) // 2]:
        for value in INF, -INF, NAN:
            given = a.copy()
            given[places] = value
            for kind in np.asarray, collet.asarray:
                found = collet.convolve(kind(given), kind(v), mode)
                np.testing.assert_allclose(np.asarray(found), convolved(given, v, mode), rtol=0, atol=1e-14 * size)
    v[0] = INF
    a[-1] = 0.0
    np.testing.assert_allclose(collet.convolve(collet.asarray(a), collet.asarray(v), mode), convolved(a, v, mode), rtol=0, atol=1e-14 * size)


def test_convolution_of_other_dtypes():
    for dtype, tolerance in ("f4", 5e-3), ("c16", 1e-11), ("i8", 0), ("i4", 0):
        a, v = ((RNG.normal(size=n) * 9).astype(dtype) for n in (900, 300))
        for mode in "full", "same", "valid":
            found = collet.convolve(collet.asarray(a), collet.asarray(v), mode)
            assert found.dtype == a.dtype
            np.testing.assert_allclose(found.to_numpy(), np.convolve(a, v, mode), rtol=0, atol=tolerance)


def test_transforms_of_convolutions():
    a, v, w = (collet.asarray(RNG.normal(size=n)) for n in (150, 70, 219))
    by_a, by_v = collet.grad(lambda a, v: collet.sum(collet.convolve(a, v) * w), (0, 1))(a, v)
    np.testing.assert_allclose(by_a, np.correlate(w, v, "valid"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_v, np.correlate(w, a, "valid"), rtol=0, atol=1e-12)
    rows = collet.vmap(collet.convolve, in_axes=(0, None))(collet.stack([a, 2 * a]), v)
    np.testing.assert_allclose(rows[1], 2 * np.convolve(a, v), rtol=0, atol=1e-12)
    np.testing.assert_allclose(collet.jit(collet.convolve)(a, v), np.convolve(a, v), rtol=0, atol=1e-12)


@pytest.mark.parametrize("xp, fp", [
    ([0.0, 1, 2], [0.0, NAN, 2]), ([0.0, 1, 2], [0.0, INF, 2]), ([0.0, 1, 2], [0.0, INF, INF]), ([0.0, 1, 2], [-INF, INF, 2]),
    ([0.0, 1, 2, 3], [INF, INF, NAN, 2]), ([0.0, 1, INF], [0.0, 1, 2]), ([-INF, 0, 1], [0.0, 1, 2]), ([-INF, INF], [3.0, 3]),
    ([-INF, 0, 1, 2, 3, INF], [0.0, 1, 5, 2, 7, 4]), ([-1e308, 1e308], [0.0, 1]), ([1.0], [3.0]), ([1.0], [NAN]), ([0.0, 1, 1, 2], [0.0, 1, 5, 6]),
    ([0.0, 1, 1], [0.0, 1, 5])])
def test_interpolation_between_infinities(xp, fp):
    x = np.array([0, 1, NAN, INF, -INF, 0.5, 2, -3, 1.5, 5, 0.25])
    with np.errstate(all="ignore"):
        wanted, outer = np.interp(x, xp, fp), np.interp(x, xp, fp, -7, 7)
    for kind in np.asarray, collet.asarray:
        np.testing.assert_array_equal(collet.interp(kind(x), kind(np.array(xp)), kind(np.array(fp))), wanted)
        np.testing.assert_array_equal(collet.interp(kind(x), xp, fp, -7, 7), outer)
    np.testing.assert_array_equal(np.interp(collet.asarray(x), xp, fp), wanted)
    np.testing.assert_array_equal(collet.jit(collet.interp)(collet.asarray(x), collet.asarray(xp), collet.asarray(fp)), wanted)


OTHER = {"ceil", "floor", "trunc"} if np.__version__ < "2" else set()  # NumPy 1 converts integers to floats.
REFUSED = {"positive"}  # NumPy's function does not take bool.
UFUNCS = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nin < 3 and f.nout == 1 and not f.signature}


@pytest.mark.parametrize("name", sorted({*UFUNCS} - OTHER - REFUSED))
def test_dtypes_of_ufuncs(name):
    """numpy.NAME of Arrays has NumPy's dtypes, and refuses what NumPy refuses."""
    ufunc, kinds = UFUNCS[name], "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()
    for dtypes in itertools.product(kinds, repeat=ufunc.nin):
        arguments = [np.array([1, 1, 2, 3]).astype(d) for d in dtypes]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = ufunc(*arguments)
            except TypeError:
                wanted = None
            try:
                found = ufunc(*map(collet.asarray, arguments))
            except TypeError:
                found = None
        assert (found is None) == (wanted is None), dtypes
        if wanted is not None and wanted.dtype.char not in "mMO":
            assert found.dtype == wanted.dtype, (dtypes, found.dtype, wanted.dtype)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-3 if found.dtype.itemsize < 4 else 1e-6)


def test_dtypes_of_covariances():
    for dtype in "f4", "f8", "c8", "i4", "f2":
        x = (RNG.normal(size=(3, 40)) * 9).astype(dtype)
        for name in "cov", "corrcoef":
            for arguments, keywords in ((x,), {}), ((x, x[:1]), {}), ((x, None, False), {}), ((x[0],), {"y": x[1]}):
                given = [collet.asarray(a) if a is x else a for a in arguments]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # rows of integers may be equal
                    wanted = getattr(np, name)(*arguments, **keywords)
                    found = getattr(np, name)(collet.asarray(arguments[0]), *given[1:], **keywords)
                assert isinstance(found, collet.Array) and found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    assert collet.cov(collet.ones((2, 3), "f4")).dtype == np.float32


def test_means_in_wider_dtypes():
    """dtype= is the dtype of the result, also for 16-bit floats. Sums in 16 bits would overflow."""
    x = np.array([60000.0, 60000.0, NAN, 60000.0, 1.0], "f2")
    for name in "nanmean", "nanvar", "nanstd":
        wanted = getattr(np, name)(x.astype("f8"))
        for found in (getattr(np, name)(collet.asarray(x), dtype="f8"), getattr(collet, name)(x, dtype="f8"),
                      getattr(collet, name)(collet.asarray(x), dtype="f8")):
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert getattr(collet, name)(collet.asarray(x[-1:]), dtype="f2").dtype == np.float16


def test_errors_of_functions_that_numpy_calls():
    """The exceptions of these functions are passed on unchanged. Collet adds no error before or after them."""
    def wrong(*_):
        raise error

    x = collet.asarray([1.0, 2.0])
    for error in ValueError("mine"), TypeError("mine"), KeyError("mine"):
        for call in (lambda: np.pad(x, 1, wrong), lambda: np.apply_along_axis(wrong, 0, x), lambda: np.piecewise(x, [x > 1], [wrong])):
            with pytest.raises(type(error)) as raised:
                call()
            assert raised.value is error and error.__cause__ is None and error.__context__ is None

    def filled(vector, widths, axis, keywords):
        vector[:widths[0]] = 9

    assert np.pad(x, 1, filled).tolist() == [9, 1, 2, 0]


def test_other_orders_of_bytes():
    x = np.arange(3.0).astype(">f8")
    assert collet.jit(lambda x: x * 2)(x).tolist() == [0, 2, 4]
    assert collet.grad(lambda x: collet.sum(x * x))(x).tolist() == [0, 2, 4]
    assert collet.value_and_grad(lambda t: collet.sum(t["x"] * x))({"x": x})[1]["x"].tolist() == [0, 1, 2]
    assert collet.vmap(lambda x: x * 2)(x).tolist() == [0, 2, 4]
    assert collet.jvp(lambda x: x * x, [x], [x])[1].tolist() == [0, 2, 8]
    assert collet.concat([collet.asarray([1.0]), x]).tolist() == [1, 0, 1, 2]


def test_quantiles_of_infinities():
    """A quantile at an element equals the element exactly, even if the difference to the next element is infinite."""
    x = np.array([[NAN, INF, INF, 1.0], [-INF, 2.0, NAN, 3.0], [5.0, NAN, NAN, NAN]])
    for q in 0.0, 0.5, 1.0:
        ordered = [np.sort(row[~np.isnan(row)]) for row in x]
        wanted = [o[int(round(q * (len(o) - 1)))] for o in ordered if (len(o) - 1) * q % 1 == 0]
        for kind in np.asarray, collet.asarray:
            found = np.asarray(collet.nanquantile(kind(x), q, axis=1))
            assert [v for v, o in zip(found.tolist(), ordered) if (len(o) - 1) * q % 1 == 0] == wanted
    assert float(collet.nanquantile(collet.asarray([1.0, INF, NAN]), 0.25)) == INF


def test_edges_of_histograms():
    """NumPy computes the edges of equal bins in the dtype of the array, so rounding decides the bin of a number."""
    for dtype in "f4", "f8":
        for x in (np.arange(11).astype(dtype) * np.array(0.1, dtype), np.array([0.3, 0.6, 0.9, 0.7], dtype), np.full(3, 2.0, dtype)):
            for arguments in (), (10,), (10, (0, 1)), (7, (-1, 0.5)), (3, (0, 0)), (4, None, True):
                found, wanted = np.histogram(collet.asarray(x), *arguments), np.histogram(x, *arguments)
                for f, w in zip(found, wanted, strict=True):
                    assert isinstance(f, collet.Array) and f.dtype == w.dtype and f.shape == w.shape
                    np.testing.assert_allclose(f, w, rtol=1e-7)


@pytest.mark.parametrize("backend", ["cpu_scalar", "cpu_openmp", "opencl"])
def test_tanh_of_infinities(backend):
    """C99, Annex G: the imaginary part of tanh(inf + iy) is 0 with the sign of sin(2y)."""
    if not any(b.name == backend and b.devices for b in collet.backends()):
        pytest.skip(f"no {backend}")
    y = np.array([0.0, -0.0, 0.5, 1, 2, 3, 4, -1, -2])
    with collet.using(backend):
        for real in INF, -INF, 1000.0, -1000.0:
            z = np.empty(y.size, complex)
            z.real, z.imag = real, y
            for dtype in "c16", "c8":
                found = np.asarray(collet.tanh(collet.asarray(z.astype(dtype))))
                assert (found.real == np.sign(real)).all() and (found.imag == 0).all()
                assert (np.signbit(found.imag) == np.signbit(np.sin(2 * y))).all()


def test_out_of_reductions():
    """Libraries such as xarray pass out=None as a keyword."""
    x = collet.asarray([[True, False], [False, False]])
    for name in "any", "all", "sum", "max", "min", "mean", "std", "var", "prod", "argmax", "cumsum":
        given = x if name in ("any", "all") else x.astype("f8")
        assert getattr(given, name)(axis=0, out=None).tolist() == getattr(np.asarray(given), name)(axis=0, out=None).tolist()


# What users reported of NumPy, CuPy and JAX. a: numpy.asarray or collet.asarray.
REPORTS = {
    "the smallest integer divided by -1": lambda a: np.floor_divide(a(np.array([-2**63, 7])), a(np.array([-1, -2]))),
    "its remainder": lambda a: np.remainder(a(np.array([-2**63, 7, -7])), a(np.array([-1, -2, 2]))),
    "its magnitude": lambda a: np.abs(a(np.array([-128, 5], "i1"))),
    "argmax stops at the first NaN": lambda a: np.argmax(a(np.r_[np.ones(100_000), NAN, 5.0, NAN])),
    "differences of unsigned integers": lambda a: np.diff(a(np.array([1, 5, 2], "u1"))),
    "gradients of unsigned integers": lambda a: np.gradient(a(np.array([1, 5, 2, 9], "u1"))),
    "roll of an empty array": lambda a: np.roll(a(np.zeros(0)), 3),
    "a mean of float16 whose sum overflows": lambda a: np.mean(a(np.full(4, 60000, "f2"))),
    "sums of small integers": lambda a: np.sum(a(np.array([200] * 3, "u1"))),
    "floor division by infinity": lambda a: np.floor_divide(a(np.array([-1.0, 1.0, -0.0])), a(np.array([INF, INF, INF]))),
    "remainders of infinity": lambda a: np.remainder(a(np.array([-1.0, 1.0, INF])), a(np.array([INF, -INF, 2.0]))),
    "halves to even, -0": lambda a: np.copysign(1.0, np.round(a(np.array([-0.5, 0.5, -0.2])))),
    "the square root below the cut": lambda a: np.sqrt(a(np.array([complex(-4, 0.0), complex(-4, -0.0)]))),
    "the magnitude of inf + nan i": lambda a: np.abs(a(np.array([complex(INF, NAN), complex(NAN, -INF)]))),
    "maxima with NaN": lambda a: np.maximum(a(np.array([1.0, NAN, 3.0])), a(np.array([NAN, 2.0, 4.0]))),
    "sorted NaN and zeros": lambda a: np.sort(a(np.array([3.0, NAN, -INF, 1.0, NAN]))),
    "searchsorted among NaN": lambda a: np.searchsorted(a(np.array([1.0, 2.0, NAN])), a(np.array([NAN, 3.0, 0.0]))),
    "determinants without elements": lambda a: np.linalg.det(a(np.zeros((2, 0, 0)))),
    "powers of a singular matrix": lambda a: np.linalg.matrix_power(a(np.zeros((2, 2))), 0),
    "bins of numbers on edges": lambda a: np.histogram(a(np.arange(11) * 0.1), 10, (0, 1))[0],
    "padding of one element by reflection": lambda a: np.pad(a(np.arange(1)), 3, mode="reflect")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REPORTS)
def test_reports(name):
    found, wanted = REPORTS[name](collet.asarray), REPORTS[name](np.asarray)
    assert isinstance(found, collet.Array) and found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("length", [64, 65, 71, 128, 200, 316, 700, 4096])
def test_places_along_rows(length, dtype):
    """argmax and argmin find the first of equal extremes or the first NaN at any place in a row; -0 equals 0."""
    draw = np.random.default_rng(length)
    many = draw.choice([0.0, -0.0, 1.0, -1.0, 2.0, -INF, INF], (40, length)).astype(dtype)
    single = np.zeros((length, length), dtype) + np.eye(length, dtype=dtype) if length < 400 else many
    zeros = np.where(draw.random((40, length)) < 0.5, 0.0, -0.0).astype(dtype)
    gaps = np.where(draw.random((40, length)) < 2 / length, NAN, many).astype(dtype)
    for x in many, single, -single, zeros, gaps, np.full((2, length), NAN, dtype), draw.normal(size=(40, length)).astype(dtype):
        for name in "argmax", "argmin":
            assert np.array_equal(getattr(collet, name)(collet.asarray(x), axis=1).to_numpy(), getattr(np, name)(x, axis=1)), name


def test_nonzero_of_each_byte_of_a_mask():
    """Each pattern of eight elements, at each offset. The masks are too large for the functions of small Arrays."""
    patterns = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(bool).ravel()
    mask = np.concatenate([np.zeros(40000, bool), patterns, patterns[3:], np.ones(11, bool)])
    for begin in range(8):
        for given in mask[begin:], mask[begin:begin + 40800].reshape(8, -1):
            found = collet.nonzero(collet.asarray(given))
            assert all(np.array_equal(a.to_numpy(), b) for a, b in zip(found, np.nonzero(given), strict=True))
            assert np.array_equal(collet.asarray(given)[collet.asarray(given)].to_numpy(), given[given])


@pytest.mark.parametrize("dtype", "i1 u1 i2 i4 i8 u8".split())
def test_isin_at_the_limits_of_a_dtype(dtype):
    draw, limits = np.random.default_rng(3), np.iinfo(dtype)
    wide = draw.integers(limits.min, limits.max, 1100, dtype, endpoint=True)
    near = draw.integers(max(limits.min, -60), 60, 1200).astype(dtype)
    ends = [np.array(v, dtype) for v in ([limits.max, limits.max - 3], [limits.min, limits.min + 7], [0], [5, 40])]
    for x in wide, near, np.concatenate([wide, *ends]):
        for sought in draw.choice(x, 5), *ends:
            assert np.array_equal(collet.isin(collet.asarray(x), collet.asarray(sought)).to_numpy(), np.isin(x, sought))
