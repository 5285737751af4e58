# SPDX-License-Identifier: Apache-2.0
"""A device replays lines of a recording by one call of libcore: the same bits, which lines it replays, and for which arguments
the lines run."""

import functools
import gc
import itertools
import os
import signal
import threading

import numpy as np
import pytest

import collet
from collet._gradient import lowering, recording
from test_replay import bits, network

if ("opencl", "usable") not in {(b.name, b.state) for b in collet.backends()}:
    pytest.skip("there is no OpenCL device", allow_module_level=True)

rng = np.random.default_rng(0)


def array(*shape, dtype="float32"):
    return collet.asarray(rng.normal(size=shape).astype(dtype))


@pytest.fixture
def made(monkeypatch):
    """Counts the groups of lines that a device replays, and how often their lines ran."""
    class Made:
        groups, ran = 0, 0

    class Core:
        def __getattr__(self, name):
            return getattr(lowering._core, name)

        @staticmethod
        def replaying(function, dtypes):
            def lines(*arguments):
                counts.ran += 1
                return function(*arguments)

            counts.groups += 1
            return lowering._core.replaying(lines, dtypes)

    counts = Made()
    monkeypatch.setattr(recording, "_core", Core())
    with collet.using("opencl"):
        yield counts


def check(function, *points):
    """The first call records, the second one captures, and all others replay."""
    jitted = collet.jit(function)
    for point in [points[0], points[0], *points]:
        assert bits(jitted(*point)) == bits(function(*point))
    return jitted


def softmax(x):
    e = collet.exp(x - collet.max(x, axis=-1, keepdims=True))
    return e / collet.sum(e, axis=-1, keepdims=True)


# ---- The same bits


@pytest.mark.parametrize("shape", [(16,), (5, 7), (300, 1000)])
def test_softmax(made, shape):
    check(lambda x: softmax(softmax(x)), *([array(*shape)] for _ in range(3)))
    assert made.groups == made.ran == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("hidden", [4, 300])
def test_gradients_of_a_network(made, dtype, hidden):
    def point():
        shapes = (8, hidden), (hidden,), (hidden, 1), (50, 8), (50, 1)
        w, b, v, x, y = (array(*shape, dtype=dtype) for shape in shapes)
        return [w, b, v], x, y

    check(collet.value_and_grad(network), *(point() for _ in range(3)))
    assert made.groups == made.ran == 1
    check(network, point(), point())
    assert made.groups == made.ran == 2


def test_a_long_loop(made):
    check(lambda x, y: functools.reduce(lambda a, _: collet.sin(a) * 1.01 + y, range(25), x), *((array(999), array(999)) for _ in range(3)))
    assert made.groups == made.ran == 1


REDUCTIONS = ["sum", "prod", "mean", "var", "std", "min", "max", "any", "argmax", "cumulative_sum", "sort"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape", [(3, 4), (200, 1000)])
def test_reductions(made, name, shape):
    check(lambda x: getattr(collet, name)(collet.exp(x) * x, axis=1) * 2, *([array(*shape)] for _ in range(2)))
    assert made.groups == made.ran == 1


VIEWS = {
    "slices": lambda x: (x * 2)[1:, ::2] + collet.exp(x)[:-1, ::-2],
    "integers": lambda x: (x * 2)[1, -1] + collet.exp(x)[0, None],
    "transposed": lambda x: collet.matrix_transpose(collet.exp(x)) @ x + 1,
    "permuted": lambda x: collet.permute_dims(x * 2, (1, 0)) @ collet.exp(x) + 1,
    "reshaped": lambda x: collet.reshape(x * 2, (5, 4)) @ collet.exp(x) + 1,
    "copied": lambda x: collet.reshape(collet.matrix_transpose(x * 2), (20,)) @ collet.reshape(x * 3, (20,)) + 1,
    "broadcast": lambda x: collet.broadcast_to(collet.sum(x * 2, axis=0), (4, 5)) + x,
    "concat": lambda x: collet.concat([x * 2, collet.exp(x)]) @ collet.ones((5, 2), dtype="float32"),
    "stacked": lambda x: collet.sum(collet.stack([x * 2, collet.exp(x)]), axis=0),
    "batches": lambda x: collet.reshape(x, (2, 2, 5)) @ collet.reshape(x * 2, (2, 5, 2)) + 1,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(made, name):
    check(VIEWS[name], *([array(4, 5)] for _ in range(3)))
    assert made.groups == made.ran == 1


def test_conditions_and_integers(made):
    def function(x, n):
        larger = x > 0.5
        return collet.where(larger, x * x, 0.0), collet.maximum(n + n, n * n) + 3, larger, collet.astype(n, "float32") * x

    check(function, *((array(6), collet.asarray([1, 2, 3, 4, 5, 6])) for _ in range(3)))
    assert made.groups == made.ran == 1


def test_numbers_are_arguments(made):
    step = check(lambda w, g, rate: w - rate * (g * 2 + w), *((array(5), array(5), rate) for rate in (0.1, 3.0, float("inf"), -0.0)))
    assert made.groups == made.ran == 1
    with np.errstate(over="ignore"):
        assert np.isinf(step(array(5), array(5), 1e39).to_numpy()).all()  # float32 does not hold the number
    assert made.ran == 2


def test_powers(made):
    """An exponent that is a constant is not an input."""
    check(lambda x: ((x * x)**2 + collet.exp(x)**0.5) * 2 + collet.abs(x)**2.7, *([array(9)] for _ in range(3)))
    assert made.ran == made.groups


@pytest.mark.parametrize(("groups", "function"), [
    (0, lambda x: collet.matrix_transpose(x) * 2 + 1),
    (2, lambda x: collet.exp(collet.matrix_transpose(collet.exp(x) * 2 + x) * 3) @ (x * 2 + 1) + 1)])
def test_orders_of_axes(made, groups, function):
    """A function of transposed Arrays has a transposed result, which a recording would not make."""
    jitted = check(function, *([array(4, 5)] for _ in range(3)))
    x = array(4, 5)
    assert jitted(x).strides == function(x).strides and made.groups == made.ran == groups


def test_an_array_that_is_given_twice(made):
    function = collet.jit(lambda x, y: collet.exp(x) @ y + collet.sum(y * 2))
    x, y = array(9), array(9)
    for a, b in [(x, x), (x, x), (x, y), (y, x), (x, x)]:
        assert bits(function(a, b)) == bits(collet.exp(a) @ b + collet.sum(b * 2))
    assert made.ran == 1


# ---- Arguments for which the lines run


def test_strides(made):
    """An argument with other strides than the captured one: the order of axes of the results may differ."""
    function = collet.jit(lambda x: collet.exp(x) * x + collet.sum(x))
    arrays = [array(4, 3), array(4, 3), array(3, 4).mT, array(4, 3)]
    found = [function(x) for x in arrays]
    assert [bits(y) for y in found] == [bits(collet.exp(x) * x + collet.sum(x)) for x in arrays]
    assert [y.strides for y in found] == [(3, 1), (3, 1), (1, 4), (3, 1)] and made.ran == 2


def test_arguments_that_wait(made):
    function = collet.jit(lambda x: collet.sum(collet.exp(x) * x))
    for _ in range(3):
        function(array(5))
    x = array(5)
    waiting = x + 1
    assert collet._core.is_pending(waiting)
    assert bits(function(waiting)) == bits(collet.sum(collet.exp(x + 1) * (x + 1))) and made.ran == 1


def test_observed_calls(made):
    function = collet.jit(lambda x: collet.exp(x) * x + 1)
    for _ in range(3):
        function(array(4))
    seen = []
    before = collet._core.observe(lambda name, begins: seen.append(name) if begins else None)
    try:
        bits(function(array(4)))
    finally:
        collet._core.observe(before)
    assert seen and made.ran == 2
    with collet.eager():
        function(array(4))
    assert made.ran == 3
    function(array(4))
    assert made.ran == 3


def test_another_backend(made):
    """There is a recording for each choice of backend. Arguments may be anywhere."""
    function = collet.jit(lambda x: (collet.exp(x) * x + 1) * collet.sum(x))
    x = array(4)
    expected = bits(function.__wrapped__(x))
    for _ in range(3):
        function(x)
        with collet.using("cpu_scalar"):
            on_host = function(x)
            assert collet.last_backend() == "cpu_scalar"
        assert bits(function(on_host * 0 + x)) == expected and collet.last_backend() == "opencl"
    assert made.groups == made.ran == 2


def test_a_cpu_after_a_device(made):
    """A process that has used a device may have to wait for it, so small Arrays of a CPU are not replayed at once."""
    bits(array(3) + 1)
    with collet.using("cpu_openmp"):
        bits(array(3) @ array(3))
        for function in softmax, collet.grad(lambda x: collet.sum(softmax(x) * x)):
            check(function, *([array(*shape)] for shape in [(16,)] * 3), *([array(3000)] for _ in range(3)))
    assert made.groups == made.ran == 4


def test_values_that_the_host_reads(made):
    """Lines that read elements, write into older Arrays or use them by other libraries are not replayed."""
    index, old = collet.asarray([2, 0, 1]), array(3)
    check(lambda x: collet.take(x * 2, index) + collet.exp(x), *([array(3)] for _ in range(3)))
    for lines in [lambda x: (x * float(collet.sum(x)),), lambda x: (x * collet.sum(x).to_numpy().item(),),
                  lambda x: (collet.exp(x) + collet.asarray(np.asarray(x) * 2),),
                  lambda x: (collet.concat([x * 2, collet.exp(x)]) + 1,)]:
        function = collet._core.replaying(lines, [None])
        for _ in range(3):
            x = array(3)
            assert bits(function(x)) == bits(lines(x))
    numbers = itertools.count()
    function = collet._core.replaying(lambda x: (x * 2 + collet.asarray(np.float32([next(numbers)])),), [None])
    assert [function(array(3) * 0)[0].to_numpy()[0] for _ in range(4)] == [0, 1, 2, 3]
    function = collet._core.replaying(lambda x: (x * 2, collet.op.exp(x, out=old)), [None])
    for _ in range(3):
        x = array(3)
        assert function(x)[1] is old and bits(old) == bits(collet.exp(x))


# ---- Results, errors, memory, threads


def test_results_that_are_views(made):
    x = array(3, 4)
    turn = collet.jit(lambda x: (collet.matrix_transpose(x), collet.exp(x) * x + collet.sum(x)))
    for _ in range(3):
        view, _ = turn(x)
    x[0, 1] = 7
    assert float(view[1, 0]) == 7 and made.groups == made.ran == 1


def test_writes(made):
    """Results do not share memory, and an argument may be written after the call."""
    function = collet.jit(lambda x: (x * 2 + 1, collet.exp(x) + collet.sum(x)))
    x = array(1000)
    before = bits((x * 2 + 1, collet.exp(x) + collet.sum(x)))
    for _ in range(4):
        found = function(x)
        kept = x.copy()
        x[...] = 0
        assert bits(found) == before
        found[0][...] = found[1][...] = -1
        x[...] = kept
    assert made.ran == 1


def test_errors(made):
    replay = collet._core.replaying(lambda x: (collet.exp(x) * 2,), [None])
    for _ in range(3):
        replay(array(3))
    with pytest.raises(TypeError, match=r"has 1 inputs \(2 given\)"):
        replay(1, 2)
    with pytest.raises(collet.ShapeError, match=r"input 0 is f(loat)?32 4, and was recorded as f(loat)?32 3"):
        replay(array(4))
    assert bits(replay(array(3)[::1]))
    with pytest.raises(ZeroDivisionError):
        collet._core.replaying(lambda x: 1 / 0, [None])(array(3))


def test_functions_are_freed(made):
    def count():
        gc.collect()
        return sum(type(o) is type(len) and o.__name__ == "replay" for o in gc.get_objects())

    before = count()
    function = collet.jit(lambda x: collet.exp(x) * x + collet.sum(x))
    for _ in range(3):
        function(array(4))
    assert count() > before
    del function
    assert count() == before


def test_large_intermediate_values(made):
    """A recording would keep their memory."""
    function = collet.jit(lambda x: collet.sum(collet.reshape(collet.exp(x), (-1, 1)) @ collet.ones((1, 8192), dtype="float32")) + 1)
    for _ in range(3):
        function(array(8200))
    assert made.ran == 2


def test_threads(made):
    points = [([array(8, 4), array(4), array(4, 1)], array(5, 8), array(5, 1)) for _ in range(4)]
    function = collet.value_and_grad(network)
    jitted = collet.jit(function)
    wanted, failed = [bits(function(*p)) for p in points], []
    jitted(*points[0])

    def run(k):
        with collet.using("opencl"):
            for _ in range(50):
                if bits(jitted(*points[k])) != wanted[k]:
                    failed.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and made.ran < 10


def test_handlers_of_signals(made, on_alarm):
    """Calls of a signal's handler, during a capture too, change no result."""
    function = collet.value_and_grad(network)
    jitted = collet.jit(function)
    ran = []

    def handler(*_):
        ran.append(float(collet.sum(collet.exp(array(7)) * 2)))
        signal.setitimer(signal.ITIMER_REAL, 0.002)

    points = [([array(8, 4), array(4), array(4, 1)], array(5, 8), array(5, 1)) for _ in range(3)]
    wanted = [bits(function(*p)) for p in points]
    on_alarm(handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    for _ in range(100):
        assert [bits(jitted(*p)) for p in points] == wanted
        jitted.clear_cache() if len(ran) < 10 else None
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert ran


def test_fork(made):
    function = collet.jit(lambda x: collet.exp(x) * x + collet.sum(x))
    x = array(4)
    for _ in range(3):
        expected = bits(function(x))
    child = os.fork()
    if not child:
        try:
            with pytest.raises(collet.UnavailableError, match="forked"):
                function(x)
            y = np.asarray(x.shape, "float32")
            with collet.using("cpu_scalar"):
                assert all(bits(function(y)) == bits(function.__wrapped__(collet.asarray(y))) for _ in range(3))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert bits(function(x)) == expected and made.ran == 1
