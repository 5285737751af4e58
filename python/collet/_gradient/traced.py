# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_tracing.py
"""The members of traced arrays, the same as the members of collet.Array, and the handler that the C code
calls."""

import math
import operator

from .. import _core
from .._core import Array
from .._standard import protocols
from .._standard.operators import METHODS, NUMPY_METHODS, method, numpy_method
from . import rules
from .tape import KINDS, Batched, Differentiated, Key, Recorded, Traced, bottom, call, innermost

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
           "floordiv": "floor_divide", "mod": "remainder", "pow": "pow"}
_BITWISE = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
            "rshift": "bitwise_right_shift"}
_COMPARED = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


# ---- The handler


def handle(function, arguments, keywords):
    """Handles a call. function: an Expression, or the name of an elementwise function ("add") or an op ("op.add")."""
    if keywords.get("out") is not None:
        raise _core.UnsupportedError(f"{_name(function)} with out=, or x[...] = y, cannot store an array "
                                     "that collet.grad, vmap or jit follows: make a new array by collet.where, "
                                     "concat or stack")
    keywords = {n: v for n, v in keywords.items() if v is not None}
    found = innermost(arguments, innermost(keywords.values()))
    return found.handle(function, arguments, keywords, found)


def _name(function):
    return f"collet.{function}" if isinstance(function, str) else repr(function)


def _differentiate(function, arguments, keywords, found):
    if not isinstance(function, str):
        return rules.of_expression(function, arguments)
    if function.startswith("op."):
        return rules.of_op(function[3:], arguments, keywords)
    return call(function, arguments, keywords)


Differentiated.handle = staticmethod(_differentiate)
_core.set_tracer(KINDS, handle)


# ---- Operators


def _is_operand(value):
    return isinstance(value, (Traced, Array, bool, int, float, complex)) or hasattr(value, "__array_struct__")


def _binary(name):
    def forward(self, other):
        return call(name, (self, other), {}) if _is_operand(other) else NotImplemented

    def backward(self, other):
        return call(name, (other, self), {}) if _is_operand(other) else NotImplemented

    return forward, backward


def _compared(name, function):
    compare = getattr(operator, name)

    def compared(self, other):
        if not _is_operand(other):
            return NotImplemented
        a, b = bottom(self), bottom(other)
        return call(function, (a, b), {}) if isinstance(a, Traced) or isinstance(b, Traced) else compare(a, b)

    return compared


def _unary(name):
    return lambda self: call(name, (self,), {})


_REASONS = {
    Differentiated: " removes an array that collet.grad follows from the gradient: use functions of collet, or "
                    "collet.stop_gradient(x) if this is intended",
    Batched: " needs the value of an array that collet.vmap follows, and the value differs from row to row: use "
             "functions of collet, "
             "such as collet.where for if",
    Recorded: " needs the value of an array or a number that collet.jit follows, and the recording is for all values: "
              "use functions of collet, such as collet.where for if, or name the argument in static_argnums"}


def _refused(what):
    def raise_(self, *arguments, **keywords):
        raise TypeError(what + _REASONS[type(bottom(self)) if isinstance(bottom(self), Traced) else type(self)])

    return raise_


def _of_value(what, function):
    """A member that computes with the value, without a gradient. In functions of vmap and jit it raises TypeError."""
    refused = _refused(what)

    def member(self, *arguments):
        value = bottom(self)
        return refused(self) if isinstance(value, Traced) else function(value, *map(bottom, arguments))

    return member


def _in_place(self, *arguments):
    raise TypeError("x[...] = y: an array that collet.grad, vmap or jit follows cannot be written: collet.where, "
                    "concat and others make a new one")


def _reduction(name, order):
    places = order.split()

    def reduce(self, *arguments, **keywords):
        given = {**dict(zip(places, arguments)), **keywords}
        if len(arguments) > len(places) or given.keys() - set(places) or given.get("out") is not None:
            raise TypeError(f"{name} of an array that collet.grad, vmap or jit follows takes {', '.join(places)}, no "
                            "out")
        given = {("correction" if n == "ddof" else n): v for n, v in given.items() if n != "out"}
        return call(name, (self,), {n: v for n, v in given.items() if v is not None})

    return reduce


def _shape(arguments):
    return arguments[0] if len(arguments) == 1 and not isinstance(arguments[0], int) else arguments


def _transpose(self, *axes):
    axes = _shape(axes)
    return call("permute_dims", (self, tuple(axes) if axes else tuple(range(self.ndim))[::-1]), {})


def _swapaxes(self, axis1, axis2):
    order = list(range(self.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return call("permute_dims", (self, order), {})


def _length(self):
    if not self.shape:
        raise TypeError("an array without axes has no length")
    return self.shape[0]


def _items(self):
    return (self[i] for i in range(len(self)))


def _astype(self, dtype, copy=True):
    return call("astype", (self, dtype), {})


def _members():
    of_value = ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "device")
    members = {n: property(lambda self, n=n: getattr(self.value, n)) for n in of_value}
    for name, function in {**_BINARY, **_BITWISE}.items():
        members[f"__{name}__"], members[f"__r{name}__"] = _binary(function)
    for name, function in _COMPARED.items():
        members[f"__{name}__"] = _compared(name, function)
    for name, function in {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}.items():
        members[f"__{name}__"] = _unary(function)
    for name, what in {"float": "float(x)", "int": "int(x)", "complex": "complex(x)", "index": "an index",
                       "array": "NumPy, or a function that has no derivative,", "dlpack": "DLPack"}.items():
        members[f"__{name}__"] = _refused(what)
    for name in ("item", "to_numpy", "tolist", "tobytes", "prefetch", "to_device"):
        members[name] = _refused(f"x.{name}()")
    for name in ("sum", "prod", "mean"):
        members[name] = _reduction(name, "axis dtype out keepdims")
    for name in ("var", "std"):
        members[name] = _reduction(name, "axis dtype out ddof keepdims")
    for name in ("max", "min", "any", "all", "argmax", "argmin"):
        members[name] = _reduction(name, "axis out keepdims")
    for name in METHODS:
        members[name] = method(name, call)
    for name in NUMPY_METHODS:
        members[name] = numpy_method(name)
    for name in ("put", "sort", "partition"):
        members[name] = _in_place
    return members


_MEMBERS = {
    "__matmul__": lambda self, other: call("matmul", (self, other), {}),
    "__rmatmul__": lambda self, other: call("matmul", (other, self), {}),
    "__getitem__": lambda self, key: call("getitem", (self, Key(key)), {}),
    "__setitem__": _in_place, "__hash__": object.__hash__, "__len__": _length, "__iter__": _items,
    "__bool__": _of_value("bool(x), as in if x:,", bool),
    "__contains__": _of_value("value in x", lambda x, value: value in x),
    "__round__": lambda self, ndigits=None: self.round(ndigits or 0),
    "__divmod__": lambda self, other: (self // other, self % other),
    "__rdivmod__": lambda self, other: (other // self, other % self),
    "__format__": _of_value("format(x)", format),
    "__repr__": lambda self: f"Traced({bottom(self.value)!r})",
    "__str__": lambda self: f"Traced({bottom(self.value)})",
    "__array_ufunc__": protocols.ufunc, "__array_function__": protocols.function,
    "__array_namespace__": lambda self, /, *, api_version=None: self.value.__array_namespace__(
        api_version=api_version),
    "__dlpack_device__": lambda self: self.value.__dlpack_device__(),
    "T": property(_transpose), "mT": property(_unary("matrix_transpose")),
    "real": property(_unary("real")), "imag": property(_unary("imag")), "transpose": _transpose,
    "reshape": lambda self, *shape: call("reshape", (self, _shape(shape)), {}),
    "broadcast_to": lambda self, *shape: call("broadcast_to", (self, _shape(shape)), {}),
    **dict.fromkeys(("ravel", "flatten"), lambda self: call("reshape", (self, -1), {})),
    "squeeze": lambda self, axis=None: call("squeeze", (self, axis), {}), "swapaxes": _swapaxes,
    "astype": _astype, "copy": lambda self: self, "fill": _in_place,
    "nonzero": lambda self: call("nonzero", (self,), {}),
    "__copy__": lambda self: self, "__deepcopy__": lambda self, memo: self,
}

for _name_of, _member in {**_members(), **_MEMBERS}.items():
    setattr(Traced, _name_of, _member)

# ---- Batched: one row of the value

for _name_of, _property in {
        "shape": lambda self: self.value.shape[1:], "ndim": lambda self: self.value.ndim - 1,
        "size": lambda self: math.prod(self.shape), "nbytes": lambda self: self.size * self.itemsize}.items():
    setattr(Batched, _name_of, property(_property))
