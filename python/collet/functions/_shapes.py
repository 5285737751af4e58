# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Functions that create and rearrange arrays. collet.functions exports them."""

import itertools
import operator

import numpy as np

from .. import _core, op
from .._array.creation import asarray, empty, taken, zeros
from .._array.elementwise import functions
from .._array.operands import (arrays, axes_of, axis_of, converted, empty_as, matrices, permuted, promoted,
                               result_type, same_kind, zeros_as)
from .._core import Array

# ---- Creation, in the host's memory


def _dtype(dtype):
    return None if dtype is None else _core.dtype(dtype)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """An Array of start, start + step, ... below stop. A single argument is stop, and start is 0. The dtype
    is int64 if all arguments are integers, else float64.

    >>> collet.arange(2, 8, 3).to_numpy()
    array([2, 5])"""
    if dtype is None and device is None:
        made = _core.small_arange(start, stop, step) if stop is not None else _core.small_arange(0, start, step)
        if made is not None:
            return made
    start, stop, step = (x.item() if isinstance(x, _core.Array) else x for x in (start, stop, step))
    first, stop = (0, start) if stop is None else (start, stop)
    limits = {"start": first, "stop": stop, "step": step}
    if dtype is None and all(isinstance(n, int) for n in limits.values()):
        for name, n in limits.items():
            if not -2**63 <= n < 2**63:
                raise _core.DtypeError(f"arange: {name} is {n}, which int64 does not have: give a dtype, or floats")
    return taken(np.arange(first, stop, step, _dtype(dtype)), device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """An Array of num evenly spaced numbers from start to stop. Without endpoint, stop is excluded. start and stop may be
    arrays: the numbers are then along a new first axis.

    >>> collet.linspace(0, 1, 3).to_numpy()
    array([0. , 0.5, 1. ])"""
    if any(getattr(x, "ndim", 0) for x in (start, stop)):
        made = spaced(*(asarray(x) if hasattr(x, "shape") else x for x in (start, stop)), num, dtype, endpoint)
        return made if device is None else made.to_device(device)
    start, stop = (x.item() if isinstance(x, _core.Array) else x for x in (start, stop))
    return taken(np.linspace(start, stop, num, endpoint, dtype=_dtype(dtype)), device)


def spaced(start, stop, num, dtype, endpoint):
    """linspace between arrays."""
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: num is {num}; it must be at least 0")
    common = result_type(start, stop, 1.0)
    start, stop = (x if hasattr(x, "shape") else asarray(x, common) for x in (start, stop))
    places = np.arange(num).reshape(-1, *[1] * max(start.ndim, stop.ndim)).astype(common)
    last = num - 1 if endpoint else num
    made = _core.evaluate("where(i == last, stop, start + i * ((stop - start) / last))",
                          {"i": places, "last": float(max(last, 1)), "start": start, "stop": stop})
    if dtype is None:
        return made if made.dtype == common else made.astype(common)
    return (functions["floor"](made) if _core.dtype(dtype).kind in "iu" else made).astype(dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """An Array (n_rows, n_cols) of zeros, with ones on the k-th diagonal above the main diagonal.

    >>> collet.eye(2, 3, k=1, dtype="int8").to_numpy()
    array([[0, 1, 0],
           [0, 0, 1]], dtype=int8)"""
    made = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype)
    op.fill(value=1, out=diagonal(made, offset=k))
    return made if device is None else made.to_device(device)


def _like(x, made, dtype, device):
    made = made(x.shape, x.dtype if dtype is None else _dtype(dtype))
    return made if device is None else made.to_device(device)


def empty_like(x, /, *, dtype=None, device=None):
    """An array with undefined elements and the shape of x: an Array if x is an Array, else a NumPy array.
    The default dtype is the dtype of x.

    >>> collet.empty_like(np.ones((2, 3))).shape
    (2, 3)"""
    x, = arrays(x)
    return _like(x, empty if isinstance(x, Array) else np.empty, dtype, device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array whose elements are all fill_value. Other arguments as in empty_like.

    >>> collet.full_like([1, 2], 7)
    array([7, 7])"""
    made = op.fill(value=fill_value, out=empty_like(x, dtype=dtype))
    return made if device is None else made.to_device(device)


def zeros_like(x, /, *, dtype=None, device=None):
    """An array of zeros, otherwise like empty_like.

    >>> collet.zeros_like([1, 2])
    array([0, 0])"""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """An array of ones, otherwise like empty_like.

    >>> collet.ones_like([1, 2])
    array([1, 1])"""
    return full_like(x, 1, dtype=dtype, device=device)


# ---- Views


def _arrays(sequence):
    """The arrays of a sequence. An array counts as the sequence of its items."""
    return arrays(*sequence)


def permute_dims(x, /, axes):
    """A view with the axes in that order.

    >>> collet.permute_dims(np.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)"""
    x, = arrays(x)
    axes = axes_of(axes, x.ndim)
    if len(axes) != x.ndim:
        raise ValueError(f"permute_dims: axes is {axes}; name each of the {x.ndim} axes once")
    return permuted(x, axes)


def moveaxis(x, source, destination, /):
    """A view with the axes `source` moved to the positions `destination`. The other axes keep their order.
    Returns x itself if no axis moves.

    >>> collet.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)"""
    x, = arrays(x)
    if x.ndim == 1 and type(source) is type(destination) is int and -1 <= source <= 0 >= destination >= -1:
        return x
    source, destination = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} axes go to {len(destination)} places")
    if source == destination:
        return x
    places = dict(zip(destination, source))
    others = (i for i in range(x.ndim) if i not in source)
    return permuted(x, [places[i] if i in places else next(others) for i in range(x.ndim)])


def matrix_transpose(x, /):
    """A view with the last two axes swapped.

    >>> collet.matrix_transpose([[1, 2, 3]]).shape
    (3, 1)"""
    x, = arrays(x)
    return permuted(matrices(x), [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def expand_dims(x, /, axis=0):
    """A view with new axes of length 1 at these positions of the result.

    >>> collet.expand_dims([1, 2], axis=1).shape
    (2, 1)"""
    x, = arrays(x)
    ndim = x.ndim + (1 if hasattr(axis, "__index__") else len(axis))
    axes, extents = axes_of(axis, ndim), iter(x.shape)
    return x.reshape([1 if i in axes else next(extents) for i in range(ndim)])


def reshape(x, /, shape, *, copy=None):
    """A view with another shape, or a copy if the strides allow no view. copy=False: raises ValueError instead of
    copying. copy=True: always copies. -1 in the shape stands for the remaining extent.

    >>> collet.reshape([1, 2, 3, 4], (2, -1)).shape
    (2, 2)"""
    x, = arrays(x)
    if copy:
        return x.copy().reshape(shape)
    if copy is False and isinstance(x, Array):
        return x._view(shape)
    made = x.reshape(shape)
    if copy is False and not np.shares_memory(made, x) and x.size:
        raise ValueError(f"reshape: the strides {x.strides} allow no view of the shape {tuple(shape)}")
    return made


def broadcast_shapes(*shapes):
    """The shape to which arrays of these shapes are broadcast.

    >>> collet.broadcast_shapes((2, 1), (3,))
    (2, 3)"""
    return np.broadcast_shapes(*shapes)


def squeeze(x, /, axis=None):
    """A view without these axes, each of length 1. None: without all axes of length 1.

    >>> collet.squeeze(np.ones((1, 2, 1)), axis=0).shape
    (2, 1)"""
    x, = arrays(x)
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else axes_of(axis, x.ndim)
    for i in axes:
        if x.shape[i] != 1:
            raise ValueError(f"squeeze: axis {i} has the length {x.shape[i]}, not 1")
    return x.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def flip(x, /, *, axis=None):
    """A view with the elements in reverse order along these axes; None: along all.

    >>> collet.flip([1, 2, 3])
    array([3, 2, 1])"""
    if isinstance(x, Array) and x.ndim == 1 and axis in (None, 0, -1):
        return x[::-1]
    x, = arrays(x)
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    return x[(*(slice(None, None, -1 if i in axes else None) for i in range(x.ndim)), ...)]


def broadcast_to(x, /, shape):
    """A read-only view broadcast to another shape.

    >>> collet.broadcast_to([1, 2], (2, 2))
    array([[1, 2],
           [1, 2]])"""
    x, = arrays(x)
    return x.broadcast_to(shape) if isinstance(x, Array) else np.broadcast_to(x, shape)


def broadcast_arrays(*arrays):
    """Views broadcast to a common shape.

    >>> [x.shape for x in collet.broadcast_arrays([1, 2], [[3], [4]])]
    [(2, 2), (2, 2)]"""
    found = _arrays(arrays)
    shape = np.broadcast_shapes(*(x.shape for x in found))
    return tuple(broadcast_to(x, shape) for x in found)


def diagonal(x, /, *, offset=0):
    """A view of the diagonals of the matrices in the last two axes. The diagonal is the last axis of the
    result. offset > 0: a diagonal above the main diagonal.

    >>> collet.diagonal([[1, 2], [3, 4]])
    array([1, 4])"""
    x = matrices(*arrays(x))
    offset = operator.index(offset)
    x = x[..., min(max(-offset, 0), x.shape[-2]):, min(max(offset, 0), x.shape[-1]):]
    if isinstance(x, Array):
        return x._diagonal()
    found = np.diagonal(x, 0, -2, -1)
    found.flags.writeable = x.flags.writeable
    return found


# ---- Copies


def concat(arrays, /, *, axis=0):
    """Concatenates arrays along an axis, in the dtype of NumPy's result. axis None: all elements as one
    vector.

    >>> collet.concat([[1, 2], [3.5]])
    array([1. , 2. , 3.5])"""
    parts = promoted(*arrays)
    if axis is None:
        parts, axis = [x.reshape(-1) for x in parts], 0
    axis = axis_of(axis, parts[0].ndim)
    shape = list(parts[0].shape)
    for x in parts:
        if [*x.shape[:axis], *x.shape[axis + 1:]] != [*shape[:axis], *shape[axis + 1:]] or \
                x.ndim != len(shape):
            raise ValueError(f"concat: the shapes {tuple(shape)} and {x.shape} differ on other axes "
                             f"than {axis}")
    shape[axis] = sum(x.shape[axis] for x in parts)
    out, end = empty_as(parts[0], shape), 0
    for x in parts:
        start, end = end, end + x.shape[axis]
        op.copy(x, out=out[(slice(None),) * axis + (slice(start, end),) if axis else slice(start, end)])
    return out


def stack(arrays, /, *, axis=0):
    """Joins arrays of one shape along a new axis. axis: its position in the result.

    >>> collet.stack([[1, 2], [3, 4]], axis=1)
    array([[1, 3],
           [2, 4]])"""
    parts = _arrays(arrays)
    if not parts:
        raise ValueError("stack: there is no array")
    if len({x.shape for x in parts}) > 1:
        raise ValueError(f"stack: the shapes {', '.join(str(x.shape) for x in parts)} are not equal")
    axis = axis_of(axis, parts[0].ndim + 1)
    return concat([expand_dims(x, axis) for x in parts], axis=axis)


def roll(x, /, shift, *, axis=None):
    """Moves the elements by `shift` along an axis; elements that leave the end enter at the beginning.
    shift and axis may be tuples. axis None: rolls all elements as a vector, in C order.

    >>> collet.roll([1, 2, 3], 1)
    array([3, 1, 2])"""
    x, = arrays(x)
    if axis is None:
        return roll(x.reshape(-1), shift, axis=0).reshape(x.shape)
    pairs = np.broadcast(shift, axis)
    if pairs.ndim > 1:
        raise ValueError("roll: shift and axis must be integers or tuples of integers")
    shifts = [0] * x.ndim
    for n, i in pairs:
        shifts[axis_of(i, x.ndim)] += int(n)
    out, pieces = empty_as(x, x.shape), []
    for n, extent in zip(shifts, x.shape):
        n = n % extent if extent else 0
        ends = [(0, extent - n, n), (extent - n, extent, n - extent)]  # (begin, end, distance) of each part that moves
        pieces.append([(slice(a, b), slice(a + by, b + by)) for a, b, by in ends if a < b])
    for piece in itertools.product(*pieces):
        op.copy(x[tuple(p[0] for p in piece)], out=out[tuple(p[1] for p in piece)])
    return out


def repeat(x, repeats, /, *, axis=None):
    """Repeats each element of an axis. repeats: a number, or a number for each element. axis None: repeats
    all elements as a vector, in C order.

    >>> collet.repeat([1, 2], 2)
    array([1, 1, 2, 2])"""
    alone = type(repeats) is int
    x, counts = (*arrays(x), None) if alone else arrays(x, repeats)
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = axis_of(axis, x.ndim)
    if not alone and (counts.ndim > 1 or (counts.ndim and counts.shape[0] not in (1, x.shape[axis]))):
        raise ValueError(f"repeat: repeats has the shape {counts.shape}; the axis has the length "
                         f"{x.shape[axis]}")
    if repeats < 0 if alone else counts.dtype.kind not in "iu" or (counts.size and int(op.min(counts)) < 0):
        raise ValueError("repeat: repeats must be integers that are not negative")
    if alone or counts.size == 1:  # repeat by a number, which every backend can compute
        n = repeats if alone else int(counts.reshape(()))
        shape = [*x.shape[:axis + 1], n, *x.shape[axis + 1:]]
        shape = broadcast_to(expand_dims(x, axis + 1), shape)
        return op.copy(shape).reshape([*x.shape[:axis], x.shape[axis] * n, *x.shape[axis + 1:]])
    from ._search import take
    ends = op.cumulative_sum(converted(counts, np.dtype("i8")))
    total = int(ends[-1:].reshape(())) if counts.size else 0
    ones = broadcast_to(same_kind(np.asarray(1), ends), ends.shape)
    steps = op.scatter_add(zeros_as(ends, (total + 1,)), ends, ones).out  # 1 where the next element of x begins
    return take(x, op.cumulative_sum(steps)[:total], axis=axis)


def _sides(pad_width, ndim):
    """The numbers of elements before and after each axis."""
    sides = np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()
    for pair in sides:
        if not all(isinstance(n, int) and n >= 0 for n in pair):
            raise ValueError(f"pad: pad_width is {pad_width!r}; it is integers that are not negative")
    return sides


def pad(x, pad_width, mode="constant", *, constant_values=0):
    """Adds elements before and after each axis. pad_width: a number, (before, after), or such a pair for
    each axis. mode: "constant" adds constant_values, which have the same form as pad_width; "edge" repeats
    the first and the last element; "reflect" mirrors the elements about these.

    >>> collet.pad([1, 2, 3], (1, 2), "reflect")
    array([2, 1, 2, 3, 2, 1])"""
    x, = arrays(x)
    sides = _sides(pad_width, x.ndim)
    if mode == "constant":
        return _pad_constant(x, sides, np.broadcast_to(np.asarray(constant_values), (x.ndim, 2)))
    if mode not in ("edge", "reflect"):
        raise ValueError(f"pad: mode is {mode!r}; it can be 'constant', 'edge' or 'reflect'")
    from ._search import take
    for axis, (before, behind) in enumerate(sides):
        n = x.shape[axis]
        if before or behind:
            if not n:
                raise ValueError(f"pad: axis {axis} is empty; only mode 'constant' can pad it")
            places = np.arange(-before, n + behind)
            if mode == "reflect":
                places = np.abs((places + n - 1) % max(2 * n - 2, 1) - (n - 1))
            x = take(x, np.clip(places, 0, n - 1), axis=axis)
    return x


def _pad_constant(x, sides, values):
    inner = [slice(before, before + n) for n, (before, _) in zip(x.shape, sides)]
    out = empty_as(x, [n + sum(pair) for n, pair in zip(x.shape, sides)])
    op.copy(x, out=out[tuple(inner)])
    for axis, (before, _) in enumerate(sides):  # in corners a later axis overwrites the values of an earlier axis
        ends = slice(0, before), slice(before + x.shape[axis], None)
        for end, value in zip(ends, values[axis].tolist()):
            part = out[(slice(None),) * axis + (end, *inner[axis + 1:])]
            if part.size:
                op.fill(value=value, out=part)
    return out


def _triangle(x, k, lower):
    made = _core.small_triangle(x, k, lower)
    if made is not None:
        return made
    x = matrices(*arrays(x))
    rows, columns = (same_kind(np.arange(n), x) for n in x.shape[-2:])
    kept = (op.less_equal if lower else op.greater_equal)(columns[None, :], op.add(rows, k)[:, None])
    return op.where(kept, x, same_kind(np.zeros((), x.dtype), x))


def tril(x, /, *, k=0):
    """The matrices in the last two axes, with zeros above diagonal k. k = 0 is the main diagonal, k > 0 a diagonal
    above it, k < 0 below it.

    >>> collet.tril([[1, 2], [3, 4]])
    array([[1, 0],
           [3, 4]])"""
    return _triangle(x, operator.index(k), True)


def triu(x, /, *, k=0):
    """The matrices in the last two axes, with zeros below diagonal k. k = 0 is the main diagonal, k > 0 a diagonal
    above it, k < 0 below it.

    >>> collet.triu([[1, 2], [3, 4]])
    array([[1, 2],
           [0, 4]])"""
    return _triangle(x, operator.index(k), False)
