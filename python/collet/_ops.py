# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_op.py
"""Functions for ops, with their docstrings, made from libcore's descriptions."""

import functools
from collections import namedtuple

from . import _core

_DTYPES = {**_core.dtype_letters(), "*": "any real", "=": "as out"}
RESULT = "_result"  # the suffix of the names of result types


def names():
    """The names of all ops, including ops of plugins."""
    return _core.op_names()


def describe(name):
    """libcore's description of an op, as a dict."""
    return _core.op_describe(name)


def _axes(shapes):
    """The axes of each operand, outputs first, as ops.def writes them."""
    for word in shapes.split():
        if word != ":":
            axes = word.rstrip("?").rpartition("[")[2].strip("()]")
            yield "(" + axes.replace(",", ", ") + ")"


def _default(field):
    value = field["default"]
    if field["kind"] == "flag":
        return str(bool(value))
    if field["kind"] == "choice":
        return repr(field["choices"].split()[int(value)])
    if field["kind"] == "number":
        return repr(value if field["dtype"] in ("float32", "float64") else int(value))
    return "None"


def _signature(name, inputs, fields):
    last = max((i for i, o in enumerate(inputs) if not o["optional"]), default=-1)
    words = [o["name"] + ("=None" if i > last else "") for i, o in enumerate(inputs)] + ["*"]
    words += [f["name"] for f in fields if f["kind"] == "scalar"]
    words += [f["name"] + "=" + _default(f) for f in fields if f["kind"] != "scalar"]
    words += ["out=None", "dtype=None", "shape=None"]
    return f"{name.rpartition('.')[2]}({', '.join(words)})"


def _field_text(field):
    kind = field["kind"]
    words = {"flag": "bool", "axes": "int or sequence of ints, default all axes",
             "permutation": "sequence of ints, default reversed", "scalar": "number",
             "choice": " | ".join(repr(c) for c in (field["choices"] or "").split())}
    return f"{field['name']} : {words.get(kind, field['dtype'])}\n    {field['meaning']}\n"


def _dtypes(sigs):
    for sig in sigs.split():
        outs, _, ins = sig.partition(":")
        yield f"    {', '.join(_DTYPES[c] for c in outs)} of ({', '.join(_DTYPES[c] for c in ins)})"


def _doc(about, fields):
    operands = list(zip(about["operands"], _axes(about["shapes"])))
    lines = [_signature(about["name"], [o for o, _ in operands if not o["output"]], fields), "--\n",
             (about["summary"] or f"The op {about['name']} of a plugin.") + "\n", "Parameters",
             "----------"]
    for operand, axes in operands:
        if not operand["output"]:
            absent = ", may be None" if operand["optional"] else ""
            lines.append(f"{operand['name']} : array, shape {axes}{absent}")
    lines += [_field_text(f).rstrip("\n") for f in fields] + ["\nReturns", "-------"]
    for operand, axes in operands:
        if operand["output"]:
            absent = ", None if the inputs do not allow it" if operand["optional"] else ""
            lines.append(f"{operand['name']} : array, shape {axes}{absent}")
    lines += ["\nRaises", "------", "collet.ShapeError, collet.DtypeError, collet.InvalidError",
              "    the arguments do not fit", "\nDtypes of outputs and inputs:"]
    return "\n".join(lines + list(_dtypes(about["sigs"])))


def _type_name(name):
    return name.replace(".", "_") + RESULT


@functools.cache
def make(name):
    """The function of an op, and the type of its results. The type is None if the op has one output."""
    about = _core.op_describe(name)
    outputs = [o["name"] for o in about["operands"] if o["output"]]
    fields = [f for f in about["fields"] if f["kind"] != "rank"]
    result = None
    if len(outputs) > 1:
        result = namedtuple(_type_name(name), outputs, module="collet.op", rename=True)
    return _core.op_function(name, _doc(about, fields), result and result._make), result


class _Vendor:
    """The ops of a plugin whose names begin with `prefix`."""

    def __init__(self, prefix):
        self._prefix = prefix

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = find(f"{self._prefix}.{name}")
        setattr(self, name, found)
        return found

    def __dir__(self):
        """For each op whose name begins with the prefix, the next part of the name; only ops of opened plugins."""
        start = self._prefix + "."
        return sorted({n[len(start):].partition(".")[0] for n in names() if n.startswith(start)})


def get(name):
    """The function of the op with this name: get("vendor.op"). Opens the plugin that has the op."""
    return make(name)[0]


def owner(name):
    """`__self__` of an op's function; unpickling a function calls this."""
    return get(name).__self__


def find(name):
    """The function of an op, or an object with the ops of a plugin whose names begin with `name`. A
    plugin's ops are known after the plugin was opened."""
    known = names()
    if name not in known and (any(n.startswith(name + ".") for n in known) or
                              any(b["name"] == name for b in _core.backends())):
        return _Vendor(name)
    try:
        return get(name)
    except _core.NotFoundError as error:
        nearest = str(error).partition("; the nearest is ")[2]
        raise AttributeError(f"collet.op has no op '{name}'; " + (
            f"the nearest is {nearest}" if nearest else "dir(collet.op) lists them")) from None


def result_type(name):
    """The type of results with this name, for pickles."""
    for op in names():
        if _type_name(op) == name:
            return make(op)[1]
    raise AttributeError(name)
