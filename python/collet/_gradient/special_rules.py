# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_special.py
"""Rules for collet.special."""

from .. import functions as f
from .. import special
from .reduction_rules import _array
from .rules import E_, fitted, rule


@rule("special.logsumexp")
def _logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    a, b = _array(a), None if b is None else _array(b)
    size, sign = special.logsumexp(a, axis, b, True, True)

    def by_b(g):
        """Converts a gradient with respect to the logarithm of the sum to the gradient with respect to b."""
        return f.reshape(g, size.shape) * E_["exp"](a - size) / sign

    def by_a(g):
        return by_b(g) if b is None else by_b(g) * b

    to_a, to_b = fitted(a, by_a), fitted(b, by_b)
    if not return_sign:
        return special.logsumexp(a, axis, b, keepdims), (to_a, None, to_b, None, None)

    def back(gradients):
        by_size, by_sign = gradients
        g = 0 if by_size is None else by_size
        if by_sign is not None and sign.dtype.kind == "c":  # the sign of a real sum is constant
            g = g - 1j * E_["real"](1j * by_sign * f.reshape(sign, by_sign.shape))
        return to_a and to_a(g), None, to_b and to_b(g), None, None

    return special.logsumexp(a, axis, b, keepdims, True), back


@rule("special.softmax")
def _softmax(x, axis=None):
    made = special.softmax(x, axis)
    return made, (lambda g: made * (g - f.sum(g * made, axis=axis, keepdims=True)), None)


@rule("special.log_softmax")
def _log_softmax(x, axis=None):
    made = special.log_softmax(x, axis)
    return made, (lambda g: g - E_["exp"](made) * f.sum(g, axis=axis, keepdims=True), None)
