# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_vmap.py
"""The rules of vmap for reading by indices. An index that differs from row to row becomes an index of the array of all
rows, together with the numbers of the rows."""

import numpy as np

from .. import _core
from .. import functions as f
from .._array.operands import axis_of
from .._standard import indexing
from .batching import array, batching, ndim_of
from .rules import unindex
from .tape import Key, Traced

_ALL = slice(None)


def _is_array(part):
    return isinstance(part, Traced) or indexing._is_advanced(part)


def _expanded(key, ndim):
    """The parts of the key, with slices for '...'."""
    parts = list(key.parts)
    used = sum(0 if p is None or p is Ellipsis or isinstance(p, bool) else ndim_of(p) if _is_mask(p) else 1 for p in parts)
    if used > ndim:
        raise IndexError(f"{used} indices for {ndim} axes")
    at = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(at) > 1:
        raise IndexError("more than one '...'")
    rest = [_ALL] * (ndim - used)
    return [*parts[:at[0]], *rest, *parts[at[0] + 1:]] if at else parts + rest


def _is_mask(part):
    return getattr(part, "dtype", None) == bool or isinstance(part, list) and array(part).dtype == bool


class _Selection:
    """How a row's key selects from the array of all rows. `key`: the key for the array of all rows; `moves`: the
    arguments with which moveaxis turns the selected elements into rows. mapped: whether the indexed array differs
    from row to row."""

    def __init__(self, batch, key, ndim, mapped):
        parts = _expanded(key, ndim)
        own = [i for i, p in enumerate(parts) if _is_array(p)]
        if not own:
            self.key, self.moves = Key((_ALL, *parts)), None
            return
        if any(_is_mask(p) and batch.has(p) for p in parts):
            raise _core.UnsupportedError("vmap: a mask that differs from row to row selects a different number of elements "
                                         "in each row: use collet.where")
        own = [i for i, p in enumerate(parts) if _is_array(p) or type(p) is int or hasattr(p, "__index__") and not _is_array(p)]
        common = max(1 if _is_mask(parts[i]) else ndim_of(parts[i]) for i in own)
        together = own[-1] - own[0] + 1 == len(own)
        before = own[0] if together else 0  # how many axes of a row's result precede the axes of the indices
        if not any(map(batch.has, parts)):
            self.key = Key((_ALL, *parts))
            self.moves = None if together else (common, 0)
            return
        whole = [batch.aligned(p, common) if batch.has(p) else p for p in parts]
        if mapped:
            rows = np.arange(batch.size).reshape(-1, *[1] * common)
            self.key = Key((rows, *whole))
            self.moves = tuple(range(1, common + 1)), tuple(range(before + 1, before + common + 1))
        else:
            self.key, self.moves = Key(tuple(whole)), (before, 0)

    def rows(self, selected):
        return f.moveaxis(selected, *self.moves) if self.moves else selected

    def selected(self, rows):
        return f.moveaxis(rows, *self.moves[::-1]) if self.moves else rows


@batching("getitem")
def _getitem(batch, x, key):
    mapped = batch.has(x)
    chosen = _Selection(batch, key, x.ndim, mapped)
    return chosen.rows((x.value if mapped else x)[chosen.key.key])


@batching("unindex")
def _unindex(batch, g, key, shape):
    chosen = _Selection(batch, key, len(shape), True)
    return unindex(chosen.selected(batch.rows(g)), chosen.key, (batch.size, *shape))


@batching("take")
def _take(batch, x, indices, /, *, axis=None):
    x = x if batch.has(x) else array(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: an axis is needed, since the array has {x.ndim}")
    place = axis_of(-1 if axis is None else axis, x.ndim)
    if not batch.has(indices):
        return f.take(x.value, indices, axis=place + 1)
    if not batch.has(x):
        return f.moveaxis(f.take(x, indices.value, axis=place), place, 0)
    return _getitem(batch, x, Key((*[_ALL] * place, indices)))


@batching("take_along_axis")
def _take_along_axis(batch, x, indices, /, *, axis=-1):
    return f.take_along_axis(batch.rows(x), batch.rows(indices), axis=axis_of(axis, ndim_of(x)) + 1)
