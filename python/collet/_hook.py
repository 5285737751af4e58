# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_tracing.py
"""Wraps composed functions: a call with a traced argument goes to the transform that follows the argument.
python/src/base/tracer.c does the same for ops and expressions."""

import functools
import types

ACTIVE = 0  # How many functions are being traced.
_TRACED = ()  # The classes of traced arrays.
_tape = None
_ABSENT = object()


def start(tape):
    """Starts to examine calls for traced arguments, until `stop`."""
    global ACTIVE, _TRACED, _tape
    _tape, _TRACED = tape, tape.KINDS
    with tape.LOCK:
        ACTIVE += 1


def stop():
    global ACTIVE
    with _tape.LOCK:
        ACTIVE -= 1


def _among(values):
    for value in values:
        kind = type(value)
        if kind in _TRACED or (kind in (list, tuple) and _among(value)):
            return True
    return False


def traced(*values):
    """Whether a traced array is among the values."""
    return ACTIVE > 0 and _among(values)


def asarray(value, dtype):
    """Computes collet.asarray of a traced array, or of lists of traced arrays."""
    return _tape.call("asarray", (value, dtype), {})


def getitem(array, key):
    """array[key] for a key with traced arrays; None for other keys."""
    if ACTIVE > 0 and _among(key if type(key) is tuple else (key,)):
        return _tape.call("getitem", (array, _tape.Key(key)), {})
    return None


def known(value):
    """The value without the traces of vmap and of gradients. A value that jit records is returned unchanged, because
    later calls may have other values."""
    while traced(value) and not isinstance(value, _tape.Recorded):
        value = value.value
    return value


def drawn(draw, size):
    """The numbers that draw(size) takes from a random.Generator, in a function that a transform may follow."""
    return _tape.drawn(draw, size) if ACTIVE > 0 else draw(size)


def hooked(name, function, module):
    """Wraps the function. The tape records it as `name`; `module` exports it."""
    @functools.wraps(function)
    def call(*arguments, **keywords):
        if ACTIVE and (_among(arguments) or (keywords and _among(keywords.values()))):
            return _tape.call(name, arguments, keywords)
        return function(*arguments, **keywords)

    call.__module__ = module
    return call


def _hurried(function, small):
    """Tries `small` first. If that returns None, calls the function."""
    @functools.wraps(function)
    def call(x=_ABSENT, /, *others, **keywords):  # a separate parameter: passing it in *arguments would take longer
        if not others:
            made = small(x, **keywords) if keywords else small(x)
            if made is not None:
                return made
        return function(*others, **keywords) if x is _ABSENT else function(x, *others, **keywords)

    return call


def _direct(function, small):
    """Like _hurried, but for functions of several arguments."""
    @functools.wraps(function)
    def call(*arguments, **keywords):
        made = small(*arguments, **keywords)
        return function(*arguments, **keywords) if made is None else made

    call.__wrapped__ = function.__wrapped__  # what the tape calls
    return call


def hook(members, module, prefix="", small={}, direct={}):
    """Wraps the public functions that the module itself defines. `small` and `direct` are dicts from names to
    functions that are tried first. Functions in `small` have one argument, functions in `direct` several."""
    made = {}  # a function may have several names
    for name, value in list(members.items()):
        if type(value) is types.FunctionType and not name.startswith("_") and \
                value.__module__.startswith(module) and not hasattr(value, "__wrapped__"):
            if value not in made:
                made[value] = hooked(prefix + value.__name__, value, module)
                if value.__name__ in small:
                    made[value] = _hurried(made[value], small[value.__name__])
                elif value.__name__ in direct:
                    made[value] = _direct(made[value], direct[value.__name__])
            members[name] = made[value]
