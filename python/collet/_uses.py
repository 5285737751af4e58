# SPDX-License-Identifier: Apache-2.0
"""Choices of backend for a context of Python (contextvars): a thread, a task of asyncio. Imported by
the first `using`; before, a call asks for none."""

import itertools
from collections import namedtuple
from contextvars import ContextVar

from . import _core

# A with statement that was entered: its number, its choice, the use around it, and a list that is
# empty until the use is left in another context than the one that entered it.
_Use = namedtuple("_Use", "number choice around ended")
_current = ContextVar("collet.using", default=None)
_numbers = itertools.count(1)


def _choice(use):
    """The choice of the innermost use that has not ended; None: that of the process."""
    while use and use.ended:
        use = use.around
    return use and use.choice


def _without(top, number):
    """The uses `top` without one of them: generators leave theirs in any order."""
    if not top or top.number == number:
        return top and top.around
    return top._replace(around=_without(top.around, number))


def enter(choice, opened):
    """Enters a use and appends it to the list `opened`. Raises what set_backend raises."""
    use = _Use(next(_numbers), choice, _current.get(), [])
    token = _current.set(use)
    try:
        _core.get_backend()
    except BaseException:
        _current.reset(token)
        raise
    opened.append((use, token))


def leave(opened):
    """Leaves the innermost use of the calling context that is in the list `opened`."""
    numbers = [use.number for use, _ in opened]
    top = _current.get()
    while top and top.number not in numbers:
        top = top.around
    use, token = opened.pop(numbers.index(top.number) if top else -1)
    rest = _without(_current.get(), use.number)
    try:
        _current.reset(token)
    except ValueError:  # entered in another context, which has it still
        use.ended.append(True)
        _core.set_uses(_current.get, _choice)  # all threads ask again
    _current.set(rest)


_core.set_uses(_current.get, _choice)
