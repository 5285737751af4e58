# SPDX-License-Identifier: Apache-2.0
"""collet.jit passes successive calls on small arrays to libcore, which replays them in one call. Tested: the results have the
same bits, which calls are replayed, and for which arguments they are not."""

import gc
import threading

import numpy as np
import pytest

import collet
from collet._gradient import lowering

rng = np.random.default_rng(0)


def array(*shape, dtype="float32"):
    return collet.asarray(rng.normal(size=shape).astype(dtype))


@pytest.fixture
def made(monkeypatch):
    """Counts the steps of each recording, the runs that computed, and the runs that were refused."""
    class Made:
        steps, runs, refused = [], 0, 0

    def recording(inputs, steps, results):
        replay = original(inputs, steps, results)
        counts.steps.append(len(steps))

        def run(*arguments):
            found = replay(*arguments)
            counts.runs += found is not None
            counts.refused += found is None
            return found

        return run

    original, counts = lowering._core.recording, Made()
    monkeypatch.setattr(lowering._core, "recording", recording)
    counts.steps = []
    return counts


def bits(tree):
    return [np.asarray(x).tobytes() for x in collet._gradient.trees.leaves(tree)]


def check(function, *points):
    jitted = collet.jit(function)
    for point in points:
        assert bits(jitted(*point)) == bits(function(*point))
    return jitted


def network(parameters, x, y):
    w, b, v = parameters
    return collet.mean((collet.tanh(x @ w + b) @ v - y)**2)


# ---- The same bits


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_a_network(made, dtype):
    points = [([array(8, 4, dtype=dtype), array(4, dtype=dtype), array(4, 1, dtype=dtype)], array(5, 8, dtype=dtype), array(5, 1, dtype=dtype))
              for _ in range(3)]
    check(collet.value_and_grad(network), *points)
    assert len(made.steps) == 1 and made.steps[0] > 15 and made.runs == 2  # each replay runs the whole program


REDUCTIONS = ["sum", "prod", "mean", "var", "std", "min", "max"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("keywords", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}], ids=str)
def test_reductions(made, name, keywords):
    with_nan = array(3, 4)
    with_nan[1, 2] = float("nan")
    check(lambda x: getattr(collet, name)(collet.exp(x) * x, **keywords), [array(3, 4)], [array(3, 4)], [with_nan])
    assert made.runs == 2


def test_correction(made):
    check(lambda x: collet.std(x * x + 1, axis=1, correction=1) * collet.var(x, axis=1), [array(3, 4)], [array(3, 4)])
    assert made.runs == 1


def test_products_and_views(made):
    def function(x, y, v):
        z = collet.matrix_transpose(x * 2) @ y                      # 3 x 3
        z = z + collet.reshape(collet.exp(v), (3, 1))
        z = collet.permute_dims(z, (1, 0)) @ v
        return z @ v, collet.broadcast_to(collet.expand_dims(z, 0), (2, 3)) + 1, collet.squeeze(v * v)

    points = [(array(4, 3), array(4, 3), array(3)) for _ in range(2)]
    check(function, *points)
    assert made.runs == 1


def test_reshapes_that_copy(made):
    """A reshape that needs a copy is computed between two replays."""
    def function(x):
        y = collet.exp(x) * x + 1
        return collet.exp(collet.reshape(collet.matrix_transpose(y), (12,))) * 2 + 1

    check(function, [array(4, 3)], [array(4, 3)])
    assert made.steps == [3, 3] and made.runs == 2


def test_long_programs(made):
    """A replay keeps the GIL, so a long program is split into several replays."""
    def function(x, y):
        for _ in range(20):
            x = x @ y
        return x

    check(function, *((array(50, 50), array(50, 50) * 0.1) for _ in range(2)))
    assert sum(made.steps) >= 18 and max(made.steps) <= 8


def test_conditions_and_integers(made):
    def function(x, n):
        larger = x > 0.5
        return collet.where(larger, x * x, -x), collet.maximum(n + n, n * n), larger

    check(function, *((array(6), collet.asarray([1, 2, 3])) for _ in range(3)))
    assert made.runs == 2


def test_numbers_are_arguments(made):
    step = check(lambda w, g, rate: w - rate * (g * 2 + w), *((array(5), array(5), rate) for rate in (0.1, 3.0, float("inf"), -0.0)))
    assert (made.runs, made.refused) == (3, 0)
    with np.errstate(over="ignore"):
        assert np.isinf(step(array(5), array(5), 1e39).to_numpy()).all()  # float32 does not hold the number
    assert (made.runs, made.refused) == (3, 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_numbers_are_rounded_once(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = array(3).astype(collet._core.dtype(dtype))
    ties = [1 + 2.0**-n + 2.0**-45 for n in (8, 11, 24)] + [2.0**-25 * (1 + 2.0**-40), -(2**53) + 1, 2**53 + 1, float("-inf"), -0.0]
    for number in ties if dtype != "float16" else [n for n in ties if abs(n) < 2**16 or n == float("-inf")]:
        function = lambda x, n: (x * n, x + n, n - x)  # noqa: E731
        check(function, (x, number), (x, number))


def test_strides(made):
    """Arguments with any strides are replayed, unless a reshape of one would need a copy."""
    x = array(4, 3)
    check(lambda x: collet.exp(x) * x + collet.sum(x), [x], [collet.asarray(array(3, 4).to_numpy().T)], [array(3, 4).mT], [array(8, 3)[::2]])
    assert (made.runs, made.refused) == (3, 0)
    check(lambda x: collet.exp(collet.reshape(x, (12,))) * 2 + 1, [x], [array(4, 3)], [array(3, 4).mT])
    assert (made.runs, made.refused) == (4, 1)


# ---- What is not replayed


def test_results_that_are_views(made):
    """A view that a jitted function returns shares the argument's memory, as without jit."""
    x = array(3, 4)
    turn = collet.jit(lambda x: (collet.matrix_transpose(x), collet.exp(x) * x + 1))
    turn(array(3, 4))
    view, _ = turn(x)
    x[0, 1] = 7
    assert float(view[1, 0]) == 7 and made.runs == 1


def test_results_do_not_share_memory(made):
    function = collet.jit(lambda x: (x * 2, collet.exp(x) + 1, x * 2 - 1))
    x = array(4)
    first, second, third = (function(x) for _ in range(3))
    before = bits(third)
    for result in (*first, *second):
        result[...] = 0
    assert bits(third) == before == bits(function(x)) and made.runs == 3


def test_large_arrays_are_lazy(made):
    check(lambda x: collet.sum(collet.exp(x) * x + 1), [array(3000)], [array(3000)])
    check(lambda x: (collet.exp(x), x * x, x + 1), [array(1024)], [array(1024)])
    assert made.steps == []
    check(lambda x: (collet.exp(x), x * x, x + 1), [array(1023)], [array(1023)])
    assert made.steps == [3]


def test_arguments_that_wait(made):
    """A lazy argument is computed in the same evaluation as the recorded calls."""
    function = collet.jit(lambda x: collet.sum(collet.exp(x) * x))
    before = collet._core.wait_from(0)
    try:
        waiting = [array(5) + 1 for _ in range(2)]
    finally:
        collet._core.wait_from(before)
    function(array(5))
    expected = bits(collet.sum(collet.exp(waiting[1] * 1) * waiting[1]))
    assert collet._core.is_pending(waiting[0])
    function(waiting[0])
    assert (made.runs, made.refused) == (0, 1)
    float(waiting[1][0])  # computes it
    assert bits(function(waiting[1])) == expected and made.runs == 1


def test_observed_calls(made):
    function = collet.jit(lambda x: collet.exp(x) * x + 1)
    function(array(4))
    seen = []
    before = collet._core.observe(lambda name, begins: seen.append(name) if begins else None)
    try:
        bits(function(array(4)))
    finally:
        collet._core.observe(before)
    assert seen and made.runs == 0
    function(array(4))
    assert made.runs == 1


# ---- Errors, memory, threads


def test_recording_checks_its_arguments():
    core, mul = collet._core, collet.op.mul
    row = ("float32", (3,), 0)
    for inputs, steps, results, error, text in [
            ([row], [(mul, (0, 1), {}, *row[:2])], (1,), ValueError, "there is no value 1"),
            ([row], [(mul, (0,), {}, *row[:2])], (1,), ValueError, "with 1 operands"),
            ([row], [(mul, (0, 0), {}, "float64", (3,))], (1,), collet.DtypeError, "float64"),
            ([row], [(mul, (0, 0), {}, "float32", (4,))], (1,), collet.ShapeError, "4"),
            ([row], [(9, (0,), (3,), *row[:2])], (1,), collet.InvalidError, "view is 9"),
            ([row], [(collet.op.svd, (0,), {}, *row[:2])], (1,), ValueError, "has 4 outputs"),
            ([row], [], (0,), collet.InvalidError, "is an input")]:
        with pytest.raises(error, match=text):
            core.recording(inputs, steps, results)
    replay = core.recording([row], [(mul, (0, 0), {}, *row[:2])], (1,))
    with pytest.raises(TypeError, match=r"has 1 inputs \(2 given\)"):
        replay(1, 2)
    assert replay(3) is None
    with pytest.raises(collet.ShapeError, match=r"input 0 is f(loat)?32 4, and was recorded as f(loat)?32 3"):
        replay(array(4))


def test_threads(made):
    points = [([array(8, 4), array(4), array(4, 1)], array(5, 8), array(5, 1)) for _ in range(4)]
    function = collet.value_and_grad(network)
    jitted = collet.jit(function)
    wanted, failed = [bits(function(*p)) for p in points], []
    jitted(*points[0])

    def run(k):
        for _ in range(200):
            if bits(jitted(*points[k])) != wanted[k]:
                failed.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and made.runs >= 790 and made.runs + made.refused == 800  # a thread's first call looks for a backend


def test_signatures():
    """Arguments with the same structure, dtypes and shapes have equal signatures; others have different ones."""
    x, y = array(2, 3), array(2, 3)
    trees = [(x,), [x], {"a": x}, {"b": x}, (x, x), (x, None), None, ((x,), x), (x, (x,)), 1, 1.0, True, 1j, "1", b"1", array(3, 2),
             array(2, 3, dtype="float64"), array(6), {}, (), []]

    def signature(tree):
        values = []
        return collet._core.signature(tree, values, lambda leaf: None), values

    assert len({signature(t)[0] for t in trees}) == len(trees)
    assert signature((x, 2))[0] == signature((y, 3))[0] and signature("a")[0] != signature("b")[0]
    assert [v is w for v, w in zip(signature({"k": [x, 1.5], "l": (y,)})[1], (x, 1.5, y))] == [True] * 3
    assert signature(object())[0] is None and signature((x, np.ones(2)))[0] is None
    assert signature([0.0] * 100000)[0] is None  # too large
    deep = x
    for _ in range(100000):
        deep = (deep,)
    with pytest.raises(RecursionError):
        signature(deep)
    assert collet._core.signature(np.ones((2, 3), "f4"), [], lambda leaf: x) == signature(x)[0]


@pytest.mark.parametrize("number", [2**53 + 1, 2**64, 10**20, -2**63 - 1, 2**70])
def test_large_integers_are_rounded_as_in_a_call(number):
    x = collet.asarray(np.ones(3, "f4"))

    def f(x):
        return collet.minimum((x * number + 1) * 2 - x, number)

    np.testing.assert_array_equal(np.asarray(collet.jit(f)(x)), np.asarray(f(x)))


def test_equal_keys_of_other_types_have_their_own_recordings():
    x = collet.asarray(np.array([1, 2]))
    scaled = collet.jit(lambda d: x * list(d)[0] + list(d.values())[0] * 0)
    assert [str(scaled({key: x}).dtype) for key in (1, 1.0, 1)] == ["int64", "float64", "int64"]
    named = collet.jit(lambda d: {key: v + 1 for key, v in d.items()})
    assert [str([*named({key: x})]) for key in (1, True, 1.0, 0.0, -0.0)] == ["[1]", "[True]", "[1.0]", "[0.0]", "[-0.0]"]


def test_replays_go_on_after_configure(made):
    step = collet.jit(lambda x: collet.tanh(collet.exp(x) * 2 + x))
    x = np.ones(4, "f4")
    expected = np.array(step(x))
    step(x)
    runs = made.runs
    gc.collect()  # configure refuses while Arrays exist
    collet.configure(num_threads=1)
    try:
        for _ in range(3):  # the first call records again
            np.testing.assert_array_equal(np.asarray(step(x)), expected)
        assert made.refused == 0 and made.runs >= runs + 2
    finally:
        gc.collect()
        collet.configure(num_threads=0)
