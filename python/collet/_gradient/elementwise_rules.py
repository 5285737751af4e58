# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules.py
"""Rules for elementwise functions. Most use libcore's derivatives. Formulas are used for functions that are
linear or not analytic, and for frequent functions, whose backward pass should be lazy too."""

import functools

from .. import _core
from .._array import elementwise
from .rules import E_, by_expression, composite, conj, f_astype, fitted, is_complex, like, rule
from .tape import CONSTANTS, RULES, record


@functools.cache
def _expression(name):
    return _core.Expression(elementwise.expression(name))


def _elementwise(name):
    """The rule of a function, from libcore's derivatives of expressions."""
    def apply(*values):
        return by_expression(_expression(name), E_[name], values, f"collet.{name}")

    return apply


for _name in elementwise.names():
    RULES[_name] = _elementwise(_name)
for _name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isfinite", "isinf",
              "isnan", "logical_and", "logical_not", "logical_or", "logical_xor", "signbit", "floor", "ceil",
              "trunc", "round", "floor_divide"):
    del RULES[_name]
    CONSTANTS.add(_name)


# Functions that return the gradient with respect to x. Their arguments are the gradient with respect to the result,
# x, and the result.
_FORMULAS = {
    "sin": lambda g, x, y: g * E_["cos"](x), "cos": lambda g, x, y: -(g * E_["sin"](x)),
    "exp": lambda g, x, y: g * y, "log": lambda g, x, y: g / x, "tanh": lambda g, x, y: g * (1 - y * y),
    "sqrt": lambda g, x, y: g * 0.5 / y, "square": lambda g, x, y: g * (2 * x),
    "reciprocal": lambda g, x, y: -(g * y * y), "expit": lambda g, x, y: g * y * (1 - y),
}


def _by_formula(name, formula):
    def apply(x, /):
        y = E_[name](x)
        return y, (lambda g: formula(g, x, y),)

    RULES[name] = apply


for _name, _formula in _FORMULAS.items():
    _by_formula(_name, _formula)


@rule("add")
def _add(a, b, /):
    return E_["add"](a, b), (fitted(a, lambda g: g), fitted(b, lambda g: g))


@rule("subtract")
def _subtract(a, b, /):
    return E_["subtract"](a, b), (fitted(a, lambda g: g), fitted(b, lambda g: -g))


@rule("multiply")
def _multiply(a, b, /):
    return E_["multiply"](a, b), (fitted(a, lambda g: E_["multiply"](g, b)),
                                  fitted(b, lambda g: E_["multiply"](g, a)))


@rule("divide")
def _divide(a, b, /):
    y = E_["divide"](a, b)
    return y, (fitted(a, lambda g: g / b), fitted(b, lambda g: -(g * y / b)))


@rule("negative")
def _negative(x, /):
    return E_["negative"](x), (lambda g: E_["negative"](g),)


@rule("positive")
def _positive(x, /):
    return E_["positive"](x), (lambda g: g,)


@rule("where")
def _where(condition, a, b, /):
    return E_["where"](condition, a, b), (
        None, fitted(a, lambda g: E_["where"](condition, g, 0)),
        fitted(b, lambda g: E_["where"](condition, 0, g)))


@composite("clip")
def _clip(x, /, min=None, max=None):
    if min is None and max is None:
        return x
    if min is None or max is None:
        return E_["minimum"](x, max) if min is None else E_["maximum"](x, min)
    return record(_elementwise("clip"), (x, min, max), {})


del RULES["clip"]


@rule("pow")
def _pow(x, y, /):
    if type(y) in (int, float) and -16 <= y <= 16:  # pow is then computed by products, and has a simpler derivative
        return E_["pow"](x, y), (None if y == 0 else lambda g: g * (y * (x if y == 2 else E_["pow"](x, y - 1))), None)
    return by_expression(_expression("pow"), E_["pow"], (x, y), "collet.pow")


@rule("conj")
def _conj(x, /):
    return E_["conj"](x), (conj,)


@rule("real")
def _real(x, /):
    shape, dtype = like(x)
    return E_["real"](x), (lambda g: f_astype(g, dtype),)


@rule("imag")
def _imag(x, /):
    shape, dtype = like(x)
    if dtype.kind != "c":
        return E_["imag"](x), (lambda g: g * 0.0,)
    return E_["imag"](x), (lambda g: f_astype(g, dtype) * -1j,)


@rule("complex")
def _complex(re, im, /):
    return E_["complex"](re, im), (fitted(re, E_["real"]), fitted(im, lambda g: -E_["imag"](g)))


_abs_of_real = RULES["abs"]


@rule("abs")
def _abs(x, /):
    if not is_complex(x):
        return _abs_of_real(x)
    return E_["abs"](x), (lambda g: E_["multiply"](g, conj(E_["sign"](x))),)


@rule("sign")
def _sign(x, /):
    made = E_["sign"](x)
    if not is_complex(x):
        return made, (None,)

    def back(g):  # the derivative of z / |z|, for both parts of z
        size = E_["abs"](x)
        across = E_["imag"](g * made)
        return conj(made) * (across * 1j) * E_["where"](size == 0, 0, 1 / E_["where"](size == 0, 1, size))

    return made, (back,)
