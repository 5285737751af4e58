# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_indexing.py
"""Indexing of collet.Array. Integers, slices, None and '...' give views. A single element is a copy, an
Array without axes; NumPy returns a number. If the key is a mask or an array of integers, the ops
compress and take read the elements, and the ops where, place and put write them."""

from __future__ import annotations

import functools
import math
import operator

from .. import _core, op
from .. import _hook as hook
from .._array.creation import asarray
from ..functions import arange, broadcast_shapes, broadcast_to, moveaxis, nonzero

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from .array import Array

_BASIC = (int, slice, type(None), type(Ellipsis))


def _is_advanced(key: Any) -> bool:
    return type(key) not in _BASIC and (
        isinstance(key, (list, bool)) or bool(getattr(key, "ndim", 0)) or getattr(key, "dtype", None) == bool)


def _keys(key: Any, ndim: int) -> tuple[tuple[Any, ...], int]:
    """The keys with exactly one '...', and the number of axes that '...' stands for."""
    keys = key if isinstance(key, tuple) else (key,)
    used, dots = sum([_axes_of(k) for k in keys]), sum([k is Ellipsis for k in keys])
    if used > ndim:
        raise IndexError(f"{used} indices for an array of {ndim} axes")
    if dots > 1:
        raise IndexError("more than one '...'")
    return (keys if dots else (*keys, Ellipsis)), ndim - used


def _axes_of(key: Any) -> int:
    """The number of axes that a key indexes. A mask indexes as many axes as it has."""
    if key is None or key is Ellipsis or isinstance(key, bool):
        return 0
    if isinstance(key, (int, slice)):
        return 1
    return key.ndim if getattr(key, "dtype", None) == bool else 1


def _index(key: Any, extent: int, axis: int) -> int:
    try:
        index = operator.index(key)
    except TypeError:
        raise TypeError("an index is an integer, a slice, '...', None, a mask or an array of integers, not "
                        f"{type(key).__name__}") from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of range for axis {axis} of length {extent}")
    return index + extent if index < 0 else index


# ---- Masks and arrays of integers


def _array_of(key: Any) -> Array:
    """A key as an Array of bool or integers."""
    array: Array
    if isinstance(key, _core.Array):
        array = key  # type: ignore[assignment]
    else:
        array = asarray(key, copy=False)
    if isinstance(key, list) and not array.size:
        array = array.astype("int64")
    if array._dtype != "bool" and array._dtype[0] not in "iu":
        raise IndexError(f"an array as an index must have integers or bools, not {array._dtype}")
    return array


def _inside(index: Array, extent: int, axis: int) -> Array:
    """The index counted from 0. IndexError."""
    index = index.astype("int64", copy=False)
    if not index.size:
        return index
    low, high = int(op.min(index)), int(op.max(index))
    if low < -extent or high >= extent:
        raise IndexError(f"index {low if low < -extent else high} is out of range for axis {axis} of length "
                         f"{extent}")
    return index if low >= 0 else index + (index < 0) * extent


def _check_mask(mask: Array, extents: tuple[int, ...], axis: int) -> None:
    if len(mask.shape) != len(extents) or any(m not in (n, 0) for m, n in zip(mask.shape, extents)):
        raise IndexError(f"the mask has the shape {mask.shape}, but the axes from axis {axis} on have the shape "
                         f"{extents}")


def _pairs(array: Array, key: Any) -> tuple[Array, list[tuple[int, Any]]]:
    """The key as a list of pairs (place among the keys, k), one for each axis and each None; k is a slice, a number,
    an array of integers or None. For a key that is a single bool, the returned array has one more axis."""
    keys, rest = _keys(tuple(_array_of(k) if _is_advanced(k) and type(k) is not bool else k for k in
                             (key if isinstance(key, tuple) else (key,))), array.ndim)
    pairs: list[tuple[int, Any]] = []
    extents = [*array.shape]
    axis = 0
    for place, k in enumerate(keys):
        count = rest if k is Ellipsis else _axes_of(k)
        if k is Ellipsis:
            pairs += [(place, slice(None))] * rest
        elif isinstance(k, bool) or (getattr(k, "dtype", None) == bool and not k.ndim):
            pairs.append((place, op.fill(value=0, out=_core.empty((int(bool(k)),), "int64"))))
            extents.insert(axis, count := 1)
        elif getattr(k, "dtype", None) == bool:
            _check_mask(k, tuple(extents[axis:axis + count]), axis)
            pairs += [(place, index) for index in nonzero(k)]
        else:
            pairs.append((place, k))
        axis += count
    return array if len(extents) == array.ndim else array._reshape(extents), pairs


class _Chosen:
    """The elements that a key with masks and arrays of integers selects. `base`: a view of `array` with
    slices, None and numbers applied; its last axes are the axes that `indices` index, and its first element is
    `offset` elements after the array's first. `common`: the broadcast shape of the indices; these axes
    begin at axis `first` of the result. `shape`: the shape of the other axes of base."""

    def __init__(self, array: Array, key: Any) -> None:
        array, pairs = _pairs(array, key)
        kept: list[int] = []
        numbers: list[int] = []
        chosen: list[int] = []
        places: list[int] = []  # Positions, among the keys, of the axes in `shape`.
        own: list[int] = []  # Positions of numbers and indices among the keys.
        self.array, self.offset, base, axis = array, 0, array, 0
        self.indices: list[Array] = []
        self.shape: list[int] = []
        for place, k in pairs:
            if k is None:
                self.shape.append(1)
                places.append(place)
                continue
            extent, start = base.shape[axis], 0
            if isinstance(k, slice):
                start, stop, step = k.indices(extent)
                count = len(range(start, stop, step))
                start = start if count else 0
                base = base._slice(axis, start, count, step)
                kept.append(axis)
                self.shape.append(count)
                places.append(place)
            elif getattr(k, "ndim", 0):
                self.indices.append(_inside(k, extent, axis))
                chosen.append(axis)
                own.append(place)
            else:
                start = _index(k, extent, axis)
                base = base._slice(axis, start, 1, 1)
                numbers.append(axis)
                own.append(place)
            self.offset += start * array.strides[axis]
            axis += 1
        self.base = base._permute([*kept, *numbers, *chosen])._reshape(
            [*self.shape, *(base.shape[i] for i in chosen)])
        self.strides = [array.strides[i] for i in chosen]
        self.common = self._common()
        together = len({*own}) == max(own) - min(own) + 1
        self.first = sum(place < min(own) for place in places) if together else 0

    def _common(self) -> tuple[int, ...]:
        try:
            return tuple(broadcast_shapes(*(i.shape for i in self.indices)))
        except ValueError:
            shapes = ", ".join(str(i.shape) for i in self.indices)
            raise IndexError(f"the indices have the shapes {shapes}, which do not broadcast") from None

    @property
    def result(self) -> list[int]:
        return [*self.shape[:self.first], *self.common, *self.shape[self.first:]]

    def behind(self, array: Array) -> Array:
        """A view of an array that has the result's shape, with the axes of the indices moved to the end."""
        end = self.first + len(self.common)
        axes = [*range(self.first), *range(end, array.ndim), *range(self.first, end)]
        return array._permute(axes)

    def total(self, strides: list[int]) -> Array:
        """The sums of indices times strides, for all elements of the indices, as a vector."""
        terms = (i if n == 1 else i * n for i, n in zip(self.indices, strides))
        return broadcast_to(functools.reduce(operator.add, terms), self.common).reshape(-1)

    def merged(self, base: Array) -> tuple[Array, Array] | None:
        """A view of the base whose indexed axes are merged into one, and the indices for that axis. None if
        the strides allow no such view."""
        extents = base.shape[len(self.shape):]
        try:
            source = base if len(extents) == 1 else base._view([*self.shape, math.prod(extents)])
        except _core.ShapeError:
            return None
        return source, self.total([math.prod(extents[i + 1:]) for i in range(len(extents))])

    def positions(self) -> tuple[Array, Array] | None:
        """A view of the array as a vector, and the positions of the result's elements in it. The axes of
        the indices come last. None if the array has no view as a vector."""
        array = self.array
        flat = array._permute(sorted(range(array.ndim), key=lambda i: -array.strides[i]))
        try:
            flat = flat._view([-1])
        except _core.ShapeError:
            return None
        step = flat.strides[0]
        if step < 1 and flat.size > 1 or min(array.strides) < 0:
            return None
        step = max(step, 1)
        found = self.total([n // step for n in self.strides]) + self.offset // step
        for axis in reversed(range(len(self.shape))):
            stride = self.base.strides[axis] // step if self.shape[axis] > 1 else 0
            found = (arange(self.shape[axis]) * stride).reshape([-1, *[1] * found.ndim]) + found
        return flat, found

    def dense(self) -> None:
        """Replaces the base by a copy."""
        self.array = self.base = self.base.copy()
        self.offset, self.strides = 0, [*self.base.strides[len(self.shape):]]


def _single_mask(array: Array, key: Any) -> Array | None:
    """The mask, if the key is a mask for the first axis or for all axes."""
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if not _is_advanced(key) or isinstance(key, bool):
        return None
    mask = _array_of(key)
    if mask._dtype != "bool" or mask.ndim not in (1, array.ndim) or not mask.ndim:
        return None
    _check_mask(mask, array.shape[:mask.ndim], 0)
    return mask if mask.shape == array.shape[:mask.ndim] else None  # other shape: no elements


def _one_axis(array: Array, key: Any) -> tuple[int, Array] | None:
    """The axis and the vector, if the key is a vector of integers for one axis and ':' for all others."""
    keys = key if isinstance(key, tuple) else (key,)
    found: tuple[int, Array] | None = None
    for axis, k in enumerate(keys):
        if type(k) is slice:
            if k != slice(None):
                return None
            continue
        if found or isinstance(k, bool) or not _is_advanced(k):
            return None
        k = _array_of(k)
        if k._dtype not in ("int32", "int64") or k.ndim != 1:
            return None
        found = axis, k
    return found if len(keys) <= array.ndim else None


def _taken(array: Array, axis: int, index: Array) -> Array | None:
    """The elements at these indices of an axis; None if one is out of range."""
    last = array.ndim - 1
    if axis == last:
        found, info = op.take(array, index)
    else:
        order = [*range(axis), *range(axis + 1, last + 1), axis]
        found = _core.empty((*array.shape[:axis], index.size, *array.shape[axis + 1:]), array._dtype)
        info = op.take(array._permute(order), index, out=(found._permute(order), None)).info
    return None if int(info) else found


def read(array: Array, key: Any) -> Array:
    """The elements for a key that contains masks or arrays of integers."""
    found = hook.getitem(array, key)
    if found is not None:
        return found  # type: ignore[no-any-return]
    along = _one_axis(array, key)
    if along:
        found = _taken(array, *along)
        if found is not None:
            return found
    mask = None if along else _single_mask(array, key)
    if mask is not None:
        count = int(op.count_nonzero(mask))
        if mask.ndim == array.ndim:
            if mask.ndim > 1:
                array, mask = array.reshape(-1), mask.reshape(-1)
            return op.compress(array, mask, shape=(count,)).out
        out = _core.empty((count, *array.shape[1:]), array._dtype)
        op.compress(moveaxis(array, 0, -1), mask, out=(moveaxis(out, 0, -1), None))
        return out
    chosen = _Chosen(array, key)
    out = _core.empty(chosen.result, array._dtype)
    if not out.size:
        return out
    source = chosen.merged(chosen.base) or chosen.positions()
    if source is None:
        chosen.dense()
        source = chosen.merged(chosen.base)
    values, index = source
    target = chosen.behind(out)
    if index.ndim > 1:
        op.copy(op.take(values, index.reshape(-1)).out.reshape(target.shape), out=target)
    else:
        op.take(values, index, out=(target._view([*chosen.shape, index.size]), None))
    return out


def positions(array: Array, key: Any) -> Array:
    """The positions of the elements that a key with masks or arrays of integers selects, in the shape of the
    result. The array has to be contiguous."""
    chosen = _Chosen(array, key)
    lead, count = len(chosen.shape), len(chosen.common)
    _, found = chosen.positions()
    found = found.reshape([*chosen.shape, *chosen.common])
    return found._permute([*range(chosen.first), *range(lead, lead + count), *range(chosen.first, lead)])


_FEW = 64  # Up to this number of indices, rows are copied one after the other.
_LONG = 1024  # Only rows of at least this number of elements are copied in this way.


_FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def assign(array: Array, key: Any, value: Any) -> None:
    """array[key] = value"""
    target = array._at(key)
    shape = getattr(value, "shape", ())
    if target is not None and len(shape) > target.ndim and set(shape[:len(shape) - target.ndim]) == {1}:
        shape = tuple(shape[len(shape) - target.ndim:])
        value = asarray(value, copy=False).reshape(shape)
    if target is not None and shape and (len(shape) > target.ndim or any(
            n not in (1, m) for n, m in zip(shape[::-1], target.shape[::-1]))):
        raise _core.ShapeError(f"x[key] = y: y has the shape {tuple(shape)}, which does not broadcast to the shape of x[key], "
                               f"{target.shape}")
    if target is None:
        write(array, key, value)
    elif isinstance(value, (int, float, complex)) or getattr(value, "ndim", None) == 0 and \
            not (isinstance(value, _core.Array) and target._dtype in (value._dtype, *_FLOATS)):
        op.fill(value=value, out=target)  # raises for values that integers cannot hold
    elif isinstance(value, _core.Array):
        op.copy(value.astype(target._dtype, copy=False), out=target)
    elif isinstance(value, (list, tuple)):
        op.copy(asarray(value, target._dtype, copy=None), out=target)  # raises for integers that the dtype does not have
    else:
        op.copy(asarray(value, copy=False).astype(target._dtype, copy=False), out=target)  # integers wrap, as in NumPy


def write(array: Array, key: Any, value: Any) -> None:
    """Stores the value at a key with masks or arrays of integers. Values broadcast."""
    if hook.traced(key):
        raise TypeError("x[i] = y: collet.grad, vmap or jit follows the index i, so the array cannot be written: "
                        "collet.where and others make a new one")
    if isinstance(value, (int, float, complex)):
        value = op.fill(value=value, out=_core.empty((), array._dtype))  # raises for values that integers cannot hold
    else:
        value = asarray(value, copy=False)
        if hook.traced(value):
            op.copy(value, out=array)  # raises
        value = value.astype(array._dtype, copy=False)
    along = _one_axis(array, key) if array.ndim == 1 else None
    if along:
        index = _inside(along[1], array.shape[0], 0)
        values = value._broadcast((index.size,))
        if values.size:
            op.put(array, index, values, out=(array, None))
        return
    mask = _single_mask(array, key)
    whole = mask is not None and mask.ndim == array.ndim
    if whole and value.ndim:
        values = broadcast_to(value, (int(op.count_nonzero(mask)),))
        if values.size:
            op.place(array, mask, values, out=(array, None))
    elif mask is not None and not value.ndim and (whole or 4 * int(op.count_nonzero(mask)) > mask.size):
        mask = mask.reshape((*mask.shape, *[1] * (array.ndim - mask.ndim)))
        op.where(mask, value, array, out=array)
    else:
        chosen = _Chosen(array, key)
        values = broadcast_to(value, chosen.result)
        if values.size:
            _store(chosen, chosen.behind(values))


def _store(chosen: _Chosen, values: Array) -> None:
    """Stores the values. Their last axes are the axes of the indices."""
    lead = len(chosen.shape)
    merged = chosen.merged(chosen.base)
    if merged and lead and merged[1].size <= _FEW and _LONG * merged[1].size <= values.size:
        source, index = merged
        rows = values.copy().reshape([*chosen.shape, index.size])  # values may share memory with the array
        for i, n in enumerate(index.to_numpy().tolist()):
            op.copy(rows._slice(lead, i, 1, 1), out=source._slice(lead, n, 1, 1))
        return
    target = (None if lead else merged) or chosen.positions()
    base = chosen.base
    if target is None:
        chosen.dense()
        target = chosen.positions()
    flat, places = target
    op.put(flat, places.reshape(-1), values.reshape(-1), out=(flat, None))
    if chosen.base is not base:
        op.copy(chosen.base, out=base)
