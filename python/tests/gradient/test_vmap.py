# SPDX-License-Identifier: Apache-2.0
"""vmap(f) equals f for each row, for every function that has a rule."""

import numpy as np
import pytest
from test_rules import CALLS, INTEGERS, KEYS, X, Y, arguments_of, exported
from test_rules_linalg import CASES, COMPLEX, REAL

import collet
from collet import fft, functions, linalg, special
from collet._array import elementwise
from collet._gradient import batching, vmap  # noqa: F401 (makes the rules)
from collet._gradient.trees import leaves

generator = np.random.default_rng(5)


def rows_of(x, count=3):
    """Rows that differ from each other and have the properties of x."""
    return np.stack([x * (1 + 0.03 * i) for i in range(count)])


def check(function, *rows, exact=False):
    """Compares vmap with a loop over the rows."""
    rows = [collet.asarray(r) for r in rows]
    found = leaves(collet.vmap(function)(*rows))
    each = [leaves(function(*(r[i] for r in rows))) for i in range(rows[0].shape[0])]
    assert len(found) == len(each[0])
    for part, wanted in zip(found, zip(*each)):
        wanted = np.stack([np.asarray(w) for w in wanted])
        assert part.shape == wanted.shape and part.dtype == wanted.dtype
        np.testing.assert_allclose(np.asarray(part), wanted, rtol=0 if exact else 1e-11, atol=0 if exact else 1e-12)


CONSTANTS = {
    "all": [lambda x: collet.all(x > 0.5, axis=0), lambda x: collet.all(x > 0.1)],
    "any": [lambda x: (x > 0.8).any(), lambda x: collet.any(x > 0.8, axis=1, keepdims=True)],
    "argmax": [lambda x: collet.argmax(x), lambda x: collet.argmax(x, axis=0), lambda x: x.argmax(keepdims=True)],
    "argmin": [lambda x: x.argmin(axis=1)],
    "argsort": [lambda x: collet.argsort(x), lambda x: x.argsort(axis=0)],
    "count_nonzero": [lambda x: collet.count_nonzero(x > 0.5), lambda x: collet.count_nonzero(x > 0.5, axis=0)],
    "isin": [lambda x: collet.isin(x, X[0]), lambda x: collet.isin(X, x)],
    "searchsorted": [lambda x: collet.searchsorted(collet.sort(x[0]), [0.3, 0.6]), lambda x: collet.searchsorted([0.3, 0.6], x)],
    "empty_like": [lambda x: 0 * collet.isfinite(collet.empty_like(x))], "zeros_like": [lambda x: collet.zeros_like(x)],
    "ones_like": [lambda x: collet.ones_like(x, dtype="int32")],
    "isclose": [lambda x: collet.isclose(x, X)], "argpartition": [lambda x: collet.sort(collet.argpartition(x, 1)[..., :1])],
    "nanargmax": [lambda x: collet.nanargmax(x, axis=0)], "nanargmin": [lambda x: collet.nanargmin(x)],
    "digitize": [lambda x: collet.digitize(x, [0.2, 0.5])],
    "histogram": [lambda x: collet.histogram(x, 5)], "astype": [lambda x: collet.astype(100 * x, "int8")],
}
REFUSED = {"nonzero": lambda x: collet.nonzero(x), "argwhere": lambda x: collet.argwhere(x),
           "flatnonzero": lambda x: collet.flatnonzero(x), "intersect1d": lambda x: collet.intersect1d(x, x),
           "setdiff1d": lambda x: collet.setdiff1d(x, [9.0]), "union1d": lambda x: collet.union1d(x, x),
           "unique_all": lambda x: collet.unique_all(x), "unique_counts": lambda x: collet.unique_counts(x),
           "unique_inverse": lambda x: collet.unique_inverse(x), "unique_values": lambda x: collet.unique_values(x),
           "allclose": lambda x: collet.allclose(x, X), "array_equal": lambda x: collet.array_equal(x, X)}
PLAIN = {"broadcast_shapes"}  # takes no arrays


@pytest.mark.parametrize("name", sorted({*CALLS} - REFUSED.keys() - PLAIN))
def test_functions(name):
    calls = [*(CALLS[name] or []), *CONSTANTS.get(name, [])]
    assert calls, name
    for call in calls:
        check(call, rows_of(X))


def test_every_function_has_a_case():
    """A new function of collet needs a call in CALLS, CONSTANTS or REFUSED."""
    known = {*CALLS, *REFUSED, *PLAIN, "arange", "eye", "linspace"}
    assert exported(functions) - known == set()
    assert {n for n, calls in CALLS.items() if calls is None} <= {*CONSTANTS, *REFUSED, *PLAIN}
    assert exported(linalg) - CASES.keys() == {"matrix_rank", "null_space", "orth"}
    for name in "null_space", "orth":  # the number of columns depends on values
        with pytest.raises(collet.UnsupportedError, match=f"vmap: collet.linalg.{name} makes a result"):
            collet.vmap(getattr(linalg, name))(collet.ones((2, 3, 3)))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises((collet.UnsupportedError, TypeError), match=f"vmap: collet.{name} makes a result|that collet.vmap follows"):
        collet.vmap(REFUSED[name])(rows_of(X))


@pytest.mark.parametrize("name", elementwise.names())
def test_elementwise(name):
    function = getattr(collet, name)
    x, y = (rows_of(collet.asarray(v).to_numpy()) for v in (X, Y))
    if name in INTEGERS:
        x, y = (100 * x).astype("int32"), (5 * y).astype("int32")
    if name.startswith("logical"):
        x, y = x > 0.5, y > 0.5
    if name == "where":
        check(lambda x, y: collet.where(x > 0.5, x, y), x, y, exact=True)
        check(lambda x, y: collet.where(x[0] > 0.5, 1.0, y), x, y, exact=True)
        return
    if name == "clip":
        check(lambda x, y: collet.clip(x, y, max=0.8), x, y, exact=True)
        return
    one = arguments_of(name, x, y) if name not in INTEGERS and not name.startswith("logical") else [x, y]
    count = len(collet.op.describe(elementwise._OPS.get(name, name))["operands"]) - 1
    check(function, *one[:count], exact=True)
    if count == 2:
        check(lambda a: function(a, y[0]), one[0], exact=True)
        check(lambda a: function(y[0], a[0]), one[0], exact=True)
        check(lambda a, b: function(a, b[:, :1]), one[0], one[1], exact=True)


@pytest.mark.parametrize("name", CASES)
def test_linalg(name):
    for function, *points in CASES[name]:
        for x in points:
            check(function, rows_of(x))


def test_matrix_rank_and_products():
    check(linalg.matrix_rank, rows_of(X))
    a, v, batch = generator.normal(size=(5, 3, 4)), generator.normal(size=(5, 4)), generator.normal(size=(2, 4, 3))
    for function in (collet.matmul, collet.vecdot, collet.outer):
        check(function, a, v) if function is not collet.matmul else check(lambda a, v: a @ v, a, v)
    check(lambda v: v @ batch, v), check(lambda v: batch[0].T @ v, v), check(lambda v: v @ v, v)
    check(lambda v, a: v @ a.T, v, a), check(lambda a: batch @ a, a), check(lambda a: a @ batch, a)
    check(lambda a, v: collet.einsum("ij,j,kjl->ikl", a, v, batch), a, v)
    check(lambda a: collet.einsum("...i,ji", a, X), a), check(lambda a: collet.einsum("ii", a[:, :3]), a)
    check(lambda v: linalg.solve(np.eye(4) + 0.1, v), v), check(lambda a: linalg.solve(a[:, :3] + 4 * np.eye(3), X), a)
    check(lambda a, v: linalg.solve(np.eye(3) + a[:, :3]**2, v[:3]), a, v)
    with pytest.raises(collet.ShapeError, match="no axes"):
        collet.vmap(lambda v: v[0] @ v)(v)


def test_fft():
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        for x in (REAL, COMPLEX) if name not in ("rfft", "ihfft") else (REAL,):
            for arguments in ((), (5, 0, "ortho")):
                check(lambda x: getattr(fft, name)(x, *arguments), rows_of(x))
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
        for options in ({}, {"s": (2, 8)}, {"axes": (1, 0)}):
            check(lambda x: getattr(fft, name)(x, **options), rows_of(REAL if name.startswith("r") else COMPLEX))
    check(lambda x: (fft.fftshift(x), fft.ifftshift(x, 0)), rows_of(COMPLEX))
    assert exported(fft) == {"fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "fftn", "ifftn", "rfft2",
                             "rfftn", "irfft2", "irfftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq"}


def test_special():
    for function in special.softmax, special.log_softmax, special.logsumexp:
        check(function, rows_of(X)), check(lambda x: function(x, axis=0), rows_of(X))
    check(lambda x: special.logsumexp(x, 1, Y, True), rows_of(X))
    check(lambda x: special.logsumexp(Y, 1, x), rows_of(X))
    assert exported(special) == {"softmax", "log_softmax", "logsumexp"}


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys(key):
    check(lambda x: x[key], rows_of(X), exact=True)
    check(collet.grad(lambda x: collet.sum(x[key]**2)), rows_of(X))


A, B = np.array([[0, 1], [2, -1], [1, 1]]), np.array([[[0, 3], [1, 1]]] * 3)
CUBE = generator.normal(size=(3, 4, 4, 5))


@pytest.mark.parametrize("call", [
    lambda x, a: x[a], lambda x, a: x[a, a], lambda x, a: x[:, a], lambda x, a: x[..., a], lambda x, a: x[a, 1:, 0],
    lambda x, a: x[1, :, a], lambda x, a: x[None, a, 0], lambda x, a: x[a[0]], lambda x, a: x[a[0], :, a[1]],
    lambda x, a: x[:, a[0], a], lambda x, a: x[a, :, np.array([[1], [0]])], lambda x, a: x[np.array([0, 1]), :, a],
    lambda x, a: x[[True, False, True, False], 0, a], lambda x, a: collet.take(x, a, axis=1),
    lambda x, a: collet.take(x[0, 0], a), lambda x, a: collet.take_along_axis(x, a.reshape(2, 1, 1), axis=0),
    lambda x, a: x[a.reshape(2, 1), 1, a]])
def test_indices_of_rows(call):
    """The indices differ from row to row; the array does too, or is the same for all rows."""
    check(call, CUBE, A, exact=True)
    check(lambda a: call(collet.asarray(CUBE[0]), a), A, exact=True)
    weights = [np.cos(np.arange(call(collet.asarray(CUBE[0]), collet.asarray(A[0])).size))]

    def loss(x, a):
        found = call(x, a)
        return collet.sum(found.reshape(-1)**2 * weights[0])

    check(collet.grad(loss), CUBE, A)
    check(lambda a: collet.grad(loss)(collet.asarray(CUBE[0]), a), A)


def test_masks_of_rows():
    with pytest.raises(collet.UnsupportedError, match="a mask that differs from row to row"):
        collet.vmap(lambda x: x[x > 0.5])(rows_of(X))


def test_axes():
    x = collet.asarray(generator.normal(size=(4, 3, 5)))
    y = collet.asarray(generator.normal(size=(5,)))
    for i in (0, 1, 2, -1):
        for o in (0, 1, -1):
            found = collet.vmap(lambda a: a * 2, i, o)(x)
            np.testing.assert_array_equal(found, np.moveaxis(2 * x.to_numpy(), i, o))
    both = collet.vmap(lambda a, b: (a + b, b), in_axes=(2, 0), out_axes=(0, None))
    with pytest.raises(ValueError, match="out_axes is None for a result that differs"):
        both(x, y)
    sums = collet.vmap(lambda a, b: {"s": a + b, "c": 1.0}, in_axes=(2, 0), out_axes={"s": -1, "c": None})(x, y)
    np.testing.assert_array_equal(sums["s"], x + y)
    assert sums["c"] == 1.0
    tree = collet.vmap(lambda t: t["a"] * t["b"][0], in_axes=({"a": 1, "b": [None]},))({"b": [y], "a": x})
    np.testing.assert_array_equal(tree, np.moveaxis(x.to_numpy(), 1, 0) * y.to_numpy())
    assert collet.vmap(lambda a: 1.0)(x).shape == (4,) and collet.vmap(lambda a: a[:, :0])(x).shape == (4, 3, 0)
    assert collet.vmap(lambda a, n: a * n, in_axes=(0, None))(x, 2.0).shape == (4, 3, 5)
    np.testing.assert_array_equal(collet.vmap(lambda a, b: a + b)(x[:, 0], b=x[:, 1]), x[:, 0] + x[:, 1])
    assert collet.vmap(lambda a: collet.sum(a @ a.T))(x[:0]).shape == (0,)


@pytest.mark.parametrize("call, error, text", [
    (lambda: collet.vmap(lambda a, b: a)(np.ones(3), np.ones(4)), collet.ShapeError, "argument 1 has 4 rows along axis 0, but argument 0 has 3"),
    (lambda: collet.vmap(lambda a: a)(2.0), TypeError, "argument 0 has 2.0, which has no rows"),
    (lambda: collet.vmap(lambda a: a)(np.float64(2)), collet.ShapeError, "an array without axes"),
    (lambda: collet.vmap(lambda a: a, 2)(np.ones((3, 4))), IndexError, "axis 2 is out of range"),
    (lambda: collet.vmap(lambda a: a, None)(np.ones(3)), ValueError, "no argument has rows"),
    (lambda: collet.vmap(lambda a: a, (0, 0))(np.ones(3)), TypeError, "in_axes has 2 parts, and there are 1"),
    (lambda: collet.vmap(lambda a: a, ({"b": 0},))({"a": np.ones(3)}), TypeError, "a dict with the keys 'a'"),
    (lambda: collet.vmap(lambda a: "text")(np.ones(3)), TypeError, "the function returned str"),
    (lambda: collet.vmap(lambda a: a, out_axes=(0, 0))(np.ones(3)), TypeError, "out_axes has"),
    (lambda: collet.vmap(lambda a: a, randomness="all"), ValueError, "randomness is 'all'"),
])
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("call", [
    float, int, bool, np.asarray, lambda x: x.item(), lambda x: x.to_numpy(), lambda x: 1 if x > 0 else 2, lambda x: range(x),
    lambda x: 5.0 in x, lambda x: f"{x:.1f}", lambda x: x.tolist()], ids=range(11))
def test_values_are_refused(call):
    with pytest.raises(TypeError, match="that collet.vmap follows, and the value differs from row to row"):
        collet.vmap(call)(np.ones(3))
    with pytest.raises(TypeError, match="that collet.vmap follows"):
        collet.vmap(collet.grad(lambda x: call(x) and x))(np.ones(3))


def test_writing_is_refused():
    def writes(x):
        y = collet.zeros(3)
        y[0] = x
        return y

    with pytest.raises(collet.UnsupportedError, match="cannot store an array that collet.grad, vmap or jit follows"):
        collet.vmap(writes)(np.ones(3))
    with pytest.raises(TypeError, match="cannot be written"):
        collet.vmap(lambda x: x.__setitem__(0, 1))(np.ones((3, 2)))

    def by_index(i):
        y = collet.zeros(3)
        y[i] = 1.0

    with pytest.raises(TypeError, match="follows the index i"):
        collet.vmap(by_index)(np.arange(3))


def test_nesting():
    x, y = (collet.asarray(generator.normal(size=(4, 3))) for _ in range(2))
    products = collet.vmap(collet.vmap(lambda a, b: collet.sum(a * b), (None, 0)), (0, None))(x, y)
    np.testing.assert_allclose(products, x.to_numpy() @ y.to_numpy().T)

    def energy(a):
        return collet.sum(collet.tanh(a)**2 * a[0])

    check(collet.grad(energy), x), check(collet.hessian(energy), x), check(collet.value_and_grad(energy), x)
    both = collet.grad(lambda x: collet.sum(collet.vmap(energy)(x)))
    np.testing.assert_allclose(both(x), collet.vmap(collet.grad(energy))(x))
    inner = collet.grad(lambda w: collet.sum(collet.vmap(lambda a: collet.grad(lambda b: energy(w * b))(a))(x)))
    step = 1e-6 * np.array([0, 1, 0])
    w = np.array([1.0, 2, 3])

    def value(w):
        return float(collet.sum(collet.vmap(lambda a: collet.grad(lambda b: energy(w * b))(a))(x)))

    np.testing.assert_allclose(inner(w)[1], (value(w + step) - value(w - step)) / 2e-6, rtol=1e-6)
    check(lambda a: collet.stop_gradient(a) * a, x), check(lambda a: collet.evaluate("sum(a*a + exp(a), axis=0)"), x)
    check(lambda a: collet.Expression("a*a + b")(a, y), x), check(lambda a: np.sin(a) + collet.asarray([a[0], 1.0, a[2]]), x)


def test_ops():
    """Ops without a rule are called once for each row."""
    x = generator.normal(size=(4, 6, 3))
    op = collet.op
    check(lambda x: op.add(x, x), x), check(lambda x: op.sum(x, axes=0), x), check(lambda x: op.partition(x, kth=1), x)
    check(lambda x: collet.md.inertia_tensor_batch(x[None], np.ones(6), x[None, 0]), x)
    check(lambda x: op.scatter_add(x, np.array([1, 1, 0]), x * 2).out, x)
    check(lambda x: collet.ternary.quantize(x), x.astype("f4"))


def test_random_numbers():
    rng = collet.random.default_rng(3)
    x = np.zeros((4, 2))
    with pytest.raises(collet.UnsupportedError, match='vmap: the function draws from a random.Generator: say by randomness='):
        collet.vmap(lambda a: a + rng.normal(size=2))(x)
    same = collet.vmap(lambda a: a + rng.normal(size=2), randomness="same")(x).to_numpy()
    assert (same == same[0]).all() and same[0, 0] != same[0, 1]
    different = collet.vmap(lambda a: a + rng.normal(size=2), randomness="different")(x).to_numpy()
    assert len(set(different.ravel())) == 8
    nested = collet.vmap(lambda a: collet.vmap(lambda b: b + rng.random(), randomness="different")(a), randomness="different")
    assert nested(x).shape == (4, 2) and len(set(nested(x).to_numpy().ravel())) == 8
    partly = collet.vmap(lambda a: collet.vmap(lambda b: b + rng.random(), randomness="different")(a), randomness="same")(x).to_numpy()
    assert (partly == partly[0]).all() and partly[0, 0] != partly[0, 1]
    seeds = np.array([7, 8, 7])
    check(lambda seed: collet.random.normal(size=3, seed=seed), seeds)
    check(lambda offset: collet.random.uniform(0, 2, size=3, seed=7, offset=offset), seeds)
    check(lambda low: collet.random.uniform(low, 2, size=3, seed=7), np.array([0.5, 1.0]))


def test_members():
    def row(x):
        assert (x.shape, x.ndim, x.size, x.nbytes, x.dtype, len(x)) == ((2, 3), 2, 6, 48, np.float64, 2)
        assert repr(x).startswith("Traced(collet.Array(") and [r.shape for r in x] == [(3,), (3,)]
        with pytest.raises(TypeError, match="without axes has no length"):
            len(x[0, 0])
        return x.T

    assert collet.vmap(row)(np.ones((4, 2, 3))).shape == (4, 3, 2)
