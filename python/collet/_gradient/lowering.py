# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_replay.py
"""Lines of a recording that libcore replays. On a CPU a line becomes a step if its function would compute the line's small arrays
at once by the same op (python/src/lazy/wait.c, python/src/calls/small.c), so that both ways have the same bits. On a device
the steps are what the lines compute when they run (python/src/lazy/replay.c)."""

import functools

from .. import _core, _ops
from .._array import elementwise
from .._array.creation import asarray
from .._array.conversion import REDUCTIONS

PERMUTE, RESHAPE, BROADCAST = range(1, 4)  # COLLET_VIEW_*
ANY, DENSE, NUMBER = range(3)  # kinds of inputs (python/src/calls/recording.h)

_WAITS = 1024       # Arrays of at least this number of elements wait, and are computed in one pass
_LIMIT = 128 << 10  # the most elements or multiplications of a small call
_WORK = 1 << 20     # the most elements or multiplications of all calls of a recording, which keep the GIL
_LEAST_CAPTURED = 2  # the fewest calls that a device replays
_LEAST = 3          # the fewest calls for which libcore makes a recording
_NUMBERS = {"float16": 65504.0, "float32": 3e38, "float64": float("inf")}  # that certainly fit. NumPy rounds numbers twice to bfloat16
_PRODUCTS = {(1, 1): "dot", (2, 1): "matvec", (2, 2): "matmul"}


class Step:
    """what: the name of an op, or a view. operands: names of values; or (name, dtype) for a number. extra: the parameters of
    an op, or the numbers of a view. dense: whether the operand of a view must have no gaps."""

    __slots__ = ("what", "operands", "extra", "made", "work", "dense")

    def __init__(self, what, operands, extra, made, work=0, dense=False):
        self.what, self.operands, self.extra, self.work, self.dense = what, operands, extra, work, dense
        self.made = made._dtype, made.shape


@functools.cache
def _dtypes(name):
    """The dtypes for which an elementwise function only calls the op `name`."""
    return frozenset(elementwise._same(_core.op_describe(name)))


def _is_ready(value):
    return type(value) is _core.Array and not _core.is_pending(value)


def _fits(number, dtype):
    if type(number) is int and abs(number) > 2**53:
        return False  # a call rounds the number to float64 first
    return type(number) in (int, float) and dtype in _NUMBERS and \
        (abs(number) <= _NUMBERS[dtype] or abs(number) == float("inf") or number != number)


def _elementwise(name, values, texts, made):
    if name == "pow":
        if len(values) != 2 or texts[1][0] != "k" or type(values[1]) not in (int, float) or values[1] != 2 or \
                getattr(values[0], "_dtype", "") not in ("float32", "float64"):
            return None
        name, values, texts = "multiply", [values[0]] * 2, [texts[0]] * 2
    op_name = elementwise._OPS.get(name, name)
    if op_name == "copy":  # `positive` may return its argument
        return None
    arrays = [v for v in values if type(v) is _core.Array]
    selected = arrays[1:] if name == "where" else arrays
    if not selected or made.size >= _WAITS or not all(map(_is_ready, arrays)) or any(a.size >= _WAITS for a in arrays):
        return None
    dtype = selected[0]._dtype
    if any(a._dtype != dtype for a in selected) or dtype not in _dtypes(op_name) or \
            name == "where" and (len(arrays) != 3 or arrays[0]._dtype != "bool"):
        return None
    if len(arrays) < len(values) and (len(values) != 2 or not all(
            type(v) is _core.Array or _fits(v, dtype) for v in values)):
        return None
    operands = [t if type(v) is _core.Array else (t, dtype) for v, t in zip(values, texts)]
    return Step(op_name, operands, {}, made, made.size)


def _product(values, texts, made):
    if len(values) != 2 or not all(map(_is_ready, values)):
        return None
    a, b = values
    which = _PRODUCTS.get((a.ndim, b.ndim))
    work = a.size * (b.shape[1] if which == "matmul" else 1)
    if not which or a._dtype != b._dtype or a._dtype not in ("float32", "float64") or max(work, a.size, b.size) > _LIMIT:
        return None
    return Step(which, texts, {}, made, work)


def _reduction(name, values, texts, keywords, made):
    x = values[0] if len(values) == 1 else None
    axis, keepdims = keywords.get("axis"), keywords.get("keepdims", False)
    correction = keywords.get("correction")
    if not _is_ready(x) or x._dtype not in ("float32", "float64") or not x.ndim or not 1 <= x.size <= _LIMIT or \
            not (axis is None or type(axis) is int) or type(keepdims) is not bool or \
            keywords.keys() - {"axis", "keepdims", "correction"} or \
            correction is not None and (name not in ("var", "std") or type(correction) not in (int, float)):
        return None
    extra = {"axes": range(x.ndim) if axis is None else axis, "keepdims": keepdims}
    if correction is not None:
        extra["correction"] = float(correction)
    return Step(name, texts, extra, made, x.size)


def _view(name, values, texts, made):
    x = values[0] if values else None
    if not _is_ready(x) or texts[0][0] == "k":
        return None
    if name == "matrix_transpose":
        axes = [*range(x.ndim)]
        axes[-2:] = axes[:-3:-1]
        return Step(PERMUTE, texts[:1], tuple(axes), made)
    if name == "permute_dims":
        axes = values[1] if len(values) == 2 else ()
        if len(axes) != x.ndim or not all(type(i) is int for i in axes):
            return None
        return Step(PERMUTE, texts[:1], tuple(i % x.ndim for i in axes), made)
    if name == "broadcast_to":
        return Step(BROADCAST, texts[:1], made.shape, made)
    return Step(RESHAPE, texts[:1], made.shape, made, dense=True)


_VIEWS = {"matrix_transpose", "permute_dims", "broadcast_to", "reshape", "expand_dims", "squeeze"}


def step(name, values, texts, keywords, made):
    """The step of a call, or None. values, texts: the arguments, and their expressions in the program. made: the
    result."""
    if type(made) is not _core.Array or any(t[0] not in "ask" for t in texts):
        return None
    if name in REDUCTIONS:
        return _reduction(name, values, texts, keywords, made)
    if name in _VIEWS:
        return _view(name, values, texts, made) if not keywords or name in ("expand_dims", "squeeze") else None
    if keywords:
        return None
    if name == "matmul":
        return _product(values, texts, made)
    return _elementwise(name, values, texts, made) if name in elementwise.names() else None


# ---- Lines that are replayed on a device

def parameter(operand):
    """The name of an operand in a function that a device replays."""
    return operand if type(operand) is str else "_".join(operand)


def with_numbers(name, values, texts, made):
    """The operands of a line that reads numbers which change, if a device may replay the line; else None. Such a number is
    (name, dtype)."""
    arrays = [v for v in values if type(v) is _core.Array]
    dtype = arrays[0]._dtype if arrays else ""
    if name not in elementwise.names() or (len(values), len(arrays)) != (2, 1) or type(made) is not _core.Array or \
            any(t[0] == "k" for t in texts) or dtype not in _dtypes(elementwise._OPS.get(name, name)) or \
            not all(_fits(v, dtype) for v in values if type(v) is not _core.Array):
        return None
    return [t if type(v) is _core.Array else (t, dtype) for v, t in zip(values, texts)]


def device_segments(lines, returned):
    """Like segments, for a device. A view that later lines need is made by its own line."""
    last = {name: i for i, line in enumerate(lines) for name in line.reads} | dict.fromkeys(returned, len(lines))
    apart, count = {i for i, line in enumerate(lines) if line.captured is None}, -1
    while len(apart) > count:
        count = len(apart)
        ends = [*sorted(apart), len(lines)]
        found = [(first + 1, end) for first, end in zip([-1, *ends], ends) if end > first + 1]
        apart.update(i for first, end in found for i in range(first, end)
                     if lines[i].shares and last[lines[i].names[0]] >= end)
    at = 0
    for first, end in found:
        if sum(not line.shares for line in lines[first:end]) >= _LEAST_CAPTURED:
            yield lines[at:first], None
            yield lines[first:end], [line.names[0] for line in lines[first:end] if last[line.names[0]] >= end]
            at = end
    yield lines[at:], None


# ---- Segments


class Line:
    """A line of a program. names: what it assigns. reads: what it reads. freed: names that are not needed afterwards. step:
    its Step, or None. captured: its operands that change, if a device may replay the line, or None. shares: whether it
    makes a view."""

    __slots__ = ("names", "reads", "text", "step", "captured", "shares", "freed")

    def __init__(self, names, reads, text, step, captured, shares):
        self.names, self.reads, self.text, self.step, self.freed = names, reads, text, step, ()
        self.captured, self.shares = captured, shares

    def replayed_text(self):
        """The text in a function that a device replays: a number is a parameter for each of its dtypes."""
        if all(type(operand) is str for operand in self.captured):
            return self.text
        return f"{self.text.partition('(')[0]}({', '.join(map(parameter, self.captured))})"


def _groups(lines, alone):
    """Successive lines with steps, as (first, end). alone: indices of lines that libcore cannot replay."""
    first, work, dense, inside = 0, 0, set(), set()
    for i, line in enumerate([*lines, None]):
        step = None if line is None or i in alone else line.step
        if step and step.dense and step.operands[0] in inside - dense:
            alone.add(i)
            step = None
        if step and work + step.work <= _WORK:
            work += step.work
        else:
            yield first, i
            first, work, dense, inside = i + (step is None), step.work if step else 0, set(), set()
        if step:
            inside.add(line.names[0])
            dense.update(line.names if step.dense or type(step.what) is str else ())


def segments(lines, returned):
    """Divides the lines of a program: yields (lines, results). If libcore replays the lines, results are their names that
    later lines need; else results is None."""
    last = {name: i for i, line in enumerate(lines) for name in line.reads} | dict.fromkeys(returned, len(lines))
    alone, count = set(), -1
    while len(alone) > count:  # a view that later lines need is made by its own line
        count = len(alone)
        found = [*_groups(lines, alone)]
        alone.update(i for first, end in found for i in range(first, end)
                     if type(lines[i].step.what) is int and last[lines[i].names[0]] >= end)
    at = 0
    for first, end in found:
        if sum(type(line.step.what) is str for line in lines[first:end]) >= _LEAST:
            yield lines[at:first], None
            yield lines[first:end], [line.names[0] for line in lines[first:end] if last[line.names[0]] >= end]
            at = end
    yield lines[at:], None


def recording(lines, constants, specs, results):
    """The names of the inputs, and the function of them that computes the results. constants: values by name. specs: dtypes
    and shapes by name."""
    inputs, made = {}, {line.names[0] for line in lines}
    for step in (line.step for line in lines):
        for operand in step.operands:
            if type(operand) is tuple and operand[0] not in constants:
                inputs[operand] = operand[1], (), NUMBER
            elif type(operand) is str and operand not in constants and operand not in made:
                dense = step.dense or inputs.get(operand, (ANY,))[-1] == DENSE
                inputs[operand] = *specs[operand], DENSE if dense else ANY
    places = {operand: i for i, operand in enumerate([*inputs, *(line.names[0] for line in lines)])}

    def place(operand):
        if operand in places:
            return places[operand]
        return asarray(constants[operand[0]], operand[1]) if type(operand) is tuple else constants[operand]

    rows = [(_ops.get(step.what) if type(step.what) is str else step.what, tuple(map(place, step.operands)), step.extra, *step.made)
            for step in (line.step for line in lines)]
    names = [operand if type(operand) is str else operand[0] for operand in inputs]
    return names, _core.recording([*inputs.values()], rows, tuple(map(places.__getitem__, results)))
