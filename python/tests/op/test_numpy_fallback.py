# SPDX-License-Identifier: Apache-2.0
"""Ordinary calls of NumPy's functions with Arrays: all work, by collet's functions or by NumPy's own."""

import os
import threading
import warnings

import numpy as np
import pytest

import collet

# a: float matrix, v: float vector, i: integers, m: square matrix, b: bools, c: complex numbers, f: float32.
CALLS = """
np.add(a, 1) | np.add(a, a, where=b, out=a * 0) | np.add.reduce(a) | np.add.reduce(a, axis=1, keepdims=True)
np.add.accumulate(a, axis=1) | np.add.outer(v, v) | np.add.reduceat(v, [0, 2, 3]) | np.multiply.reduce(a, axis=None)
np.maximum.accumulate(v) | np.maximum.reduce(a, axis=1) | np.logical_or.reduce(b) | np.subtract.outer(v, i[0])
np.sum(a, where=b) | np.sum(a, initial=5) | np.sum(a, dtype='f4') | np.sum(a, axis=(0, 1)) | np.mean(a, dtype='f4')
np.mean(a, where=b) | np.mean(i) | np.prod(a, initial=2) | np.std(a, where=b) | np.var(a, dtype='f4') | np.max(a, initial=0)
np.min(a, where=b, initial=9) | np.all(b, where=b) | np.any(b, axis=0) | np.ptp(a, axis=0) | np.median(a, axis=(0, 1))
np.percentile(a, 30) | np.percentile(a, [10, 90], axis=1) | np.percentile(v, 25, method='lower') | np.quantile(a, 0.5, axis=0) | np.quantile(a, axis=0, q=0.5) | np.nanquantile(a, axis=1, q=[0.5, 0.25]) | np.nanpercentile(a, 30, method='lower')
np.nanmean(a) | np.nanpercentile(a, 40) | np.average(a, axis=0, weights=v[:3]) | np.cov(a) | np.cov(a, rowvar=False)
np.corrcoef(a) | np.histogram(v, bins=3)[0] | np.histogram(v, bins='auto')[0] | np.histogram2d(v, v)[0] | np.bincount(i[0])
np.histogramdd(a, 2)[0] | np.histogram_bin_edges(v, 4) | np.digitize(v, [0, 1, 2]) | np.correlate(v, v[:2])
np.correlate(v, v, 'full') | np.convolve(v, v[:2], 'valid') | np.interp(v, np.sort(v), v) | np.interp([1.5], v, v, period=5)
np.sort(a) | np.sort(a, axis=None) | np.sort(a, kind='stable') | np.argsort(v, axis=None) | np.argsort(v, kind='mergesort')
np.lexsort((v, v)) | np.partition(v, 2) | np.argpartition(v, 1) | np.searchsorted(v, 1.5) | np.searchsorted(v, a, side='right')
np.searchsorted(v, 2, sorter=np.argsort(v)) | np.unique(i) | np.unique(i, return_counts=True) | np.unique(i, return_inverse=True)[0]
np.unique(i, return_index=True, return_counts=True) | np.unique(a, axis=0) | np.union1d(v, v + 1) | np.intersect1d(v, v)
np.intersect1d(i[0], i[1], return_indices=True) | np.setdiff1d(v, [1.0]) | np.setxor1d(v, v + 1) | np.isin(a, [1, 2])
np.cumsum(a) | np.cumsum(a, axis=1) | np.cumprod(a) | np.cumsum(i, dtype='f8') | np.diff(a, n=2) | np.diff(v, prepend=0)
np.ediff1d(v) | np.gradient(v) | np.gradient(a, axis=0) | np.gradient(v, 2.0) | np.gradient(v, edge_order=2) | np.gradient(a, v, axis=1, edge_order=2) | np.trapezoid(v) if hasattr(np, 'trapezoid') else np.trapz(v)
np.cross(a[:, :3], a[:, 1:]) | np.dot(a, v) | np.vdot(v, v) | np.inner(a, a) | np.outer(v, v) | np.matmul(m, m) | np.kron(m, m)
np.tensordot(a, a, axes=([0], [0])) | np.einsum('ij,ij->i', a, a) | np.einsum('ij,j', a, v, optimize=True) | np.trace(m, offset=1)
np.trace(np.reshape(a, (2, 3, 2))) | np.diagonal(m) | np.diagonal(np.reshape(a, (2, 3, 2)), axis1=0, axis2=2) | np.diag(v) | np.diag(m, 1)
np.diagflat(v) | np.tri(3) | np.tril(m, -1) | np.triu(m) | np.vander(v) | np.linalg.inv(m) | np.linalg.det(m)
np.linalg.solve(m, v[:3]) | np.linalg.norm(a) | np.linalg.norm(a, axis=1) | np.linalg.norm(v, 3) | np.linalg.norm(m, 2)
np.linalg.eigvals(m + m.T) if False else np.linalg.eigvalsh(m + m.T) | np.linalg.matrix_power(m, 3) | np.linalg.matrix_rank(m)
np.linalg.cond(m) | np.linalg.pinv(a) | np.linalg.slogdet(m)[1] | np.linalg.multi_dot([a, a.T, a]) | np.linalg.lstsq(a.T, v, rcond=None)[0]
np.linalg.tensorinv(np.reshape(m, (3, 3)), ind=1) | np.linalg.cholesky(m @ m.T) | np.fft.fft(v) | np.fft.rfft(a, axis=0) | np.fft.ifft2(c)
np.fft.fftshift(v) | np.fft.fft(v, n=8) | np.fft.fftn(a) | np.fft.irfft(c) | np.fft.ifftshift(a, axes=1)
np.concatenate([a, a]) | np.concatenate((a, a), axis=None) | np.stack([v, v], axis=1) | np.vstack([v, v]) | np.hstack((v, v))
np.dstack((v, v)) | np.column_stack((v, v)) | np.block([[m, m], [m, m]]) | np.append(v, 7) | np.append(a, a, axis=0) | np.insert(v, 1, 9)
np.insert(a, 1, 0, axis=1) | np.delete(v, 1) | np.delete(a, [0, 2], axis=1) | np.split(v, 2)[1] | np.array_split(v, 3)[0]
np.hsplit(a, 2)[0] | np.vsplit(a, 3)[2] | np.dsplit(np.reshape(a, (1, 2, 6)), 2)[1] | np.tile(a, (2, 1)) | np.repeat(v, [1, 2, 0, 3]) | np.repeat(a, 2)
np.roll(a, 1) | np.roll(a, (1, 2), axis=(0, 1)) | np.rot90(m) | np.flip(a) | np.fliplr(a) | np.flipud(a) | np.pad(v, 2, mode='edge')
np.pad(a, ((1, 0), (0, 2)), constant_values=3) | np.pad(v, 2, mode='reflect') | np.pad(v, (1, 2), 'wrap') | np.resize(v, (2, 3))
np.reshape(a, (4, 3)) | np.reshape(a, -1, order='F') | np.ravel(a) | np.ravel(a, order='F') | np.transpose(a) | np.swapaxes(a, 0, 1)
np.moveaxis(a, 0, 1) | np.rollaxis(a, 1) | np.expand_dims(a, (0, 2)) | np.squeeze(a[None]) | np.atleast_1d(v) | np.atleast_2d(v)
np.atleast_3d(v) | np.broadcast_to(v, (2, 4)) | np.broadcast_arrays(a, v)[1] | np.meshgrid(v, v)[0] | np.meshgrid(v, v, indexing='ij', sparse=True)[1]
np.ix_(i[0], i[1])[0] | np.take(a, [0, 5]) | np.take(a, [1], axis=1) | np.take(a, [9, 11], mode='clip') | np.take_along_axis(a, np.argsort(a, 1), 1)
np.choose(i[0] % 2, [v[:3], -v[:3]]) | np.compress([True, False, True], a, axis=0) | np.extract(b, a) | np.select([a > 1, a > 0], [a, -a], 9)
np.where(b, a, 0) | np.where(b)[0] | np.nonzero(b)[1] | np.argwhere(b) | np.flatnonzero(b) | np.count_nonzero(b, axis=0)
np.argmax(a) | np.argmin(a, axis=1) | np.argmax(a, axis=1, keepdims=True) | np.nanargmax(a) | np.unravel_index(i[0], (5, 5))[1]
np.ravel_multi_index((i[0] % 2, i[0] % 3), (2, 3)) | np.clip(a, 1, 2) | np.clip(a, None, 2) | np.clip(a, v, None) | np.round(a, 1) | np.around(a, -1)
np.fix(a) | np.trunc(a) | np.floor(a) | np.rint(a) | np.sign(a) | np.abs(a) | np.fabs(a) | np.sqrt(abs(a)) | np.cbrt(a) | np.square(a)
np.exp(a) | np.expm1(a) | np.log(abs(a) + 1) | np.log2(abs(a) + 1) | np.logaddexp(a, a) | np.logaddexp2(a, a) | np.power(abs(a), 2.5) | np.float_power(abs(a), 2)
np.mod(a, 2) | np.fmod(a, 2) | np.divmod(a, 2)[0] | np.remainder(i, 3) | np.floor_divide(i, 2) | np.modf(a)[0] | np.frexp(a)[1] | np.ldexp(a, 2)
np.gcd(i, 6) | np.lcm(i, 4) | np.hypot(a, 2) | np.arctan2(a, 2) | np.sin(a) | np.arcsinh(a) | np.deg2rad(a) | np.degrees(a) | np.radians(a) | np.rad2deg(a)
np.unwrap(v) | np.sinc(a) | np.i0(v) | np.heaviside(a, 0.5) | np.copysign(a, -1) | np.nextafter(a, 9) | np.spacing(a) | np.signbit(a)
np.isnan(a) | np.isfinite(a) | np.isposinf(a) | np.isneginf(a) | np.isreal(c) | np.iscomplex(c) | np.isclose(a, a) | np.real(c) | np.imag(c)
np.angle(c) | np.angle(c, deg=True) | np.conj(c) | np.real_if_close(c * 0 + 1) | np.nan_to_num(a, nan=1.0) | np.maximum(a, 1) | np.fmax(a, 1)
np.fmin(a, v) | np.logical_and(b, b) | np.logical_xor(a, 0) | np.bitwise_and(i, 3) | np.invert(i) | np.left_shift(i, 1) | np.greater(a, 1) | np.equal(a, v)
np.polyfit(v, v, 1) | np.polyval([1, 2, 3], v) | np.polyadd(v, v) | np.polymul(v, v) | np.polyder(v) | np.polyint(v) | np.roots(v[1:]) | np.poly(m)
np.apply_along_axis(np.sum, 1, a) | np.apply_over_axes(np.sum, a, [0]) | np.piecewise(v, [v < 2, v >= 2], [-1, 1]) | np.copy(a) | np.copy(a, order='F')
np.zeros_like(a) | np.full_like(a, 3, dtype='i4') | np.empty_like(a) * 0 | np.linspace(v, v + 1, 3) | np.geomspace(abs(v) + 1, 9, 3) | np.logspace(v, v + 1, 3)
np.trim_zeros(v) | np.packbits(b) | np.unpackbits(i[0].astype('u1')) | np.nancumsum(a, axis=0) | np.nanstd(a) | np.mask_indices(3, np.triu)[0]
np.diag_indices_from(m)[0] | np.tril_indices_from(m)[0] | np.triu_indices_from(m, 1)[1] | np.blackman(4) * v | np.isin(i, i[0], invert=True) | np.vecdot(a, a) if hasattr(np, 'vecdot') else a
np.lib.stride_tricks.sliding_window_view(v, 2) | np.ascontiguousarray(a.T) | np.asfortranarray(a) | np.asarray(a) | np.array(a, ndmin=3) | np.require(a, 'f4')
"""
CALLS = [call.strip() for call in CALLS.replace("\n", " | ").split(" | ") if call.strip()]
KEYWORDS = {"a", "v", "i", "m", "b", "c", "f"}


def host():
    a = np.array([[0.5, 2, -3, 1], [3, 1.25, 2, 1], [2, 0.75, 5, 4]])
    return {"a": a, "v": np.array([0.5, 1, 2.5, 4]), "i": np.array([[1, 4, 2], [3, 2, 8]]), "b": a > 1,
            "m": np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]]), "c": a[:2] + 1j, "f": a.astype("f4")}


def same(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            same(x, y)
        return
    expected = np.asarray(expected)
    assert tuple(np.shape(found)) == expected.shape and np.asarray(found).dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    arrays = host()
    expected = eval(call, {"np": np, **arrays})
    ours = {n: collet.asarray(x) for n, x in arrays.items()}
    found = eval(call, {"np": np, **ours})
    same(found, expected)
    for name, array in ours.items():
        assert np.array_equal(np.asarray(array), arrays[name]), f"{name} was changed"


def counted():
    return {n: c for n, c in collet.counters().items() if n.startswith("numpy.")}


@pytest.fixture(autouse=True)
def default_mode():
    yield
    collet.configure(numpy_fallback="on")


def test_results_are_arrays_of_their_own(all_wait):
    x = collet.asarray([1.0, 2, 4, 8])
    found = np.correlate(x, [1, 1.0])
    assert isinstance(found, collet.Array) and found.tolist() == [3, 6, 12]
    assert collet._core.is_pending(found + 1)  # its memory is not shared with NumPy
    view = np.diagonal(collet.zeros((2, 3, 3)))
    assert isinstance(view, collet.Array)
    values, counts = np.unique(x, return_counts=True)
    assert isinstance(values, collet.Array) and isinstance(counts, collet.Array)
    assert isinstance(np.add.reduce(x), collet.Array) and np.iscomplex(x).dtype == bool
    assert isinstance(np.array_str(x), str) and isinstance(np.array_split(x, 2), list)
    assert type(np.where(x > 1, "big", "small")) is np.ndarray  # texts stay NumPy's


def test_views_of_an_argument_stay_views():
    x = collet.asarray(np.arange(8.0).reshape(2, 2, 2))
    part = np.diagonal(x)
    waiting = part + 1
    x[:] = 5
    assert (part == 5).all() and waiting.tolist() == [[1, 7], [2, 8]]
    windows = np.lib.stride_tricks.sliding_window_view(collet.arange(4.0), 2)
    assert windows.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_functions_that_write():
    x = collet.zeros((3, 3))
    waiting, whole = x + 1, x.T
    np.fill_diagonal(x, 4)
    assert whole.tolist() == np.diag([4.0] * 3).tolist() and waiting.tolist() == [[1] * 3] * 3
    waiting, a = x + 1, np.asarray(x).copy()
    for array in x, a:
        np.put(array, [1, 2], 7)
        np.copyto(array, [9.0, 8, 7], where=[False, False, True])
        np.add.at(array, (1, [0, 0]), 3)
        np.putmask(array, array > 6, -1)
        np.place(array, array == 0, [1.5, 2])
    assert x.tolist() == a.tolist() and waiting.tolist() == [[5, 1, 1], [1, 5, 1], [1, 1, 5]]
    out = collet.zeros(3)
    assert np.sum(x, axis=0, out=out) is out and np.add.reduce(x, axis=0, out=out) is out
    assert np.add(x[0], 1, out=out, where=[True, False, True]) is out and out[0] == x[0, 0] + 1
    ours = np.ones(3)
    assert np.add(x[0], 1, out=ours) is ours and ours[0] == x[0, 0] + 1
    ours += x[0]
    ours *= collet.ones(3)
    assert type(ours) is np.ndarray and ours[0] == 2 * x[0, 0] + 1
    fixed = collet.broadcast_to(collet.ones(1), (3,))
    with pytest.raises(ValueError, match="read-only"):
        np.copyto(fixed, 2.0)
    whole, parts = np.modf(collet.asarray([1.5]), out=(collet.zeros(1), collet.zeros(1)))
    assert whole[0] == 0.5 and parts[0] == 1


def test_a_ufunc_of_another_library_with_a_name_of_numpys():
    class Add:
        __name__, nout = "add", 1

        def __call__(self, a, b):
            assert type(a) is np.ndarray
            return a * b

    x = collet.asarray([2.0, 3])
    assert x.__array_ufunc__(Add(), "__call__", x, 5.0).tolist() == [10, 15]  # not a sum


def test_other_libraries_arrays_keep_their_rules():
    x = collet.ones(3)
    masked = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    with pytest.raises(TypeError, match="MaskedArray"):
        np.correlate(x, masked)

    class Foreign:
        __array_priority__ = 1

        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return "foreign"

        def __array_function__(self, *_):
            return "function"

    assert np.logaddexp2(x, Foreign()) == "foreign" and np.correlate(x, Foreign()) == "function"

    class Lossy:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    with pytest.raises(TypeError, match="takes no Lossy"):
        np.correlate(x, Lossy())


def test_modes_and_counters():
    x = collet.ones(3)
    before = counted().get("numpy.correlate", 0)
    np.correlate(x, x)
    assert counted()["numpy.correlate"] == before + 1
    counts = []
    thread = threading.Thread(target=lambda: (np.correlate(x, x), counts.append(counted())))
    thread.start()
    thread.join()
    assert counts[0]["numpy.correlate"] == 1 and counted()["numpy.correlate"] == before + 1
    collet.configure(numpy_fallback="warn")
    with pytest.warns(RuntimeWarning, match="numpy.correlate is a function that collet lacks: NumPy computes it"):
        np.correlate(x, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.add(x, 1)
    collet.configure(numpy_fallback="off")
    with pytest.raises(TypeError, match="numpy.correlate is a function that collet lacks"):
        np.correlate(x, x)
    with pytest.raises(TypeError, match="numpy.sum has where=, which collet's function lacks"):
        np.sum(x, where=x > 0)
    with pytest.raises(ValueError, match="numpy_fallback is 'sometimes'; it is one of 'on', 'copy', 'warn', 'off'"):
        collet.configure(numpy_fallback="sometimes")
    with pytest.raises(TypeError):
        np.correlate(x, x)


def test_errors_are_those_of_collet():
    x = collet.ones((2, 3))
    with pytest.raises(ValueError, match="axis 5 is out of range: the array has 2"):
        np.sum(x, axis=5)
    with pytest.raises(ValueError):
        np.correlate(x, x)
    with pytest.raises(TypeError, match="unexpected keyword|got an unexpected"):
        np.correlate(x, x, wrong=1)
    with pytest.raises(TypeError):
        np.negative(collet.asarray([True]))


def test_gradients_refuse_it_by_name():
    with pytest.raises(collet.UnsupportedError, match="numpy.correlate is a function that collet lacks.*has no gradient"):
        collet.grad(lambda v: np.correlate(v, v).sum())(collet.ones(3))
    with pytest.raises(collet.UnsupportedError, match="numpy.sum has where=.*has no gradient"):
        collet.grad(lambda v: np.sum(v, where=[True, False, True]))(collet.ones(3))


@pytest.mark.skipif(not any(d.own_memory for b in collet.backends() for d in b.devices), reason="no device has memory of its own")
def test_devices():
    far = next(d.choice for b in collet.backends() if b.state == "usable" for d in b.devices if d.own_memory)
    x = collet.ones(3).to_device(far)
    with pytest.raises(TypeError, match=f"an Array is on {far}: give it x.to_device"):
        np.correlate(x, x)
    with pytest.raises(TypeError, match="an Array is on"):
        np.lexsort((x, x))
    collet.configure(numpy_fallback="copy")
    assert np.correlate(x, x).tolist() == [3]
    written = collet.ones((2, 2)).to_device(far)
    np.fill_diagonal(written, 3)
    assert (written * 2).tolist() == [[6, 2], [2, 6]]


def test_scipy():
    special = pytest.importorskip("scipy.special")
    x = collet.asarray([0.5, 1, 2])
    for name in "gammaln digamma j0 i0 expit erf erfinv xlogy".split():
        function = getattr(special, name)
        arguments = (x,) if function.nin == 1 else (x, x)
        found = function(*arguments)
        assert isinstance(found, collet.Array), name
        assert np.allclose(found.to_numpy(), function(*(a.to_numpy() for a in arguments)), rtol=1e-13, equal_nan=True), name


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps memory")
def test_memory_stays_flat():
    import resource
    x = collet.asarray(np.arange(1000.0))
    def many():
        for _ in range(300):
            np.correlate(x, x[:3])
            np.unique(x, return_counts=True)
            np.sum(x, where=x > 3)
    many()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many()
    many()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000


def test_what_users_of_other_libraries_reported():
    """Calls that failed in similar libraries: reductions of tuples, out=None by position, NumPy's arrays as breakpoints
    of interp, masked keys."""
    a, b = collet.asarray([True, False, False]), collet.asarray([False, True, False])
    assert np.logical_or.reduce((a, b)).tolist() == [True, True, False]
    assert np.divide(collet.ones(2), 2, None).tolist() == [0.5, 0.5]
    assert np.interp(collet.asarray([0.5]), np.array([0.0, 1]), [0, 10]).tolist() == [5]
    assert np.frombuffer(collet.asarray([1.0, 2])).tolist() == [1, 2]
    x = collet.ones((2, 2))
    with pytest.raises(TypeError, match="masks are not supported"):
        x[np.ma.MaskedArray(np.ones((2, 2)), [[0, 0], [0, 1]], dtype=bool)] = 2
    assert x.tolist() == [[1, 1], [1, 1]]
    zero = collet.asarray(1)
    zero[collet.asarray(True)] = collet.asarray([2])
    assert zero == 2
    column = collet.zeros((2, 1))
    column[collet.asarray([True, False])] = collet.asarray([[5.0]])
    assert column.tolist() == [[5], [0]]
    assert np.array([v for v in collet.asarray([1.0, 2])]).tolist() == [1, 2]
    assert collet.arange(10)[collet.asarray([2])[0]:collet.asarray([5])[0]].tolist() == [2, 3, 4]


def test_dtypes_of_ufuncs_cast_as_in_numpy():
    x, y = collet.asarray([2, 3]), collet.asarray([1, 1])
    for function in (np.greater, np.equal, np.less, np.not_equal, np.greater_equal, np.logical_and):
        assert function(x, y, dtype=bool).tolist() == function(x.to_numpy(), y.to_numpy(), dtype=bool).tolist()
    for function, value in ((np.isnan, np.nan), (np.isinf, np.inf), (np.isfinite, np.inf), (np.signbit, -1.0)):
        assert function(collet.asarray([value]), dtype=bool).tolist() == function(np.array([value])).tolist()
    for function in np.multiply, np.add, np.floor_divide, np.minimum:
        with pytest.raises(TypeError):
            function(collet.asarray([1.5]), 2, dtype="int64")
    assert np.add(collet.asarray([1], dtype="int8"), 1, dtype="int32").dtype == np.int32
    assert np.multiply(collet.asarray([1]), 2.5, dtype="float32").tolist() == [2.5]
    assert [part.tolist() for part in np.divmod(collet.asarray([2.0, 3]), 2.0, dtype="float64")] == [[1, 1], [0, 1]]


def test_outputs_that_numpy_does_not_check():
    x = collet.asarray([1.0, 2, 3])
    for call in (lambda: np.cumsum(x, axis=0, out=collet.asarray(0.0)), lambda: np.cumprod(x, axis=0, out=collet.asarray(0.0)),
                 lambda: np.add.accumulate(x, out=collet.asarray(0.0))):
        with pytest.raises((TypeError, ValueError)):
            call()
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for array in collet.asarray(fixed, copy=False), collet.asarray(np.zeros(1)).broadcast_to(3):
        with pytest.raises(ValueError, match="read-only"):
            np.add.at(array, [0], 1)
    assert fixed.tolist() == [0, 0, 0]
    collet.configure(numpy_fallback="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            np.add.at(x, [0], 1)
    assert x.tolist() == [1, 2, 3]


def test_arrays_by_name_and_methods():
    cube = collet.asarray(np.arange(8.0).reshape(2, 2, 2))
    assert np.trace(a=cube).tolist() == np.trace(cube.to_numpy()).tolist()
    assert np.diagonal(a=cube).shape == (2, 2)
    x, a = collet.asarray([[3.0, 1], [2, 0]]), np.array([[3.0, 1], [2, 0]])
    for call in (lambda v: v.sum(where=v > 1), lambda v: v.max(initial=9), lambda v: v.argsort(axis=None), lambda v: v.argsort(kind="stable"),
                 lambda v: v.take([0, 9], mode="clip"), lambda v: v.mean(where=v > 1), lambda v: v.sum(0, initial=1)):
        assert call(x).tolist() == call(a).tolist()


def test_memory_of_results():
    """A result that shares memory with an argument is a view of that argument. Other results have their own memory."""
    from collet._standard.numpy_itself import compute
    x, owner = collet.asarray(np.arange(6.0)), np.arange(6.0)
    np.split(x, 2)[1][...] = 9
    assert x.tolist() == [0, 1, 2, 9, 9, 9]
    for given in (owner, owner[1:]):
        compute(lambda array, values: values[:2], "first", (x, given), {}, "is a test")[...] = -1
    assert owner.tolist() == [-1, -1, -1, 3, 4, 5]
    indices = np.unravel_index(collet.asarray([1, 5]), (2, 3))
    indices[0][...] = 7
    assert [i.tolist() for i in indices] == [[7, 7], [1, 2]]


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_dtypes_of_means(name):
    for given in ([1.0, 2.5], [1, 2], [1 + 1j, 2]):
        for dtype in ("f4", "f8", "i8", "c8"):
            if dtype == "c8" or not isinstance(given[0], complex):
                x, expected = collet.asarray(given), getattr(np.asarray(given), name)(dtype=dtype)
                for found in (getattr(x, name)(dtype=dtype), getattr(np, name)(x, dtype=dtype)):
                    assert found.dtype == expected.dtype and np.allclose(found.to_numpy(), expected)
    assert collet.grad(lambda x: np.mean(x, dtype="f4"))(collet.ones(2)).tolist() == [0.5, 0.5]
