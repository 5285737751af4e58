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
