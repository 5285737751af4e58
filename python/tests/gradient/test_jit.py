# SPDX-License-Identifier: Apache-2.0
"""jit repeats the recorded calls with the same bits, refuses functions whose calls depend on values, and keeps a
bounded number of recordings."""

import concurrent.futures
import gc
import weakref

import numpy as np
import pytest
from test_rules import CALLS, KEYS, X, Y, Z, REAL, weighted
from test_rules_linalg import CASES
from test_vmap import CONSTANTS, REFUSED

import collet
from collet import special
from collet._gradient.trees import leaves


def same(found, wanted):
    found, wanted = leaves(found), leaves(wanted)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert type(a) is type(b)
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind in "fc":
            a, b = (np.where(np.isnan(v), 0.5, v) for v in (a, b))
        np.testing.assert_array_equal(a, b)


def check(function, *points):
    """points: two lists of arguments of the same shapes."""
    jitted = collet.jit(function)
    for point in points:
        arguments = [collet.asarray(x) for x in point]
        same(jitted(*arguments), function(*arguments))


REFUSED_HERE = {**{n: c for n, c in REFUSED.items() if n not in ("allclose", "array_equal")},
                "bincount": lambda x: collet.bincount(collet.astype(x[0] > 0.5, "int64"))}


@pytest.mark.parametrize("name", sorted({*CALLS} - REFUSED_HERE.keys() - {"broadcast_shapes"} | {"bincount"}))
def test_functions(name):
    """Every function, and its gradient."""
    for call in [*(CALLS[name] or []), *CONSTANTS.get(name, [])]:
        check(call, [X], [X[::-1] * 0.9 + 0.01])
    for call in CALLS[name] or []:
        if name in ("average", "nanmean", "nanmedian", "nanstd", "nanvar", "histogram", "histogram2d"):  # their gradients examine values
            continue
        check(collet.value_and_grad(lambda x: weighted(call(x))), [X], [X[::-1] * 0.9 + 0.01])
        if name not in REAL:
            check(collet.grad(lambda x: weighted(call(x))), [Z], [Z * 0.9])


@pytest.mark.parametrize("name", CASES)
def test_linalg(name):
    for function, *points in CASES[name]:
        for x in points:
            check(function, [x], [x * 1.1])
            check(collet.grad(lambda x: weighted(function(x))), [x], [x * 1.1])


@pytest.mark.parametrize("name", REFUSED_HERE)
def test_refused(name):
    with pytest.raises(collet.UnsupportedError, match=f"jit: collet.{name} makes a result whose shape depends on values"):
        collet.jit(REFUSED_HERE[name])(X)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys(key):
    check(lambda x: x[key], [X], [Y])
    check(collet.grad(lambda x: collet.sum(x[key]**2)), [X], [Y])


def test_indices_are_arguments():
    indices, others = np.array([2, 0, -1]), np.array([1, 1, 0])
    check(lambda x, i: (x[i], x[i, 1], x[:, i], collet.take(x, i, axis=1)), [X, indices], [Y, others])
    check(collet.grad(lambda x, i: collet.sum(x[i]**2)), [X, indices], [Y, others])
    jitted = collet.jit(lambda x, n: x[n])
    assert [jitted(collet.asarray(Y), n).to_numpy().tolist() for n in (0, 2, -1)] == [Y[0].tolist(), Y[2].tolist(), Y[2].tolist()]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        jitted(collet.asarray(Y), 3)
    table = collet.asarray(Y.copy())
    rows = collet.jit(lambda n: table[n])
    first = rows(0)
    first[0] = 7
    assert rows(0).to_numpy()[0] == Y[0, 0] and float(table[0, 0]) == Y[0, 0]


# ---- Numbers, trees, static arguments


def test_numbers():
    """Numbers are arguments of the recording and stay weak."""
    count = []

    def f(x, n, m=2):
        count.append(1)
        return {"x": x * (n * 0.5 + m) ** 2 - n, "n": n / m, "c": 3, "less": n < m}

    jitted = collet.jit(f)
    for dtype in ("f4", "f8", "i4"):
        for n, m in ((1.5, 2.5), (-3.0, 0.5)):
            x = collet.asarray(np.array([1, 2, 3], dtype))
            same(jitted(x, n, m=m), f(x, n, m=m))
    assert len(count) == 3 + 6
    same(jitted(collet.asarray([1.0]), 2), f(collet.asarray([1.0]), 2))
    check(lambda x: x * np.float64(3), [X], [Y])
    np.testing.assert_array_equal(collet.jit(collet.grad(lambda s: s**2 * 3))(2.0), collet.grad(lambda s: s**2 * 3)(2.0))
    assert float(collet.jit(lambda s: collet.exp(s))(0.0)) == 1


def test_static_arguments():
    count = []

    def f(x, n, *, axis):
        count.append((n, axis))
        for _ in range(n):
            x = x + collet.sum(x, axis=axis, keepdims=True)
        return x

    x = collet.asarray(X)
    for jitted in (collet.jit(f, static_argnums=1, static_argnames="axis"),
                   collet.jit(static_argnums=(-1,), static_argnames=["axis"])(f)):
        count.clear()
        for n, axis in ((2, 0), (3, 0), (2, 1), (2, 0), (3, 0)):
            same(jitted(x, n, axis=axis), f(x, n, axis=axis))
        assert len(count) == 3 + 5
    same(collet.jit(f, static_argnames=("n", "axis"))(x, n=2, axis=0), f(x, 2, axis=0))
    with pytest.raises(TypeError, match="a static argument has to be hashable"):
        collet.jit(f, static_argnums=1, static_argnames="axis")(x, [1], axis=0)
    with pytest.raises(TypeError, match="jit: an argument is or contains <object.*static_argnums"):
        collet.jit(f)(x, object(), axis=0)
    scaled = collet.jit(lambda tree: tree["x"] * len(tree["name"]))
    assert [float(scaled({"x": 2.0, "name": name})) for name in ("a", "abc", "a")] == [2, 6, 2]
    with pytest.raises(collet.UnsupportedError, match="jit: axis of collet.sum has to be the same .* static_argnums"):
        collet.jit(lambda x, axis: collet.sum(x, axis=axis))(x, 0)
    with pytest.raises(collet.UnsupportedError, match="jit: shape of collet.reshape has to be the same"):
        collet.jit(lambda x, n: x.reshape(n, -1))(x, 2)
    with pytest.raises(collet.UnsupportedError, match="jit: axes of collet.op.sum has to be the same"):
        collet.jit(lambda x, n: collet.op.sum(x, axes=n))(x, 0)
    check(lambda x: collet.op.partition(x, kth=1), [X], [Y])


def test_new_shapes_are_recorded_anew():
    count = []

    def f(x):
        count.append(x.shape)
        return x * x.shape[0] if x.ndim else x

    jitted = collet.jit(f)
    for shape in ((2, 3), (3, 2), (), (2, 3)):
        same(jitted(collet.ones(shape)), f(collet.ones(shape)))
    assert len(count) == 3 + 4
    jitted.clear_cache()
    jitted(collet.ones((2, 3)))
    assert len(count) == 8
    for n in range(100):  # 64 are kept
        jitted(collet.ones(n))
    count.clear()
    jitted(collet.ones(99)), jitted(collet.ones(36))
    assert not count
    jitted(collet.ones(35))
    assert count == [(35,)]


# ---- What depends on values


@pytest.mark.parametrize("call", [
    float, int, bool, complex, np.asarray, lambda x: x.item(), lambda x: x.to_numpy(), lambda x: 1 if x > 0 else 2,
    lambda x: range(x), lambda x: 5.0 in x, lambda x: f"{x:.1f}", lambda x: x.tolist(), lambda x: collet.arange(x.item())],
    ids=range(13))
def test_values_are_refused(call):
    for x in (collet.asarray(2.0), collet.asarray([1.0])):
        with pytest.raises(TypeError, match="collet.jit follows, and the recording is for all values"):
            collet.jit(call)(x)
    with pytest.raises(TypeError, match="that collet.jit follows"):
        collet.jit(collet.grad(lambda x: call(x) and x))(2.0)
    if call in (float, int, bool):
        with pytest.raises(TypeError, match="that collet.jit follows"):
            collet.jit(call)(2.5)


def test_masks_and_writes_are_refused():
    x = collet.asarray(X)
    with pytest.raises(collet.UnsupportedError, match=r"jit: x\[mask\]"):
        collet.jit(lambda x: x[x > 0.5])(x)
    with pytest.raises(TypeError, match="cannot be written"):
        collet.jit(lambda x: x.__setitem__(0, 1))(x)
    with pytest.raises(collet.UnsupportedError, match="out=, or"):
        collet.jit(lambda x: collet.sin(x, out=collet.zeros((3, 4))))(x)
    check(lambda x: x[np.array([True, False, True])], [X], [Y])

    def rebound(x):
        y = x
        y += 1
        return y * x

    for _ in range(2):  # as in grad, `y += 1` does not write to the argument x
        same(collet.jit(rebound)(x), (x + 1) * x)
    assert float(x[0, 0]) == X[0, 0]


def test_random_numbers():
    rng = collet.random.default_rng(3)
    with pytest.raises(collet.UnsupportedError, match="jit: the function draws from a random.Generator: the recording would"):
        collet.jit(lambda x: x + rng.normal(size=4))(X)
    for seed, offset in ((7, 0), (8, 0), (7, 5)):
        same(collet.jit(lambda seed, offset: collet.random.normal(size=3, seed=seed, offset=offset))(seed, offset),
             collet.random.normal(size=3, seed=seed, offset=offset))
    draw = collet.jit(lambda seed: collet.random.uniform(size=3, seed=seed))
    same(draw(collet.asarray(7)), collet.random.uniform(size=3, seed=7))
    same(draw(collet.asarray(8)), collet.random.uniform(size=3, seed=8))


def test_backends():
    def f(x):
        with collet.using("cpu_scalar"):
            return x * 2

    with pytest.raises(collet.UnsupportedError, match="jit: the function chooses the backend 'cpu_scalar'"):
        collet.jit(f)(X)
    jitted = collet.jit(lambda x: x * 2)
    jitted(X)
    with collet.using("cpu_scalar"):
        same(jitted(X), collet.asarray(X) * 2)


# ---- Constants and memory


def test_constants():
    """Arrays that are not arguments keep the values that they had during the recording, even if the function or other
    code writes to them later."""
    outside = collet.asarray([1.0, 2.0])

    def f(x):
        buffer = collet.zeros(2)
        first = x + buffer
        buffer[0] = 10
        return first, x + buffer, x * outside, buffer, collet.ones(2), "text", 5

    jitted = collet.jit(f)
    for _ in range(2):
        found = jitted(collet.asarray([1.0, 1.0]))
        assert [v.to_numpy().tolist() for v in found[:5]] == [[1, 1], [11, 1], [1, 2], [10, 0], [1, 1]]
        assert found[5:] == ("text", 5)
        found[3][0], found[4][0] = 99, 99
        outside[0] = 99
    wide = collet.jit(lambda x: x + collet.broadcast_to(collet.asarray([3.0]), (10**6,)))
    wide(collet.zeros(10**6))
    assert float(wide(collet.ones(10**6))[-1]) == 4


def test_results_of_no_steps():
    x = collet.asarray(X)
    jitted = collet.jit(lambda x, y: (x, [y], {"x": x}, None))
    for _ in range(2):
        found = jitted(x, 3.0)
        assert found[0] is x and found[1] == [3.0] and found[2]["x"] is x and found[3] is None
    assert collet.jit(lambda: 5)() == 5


def test_memory():
    """Each step frees the values that later steps do not need. After a call no value stays in memory. Unused steps
    are not computed."""
    kept = []

    def f(x):
        collet.linalg.inv(x)  # unused; inv of the singular matrix of zeros below would raise an error
        return collet.sum(x @ x, axis=0)

    jitted = collet.jit(f)
    jitted(collet.eye(3))
    assert float(jitted(collet.zeros((3, 3)))[0]) == 0
    chain = collet.jit(lambda x: (x + 1).reshape(-1) * 2)
    chain(collet.ones((4, 4)))
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            x = collet.ones((4, 4))
            kept.append(weakref.ref(x))
            chain(x)
        del x
        assert not any(r() for r in kept)
    finally:
        gc.enable()


def test_many_calls():
    """Calls of jit, vmap and jvp leave no objects behind."""
    jitted = collet.jit(collet.value_and_grad(loss))
    calls = (lambda: jitted(X, Y.T), lambda: collet.vmap(collet.grad(loss), (None, 0))(X.T, np.stack([Y, Y])),
             lambda: collet.jvp(lambda w: loss(w, Y.T), [X], [X]), lambda: collet.jit(loss)(X, Y.T))
    for call in calls:
        call(), call()
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(20):
            call()
        gc.collect()
        assert len(gc.get_objects()) - before < 10


def test_stored_arrays():
    stored = []
    collet.jit(lambda x: stored.append(x) or x)(X)
    with pytest.raises(collet.UnsupportedError, match="an array of a recording that has ended"):
        stored[0] + 1
    with pytest.raises(collet.UnsupportedError, match="an array that another transform follows"):
        collet.grad(lambda x: collet.sum(collet.jit(lambda y: x * y)(collet.asarray(X))))(Y)


def test_errors_leave_no_recording():
    fails = [True]

    def f(x):
        if fails[0]:
            raise ZeroDivisionError
        return collet.linalg.inv(x)

    jitted = collet.jit(f)
    with pytest.raises(ZeroDivisionError):
        jitted(collet.eye(2))
    fails[0] = False
    same(jitted(collet.eye(2)), collet.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        jitted(collet.zeros((2, 2)))
    same(jitted(2 * collet.eye(2)), collet.eye(2) / 2)
    assert collet._hook.ACTIVE == 0


# ---- Together with other transforms


def loss(w, x):
    return collet.sum(special.softmax(collet.tanh(x @ w), axis=-1)**2)


def test_other_transforms():
    w, x = X, Y
    check(collet.hessian(lambda w: loss(w, x.T)), [w], [w * 0.5])
    check(lambda w, v: collet.jvp(lambda w: loss(w, x.T), [w], [v]), [w, Y], [Y, w])
    check(collet.vmap(loss, (None, 0)), [w.T, np.stack([x, x * 2])], [w.T * 2, np.stack([x, x])])
    check(collet.vmap(collet.grad(loss), (None, 0)), [w.T, np.stack([x, x * 2])], [w.T * 2, np.stack([x, x])])
    inner = collet.jit(loss)
    np.testing.assert_array_equal(collet.grad(inner)(w, x.T), collet.grad(loss)(w, x.T))
    same(collet.jit(lambda w, x: inner(w, x) * 2)(w.T, x), loss(collet.asarray(w.T), collet.asarray(x)) * 2)
    same(collet.vmap(inner, (None, 0))(w.T, np.stack([x, x])), collet.vmap(loss, (None, 0))(w.T, np.stack([x, x])))
    clipped = collet.custom_vjp(lambda x: collet.clip(x, 0.4, 0.6))
    clipped.defvjp(lambda x: (clipped(x), None), lambda _, g: (g * 3,))
    check(collet.grad(lambda x: collet.sum(clipped(x))), [X], [Y])
    check(lambda x: collet.evaluate("sum(x*x + 1, axis=0)", {"x": x}), [X], [Y])
    check(lambda x: (np.sin(x), collet.op.sum(x, axes=0), collet.op.sort(x), x.T @ Y, x.mean(0), divmod(x, 0.3)), [X], [Y])


def test_threads():
    """Threads that record and repeat at the same time get their own results."""
    jitted = collet.jit(collet.value_and_grad(loss))

    def work(n):
        w, x = X * n, collet.asarray(np.ones((n % 3 + 1, 3)))
        return [(jitted(w, x), collet.value_and_grad(loss)(w, x)) for _ in range(5)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for pairs in pool.map(work, range(1, 25)):
            for found, wanted in pairs:
                same(found, wanted)


def test_static_arguments_by_place_and_name():
    def rows(x, k):
        return collet.sum(x.reshape(k, -1), axis=0)

    x = np.arange(4.0)
    for options in {"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "k"}:
        function = collet.jit(rows, **options)
        assert function(x, 2).tolist() == function(x, k=2).tolist() == [2, 4] and function(x, k=4).tolist() == [6]
    with pytest.raises(ValueError, match="static_argnums is 7"):
        collet.jit(rows, static_argnums=7)
    with pytest.raises(ValueError, match="static_argnames has wrong"):
        collet.jit(rows, static_argnames="wrong")
    divided = collet.jit(lambda x, k: x / k, static_argnums=1)
    assert divided(np.ones(1), -0.0).item() == -np.inf and divided(np.ones(1), 0.0).item() == np.inf
    times = collet.jit(lambda x, k: x * k[0], static_argnums=1)
    assert times(np.arange(2), (1,)).dtype == np.int64 and times(np.arange(2), (1.0,)).dtype == np.float64
