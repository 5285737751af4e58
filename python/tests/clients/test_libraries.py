# SPDX-License-Identifier: Apache-2.0
"""Other libraries on collet.Arrays. Each test needs its library. docs/libraries.md has the table of all
functions; library_suites.py makes it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import collet

HOST = np.random.default_rng(3).normal(size=(4, 5, 6))


def same(made, expected, limit=1e-12):
    assert isinstance(made, collet.Array), type(made)
    assert made.dtype == expected.dtype and made.shape == expected.shape
    np.testing.assert_allclose(made.to_numpy(), expected, rtol=limit, atol=limit)


def run(code):
    """Runs code in a process with SCIPY_ARRAY_API=1, which SciPy reads during its import."""
    pytest.importorskip("scipy", "1.17")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "SCIPY_ARRAY_API": "1"})
    assert done.returncode == 0, done.stderr


SCIPY = """
import numpy as np
import collet
from scipy import cluster, differentiate, fft, integrate, ndimage, optimize, signal, special, stats
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation
host = np.random.default_rng(3).normal(size=(8, 30))
x = collet.asarray(host)
CALLS = {
    "gamma": lambda a: special.gamma(a), "logsumexp": lambda a: special.logsumexp(a, axis=1),
    "betainc": lambda a: special.betainc(abs(a), 2.0, special.expit(a)),
    "softmax": lambda a: special.softmax(a, axis=0),
    "skew": lambda a: stats.skew(a, axis=1), "ttest": lambda a: stats.ttest_ind(a[0], a[1]).pvalue,
    "pearsonr": lambda a: stats.pearsonr(a[0], a[1]).statistic,
    "rankdata": lambda a: stats.rankdata(a, axis=1),
    "gaussian": lambda a: ndimage.gaussian_filter(a, 1.5), "label": lambda a: ndimage.label(a > 0)[0],
    "distance": lambda a: ndimage.distance_transform_edt(a > 0),
    "zoom": lambda a: ndimage.zoom(a, 2, order=1),
    "fftconvolve": lambda a: signal.fftconvolve(a, a[:3, :3], mode="same"),
    "hilbert": lambda a: signal.hilbert(a),
    "lfilter": lambda a: signal.lfilter(a[0, :3], a[1, :3], a), "detrend": lambda a: signal.detrend(a),
    "resample": lambda a: signal.resample(a, 45, axis=1), "dctn": lambda a: fft.dctn(a),
    "rfft2": lambda a: fft.rfft2(a),
    "trapezoid": lambda a: integrate.trapezoid(a, axis=1),
    "simpson": lambda a: integrate.cumulative_simpson(a, dx=0.1),
    "whiten": lambda a: cluster.vq.whiten(a), "linkage": lambda a: cluster.hierarchy.linkage(a),
    "rosen": lambda a: optimize.rosen(a), "matrix": lambda a: Rotation.from_rotvec(a[:, :3]).as_matrix()}
for name, call in CALLS.items():
    made, expected = call(x), call(host)
    assert isinstance(made, collet.Array), (name, type(made))
    assert made.shape == expected.shape and made.dtype == expected.dtype, (name, made.dtype, expected.dtype)
    np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-9, atol=1e-9, err_msg=name)
root = elementwise.find_root(lambda y: y**2 - 2, (collet.zeros(3), collet.ones(3) * 2))
assert isinstance(root.x, collet.Array) and np.allclose(root.x.to_numpy(), 2**0.5)
found = differentiate.derivative(collet.sin, x[0])
assert isinstance(found.df, collet.Array) and np.allclose(found.df.to_numpy(), np.cos(host[0]))
"""

SKLEARN = """
import numpy as np
import collet
import sklearn
from sklearn import decomposition, linear_model, metrics, mixture, preprocessing
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
host = np.random.default_rng(3).normal(size=(60, 4))
labels = (host @ [1, 2, 3, 4] > 0).astype("i8")
x, y = collet.asarray(host), collet.asarray(labels)
with sklearn.config_context(array_api_dispatch=True):
    for model in (decomposition.PCA(2, svd_solver="full"), preprocessing.StandardScaler(),
                  preprocessing.MinMaxScaler(),
                  linear_model.Ridge(solver="svd"), LinearDiscriminantAnalysis(),
                  mixture.GaussianMixture(2, init_params="random_from_data", random_state=0)):
        made, expected = sklearn.clone(model).fit(x, y), sklearn.clone(model).fit(host, labels)
        for call in ("transform", "predict"):
            signs = call == "transform" and hasattr(made, "classes_")  # of axes, which are arbitrary
            if hasattr(made, call) and not signs:
                found = getattr(made, call)(x)
                assert isinstance(found, collet.Array), (model, type(found))
                wanted = getattr(expected, call)(host)
                np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-6, atol=1e-8)
    assert metrics.accuracy_score(y, y) == 1 and metrics.r2_score(x, x) == 1
    assert isinstance(metrics.pairwise.rbf_kernel(x), collet.Array)
"""


def test_scipy():
    run(SCIPY)


def test_scikit_learn():
    pytest.importorskip("sklearn", "1.9")
    run(SKLEARN)


def test_array_api_compat():
    compat = pytest.importorskip("array_api_compat")
    x = collet.asarray(HOST)
    assert compat.array_namespace(x) is collet and compat.array_namespace(x, x + 1) is collet
    assert compat.is_array_api_obj(x) and compat.is_writeable_array(x) and not compat.is_lazy_array(x)
    assert compat.device(x) == x.device and compat.to_device(x, "host").device == "host"
    assert compat.size(x) == x.size
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, np.ones(3))


def test_array_api_extra():
    extra = pytest.importorskip("array_api_extra")
    x = collet.asarray(HOST)
    same(extra.at(x)[0].set(2.0, copy=True), np.concatenate([np.full((1, 5, 6), 2.0), HOST[1:]]))
    assert float(x[0, 0, 0]) == HOST[0, 0, 0]
    same(extra.apply_where(x > 0, (x,), collet.log, fill_value=0), np.log(np.where(HOST > 0, HOST, 1)))
    same(extra.cov(x[0]), np.cov(HOST[0]))
    same(extra.kron(x[0], x[1]), np.kron(HOST[0], HOST[1]))
    same(extra.nan_to_num(collet.where(x > 0, x, np.nan)), np.where(HOST > 0, HOST, 0))
    same(extra.setdiff1d(x[0, 0], x[0, 0, :2]), np.setdiff1d(HOST[0, 0], HOST[0, 0, :2]))
    same(extra.lazy_apply(np.sin, x, as_numpy=True), np.sin(HOST))
    same(extra.one_hot(collet.asarray([1, 0]), 3, dtype=collet.float64), np.eye(3)[[1, 0]])


def test_einops():
    einops = pytest.importorskip("einops")
    from einops import array_api

    from collet.compat.einops import install
    install()
    x = collet.asarray(HOST)
    for module in (einops, array_api):
        same(module.rearrange(x, "a (b1 b2) c -> c (b2 a) b1", b1=5), einops.rearrange(HOST,
        "a (b1 b2) c -> c (b2 a) b1", b1=5))
        same(module.reduce(x, "a b c -> b", "mean"), HOST.mean((0, 2)))
        same(module.repeat(x, "a b c -> a b c d", d=2), np.stack([HOST, HOST], -1))
        packed, shapes = module.pack([x, x[0]], "* c")
        same(packed, np.concatenate([HOST.reshape(-1, 6), HOST[0]]))
        same(module.unpack(packed, shapes, "* c")[0], HOST)
    same(einops.einsum(x, x, "a b c, a b d -> c d"), np.einsum("abc,abd->cd", HOST, HOST))


def test_opt_einsum():
    contract = pytest.importorskip("opt_einsum").contract
    x = collet.asarray(HOST)
    for text, arguments in (("abc,abd->cd", "xx"), ("abc,dbc,aef->def", "xxx"), ("abc,bc->cba", "xy")):
        given = {"x": (x, HOST), "y": (x[0], HOST[0])}
        made, expected = (contract(text, *(given[a][i] for a in arguments)) for i in (0, 1))
        same(made, expected)


def test_xarray():
    xarray = pytest.importorskip("xarray")
    makes = [xarray.DataArray(values, dims=("t", "y", "x"), coords={"t": [1, 2, 3, 4]})
             for values in (collet.asarray(HOST), HOST)]
    for call in (lambda d: d + 1, lambda d: d * d.isel(t=0), lambda d: np.sin(d), lambda d: d.mean("t"),
                 lambda d: d.where(d > 0).std("x"), lambda d: d.where(d > 0, 0), lambda d: d.sel(t=[2, 4]),
                 lambda d: xarray.concat([d, d], "t"), lambda d: d.transpose("x", "t", "y"),
                 lambda d: d.max(("x", "y")),
                 lambda d: d.groupby("t").mean(), lambda d: d.median("t"),
                 lambda d: xarray.dot(d, d, dim="t"),
                 lambda d: d.cumsum("x"), lambda d: d.shift(x=1).fillna(0), lambda d: d.argmax("x"),
                 lambda d: d.coarsen(x=2).mean(), lambda d: d.stack(z=("t", "y")),
                 lambda d: d.weighted(d[0, 0]).mean("x"),
                 lambda d: d.rolling(x=3, center=True).mean(), lambda d: d.rolling(t=2, min_periods=1).max(),
                 lambda d: d.rolling(t=2, x=3).construct({"t": "a", "x": "b"})):
        made, expected = map(call, makes)
        same(made.data, expected.data)
    assert "collet.Array" in repr(makes[0])


def test_dask():
    array = pytest.importorskip("dask.array")
    x, host = (array.from_array(values, chunks=(2, 5, 3), asarray=False)
               for values in (collet.asarray(HOST), HOST))
    for call in (lambda a: a + 1, lambda a: array.sin(a), lambda a: a.sum(axis=0),
    lambda a: a.std(axis=1), lambda a: a.T,
                 lambda a: a[0] @ a[1].T, lambda a: a[a > 0], lambda a: a[:, [0, 2]],
                 lambda a: a.rechunk((4, 5, 6)),
                 lambda a: array.tensordot(a, a, axes=([0], [0])),
                 lambda a: array.einsum("abc,abd->cd", a, a),
                 lambda a: array.where(a > 0, a, 0), lambda a: array.concatenate([a, a]),
                 lambda a: a.argmax(axis=2),
                 lambda a: a.cumsum(axis=0), lambda a: array.nanmean(a, axis=0), lambda a: array.topk(a, 2),
                 lambda a: array.median(a, axis=0), lambda a: array.fft.fft(a.rechunk((4, 5, 6))),
                 lambda a: array.linalg.norm(a[0]), lambda a: array.roll(a, 1, axis=0),
                 lambda a: array.histogram(
                     a, bins=4, range=(-2, 2))[0]):
        made, expected = call(x).compute(scheduler="synchronous"), call(host).compute(scheduler="synchronous")
        same(made, np.asarray(expected))
    same(x.map_blocks(collet.cos).compute(), np.cos(HOST))  # in threads


def test_dask_solve():
    array = pytest.importorskip("dask.array")
    pytest.importorskip("scipy.linalg", reason="dask.array.linalg needs SciPy")
    matrix = HOST[0, :, :5] + 3 * np.eye(5)
    solved = array.linalg.solve(array.from_array(collet.asarray(matrix), asarray=False), array.ones(5)).compute()
    np.testing.assert_allclose(np.asarray(solved), np.linalg.solve(matrix, np.ones(5)))
