# SPDX-License-Identifier: Apache-2.0
"""Results of elementwise functions have the same order of axes in memory as their inputs. Also tested: inputs whose
orders differ."""

import itertools

import numpy as np
import pytest

import collet as xp

BACKENDS = [b.name for b in xp.backends() if b.state != "unavailable" and not b.capabilities.get("jit")]
SHAPE = (150, 70, 3)


def numbers(dtype, shape=SHAPE):
    x = np.arange(np.prod(shape)).reshape(shape) * 7 % 251
    return x.astype(dtype) if dtype[0] != "c" else (x + 1j * (x % 13)).astype(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "?"])
def test_permuted_axes(backend, dtype):
    add = np.logical_or if dtype == "?" else np.add
    with xp.using(backend), xp.eager():
        own = xp.logical_or if dtype == "?" else xp.add
        for left, right in itertools.product(itertools.permutations(range(3)), repeat=2):
            a = numbers(dtype, [SHAPE[left.index(i)] for i in range(3)]).transpose(left)
            b = numbers(dtype, [SHAPE[right.index(i)] for i in range(3)]).transpose(right)[::-1]
            x, y = xp.asarray(a, copy=False), xp.asarray(b, copy=False)
            made = own(x, y)
            assert np.array_equal(made.to_numpy(), add(a, b))
            if left == right:
                assert made.strides == tuple(s // a.itemsize for s in a.strides)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_column_and_a_row(backend):
    with xp.using(backend), xp.eager():
        a = numbers("f4", (700, 1100))
        x = xp.asarray(a)
        for own, known in ((x.T + x[:1, :700], a.T + a[:1, :700]), (x.T + x.T[:, 5:6], a.T + a.T[:, 5:6]),
                           (x.T * x[0][:, None], a.T * a[0][:, None])):
            assert np.array_equal(own.to_numpy(), known)
            assert own.strides == (1, 1100)


def test_the_order_of_results():
    x = xp.asarray(numbers("f4"))
    c_order = (xp.asarray(numbers("f4")) + 1).strides
    assert (x.T + 1).strides == x.T.strides
    assert (xp.exp(-x.T) * 2 + x.T).strides == x.T.strides  # computed as one program
    assert xp.astype(x.T, "f8").strides == x.T.strides
    assert (x[:, ::2].mT + 1).shape == (150, 3, 35) and (x[:, ::2].mT + 1).strides == (105, 1, 3)
    other = xp.asarray(np.asfortranarray(numbers("f4")), copy=False)
    assert (x + other).strides == c_order  # The inputs have different orders.
    assert (x.T[:, :1] + x.T).strides == x.T.strides  # A broadcast input does not affect the order.
    assert (xp.broadcast_to(x[0], SHAPE) + 1).strides == c_order
    assert x.T.copy().strides == (70 * 150, 150, 1)
    assert (x.T + 1).to_numpy().tobytes() == (numbers("f4").T + 1).tobytes()
    given = xp.empty(x.T.shape, dtype="f4")
    xp.op.add(x.T, x.T, out=given)
    assert np.array_equal(given.to_numpy(), 2 * numbers("f4").T) and given.strides == (70 * 150, 150, 1)
    host = xp.op.add(numbers("f4").T, numbers("f4").T)
    assert isinstance(host, np.ndarray) and host.flags.f_contiguous
    assert np.array_equal(host, 2 * numbers("f4").T)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["sum", "mean", "var", "max", "prod"])
def test_reductions_of_permuted_axes(backend, name):
    """A reduction passes over the elements once, in memory order. It gives the same bits as for a contiguous array."""
    a = np.random.default_rng(1).uniform(0.9, 1.1, SHAPE).transpose(2, 0, 1)
    reduce = getattr(xp, name)
    with xp.using(backend):
        x = xp.asarray(a, copy=False)
        for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
            for keepdims in (False, True):
                made = reduce(x * x[:, :1], axis=axis, keepdims=keepdims)
                with xp.eager():
                    known = reduce(x * x[:, :1], axis=axis, keepdims=keepdims)
                assert made.to_numpy().tobytes() == known.to_numpy().tobytes()
                wanted = getattr(np, name)(a * a[:, :1], axis=axis, keepdims=keepdims)
                np.testing.assert_allclose(made.to_numpy(), wanted, rtol=1e-12)
        big = np.random.default_rng(2).normal(size=(600, 3, 500)).transpose(2, 1, 0)
        made = reduce(xp.asarray(big, copy=False) + 1, axis=(0, 1))
        np.testing.assert_allclose(made.to_numpy(), getattr(np, name)(big + 1, axis=(0, 1)), rtol=1e-10)
        assert int(xp.argmax(xp.asarray(a, copy=False) * 2)) == int(np.argmax(a))
