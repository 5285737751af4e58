# SPDX-License-Identifier: Apache-2.0
"""Functions of small Arrays that are computed without ops (python/src/small): they have the same results as the
general functions, and leave all other arguments to the general functions."""

import contextlib
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import _core

DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.fixture(autouse=True)
def at_once():
    with collet.using("cpu_openmp"):
        collet.op.neg(collet.ones(1))
        yield


@contextlib.contextmanager
def general():
    """Calls are observed, so the small functions do not take them."""
    before = _core.observe(lambda name, begins: None)
    try:
        yield
    finally:
        _core.observe(before)


def bits(array):
    """The bytes of the elements, with every NaN replaced by the same NaN."""
    if array._dtype == "bfloat16":
        return array._bytes()
    values = array.to_numpy()
    return np.where(np.isnan(values), values.dtype.type(np.nan), values).tobytes() if values.dtype.kind in "fc" else values.tobytes()


def agree(function, *arrays):
    """Checks that the small and the general function give the same Arrays or the same error. Returns the result."""
    results = []
    for way in (contextlib.nullcontext, general):
        ours = [collet.asarray(a) for a in arrays]
        with way():
            try:
                found = function(*ours)
            except Exception as error:
                results.append(type(error))
                continue
        found = found if isinstance(found, tuple) else (found,)
        assert all(isinstance(f, collet.Array) for f in found)
        results.append([(f._dtype, f.shape, bits(f)) for f in found] + [bits(o) for o in ours])
    assert results[0] == results[1]
    return results[0]


def samples(dtype):
    rng = np.random.default_rng(0)
    for shape in ((0,), (1,), (5,), (33,), (3, 4), (2, 3, 4), (0, 3), ()):
        yield (rng.normal(size=shape) * 3).astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_moving(dtype):
    for a in samples(dtype):
        for parts in ([a, a], [a, a[:1], a] if a.ndim else [a], [a], []):
            for axis in (0, -1, 1, 2, 3, -4, None):
                agree(lambda *x: collet.concat(x, axis=axis), *parts)
                agree(lambda *x: collet.stack(list(x), axis=axis), *parts)
        for n in (0, 1, 3, -1):
            agree(lambda x: collet.repeat(x, n), a)
            agree(lambda x: collet.tile(x, n), a)
            agree(lambda x: collet.roll(x, n), a)
            agree(lambda x: collet.roll(x, 7 * n + 2), a)
            agree(lambda x: collet.tril(x, k=n), a)
            agree(lambda x: collet.triu(x, k=-n), a)
        agree(lambda x: x.copy(), a)
        agree(collet.nonzero, a)
        agree(collet.count_nonzero, a)
        for shape in (-1, (a.size,), (1, -1), (2, -1), (a.size, 1, 1), (-1, -1), (7, 7), (0, -1)):
            agree(lambda x: x.reshape(shape), a)
            agree(lambda x: x.T.reshape(shape), a)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_selecting(dtype):
    for a in samples(dtype):
        if not a.ndim:
            continue
        for index in ([0], [], [-1, 0, -1], [a.shape[0]], [-a.shape[0] - 1], [[0, 0], [0, -1]]):
            for kind in ("i8", "i4", "u1", "f8"):
                i = np.array(index, "f8").astype("i8").astype(kind)
                agree(lambda x, i: x[i], a, i)
                for axis in (None, 0, -1, 1, 5):
                    agree(lambda x, i: collet.take(x, i, axis=axis), a, i)
                agree(lambda x, i: (x.__setitem__(i, 1), x)[1], a, i)
        for axes in range(1, a.ndim + 1):
            mask = np.random.default_rng(1).random(a.shape[:axes]) > 0.5
            for m in (mask, mask & False, mask | True, mask[..., 1:]):
                agree(lambda x, m: x[m], a, m)
                for value in (1, 0, 2.5, True, -1, 1e300, 3 + 1j, 300):
                    agree(lambda x, m: (x.__setitem__(m, value), x)[1], a, m)


SPECIAL = [np.nan, -0.0, 2.0, 0.0, -np.inf, -np.nan, 0.0, np.inf, -0.0, 2.0, 1e308, -1e308, 1e-310]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_ordering_and_differences(dtype):
    for a in [*samples(dtype), np.array(SPECIAL).astype(dtype), np.full(7, 3).astype(dtype)]:
        functions = [collet.sort, collet.argsort, collet.unique_values, collet.diff, collet.gradient]
        if dtype != "f4":  # the general function computes float32 norms in float64
            functions.append(collet.linalg.norm)
        for function in functions:
            agree(function, a)
            agree(lambda x: function(x[::2]) if x.ndim else function(x), a)
            agree(lambda x: function(x.T), a)
    for values in ([2**63 - 1, -2**63, 5], [-2**31, 2**31 - 1]):
        agree(collet.diff, np.array(values))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_where(dtype):
    for a in [*samples(dtype), np.array(SPECIAL[:2]).astype(dtype)]:
        condition = np.random.default_rng(1).random(a.shape) > 0.5
        other = a.real.astype("f4" if dtype != "f4" else "f8")
        agree(collet.where, condition, a, a[::-1].copy() if a.ndim else a)
        agree(lambda c, x: collet.where(c, x, 1), condition, a)
        agree(collet.where, a, a, a)
        agree(collet.where, condition, a, other)
        agree(lambda c, x: collet.where(c, x, x.T), condition, a)
    with pytest.raises(Exception, match="broadcast"):
        collet.where(collet.ones(3, dtype="bool"), collet.ones(3), collet.ones(2))


def test_eye():
    for n in (0, 1, 3, -1, 2.0, True, None, 10**10):
        agree(lambda: collet.eye(n))


@pytest.mark.parametrize("dtype", DTYPES)
def test_iteration(dtype):
    for a in samples(dtype):
        x = collet.asarray(a)
        if not a.ndim:
            with pytest.raises(TypeError, match="no length"):
                iter(x)
            continue
        each = iter(x)
        assert each.__length_hint__() == len(a) and iter(each) is each
        found = list(each)
        assert all(isinstance(f, collet.Array) and f._dtype == x._dtype for f in found)
        assert [f.tolist() for f in found] == a.tolist() and list(each) == [] and each.__length_hint__() == 0
    written = collet.zeros(3)
    each = iter(written)
    next(each)
    written[1] = 7
    assert next(each).item() == 7


def test_writing_through_masks_of_the_array_itself():
    agree(lambda x: (x.__setitem__(x, False), x)[1], np.array([True, False, True]))
    agree(lambda x: (x.__setitem__(x > 1, 0), x)[1], np.arange(5.0))
    x = collet.asarray(np.arange(5.0))
    later, view = x + 1, x[1:]
    x[x > 2] = 9.0
    assert later.tolist() == [1, 2, 3, 4, 5] and view.tolist() == [1, 2, 9, 9]
    with pytest.raises(Exception, match="repeat|read-only"):
        collet.broadcast_to(collet.ones(1), (3,))[collet.asarray([True, False, True])] = 2
    strided = collet.asarray(np.arange(6.0))[::2]
    strided[collet.asarray([True, False, True])] = 0
    assert strided.tolist() == [0, 2, 0]


@pytest.mark.parametrize("source", DTYPES)
def test_converting(source):
    values = np.array([0, 1, 3, -2, 100, 2**31 - 1, -2**31, 2**53 + 1, np.nan, np.inf, 1e-320, 0.1, -0.0])
    with np.errstate(all="ignore"):
        a = values.astype(source)
    for dtype in DTYPES:
        agree(lambda x: x.astype(dtype), a)
        agree(lambda x: x.astype(np.dtype(dtype)), a)


def test_creating():
    for shape in (3, (2, 3), (), (0,), (2, 0, 3), [2, 2], np.int64(3), (np.int32(2), 1), -1, (2, -3), 1.5, "3", None, (2**62, 4)):
        for dtype in (None, "f4", "int8", bool, np.float64, "c8", complex, "bfloat16", "nonsense", np.dtype(">f8")):
            agree(lambda: collet.zeros(shape, dtype))
            agree(lambda: collet.ones(shape, dtype=dtype))
            for value in (2, 2.5, True, 1j, 300, -1, np.nan, np.float32(1.5), 2**70):
                agree(lambda: collet.full(shape, value, dtype))
    for arguments in ((5,), (0,), (-3,), (2, 9), (9, 2), (9, 2, -2), (0, 10, 3), (0, -10, -3), (1, 2, 0), (2**62, 2**62 + 3), (1.5,), (True,),
                      (-2**63, -2**63 + 2), (0, 2**63 - 1, 2**62)):
        agree(lambda: collet.arange(*arguments))


def test_from_lists_and_numpy():
    for value in ([1, 2], [1.5, 2], [True, False], [1, 2.5], [True, 1], [[1, 2], [3, 4]], [[1], [2, 3]], [[1, 2], 3], [], [[]], [[], []], [2**63], [-2**63],
                  [2**70], [1, 2**53], [1.5, 2**53 + 1], [1, 2.5, 2**70], [1, True, 0.5], [1, -2**63, 0.5], ["a"], [None], [1j], [[[[1.0]]]], [np.float64(1), 2.0], [np.nan], (1, 2), [(1, 2), (3, 4)], [[1.0, 2], [3, 4]]):
        agree(lambda: collet.asarray(value))
    a = np.arange(12.0).reshape(3, 4)
    for value in (a, a.T, a[::2, ::-1], a[:0], a.astype("f2"), a.astype(">f8"), a > 3, np.array(3), np.array("x"), a.astype(np.longdouble),
                  np.ma.array(a, mask=a > 3), np.broadcast_to(a, (2, 3, 4))):
        agree(lambda: collet.asarray(value))
    x = collet.asarray(a)
    a[0] = 9
    assert x[0, 0] == 0  # a copy
    assert collet.asarray(a, copy=False)[0, 0] == 9


def test_interpolation():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 50):
        xp, fp = np.sort(rng.normal(size=n)), rng.normal(size=n)
        xp[n // 2:n // 2 + 2] = xp[n // 2]  # equal points
        x = np.concatenate([rng.normal(size=40) * 2, xp, [np.nan, np.inf, -np.inf]])
        for points in (x, x.reshape(-1, 1), x[:0], np.float64(0.5), x.astype("f4")):
            agree(collet.interp, points, xp, fp)
        agree(collet.interp, x, np.sort(np.append(xp, np.nan)), np.append(fp, 1.0))
        agree(lambda *v: collet.interp(*v, left=-5.0, right=1), x, xp, fp)
        agree(collet.interp, x, xp, fp[:-1])
        assert np.allclose(collet.interp(*map(collet.asarray, (x, xp, fp))), np.interp(x, xp, fp), equal_nan=True) or n < 50


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "c16"])
def test_convolution(dtype):
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 40):
        for m in (1, 2, 3, 5, 40):
            a, v = (np.round(rng.normal(size=k) * 5).astype(dtype) for k in (n, m))  # exact sums
            for mode in ("full", "same", "valid"):
                agree(lambda a, v: collet.convolve(a, v, mode), a, v)
                found = collet.convolve(collet.asarray(a), collet.asarray(v), mode=mode)
                assert np.array_equal(found.to_numpy(), np.convolve(a, v, mode))
            agree(lambda a, v: collet.convolve(a, v, "wrong"), a, v)
    infinite = collet.convolve(collet.asarray([1.0, 2, 3]), collet.asarray([np.inf, 1]))
    assert infinite.tolist() == np.convolve([1.0, 2, 3], [np.inf, 1]).tolist()  # no 0 * inf beyond the ends


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "f2"])
def test_median(dtype):
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 4, 7, 100, 1001):
        for a in (rng.normal(size=n), np.round(rng.normal(size=n)), np.sort(rng.normal(size=n)), np.zeros(n)):
            a = (a * 10).astype(dtype)
            agree(collet.median, a)
            assert np.allclose(float(collet.median(collet.asarray(a))), np.median(a.astype("f8")), rtol=1e-3)
    for special in ([np.inf, 1], [np.inf, -np.inf], [np.nan, 1, 2], [np.inf, np.inf], [-np.inf, 1, 2, np.inf], [3e38, 3e38], [-0.0, 0.0]):
        if dtype[0] == "f":
            with np.errstate(all="ignore"):
                agree(collet.median, np.array(special).astype(dtype))
    agree(lambda x: collet.median(x, axis=0), np.arange(6.0).reshape(2, 3))


def test_other_ways_in():
    x, m = np.arange(12.0).reshape(3, 4), np.arange(9.0).reshape(3, 3)
    for subscripts in ("i,i->", "i,i", "i,i->i"):
        agree(lambda a, b: collet.einsum(subscripts, a, b), x[0], x[1])
        agree(lambda a, b: collet.einsum(subscripts, a, b), x[0].astype("c16") * 1j, x[1])
    agree(lambda a, b: collet.einsum("i,i->", a, b), x[0], x[1, :1])
    agree(lambda a: collet.einsum("ii->i", a), m)
    agree(lambda a, b: collet.vecdot(a, b), x[0], x[1])
    agree(lambda a, b: collet.vecdot(a, b), x[0], x[1, :2])
    for dtype in ("f8", "f4", "i8", "i4", "?"):
        agree(collet.cumulative_sum, x[0].astype(dtype))
        agree(collet.fft.fft, x.astype(dtype))
        agree(collet.fft.ifft, x.astype(dtype))
    agree(collet.fft.fft, x[:0])


def test_large_arrays_take_the_general_way():
    large = collet.asarray(np.arange(2.0**15 + 1))
    assert _core.small_copy(large) is None and _core.small_count_nonzero(large) is None
    assert _core.small_concat([large[:4]] * 17) is None
    assert large[large > 5].size == 2**15 - 5


def test_reading_on_the_host_takes_no_thread():
    """Collet starts no thread, even before the first kernel, when it does not know whether kernels are synchronous."""
    program = """if True:
        import os
        import numpy as np
        import collet
        x = collet.asarray([3.0, 1.0])
        before = len(os.listdir("/proc/self/task"))
        assert np.asarray(x)[0] == x.to_numpy()[0] == 3 and x.device == "host"
        assert len(os.listdir("/proc/self/task")) == before
        """
    subprocess.run([sys.executable, "-c", program], check=True)
