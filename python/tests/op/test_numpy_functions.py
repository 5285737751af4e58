# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on Arrays, by __array_function__: they compute the same as on NumPy's arrays, or
raise."""

import numpy as np
import pytest

import collet

CALLS = {
    "concatenate": lambda a: np.concatenate([a, a], axis=1), "concatenate-0": lambda a: np.concatenate((a, a)),
    "concatenate-flat": lambda a: np.concatenate((a, a), axis=None),
    "stack": lambda a: np.stack([a, a], 1), "sum": lambda a: np.sum(a, 0), "sum-all": lambda a: np.sum(a, keepdims=True),
    "mean": lambda a: np.mean(a, axis=-1), "std": lambda a: np.std(a, 0, ddof=1), "max": lambda a: np.amax(a, 1),
    "argmax": lambda a: np.argmax(a, axis=1), "any": lambda a: np.any(a > 1), "sort": lambda a: np.sort(a, 0),
    "argsort": lambda a: np.argsort(a), "cumsum": lambda a: np.cumsum(a, axis=1), "where": lambda a: np.where(a > 1, a, 0),
    "nonzero": lambda a: np.where(a > 1)[0], "clip": lambda a: np.clip(a, 1, None), "clip-both": lambda a: np.clip(a, 1, 2),
    "transpose": lambda a: np.transpose(a), "transpose-axes": lambda a: np.transpose(a, (1, 0)),
    "reshape": lambda a: np.reshape(a, (-1, 2)), "ravel": lambda a: np.ravel(a), "flip": lambda a: np.flip(a, 0),
    "roll": lambda a: np.roll(a, 1, axis=0), "repeat": lambda a: np.repeat(a, 2, 1), "tile": lambda a: np.tile(a, 2),
    "pad": lambda a: np.pad(a, 1), "tril": lambda a: np.tril(a, 1), "diff": lambda a: np.diff(a, axis=0),
    "median": lambda a: np.median(a, axis=0), "take": lambda a: np.take(a, [1, 0], axis=1), "dot": lambda a: np.dot(a, a.T),
    "outer": lambda a: np.outer(a[0], a[1]), "einsum": lambda a: np.einsum("ij->j", a), "trace": lambda a: np.trace(a),
    "tensordot": lambda a: np.tensordot(a, a, axes=2), "zeros_like": lambda a: np.zeros_like(a),
    "ones_like": lambda a: np.ones_like(a, dtype="i4"), "full_like": lambda a: np.full_like(a, 3),
    "norm": lambda a: np.linalg.norm(a, axis=1), "inv": lambda a: np.linalg.inv(a[:, :2] + np.eye(2)),
    "fft": lambda a: np.fft.fft(a, axis=0), "histogram": lambda a: np.histogram(a, 3)[0], "round": lambda a: np.round(a),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 2, 3)), "moveaxis": lambda a: np.moveaxis(a, 0, 1),
    "expand_dims": lambda a: np.expand_dims(a, 1), "isclose": lambda a: np.isclose(a, a + 1e-7), "real": lambda a: np.real(a),
    "atleast_1d": lambda a: np.atleast_1d(np.sum(a)), "atleast_1d-2": lambda a: np.atleast_1d(1, a)[1],
    "vstack": lambda a: np.vstack([a, a[0]]), "hstack": lambda a: np.hstack((a, a)), "hstack-1": lambda a: np.hstack((a[0], a[1])),
    "swapaxes": lambda a: np.swapaxes(a[None], 0, -1), "average": lambda a: np.average(a), "average-axis": lambda a: np.average(a, axis=0),
    "average-weights": lambda a: np.average(a, 1, weights=[1, 2, 0.5]),
    "average-total": lambda a: np.average(a, weights=np.ones((2, 3)), returned=True)[1],
    "unique": lambda a: np.unique(np.where(a > 2, np.nan, a)),
    "unique-nans": lambda a: np.unique(np.where(a > 1, np.nan, a), equal_nan=False)}


NANS = ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian", "nancumsum", "nancumprod",
        "nanargmax", "nanargmin")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NANS)
def test_nans(name):
    function = getattr(np, name)
    host = np.array([[1.0, np.nan, 3.5, -2], [np.nan, np.nan, 4, 0.5], [2, 1, np.nan, 7]])
    for values in (host, host.astype("f4"), host[:, 2:], np.arange(6).reshape(2, 3)):
        for keywords in ({}, {"axis": 0}, {"axis": -1}):
            if "arg" in name and np.isnan(values).all(**keywords).any():
                with pytest.raises(ValueError, match="are NaN"):
                    function(collet.asarray(values), **keywords)
                continue
            made, expected = function(collet.asarray(values), **keywords), function(values, **keywords)
            assert isinstance(made, collet.Array) and made.dtype == expected.dtype and made.shape == expected.shape
            np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-6)
    if name in ("nanmean", "nanmax", "nanstd", "nanmedian", "nansum"):
        empty = np.full((2, 2), np.nan)
        np.testing.assert_equal(function(collet.asarray(empty), axis=0).to_numpy(), function(empty, axis=0))
        assert function(collet.asarray(host), axis=1, keepdims=True).shape == (3, 1)


def test_nans_with_ddof():
    host = np.array([[1.0, np.nan, 3.5], [4, 0.5, 2]])
    assert np.allclose(collet.nanvar(host, axis=1, ddof=1), np.nanvar(host, axis=1, ddof=1))
    assert collet.nanmean(collet.asarray(host), dtype="f4").dtype == np.float32
    assert np.allclose(np.nanstd(collet.asarray(host), axis=1, ddof=1).to_numpy(), np.nanstd(host, axis=1, ddof=1))


@pytest.mark.parametrize("name", CALLS)
def test_functions(name):
    host = np.array([[0.5, 2, -3], [3, 1.25, 2]])
    made, expected = CALLS[name](collet.asarray(host)), CALLS[name](host)
    assert isinstance(made, collet.Array) and made.shape == expected.shape and made.dtype == expected.dtype
    assert np.allclose(made.to_numpy(), expected, equal_nan=True)


def test_what_is_no_array():
    x = collet.asarray(np.ones((2, 3), "f4"))
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6 and not np.iscomplexobj(x)
    assert np.allclose(x, 1 + 1e-9) and not np.allclose(x, 2) and np.array_equal(x, x.copy())
    assert np.result_type(x, np.float64) == np.float64
    assert np.may_share_memory(x, x[0]) and not np.may_share_memory(x, x[:0])
    with pytest.raises(ValueError):
        np.concatenate([])
    with pytest.raises(ZeroDivisionError, match="add up to zero"):
        np.average(x, axis=1, weights=[1, -1, 0])
    with pytest.raises(ValueError, match="the weights have the shape"):
        np.average(x, weights=[1, 2])


def test_what_is_refused():
    with pytest.raises(collet.DtypeError, match="the elements are float64, not int64: astype converts them"):
        collet.ones(3).view("int64")
    x = collet.asarray(np.ones((2, 3, 3)))
    for call, words in ((lambda: np.less(x, 1, dtype="f4"), "No loop matching|signature"),
                        (lambda: np.linalg.tensorinv(x, ind=-1), "ind")):
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_arrays_like_an_array():
    x = collet.asarray([1.0, 2])
    for made, wanted in ((np.array([[1, 2]], like=x), [[1, 2]]), (np.array(x, like=x, ndmin=2), [[1, 2]]), (np.asarray([3], like=x), [3])):
        assert isinstance(made, collet.Array) and made.to_numpy().tolist() == wanted
    made = np.array(x, dtype="f4", like=x)
    made[0] = 9
    assert made.dtype == np.float32 and x.to_numpy().tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_round(dtype):
    a = (np.array([0.125, 2.675, -13.455, 1005.0, 25, 15, -35]) * 10).astype(dtype) / (1 if dtype == "i8" else 10)
    a = a.astype(dtype)
    for decimals in 0, 1, 2, -1, -2:
        found = np.round(collet.asarray(a), decimals)
        assert isinstance(found, collet.Array) and found.dtype == a.dtype
        assert np.array_equal(found.to_numpy(), np.round(a, decimals)), decimals


def test_files(tmp_path):
    a = np.arange(6.0).reshape(2, 3)
    x = collet.asarray(a)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x, y=x + 1)
    np.savetxt(tmp_path / "x.txt", x)
    both = np.load(tmp_path / "x.npz")
    for found, wanted in ((np.load(tmp_path / "x.npy"), a), (both["arr_0"], a), (both["y"], a + 1), (np.loadtxt(tmp_path / "x.txt"), a)):
        assert np.array_equal(found, wanted)
