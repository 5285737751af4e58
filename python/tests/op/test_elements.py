# SPDX-License-Identifier: Apache-2.0
"""Single elements of Arrays: read, written, iterated, as numbers of Python; and memoryview."""

import gc
import hashlib
import os
import pickle

import numpy as np
import pytest

import collet

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.fixture(autouse=True)
def at_once():
    """After a call of a backend that computes synchronously, Collet reads elements directly."""
    with collet.using("cpu_openmp"):
        collet.op.neg(collet.ones(1))
        yield


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_numpys(dtype):
    a = np.arange(-3, 9).reshape(3, 4).astype(dtype)
    x = collet.asarray(a)
    for view, part in ((a, x), (a[::-1, 1:], x[::-1, 1:]), (a.T, x.T)):
        for i in range(-len(view), len(view)):
            for j in range(-view.shape[1], view.shape[1]):
                found = part[i, j]
                assert isinstance(found, collet.Array) and found.shape == () and found.dtype == a.dtype
                assert found.item() == view[i, j].item() and type(found.item()) is type(view[i, j].item())
    assert [v.item() for v in x[1]] == a[1].tolist() and [v.tolist() for v in x] == a.tolist()
    assert bool(x[0, 0]) == bool(a[0, 0])


def test_an_element_is_a_copy():
    x = collet.asarray([1.0, 2, 3])
    found = x[1]
    x[1] = 9
    assert float(found) == 2 and x.tolist() == [1, 9, 3]
    found[...] = 5
    assert float(found) == 5 and x.tolist() == [1, 9, 3]
    view = x[1, ...]
    x[1] = 4
    assert float(view) == 4  # '...' gives a view


def test_an_element_is_an_array():
    x = collet.asarray([1.5, 2, 3])
    e = x[0]
    assert (e + 1).item() == 2.5 and (x * e).tolist() == [2.25, 3, 4.5] and collet.sum(e).item() == 1.5
    assert e.shape == () and e.ndim == 0 and e.size == 1 and e.strides == () and e.device == "host" and e.nbytes == 8
    assert np.asarray(e).shape == () and e.to_numpy() == 1.5 and e.reshape(1).tolist() == [1.5] and e[()].item() == 1.5
    assert pickle.loads(pickle.dumps(e)).item() == 1.5 and e.copy().item() == 1.5 and e.astype("i4").item() == 1
    assert collet.stack([x[0], x[2]]).tolist() == [1.5, 3] and np.float32(2) * e == 3 and repr(e).startswith("collet.Array(1.5")
    assert int(x[1]) == 2 and complex(x[1]) == 2 and round(x[0]) == 2 and [5, 6, 7][collet.asarray([2])[0]] == 7
    with pytest.raises(TypeError):
        hash(e)
    with pytest.raises(TypeError, match="not one of bool"):
        [5, 6][collet.asarray([True])[0]]
    with pytest.raises(TypeError, match="without axes has no length"):
        len(e)
    with pytest.raises(TypeError):
        iter(e)


def test_pending_arrays():
    x = collet.asarray(np.arange(1000.0))
    y = x + 1
    assert y[5].item() == 6
    z = y * 2
    y[5] = 0
    assert z[5].item() == 12 and y[5].item() == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_writing(dtype):
    a = np.zeros((2, 3), dtype)
    x = collet.asarray(a)
    for key, value in (((0, 1), 1), ((-1, -1), True), ((1, 0), 0)):
        a[key] = value
        x[key] = value
    assert x.tolist() == a.tolist()
    if a.dtype.kind in "fc":
        for value in (0.1, 1e300, -np.inf, np.float64(0.3), np.float32(0.1)):
            with np.errstate(over="ignore"):
                a[0, 0] = value
            x[0, 0] = value
            assert x[0, 0].item() == a[0, 0].item()
    if a.dtype.kind in "iu":
        info = np.iinfo(dtype)
        for value in (info.min, info.max):
            x[0, 0] = value
            assert x[0, 0].item() == value
        for value in (info.min - 1, info.max + 1, 2**80, 0.5):
            with pytest.raises((TypeError, ValueError, OverflowError)):
                x[0, 0] = value
        assert x[0, 0].item() == info.max


def test_indices_out_of_range():
    x = collet.ones((2, 3))
    for key in (2, -3, (0, 3), (0, -4), 2**70, (0, 0, 0)):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 1
    with pytest.raises(TypeError, match="cannot be deleted"):
        del x[0]
    assert x.tolist() == [[1] * 3] * 2


def test_what_cannot_be_written():
    x = collet.broadcast_to(collet.ones(1), (3,))
    with pytest.raises(Exception, match="repeats|read-only|more than once"):
        x[1] = 2.0
    assert x.tolist() == [1, 1, 1]


def test_without_a_call_before():
    import subprocess
    import sys
    text = "import collet; x = collet.asarray([1.0, 2]); print(x[1].item()); x[1] = 3; print(x.tolist(), float(x[0]))"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout == "2.0\n[1.0, 3.0] 1.0\n"


def test_numbers_after_a_fork():
    x = collet.asarray([1.0, 2])
    e = x[1]
    pid = os.fork()
    if not pid:
        try:
            code = 0 if e.item() == 2 and (e + 1).item() == 3 else 1
        except BaseException:
            code = 2
        os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


def test_nothing_leaks():
    x = collet.asarray(np.arange(100.0))
    def use():
        for i in range(100):
            x[i] = float(x[i]) + 1
            x[i] + 1
            memoryview(x)
    use()
    gc.collect()
    before = collet.memory("host")["current"]
    for _ in range(20):
        use()
    assert collet.memory("host")["current"] == before


# ---- Buffers


@pytest.mark.parametrize("dtype", DTYPES)
def test_memoryview(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    x = collet.asarray(a)
    for part, expected in ((x, a), (x.T, a.T), (x[:, ::-1], a[:, ::-1]), (x[1:1], a[1:1]), (x[1, 2, ...], a[1, 2, ...])):
        view = memoryview(part)
        assert view.shape == expected.shape and view.itemsize == a.itemsize and not view.readonly
        assert np.asarray(view).dtype == a.dtype and (np.asarray(view) == expected).all()
        assert np.asarray(part).dtype == a.dtype and np.asarray(part).shape == expected.shape
    assert bytearray(x) == a.tobytes()
    with pytest.raises(BufferError, match="do not follow each other"):
        hashlib.sha256(x.T)  # asks for contiguous memory


def test_buffers_share_the_memory():
    x = collet.asarray([1.0, 2])
    y = x + 1
    view = memoryview(x)
    view[0] = 5.0
    assert x.tolist() == [5, 2] and y.tolist() == [2, 3]
    fixed = memoryview(collet.broadcast_to(collet.ones(1), (3,)))
    assert fixed.readonly and fixed.tolist() == [1, 1, 1]
    del x
    gc.collect()
    assert view.tolist() == [5, 2]
