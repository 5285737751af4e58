# SPDX-License-Identifier: Apache-2.0
"""The public functions of gradients: their arguments, results and errors."""

import collections
import dataclasses
from collections import namedtuple

import numpy as np
import pytest

import collet
from collet._gradient.trees import leaves, mapped, structure

X = np.array([1.0, 2.0, 3.0])


def same(found, wanted):
    assert isinstance(found, collet.Array)
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-12, atol=1e-14)


# ---- Arguments


def test_arguments():
    for x in (X, collet.asarray(X), X.astype("f4")):
        gradient = collet.grad(lambda x: collet.sum(x**2))(x)
        same(gradient, 2 * X)
        assert gradient.dtype == x.dtype
    for x in (3.0, np.float64(3), np.array(3.0)):
        same(collet.grad(lambda x: x**2)(x), 6)
    assert collet.grad(lambda z: (z * z).real)(1 + 2j).dtype == np.complex128
    assert collet.grad(lambda x, *, k: k * x**2)(2.0, k=3).item() == 12
    assert collet.grad(lambda x, n: x**n, argnums=-2)(2.0, 3).item() == 12


def test_trees():
    Pair = namedtuple("Pair", "a b")
    tree = {"w": X, "layers": [(X, 2, None), Pair(np.float32(3), "name")], "n": np.arange(3), "f": 0.5}

    def function(tree):
        (first, two, nothing), pair = tree["layers"]
        assert nothing is None and two == 2 and pair.b == "name" and tree["f"] == 0.5
        return collet.sum(tree["w"] * first * two * tree["n"]) * pair.a

    value, gradient = collet.value_and_grad(function)(tree)
    assert float(value) == 3 * 2 * (X * X * np.arange(3)).sum()
    assert gradient.keys() == tree.keys() and gradient["n"] is None and float(gradient["f"]) == 0
    same(gradient["w"], 6 * X * np.arange(3))
    (first, two, nothing), pair = gradient["layers"]
    same(first, 6 * X * np.arange(3))
    assert two is None and nothing is None and pair.b is None and type(pair) is Pair
    assert pair.a.dtype == np.float32 and float(pair.a) == 2 * (X * X * np.arange(3)).sum()


def test_argnums():
    def function(x, y, z):
        return collet.sum(x * y) * z

    by_x, by_z = collet.grad(function, argnums=(0, 2))(X, 2 * X, 3.0)
    same(by_x, 6 * X)
    same(by_z, 2 * (X * X).sum())
    with pytest.raises(TypeError, match="argnums has 3; the function was called with 3"):
        collet.grad(function, argnums=3)(X, X, 1.0)


def test_has_aux():
    def function(x):
        return collet.sum(x**2), {"double": 2 * x, "n": 7}

    (value, aux), gradient = collet.value_and_grad(function, has_aux=True)(X)
    assert float(value) == 14 and aux["n"] == 7
    same(aux["double"], 2 * X)
    gradient, aux = collet.grad(function, has_aux=True)(X)
    same(gradient, 2 * X)
    same(aux["double"], 2 * X)
    with pytest.raises(TypeError, match="has_aux needs a function that returns"):
        collet.grad(lambda x: x.sum(), has_aux=True)(X)


@pytest.mark.parametrize("call, text", [
    (lambda: collet.grad(lambda x: x)(X), r"returned the shape \(3,\) of float64"),
    (lambda: collet.grad(lambda x: x * 1j)(2.0), r"returned the shape \(\) of complex128"),
    (lambda: collet.grad(lambda x: "a")(X), "returned str, not an array"),
    (lambda: collet.grad(lambda x: isinstance(x, collet.Array) and x.sum())(X), "returned bool, not an array"),
    (lambda: collet.grad(lambda x: x)(3), "argument 0 is 3; only floating-point"),
    (lambda: collet.grad(lambda x: x.sum())(np.arange(3)), "argument 0 has the dtype int64"),
    (lambda: collet.grad(lambda x: x[0])([1, 2]), "argument 0 has no floating-point array"),
    (lambda: collet.jacobian(lambda x: 1j * x)(X), "jacobian: the function returned complex128"),
])
def test_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_without_dependence():
    same(collet.grad(lambda x: collet.asarray(1.0))(X), 0 * X)
    same(collet.grad(lambda x: 2.0)(X), 0 * X)
    same(collet.grad(lambda x: collet.sum(x * 0 + collet.floor(x)))(X), 0 * X)
    same(collet.jacobian(lambda x: collet.asarray(X))(X), np.zeros((3, 3)))


# ---- Other transforms


def test_vjp():
    (a, b), pullback = collet.vjp(lambda x, y: (x * y, {"s": collet.sum(x)}), X, 2 * X)
    same(a, 2 * X * X)
    same(b["s"], 6)
    for scale in (1.0, 2.0):  # more than once
        by_x, by_y = pullback((scale * X, {"s": collet.asarray(3.0)}))
        same(by_x, scale * 2 * X * X + 3)
        same(by_y, scale * X * X)
    with pytest.raises(collet.ShapeError, match=r"has the shape \(3,\), its gradient \(2,\)"):
        pullback((collet.ones(2), {"s": collet.asarray(3.0)}))
    with pytest.raises(TypeError, match="the result has 2 arrays, the gradient has 1"):
        pullback((X,))
    value, pullback, aux = collet.vjp(lambda x: (x**2, x + 1), X, has_aux=True)
    same(aux, X + 1)
    same(pullback(np.ones(3))[0], 2 * X)


def test_jacobian():
    matrix = np.arange(6.0).reshape(2, 3)
    same(collet.jacobian(lambda x: matrix @ x)(X), matrix)
    found = collet.jacobian(lambda x, y: {"a": x * y, "b": (collet.sum(x),)}, argnums=(0, 1))(X, X)
    same(found["a"][0], np.diag(X))
    same(found["b"][0][1], np.zeros(3))
    same(found["b"][0][0], np.ones(3))
    same(collet.jacobian(lambda x: x.reshape(1, 3)[:, :2])(X), np.eye(3)[None, :2])
    tree = collet.jacobian(lambda t: t["x"] * t["n"])({"x": X, "n": 2})
    same(tree["x"], 2 * np.eye(3))
    assert tree["n"] is None
    value, aux = collet.jacobian(lambda x: (x, "aux"), has_aux=True)(X)
    assert aux == "aux"


def test_hessian():
    same(collet.hessian(lambda x: collet.sum(x**3) + x[0] * x[1])(X), np.diag(6 * X) + np.eye(3)[[1, 0, 2]] *
         np.array([1, 1, 0]))
    (xx, xy), (yx, yy) = collet.hessian(lambda x, y: collet.sum(x * x * y), argnums=(0, 1))(X, 2 * X)
    same(xx, np.diag(4 * X))
    same(xy, np.diag(2 * X))
    same(yx, np.diag(2 * X))
    same(yy, np.zeros((3, 3)))


def test_gradients_of_gradients():
    power = collet.grad
    function = np.polynomial.Polynomial([1.0, 2, 3, 4, 5])
    derivative = lambda x: 1 + 2 * x + 3 * x**2 + 4 * x**3 + 5 * x**4  # noqa: E731
    for order in range(5):
        assert abs(float(derivative(0.7)) - function.deriv(order)(0.7) if order else 0) < 1e-12
        derivative = power(derivative)
    # an inner function that uses the outer argument, and an inner function that does not
    same(collet.grad(lambda x: x * collet.grad(lambda y: x * y * y)(3.0))(2.0), 24)
    same(collet.grad(lambda x: x * collet.grad(lambda y: y * y)(3.0))(2.0), 6)
    same(collet.grad(lambda x: collet.grad(lambda y: x + y)(1.0) * x)(2.0), 1)
    value, gradient = collet.value_and_grad(lambda x: collet.value_and_grad(lambda y: x * y**2)(x)[0])(2.0)
    assert float(value) == 8 and float(gradient) == 12


def test_stop_gradient():
    same(collet.grad(lambda x: collet.sum(x * collet.stop_gradient(x)))(X), X)
    same(collet.grad(lambda x: collet.sum(x * collet.stop_gradient({"a": [x]})["a"][0]))(X), X)
    same(collet.grad(collet.grad(lambda x: collet.stop_gradient(x) * x**2))(3.0), 6)
    assert collet.stop_gradient(None) is None and collet.stop_gradient(2) == 2


# ---- Gradients of one's own


@collet.custom_vjp
def doubled(x, options):
    """Twice the array."""
    return x * options["factor"], options["factor"]


doubled.defvjp(lambda x, options: ((x * options["factor"], options["factor"]), (x, options["factor"])),
               lambda kept, g: (10 * g[0] * kept[1], None))


def test_custom_vjp():
    assert doubled.__doc__ == "Twice the array."
    same(doubled(collet.asarray(X), {"factor": 2})[0], 2 * X)
    same(collet.grad(lambda x: collet.sum(doubled(x, {"factor": 2})[0]))(X), 20 + 0 * X)
    same(collet.grad(lambda f: collet.sum(doubled(X, {"factor": f})[0]))(2.0), 0)
    cube = collet.custom_vjp(lambda x: x**3)
    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * g * x**2,))
    same(collet.grad(collet.grad(collet.grad(cube)))(2.0), 6)
    same(collet.hessian(lambda x: collet.sum(cube(x) * x))(X), np.diag(12 * X**2))
    same(collet.jacobian(cube)(X), np.diag(3 * X**2))


def test_custom_vjp_errors():
    function = collet.custom_vjp(lambda x: x)
    with pytest.raises(TypeError, match="has no gradient yet"):
        collet.grad(function)(1.0)
    function.defvjp(lambda x: (x, None), lambda _, g: g)
    with pytest.raises(TypeError, match="has to return a tuple of 1 gradients"):
        collet.grad(function)(1.0)
    function.defvjp(lambda x: (x, None), lambda _, g: (collet.ones(2),))
    with pytest.raises(collet.ShapeError, match=r"returned the shape \(2,\) for an argument of the shape \(\)"):
        collet.grad(function)(1.0)

    def outer(x):
        inner = collet.custom_vjp(lambda y: x * y)
        inner.defvjp(lambda y: (x * y, None), lambda _, g: (g,))
        return inner(2 * x)

    with pytest.raises(TypeError, match="uses an array that is differentiated and not its argument"):
        collet.grad(outer)(1.0)


def test_linspace_of_arrays():
    rows = collet.asarray([[0.0, 1.0], [2.0, 5.0]])
    wanted = np.linspace(rows, rows + 1, 3)
    assert (collet.vmap(lambda a, b: collet.linspace(a, b, 3), out_axes=1)(rows, rows + 1) == wanted).all()
    assert (collet.vmap(lambda r: collet.linspace(r[0], r[1], 3))(rows) == np.linspace(rows[:, 0], rows[:, 1], 3).T).all()
    assert (collet.jit(lambda a, b: collet.linspace(a, b, 3))(rows, rows + 1) == wanted).all()
    jitted = collet.jit(lambda a, b: collet.linspace(a, b, 3))
    assert [jitted(0.0, b).tolist() for b in (1.0, 2.0)] == [[0, 0.5, 1], [0, 1, 2]]
    found = collet.grad(lambda a, b: collet.sum(collet.linspace(a, b, 4) * np.arange(1.0, 5)), (0, 1))(1.0, 2.0)
    assert np.allclose([float(g) for g in found], [1 + 2 * 2 / 3 + 3 / 3, 2 / 3 + 3 * 2 / 3 + 4])
    with pytest.raises(collet.UnsupportedError, match="start of collet.arange has to be the same"):
        collet.jit(lambda a: collet.arange(a, 9))(1)


def test_averages_in_transforms():
    x, w = collet.asarray([[1.0, 2.0, 4.0], [3.0, 5.0, 5.0]]), collet.asarray([[1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])

    def mean(x, w):
        return collet.average(x, weights=w)

    wanted = np.array(w) / np.sum(np.array(w), axis=1, keepdims=True)
    for transform in (lambda f: f, collet.jit):
        assert np.allclose(transform(collet.vmap(collet.grad(mean)))(x, w), wanted)
        assert np.allclose(transform(collet.grad(mean))(x[0], w[0]), wanted[0])
        assert np.allclose(transform(collet.vmap(mean))(x, w), [2.25, 4.5])
    for function in mean, collet.grad(mean), collet.jit(mean):
        with pytest.raises(ZeroDivisionError, match="add up to zero"):
            function(x[0], collet.asarray([1.0, -1.0, 0.0]))
    with pytest.raises(ZeroDivisionError):
        collet.vmap(collet.grad(mean))(x, w * np.array([[1.0], [0.0]]))
    for name in "nanmean", "nansum", "nanvar", "nanstd", "nanmax", "nanmedian", "nanprod":
        for given in x[0], x[0] * np.array([1.0, np.nan, 1.0]):
            function = getattr(collet, name)
            for transform in (collet.jit(collet.grad(function)), lambda x: collet.vmap(collet.grad(function))(x[None])[0]):
                assert np.allclose(transform(given), collet.grad(function)(given), equal_nan=True), name


# Transforms take dataclasses, named tuples, dicts and objects of registered classes.


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass(frozen=True)
class Layer:
    weights: object
    bias: object
    name: str = "layer"

    def __post_init__(self):
        if not hasattr(self.weights, "shape"):
            raise ValueError("weights")


class Line:
    def __init__(self, slope, unit):
        self.slope, self.unit = slope, unit


collet.register_pytree_node(Line, lambda line: ([line.slope], line.unit), lambda unit, parts: Line(*parts, unit))


def network(tree):
    first = tree["first"]
    return collet.sum(first.weights**2 * first.bias) * tree["pair"].a * tree["line"].slope


def parameters():
    return {"first": Layer(collet.asarray([1.0, 2.0]), collet.asarray(3.0)), "line": Line(collet.asarray(2.0), "m"),
            "pair": Pair(collet.asarray(5.0), None), "list": [collet.asarray(1.0)]}


def test_gradients():
    gradient = collet.grad(network)(parameters())
    assert gradient["first"].weights.to_numpy().tolist() == [60, 120] and float(gradient["first"].bias) == 50
    assert gradient["first"].name is None and type(gradient["first"]) is Layer
    assert float(gradient["line"].slope) == 75 and gradient["line"].unit == "m"
    assert type(gradient["pair"]) is Pair and gradient["pair"].b is None and float(gradient["list"][0]) == 0


def test_other_transforms():
    rows = [mapped(lambda x: x * n if hasattr(x, "shape") else x, parameters()) for n in (1.0, 2.0)]
    batch = {**rows[0], "first": Layer(collet.stack([r["first"].weights for r in rows]), collet.asarray([3.0, 6.0])),
             "line": Line(collet.asarray([2.0, 4.0]), "m"), "pair": Pair(collet.asarray([5.0, 10.0]), None)}
    in_axes = {"line": 0, "pair": Pair(0, None), "list": None}
    with pytest.raises(TypeError, match="in_axes has"):
        collet.vmap(network, in_axes=({**in_axes, "first": [0, 0]},))(batch)
    in_axes["first"] = mapped(lambda _: 0, rows[0]["first"])  # the name is passed on
    found = collet.vmap(network, in_axes=(in_axes,))(batch)
    assert found.to_numpy().tolist() == [float(network(r)) for r in rows]
    assert float(collet.jit(network)(rows[1])) == float(collet.jit(network)(rows[1])) == float(network(rows[1]))
    tangent = mapped(lambda x: collet.ones_like(x) if hasattr(x, "shape") else None, parameters())
    along = collet.jvp(network, [parameters()], [tangent])[1]
    gradient = collet.grad(network)(parameters())
    assert np.isclose(float(along), sum(float(collet.sum(g)) for g in leaves(gradient) if hasattr(g, "shape")))


def test_registering():
    with pytest.raises(ValueError, match="Line is a tree already"):
        collet.register_pytree_node(Line, list, list)
    with pytest.raises(ValueError, match="Pair is a tree already"):
        collet.register_pytree_node(Pair, list, list)
    one, two = ([], [])
    assert structure([Line(1, "m"), {"a": 2}], one) == structure([Line(3, "m"), {"a": 4}], two) and two == [3, 4]
    assert structure(Line(1, "m"), []) != structure(Line(1, "s"), []) != structure({"a": 1}, [])
    assert structure([1, [2]], []) != structure([[1], 2], []) and structure((1,), []) != structure([1], [])


def test_own_gradients():
    """A backward function may return a dict with its keys in any order."""
    @collet.custom_vjp
    def f(tree):
        return tree["a"] * tree["b"]

    f.defvjp(lambda t: (f(t), t), lambda t, g: ({"b": g * 10, "a": g},))
    gradient = collet.grad(f)({"a": collet.asarray(2.0), "b": collet.asarray(3.0)})
    assert float(gradient["a"]) == 1 and float(gradient["b"]) == 10
    f.defvjp(lambda t: (f(t), t), lambda t, g: ((g,),))
    with pytest.raises(TypeError):
        collet.grad(f)({"a": collet.asarray(2.0), "b": collet.asarray(3.0)})


def test_numbers_have_gradients():
    """Floats inside of trees are differentiated, as in JAX; integers, texts and None are not."""
    x = collet.asarray([1.0, 2.0])
    tree = {"w": x, "scale": 3.0, "count": 2, "name": "a", "none": None}

    def value(t):
        return collet.sum(t["w"] * t["scale"]**2) * t["count"]

    for function in collet.grad(value), collet.jit(collet.grad(value)):
        found = function(tree)
        assert found["w"].tolist() == [18, 18] and float(found["scale"]) == 36
        assert found["count"] is None and found["name"] is None and found["none"] is None
    assert [float(g) for g in collet.grad(lambda t: t[0] * t[1])((2.0, 5.0))] == [5, 2]
    assert complex(collet.grad(lambda t: collet.real(t[0] * t[1]))((1j, 2 + 3j))[0]) == 2 + 3j
    assert [float(g) for g in collet.vjp(lambda t: t[0] * t[1], (2.0, 5.0))[1](collet.asarray(2.0))[0]] == [10, 4]
    with pytest.raises(TypeError, match="no floating-point array"):
        collet.grad(lambda t: t[0] * t[1])((2, 3))


def test_dtypes_of_numbers():
    """A number does not change the dtype of the arrays that are in its tree, with and without jit."""
    for dtype, wanted in ("f2", "f2"), ("f4", "f4"), ("f8", "f8"), ("c8", "f4"):
        x = np.ones(2, dtype)
        for given in x, collet.asarray(x), x.astype(x.dtype.newbyteorder()):
            for transform in lambda f: f, collet.jit:
                value, found = transform(collet.value_and_grad(lambda t: collet.real(collet.sum(t[0] * t[1]))))((given, 2.0))
                assert value.dtype == found[0].real.dtype == found[1].dtype == wanted
    assert collet.grad(lambda t: t[0] * t[1])((2.0, 3))[0].dtype == np.float64
    assert collet.grad(lambda t: collet.real(t[0] * collet.sum(t[1])))((2j, collet.ones(2, "f4")))[0].dtype == np.complex64


def test_forward_derivatives_of_numbers():
    x = collet.asarray([1.0, 2.0])
    primal, tangent = (2.0, x), (10.0, collet.asarray([1.0, 1.0]))
    assert collet.jvp(lambda t: t[0] * t[1], [primal], [tangent])[1].tolist() == [12, 22]
    assert collet.linearize(lambda t: t[0] * t[1], primal)[1](tangent).tolist() == [12, 22]
    for function in collet.jacfwd, collet.jacobian:
        assert [g.tolist() for g in function(lambda t: t[0] * t[1])(primal)] == [[1, 2], [[2, 0], [0, 2]]]
    found = collet.hvp(lambda t: collet.sum(t[0]**2 * t[1]), [primal], [tangent])
    assert float(found[0]) == 2 * 3 * 10 + 2 * 2 * 2 and found[1].tolist() == [40, 40]
    assert float(collet.hessian(lambda t: collet.sum(t[0]**2 * t[1]))(primal)[0][0]) == 6
    rows = collet.vmap(collet.grad(lambda t: collet.sum(t[0] * t[1])), in_axes=((None, 0),))((2.0, collet.stack([x, x])))
    assert rows[0].tolist() == [3, 3] and rows[1].tolist() == [[2, 2]] * 2
