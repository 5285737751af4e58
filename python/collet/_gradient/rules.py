# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules.py
"""Helpers of all rules, and the rules for expressions, indexing and calls of ops."""

import ast
import functools
import importlib
import re

import numpy as np

from .. import _core, _ops, fft, linalg, op, random, special
from .. import functions as f
from .._array import elementwise
from .._array.creation import asarray, zeros
from .._standard import indexing, namespace
from . import tape
from .tape import COMPOSITES, RULES, Key, innermost, record, refuse

_FAMILIES = ("linalg", "fft", "md", "special", "ternary")
# Functions whose results have a shape that depends on values.
BY_VALUES = frozenset(("argwhere", "flatnonzero", "intersect1d", "linalg.null_space", "linalg.orth", "nonzero", "setdiff1d", "union1d", "unique_all", "unique_counts",
                       "unique_inverse", "unique_values"))
_MODULES = {"": namespace, "fft": fft, "linalg": linalg, "random": random, "special": special}


def load(name):
    """Imports the rules for the module that defines the function."""
    family = name.partition(".")[0]
    if family in _FAMILIES:
        importlib.import_module(f".{family}_rules", __package__)


def function(name):
    """The function that is recorded as `name`."""
    family, _, member = name.rpartition(".")
    if name in INTERNAL:
        return INTERNAL[name]
    if family in ("md", "ternary"):  # modules that load libraries
        from .. import md, ternary
        return getattr(md if family == "md" else ternary, member)
    return getattr(_MODULES[family], member)


def composed(name):
    """The function without its wrapper, if it calls functions that have rules; else None."""
    family, _, member = name.rpartition(".")
    if family == "special" or not family and name in vars(f) and name not in vars(f._primitives):
        return getattr(_MODULES[family] if family else f, member).__wrapped__
    return None


def rule(*names):
    """Registers the decorated function as the rule of the named functions. A rule takes the values of the
    arguments and returns (result, backward). backward is a tuple with a function for each argument, or one
    function that returns the gradients of all arguments."""
    def add(function):
        for name in names:
            RULES[name] = function
        return function

    return add


def composite(*names):
    """Registers the decorated function as a replacement of the named functions. It computes the same results with
    functions that have rules."""
    def add(function):
        for name in names:
            COMPOSITES[name] = function
        return function

    return add


E_ = elementwise.functions  # the elementwise functions by name


def shape_of(x):
    return getattr(x, "shape", ())


def fit(gradient, shape, dtype):
    """Sums the gradient over the axes that were broadcast, and converts it to the argument's dtype."""
    if gradient.shape != shape:
        lead = len(gradient.shape) - len(shape)
        axes = (*range(lead), *(lead + i for i, n in enumerate(shape) if n == 1 != gradient.shape[lead + i]))
        if axes:
            gradient = f.sum(gradient, axis=axes if len(axes) > 1 else axes[0])
        gradient = f.reshape(gradient, shape) if gradient.shape != shape else gradient
    return cast(gradient, dtype)


def cast(gradient, dtype):
    """Converts to another dtype. For a real argument: takes the real part of complex numbers."""
    if gradient.dtype == dtype:
        return gradient
    if gradient.dtype.kind == "c" and dtype.kind != "c":
        gradient = E_["real"](gradient)
    return f_astype(gradient, dtype)


def f_astype(x, dtype):
    return x if x.dtype == dtype else x.astype(dtype)


def like(x):
    """Returns the shape and dtype of an argument, which `fit` needs."""
    return shape_of(x), getattr(x, "dtype", None)


def fitted(x, back):
    """Returns the backward function, with its result converted to the shape and dtype of the argument. None if the
    argument is a number."""
    shape, dtype = like(x)
    if dtype is None or dtype.kind not in "fcV":
        return None
    return lambda g: fit(back(g), shape, dtype)


def conj(x):
    return E_["conj"](x) if x.dtype.kind == "c" else x


def is_complex(x):
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


# ---- Expressions


def text_of(expression):
    try:
        return expression.__reduce__()[1][0]
    except TypeError:
        return None  # the Expression was built by calls, without a text


@functools.lru_cache(1024)
def _derivative_of(text, i):
    return _core.Expression(text).gradient(i)


def _derivative(expression, i):
    text = text_of(expression)
    return expression.gradient(i) if text is None else _derivative_of(text, i)


def by_expression(expression, forward, values, name):
    made = forward(*values)
    if isinstance(made, tuple):
        refuse(f"{name}, which has several outputs,")
    if made.dtype.kind not in "fcV":
        return made, ()
    # libcore converts a derivative to its operand's dtype; a real operand would drop the imaginary part
    given = [f_astype(x, made.dtype) if is_complex(made) and tape.floating(x) else x for x in values]
    backs = []
    for i, x in enumerate(values):
        if not tape.floating(x):
            backs.append(None)
            continue
        derivative = _derivative(expression, i)
        backs.append(fitted(x, lambda g, d=derivative: E_["multiply"](g, d(*given))))
    return made, tuple(backs)


_REDUCTIONS = ("sum", "prod", "mean", "min", "max", "var", "std")


def _reduction(expression):
    """Returns (reduction, the text inside, axis and keepdims) of an expression whose outermost call is a reduction;
    None for other expressions."""
    text = text_of(expression)
    if text is None:
        return None
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or \
            getattr(call.func, "id", None) not in _REDUCTIONS:
        return None
    return call.func.id, ast.unparse(call.args[0]), {k.arg: ast.literal_eval(k.value) for k in call.keywords}


@functools.cache
def _names():
    """The functions by the texts of their expressions."""
    return {elementwise.expression(name): name for name in elementwise.names()}


def _check_analytic(expression, arguments):
    """Raises for functions without a complex derivative. libcore would differentiate them as real
    functions."""
    text = text_of(expression)
    if any(map(is_complex, arguments)) and (text is None or _UNEVEN.search(text)):
        refuse("an expression of complex arguments " +
               ("that was built by calls" if text is None else f"with abs or sign, {text!r},"))


_UNEVEN = re.compile(r"\b(abs|sign)\b")


def by_reduction(expression, arguments):
    """Computes an expression whose outermost call is a reduction: first the expression inside of the reduction, then
    the reduction by its function. Returns None for other expressions."""
    found = _reduction(expression)
    if found is None:
        return None
    name, text, keywords = found
    inner = _core.Expression(text)
    given = dict(zip(expression.inputs, arguments))
    return tape.call(name, (inner(*(given[n] for n in inner.inputs)),), keywords)


def of_expression(expression, arguments):
    name = _names().get(text_of(expression))
    if name:
        return tape.call(name, arguments, {})
    _check_analytic(expression, arguments)
    reduced = by_reduction(expression, arguments)
    if reduced is not None:
        return reduced

    def apply(*values):
        return by_expression(expression, expression, values, f"the expression {text_of(expression)!r}")

    made = record(apply, arguments, {})
    if text_of(expression) is None and made.shape != np.broadcast_shapes(*map(shape_of, arguments)):
        refuse("an expression that was built by calls and reduces")
    return made


# ---- Indexing


INTERNAL = {"getitem": lambda x, key: x[key.key], "unindex": lambda *arguments: unindex(*arguments), "asarray": asarray}


def _is_basic(key):
    return not any(map(indexing._is_advanced, key if isinstance(key, tuple) else (key,)))


@rule("getitem")
def _getitem(x, key):
    shape = x.shape
    return x[key.key], (lambda g: unindex(g, key, shape), None)


def unindex(g, key, shape):
    """An array of zeros of that shape, with g added at the elements that the key selects."""
    if innermost((g, key)) is not None:
        return tape.call("unindex", (g, key, shape), {})
    if _is_basic(key.key):
        out = zeros(shape, g.dtype)
        out[key.key] = g
        return out
    dtype, work = g.dtype, g if g.dtype.itemsize >= 4 else f_astype(g, np.dtype("f4"))
    out = zeros(shape, work.dtype)
    if g.size:
        positions = indexing.positions(out, key.key).reshape(-1)
        out = op.scatter_add(out.reshape(-1), positions, work.reshape(-1)).out.reshape(shape)
    return f_astype(out, dtype)


@rule("unindex")
def _unindex_rule(g, key, shape):
    return unindex(g, key, shape), (lambda h: h[key.key], None, None)


@rule("astype")
def _astype(x, dtype, /, *, copy=True, device=None):
    was = x.dtype
    return namespace.astype(x, dtype, copy=copy, device=device), (lambda g: cast(g, was), None)


# ---- Ops

_NAMES = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "copy": "positive"}
_REDUCED = (*_REDUCTIONS, "any", "all", "argmin", "argmax", "count_nonzero")


def adapter(name, keywords):
    """A function that computes a call of collet.op, with these keywords, by functions of the namespace; None if
    there is none."""
    public = _NAMES.get(name, name)
    if public in elementwise.names() and keywords.keys() <= {"min", "max"}:
        return lambda *arguments, **keywords: tape.call(public, arguments, keywords)
    return _ADAPTERS.get(name)


def of_op(name, arguments, keywords):
    """Computes a call of collet.op with differentiated arguments."""
    found = adapter(name, keywords)
    if found is None:
        load("md." + name)
        found = COMPOSITES.get("op." + name)
    if found is None:
        refuse(f"collet.op.{name}")
    return found(*arguments, **keywords)


def _reduced(name):
    def reduce(a, *, axes=None, **keywords):
        return tape.call(name, (a,), {"axis": axes, **keywords})

    return reduce


def _along_last(name):
    def apply(a, *, axis=-1, **keywords):
        return tape.call(name, (a,), {"axis": axis, **keywords})

    return apply


def _copy(a, *, dtype=None):
    return a if dtype is None else tape.call("astype", (a, dtype), {})


def _scatter_add(a, index, values):
    added = a + unindex(values, Key((Ellipsis, index)), a.shape)
    return _outputs("scatter_add", added)


def _outputs(name, *results):
    """The op's outputs: the results, and 0 for info. If info is not 0, the public function has raised an exception."""
    return _ops.make(name)[1]._make((*results, zeros((), "int32")))


def _with_info(name, public, **keywords):
    def apply(*arguments):
        made = tape.call(public, arguments, keywords)
        return _outputs(name, *(made if isinstance(made, tuple) else (made,)))

    return apply


_ADAPTERS = {
    **{n: _reduced(n) for n in _REDUCED},
    **{n: _along_last(n) for n in ("sort", "argsort", "cumulative_sum", "cumulative_prod")},
    "copy": _copy,
    **dict.fromkeys(("matmul", "matvec"), lambda a, b: tape.call("matmul", (a, b), {})),
    "dot": lambda a, b: tape.call("vecdot", (conj(a), b), {}),
    "axpy": lambda x, y, *, alpha: alpha * x + y,
    "transpose": lambda a, *, perm=None: tape.call(
        "permute_dims", (a, range(a.ndim)[::-1] if perm is None else perm), {}),
    "fftshift": lambda a, *, axes=None, inverse=False: tape.call(
        "fft.ifftshift" if inverse else "fft.fftshift", (a,), {"axes": axes}),
    "solve": _with_info("solve", "linalg.solve"), "eigh": _with_info("eigh", "linalg.eigh"),
    "cholesky": _with_info("cholesky", "linalg.cholesky"),
    "take_along_axis": _with_info("take_along_axis", "take_along_axis"),
    "take": _with_info("take", "take", axis=-1), "scatter_add": _scatter_add,
}
