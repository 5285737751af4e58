# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_jit.py
"""The recording of a function for jit. The function runs once, with Recorded arrays; each call with one of them becomes a
line of a Python program, which computes the same calls again for other values."""

import functools
import inspect
import operator

import numpy as np

from .. import _core, _ops
from .. import functions as f
from .._array import elementwise
from . import lowering, rules
from .tape import Key, Recorded, Traced, innermost, is_number
from .trees import leaves, mapped, node, rebuilt

# Parameters whose values determine neither shapes nor the control flow of a function; only these can be recorded.
_DATA = set("A a a1 a2 append ar1 ar2 arr arrays b bins c_and_lower choicelist condition condlist default f fill_value fp g high indices key "
            "left loc low lu_and_piv m max min offset operands p period prepend q right rtol scale seed shift sorter tup v value values "
            "weights x x1 x2 x3 xp y".split())
_ENDS = {("linspace", "start"), ("linspace", "stop")}
_SMALL = 1024
_FILLED = {"ones_like", "zeros_like"}  # Their results depend only on the shape. Small results are constants.
_STATIC = {"broadcast_shapes", "can_cast", "finfo", "result_type"}  # The results of these functions are not arrays.
# The functions of Python's numbers, by the names of the functions in the module operator.
_OF_NUMBERS = {
    "abs": abs, "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "bitwise_invert": operator.invert, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge}


def _copied_array(x):
    """A copy with the layout of the array, because the bits of products depend on it. Repeated elements are copied once."""
    if not x.ndim:
        return x.copy()
    order = sorted(range(x.ndim), key=lambda i: -abs(x.strides[i]))
    once = x[tuple(slice(1) if n == 0 else slice(None) for n in x.strides)]
    made = f.permute_dims(f.permute_dims(once, order).copy(), sorted(range(x.ndim), key=order.__getitem__))
    return made if made.shape == x.shape else f.broadcast_to(made, x.shape)


def _copied(value):
    """A constant. Its arrays are copied, because the function or its caller may write to them later."""
    if isinstance(value, (_core.Array, np.ndarray)):
        return _copied_array(value)
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    if type(value) is Key:
        return Key(_copied(value.key))
    return value


def _texts(lines, text=operator.attrgetter("text")):
    """The lines of text, and lines that free memory."""
    return [part for line in lines for part in (text(line), f"{' = '.join(line.freed)} = None")[:1 + bool(line.freed)]]


def _function(name, parameters, body, scope):
    """The function of these lines of text."""
    exec(compile("\n    ".join([f"def {name}({', '.join(parameters)}):", *body]), "<recorded by collet.jit>", "exec"), scope)
    return scope.pop(name)


def _computed(function, arguments, keywords):
    """Like _core.probe, for a call that no device replays."""
    return function(*arguments, **keywords), 0


class Program:
    """The calls that a function makes with recorded arrays."""

    def __init__(self, trace):
        self.of_trace, self.open, self.backend = trace, True, _core.get_backend()
        self.lines = []
        self.specs = {}  # The dtypes and shapes of recorded arrays, by name.
        self.names = {"Key": Key}  # The functions and constants of the lines.
        self.count = 0

    def argument(self, value):
        self.count += 1
        return self._recorded(value, f"a{self.count}")

    def _recorded(self, value, name):
        if type(value) is _core.Array:
            self.specs[name] = value._dtype, value.shape
        return Recorded(value, self.of_trace, self, name)

    # ---- The text of values

    def constant(self, value, kind="k"):
        name = f"{kind}{len(self.names)}"
        self.names[name] = value
        return name

    def text(self, value, reads):
        """The Python expression for a value. Appends the names of recorded arrays to `reads`."""
        kind = type(value)
        if kind is Recorded and value.program is self:
            reads.append(value.name)
            return value.name
        if isinstance(value, Traced):
            raise _core.UnsupportedError("jit: the function uses an array that another transform follows and that is not its "
                                         "argument: make it an argument")
        if innermost((value,)) is None:
            return self.constant(_copied(value))
        if kind is Key:
            return f"Key({self.text(value.key, reads)})"
        parts = [self.text(v, reads) for v in value]
        return f"({', '.join(parts)},)" if kind is tuple else f"[{', '.join(parts)}]"

    def value(self, value):
        """The value that a call gets while the function is recorded."""
        kind = type(value)
        if kind is Recorded:
            return value.value
        if kind is Key:
            return Key(self.value(value.key))
        return kind(map(self.value, value)) if kind in (tuple, list) else value

    def _assigned(self, made, names):
        """The target of an assignment and the recorded result. Appends the names to `names`."""
        if isinstance(made, (_core.Array, np.ndarray, np.generic)) or type(made) in (bool, int, float, complex):
            self.count += 1
            names.append(f"s{self.count}")
            return names[-1], self._recorded(made, names[-1])
        if isinstance(made, (tuple, list)):
            parts = [self._assigned(m, names) for m in made]
            found = [p[1] for p in parts]
            build = getattr(type(made), "_make", type(made))
            return f"({''.join(p[0] + ', ' for p in parts)})", build(found)
        return "_", made

    # ---- Recording

    def call(self, function, arguments, keywords, name=""):
        """Computes and records a call. name: the name of a public function."""
        if not self.open:
            raise _core.UnsupportedError("jit: an array of a recording that has ended: the function stored it somewhere, such "
                                         "as in a global variable; return it instead")
        if _core.get_backend() != self.backend:
            raise _core.UnsupportedError(f"jit: the function chooses the backend {_core.get_backend()!r} and was called with "
                                         f"{self.backend!r}: choose it outside, around the calls")
        reads, names = [], []
        indexes = function is rules.INTERNAL["getitem"]
        given = [self.text(a.key if indexes and type(a) is Key else a, reads) for a in arguments]
        named = {n: self.text(v, reads) for n, v in keywords.items()}
        values = [*map(self.value, arguments)]
        changing = any(n not in self.specs for n in reads)
        probed = not changing and _core.at_once() is not True
        made, found = (_core.probe if probed else _computed)(function, (*values,), {n: self.value(v) for n, v in keywords.items()})
        step = lowering.step(name, values, given, keywords, made) if name else None
        captured = reads if found else None
        if changing and not keywords:
            captured = lowering.with_numbers(name, values, given, made)
        if indexes:
            text = f"{given[0]}[{given[1]}]"
            if type(arguments[0]) is not Recorded:  # a view of a constant must not leave the program
                made, text = made.copy(), text + ".copy()"
        else:
            text = f"{self.constant(function, 'f')}({', '.join([*given, *(f'{n}={t}' for n, t in named.items())])})"
        shares = found == 2
        target, found = self._assigned(made, names)
        self.lines.append(lowering.Line(names, reads, f"{target} = {text}", step, captured, shares))
        return found

    def _replayed(self, group, results):
        """The lines of text for lines that libcore replays. It returns None for arguments that it cannot compute at once."""
        inputs, function = lowering.recording(group, self.names, self.specs, results)
        dead = {n for line in group for n in line.freed}.intersection(inputs)
        return [f"made = {self.constant(function, 'r')}({', '.join(inputs)})", "if made is None:",
                *("    " + text for text in _texts(group)),
                "else:", f"    {''.join(n + ', ' for n in results)} = made", f"    {' = '.join(['made', *sorted(dead)])} = None"]

    def _enqueued(self, group, results, scope):
        """The lines of text for lines that libcore replays on a device."""
        made = {line.names[0] for line in group}
        inputs = {operand: None if type(operand) is str else operand[1] for line in group for operand in line.captured
                  if operand not in made}
        body = _texts(group, lowering.Line.replayed_text)
        function = _function("lines", map(lowering.parameter, inputs), [*body, f"return {', '.join(results)},"], scope)
        given = [operand if type(operand) is str else operand[0] for operand in inputs]
        dead = {n for line in group for n in line.freed}.intersection(given)
        replay = self.constant(_core.replaying(function, [*inputs.values()]), "r")
        return [f"{', '.join(results)}, = {replay}({', '.join(given)})", *([f"{' = '.join(sorted(dead))} = None"] if dead else [])]

    def _body(self, lines, returned):
        """The lines of text of a program."""
        if _core.at_once() is None:  # The backend is chosen when something is computed.
            _core.flush()
        if _core.at_once() is not False:
            return [text for group, needed in lowering.segments(lines, returned)
                    for text in (_texts(group) if needed is None else self._replayed(group, needed))]
        scope = {**self.names}  # without the functions that replay: their references would be a cycle
        return [text for group, needed in lowering.device_segments(lines, returned)
                for text in (_texts(group) if needed is None else self._enqueued(group, needed, scope))]

    def _tree(self, tree, parts):
        """The expression of a tree. parts: the expressions of its leaves."""
        kind = type(tree)
        inner = node(tree)
        if inner is None:
            return next(parts)
        if kind is dict:
            return "{" + ", ".join(f"{self.constant(key)}: {self._tree(child, parts)}" for key, child in tree.items()) + "}"
        if kind in (tuple, list):
            text = "".join(self._tree(child, parts) + ", " for child in tree)
            return f"({text})" if kind is tuple else f"[{text}]"
        count = len(leaves(tree))
        return f"rebuilt({self.constant(mapped(lambda _: 0, tree))}, [{', '.join(next(parts) for _ in range(count))}])"

    def finish(self, arguments, result):
        """The function of the arguments' values that computes the result."""
        self.open = False
        reads = []
        parts = []
        for leaf in leaves(result):
            text = self.text(leaf, reads)
            parts.append(text if type(leaf) is Recorded else f"copied({text})")
        live, lines = {*reads}, []
        for line in reversed(self.lines):
            if not live.intersection(line.names):
                continue  # nothing needs its results
            line.freed = [n for n in dict.fromkeys(line.reads) if n not in live and n[0] == "s"] + \
                [n for n in line.names if n not in live]
            lines.append(line)
            live.update(line.reads)
        self.lines = []
        body = self._body(lines[::-1], reads)
        text = self._tree(result, iter(parts))
        scope = {**self.names, "copied": _copied, "rebuilt": rebuilt}
        return _function("program", [a.name for a in arguments], [*body, f"return {text}"], scope)


@functools.lru_cache(1024)
def _signature(function):
    return inspect.signature(function)


def _refuse_values(name):
    raise _core.UnsupportedError(f"jit: collet.{name} makes a result whose shape depends on values: call it outside, or use "
                                 "collet.where")


def _refuse_parameter(name, parameter):
    raise _core.UnsupportedError(f"jit: {parameter} of collet.{name} has to be the same in every call of the recording: if "
                                 "it is an argument of the function, name it in static_argnums or static_argnames")


def _check(name, function, arguments, keywords):
    """Raises if recorded values decide the shape of the result, or which code of the function runs."""
    if name in rules.BY_VALUES or name == "bincount" and innermost(arguments[:1]) is not None:
        _refuse_values(name)
    for parameter, value in _signature(function).bind(*arguments, **keywords).arguments.items():
        if parameter not in _DATA and (name, parameter) not in _ENDS and innermost((value,)) is not None:
            _refuse_parameter(name, parameter)


def process(name, arguments, keywords, found):
    """Computes and records a call of the function `name`."""
    program = found.program
    if name in _OF_NUMBERS and all(map(is_number, arguments)):
        return program.call(_OF_NUMBERS[name], arguments, keywords)
    function = rules.function(name)
    if name in _STATIC or name in _FILLED and arguments[0].size <= _SMALL:
        return function(*map(program.value, arguments), **{n: program.value(v) for n, v in keywords.items()})
    if name == "getitem":
        if any(getattr(part, "dtype", None) == bool and isinstance(part, Traced) for part in arguments[1].parts):
            raise _core.UnsupportedError("jit: x[mask]: the number of elements depends on the values of the mask: use "
                                         "collet.where")
    elif name not in elementwise.names() and name not in rules.INTERNAL:
        _check(name, function, arguments, keywords)
    return program.call(function, arguments, keywords, name)


def handle(function, arguments, keywords, found):
    """Computes and records a call of an Expression, an elementwise function or an op."""
    if not isinstance(function, str):
        return found.program.call(function, arguments, keywords)
    if not function.startswith("op."):
        return found.program.call(rules.function(function), arguments, keywords, function)
    name = function[3:]
    kinds = {field["name"]: field["kind"] for field in _core.op_describe(name)["fields"]}
    for parameter, value in keywords.items():
        if innermost((value,)) is not None and kinds.get(parameter) not in ("scalar", "number"):
            _refuse_parameter(function, parameter)
    if name in ("compress", "nonzero"):
        _refuse_values(function)
    return found.program.call(_ops.get(name), arguments, keywords)


Recorded.process, Recorded.handle = staticmethod(process), staticmethod(handle)
