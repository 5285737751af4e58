# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_jit.py
"""collet.jit."""

from __future__ import annotations

import collections
import functools
import inspect
import math
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from .. import _core
from .. import _hook as hook
from .._array.creation import shared
from .._standard.array import Array
from . import batching_rules, tape, traced  # noqa: F401 (the rules, and the members of arrays)
from .recording import Program, _copied
from .tape import Recorded, Traced
from .trees import mapped, rebuilt, structure

__all__ = ["jit"]

P = ParamSpec("P")
R = TypeVar("R")

_KEPT = 64  # recordings of a function: a new recording replaces the least recently used recording


def _static(fun: Callable[..., Any], numbers: int | Sequence[int] | None, names: str | Sequence[str] | None
            ) -> tuple[set[int], set[str]]:
    """The positions and the names of static arguments. As in JAX, the name of each position is added, and the
    position of each name."""
    places = {operator.index(n) for n in (() if numbers is None else (numbers,) if hasattr(numbers, "__index__") else numbers)}
    called = set((names,) if isinstance(names, str) else names or ())
    try:
        parameters = [*inspect.signature(fun).parameters.values()]
    except (TypeError, ValueError):  # a function written in C
        return places, called
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters) and any(not -len(positional) <= n < len(positional) for n in places):
        raise ValueError(f"jit: static_argnums is {numbers!r}, and the function has {len(positional)} arguments by position")
    unknown = called - {p.name for p in parameters}
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise ValueError(f"jit: static_argnames has {', '.join(sorted(unknown))}, but the function has no such "
                         "parameter")
    named = {positional[n] for n in places if -len(positional) <= n < len(positional)}
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        places = {n % len(positional) for n in places}
    return places | {i for i, name in enumerate(positional) if name in called}, called | named


def _constant(value: Any) -> Any:
    """Returns a key that differs for different static values. The values 1, 1.0 and True differ, and so do 0.0 and
    -0.0."""
    if type(value) in (tuple, frozenset):
        return type(value), tuple(map(_constant, value))
    return type(value), math.copysign(1.0, value) if type(value) is float else 0, value


def _of_numpy(value: Any) -> Array | None:
    return shared(value) if isinstance(value, (np.ndarray, np.generic)) else None


def _signature(given: Any, values: list[Any]) -> Any:
    """Like _core.signature, but for trees of all kinds. None: a transform follows one of the arrays."""
    key: list[Any] = [_core.get_backend(), structure(given, values)]
    for i, value in enumerate(values):
        kind = type(value)
        if isinstance(value, (np.ndarray, np.generic)):
            values[i] = value = shared(value)
        if isinstance(value, Array):
            key.append((value.shape, value._dtype))
        elif kind is float or kind is int or kind is bool or kind is complex:
            key.append(kind)
        elif kind is str or kind is bytes:
            key.append(value)
        elif isinstance(value, Traced):
            return None
        else:
            raise TypeError(f"jit: an argument is or contains {value!r}, no array, number or text: name the argument in "
                            "static_argnums or static_argnames")
    return tuple(key)


class _Jitted:
    """A function with its recordings."""

    def __init__(self, fun: Callable[..., Any], static_argnums: Any, static_argnames: Any) -> None:
        self.fun = fun
        self.numbers, self.names = _static(fun, static_argnums, static_argnames)
        self.lock = threading.Lock()
        self.programs: collections.OrderedDict[Any, Callable[..., Any]] = collections.OrderedDict()

    def call(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        given, static = self._split(arguments, keywords) if self.numbers or self.names else ((arguments, keywords), ())
        values: list[Any] = []
        signature = _core.signature(given, values, _of_numpy)
        if signature is None:
            values.clear()
            signature = _signature(given, values)
            if signature is None:
                return self.fun(*arguments, **keywords)  # another transform records these calls
        full = signature, static
        try:
            with self.lock:
                program = self.programs.get(full)
                if program is not None:
                    self.programs.move_to_end(full)
        except TypeError as error:
            raise TypeError(f"jit: {error}: a static argument has to be hashable") from None
        return program(*values) if program is not None else self._record(full, values, given, arguments, keywords)

    def _split(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The recorded arguments, and the static arguments."""
        count = len(arguments)
        numbers = {n % count for n in self.numbers if -count <= n < count}
        given = (tuple(None if i in numbers else a for i, a in enumerate(arguments)),
                 {n: v for n, v in keywords.items() if n not in self.names})
        static = (*((i, _constant(arguments[i])) for i in sorted(numbers)),
                  *((n, _constant(v)) for n, v in sorted(keywords.items()) if n in self.names))
        return given, static

    def _record(self, key: Any, values: list[Any], given: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        trace = next(tape.numbers)
        program = Program(trace)
        recorded = [program.argument(value) for value in values]
        positional, named = rebuilt(given, [a.value if type(a.value) in (str, bytes) else a for a in recorded])
        count = len(arguments)
        static = {n % count for n in self.numbers if -count <= n < count}
        hook.start(tape)
        try:
            with tape.level(trace, "jit"):
                result = self.fun(*(arguments[i] if i in static else a for i, a in enumerate(positional)),
                                  **{n: named.get(n, v) if n not in self.names else v for n, v in keywords.items()})
            made = program.finish(recorded, result)
        finally:
            program.open = False
            hook.stop()
        with self.lock:
            self.programs[key] = made
            while len(self.programs) > _KEPT:
                self.programs.popitem(last=False)
        return mapped(lambda leaf: leaf.value if isinstance(leaf, Recorded) else _copied(leaf), result)

    def clear(self) -> None:
        with self.lock:
            self.programs.clear()


@overload
def jit(fun: Callable[P, R], *, static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None) -> Callable[P, R]: ...
@overload
def jit(fun: None = None, *, static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(fun: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None) -> Any:
    """A function that records the calls that `fun` makes, and in later calls repeats them without running the Python code of
    `fun`; the results have the same bits. Gradients inside of `fun` are recorded too. There is a recording for each
    structure of the arguments, with their shapes and dtypes, and for each value of texts and of static arguments
    (static_argnums and static_argnames). The last 64 recordings are kept. `clear_cache()` of the function removes
    them.

    `fun` has to be pure, as in JAX: other arrays that it uses are constants, with the values that they had when it was
    recorded. Arguments that are numbers may change from call to call. Code that needs the value of a number or an
    array, such as `if` and float(x), raises TypeError.

    >>> square = collet.jit(lambda x: x * x)
    >>> float(square(collet.asarray(3.0))), float(square(collet.asarray(4.0)))
    (9.0, 16.0)"""
    if fun is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    jitted = _Jitted(fun, static_argnums, static_argnames)

    @functools.wraps(fun)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return jitted.call(arguments, keywords)

    call.clear_cache = jitted.clear  # type: ignore[attr-defined]
    return call
