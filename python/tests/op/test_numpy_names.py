# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy has and the standard lacks, against NumPy."""

import warnings

import numpy as np
import pytest

import collet

RNG = np.random.default_rng(5)
M = RNG.normal(size=(4, 5)).round(2)
N = M.copy()
N[1, 2] = N[3] = np.nan
I = RNG.integers(0, 6, (4, 5))
V = RNG.integers(0, 6, 7)
C = M[:2] + 1j * M[2:]
Z = np.array([[1.5, np.nan], [np.inf, -np.inf]])

OTHERS = {"sliding_window_view": np.lib.stride_tricks.sliding_window_view,
          "trapezoid": getattr(np, "trapezoid", None) or np.trapz}
CALLS = {
    "isclose": [(M, M + 1e-9), (Z, Z), (Z, Z, 1e-5, 1e-8, True), (I, I + 1), (M, 0.0)],
    "allclose": [(M, M + 1e-9), (Z, Z), (M, M + 1)], "array_equal": [(M, M), (M, I), (Z, Z), (Z, Z, True), (M, M[0])],
    **{n: [(N,), (N, {"axis": 0}), (N, {"axis": 1, "keepdims": True}), (I, {"axis": 0})] for n in ("nansum", "nanprod")},
    **{n: [(N[:3],), (N[:3], {"axis": 0}), (N, {"axis": 1, "keepdims": True}), (I, {"axis": 1})] for n in (
        "nanmax", "nanmin", "nanmean", "nanstd", "nanvar")},
    **{n: [(N[:3],), (N[:3], {"axis": 1}), (I, {"axis": 0})] for n in ("nanargmax", "nanargmin")},
    "nanmedian": [(N[:3],), (N[:3], {"axis": 0}), (N, {"axis": 1, "keepdims": True}), (I, {"axis": 1}), (N, (0, 1)), (N[None], (0, -1), {"keepdims": True}),
                  (N[:, :0], 1), (N[:0], 1), (np.full(3, np.nan),)],
    "nan_to_num": [(Z,), (Z, {"nan": 1.0, "posinf": 2.0, "neginf": 3.0}), (I,)],
    "average": [(M,), (I, {"axis": 0}), (M, {"axis": 1, "weights": np.arange(1, 6)}), (M, {"weights": abs(M)}),
                (M, {"axis": 0, "weights": abs(M), "keepdims": True})],
    "sliding_window_view": [(V, 3), (M, 2, 1), (M, 3, -2), (M, (2, 3)), (M, (2, 2), (1, 1))],
    "ptp": [(M,), (I, {"axis": 0}), (M, {"axis": 1, "keepdims": True})],
    "cov": [(M,), (M, M + 1), (M[0],), (M, None, False), (M, {"bias": True}), (M, {"ddof": 2}), (C,), (I,)],
    "corrcoef": [(M,), (M[0], M[1]), (C,), (M, None, False)],
    "bincount": [(V,), (V, np.arange(7.0)), (V, None, 9), (V[:0],), (V[:0], None, 3)],
    "interp": [(M, np.arange(-2, 3.0), np.arange(5.0)**2), (M, [0.0, 1], [3, 4], -9, 9), (0.5, [0, 1], [2, 4]), (M, [0.5], [2.0])],
    "ravel": [(M,), (M.T,), (3,)], "atleast_1d": [(3,), (M,)], "atleast_2d": [(3,), (V,), (M,)],
    "hstack": [([V, V],), ([M, M],), ([1, 2],)], "vstack": [([V, V],), ([M, M],)],
    "split": [(M, 2), (M, [1, 3]), (M, [2, 4], 1), (M, 5, -1)], "swapaxes": [(M, 0, 1), (M[None], -1, 0)],
    "argpartition": [], "argwhere": [(I,), (V > 2,)],
    "dot": [(M, M.T), (V, V), (I, I.T), (M, 2), (M[:, :4], RNG.normal(size=(2, 4, 3)))],
    "inner": [(M, M), (V, V), (V, 3)], "vdot": [(C, C), (I, I), (M, M)], "kron": [(V, V), (M, I), (V, M), (2, M)],
    "digitize": [(M, np.array([-1.0, 0, 0.5])), (M, np.array([1.0, 0, -0.5])), (I, np.array([1, 3, 3]), True), (M, np.array([1.0, 0]), True)],
    "histogram2d": [(V, V), (M[0], M[1], 4), (M[0], M[1], (3, 2), ((-1, 1), (-2, 2))), (V, V[::-1].copy(), (np.array([0.0, 2, 6]), 3), None, True),
                    (M[0], M[1], 3, None, False, np.arange(5.0))],
    **{n: [(V, V[:3]), (I, V), (M, M[:2])] for n in ("union1d", "intersect1d", "setdiff1d")},
    "column_stack": [([V, V],), ([M, M],), ([M[:, 0].copy(), M],)], "fliplr": [(M,)], "flipud": [(M,), (V,)],
    "rot90": [(M, k) for k in range(-1, 5)] + [(np.arange(24).reshape(2, 3, 4), 1, (1, 2)), (np.arange(24).reshape(2, 3, 4), 3, (2, 0))],
    "append": [(V, V), (M, M, 0), (M, 3)], "delete": [(V, 1), (M, 2, 0), (M, [0, -1], 1), (V, slice(1, 4)), (V, V > 2)],
    "flatnonzero": [(I,), (V > 2,)], "select": [([V > 4, V > 2], [V, V * 10]), ([I > 3], [M], -1.0)],
    "gradient": [(V,), (M,), (M, 2.0), (M, {"axis": 1}), (M, 0.5, np.array([0.0, 1, 3, 4, 9])), (M[0], np.array([0.0, 1, 3, 4, 9]))],
    "convolve": [(V, V[:3]), (V[:3], V), *((M[0], M[1, :n], mode) for n in (1, 2, 3) for mode in ("full", "same", "valid"))],
    "unwrap": [(M * 9,), (M * 9, {"axis": 0}), (M * 9, {"period": 3.0}), (M * 9, 4.0), (V,), (V, {"period": 5}), (V, {"period": 4}),
               (np.array([0, 190, 10, 355], "i4"), {"period": 360})],
    "degrees": [(M,), (I,)], "radians": [(M,)],
    **{n: [(N[:3], q), (N[:3], q, 0), (N, q, 1, {"keepdims": True}), (N, q, {"keepdims": True}), (I, q, 0), (N[None], q, (0, 2)), (N[:, :0], 0.3 if isinstance(q, list) else q, 1)] for n, q in (
        ("nanquantile", 0.3), ("nanquantile", [0.0, 0.5, 1.0]), ("nanpercentile", 75))},
    "trapezoid": [(M,), (M, {"axis": 0}), (M, {"dx": 0.5}), (M, np.arange(5.0)**2)],
}


def call(function, arguments, kind):
    *given, keywords = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    taken = [[kind(x) if isinstance(x, np.ndarray) else x for x in g] if isinstance(g, list) else
             kind(g) if isinstance(g, np.ndarray) else g for g in given]
    with np.errstate(all="ignore"):
        return function(*taken, **{n: kind(v) if isinstance(v, np.ndarray) else v for n, v in keywords.items()})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [np.asarray, collet.asarray], ids=["numpy", "Array"])
@pytest.mark.parametrize("name", CALLS)
def test_against_numpy(name, kind):
    for arguments in CALLS[name]:
        wanted = call(OTHERS.get(name) or getattr(np, name), arguments, np.asarray)
        found = call(getattr(collet, name), arguments, kind)
        if isinstance(wanted, bool):
            assert found is wanted
            continue
        if name == "histogram2d":
            assert all(np.array_equal(f, w) for f, w in zip(found[1:], wanted[1:]))
            found, wanted = found[0], wanted[0]
        several = isinstance(wanted, (list, tuple))
        for f, w in zip(found, wanted) if several else ((found, wanted),):
            arrays = any(isinstance(a, np.ndarray) for given in arguments for a in (given if isinstance(given, list) else [given]))
            assert not arrays or isinstance(f, collet.Array) == (kind is collet.asarray), arguments
            f, w = np.asarray(f), np.asarray(w)
            assert f.shape == w.shape and f.dtype == w.dtype, (arguments, f.dtype, w.dtype, f.shape, w.shape)
            np.testing.assert_allclose(f, w, rtol=1e-12, atol=1e-12)


def test_dtypes():
    x = collet.asarray(N[:3].astype("f4"))
    for name in "nanmean", "nanvar", "nanstd", "nansum", "nanprod":
        made = getattr(collet, name)(x, 1, "float64")
        assert made.dtype == np.float64
        assert np.allclose(made.to_numpy(), getattr(np, name)(N[:3].astype("f4"), 1, "f8"))
    for keywords in {"correction": 1}, {"ddof": 1}:
        assert np.allclose(collet.nanvar(x, 0, **keywords).to_numpy(), np.nanvar(N[:3].astype("f4"), 0, ddof=1), equal_nan=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [np.asarray, collet.asarray], ids=["numpy", "Array"])
def test_partition(kind):
    for x in M, I:
        for kth in 0, 2, -1, (1, 3):
            for axis in -1, 0, None:
                found, order = (np.asarray(getattr(collet, n)(kind(x), kth, axis=axis)) for n in ("partition", "argpartition"))
                flat = x.reshape(-1) if axis is None else x
                at = 0 if axis is None else axis
                ordered = np.sort(flat, axis=at)
                for k in kth if isinstance(kth, tuple) else (kth,):
                    assert np.array_equal(found.take(k, axis=at), ordered.take(k, axis=at))
                assert np.array_equal(np.sort(found, axis=at), ordered)
                assert np.array_equal(np.sort(np.take_along_axis(flat, order, axis=at), axis=at), ordered)


def test_what_is_refused():
    x = collet.asarray(M)
    for wrong, error, text in ((lambda: collet.average(x, weights=V), ValueError, "weights have the shape"),
                               (lambda: collet.average(x, weights=M * 0), ZeroDivisionError, "add up to zero"),
                               (lambda: collet.bincount(x), ValueError, "vector of integers"),
                               (lambda: collet.bincount(collet.asarray([-1])), ValueError, "negative"),
                               (lambda: collet.bincount(V, [1.0]), ValueError, "weights"),
                               (lambda: collet.split(x, 3), ValueError, "into 3 equal parts"),
                               (lambda: collet.partition(x, 5), ValueError, "kth is 5"),
                               (lambda: collet.nanargmax(x * np.nan), ValueError, "all elements are NaN"),
                               (lambda: collet.interp(x, [1, 2], [1]), ValueError, "vectors of one length"),
                               (lambda: collet.sliding_window_view(x, (2, 3, 4)), ValueError, "3 lengths of windows for 2 axes"),
                               (lambda: collet.sliding_window_view(x, 6, 1), collet.ShapeError, "the length is 6; it must be 1 to the 5"),
                               (lambda: collet.sliding_window_view(x, 2, 2), collet.InvalidError, "axis 2 is out of range"),
                               (lambda: collet.digitize(x, [1.0, 3, 2]), ValueError, "ascend or descend"),
                               (lambda: collet.histogram2d(x, V), ValueError, "20 elements, y 7"),
                               (lambda: collet.histogram2d(x, x, 0), ValueError, "0 bins"),
                               (lambda: collet.rot90(x, 1, (0, -2)), ValueError, "two different axes"),
                               (lambda: collet.select([x > 0], []), ValueError, "1 conditions and 0 choices"),
                               (lambda: collet.gradient(x, 1.0, 2.0, axis=0), TypeError, "2 distances for 1 axes"),
                               (lambda: collet.gradient(x[:1]), ValueError, "at least two elements"),
                               (lambda: collet.gradient(x, [1.0, 2], axis=0), ValueError, "the axis has 4 elements"),
                               (lambda: collet.convolve(x, x), ValueError, "it takes vectors"),
                               (lambda: collet.nanquantile(x, 50), ValueError, "quantiles are from 0 to 1"),
                               (lambda: collet.cov(x[None]), collet.ShapeError, "3 axes")):
        with pytest.raises(error, match=text):
            wrong()


def test_gradients():
    x = collet.asarray([1.0, 2.0, 4.0])
    for function in (lambda x: collet.nansum(x * x), lambda x: collet.dot(x, x), lambda x: collet.inner(x, x),
                     lambda x: collet.sum(collet.hstack([x, x])**2) / 2, lambda x: collet.sum(collet.ravel(x)**2),
                     lambda x: collet.average(x**2, weights=[1, 1, 1]) * 3, lambda x: collet.vdot(x, x)):
        assert np.allclose(collet.grad(function)(x).to_numpy(), [2, 4, 8])


def test_covariances_without_degrees_of_freedom():
    x = np.arange(6.0).reshape(2, 3) ** 2
    for ddof in 2, 3, 4, 9:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = np.cov(x, ddof=ddof)
        for given in x, collet.asarray(x):
            assert np.array_equal(np.asarray(collet.cov(given, ddof=ddof)), want, equal_nan=True)


def test_correlations_stay_within_one():
    generator = np.random.default_rng(5)
    for kind in "real", "complex":
        for _ in range(200):
            x = generator.normal(size=7) * 10.0**generator.integers(-8, 8)
            x = x + 1j * generator.normal(size=7) if kind == "complex" else x
            found = np.asarray(collet.corrcoef(np.stack([x, 3 * x, -x / 7])))
            assert (np.abs(found.real) <= 1).all() and (np.abs(found.imag) <= 1).all()
            assert np.allclose(found, np.corrcoef(np.stack([x, 3 * x, -x / 7])), atol=1e-12)


def test_counts_of_averages_of_infinities():
    x = np.array([[1.0, np.inf], [np.nan, 2.0]])
    for given in x, collet.asarray(x):
        mean, count = collet.average(given, axis=0, returned=True)
        assert np.asarray(count).tolist() == [2, 2] and np.isnan(np.asarray(mean)[0])
        assert float(collet.average(given, returned=True)[1]) == 4


def test_bins_that_are_not_sorted():
    for bins in [1, 3, 2], [3, 1, 2]:
        for dtype in "u1", "u8", "i1", "f4":
            with pytest.raises(ValueError, match="ascend or descend"):
                collet.digitize([1, 2], np.array(bins, dtype))
    assert collet.digitize([0, 5, 200], np.array([100, 3], "u1")).tolist() == np.digitize([0, 5, 200], [100, 3]).tolist()


def test_messages_of_histograms():
    with pytest.raises(collet.DtypeError, match="float64, uint8, uint16, int32 or int64$"):
        collet.op.histogram(np.ones(3, "c16"), bins=3, low=0, high=1)
    for call in (lambda: collet.histogram(np.ones(3, "c16")), lambda: collet.histogram([1.0], weights=[1j])):
        with pytest.raises(collet.DtypeError, match="complex128; real numbers"):
            call()


def same_bits(x, y):
    return x.dtype == y.dtype and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("shape, axis", [((n,), None) for n in (1, 7, 16, 33, 64, 100, 500)] + [((40, 70), 0), ((40, 70), 1), ((300, 9), 1), ((9, 3000), 0)])
def test_extremes_skip_nan_and_order_zeros(shape, axis, dtype):
    """nanmax has the same bits as max after each NaN, of either sign, is replaced by -inf. nanmin has the same bits as
    min after each NaN is replaced by inf."""
    draw = np.random.default_rng(5)
    for kind in range(5):
        x = draw.choice([[-3.0, 2.0, 1.5], [0.0, -0.0, 0.0], [-0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [-np.inf, np.inf, 1.0]][kind], shape).astype(dtype)
        x[draw.random(shape) < 0.4] = np.nan
        x = np.where(draw.random(shape) < 0.5, x, -x) if kind == 0 else np.where(np.isnan(x) & (draw.random(shape) < 0.5), -x, x)
        given = collet.asarray(x)
        for find, order, beyond in (collet.nanmax, collet.max, -np.inf), (collet.nanmin, collet.min, np.inf):
            filled = np.asarray(order(collet.asarray(np.where(np.isnan(x), np.dtype(dtype).type(beyond), x)), axis=axis))
            want = np.where(np.isnan(x).all(axis=axis), np.dtype(dtype).type(np.nan), filled)
            assert same_bits(np.asarray(find(given, axis=axis)), want), (kind, find)
