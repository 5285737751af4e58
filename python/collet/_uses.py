# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_using.py
"""Choices of backend for a context of Python (contextvars): a thread, an asyncio task. The first `using`
imports this module. Before that, calls do not look for a choice."""

import itertools
from collections import namedtuple
from contextvars import ContextVar

from . import _core

# A `with` statement that was entered: its number, its choice, the enclosing _Use, and the list `ended`. The list
# becomes non-empty when the statement is left in a different context than it was entered in.
_Use = namedtuple("_Use", "number choice around ended")
_current = ContextVar("collet.using", default=None)
_numbers = itertools.count(1)


def _without(top, number=0):
    """The stack of uses `top`, without ended uses and without the use with this number. Generators may leave their
    collet.using statements in any order."""
    kept, above, rest, use = [], 0, top, top
    while use:
        if use.ended or use.number == number:
            above, rest = len(kept), use.around
        else:
            kept.append(use)
        use = use.around
    for use in reversed(kept[:above]):
        rest = _Use(use.number, use.choice, rest, use.ended)
    return rest


def _choice(top):
    """The choice of the innermost use of the calling context; None: the choice of the process."""
    use = _without(top)
    if use is not top:
        _current.set(use)
    return use and use.choice


def enter(choice, opened):
    """Enters a use and appends it to the list `opened`. Raises what set_backend raises."""
    use = _Use(next(_numbers), choice, _without(_current.get()), [])
    token = _current.set(use)
    try:
        _core.get_backend()
    except BaseException:
        _current.reset(token)
        raise
    opened.append((use, token))


def leave(opened):
    """Leaves the innermost use of the calling context that is in the list `opened`."""
    entries = opened[:]  # a copy, because other threads may enter and leave the same object
    numbers = [use.number for use, _ in entries]
    top = _current.get()
    while top and top.number not in numbers:
        top = top.around
    entry = entries[numbers.index(top.number) if top else -1]
    use, token = entry
    rest = _without(_current.get(), use.number)
    try:
        _current.reset(token)
    except ValueError:  # entered in another context: the stack of that context still contains the use
        use.ended.append(True)
        _core.set_uses(_current.get, _choice)  # all threads read the choice again
    _current.set(rest)
    opened.remove(entry)


_core.set_uses(_current.get, _choice)
