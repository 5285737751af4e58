# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_tracing.py
"""The tape. Each call with a traced argument becomes a node. A node refers to the nodes of its arguments, and has
the functions that turn gradients of its results into gradients of its arguments. A node refers to earlier nodes
only, so the tape is freed with the last traced value.

Gradients nest: each differentiated function has a numbered trace, and its arrays may be traced by an outer
trace too. A call belongs to the innermost trace among its arguments. The rule of the call computes with the
arguments' values by public functions, so outer traces record its steps. Backward passes do the same."""

import contextlib
import heapq
import inspect
import itertools
import threading

from .. import _core
from .._core import Array

LOCK = threading.Lock()
numbers = itertools.count()  # numbers traces and nodes; an inner trace has a greater number than an outer trace

RULES = {}       # Name: function of values that returns the result and its backward functions.
COMPOSITES = {}  # Name: function of traced arrays, composed of functions that have rules.
CONSTANTS = set()  # Functions that have no gradient: their results are not traced.

_FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class Node:
    """A recorded call. `backs` has a backward function for each parent. If there is a `joint`, `backs` has pairs
    (i, j) instead: the parent's gradient is joint(gradient)[i][j], or joint(gradient)[i] if j is None."""

    __slots__ = ("number", "parents", "backs", "joint", "outputs")

    def __init__(self, parents=(), backs=(), joint=None):
        self.number = next(numbers)
        self.parents, self.backs, self.joint = parents, backs, joint
        self.outputs = 0  # the number of arrays in a tuple of results; 0: the result is one array


class Traced:
    """An array that a transform follows. of_trace: the number of the transform's call. traced.py adds the members of an Array.
    A subclass has two functions that compute calls; `found` is the array of the innermost transform among the arguments:
    process(name, arguments, keywords, found) for a function by its name, handle(function, arguments, keywords, found) for
    the functions that traced.handle takes."""

    __slots__ = ("value", "of_trace")


class Differentiated(Traced):
    """An array in a function that is differentiated: a result of a node."""

    __slots__ = ("node", "index")

    def __init__(self, value, trace, node, index=0):
        self.value, self.of_trace, self.node, self.index = value, trace, node, index


class Batched(Traced):
    """An array in a function that vmap calls. The first axis of `value` counts the rows; the other members, such as
    `shape`, describe one row."""

    __slots__ = ()

    def __init__(self, value, trace):
        self.value, self.of_trace = value, trace


class Recorded(Traced):
    """An array or a number in a function that jit records, with its value during the recording.
    name: its name in the text of the program."""

    __slots__ = ("program", "name")

    def __init__(self, value, trace, program, name):
        self.value, self.of_trace, self.program, self.name = value, trace, program, name


KINDS = (Differentiated, Batched, Recorded)
_NUMBERS = (bool, int, float, complex)


class Key:
    """The key of array[key]. The wrapper lets `innermost` find the traced arrays in the key, but `record` does not
    differentiate with respect to them."""

    __slots__ = ("key",)

    def __init__(self, key):
        self.key = key

    @property
    def parts(self):
        return self.key if type(self.key) is tuple else (self.key,)


# ---- Random numbers

_local = threading.local()  # levels: the calls of vmap and jit that the thread is in, the outermost first


@contextlib.contextmanager
def level(trace, name, size=None, randomness="error"):
    """Enters a call of vmap, with `size` rows, or of jit."""
    levels = _local.__dict__.setdefault("levels", [])
    levels.append((trace, name, size, randomness))
    try:
        yield
    finally:
        levels.pop()


_RANDOM = {"jit": "the recording would repeat the numbers: give collet.random.normal or uniform a seed and an offset that "
                  "are arguments of the function",
           "vmap": "say by randomness=\"different\" or \"same\" whether each row gets numbers of its own, or give "
                   "collet.random.normal or uniform a seed or an offset for each row"}


def drawn(draw, size):
    """The numbers that draw(size) takes from a random.Generator. In vmap with randomness="different", each row gets
    its own numbers."""
    levels = getattr(_local, "levels", ())
    for _, name, _, randomness in levels:
        if randomness == "error":
            raise _core.UnsupportedError(f"{name}: the function draws from a random.Generator: {_RANDOM[name]}")
    rows = [(trace, count) for trace, _, count, randomness in levels if randomness == "different"]
    if rows:
        size = () if size is None else (size,) if hasattr(size, "__index__") else size
        size = (*(count for _, count in rows), *size)
    made = draw(size)
    for trace, _ in rows:
        made = Batched(made, trace)
    return made


# ---- Values


def floating(value):
    """Whether the value is an array that can have a gradient."""
    while isinstance(value, Traced):
        value = value.value
    return isinstance(value, Array) and value._dtype in _FLOATING


def is_number(value):
    """Whether the value is a number of Python, or represents a number while a function is recorded."""
    return type(value) in _NUMBERS or type(value) is Recorded and type(value.value) in _NUMBERS


def kind_of_number(value):
    """The class of a number of Python, or of the recorded number that represents it; else None."""
    kind = type(value.value if type(value) is Recorded else value)
    return kind if kind in _NUMBERS else None


def bottom(value):
    """The array without the traces of gradients."""
    while type(value) is Differentiated:
        value = value.value
    if type(value) is Batched:
        inner = bottom(value.value)
        return value if inner is value.value else Batched(inner, value.of_trace)
    return value


def untraced(value):
    """Removes the traces of gradients from an argument of a call, also inside of lists and tuples."""
    if isinstance(value, Traced):
        return bottom(value)
    if type(value) is tuple or type(value) is list:
        return type(value)(map(untraced, value))
    return value


def refuse(name, reason="has no rule for its gradient"):
    raise _core.UnsupportedError(f"{name} {reason}: give it one by collet.custom_vjp, or take it out of the "
                                 "gradient by collet.stop_gradient")


def innermost(values, found=None):
    """The traced array of the innermost transform among the values and `found`, or None."""
    for a in values:
        kind = type(a)
        if kind in KINDS:
            if found is None or a.of_trace > found.of_trace:
                found = a
        elif kind is list or kind is tuple:
            found = innermost(a, found)
        elif kind is Key:
            found = innermost(a.parts, found)
    return found


def bound(rule, arguments, keywords):
    """All arguments of the rule by position."""
    found = inspect.signature(rule).bind(*arguments, **keywords)
    found.apply_defaults()
    return found.args, found.kwargs


def record(rule, arguments, keywords):
    """Calls the rule and records the call as a node. The rule gets the values of the arrays that the innermost
    trace follows."""
    if keywords and innermost(keywords.values()) is not None:
        arguments, keywords = bound(rule, arguments, keywords)
    trace = innermost(arguments).of_trace
    values, places = list(arguments), []
    for i, a in enumerate(arguments):
        if type(a) is Differentiated:
            if a.of_trace == trace:
                values[i] = a.value
                places.append((a, i, None))
        elif type(a) is list or type(a) is tuple:
            inner = list(a)
            for j, item in enumerate(a):
                if type(item) is Differentiated and item.of_trace == trace:
                    inner[j] = item.value
                    places.append((item, i, j))
            values[i] = inner
    made, backs = rule(*values, **keywords)
    return attach(made, trace, places, backs)


def attach(made, trace, places, backs):
    """Makes the traced result of a call. places: for each traced argument (the array, its index among the
    arguments, its index in a sequence or None)."""
    parents = tuple((a.node, a.index) for a, _, _ in places)
    if callable(backs):
        node = Node(parents, tuple((i, j) for _, i, j in places), backs)
    else:
        node = Node(parents, tuple(backs[i] if j is None else backs[i][j] for _, i, j in places))
    if not isinstance(made, tuple):
        return Differentiated(made, trace, node) if floating(made) else made
    node.outputs = len(made)
    results = [Differentiated(m, trace, node, k) if floating(m) else m for k, m in enumerate(made)]
    return type(made)._make(results) if hasattr(made, "_make") else tuple(results)


def _through(node, given):
    """The gradient with respect to each parent, or None."""
    if node.joint is None:
        return [None if back is None else back(given) for back in node.backs]
    found = node.joint(given)
    return [found[i] if j is None else found[i][j] for i, j in node.backs]


def pull(ends, keep):
    """Runs the backward pass. Returns a dict from the number of each node without parents to its gradient.
    ends: for each result (node, index, gradient). Unless `keep`, the pass frees the tape, so it can run only
    once."""
    pending, heap, found = {}, [], {}

    def give(node, index, gradient):
        if node.number not in pending:
            pending[node.number] = node, [None] * max(node.outputs, 1)
            heapq.heappush(heap, -node.number)
        gradients = pending[node.number][1]
        gradients[index] = gradient if gradients[index] is None else gradients[index] + gradient

    for end in ends:
        give(*end)
    ends = end = None
    while heap:
        number = -heapq.heappop(heap)
        node, gradients = pending.pop(number)
        if not node.parents:
            found[number] = gradients[0]
            continue
        given = gradients if node.outputs else gradients[0]
        for (parent, index), gradient in zip(node.parents, _through(node, given)):
            if gradient is not None:
                give(parent, index, gradient)
        if not keep:
            node.backs = node.joint = node.parents = None
    return found


def call(name, arguments, keywords):
    """Computes name(*arguments, **keywords) by the innermost transform that follows an argument."""
    found = innermost(arguments, innermost(keywords.values()))
    return found.process(name, arguments, keywords, found)


def _differentiate(name, arguments, keywords, found):
    """Records a call with differentiated arguments."""
    if name in RULES:
        return record(RULES[name], arguments, keywords)
    from . import rules
    rules.load(name)
    if name in RULES:
        return record(RULES[name], arguments, keywords)
    if name in COMPOSITES:
        return COMPOSITES[name](*arguments, **keywords)
    if name in CONSTANTS:
        return rules.function(name)(*map(untraced, arguments),
                                    **{n: untraced(v) for n, v in keywords.items()})
    composed = rules.composed(name)
    if composed is None:
        refuse(f"collet.{name}")
    return composed(*arguments, **keywords)


Differentiated.process = staticmethod(_differentiate)
