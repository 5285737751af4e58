# SPDX-License-Identifier: Apache-2.0
"""Derivatives of expressions agree with JAX in float64: for every row of elementwise.def that JAX has, also
at special arguments, and for compositions. Skipped without JAX."""
import itertools
import pathlib
import re

import numpy as np
import pytest

import collet

jax = pytest.importorskip("jax")
jnp, special = jax.numpy, jax.scipy.special
jax.config.update("jax_enable_x64", True)

ROWS = pathlib.Path(__file__).parents[3] / "include/collet/ops/elementwise.def"
NAMES = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative",
         "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}
OURS = {"fma": lambda a, b, c: a * b + c, "expit": jax.nn.sigmoid, "erf": special.erf,
        "erfc": special.erfc, "pow": jnp.power, "clip": lambda a, b, c: jnp.minimum(jnp.maximum(a, b), c),
        "float64": lambda a: a, "float32": lambda a: a.astype(jnp.float32)}
# The functions CORNERS are not compared at corners, where JAX returns the mean of both one-sided derivatives. The
# functions ORDINARY are not compared at special arguments: JAX's derivatives are wrong if they overflow or underflow.
CORNERS = {"abs", "clip", "maximum", "minimum"}
ORDINARY = {"div", "hypot", "remainder"}
SPECIAL = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 1e-300, -1e-300, 1e-9, 30.0, -30.0, 50.0, -50.0,
           800.0, -800.0, 1e200, -1e200]
COMPOSITIONS = [
    "a*b + 3*a - b/2", "where(a < b, a*b + 2*exp(c), 0)", "exp(-a*a) * sin(b)**2 + tanh(c)/(1 + a*a)",
    "a**3 - 2**b + a**0.5 + (a + b)**c", "sqrt(a*a + b*b + c*c)", "1/sqrt(a*a + b*b + c*c)**3",
    "a**2 + a**1 + a**0", "4*(a**-12 - a**-6)", "log(1 + exp(a))", "logaddexp(a, b) - logaddexp(b, c)",
    "log(expit(a)) + log(1 - expit(b))", "a*erf(a) + exp(-a*a)/sqrt(pi)", "0.5*a*(1 + erf(a/sqrt(2)))",
    "a*expit(1.702*a)", "0.5*a*(1 + tanh(0.797*(a + 0.0447*a**3)))", "where(a > 1, a - 0.5, 0.5*a*a)",
    "maximum(a, b)*minimum(b, c)", "clip(a*b, 0.7, 1.4)", "abs(a - b)*sign(c)", "hypot(a, hypot(b, c))",
    "atan2(a*b, c) + atan2(c, a)", "asin(a/4)*acos(b/4) + atan(c)", "sinh(a)/cosh(b) - asinh(c)",
    "acosh(1 + a*a) + atanh(b/4)", "cbrt(a)*exp2(b)*log2(c)", "log1p(a)*expm1(b)*log10(c)",
    "cos(sin(cos(a)*b)*c)", "tan(a/4)/(1 + tan(b/4)**2)", "reciprocal(a) + square(b) - (-c)",
    "a % b + a // b", "fma(a, b, fma(b, c, a))", "floor(a) + ceil(b)*trunc(c) + a*round(b)",
    "copysign(a, b - 1)*a", "where(isfinite(a/b), a/b, c)", "exp(a*log(b))", "((a*b + c)*a + b)*c + a",
    "(a > b)*a + (a <= b)*b", "float64(a)*a", "a*a*a*a/(b*b*c)", "1 - a*b*exp(-b*c)",
]


def rows():
    """(name, number of inputs, lowest, highest argument) of each row with a derivative and a floating-point dtype."""
    text = ROWS.read_text(encoding="utf-8")
    found = re.findall(r"^COLLET_ELEMENTWISE\(\w+, \d+, (\w+), (\d), \w+, (\w+), \w+,\s*((?:\"[^\"]*\"\s*)+), "
                       r"([-.\d]+), ([-.\d]+),", text, re.MULTILINE)
    return [(name, int(count), float(low), float(high))
            for name, count, kinds, derivative, low, high in found
            if derivative != '"-"' and re.search("[FW]", kinds)]


def differences(text, values, function, tolerance):
    """One line of text for each argument at which Collet's and JAX's derivatives of the expression `text` differ."""
    expression = collet.Expression(text)
    lines = []
    for k, name in enumerate(expression.inputs):
        ours = expression.gradient(name)(**values)
        theirs = np.asarray(jax.vmap(jax.grad(function, argnums=k))(
            *[values[n] for n in expression.inputs]))
        with np.errstate(all="ignore"):
            same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | \
                (abs(ours - theirs) <= tolerance * abs(theirs) + 1e-15)
        for i in np.flatnonzero(~same):
            at = ", ".join(f"{n} = {values[n][i]:g}" for n in expression.inputs)
            lines.append(f"{text} by {name} at {at}: {ours[i]:.17g}, JAX {theirs[i]:.17g}")
    return lines


def float_of(function):
    """The function with a float64 result."""
    return lambda *arguments: jnp.asarray(function(*arguments)).astype(float)


def functions():
    """(row, JAX's function) of each row that JAX has."""
    for row in rows():
        function = OURS.get(row[0]) or getattr(jnp, NAMES.get(row[0], row[0]), None)
        if function is not None and row[0] != "nextafter":
            yield row, float_of(function)


def test_functions():
    generator = np.random.default_rng(1)
    wrong, tried = [], 0
    for (name, count, low, high), function in functions():
        inputs = "abc"[:count]
        text = f"float64({name}({', '.join(inputs)}))"
        ordinary = {n: generator.uniform(low, high, 200) for n in inputs}
        grid = np.array(list(itertools.product(SPECIAL, repeat=count)))
        if name == "sinc":  # near 0 all digits of JAX's result are wrong; test_rules.py tests there
            ordinary["a"] = ordinary["a"][abs(ordinary["a"]) > 0.1]
            grid = grid[(abs(grid[:, 0]) > 0.1) | (grid[:, 0] == 0)]
        wrong += differences(text, ordinary, function, 1e-13)
        if name in CORNERS:
            grid = np.array([p for p in grid if len({0.0, *p}) == count + 1])
        if name not in ORDINARY:
            arguments = {n: grid[:, k].copy() for k, n in enumerate(inputs)}
            wrong += differences(text, arguments, function, 1e-12)
        tried += 1
    assert not wrong, "\n".join(wrong)
    assert tried > 55


@pytest.mark.parametrize("text", COMPOSITIONS)
def test_compositions(text):
    generator = np.random.default_rng(1)
    names = {n: getattr(jnp, n) for n in dir(jnp)} | OURS | {"pi": np.pi, "atan2": jnp.arctan2}
    inputs = collet.Expression(text).inputs
    function = eval(f"lambda {', '.join(inputs)}: {text}", names)
    values = {n: generator.uniform(0.3, 1.9, 200) for n in inputs}
    assert not differences(text, values, float_of(function), 1e-12)
