# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules_ternary.py
"""Rules for collet.ternary: straight-through estimators. Rounding to -1, 0 and 1, or to 8 bits, has the
derivative 1."""

from .. import functions as f
from .. import ternary
from ..ternary import Quantized
from .rules import E_, composite, fitted, rule
from .tape import bottom, refuse


@composite("ternary.quantize")
def _quantize(weights, mode=None, threshold=None):
    """The codes are floats, because integers have no gradient. The scale of "absmean" has the derivative of the mean.
    This holds even for weights that are already ternary, although quantize computes their scale in another way."""
    codes, scale = ternary.quantize(bottom(weights), mode, threshold)
    if mode == "absmean":
        mean = f.mean(E_["abs"](weights), axis=-1)
        scale = mean + (scale.astype(weights.dtype) - bottom(mean))
        weights = weights / E_["where"](mean == 0, 1, mean)[..., None]
    return Quantized(weights + (codes.astype(weights.dtype) - bottom(weights)), scale)


@rule("ternary.linear")
def _linear(packed, x, scale=None, bias=None, *, activations="int8", relu=False, threshold=0.0):
    options = {"activations": activations, "threshold": threshold}
    made = ternary.linear(packed, x, scale, bias, relu=relu, **options)
    lead = tuple(range(len(x.shape) - 1))

    def before(g):
        """The gradient with respect to the result before relu."""
        return E_["where"](made > 0, g, 0) if relu else g

    def by_x(g):
        codes = ternary.unpack(packed, x.shape[-1]).astype(x.dtype)
        g = before(g)
        return f.matmul(g if scale is None else g * scale, codes)

    def by_scale(g):
        return f.sum(before(g) * ternary.linear(packed, x, **options), axis=lead)

    return made, (None, fitted(x, by_x), fitted(scale, by_scale),
                  fitted(bias, lambda g: f.sum(before(g), axis=lead)))


@rule("ternary.matmul")
def _matmul(packed, x):
    return ternary.matmul(packed, x), (
        None, fitted(x, lambda g: f.matmul(g, ternary.unpack(packed, x.shape[-1]).astype(g.dtype))))


@composite("ternary.Network")
def _network(network, x):
    if not network.layers:
        refuse("a collet.ternary.Network of a file, whose layers are not known,")
    for layer in network.layers:
        x = ternary.linear(layer.weights.bytes, x, layer.weights.scale, layer.bias,
                           activations=layer.activations, relu=layer.relu, threshold=layer.threshold)
    return x
