# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_tracing.py
"""The tape. Each call with a traced argument becomes a node. A node has the nodes of its arguments, and the
functions that turn gradients of its results into gradients of its arguments. A node refers to earlier nodes
only, so the tape is freed with the last traced value.

Gradients nest: each differentiated function has a numbered trace, and its arrays may be traced by an outer
trace too. A call belongs to the innermost trace among its arguments. Its rule computes with the arguments'
values by public functions, so outer traces record these calls. The same holds for backward passes."""

import heapq
import inspect
import itertools
import threading

from .. import _core
from .._core import Array

LOCK = threading.Lock()
numbers = itertools.count()  # for traces and nodes; an inner trace has a greater number than an outer trace

RULES = {}       # name: function of values that returns the result and its backward functions
COMPOSITES = {}  # name: function of traced arrays, which calls functions that have rules
CONSTANTS = set()  # functions that have no gradient: their results are not traced

_FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class Node:
    """A recorded call. `backs` has a backward function for each parent. With `joint` it has indices into
    the result of joint(gradient) instead: a number, or two numbers for an array in a sequence."""

    __slots__ = ("number", "parents", "backs", "joint", "outputs")

    def __init__(self, parents=(), backs=(), joint=None):
        self.number = next(numbers)
        self.parents, self.backs, self.joint = parents, backs, joint
        self.outputs = 0  # the number of arrays in a tuple of results; 0: the result is one array


class Traced:
    """An array in a function that is differentiated. traced.py adds the members of an Array."""

    __slots__ = ("value", "node", "index", "trace")

    def __init__(self, value, trace, node, index=0):
        self.value, self.trace, self.node, self.index = value, trace, node, index


def floating(value):
    """Whether the value is an array that can have a gradient."""
    kind = type(value)
    if kind is Traced:
        return True
    return isinstance(value, Array) and value._dtype in _FLOATING


def bottom(value):
    """The array itself, without traces."""
    while type(value) is Traced:
        value = value.value
    return value


def untraced(value):
    """The arguments of a call without traces, including those inside of lists and tuples."""
    if type(value) is Traced:
        return bottom(value)
    if type(value) is tuple or type(value) is list:
        return type(value)(map(untraced, value))
    return value


def refuse(name, reason="has no rule for its gradient"):
    raise _core.UnsupportedError(f"{name} {reason}: give it one by collet.custom_vjp, or take it out of the "
                                 "gradient by collet.stop_gradient")


def _innermost(arguments):
    found = -1
    for a in arguments:
        if type(a) is Traced:
            found = max(found, a.trace)
        elif type(a) is list or type(a) is tuple:
            found = max(found, _innermost(a))
    return found


def record(rule, arguments, keywords):
    """Calls the rule with the values of the innermost trace, and records the call as a node."""
    if keywords and _innermost(keywords.values()) >= 0:
        bound = inspect.signature(rule).bind(*arguments, **keywords)
        bound.apply_defaults()
        arguments, keywords = bound.args, bound.kwargs
    trace = _innermost(arguments)
    values, places = list(arguments), []
    for i, a in enumerate(arguments):
        if type(a) is Traced:
            if a.trace == trace:
                values[i] = a.value
                places.append((a, i, None))
        elif type(a) is list or type(a) is tuple:
            inner = list(a)
            for j, item in enumerate(a):
                if type(item) is Traced and item.trace == trace:
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
        return Traced(made, trace, node) if floating(made) else made
    node.outputs = len(made)
    results = [Traced(m, trace, node, k) if floating(m) else m for k, m in enumerate(made)]
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
    """Records a call with traced arguments of the function `name`."""
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
    from .. import functions
    from ..functions import _primitives
    if name in vars(functions) and name not in vars(_primitives):  # composed of functions that have rules
        return getattr(functions, name).__wrapped__(*arguments, **keywords)
    refuse(f"collet.{name}")
