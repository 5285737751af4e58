# SPDX-License-Identifier: Apache-2.0
"""Masks and arrays of integers as indices, for reading and writing, against NumPy."""

import enum
import random

import numpy as np
import pytest

import collet

SHAPE = (3, 4, 2)


def key_of(choose, shape):
    """A random key. Its arrays are NumPy arrays."""
    keys, axis, several = [], 0, choose.choice([(), (2,), (2, 1), (1, 3)])
    while axis < len(shape) and choose.random() < 0.85:
        n = shape[axis]
        kind = choose.randrange(8)
        if kind == 0:
            keys.append(slice(choose.choice([None, 0, 1]), choose.choice([None, n, -1]), choose.choice([None, 1, 2, -1])))
        elif kind == 1:
            keys.append(choose.randrange(-n, n))
        elif kind == 2:
            keys.append(np.array([choose.random() < 0.5 for _ in range(n)]))
            if keys[-1].sum() not in (1, *several[-1:]):
                keys[-1][:] = np.arange(n) == 0
        elif kind == 3:
            keys.append(None)
            continue
        else:
            made = np.array([choose.randrange(-n, n) for _ in range(int(np.prod(several)))], choose.choice(["i8", "i4"]))
            keys.append(made.reshape(several) if several or choose.random() < 0.5 else int(made[0]))
        axis += 1
    if choose.random() < 0.3:
        keys.insert(choose.randrange(len(keys) + 1) if axis == len(shape) else len(keys), Ellipsis)
    return tuple(keys)


def arrays(key):
    return tuple(collet.asarray(k) if isinstance(k, np.ndarray) and k.ndim else k for k in key)


def test_random_keys():
    choose = random.Random(1)
    for dtype in "f4", "?", "i2", "c16":
        host = (np.arange(24) % 7 - 1).astype(dtype).reshape(SHAPE)
        for _ in range(100):
            key = key_of(choose, SHAPE)
            x = collet.asarray(host)
            expected = host[key]
            made = x[arrays(key)]
            assert made.shape == expected.shape and made.dtype == expected.dtype, key
            assert np.array_equal(made.to_numpy(), expected), key
            value = choose.choice([1, np.ones(expected.shape[-1:], "f4"), np.zeros(expected.shape, dtype)])
            changed = host.copy()
            changed[key] = value
            x[key if choose.random() < 0.5 else arrays(key)] = value
            assert np.array_equal(x.to_numpy(), changed), key


VIEWS = [lambda a: a.T, lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a[..., 1], lambda a: a.transpose(1, 0, 2),
         lambda a: a[:, 1:3], lambda a: a[0], lambda a: a[:, :, :1], lambda a: a[None]]


def test_random_keys_of_views():
    choose = random.Random(2)
    for _ in range(300):
        whole = (np.arange(60) % 7 - 1).astype(choose.choice(["f4", "?", "i2", "c16"])).reshape(3, 4, 5)
        array, view = collet.asarray(whole), choose.choice(VIEWS)
        host, x = view(whole), view(array)
        key = key_of(choose, host.shape)
        expected = host[key]
        assert np.array_equal(x[arrays(key)].to_numpy(), expected), (host.strides, key)
        value = choose.choice([1, np.arange(expected.size).reshape(expected.shape).astype(whole.dtype)])
        host[key] = x[arrays(key)] = value
        assert np.array_equal(array.to_numpy(), whole), (host.strides, key)


@pytest.mark.parametrize("key", [([5, 2],), (slice(None), [5, 2]), ([5, 2], 3), ([5, 2], [3, 1]), (slice(0, 900, 300), [1, 7]),
                                 ([1, 2], slice(None, None, 100))])
def test_costs_what_it_reads(key):
    whole = collet.zeros((1000, 1000)) + 1
    for x in whole, whole.T:
        before, moved = collet.memory("host")["current"], collet.counters()["temporaries"]
        collet.reset_peak("host")
        x[key] = x[key] + 1
        x[key] = 5
        assert collet.memory("host")["peak"] - before < 200_000 and collet.counters()["temporaries"] == moved
    value = collet.zeros((2, 1000)) + 7
    whole[[1, 2]] = whole[[2, 1]] + value  # rows
    whole[[3, 4]] = whole[4:2:-1]
    assert whole[:, 0].shape == (1000,)


def test_rows_from_the_array_itself():
    host = np.arange(8000.0).reshape(4, 2000)
    x = collet.asarray(host)
    x[[1, 2, 3]] = x[:3]
    host[[1, 2, 3]] = host[:3].copy()
    assert np.array_equal(x.to_numpy(), host)


def test_masks():
    host = np.arange(12.0).reshape(3, 4)
    x = collet.asarray(host)
    assert x[x > 5].to_numpy().tolist() == host[host > 5].tolist()
    assert x.T[x.T > 5].to_numpy().tolist() == host.T[host.T > 5].tolist()
    assert x[x > 99].shape == (0,) and x[[True, False, True]].shape == (2, 4)
    assert x[:0, [0]].shape == (0, 1) and x[True].shape == (1, 3, 4) and x[False].shape == (0, 3, 4) and x[np.True_, 1].shape == (1, 4)
    x[x > 5] = 0
    x[x == 1] += 0.5
    x.T[x.T == 0] = np.arange(7.0)
    host[host > 5] = 0
    host[host == 1] += 0.5
    host.T[host.T == 0] = np.arange(7.0)
    assert np.array_equal(x.to_numpy(), host)
    assert x[np.zeros((3, 0), "?")].shape == (0,) and x[np.zeros(0, "?")].shape == (0, 4)
    number = collet.asarray(np.array(3.0))
    assert number[number > 2].to_numpy().tolist() == [3]
    number[number > 2] = 7
    assert float(number) == 7


def test_arrays_of_integers():
    x = collet.asarray(np.arange(5))
    order = collet.argsort(-x)
    assert x[order].to_numpy().tolist() == [4, 3, 2, 1, 0] and x[[]].shape == (0,) and x[[1, -1]].shape == (2,)
    x[[0, 0, 1]] = [7, 8, 9]  # the last one counts
    assert x.to_numpy().tolist() == [8, 9, 2, 3, 4]
    x[[]] = 5
    x[order[:2]] += 10
    assert x.to_numpy().tolist() == [8, 9, 2, 13, 14]


@pytest.mark.parametrize("key", [[5], [-6], [1.5], [True], ([0, 1], [0, 1, 2]), np.ones((2, 5), "?"), "a", 1.0])
def test_wrong_keys(key):
    x = collet.asarray(np.arange(10.0).reshape(5, 2))
    with pytest.raises((IndexError, TypeError)):
        x[key]
    with pytest.raises((IndexError, TypeError)):
        x[key] = 1


def test_views_by_integers_and_slices():
    """Views equal NumPy's, for keys with NumPy's and other integers, limits beyond the extents, new axes, and for views
    without elements."""
    three = enum.IntEnum("three", {"n": 3}).n
    index = collet.asarray(np.array(2))
    keys = (three, np.int8(-1), np.array(2), slice(2**80, -2**80, -1), slice(-2**80, 2**80, 2**70), slice(4, 1),
            (), (None, ...), (..., None, 1), (slice(None), None, 0, None), (slice(3, 0, -2), slice(1, None)),
            (slice(np.int32(1), three, index),))
    host = np.arange(15.0).reshape(5, 3)
    for key in keys:
        for base, x in ((host, collet.asarray(host)), (host[::-2, 1:].T, collet.asarray(host)[::-2, 1:].T)):
            try:
                expected = base[key]
            except IndexError:
                with pytest.raises(IndexError, match="out of range"):
                    x[key]
                continue
            assert x[key].shape == expected.shape and np.array_equal(x[key].to_numpy(), expected), key
            if expected.ndim:
                made = x[key]
                made[...] = 7
                changed = base.copy()
                changed[key] = 7
                assert np.array_equal(x.to_numpy(), changed), key
    x = collet.asarray(host)
    for key, error, text in ((2**70, IndexError, f"index {2**70} is out of range for axis 0 of length 5"),
                             ((0, -4), IndexError, "index -4 is out of range for axis 1 of length 3"),
                             ((0, 0, 0), IndexError, "3 indices for an array of 2 axes"), ((..., ...), IndexError, "more than one"),
                             ((0, "a"), TypeError, "not str"), (slice(0, 1, 0), ValueError, "zero"),
                             (slice("a", None), TypeError, "slice indices"), ((None,) * 80, collet.ShapeError, "axes")):
        with pytest.raises(error, match=text):
            x[key]

    class Broken:
        def __index__(self):
            return 1 // 0

    class Stopped:
        @property
        def ndim(self):
            raise KeyboardInterrupt

        def __index__(self):
            return 1

    for key, error in ((Broken(), ZeroDivisionError), (slice(Broken(), None), ZeroDivisionError),
                       ((0, Broken()), ZeroDivisionError), (Stopped(), KeyboardInterrupt)):
        with pytest.raises(error):
            x[key]
        with pytest.raises(error):
            x[key] = 7


def test_shapes_of_values():
    x = collet.zeros((2, 3))
    x[0] = np.ones((1, 1, 3))  # leading axes of length 1 are dropped, as in NumPy
    x[1, 1:] = collet.asarray([[5.0]])
    assert x.tolist() == [[1, 1, 1], [0, 5, 5]]
    for key, value, words in ((0, np.ones(2), r"y has the shape \(2,\).*\(3,\)"), (slice(0, 1), np.ones((2, 3)), r"\(2, 3\).*\(1, 3\)"),
                              (0, np.ones((2, 3)), r"\(2, 3\).*\(3,\)")):
        with pytest.raises(collet.ShapeError, match=words):
            x[key] = value
    assert x.tolist() == [[1, 1, 1], [0, 5, 5]]


def test_values_that_do_not_fit():
    x = collet.asarray(np.arange(4))
    with pytest.raises(collet.DtypeError):
        x[[0]] = 1.5
    with pytest.raises(ValueError):
        x[[0, 1]] = [1, 2, 3]
    with pytest.raises(ValueError):
        x[x > 1] = [1, 2, 3]


def test_one_element_is_a_copy():
    """In NumPy x[i] is a number, and x[i, ...] a view. For Arrays x[i] is a copy, and x[i, ...] a view."""
    x = collet.asarray([[1.0, 2], [3, 4]])
    first, view = x[0, 0], x[..., 0, 0]
    first += 5
    view += 1
    assert x.to_numpy().tolist() == [[2, 2], [3, 4]] and float(first) == 6 and float(view) == 2
    y = collet.asarray([1.0, 2, 3])
    y[0], y[1] = y[1], y[0]
    kept = []
    for number in y:
        number *= 10
        kept.append(float(number))
    assert y.to_numpy().tolist() == [2, 1, 3] and kept == [20, 10, 30]
    later = y[0]
    y[0] = 7
    assert float(later) == 2


def test_indices_of_an_empty_array():
    x = collet.zeros((2, 0))
    for wrong in (lambda: x[[5]], lambda: collet.take(x, [-3], axis=0)):
        with pytest.raises(IndexError, match="out of range"):
            wrong()
    assert x[[1, 0]].shape == (2, 0)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "u4", "u8", "i8"])
def test_integers_of_numpy_wrap_in_each_way(dtype):
    values = np.array([-1, 300, -2**31, 2**33])
    expected = values.astype(dtype).tolist()
    for key in ..., slice(None), [0, 1, 2, 3], np.ones(4, bool):
        for source in values, collet.asarray(values):
            x = collet.zeros(4, dtype=dtype)
            x[key] = source
            assert x.tolist() == expected, (key, type(source))
    x = collet.zeros(2, dtype="i1")
    with pytest.raises((collet.DtypeError, OverflowError)):
        x[:] = [200, -200]
    assert x.tolist() == [0, 0]
