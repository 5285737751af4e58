# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_special.py
"""Rules for collet.special."""

from .. import functions as f
from .. import special
from .reduction_rules import _array
from .rules import E_, fitted, rule


@rule("special.logsumexp")
def _logsumexp(a, axis=None, b=None, keepdims=False):
    a, b = _array(a), None if b is None else _array(b)
    made = special.logsumexp(a, axis, b, keepdims)
    whole = made if keepdims else special.logsumexp(a, axis, b, True)

    def by_b(g):
        return f.reshape(g, whole.shape) * E_["exp"](a - whole)

    return made, (fitted(a, lambda g: by_b(g) if b is None else by_b(g) * b), None, fitted(b, by_b), None)


@rule("special.softmax")
def _softmax(x, axis=None):
    made = special.softmax(x, axis)
    return made, (lambda g: made * (g - f.sum(g * made, axis=axis, keepdims=True)), None)


@rule("special.log_softmax")
def _log_softmax(x, axis=None):
    made = special.log_softmax(x, axis)
    return made, (lambda g: g - E_["exp"](made) * f.sum(g, axis=axis, keepdims=True), None)
