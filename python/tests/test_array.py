# SPDX-License-Identifier: Apache-2.0
"""collet.Array: views, operators, exchange with other libraries."""

import copy
import pickle
import sys

import numpy as np
import pytest

import collet
from collet import op

usable = [d.choice for b in collet.backends() if b.state == "usable" for d in b.devices]


@pytest.fixture(params=usable)
def device(request):
    with collet.using(request.param):
        yield request.param


@pytest.fixture
def pair(device):
    a = np.arange(24, dtype="f4").reshape(2, 3, 4)
    return a, collet.asarray(a)


def equal(x, a):
    assert isinstance(x, collet.Array) and x.shape == a.shape and x.dtype == a.dtype
    assert (x.to_numpy() == a).all()


def test_what_it_is(pair):
    a, x = pair
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3, 4), 3, 24, 4, 96)
    assert x.dtype == np.float32 and x.strides == (12, 4, 1) and len(x) == 2


@pytest.mark.parametrize("key", [
    0, -1, slice(None), (0, 1), (0, 1, 2), Ellipsis, (..., 1), (slice(None), 0), (0, ..., 1),
    (slice(None, None, -1), slice(1, None), slice(None, None, 2)), (None, 0), (..., None),
    (slice(5, 2),), (slice(None), None, 1, ..., slice(3, None, -2)), np.int64(1),
    (slice(2, 0, -1), 1)])
def test_slicing(pair, key):
    a, x = pair
    equal(x[key], a[key])


def test_wrong_indices(pair):
    x = pair[1]
    for key in (2, -3, (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            x[key]
    for key in ("a", 0.5, np.ones(2), [0.5]):
        with pytest.raises((TypeError, IndexError)):
            x[key]
    with pytest.raises(IndexError, match="index -3 is out of range for axis 0 of length 2"):
        x[-3]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions_of_numpy(pair, name):
    a, x = pair
    function = getattr(np, name)
    for arguments in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}):
        made = function(x, **arguments)
        assert isinstance(made, collet.Array)
        assert np.allclose(made.to_numpy(), function(a, **arguments), rtol=1e-5)
    for wrong, error in (({"out": np.zeros(7)}, ValueError), ({"axis": 9}, ValueError)):
        with pytest.raises(error):
            function(x, **wrong)


def test_setting(pair):
    a, x = pair
    a, x[0, 1], x[1, :, ::2] = a.copy(), 7, np.full((3, 2), 5, "f4")
    a[0, 1], a[1, :, ::2] = 7, 5
    equal(x, a)
    x[:] = x[::-1]
    a[:] = a[::-1].copy()
    equal(x, a)


def test_views(pair):
    a, x = pair
    equal(x.T, a.T)
    equal(x.mT, a.swapaxes(1, 2))
    equal(x.transpose(1, 0, 2), a.transpose(1, 0, 2))
    equal(x.transpose((2, -2, 0)), a.transpose(2, 1, 0))
    equal(x.reshape(6, 4), a.reshape(6, 4))
    equal(x.reshape((-1, 8)), a.reshape(-1, 8))
    equal(x.T.reshape(24), a.T.reshape(24))
    equal(x[0, 0].broadcast_to(3, 4), np.broadcast_to(a[0, 0], (3, 4)))
    with pytest.raises(collet.ShapeError):
        x.reshape(5, 5)
    assert [y.to_numpy().tolist() for y in x] == a.tolist()


def test_operators(pair):
    a, x = pair
    for got, wanted in ((x + x, a + a), (x - 1, a - 1), (2 * x, 2 * a), (1 - x, 1 - a), (-x, -a),
                        (x / 4, a / 4), (abs(x - 3), abs(a - 3)), (x * a, a * a), (a + x, a + a)):
        equal(got, wanted)
    y = x
    y += 1
    y *= a
    assert y is x
    equal(x, (a + 1) * a)


def test_products(device):
    m, v = np.arange(6, dtype="f8").reshape(2, 3), np.arange(3, dtype="f8")
    x, y = collet.asarray(m), collet.asarray(v)
    equal(x @ x.T, m @ m.T)
    equal(x @ y, m @ v)
    equal(y @ x.T, v @ m.T)
    equal(m @ x.T, m @ m.T)
    assert float(y @ y) == 5


def test_promotion():
    a = collet.asarray(np.ones(2, "f4"))
    assert (a + collet.ones(2)).dtype == np.float64
    assert (a + collet.asarray(np.ones(2, "c8"))).dtype == np.complex64
    assert (collet.asarray(np.ones(2, "c8")) * collet.ones(2)).dtype == np.complex128
    assert (a + np.ones(2)).dtype == np.float64
    assert (a + collet.asarray(np.ones(2, "i4"))).dtype == np.float64
    with pytest.raises(TypeError):
        a + "1"


def test_ops_keep_arrays(pair):
    a, x = pair
    y = op.exp(x)
    assert isinstance(y, collet.Array) and np.allclose(y, np.exp(a))
    assert isinstance(op.add(a, x), collet.Array)
    out = collet.empty(x.shape, "float32")
    assert op.add(x, a, out=out) is out
    equal(out, a + a)
    host = np.empty_like(a)
    assert op.neg(x, out=host) is host and (host == -a).all()


def test_bytes_stay_on_the_device(device):
    x = collet.ones(1000)
    for _ in range(3):
        x = x + x
    before = collet.counters()["bytes_to_host"]
    (x + x)[::2].reshape(50, 10).T
    assert collet.counters()["bytes_to_host"] == before
    assert (x.to_numpy() == 8).all()


def test_conversions(device):
    x = collet.full((), 2.5)
    assert float(x) == 2.5 and int(x) == 2 and bool(x) and x.item() == 2.5 and f"{x:.2f}" == "2.50"
    assert np.asarray(x, "f4").dtype == np.float32
    assert collet.asarray([1.7, -1.7]).astype("int32").to_numpy().tolist() == [1, -1]
    with pytest.raises((TypeError, ValueError)):
        float(collet.ones(2))
    assert collet.zeros((2, 2), "i8").to_numpy().tolist() == [[0, 0], [0, 0]]


def test_items_are_numbers_of_python(device):
    for dtype in "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16":
        least, most = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype[0] in "iu" else (0.1, 2**-16 / 3)
        for value in least, most, 0, 1, *((-np.inf, -1e4) if dtype[0] in "fc" else ()):
            host = np.asarray([[value]], dtype) * np.asarray(1 + 2j if dtype[0] == "c" else 1, dtype)
            found, expected = collet.asarray(host).item(), host.item()
            assert repr(found) == repr(expected), dtype
    assert np.isnan(collet.asarray(np.asarray(np.nan, "f2")).item())
    assert collet.full((), -1.5, "bfloat16").item() == -1.5
    for x in collet.ones(2), collet.ones((0, 3)):
        with pytest.raises(ValueError, match="item: the array has"):
            x.item()


def test_sharing_and_copying():
    a = np.zeros(4)
    shared, copied = collet.asarray(a, copy=False), collet.asarray(a)
    a[0] = 1
    assert shared.to_numpy()[0] == 1 and copied.to_numpy()[0] == 0
    shared += 1
    shared.to_numpy()
    assert (a == [2, 1, 1, 1]).all()
    a.flags.writeable = False
    frozen = collet.asarray(a, copy=False)
    with pytest.raises(collet.InvalidError):
        frozen += 1
    assert collet.asarray(copied) is copied and collet.asarray(copied, copy=True) is not copied


def test_pickling(pair):
    a, x = pair
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        equal(pickle.loads(pickle.dumps(x.T, protocol)), a.T)
    beside = []
    text = pickle.dumps([x.T, x[:0]], 5, buffer_callback=beside.append)
    assert len(beside) == 2 and len(text) < 300
    for kind in bytes, bytearray, memoryview:
        found = pickle.loads(text, buffers=[kind(buffer) for buffer in beside])
        equal(found[0], a.T)
        assert found[1].shape == x[:0].shape
    equal(copy.copy(x), a)
    equal(copy.deepcopy([x])[0], a)


def test_repr_shows_where_the_elements_are(device):
    x = op.exp(collet.ones(3))
    place = device if collet.memory(device)["current"] and device.startswith(("opencl", "cuda")) else "host"
    assert f"device='{place}'" in repr(x)


def test_repr(device):
    text = repr(collet.asarray(np.array([1, 2.5], "f4")))
    assert text.startswith("collet.Array([1. , 2.5], dtype=float32, shape=(2,), device='")
    assert "bfloat16" in repr(collet.ones(2).astype("bfloat16"))
    assert len(repr(collet.zeros(10**6))) < 200
    assert str(collet.ones(2)) == "[1. 1.]"


def test_dlpack_out(device):
    x = collet.asarray(np.arange(12, dtype="f8").reshape(3, 4))[::2, 1:]
    kind, _ = x.__dlpack_device__()
    if kind != 1:
        with pytest.raises(BufferError):
            x.__dlpack__(dl_device=(2, 0))
    capsule = x.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert "dltensor_versioned" in repr(capsule)
    del capsule  # not used
    back = collet._core.from_capsule(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    equal(back, x.to_numpy())
    old = x.__dlpack__(dl_device=(1, 0))
    assert "versioned" not in repr(old)
    equal(collet._core.from_capsule(old), x.to_numpy())
    with pytest.raises(TypeError):
        collet._core.from_capsule(old)  # used


@pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="this NumPy has no from_dlpack")
def test_dlpack_with_numpy():
    x = collet.asarray(np.arange(6, dtype="f4"))
    view = np.from_dlpack(x)
    x += 1
    assert (view == np.arange(1, 7)).all()
    a = np.arange(6.0).reshape(2, 3)
    for dtype in ("f2", "f4", "f8", "c8", "c16", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        b = a.astype(dtype)[::-1]
        equal(collet.from_dlpack(b), b)
    shared = collet.from_dlpack(a)
    a[0, 0] = 9
    assert shared.to_numpy()[0, 0] == 9
    a.flags.writeable = False


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "cupy"])
def test_dlpack_with_others(library):
    other = pytest.importorskip(library)
    x = collet.asarray(np.arange(6, dtype="f4")) + np.float32(0)
    if library == "cupy" and x.__dlpack_device__()[0] != 2:
        pytest.skip("CuPy takes arrays of NVIDIA GPUs only")
    equal(collet.from_dlpack(other.from_dlpack(x)), np.arange(6, dtype="f4"))


def test_prefetch(device):
    a = np.ones((30, 20), "f4")
    x = collet.asarray(a)
    own = [d.own_memory for b in collet.backends() for d in b.devices if d.choice == device]
    before = collet.counters()["bytes_to_device"]
    for _ in range(2):
        x.prefetch(device)
    assert collet.counters()["bytes_to_device"] - before == (x.nbytes if own[0] else 0)
    x.prefetch("host")
    assert x.device == "host"
    equal(x, a)
    with pytest.raises(collet.UnknownBackendError):
        x.prefetch("nowhere")
    with pytest.raises(TypeError, match="a device is a text"):
        x.prefetch(0)


def test_no_array_of_its_own():
    with pytest.raises(collet.InvalidError):
        collet.Array().shape


def test_wrong_numbers_are_told():
    x = collet.ones((2, 3))
    for axes in (2**32, 2**32 + 1), (2**40, 1), (-2**40, 1), (0, 5):
        with pytest.raises(collet.InvalidError, match="out of range or repeated"):
            x.transpose(*axes)
    with pytest.raises(collet.SizeOverflowError, match="extent or axis 1 does not fit"):
        collet.empty((2, 2**70))
    with pytest.raises(TypeError, match="a sequence of integers, not None"):
        collet.empty(None)


@pytest.mark.parametrize("call", [
    lambda x: x.argsort(0), lambda x: x.argsort(), lambda x: x.clip(1, 3), lambda x: x.clip(min=2), lambda x: x.conj(),
    lambda x: x.conjugate(), lambda x: x.cumsum(0), lambda x: x.cumprod(axis=1), lambda x: x.dot(x.T), lambda x: x.ptp(1)
    if hasattr(x, "ptp") else np.ptp(x, 1), lambda x: x.repeat(2, 0), lambda x: x.take([1, 0], axis=1),
    lambda x: np.stack(x.nonzero()), lambda x: np.asarray(x.tolist()), lambda x: x.cumsum(), lambda x: x.repeat(2),
    lambda x: x.take([3, 0])])
def test_methods_are_those_of_numpy(call):
    a = np.array([[3.0, 1, 4], [1, 5, 9]])
    found = call(collet.asarray(a))
    assert np.array_equal(np.asarray(found), call(a))


def test_wrong_arguments_of_methods():
    x = collet.ones(3)
    for wrong in (lambda: x.dot(), lambda: x.conj(1), lambda: x.clip(1, 2, 3), lambda: x.take([0], axes=0)):
        with pytest.raises(TypeError, match="takes "):
            wrong()
    x.fill(4)
    assert x.tolist() == [4, 4, 4] and float(collet.grad(lambda x: x.clip(0, 1).cumsum().dot(x))(x)[2]) == 3


SHAPES = [(), (0,), (1,), (7,), (8,), (201,), (5000,), (3, 400), (400, 3), (40, 40), (7, 8, 9), (30, 6, 7), (0, 3), (8, 200)]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_texts_are_those_of_numpy(shape, dtype):
    values = np.random.default_rng(3).normal(scale=100, size=shape).astype(dtype)
    x = collet.asarray(values)
    text = np.array2string(values, separator=", ", prefix="collet.Array(", threshold=200)
    assert repr(x).startswith(f"collet.Array({text}, dtype={values.dtype}, ") and str(x) == str(values)
    with np.printoptions(threshold=5, edgeitems=1):
        assert str(x) == str(values)


def test_texts_copy_the_edges_alone(monkeypatch):
    """The text of a huge Array, or of an Array on a device, copies only the elements that it shows."""
    copied, whole = [], collet.Array.to_numpy
    monkeypatch.setattr(collet.Array, "to_numpy", lambda self: copied.append(self.size) or whole(self))
    for shape in (1_000_000,), (1000, 1000), (3, 1000, 300):
        x = collet.ones(shape)
        copied.clear()
        assert "..." in repr(x) and "..." in str(x) and 0 < sum(copied) < 1000


def test_subclasses_and_weak_references():
    import gc
    import pickle
    import weakref

    class Own(collet.Array):
        pass

    x, ended = collet.ones(3), []
    reference = weakref.ref(x, ended.append)
    assert reference() is x and not gc.is_tracked(x) and type(pickle.loads(pickle.dumps(x))) is collet.Array
    del x
    assert reference() is None and len(ended) == 1
    own = Own()
    own.itself, reference = own, weakref.ref(own)
    with pytest.raises(collet.InvalidError, match="not initialised"):
        own + 1
    del own
    gc.collect()
    assert reference() is None
    assert f"{collet.Array.__module__}.{collet.Array.__qualname__}" == "collet._standard.array.Array"


def test_assigning_by_a_mask_keeps_no_reference():
    x = collet.asarray([1.0, 2, 3])
    mask = x > 1
    x[mask] = x[mask]  # imports
    before = sys.getrefcount(None)
    for _ in range(1000):
        x[mask] = x[mask]
    assert sys.getrefcount(None) - before < 500
