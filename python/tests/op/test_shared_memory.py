# SPDX-License-Identifier: Apache-2.0
"""Memory that Collet shares with NumPy or another library, which also writes it: values equal the values of eager
evaluation, on the host and on devices."""

import gc
import threading

import numpy as np
import pytest

import collet
from collet import _core, op

pytestmark = pytest.mark.usefixtures("all_wait")
waits = _core.is_pending
far = [d.choice for b in collet.backends() if b.state == "usable" for d in b.devices if d.own_memory]
needs_device = pytest.mark.skipif(not far, reason="no device has memory of its own")
needs_dlpack = pytest.mark.skipif(tuple(map(int, np.__version__.split(".")[:2])) < (2, 1), reason="this NumPy takes no tensors of DLPack 1")


def lent():
    """An Array that shares its memory with NumPy."""
    x = collet.asarray(np.arange(4.0)).to_device("host")
    return x, lambda: np.asarray(x)


def lent_tensor():
    x = collet.asarray(np.arange(4.0)).to_device("host")
    return x, lambda: np.from_dlpack(x)


def taken():
    """An Array over NumPy's memory."""
    a = np.arange(4.0)
    return collet.asarray(a, copy=False), lambda: a


def taken_tensor():
    a = np.arange(4.0)
    return collet.from_dlpack(a), lambda: a


# Collet imports capsules of older versions as read-only.
needs_flags = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="capsules have no flags")
ways = pytest.mark.parametrize("way", [lent, pytest.param(lent_tensor, marks=needs_dlpack), taken,
                                       pytest.param(taken_tensor, marks=needs_flags)])


@ways
def test_what_waits_is_computed_before(way):
    x, view = way()
    y, part, total, wide = x + 1, x[::2] * 2, collet.exp(x), collet.broadcast_to(x, (2, 4)) - 1
    a = view()
    a[:] = 5
    assert y.to_numpy().tolist() == [1, 2, 3, 4] and part.to_numpy().tolist() == [0, 4]
    assert total[1].item() == np.exp(1) and wide[1].to_numpy().tolist() == [-1, 0, 1, 2]
    assert x.to_numpy().tolist() == [5] * 4


@ways
def test_nothing_waits_while_it_is_shared(way):
    x, view = way()
    a = view()
    for array in x, x[1:], x.T, collet.reshape(x, (2, 2)):
        y = array + 1
        converted = array.astype("f4")
        assert not waits(y) and not waits(converted) and not waits(collet.where(array > 1, array, 0))
        a[:] += 1
        assert (y.to_numpy() == array.to_numpy()).all() and (converted.to_numpy() + 1 == array.to_numpy()).all()
    z = y * 2  # waits, because the memory of y is not shared
    assert waits(z)
    x += 1
    x[0] = 9
    assert a.tolist() == x.to_numpy().tolist() and a[0] == 9


def test_arrays_wait_again_without_the_view():
    x, view = lent()
    a, part = view(), np.asarray(x[1:])[::2]
    assert not waits(x + 1)
    del a
    assert not waits(x + 1)
    del part
    gc.collect()
    assert waits(x + 1)


def test_a_value_that_becomes_shared_later():
    x = collet.asarray([1.0, 2])
    y = x + 1
    z = y * 10  # z includes the expression of y until y is computed; afterwards z reads the value of y
    a = np.asarray(y)
    a[0] = 7
    assert z.to_numpy().tolist() == [20, 30] and (y + 0).to_numpy().tolist() == [7, 3]


def test_what_cannot_be_written():
    x = collet.asarray([1.0, 2]).to_device("host")
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for array in collet.broadcast_to(x, (3, 2)), collet.asarray(frozen, copy=False):
        view = np.asarray(array)
        assert not view.flags.writeable and view.tolist() == array.to_numpy().tolist()
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    assert np.asarray(x.broadcast_to(2)).flags.writeable  # no element is repeated
    wide = np.asarray(x.broadcast_to(2, 2))
    x += 1  # visible in the view
    assert wide.tolist() == [[2, 3]] * 2


def test_functions_that_write_into_asarray():
    x = collet.zeros((3, 4))
    np.add.at(np.asarray(x), (0, [1, 1]), 1)
    np.asarray(x.T)[3] = 8
    np.multiply(np.asarray(x), 2, out=np.asarray(x))
    assert x.to_numpy().tolist() == [[0, 4, 0, 16], [0, 0, 0, 16], [0, 0, 0, 16]]


# ---- Devices


@needs_device
@ways
def test_copies_on_a_device_are_not_trusted(way):
    x, view = way()
    with collet.using(far[0]):
        assert op.sum(x).item() == 6  # makes a copy on the device
        a = view()
        a[0] = 5
        assert op.sum(x).item() == 11 and (x[:2] * 2).to_numpy().tolist() == [10, 2]
        a[0] = 6
        assert op.sum(x).item() == 12
        op.add(x, x, out=x)
        assert a.tolist() == [12, 2, 4, 6]  # the result is in the host's memory at once
        x[1:3] = 1
        a[3] = 7
        assert a.tolist() == x.to_numpy().tolist() == [12, 1, 1, 7]
        y = op.neg(x)
        a[:] = 0  # does not change y: the kernel read its own copy
        assert y.to_numpy().tolist() == [-12, -1, -1, -7]


@needs_device
def test_copies_after_the_view():
    x, view = lent()
    with collet.using(far[0]):
        a = view()
        op.sum(x)
        a[0] = 5
        del a
        assert op.sum(x).item() == 11
        moved = collet.counters()["bytes_to_device"]
        assert op.sum(x).item() == 11 and collet.counters()["bytes_to_device"] == moved  # copied no more


@needs_device
def test_elements_that_a_device_alone_has():
    x = collet.asarray(np.arange(3.0), device=far[0])
    with collet.using(far[0]):
        y = x * 2
        a = np.asarray(x)  # fetches the elements, and shares them
        a[0] = 5
        assert op.sum(x).item() == 8 and y.to_numpy().tolist() == [0, 2, 4]
        op.add(x, x, out=x)
        assert a.tolist() == [10, 2, 4]


# ---- Threads


def test_views_of_other_threads():
    x = collet.asarray(np.zeros(1000))
    wrong = []

    def write(stop):
        while not stop.is_set():
            a = np.asarray(x)
            a[:] = a[0] + 1

    stop = threading.Event()
    thread = threading.Thread(target=write, args=(stop,))
    thread.start()
    for _ in range(200):
        y = x * 1.0
        first = y.to_numpy()
        if not np.array_equal(first, y.to_numpy()):
            wrong.append(first)
        np.asarray(x)
    stop.set()
    thread.join()
    assert not wrong


def test_what_nobody_else_has():
    for x in collet.arange(3.0), collet.linspace(0, 1, 3), collet.fft.fftfreq(4):
        assert waits(x + 1)
