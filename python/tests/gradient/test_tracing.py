# SPDX-License-Identifier: Apache-2.0
"""Calls with a traced argument go to the tape. The tape is freed after use."""

import concurrent.futures
import gc
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import _hook as hook
from collet._gradient.tape import Node, Traced
from collet._gradient import traced  # noqa: F401 (its members)

PROGRAM = """
import collet
class Tracer: pass
class Other: pass
tracer, x, found = Tracer(), collet.asarray([1.0, 2.0]), []
collet._core.set_tracer((Tracer, Other, Other), lambda *call: found.append(call))
collet.op.add(x, tracer)
collet.op.sum(tracer, axes=1)
collet.op.copy(x, out=tracer)
expression = collet.Expression("x*y")
expression(x, y=tracer)
expression(x, x, out=tracer)
assert found == [("op.add", (x, tracer), {}), ("op.sum", (tracer,), {"axes": 1}), ("op.copy", (x,), {"out": tracer}),
                 (expression, (x, tracer), {}), (expression, (x, x), {"out": tracer})], found
y = tracer
collet.evaluate("x + y")
assert repr(found[-1][0]) == "collet.Expression('x + y')" and found[-1][1] == (x, tracer)
collet.sin(tracer)
assert found[-1] == ("sin", (tracer,), {})
collet.op.add(x, x)
assert len(found) == 7
def fail(function, arguments, keywords): raise ZeroDivisionError
collet._core.set_tracer((Other, Other, Tracer), fail)
try:
    collet.op.add(x, tracer)
except ZeroDivisionError:
    print("ok")
"""


def test_handler():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "ok\n", done.stderr


# ---- Traced arrays


X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_members():
    """A traced array has an Array's members, except members whose results cannot be traced."""
    def function(x):
        assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes) == ((2, 3), 2, 6, np.float64, 8, 48)
        assert x.device == "host" and len(x) == 2 and len(list(x)) == 2 and x.copy() is x
        assert x.__array_namespace__() is collet and repr(x).startswith("Traced(collet.Array(")
        assert 5.0 in x and str(x).startswith("Traced(") and f"{x.sum():.2f}" == "21.00"
        if x[0, 0] > 0:  # comparisons give arrays
            return collet.sum(x)

    np.testing.assert_array_equal(collet.grad(function)(X).to_numpy(), np.ones((2, 3)))
    public = {n for n in dir(collet.Array) if not n.startswith("_")}
    assert public - set(dir(Traced)) <= {"strides", "view"}


@pytest.mark.parametrize("call", [
    float, int, complex, np.asarray, lambda x: x.item(), lambda x: x.to_numpy(), lambda x: np.array([x, 1.0]),
    lambda x: np.correlate(x, x), np.from_dlpack, lambda x: x.to_device("host")], ids=range(10))
def test_what_leaves_the_gradient(call):
    def function(x):
        call(x)
        return x.sum()

    with pytest.raises((TypeError, RuntimeError, BufferError), match="collet.stop_gradient|takes no collet.Array"):
        collet.grad(function)(X)


def test_writing():
    def function(x):
        x[0] = 1
        return x.sum()

    with pytest.raises(TypeError, match="cannot be written"):
        collet.grad(function)(X)

    def into_plain(x):
        y = collet.zeros((2, 3))
        y[0] = x[0]
        return y.sum()

    def by_indices(x):
        y = collet.zeros(3)
        y[collet.astype(x[0] - x[0], collet.int64)] = x[0]
        return y.sum()

    def by_mask(x):
        y = collet.zeros((2, 3))
        y[x > 1] = x[0, 0]
        return y.sum()

    for function in into_plain, by_indices, by_mask:
        with pytest.raises(collet.UnsupportedError,
                           match=r"collet.op.\w+ with out=, or x\[...\] = y, cannot store an array"):
            collet.grad(function)(X)

    def rebound(x):
        y = x
        y += 1
        y *= x
        return y.sum()

    np.testing.assert_array_equal(collet.grad(rebound)(X).to_numpy(), 2 * X + 1)


def test_tape_is_freed():
    """With the cycle collector off: arrays and nodes are freed with their last reference."""
    gc.collect()
    gc.disable()
    try:
        def function(x):
            for _ in range(20):
                x = collet.sin(x) * x + collet.sum(x) / 7
            return collet.sum(x @ collet.linalg.inv(x.T @ x + 100 * np.eye(3)))

        run, hessian = collet.grad(function), collet.hessian(function)
        run(X), hessian(X)
        before = collet.memory("host")["current"], count()
        for _ in range(30):
            run(X)
        hessian(X)
        value, pullback = collet.vjp(function, X)
        pullback(collet.asarray(1.0))
        del value, pullback
        after = collet.memory("host")["current"], count()
        assert after[1] == before[1] and after[0] <= before[0]
    finally:
        gc.enable()


def count():
    return sum(isinstance(o, (Traced, Node, collet.Array)) for o in gc.get_objects())


def test_long_tape():
    """Freeing a chain of 100,000 nodes does not recurse deeply."""
    def function(x):
        for _ in range(100_000):
            x = x + 1.0
        return x

    assert float(collet.grad(function)(1.0)) == 1


def test_errors_end_the_trace():
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            collet.grad(lambda x: 1 / 0)(1.0)
    assert hook.ACTIVE == 0


def test_threads():
    def work(k):
        return [float(collet.grad(lambda x: collet.sum(k * x**2))(X)[0, 0]) for _ in range(50)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(work, range(8))):
            assert found == [2.0 * k] * 50
    assert hook.ACTIVE == 0


def test_names_and_pickles():
    """Functions that look for traced arrays keep their names, texts and pickles."""
    for function in (collet.sum, collet.linalg.solve, collet.fft.fft, collet.md.compute_com_single,
                     collet.ternary.quantize, collet.astype):
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__doc__ and function.__name__ in repr(function)
    assert list(inspect.signature(collet.sum).parameters) == ["x", "axis", "dtype", "keepdims"]


# ---- Where arrays are, and when they are computed


def mixed(x):
    return collet.sum(collet.tanh(x @ x.T)[:, ::-1] * 2 + collet.exp(-x).sum(1)) / collet.mean(x**2)


def test_eager():
    lazy = collet.grad(mixed)(X / 9)
    with collet.eager():
        np.testing.assert_allclose(collet.grad(mixed)(X / 9).to_numpy(), lazy.to_numpy(), rtol=1e-12)


@pytest.mark.skipif("opencl" not in {b.name for b in collet.backends()}, reason="there is no OpenCL device")
def test_device():
    """Gradients are computed on the device that has the array."""
    with collet.using("opencl"):
        x = collet.asarray((X / 9).astype("f"))
        found = collet.grad(mixed)(x)
        assert collet.last_backend() == "opencl" and found.device.startswith("opencl")
    np.testing.assert_allclose(found.to_numpy(), collet.grad(mixed)(X / 9).to_numpy(), rtol=1e-4)
