# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_tracing.py
"""Composed functions that leave a call to the tape if one of its arguments is traced. Ops and
expressions do so in C, python/src/calls/tracer.c."""

import functools
import types

ACTIVE = 0  # how many functions are being traced
_TRACED = None  # the class
_tape = None
_ABSENT = object()


def start(tape):
    """From here to `stop` calls are examined."""
    global ACTIVE, _TRACED, _tape
    _tape, _TRACED = tape, tape.Traced
    with tape.LOCK:
        ACTIVE += 1


def stop():
    global ACTIVE
    with _tape.LOCK:
        ACTIVE -= 1


def _among(values):
    for value in values:
        kind = type(value)
        if kind is _TRACED or (kind in (list, tuple) and _among(value)):
            return True
    return False


def traced(*values):
    """Whether a traced array is among the values."""
    return ACTIVE > 0 and _among(values)


def asarray(value, dtype):
    """collet.asarray of a traced array, or of lists of them."""
    return _tape.call("asarray", (value, dtype), {})


def hooked(name, function, module):
    """The function, which the tape knows as `name` and `module` exports."""
    @functools.wraps(function)
    def call(*arguments, **keywords):
        if ACTIVE and (_among(arguments) or (keywords and _among(keywords.values()))):
            return _tape.call(name, arguments, keywords)
        return function(*arguments, **keywords)

    call.__module__ = module
    return call


def _hurried(function, small):
    """The function, after an attempt of `small`, which returns None unless it computes such arguments."""
    @functools.wraps(function)
    def call(x=_ABSENT, /, *others, **keywords):  # a parameter of its own: *arguments would take longer
        if not others:
            made = small(x, **keywords) if keywords else small(x)
            if made is not None:
                return made
        return function(*others, **keywords) if x is _ABSENT else function(x, *others, **keywords)

    return call


def hook(members, module, prefix="", small={}):
    """Replaces the public functions among the members of a module, except those that another exports.
    `small` has by name what is tried first."""
    made = {}  # a function may have several names
    for name, value in list(members.items()):
        if type(value) is types.FunctionType and not name.startswith("_") and \
                value.__module__.startswith(module) and not hasattr(value, "__wrapped__"):
            if value not in made:
                made[value] = hooked(prefix + value.__name__, value, module)
                if value.__name__ in small:
                    made[value] = _hurried(made[value], small[value.__name__])
            members[name] = made[value]
