# SPDX-License-Identifier: Apache-2.0
"""Transforms take dataclasses, named tuples, dicts and objects of registered classes."""

import collections
import dataclasses

import numpy as np
import pytest

import collet
from collet._gradient.trees import leaves, mapped, structure

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
    """The order of keys in the dict that a backward function returns is free."""
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
