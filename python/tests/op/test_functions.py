# SPDX-License-Identifier: Apache-2.0
"""collet.functions compared with NumPy: dtypes, shapes, strides, axes, errors."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import functions, linalg, op

RNG = np.random.default_rng(11)
REAL = "?bBhHiIqQefd"
SOME = "?bHQefd"  # one or more dtypes of each kind
ALL = REAL + "FD"
SHAPES = [(), (7,), (0, 3), (2, 3, 1)]
ROUNDED = {"e": 2e-3, "f": 1e-5, "F": 1e-5, "d": 1e-12, "D": 1e-12}
KINDS = [np.asarray, collet.asarray]


@pytest.fixture(name="kind", params=KINDS, ids=["numpy", "Array"])
def fixture_kind(request):
    return request.param


def values(shape, dtype, low=-9, high=9):
    """Random numbers, some of them equal; floating-point numbers have fractions."""
    found = RNG.integers(0 if dtype in "?BHIQ" else low, 2 if dtype == "?" else high, size=shape)
    if dtype in "efd":
        found = found / 4
    if dtype in "FD":
        found = found / 4 + 1j * RNG.integers(low, high, size=shape)
    return np.asarray(found).astype(dtype)


def arrays(dtypes=ALL, shapes=SHAPES):
    """One array of every dtype and shape; float32 also with gaps and negative strides."""
    for dtype, shape in itertools.product(dtypes, shapes):
        a = values(shape, dtype)
        yield a
        if dtype == "f" and a.size > 1:
            yield np.repeat(a.T, 2, axis=0)[tuple(slice(None, None, -2 if i == 0 else -1)
                                                  for i in range(a.ndim))]


def same(found, wanted, kind=None, exact=False):
    """Asserts that the kind of array, the shape, the dtype and the values are as wanted."""
    wanted = np.asarray(wanted)
    if kind:
        assert isinstance(found, collet.Array if kind is collet.asarray else np.ndarray)
    found = np.asarray(found)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    limit = 0 if exact else ROUNDED.get(wanted.dtype.char, 0)
    np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit)


# ---- The module


def test_names():
    assert collet.concat is functions.concat and "median" in dir(collet)
    assert linalg.matmul is collet.matmul
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        collet.nosuch
    code = "import collet, sys; assert not {'numpy', 'collet.functions'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- Arrangement


def test_creation():
    for arguments in ((5,), (2, 9), (9, 2, -3), (0, 1, 0.3), (1.5, 4), (3, 3), (5, 2), (2 ** 40, 2 ** 40 + 3)):
        same(collet.arange(*arguments), np.arange(*arguments), collet.asarray, exact=True)
    same(collet.arange(3, dtype="float32"), np.arange(3, dtype="f"))
    for arguments in ((0, 1, 5), (2, -3, 4), (1j, 2, 3), (0, 9, 1), (0, 9, 0)):
        for endpoint in (True, False):
            same(collet.linspace(*arguments, endpoint=endpoint),
                 np.linspace(*arguments, endpoint=endpoint), collet.asarray, exact=True)
    same(collet.linspace(0, 9, 4, dtype=np.int32), np.linspace(0, 9, 4, dtype=np.int32))
    rows, column = np.array([[0.5, 1, 7]], "f4"), np.array([[2], [-9]])
    for arguments in ((rows, column, 5), (rows, 3.0, 4), (1, column, 1), (rows, rows + 1, 0), (column, column + 7, 8), (1j, column, 3)):
        for keywords in {}, {"endpoint": False}, *([{"dtype": "f8"}, {"dtype": "i4"}] if type(arguments[0]) is not complex else []):
            wanted = np.linspace(*arguments, **keywords)
            for kind in np.asarray, collet.asarray:
                found = collet.linspace(*(kind(a) if hasattr(a, "shape") else a for a in arguments), **keywords)
                assert isinstance(found, collet.Array) and found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="num is -1"):
        collet.linspace(rows, 1.0, -1)
    for n, m, k in itertools.product((0, 1, 3), (None, 0, 2, 5), (-9, -3, -1, 0, 1, 2, 9)):
        same(collet.eye(n, m, k=k), np.eye(n, m, k), collet.asarray)
    for dtype in ALL:
        same(collet.eye(2, dtype=np.dtype(dtype)), np.eye(2, dtype=dtype))


@pytest.mark.parametrize("vectors", [((2,),), ((2,), (3,)), ((2,), (3,), (4,)), ((0,), (3,)), ((), (2,))])
def test_meshgrid(kind, vectors):
    given = [values(s, "i") for s in vectors]
    for indexing in ("xy", "ij"):
        found = collet.meshgrid(*map(kind, given), indexing=indexing)
        wanted = np.meshgrid(*given, indexing=indexing)
        assert isinstance(found, tuple) and len(found) == len(wanted)
        for f, w in zip(found, wanted):
            same(f, w, kind)
            f[...] = 1  # the result can be written
    with pytest.raises(ValueError, match="indexing is 'x'"):
        collet.meshgrid([1], indexing="x")


def test_views(kind):
    for a in arrays("?if"):
        x, n = kind(a), a.ndim
        for axis in [None, *range(-n, n)]:
            same(collet.flip(x, axis=axis), np.flip(a, axis), kind)
        for order in itertools.islice(itertools.permutations(range(n)), 4):
            same(collet.permute_dims(x, order), a.transpose(order), kind)
        for axis in range(-n - 1, n + 1):
            same(collet.expand_dims(x, axis), np.expand_dims(a, axis), kind)
        same(collet.squeeze(x), np.squeeze(a), kind)
        for i, j in itertools.product(range(-n, n), repeat=2):
            same(collet.moveaxis(x, i, j), np.moveaxis(a, i, j), kind)
        for axis in range(-n, n):
            for f, w in itertools.zip_longest(collet.unstack(x, axis=axis), np.moveaxis(a, axis, 0)):
                same(f, w, kind)
        if n > 1:
            same(collet.matrix_transpose(x), np.swapaxes(a, -1, -2), kind)
            for offset in (-9, -1, 0, 1, 2, 9):
                same(collet.diagonal(x, offset=offset), np.diagonal(a, offset, -2, -1), kind)
    a = values((2, 3, 4), "d")
    same(collet.moveaxis(kind(a), (0, 1), (-1, 0)), np.moveaxis(a, (0, 1), (-1, 0)))
    same(collet.expand_dims(kind(a), (0, -1)), np.expand_dims(a, (0, -1)))
    same(collet.squeeze(kind(a[:1, :, :1]), axis=(0, 2)), a[0, :, 0])


def test_views_share_memory(kind):
    x = kind(np.zeros((3, 4)))
    for view in (collet.diagonal(x, offset=1), collet.flip(x, axis=0)[:1, :1], collet.unstack(x)[2],
                 collet.moveaxis(x, 0, 1)[0], collet.expand_dims(x, 1)[1:2]):
        view[...] = 1
    wanted = np.zeros((3, 4))
    wanted[[0, 1, 2], [1, 2, 3]] = wanted[2] = wanted[:, 0] = wanted[1] = 1
    same(x, wanted)


@pytest.mark.parametrize("shapes", [[(3,), (2, 3)], [(2, 1), (3,)], [(), (2, 3)], [(0, 1), (1, 4)], [(2,)]])
def test_broadcasting(kind, shapes):
    given = [values(s, "h") for s in shapes]
    for found, wanted in itertools.zip_longest(collet.broadcast_arrays(*map(kind, given)),
                                               np.broadcast_arrays(*given)):
        same(found, wanted, kind)
    shape = np.broadcast_shapes(*shapes)
    same(collet.broadcast_to(kind(given[0]), shape), np.broadcast_to(given[0], shape), kind)


def test_concat(kind):
    for dtypes in ("?", "i", "d", "D", "?b", "bB", "iI", "qQ", "ef", "if", "qf", "fF", "dF", "iF"):
        parts = [values((2, n, 3), d) for n, d in zip((1, 0, 4), itertools.cycle(dtypes))]
        wanted = np.concatenate(parts, axis=1)
        same(collet.concat([kind(p) for p in parts], axis=-2), wanted, kind)
        same(collet.concat([kind(p) for p in parts], axis=None), np.concatenate(parts, axis=None), kind)
        equal = [values((2, 3), d) for d in dtypes]
        for axis in (-3, -1, 0, 1, 2):
            same(collet.stack([kind(p) for p in equal], axis=axis), np.stack(equal, axis), kind)


def test_roll(kind):
    for a in arrays("?ifD"):
        for shift in (-9, -1, 0, 1, 5):
            same(collet.roll(kind(a), shift), np.roll(a, shift), kind)
            for axis in range(-a.ndim, a.ndim):
                same(collet.roll(kind(a), shift, axis=axis), np.roll(a, shift, axis), kind)
        if a.ndim > 1:
            for shift, axis in (((1, -2), (0, 1)), (2, (0, 1)), ((1, 3), 1)):
                same(collet.roll(kind(a), shift, axis=axis), np.roll(a, shift, axis), kind)


def test_repeat_and_tile(kind):
    for a in arrays("?ifD"):
        for n in (0, 1, 3):
            same(collet.repeat(kind(a), n), np.repeat(a, n), kind)
            for axis in range(-a.ndim, a.ndim):
                same(collet.repeat(kind(a), n, axis=axis), np.repeat(a, n, axis), kind)
        for axis in range(a.ndim):
            counts = RNG.integers(0, 4, a.shape[axis])
            same(collet.repeat(kind(a), kind(counts), axis=axis), np.repeat(a, counts, axis), kind)
        for repetitions in (0, 2, (), (2, 3), (1, 0), (2, 1, 2, 1)):
            same(collet.tile(kind(a), repetitions), np.tile(a, repetitions), kind)


def test_pad(kind):
    for a in arrays("?iFd", [(3,), (1,), (2, 3), (0, 2)]):
        for width in (0, 2, 5, (1, 0), (0, 4), ((2, 1),) * a.ndim):
            same(collet.pad(kind(a), width), np.pad(a, width), kind)
            edges = {"constant_values": [(1, 0)] * a.ndim}
            same(collet.pad(kind(a), width, **edges), np.pad(a, width, **edges), kind)
            for mode in ("edge", "reflect") if a.size else ():
                same(collet.pad(kind(a), width, mode), np.pad(a, width, mode), kind)


def test_triangles(kind):
    for a in arrays("?hfD", [(3, 3), (2, 4), (0, 3), (2, 4, 3)]):
        for k in (-9, -1, 0, 1, 9):
            same(collet.tril(kind(a), k=k), np.tril(a, k), kind)
            same(collet.triu(kind(a), k=k), np.triu(a, k), kind)


# ---- Sorting, searching, selecting


def with_nan(a):
    if a.dtype.kind == "f" and a.size > 2:
        a = a.copy()
        a.reshape(-1)[::3] = np.nan
    return a


def test_sort(kind):
    for a in arrays(SOME):
        a = with_nan(a)
        for axis in range(-a.ndim, a.ndim):
            same(collet.sort(kind(a), axis=axis), np.sort(a, axis), kind, exact=True)
            same(collet.argsort(kind(a), axis=axis), np.argsort(a, axis, kind="stable"), kind)
            down = collet.sort(kind(a), axis=axis, descending=True)
            same(down, np.flip(np.sort(a, axis), axis), kind, exact=True)
            places = collet.argsort(kind(a), axis=axis, descending=True)
            same(collet.take_along_axis(kind(a), places, axis=axis), down, kind, exact=True)


def test_searchsorted(kind):
    for dtypes in itertools.product("?bQfd", repeat=2):
        a, v = np.sort(values((9,), dtypes[0])), values((2, 5), dtypes[1])
        order = RNG.permutation(9)
        for side in ("left", "right"):
            wanted = np.searchsorted(a, v, side)
            same(collet.searchsorted(kind(a), kind(v), side=side), wanted, kind)
            found = collet.searchsorted(kind(a[order]), kind(v), side=side,
                                        sorter=kind(np.argsort(order)))
            same(found, wanted, kind)
    same(collet.searchsorted(kind(np.arange(4)), 2.5), np.int64(3), kind)
    assert int(collet.searchsorted(kind(np.zeros(0)), 1)) == 0


def test_take(kind):
    for a in arrays("?hfD", [(7,), (2, 3, 4), (0, 3)]):
        for axis in range(-a.ndim, a.ndim):
            n = a.shape[axis]
            for shape in ((0,), (), (2, 3)):
                places = RNG.integers(-n, n, shape) if n else np.zeros((0, 2), int)
                for p in (places, places.astype("i4"), places.astype("i1")):
                    same(collet.take(kind(a), kind(p), axis=axis), np.take(a, p, axis), kind, exact=True)
            shape = [3 if i == axis % a.ndim else m for i, m in enumerate(a.shape)]
            if n:
                places = RNG.integers(-n, n, shape)
                same(collet.take_along_axis(kind(a), kind(places), axis=axis),
                     np.take_along_axis(a, places, axis), kind, exact=True)
    same(collet.take(kind(np.arange(3)), [2]), np.array([2]), kind)
    a, one = values((3, 4), "d"), np.array([[1], [0], [-1]])
    same(collet.take_along_axis(kind(a), kind(one)), np.take_along_axis(a, one, 1))
    same(collet.take_along_axis(kind(a), kind(one[:1])), a[:, 1:2])


def test_nonzero(kind):
    for a in arrays(SOME + "D"):
        if a.ndim:
            for found, wanted in itertools.zip_longest(collet.nonzero(kind(a)), np.nonzero(a)):
                same(found, wanted, kind)
        for axis in [None, *range(-a.ndim, a.ndim), *([(0, 1)] if a.ndim > 1 else [])]:
            for keepdims in (False, True):
                wanted = np.asarray(np.count_nonzero(a, axis=axis, keepdims=keepdims))
                same(collet.count_nonzero(kind(a), axis=axis, keepdims=keepdims), wanted, kind)
    same(collet.count_nonzero(kind(np.array([0, 5])), axis=()), np.array([0, 1]))


def test_unique(kind):
    for a in arrays(SOME + "D"):
        wanted, first, inverse, counts = np.unique(a, True, True, True)
        found = collet.unique_all(kind(a))
        assert found._fields == ("values", "indices", "inverse_indices", "counts")
        for f, w in zip(found, (wanted, first, inverse.reshape(a.shape), counts)):
            same(f, w, kind)
        same(collet.unique_values(kind(a)), wanted, kind)
        for f, w in zip(collet.unique_counts(kind(a)), (wanted, counts)):
            same(f, w, kind)
        for f, w in zip(collet.unique_inverse(kind(a)), (wanted, inverse.reshape(a.shape))):
            same(f, w, kind)
    found = collet.unique_counts(kind(np.array([np.nan, 1, np.nan, -0.0, 0.0])))  # every NaN differs
    same(found.values, np.array([0, 1, np.nan, np.nan]))
    same(found.counts, np.array([2, 1, 1, 1]))
    parts = np.array([complex(*p) for p in ((-0.0, 2), (0, 1), (0.0, 2), (-0.0, 1), (1, -0.0), (1, 0.0))])
    same(collet.unique_counts(kind(parts)).counts, np.array([2, 2, 2]))


def test_selections_of_nothing(kind):
    for shape in (0,), (2, 0):
        a, mask = kind(np.zeros(shape)), kind(np.zeros(shape, bool))
        same(collet.unique_values(a), np.zeros(0), kind)
        same(collet.nonzero(a)[0], np.zeros(0, int), kind)
        assert collet.asarray(a)[collet.asarray(mask)].shape == (0,)


def test_isin(kind):
    for dtypes in [*zip(REAL, REAL), *itertools.product("?iQf", repeat=2)]:
        for shape, others in (((2, 5), (4,)), ((3,), (0,)), ((), (2, 3)), ((0, 2), (3,))):
            a, b = values(shape, dtypes[0]), values(others, dtypes[1])
            for invert in (False, True):
                common = np.result_type(a, b)
                wanted = np.isin(a.astype(common), b.astype(common), invert=invert)
                same(collet.isin(kind(a), kind(b), invert=invert), wanted, kind)
    same(collet.isin(kind(np.array([np.nan, 1])), [np.nan, 1.0]), np.array([False, True]))
    same(collet.isin(kind(np.arange(3)), 2), np.arange(3) == 2, kind)


# ---- Statistics


def test_cumulative_sums(kind):
    for name in ("sum", "prod"):
        ours, theirs = getattr(collet, "cumulative_" + name), getattr(np, "cum" + name)
        for a in arrays(SOME + "D"):
            if a.dtype.char in "efdFD":
                a = a / a.dtype.type(4)
            for axis in range(-a.ndim, a.ndim):
                wanted = theirs(a, axis)
                same(ours(kind(a), axis=axis), wanted, kind)
                first = np.full_like(wanted, name == "prod", shape=[
                    1 if i == axis % a.ndim else n for i, n in enumerate(a.shape)])
                same(ours(kind(a), axis=axis, include_initial=True),
                     np.concatenate([first, wanted], axis), kind)
        for pair in ("ib", "fd", "hd", "?H", "BB", "di"):
            a = values((9,), pair[0])
            same(ours(kind(a), dtype=np.dtype(pair[1])), theirs(a.astype(pair[1]), dtype=pair[1]), kind)


def test_diff(kind):
    for a in arrays(SOME + "D"):
        for axis, n in itertools.product(range(-a.ndim, a.ndim), (0, 2)):
            same(collet.diff(kind(a), axis=axis, n=n), np.diff(a, n, axis), kind)
    a, b = values((2, 3), "f"), values((2, 4), "d")
    same(collet.diff(kind(a), prepend=kind(b), append=kind(a)), np.diff(a, prepend=b, append=a), kind)
    same(collet.diff(kind(b), axis=0, append=2), np.diff(b, axis=0, append=2), kind)
    for n in (3, 4, 10 ** 12):
        same(collet.diff(kind(a), n=n), np.zeros((2, 0), "f"), kind)


METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
           "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
           "normal_unbiased"]


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(kind, method):
    shares = np.linspace(0, 1, 21)
    for n in (1, 2, 7, 10):
        a = RNG.normal(size=n)
        if method in ("averaged_inverted_cdf", "closest_observation") and np.__version__ < "2":
            continue  # NumPy 2 corrected these methods
        for given in (a, (9 * a).astype("i2")):
            wanted = np.quantile(given, shares, method=method)
            same(collet.quantile(kind(given), shares, method=method), wanted, kind)


def test_quantiles(kind):
    for a in arrays("Qef", [(7,), (2, 3, 4)]):
        for axis in [None, 0, -1, *([(0, -1)] if a.ndim > 1 else [])]:
            for keepdims in (False, True):
                found = collet.median(kind(a), axis=axis, keepdims=keepdims)
                same(found, np.median(a, axis=axis, keepdims=keepdims), kind)
                for q in (30, [[0], [70]]):
                    wanted = np.percentile(a, q, axis=axis, keepdims=keepdims)
                    if a.dtype.kind == "f":  # the dtype of NumPy 2
                        wanted = wanted.astype(a.dtype if q == 30 else "d")
                    found = collet.percentile(kind(a), q, axis=axis, keepdims=keepdims)
                    same(found, wanted, kind, exact=False)
    same(collet.median(kind(np.array([1, np.nan, 2]))), np.nan, kind)
    same(collet.median(kind(np.zeros((0, 3))), axis=0), np.full(3, np.nan), kind)
    same(collet.median(kind(np.zeros((0, 3))), axis=1), np.zeros(0), kind)
    same(collet.quantile(kind(np.array([1, np.inf, np.inf])), [0, 0.5, 0.9]), np.array([1, np.inf, np.inf]))
    same(collet.median(kind(np.array([True, False]))), 0.5, kind)


@pytest.mark.filterwarnings("ignore:Converting input from bool")
def test_histogram(kind):
    for a in arrays("?BQef", [(50,), (0,)]):
        weights = values(a.shape, "d")
        for bins, limits in ((5, None), (3, (-2, 4)), (1, (0, 1)), ([-3, -1, 0, 2, 8], None), ([0.5, 3], None)):
            wanted = np.histogram(a.astype("d") if a.dtype.char in "ef?" else a, bins, limits)
            found = collet.histogram(kind(a), bins, limits)
            same(found[0], wanted[0], kind)
            np.testing.assert_allclose(np.asarray(found[1]), wanted[1])
            for w in (weights, weights.astype("f"), weights.astype("i")):
                wanted = np.histogram(a.astype("d"), bins, limits, weights=w)[0]
                same(collet.histogram(kind(a), bins, limits, weights=kind(w))[0], wanted, kind)
            if np.histogram(a, bins, limits)[0].sum():
                wanted = np.histogram(a.astype("d"), bins, limits, density=True)[0]
                same(collet.histogram(kind(a), bins, limits, density=True)[0], wanted, kind)
    found = collet.histogram(kind(np.array([np.nan, 1, 2, 3, -np.inf, np.inf])), [1.0, 2, 3])
    same(found[0], np.array([1, 2]))


# ---- Products


@pytest.mark.parametrize("dtypes", [*(d * 2 for d in ALL), "?i", "bB", "qQ", "if", "dF"])
def test_products(kind, dtypes):
    def wanted(function, *given):
        """NumPy's result; for float16, computed in float32."""
        dtype = np.result_type(*given)
        return function(*(g.astype("f") for g in given)).astype("e") if dtype == "e" else function(*given)

    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
              ((3,), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 2)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((0,), (0,))]
    for first, second in shapes:
        a, b = values(first, dtypes[0], -100, 100), values(second, dtypes[1], -100, 100)
        same(collet.matmul(kind(a), kind(b)), wanted(np.matmul, a, b), kind)
        same(collet.outer(kind(a), kind(b)), np.outer(a, b), kind)
        same(collet.tensordot(kind(a), kind(b), axes=0), np.tensordot(a, b, 0), kind)
    a, b = values((2, 3, 4), dtypes[0]), values((4, 3, 5), dtypes[1])
    for axes in (((1, 2), (1, 0)), (2, 0), ((), ()), ([-1], [0])):
        same(collet.tensordot(kind(a), kind(b), axes=axes),
             wanted(lambda x, y: np.tensordot(x, y, axes), a, b), kind)  # noqa: B023
    a, b = values((2, 3, 4), dtypes[0]), values((3, 1), dtypes[1])
    for axis, other in ((-1, values((3, 4), dtypes[1])), (0, values((2, 3, 1), dtypes[1]))):
        total = wanted(lambda x, y: np.einsum("...i,...i", x, y), np.moveaxis(a.conj(), axis, -1),
                       np.moveaxis(other, axis, -1))
        same(collet.vecdot(kind(a), kind(other), axis=axis), total, kind)
    for offset in (-1, 0, 2):
        same(collet.trace(kind(a), offset=offset), wanted(lambda x: np.trace(x, offset, -2, -1), a)
             if a.dtype.kind != "b" else np.trace(a.astype(int), offset, -2, -1), kind)


def test_long_products_of_integers(kind):
    a, b = values((30, 3000), "i", -2 ** 31, 2 ** 31 - 1), values((3000, 50), "i", -2 ** 31, 2 ** 31 - 1)
    same(collet.matmul(kind(a), kind(b)), a @ b, kind)
    same(collet.trace(kind(a), dtype=np.int8), np.trace(a, dtype="i1"), kind)


def test_cross(kind):
    for dtypes in ("ii", "bb", "fd", "FF", "ee"):
        for first, second, axis in (((3,), (3,), -1), ((4, 3), (3,), -1), ((3, 4), (3, 4), 0),
                                    ((2, 1, 3), (5, 3), -1)):
            a, b = values(first, dtypes[0]), values(second, dtypes[1])
            same(collet.cross(kind(a), kind(b), axis=axis), np.cross(a, b, axis=axis), kind)


@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,jk->ik", "23 34"), ("ij,jk", "23 34"), ("ij,ij->i", "23 23"), ("ij,ij->", "23 23"),
    ("i,j->ij", "2 3"), ("i,i", "3 3"), ("ii", "33"), ("ii->i", "33"), ("iij->ji", "332"), ("ij->ji", "23"),
    ("ij->", "23"), ("bij,bjk->bik", "423 434"), ("bij,bjk->ik", "423 434"), ("ijk,kl,lm->mij", "234 42 25"),
    ("...ij,...jk->...ik", "423 34"), ("...ij,jk", "423 34"), ("i...,i...->...", "23 23"),
    ("a...b->b...a", "234"), ("ij,j->ij", "23 3"), ("ij,k->i", "23 4"), ("i,i,i->i", "3 3 3"),
    (" i j , j -> i ", "23 3"), ("ab,ab->ba", "21 23"), ("ab,bc->ac", "21 34"), (",i", " 3"),
    ("ij,jk,ki->", "23 34 42"), ("ii,ii->i", "33 33"), ("ij,jk->ik", "20 03"), ("ba", "23")])
def test_einsum(kind, subscripts, shapes):
    for dtype in "?iqfD":
        given = [values(tuple(map(int, s)), dtype) for s in shapes.split(" ")]
        same(collet.einsum(subscripts, *map(kind, given)), np.einsum(subscripts, *given), kind)


def test_norms(kind):
    a = values((2, 3, 4), "d") + 0.1
    for ord, axis, keepdims in itertools.product((0, 1, 2, 3, -1, 0.5, np.inf, -np.inf), (0, -1), (False, True)):
        wanted = np.linalg.norm(a, ord, axis, keepdims)
        same(linalg.vector_norm(kind(a), ord=ord, axis=axis, keepdims=keepdims), wanted, kind)
    for ord in (1, 2, 3):
        same(linalg.vector_norm(kind(a), ord=ord), np.linalg.norm(a.reshape(-1), ord), kind)
    same(linalg.vector_norm(kind(a), axis=(0, 2), keepdims=True), np.linalg.norm(a, None, (0, 2), True), kind)
    for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        same(linalg.matrix_norm(kind(a), ord=ord), np.linalg.norm(a, ord, (1, 2)), kind)
    found = linalg.pinv(kind(np.diag([4.0, 1, 0.5])), rtol=0.2)
    same(found, np.diag([0.25, 1, 0]), kind)
    same(linalg.matrix_rank(kind(np.diag([4.0, 1, 0.5])), rtol=0.2), np.int64(2), kind)
    same(linalg.matrix_rank(kind(np.stack([np.diag([4.0, 1, 0.5])] * 2)), rtol=kind(np.array([0.2, 0.1]))),
         np.array([2, 3]), kind)


# ---- Mixed arguments, other dtypes, errors


def test_mixed_arguments():
    a = collet.asarray([1.0, 2])
    for found in (collet.concat([a, [3.0]]), collet.concat([[3.0], a]), collet.matmul(a, [1, 2]),
                  collet.isin([1, 2], a), collet.take([5, 6], collet.asarray([0])),
                  collet.meshgrid([1], a)[0], collet.einsum("i,i", [1, 2], a)):
        assert isinstance(found, collet.Array)
    assert isinstance(collet.concat([[1], [2]]), np.ndarray)
    assert collet.concat(collet.asarray(np.ones((2, 3)))).shape == (6,)
    for number, dtype in ((2, "f4"), (2.5, "f4"), (1j, "c8")):
        x = collet.asarray(np.ones(1, "f4"))
        assert collet.tensordot(x, number, axes=0).dtype == dtype
    assert collet.outer(np.ones(1, "i1"), 2).dtype == "i1"
    assert collet.outer(np.ones(1, "i1"), 2.0).dtype == "f8"
    assert collet.matmul(collet.asarray(np.ones(2, "?")), [1j, 1]).dtype == "c16"


def test_bf16():
    pytest.importorskip("ml_dtypes")
    a = collet.asarray([1, 2, 4.0], "bfloat16")
    for found in (collet.sort(a), collet.concat([a, a]), collet.cumulative_sum(a), collet.flip(a),
                  collet.outer(a, a), collet.matmul(a, a), collet.unique_values(a), collet.median(a),
                  collet.tril(a[None]), collet.pad(a, 1), collet.diff(a), collet.take(a, [0]),
                  collet.concat([a, np.ones(1, "?")])):
        assert found.dtype == a.dtype
    assert float(collet.median(a)) == 2 and float(collet.matmul(a, a)) == 21
    assert collet.concat([a, np.ones(1, "f")]).dtype == "f4"
    assert collet.histogram(a, 2, (0, 4))[0].to_numpy().tolist() == [1, 2]


ERRORS = {
    ValueError: [
        lambda k: collet.concat([k([1]), k([[1]])]), lambda k: collet.concat([k([[1]]), k([[1, 2]])]),
        lambda k: collet.concat([k([1])], axis=1), lambda k: collet.stack([]), lambda k: collet.concat([]), lambda k: collet.stack([k([1]), k([1, 2])]),
        lambda k: collet.flip(k([1]), axis=1), lambda k: collet.squeeze(k([1, 2]), axis=0),
        lambda k: collet.permute_dims(k([[1]]), (0,)), lambda k: collet.permute_dims(k([[1]]), (0, 0)),
        lambda k: collet.moveaxis(k([[1]]), (0, 1), 0), lambda k: collet.broadcast_to(k([1, 2]), (3,)),
        lambda k: collet.broadcast_arrays(k([1, 2]), k([1, 2, 3])), lambda k: collet.expand_dims(k([1]), 2),
        lambda k: collet.repeat(k([1]), -1), lambda k: collet.repeat(k([1, 2]), k([1, 2, 3])),
        lambda k: collet.repeat(k([1, 2]), 1.5), lambda k: collet.roll(k([1]), 1, axis=1),
        lambda k: collet.pad(k([1]), -1), lambda k: collet.pad(k([1]), 1, "wrap"),
        lambda k: collet.pad(k(np.zeros(0)), 1, "edge"), lambda k: collet.pad(k([1]), 1.5),
        lambda k: collet.take(k([[1]]), k([0])), lambda k: collet.take_along_axis(k([[1]]), k([0])),
        lambda k: collet.nonzero(k(1)), lambda k: collet.sort(k(1)), lambda k: collet.sort(k([1]), axis=1),
        lambda k: collet.searchsorted(k([1]), 1, side="l"), lambda k: collet.cumulative_sum(k([[1]])),
        lambda k: collet.diff(k([1]), n=-1), lambda k: collet.quantile(k([1]), 2),
        lambda k: collet.quantile(k([1]), 0.5, method="no"), lambda k: collet.histogram(k([1]), 0),
        lambda k: collet.histogram(k([1]), [2, 1]), lambda k: collet.histogram(k([1.0]), 2, (2, 1)),
        lambda k: collet.histogram(k([np.nan])), lambda k: collet.histogram(k([1]), weights=k([1.0, 2])),
        lambda k: collet.tensordot(k([1]), k([1]), axes=2), lambda k: collet.einsum("ij", k([1])),
        lambda k: collet.einsum("i,i", k([1])), lambda k: collet.einsum("i->j", k([1])),
        lambda k: collet.einsum("i->ii", k([1])), lambda k: collet.einsum("...->", k([1])),
        lambda k: collet.einsum("1", k([1])), lambda k: linalg.vector_norm(k([1.0]), ord="fro"),
        lambda k: linalg.matrix_norm(k([[1.0]]), ord=3)],
    collet.ShapeError: [
        lambda k: collet.matmul(k([1, 2]), k([1, 2, 3])), lambda k: collet.matmul(k([[1, 2]]), k([[1, 2]])),
        lambda k: collet.matmul(k(1), k([1])), lambda k: collet.vecdot(k([1, 2]), k([1, 2, 3])),
        lambda k: collet.cross(k([1, 2]), k([1, 2])), lambda k: collet.trace(k([1])),
        lambda k: collet.tril(k([1])), lambda k: collet.matrix_transpose(k([1])),
        lambda k: collet.tensordot(k([1, 2]), k([1, 2, 3]), axes=1),
        lambda k: collet.einsum("i,i", k([1, 2]), k([1, 2, 3])), lambda k: collet.einsum("ii", k([[1, 2]]))],
    IndexError: [
        lambda k: collet.take(k([1, 2]), k([0, 2])), lambda k: collet.take(k([1, 2]), k([0.5])),
        lambda k: collet.take(k([1, 2]), k([True])), lambda k: collet.take_along_axis(k([[1]]), k([[-2]]))],
    collet.DtypeError: [
        lambda k: collet.arange(0, 2**63), lambda k: collet.arange(-2**63 - 1, 0),
        lambda k: collet.sort(k([1j])), lambda k: collet.isin(k([1j]), k([1])), lambda k: collet.histogram(k([1.0]), weights=k([1j])),
        lambda k: linalg.vector_norm(np.array(["a"]))]}


@pytest.mark.parametrize("error", ERRORS)
def test_errors(kind, error):
    for i, wrong in enumerate(ERRORS[error]):
        with pytest.raises(error) as raised:
            wrong(lambda values: kind(np.asarray(values)))
        assert str(raised.value), i


devices = [d.choice for b in collet.backends() if b.state == "usable" and b.name not in
           ("cpu_openmp", "cpu_scalar") for d in b.devices]


@pytest.mark.skipif(not devices, reason="no device")
def test_devices():
    """Elements stay on their device, and every op of a function runs there."""
    a = values((3, 3), "f")
    with collet.using(devices[0]):
        x = op.add(collet.asarray(a), 0)
        for name, arguments, wanted in (
                ("concat", ([x, x],), np.concatenate([a, a])), ("flip", (x,), np.flip(a)),
                ("diagonal", (x,), np.diagonal(a)), ("roll", (x, 1), np.roll(a, 1)),
                ("tile", (x, 2), np.tile(a, 2))):
            found = getattr(collet, name)(*arguments)
            assert found.device == devices[0]
            same(found.copy(), wanted, collet.asarray)
        same(collet.median(x).copy(), np.median(a), collet.asarray)
        found = collet.linalg.eig(x)
        assert found.eigenvalues.device == devices[0]
        found, vectors = (np.asarray(part.copy()) for part in found)
        assert np.allclose(a @ vectors, vectors * found, atol=1e-5)


def test_medians_of_infinities():
    for a in ([0.0, np.inf], [1, 2, np.inf, np.inf], [-np.inf, 3], [-np.inf, np.inf], [np.nan, 1], [1.0, 2, 4]):
        assert np.array_equal(float(collet.median(np.array(a))), np.median(a), equal_nan=True)


def test_foreign_byte_order_and_axes_in_arrays():
    swapped = np.arange(6, dtype=">f4").reshape(2, 3)
    assert np.array_equal(collet.cumulative_sum(swapped, axis=1), np.cumsum(swapped, axis=1))
    assert np.array_equal(collet.take(swapped, [2, 0], axis=1), swapped[:, [2, 0]])
    assert np.array_equal(collet.concat([swapped, swapped]), np.concatenate([swapped, swapped]))
    x = np.ones((2, 3, 4))
    assert collet.moveaxis(x, np.array([0, 1]), np.array([1, 0])).shape == (3, 2, 4)
    assert collet.moveaxis(x, np.int64(2), np.array(0)).shape == (4, 2, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_with_columns(dtype):
    rng = np.random.default_rng(5)
    a, b = (collet.asarray(rng.standard_normal((300, 300)).astype(dtype)) for _ in range(2))
    for column in (b[:, 3], b[::-1, 7], b[::2, 5]):
        factor = a[:, :column.size]
        apart, beside = op.matvec(factor, column), op.matvec(factor, column.copy())
        assert apart.to_numpy().tobytes() == beside.to_numpy().tobytes()
        assert np.allclose(apart, factor.to_numpy() @ column.to_numpy(), rtol=1e-4 if dtype == "f4" else 1e-12)
    matrices = collet.asarray(rng.standard_normal((3, 40, 30)).astype(dtype))
    vectors = collet.asarray(rng.standard_normal((30, 5, 3)).astype(dtype)).transpose(1, 2, 0)
    for columns in (vectors, vectors[:1], vectors[2], vectors[..., ::-1], vectors[:0]):
        apart, beside = op.matvec(matrices, columns), op.matvec(matrices, columns.copy())
        assert apart.shape == beside.shape and apart.to_numpy().tobytes() == beside.to_numpy().tobytes()


@pytest.mark.parametrize("backend", ["cpu_scalar", "cpu_openmp", "opencl"])
def test_cumulative_sums_of_negative_zeros(backend):
    if not any(b.name == backend and b.devices for b in collet.backends()):
        pytest.skip(f"no {backend}")
    with collet.using(backend):
        for shape in (1,), (7,), (300,), (5000,), (70_000,), (1_300_000,), (3, 40), (40, 3):
            for dtype in "f4", "f8", "c8":
                x = np.full(shape, -0.0, dtype)
                if dtype == "c8":
                    x.imag[...] = -0.0
                if x.size > 20:
                    x[..., -1] = 2.5
                for axis in range(len(shape)):
                    found = collet.cumulative_sum(x, axis=axis)
                    same(found, np.cumsum(x, axis=axis))
                    assert np.array_equal(np.signbit(found.real), np.signbit(np.cumsum(x, axis=axis).real))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint", "median_unbiased"])
def test_a_quantile_of_many_elements_is_selected(dtype, method):
    rng = np.random.default_rng(5)
    host = np.round(rng.normal(size=(3, 2001)) * 50).astype(dtype)
    for q in (0, 0.1, 0.25, 0.5, 0.7, 0.999, 1):
        found = collet.quantile(collet.asarray(host), q, axis=1, method=method)
        each = [collet.quantile(collet.asarray(row), [q, 0.5], method=method)[0].to_numpy() for row in host]  # sorts
        assert np.array_equal(found.to_numpy(), np.stack(each).astype(found.dtype))
        assert np.allclose(found.to_numpy(), np.quantile(host, q, axis=1, method=method), rtol=1e-6)
    if dtype[0] == "f":
        host[1, 700] = np.nan
        assert np.array_equal(np.isnan(collet.quantile(collet.asarray(host), 0.3, axis=1, method=method).to_numpy()), [False, True, False])


def test_elements_of_large_masks_and_arrays_are_found():
    rng = np.random.default_rng(6)
    for shape in ((5000,), (37, 211), (3, 5, 400)):
        for share in (0, 0.01, 0.5, 1):
            mask = rng.random(shape) < share
            for host in (mask, mask[..., ::-1], mask * 2.5, mask.astype("i2") * 256):
                x = collet.asarray(host)
                assert all(map(np.array_equal, map(np.asarray, collet.nonzero(x)), np.nonzero(host)))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_the_first_extreme_of_many(dtype):
    rng = np.random.default_rng(7)
    for shape in ((40,), (5000,), (9, 700)):
        host = rng.integers(0 if dtype[0] == "u" else -60, 60, shape).astype(dtype)
        for name in ("argmax", "argmin"):
            for axis in (None, 0, -1):
                assert np.array_equal(getattr(collet, name)(collet.asarray(host), axis=axis).to_numpy(), getattr(np, name)(host, axis=axis))
            if dtype[0] == "f":
                host.reshape(-1)[::77] = np.nan
                assert np.array_equal(getattr(collet, name)(collet.asarray(host), axis=0).to_numpy(), getattr(np, name)(host, axis=0))
    host = np.full((300, 10), -0.0)
    host[100:] = 0.0
    assert int(collet.argmax(collet.asarray(host))) == 0 and not collet.argmax(collet.asarray(host), axis=0).to_numpy().any()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_many_integers_are_in_a_table(dtype):
    limits, rng = np.iinfo(dtype), np.random.default_rng(8)
    for low, high in ((limits.min, limits.max), (0, 50), (limits.max - 20, limits.max), (limits.min, limits.min + 20)):
        test = rng.integers(low, high, 30, dtype, endpoint=True)
        for host in (rng.integers(low, high, (3, 700), dtype, endpoint=True), rng.integers(limits.min, limits.max, 2000, dtype, endpoint=True)):
            for invert in (False, True):
                found = collet.isin(collet.asarray(host), collet.asarray(test), invert=invert)
                assert np.array_equal(found.to_numpy(), np.isin(host, test, invert=invert))
