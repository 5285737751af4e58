# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_fallback.py
"""NumPy's own function computes what collet lacks: whole functions, or single arguments. It gets numpy.asarray(x),
which shares the memory of an Array x. Its results become Arrays.

Only the memory of the host is shared. An Array on a device is refused, unless numpy_fallback is "copy". If an argument
is an array of another library, that library computes the call, or the call raises TypeError. A function that writes
(numpy.copyto, out=) writes the memory of the Array."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from .. import _core, _fallback
from .. import _hook as hook
from .._array.creation import asarray, taken

_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array__", "__array_interface__", "__dlpack__")


@functools.cache
def _is_foreign(kind: Any) -> bool:
    return kind not in (np.ndarray, np.memmap) and not issubclass(kind, (_core.Array, np.generic, type)) and \
        any(hasattr(kind, name) for name in _PROTOCOLS)


def _decides(kind: Any) -> bool:
    """Whether the type has functions of its own for NumPy's protocols."""
    return any(getattr(kind, name, getattr(np.ndarray, name)) is not getattr(np.ndarray, name)
               for name in _PROTOCOLS[:2])


class _Views:
    """Arguments with NumPy's views in place of Arrays."""

    __slots__ = "foreign", "given", "misplaced", "mode", "views"

    def __init__(self, mode: str) -> None:
        self.mode = mode                        # The setting: a mode of _fallback.
        self.views: list[tuple[Any, Any]] = []  # Pairs (view, its Array).
        self.given: list[Any] = []              # NumPy's arrays among the arguments.
        self.misplaced: Any = None              # An Array on a device: NumPy can view only a copy of it.
        self.foreign: Any = None                # The type of an argument that is another library's array. Such arrays
                                                # have rules of their own: masks, units, labels, devices.

    def of(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, _core.Array):
            if self.mode == "off" or self.mode != "copy" and value._place()[0] != 1:  # DLPack's number of the host
                self.misplaced = value
                return value
            view = np.asarray(value)
            self.views.append((view, value))
            return view
        if kind is list or (kind is tuple and value):
            return kind(map(self.of, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.of, value))
        if kind is np.ndarray:
            self.given.append(value)
        elif _is_foreign(kind):
            self.foreign = self.foreign or kind
        return value

    def wrapped(self, value: Any) -> Any:
        """Converts a result: each array that collet can hold becomes an Array, and NumPy's view of an Array becomes
        this Array."""
        if isinstance(value, np.ndarray):
            for view, array in self.views:
                if value is view:
                    return array
            return value if self.given and any(value is a for a in self.given) else self._array(value)
        if isinstance(value, np.generic):
            return self._array(np.asarray(value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.wrapped, value))
        if type(value) in (list, tuple):
            return type(value)(map(self.wrapped, value))
        return value

    def _array(self, value: Any) -> Any:
        """Makes an Array that takes over, or copies, the memory of a result; a view of an argument stays a view."""
        if value.ndim > 8 or type(value) is not np.ndarray:
            return value
        base = value.base
        own = base is None or (not self.given and type(base) is np.ndarray and base.base is None)
        if own and (made := _core.small_asarray(value)) is not None:
            return made
        try:
            _core.dtype_name(value.dtype)
        except TypeError:  # texts, dates, objects, long double
            return value
        if not own and any(np.may_share_memory(value, o) for o in [*self.given, *(view for view, _ in self.views)]):
            try:
                return asarray(value, copy=False)
            except _core.InvalidError:  # strides of another library
                return asarray(value)
        if value.dtype.isnative and value.flags.behaved:
            return taken(value)
        return taken(np.require(value, value.dtype.newbyteorder("="), ("ALIGNED", "WRITEABLE")))


def compute(function: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], reason: str, level: int = 3) -> Any:
    """Calls a function of NumPy with views of the Arrays. `reason`: why collet does not compute it, for messages.
    `level`: the number of calls between this call and the user's call, for warnings."""
    if hook.ACTIVE and hook.traced(*arguments, *keywords.values()):
        raise _core.UnsupportedError(f"{name} {reason}, and NumPy's function has no gradient: give it one by "
                                     "collet.custom_vjp, or take it out of the gradient by collet.stop_gradient")
    mode = _fallback.mode()
    views = _Views(mode)
    given = [*map(views.of, arguments)]
    named = {n: views.of(v) for n, v in keywords.items()} if keywords else keywords
    if views.foreign is not None:
        if _decides(views.foreign):
            return NotImplemented
        raise TypeError(f"{name} {reason}, and takes no {views.foreign.__name__} beside a collet.Array: give it "
                        "numpy.asarray of that, or x.to_numpy()")
    if mode == "off":
        raise TypeError(f"{name} {reason}: use the functions of collet, give it a copy of the elements, x.to_numpy(), "
                        "or let NumPy compute by collet.configure(numpy_fallback='on')")
    if views.misplaced is not None:
        raise TypeError(f"{name} is computed by NumPy, in the host's memory, and an Array is on {views.misplaced.device}: give "
                        "it x.to_device('host'), or let all such calls copy by collet.configure(numpy_fallback='copy')")
    if _writes(name):
        _check_outputs(name, given, named)
    if mode == "warn":
        warnings.warn(f"{name} {reason}: NumPy computes it", RuntimeWarning, stacklevel=level)
    found = views.wrapped(function(*given, **named))
    _fallback.count(name)
    return found


@functools.cache
def _writes(name: str) -> bool:
    """Whether NumPy does not check the outputs of this function: it may write read-only memory or crash the process."""
    return name.rpartition(".")[2] in ("at", "accumulate", "cumsum", "cumprod", "reduceat")


def _check_outputs(name: str, given: list[Any], named: dict[str, Any]) -> None:
    """Raises ValueError for such outputs."""
    if name.endswith(".at") and isinstance(given[0], np.ndarray) and not given[0].flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    out = named.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    if not name.endswith(".at") and any(isinstance(o, np.ndarray) and not o.ndim for o in outs):
        raise ValueError(f"{name}: out has no axes")
