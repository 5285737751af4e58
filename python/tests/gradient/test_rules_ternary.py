# SPDX-License-Identifier: Apache-2.0
"""Straight-through estimates of collet.ternary: the derivatives of the same functions without rounding."""

import numpy as np
import pytest

import collet
from collet import ternary

generator = np.random.default_rng(1)
WEIGHTS, INPUTS = generator.normal(size=(4, 64)).astype("f"), generator.normal(size=(3, 64)).astype("f")
G = generator.normal(size=(3, 4)).astype("f")


@pytest.fixture
def w0():
    return collet.asarray(WEIGHTS)


@pytest.fixture
def x0():
    return collet.asarray(INPUTS)


def close(found, wanted):
    np.testing.assert_allclose(found.to_numpy(), np.asarray(wanted), rtol=1e-4, atol=1e-4)


def test_quantize(w0, x0):
    """The gradient is computed as if the codes were weights / scale."""
    close(collet.grad(lambda w: collet.sum((x0 @ ternary.quantize(w).codes.mT) * G))(w0), G.T @ x0.to_numpy())
    codes, scale = ternary.quantize(w0, "absmean")

    def product(w):
        codes, scale = ternary.quantize(w, "absmean")
        return collet.sum((x0 @ (codes * scale[:, None]).mT) * G)

    assert abs(float(product(w0)) - float(collet.value_and_grad(product)(w0)[0])) < 1e-3
    w, s, c = w0.to_numpy(), scale.to_numpy()[:, None], codes.to_numpy()
    by_scale = (G.T @ x0.to_numpy() * (c - w / s)).sum(1, keepdims=True)
    close(collet.grad(product)(w0), G.T @ x0.to_numpy() + by_scale * np.sign(w) / 64)


@pytest.mark.parametrize("activations", ["f32", "int8"])
@pytest.mark.parametrize("relu", [False, True])
def test_linear(w0, x0, activations, relu):
    codes, scale = ternary.quantize(w0, "absmean")
    packed, bias = ternary.pack(codes), collet.asarray(generator.normal(size=4).astype("f"))

    def function(x, scale, bias):
        return collet.sum(ternary.linear(packed, x, scale, bias, activations=activations, relu=relu) * G)

    y = ternary.linear(packed, x0, scale, bias, activations=activations, relu=relu).to_numpy()
    g = np.where(y > 0, G, 0) if relu else G
    by_x, by_scale, by_bias = collet.grad(function, argnums=(0, 1, 2))(x0, scale, bias)
    close(by_x, (g * scale.to_numpy()) @ codes.to_numpy().astype("f"))
    close(by_bias, g.sum(0))
    close(by_scale, (g * ternary.linear(packed, x0, activations=activations).to_numpy()).sum(0))
    close(collet.grad(lambda x: collet.sum(ternary.matmul(packed, x) * G))(x0), G @ codes.to_numpy().astype("f"))


def test_network(w0, x0):
    first = ternary.Linear(ternary.Weights.quantize(w0, "absmean"), relu=True, activations="f32")
    second = ternary.Linear(ternary.Weights.quantize(w0[:2, :4].copy(), "absmean"), np.ones(2), activations="f32")
    network = ternary.Network([first, second])
    value, gradient = collet.value_and_grad(lambda x: collet.sum(network(x)))(x0)
    np.testing.assert_allclose(float(value), float(network(x0).sum()), rtol=1e-5)
    matrices = [layer.weights.codes() * np.asarray(layer.weights.scale)[:, None] for layer in (first, second)]
    hidden = x0.to_numpy() @ matrices[0].T
    close(gradient, ((matrices[1].sum(0) * (hidden > 0)) @ matrices[0]))


def test_refused(w0, x0, tmp_path):
    network = ternary.Network([ternary.Linear(ternary.Weights.quantize(w0))])
    network.save(tmp_path / "a.t2")
    network = ternary.Network.load(tmp_path / "a.t2")
    with pytest.raises(collet.UnsupportedError, match="Network of a file"):
        collet.grad(lambda x: network(x).sum())(x0)
    with pytest.raises(collet.UnsupportedError, match=r"ternary\.pack has no rule"):
        collet.grad(lambda w: ternary.pack(ternary.quantize(w).codes))(w0)
