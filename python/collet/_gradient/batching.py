# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_vmap.py
"""The rules of vmap. A rule computes a function for all rows at once: it gets a Batch and the arguments of the call, and
returns arrays whose first axis counts the rows. Arguments that vmap follows are Batched: their members describe one row.
Other arguments are the same for all rows. batching_rules.py has the rules of most functions."""

import functools

import numpy as np

from .. import _core, _ops
from .. import functions as f
from .._array.creation import asarray
from . import rules
from .tape import Batched
from .trees import leaves, mapped, rebuilt

BATCHES = {}  # Name: rule.
COMPOSED = {}  # Name: function of Batched arrays, composed of functions that have rules.
LOOPED = set()  # Functions that are called once for each row.


def batching(*names):
    """Registers the decorated function as the rule of the named functions."""
    def add(rule):
        for name in names:
            BATCHES[name] = rule
        return rule

    return add


class Batch:
    """The rows of a call of vmap."""

    def __init__(self, trace, size):
        self.of_trace, self.size = trace, size

    def has(self, value):
        """Whether the value differs from row to row."""
        return type(value) is Batched and value.of_trace == self.of_trace

    def any(self, values):
        return any(map(self.has, values))

    def rows(self, value):
        """The array of all rows."""
        if self.has(value):
            return value.value
        value = array(value)
        return f.broadcast_to(value, (self.size, *value.shape))

    def aligned(self, value, ndim):
        """Reshapes the value so that it broadcasts with values whose rows have `ndim` axes."""
        if not self.has(value):
            return value
        missing = ndim - value.ndim
        whole = value.value
        return f.reshape(whole, (self.size, *[1] * missing, *whole.shape[1:])) if missing > 0 else whole

    def row(self, value, i):
        """The arguments of one row."""
        if self.has(value):
            return value.value[i]
        if type(value) is tuple or type(value) is list:
            return type(value)(self.row(v, i) for v in value)
        return value


def array(value):
    return value if hasattr(value, "shape") else np.asarray(value)


def ndim_of(value):
    return len(value.shape) if hasattr(value, "shape") else np.ndim(value)


def loop(batch, function, arguments, keywords):
    """Calls the function once for each row."""
    if not batch.size:
        raise _core.ShapeError(f"vmap: {getattr(function, '__name__', function)} is called for each row, and there are no "
                               "rows, so the shape of its result is unknown")
    made = [function(*(batch.row(a, i) for a in arguments), **{n: batch.row(v, i) for n, v in keywords.items()})
            for i in range(batch.size)]
    columns = zip(*map(leaves, made))
    return rebuilt(made[0], [f.stack([x if hasattr(x, "shape") else asarray(x) for x in column]) for column in columns])


def apply(rule, arguments, keywords, found):
    """Converts the result of a rule to Batched arrays."""
    batch = Batch(found.of_trace, found.value.shape[0])
    made = rule(batch, *arguments, **keywords)
    return mapped(lambda x: Batched(x, batch.of_trace) if hasattr(x, "shape") else x, made)


def process(name, arguments, keywords, found):
    """Computes a call of the function `name` with Batched arguments."""
    rule = BATCHES.get(name)
    if rule is None:
        rules.load(name)
        if name in rules.BY_VALUES:
            raise _core.UnsupportedError(f"vmap: collet.{name} makes a result whose shape depends on values, so the rows "
                                         "have different shapes: use collet.where, or a loop over the rows")
        composed = None if name in LOOPED else COMPOSED.get(name) or rules.composed(name)
        if composed is not None:
            return composed(*arguments, **keywords)
        function = rules.function(name)

        def rule(batch, *arguments, **keywords):
            return loop(batch, function, arguments, keywords)

    return apply(rule, arguments, keywords, found)


def handle(function, arguments, keywords, found):
    """Computes a call of an Expression, an elementwise function or an op with Batched arguments."""
    if not isinstance(function, str):
        return _expression(function, arguments, found)
    if not function.startswith("op."):
        return process(function, arguments, keywords, found)
    adapter = rules.adapter(function[3:], keywords)
    if adapter is not None:
        return adapter(*arguments, **keywords)
    return apply(functools.partial(_of_op, _ops.get(function[3:])), arguments, keywords, found)


def _of_op(op, batch, *arguments, **keywords):
    return loop(batch, op, arguments, keywords)


def _expression(expression, arguments, found):
    reduced = rules.by_reduction(expression, arguments)
    if reduced is not None:
        return reduced
    if rules.text_of(expression) is None:  # built by calls: it may reduce axes
        return apply(functools.partial(_of_op, expression), arguments, {}, found)
    return apply(elementwise(expression), arguments, {}, found)


def elementwise(function):
    """The rule of a function of broadcast elements."""
    def rule(batch, *arguments, **keywords):
        ndim = max(map(ndim_of, [*arguments, *keywords.values()]), default=0)
        return function(*(batch.aligned(a, ndim) for a in arguments),
                        **{n: batch.aligned(v, ndim) for n, v in keywords.items()})

    return rule


Batched.process, Batched.handle = staticmethod(process), staticmethod(handle)
