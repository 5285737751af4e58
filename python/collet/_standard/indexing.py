# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_indexing.py
"""Indexing of collet.Array. Integers, slices, None and '...' give views. With masks or arrays of integers
among them the elements are read by compress and take, and written by where, place and put."""

from __future__ import annotations

import functools
import math
import operator

from .. import _core, op

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from .._array import Array

_BASIC = (int, slice, type(None), type(Ellipsis))


def _is_advanced(key: Any) -> bool:
    return type(key) not in _BASIC and (
        isinstance(key, (list, bool)) or bool(getattr(key, "ndim", 0)) or getattr(key, "dtype", None) == bool)


def _keys(key: Any, ndim: int) -> tuple[tuple[Any, ...], int]:
    """The keys, with one '...', and the number of axes that it stands for."""
    keys = key if isinstance(key, tuple) else (key,)
    used = sum(_axes_of(k) for k in keys)
    if used > ndim:
        raise IndexError(f"{used} indices for {ndim} axes")
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexError("more than one '...'")
    if not any(k is Ellipsis for k in keys):
        keys += (Ellipsis,)
    return keys, ndim - used


def _axes_of(key: Any) -> int:
    """How many axes a key is for: a mask is for as many as it has."""
    if key is None or key is Ellipsis or isinstance(key, bool):
        return 0
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


def view(array: Array, key: Any) -> Array | None:
    """The view for a key of integers, slices, None and '...'; None: other keys."""
    if any(map(_is_advanced, key if isinstance(key, tuple) else (key,))):
        return None
    keys, rest = _keys(key, array.ndim)
    found, shape, axis = array, [], 0
    for k in keys:
        if k is None:
            shape.append(1)
        elif k is Ellipsis:
            shape += found.shape[axis:axis + rest]
            axis += rest
        elif isinstance(k, slice):
            start, stop, step = k.indices(found.shape[axis])
            count = len(range(start, stop, step))
            found = found._slice(axis, start if count else 0, count, step)
            shape.append(count)
            axis += 1
        else:
            found = found._slice(axis, _index(k, found.shape[axis], axis), 1, 1)
            axis += 1
    return found if list(found.shape) == shape and found is not array else found._reshape(shape)


# ---- Masks and arrays of integers


def _array_of(key: Any) -> Array:
    """A key as an Array of bool or integers."""
    from .._array import asarray
    array = asarray(key, copy=False)
    if isinstance(key, list) and not array.size:
        array = array.astype("int64")
    if array._dtype != "bool" and array._dtype[0] not in "iu":
        raise IndexError(f"an array as an index has integers or bools, not {array._dtype}")
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
        raise IndexError(f"the mask has the shape {mask.shape}, the axes from {axis} on {extents}")


class _Term:
    """What a key adds to the positions: an array over one axis of the result, or over the common axes of all
    arrays of indices; `place` is the key's place among the keys."""

    def __init__(self, place: int, values: Array, advanced: bool = False) -> None:
        self.place, self.values, self.advanced = place, values, advanced


def _terms(array: Array, key: Any) -> list[_Term]:
    """For each key the positions in C order that it adds."""
    from ..functions import arange, nonzero
    keys, rest = _keys(tuple(_array_of(k) if _is_advanced(k) and type(k) is not bool else k for k in
                             (key if isinstance(key, tuple) else (key,))), array.ndim)
    strides = [math.prod(array.shape[i + 1:]) for i in range(array.ndim)]
    terms, axis = [], 0
    for place, k in enumerate(keys):
        if k is None:
            terms.append(_Term(place, arange(0, 1)))
        elif isinstance(k, bool):
            terms.append(_Term(place, arange(int(k)) * 0, True))
        elif k is Ellipsis:
            for i in range(axis, axis + rest):
                terms.append(_Term(place, arange(array.shape[i]) * strides[i]))
            axis += rest
        elif isinstance(k, slice):
            chosen = arange(*k.indices(array.shape[axis]))
            terms.append(_Term(place, chosen * strides[axis]))
            axis += 1
        elif getattr(k, "dtype", None) == bool:
            _check_mask(k, array.shape[axis:axis + k.ndim], axis)
            found = nonzero(k) if k.ndim else (arange(int(bool(k))) * 0,)
            for i, index in enumerate(found):
                terms.append(_Term(place, index * (strides[axis + i] if k.ndim else 0), True))
            axis += k.ndim
        else:
            if getattr(k, "ndim", 0):
                index = _inside(k, array.shape[axis], axis)
            else:
                number = _index(k, array.shape[axis], axis)
                index = op.fill(value=number, out=_core.empty((), "int64"))
            terms.append(_Term(place, index * strides[axis], True))
            axis += 1
    return terms


def _positions(array: Array, key: Any) -> Array:
    """The positions of the chosen elements among all in C order, in the shape of the result."""
    from ..functions import broadcast_arrays, broadcast_to
    terms = _terms(array, key)
    indices = [t for t in terms if t.advanced]
    try:
        common = broadcast_arrays(*(t.values for t in indices))
    except ValueError:
        shapes = ", ".join(str(t.values.shape) for t in indices)
        raise IndexError(f"the arrays of indices have the shapes {shapes}, which do not broadcast") from None
    keys = {t.place for t in indices}
    together = len(keys) == max(keys) - min(keys) + 1
    first = sum(t.place < min(keys) for t in terms) if together else 0
    plain = [t.values for t in terms if not t.advanced]
    shape = [v.shape[0] for v in plain]
    shape[first:first] = common[0].shape
    total = functools.reduce(operator.add, common)
    found = total.reshape([*total.shape, *[1] * (len(plain) - first)])
    for i, values in enumerate(plain):
        place = i if i < first else i + total.ndim
        found = found + values.reshape([-1 if j == place else 1 for j in range(len(shape))])
    return broadcast_to(found, shape)


def _single_mask(array: Array, key: Any) -> Array | None:
    """The mask, if the key is one for the first axis or for all axes."""
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if not _is_advanced(key) or isinstance(key, bool):
        return None
    mask = _array_of(key)
    if mask._dtype != "bool" or mask.ndim not in (1, array.ndim) or not mask.ndim:
        return None
    _check_mask(mask, array.shape[:mask.ndim], 0)
    return mask if mask.shape == array.shape[:mask.ndim] else None  # of no elements


def read(array: Array, key: Any) -> Array:
    """The elements for a key of masks and arrays of integers, and others among them."""
    from ..functions import moveaxis, take
    mask = _single_mask(array, key)
    if mask is not None:
        count = int(op.count_nonzero(mask))
        if mask.ndim == array.ndim:
            return op.compress(array.reshape(-1), mask.reshape(-1), shape=(count,)).out
        out = _core.empty((count, *array.shape[1:]), array._dtype)
        op.compress(moveaxis(array, 0, -1), mask, out=(moveaxis(out, 0, -1), None))
        return out
    if _is_advanced(key) and not isinstance(key, bool) and array.ndim:
        index = _array_of(key)
        if index._dtype in ("i32", "i64") and index.ndim == array.ndim == 1:
            found, info = op.take(array, index)
            if not int(info):
                return found
        if index._dtype != "bool":
            return take(array, index, axis=0)
    positions = _positions(array, key)
    return take(array.reshape(-1), positions)


def write(array: Array, key: Any, value: Any) -> None:
    """Stores the value, or values, which broadcast, at such a key."""
    from ..functions import broadcast_to
    from .._array import asarray
    if isinstance(value, (int, float, complex)):
        value = op.fill(value=value, out=_core.empty((), array._dtype))  # refuses what integers do not hold
    else:
        value = asarray(value, copy=False).astype(array._dtype, copy=False)
    mask = _single_mask(array, key)
    if mask is not None and not value.ndim:
        mask = mask.reshape((*mask.shape, *[1] * (array.ndim - mask.ndim)))
        op.where(mask, value, array, out=array)
    elif mask is not None and mask.ndim == array.ndim:
        values = broadcast_to(value, (int(op.count_nonzero(mask)),))
        if values.size:
            op.copy(op.place(array, mask, values).out, out=array)
    else:
        positions = _positions(array, key)
        values = broadcast_to(value, positions.shape).reshape(-1)
        if values.size:
            made = op.put(array.reshape(-1), positions.reshape(-1), values).out
            op.copy(made.reshape(array.shape), out=array)
