# SPDX-License-Identifier: Apache-2.0
"""jvp agrees with vjp for every function that has a gradient: <w, J v> = <v, J^T w>. jacfwd, hvp and linearize agree
with jacobian and hessian."""

import numpy as np
import pytest
from test_rules import CALLS, INTEGERS, X, Y, Z, REAL, arguments_of, differentiable, exported
from test_rules_linalg import CASES

import collet
from collet import fft, special
from collet._gradient.trees import leaves

generator = np.random.default_rng(11)


def noise(x):
    x = np.asarray(x)
    found = generator.normal(size=x.shape)
    return collet.asarray((found + 1j * generator.normal(size=x.shape) if x.dtype.kind == "c" else found).astype(x.dtype))


def product(a, b):
    return sum(float(np.real(np.sum(np.asarray(x) * np.asarray(y)))) for x, y in zip(a, b))


def check(function, x):
    value, pullback = collet.vjp(function, x)
    ends = [end for end in leaves(value) if end.dtype.kind in "fc"]
    w, v = [noise(end) for end in ends], noise(x)
    following = iter(w)
    given = collet._gradient.trees.mapped(lambda end: next(following) if end.dtype.kind in "fc" else end, value)
    back, = pullback(given)
    same, along = collet.jvp(function, [x], [v])
    assert [a.shape for a in leaves(same)] == [a.shape for a in leaves(along)] == [a.shape for a in leaves(value)]
    tangents = [t for t in leaves(along) if t.dtype.kind in "fc"]
    size = max(1, sum(float(np.sum(np.abs(np.asarray(t)))) for t in tangents))
    assert abs(product(w, tangents) - product([v], [back])) < 1e-10 * size
    return tangents, v


@pytest.mark.parametrize("name", [n for n, calls in CALLS.items() if calls])
def test_functions(name):
    for call in CALLS[name]:
        check(call, X)
        if name not in REAL:
            check(call, Z)


@pytest.mark.parametrize("name", sorted(set(differentiable()) - INTEGERS - {"clip", "where"}))
def test_elementwise(name):
    real = arguments_of(name, X, Y)
    tangents, v = check(lambda x: getattr(collet, name)(x, *real[1:]), real[0])
    slope = collet.grad(lambda x: collet.sum(getattr(collet, name)(x, *real[1:])))(real[0]) if name != "complex" else None
    if slope is not None:
        np.testing.assert_allclose(np.asarray(tangents[0]), slope.to_numpy() * v.to_numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_linalg(name):
    for function, *points in CASES[name]:
        for x in points:
            check(function, x)


def test_other_families():
    for name in exported(fft) - {"fftfreq", "rfftfreq"}:
        check(getattr(fft, name), X if name.startswith("r") or name == "ihfft" else Z)
    for name in exported(special):
        check(getattr(special, name), X)
    check(lambda x: collet.where(x > 0.5, x, 2 * x), X), check(lambda x: collet.clip(x, 0.4, 0.6), X)
    check(lambda x: x[[0, 0, 1]], X), check(lambda x: collet.evaluate("x*x + exp(x)", {"x": x}), X)


# ---- The functions themselves


def curve(x):
    return collet.stack([x[0] * x[1], collet.sin(x[1]), x[0]**2 * x[2], collet.sum(x)])


P, V = np.array([0.4, 1.2, -0.7]), np.array([1.0, -2.0, 0.5])


def test_jvp():
    value, along = collet.jvp(curve, [P], [V])
    np.testing.assert_array_equal(value, curve(collet.asarray(P)))
    np.testing.assert_allclose(along, collet.jacobian(curve)(P).to_numpy() @ V, rtol=1e-14)
    assert float(collet.jvp(lambda x: x**3, [2.0], [1.0])[1]) == 12
    tree = {"a": collet.asarray(P), "n": 3, "i": collet.asarray([1, 2]), "none": None}
    value, along, aux = collet.jvp(lambda t: ((t["a"] * t["n"], t["i"] + 1), "aux"), [tree],
                                   [{"none": None, "a": V, "n": None, "i": None}], has_aux=True)
    np.testing.assert_array_equal(along[0], 3 * V)
    assert along[1].to_numpy().tolist() == [0, 0] and aux == "aux"
    assert float(collet.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))[1]) == 23
    assert collet.jvp(lambda x: collet.argmax(x), [P], [V])[1].to_numpy() == 0
    nested = collet.jvp(lambda x: collet.jvp(lambda y: y**3, [x], [1.0])[1], [2.0], [1.0])[1]
    assert float(nested) == 12
    assert float(collet.grad(lambda x: collet.jvp(lambda y: y**3, [x], [1.0])[1])(2.0)) == 12
    rows = collet.vmap(lambda v: collet.jvp(curve, [P], [v])[1])(np.eye(3))
    np.testing.assert_allclose(rows.T, collet.jacobian(curve)(P), rtol=1e-14)


def test_linearize():
    value, along = collet.linearize(curve, P)
    jacobian = collet.jacobian(curve)(P).to_numpy()
    for v in np.eye(3):
        np.testing.assert_allclose(along(v), jacobian @ v, rtol=1e-14)


def test_jacfwd():
    np.testing.assert_allclose(collet.jacfwd(curve)(P), collet.jacobian(curve)(P), rtol=1e-14)
    np.testing.assert_allclose(collet.jacfwd(collet.jacfwd(lambda x: collet.sum(curve(x)**2)))(P),
                               collet.hessian(lambda x: collet.sum(curve(x)**2))(P), rtol=1e-12, atol=1e-13)
    matrix = np.arange(6.0).reshape(2, 3) / 7

    def both(a, b):
        return {"p": a @ b, "s": collet.sum(a)}

    forward, backward = (j(both, argnums=(0, 1))(matrix, P) for j in (collet.jacfwd, collet.jacobian))
    for key in "ps":
        for a, b in zip(forward[key], backward[key]):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, atol=1e-15)
    made, aux = collet.jacfwd(lambda x: (x * x, 5), has_aux=True)(P)
    assert aux == 5 and np.allclose(made, np.diag(2 * P))
    with pytest.raises(TypeError, match="jacfwd: an argument is complex"):
        collet.jacfwd(lambda z: z * z)(Z)


def test_hvp():
    def f(x):
        return collet.sum(curve(x)**2)

    np.testing.assert_allclose(collet.hvp(f, [P], [V]), collet.hessian(f)(P).to_numpy() @ V, rtol=1e-12)
    two = collet.hvp(lambda x, y: collet.sum(x**2 * y), (P, V), (V, P))
    np.testing.assert_allclose(two, 2 * V * V + 2 * P * P)
    tree = collet.hvp(lambda t: t["a"]**2 * t["b"], [{"a": collet.asarray(3.0), "b": collet.asarray(2.0)}], [{"a": 1.0, "b": 0.0}])
    assert float(tree["a"]) == 4 and float(tree["b"]) == 6
    np.testing.assert_allclose(collet.jit(lambda x, v: collet.hvp(f, [x], [v]))(P, V), collet.hvp(f, [P], [V]), rtol=0)


@pytest.mark.parametrize("call, error, text", [
    (lambda: collet.jvp(curve, [P], [V[:2]]), collet.ShapeError, r"shape \(3,\), and its tangent has the shape \(2,\)"),
    (lambda: collet.jvp(curve, [P], []), TypeError, "there are 1 primals and 0 tangents"),
    (lambda: collet.jvp(lambda t: t["a"], [{"a": P}], [V]), TypeError, "a tree with 1 parts"),
    (lambda: collet.hvp(curve, [P], [V, V]), TypeError, "1 primals and 2 tangents"),
    (lambda: collet.jvp(lambda x: x, [1], [1]), TypeError, "only floating-point"),
])
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_own_gradients():
    """jvp differentiates the backward function of custom_vjp."""
    @collet.custom_vjp
    def f(x):
        return collet.exp(x)

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 7 * x,))
    assert float(collet.jvp(f, [2.0], [3.0])[1]) == 42
