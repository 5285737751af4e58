# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_names.py
"""Functions of sampled data: differences, interpolation, integrals, derivatives, convolution, angles. collet.functions
exports them."""

import operator

import numpy as np

from .. import _core, op
from .. import _hook as hook
from .._array.operands import axis_of, taken
from . import _primitives as f
from ._arrangement import ravel, sliding_window_view
from ._rounding import once_rounded


def _end(part, x, axis):
    """The array to put before or after x. A number has the length 1."""
    if part is None:
        return None
    part, = taken(part)
    shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
    return part if part.ndim else f.broadcast_to(part, shape)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Each element minus its predecessor along an axis, n times. For bool: whether the elements differ. prepend and
    append are concatenated before and after the elements first.

    >>> collet.diff([1, 4, 9])
    array([3, 5])"""
    x, = taken(x)
    axis = axis_of(axis, x.ndim)
    if n < 0:
        raise ValueError(f"diff: n is {n}; it must not be negative")
    parts = [_end(prepend, x, axis), x, _end(append, x, axis)]
    parts = [p for p in parts if p is not None]
    x = f.concat(parts, axis=axis) if len(parts) > 1 else x
    later, earlier = (slice(1, None),), (slice(None, -1),)
    whole = (slice(None),) * axis
    for _ in range(min(operator.index(n), x.shape[axis])):  # after this many steps the axis is empty, and stays empty
        x = (op.not_equal if x.dtype.kind == "b" else op.sub)(x[whole + later], x[whole + earlier])
    return x


def interp(x, xp, fp, left=None, right=None):
    """Interpolates linearly between the points (xp, fp) at x; xp ascend. The result is float64. Below the first point
    the result is `left`, by default the first fp. Above the last point it is `right`, by default the last fp.
    Infinite and NaN values of fp have NumPy's results.

    >>> collet.interp([0.5, 9.0], [0, 1, 2], [0, 10, 30])
    array([ 5., 30.])"""
    made = _core.small_interp(x, xp, fp) if left is None and right is None else None
    if made is not None:
        return made
    x, xp, fp = (f.astype(v, f.float64, copy=False) for v in taken(x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.size:
        raise ValueError(f"interp: the points have the shapes {xp.shape} and {fp.shape}; vectors of one "
                         "length are needed")
    if xp.size == 1:
        found = f.broadcast_to(fp[0], x.shape)
    else:
        below = f.clip(f.searchsorted(xp, x, side="right") - 1, 0, xp.size - 2).reshape(-1)
        x0, y0, x1, y1 = (f.take(v, i).reshape(x.shape) for i in (below, below + 1) for v in (xp, fp))
        found = _core.evaluate(_BETWEEN, {"x": x, "x0": x0, "y0": y0, "x1": x1, "y1": y1})
    found = f.where(x < xp[0], fp[0] if left is None else left, found)
    return f.where(x > xp[-1], fp[-1] if right is None else right, found)


# The line through two points at x, from the first point. If the result is NaN, because a difference is infinite, the
# line starts at the second point. If that result is NaN too and both points have the same value, the result is this
# value. These are numpy.interp's rules.
_FIRST, _SECOND = (f"((y1 - y0) / (x1 - x0) * (x - x{i}) + y{i})" for i in (0, 1))
_LINE = f"where(isnan({_FIRST}), where(isnan({_SECOND}) & (y0 == y1), y0, {_SECOND}), {_FIRST})"
_BETWEEN = f"where(isnan(x), x, where(x == x1, y1, where(x == x0, y0, {_LINE})))"


@once_rounded("y", "x")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by the trapezoidal rule. The samples are at the positions x, or at equal
    distances dx.

    >>> float(collet.trapezoid([1.0, 2, 3]))
    4.0"""
    y, = taken(y)
    y = f.moveaxis(y, axis, -1)
    if x is not None:
        x, = taken(x)
        dx = diff(x if x.ndim == 1 else f.moveaxis(x, axis, -1))
    return f.sum((y[..., 1:] + y[..., :-1]) * dx / 2.0, axis=-1)


def _apart(name, spacing, extent):
    """The distances along an axis: one number, or the distances between positions."""
    if not hasattr(spacing, "shape") and not hasattr(spacing, "__len__"):
        return spacing
    spacing, = taken(spacing)
    if spacing.ndim and spacing.shape != (extent,):
        raise ValueError(f"{name}: the places are {spacing.shape}; the axis has {extent} elements")
    return diff(spacing) if spacing.ndim else spacing


def _slopes(y, h):
    return (y[..., 1:] - y[..., :-1]) / h


def _derivative(x, axis, spacing, edge_order):
    y = f.moveaxis(x, axis, -1)
    h = _apart("gradient", spacing, y.shape[-1])
    if getattr(h, "ndim", 0):
        steps, before, after = _slopes(y, h), h[:-1], h[1:]
        middle = (before * steps[..., 1:] + after * steps[..., :-1]) / (before + after)
        left, right = steps[..., :2], steps[..., -2:]
    else:
        middle = (y[..., 2:] - y[..., :-2]) / (2.0 * h)
        left, right = _slopes(y[..., :3], h), _slopes(y[..., -3:], h)
    first, last = left[..., :1], right[..., -1:]
    if edge_order == 2:  # the slope of the parabola through three samples
        share = (h[0] / (h[0] + h[1]), h[-1] / (h[-1] + h[-2])) if getattr(h, "ndim", 0) else (0.5, 0.5)
        first, last = first - share[0] * (left[..., 1:] - first), last + share[1] * (last - right[..., :1])
    return f.moveaxis(f.concat([first, middle, last], axis=-1), -1, axis)


@once_rounded("f")
def gradient(f, *varargs, axis=None, edge_order=1):
    """The derivatives along axes, by default all, by central differences, one-sided at the ends. Returns a
    tuple for several axes. varargs: the distance of all samples, or for each axis a distance or the
    positions. edge_order: 1 or 2, the order of the differences at the ends.

    >>> collet.gradient([0.0, 1, 4])
    array([1., 2., 3.])"""
    f, = taken(f)
    f = f if f.dtype.kind in "fc" else f * 1.0
    axes = [*range(f.ndim)] if axis is None else [axis] if hasattr(axis, "__index__") else [*axis]
    spacings = [1.0] * len(axes) if not varargs else [*varargs] * (len(axes) if len(varargs) == 1 else 1)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order!r}; it is 1 or 2")
    if any(f.shape[a] < edge_order + 1 for a in axes):
        raise ValueError(f"gradient: the array is {f.shape}; an axis has at least {'two' if edge_order == 1 else 'three'} elements")
    found = tuple(_derivative(f, a, s, edge_order) for a, s in zip(axes, spacings))
    return found if len(found) != 1 else found[0]


@once_rounded("a", "v")
def convolve(a, v, mode="full"):
    """The convolution of two vectors. "full": every position where they overlap; "same": the length of the
    longer vector; "valid": only positions of complete overlap. For long vectors scipy.signal.fftconvolve is
    faster.

    >>> collet.convolve([1, 2, 3], [1, 10])
    array([ 1, 12, 23, 30])"""
    a, v = taken(a, v)
    if a.ndim > 1 or v.ndim > 1 or not a.size or not v.size or mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: arrays of {a.shape} and {v.shape}, mode {mode!r}; it takes vectors with elements, and full, "
                         "same or valid")
    a, v = (ravel(a), ravel(v)) if a.size >= v.size else (ravel(v), ravel(a))
    more = v.size - 1
    before, after = {"full": (more, more), "same": (v.size // 2, more - v.size // 2), "valid": (0, 0)}[mode]
    if _all_finite(a, v):
        a = f.pad(a, (before, after))
        return _in_blocks(a, v) if v.size > _SHORT else f.matmul(sliding_window_view(a, v.size), f.flip(v))
    parts = [f.matmul(sliding_window_view(a, v.size), f.flip(v))]
    with np.errstate(invalid="ignore", over="ignore"):
        if before:
            parts.insert(0, _rising(a[:more], v[:more])[more - before:])
        if after:  # the end, reversed, is the beginning of the convolution of the reversed vectors
            parts.append(f.flip(_rising(f.flip(a)[:more], f.flip(v)[:more])[more - after:]))
    return f.concat(parts) if len(parts) > 1 else parts[0]


_SHORT = 24  # For vectors up to this length, _in_blocks is slower.
_BLOCK = 64  # The shortest rows of _in_blocks; up to this length _rising multiplies no matrices.


def _all_finite(*arrays):
    """Whether no element is infinite or NaN. False if that is not known, because a transform follows an array."""
    return not hook.traced(*arrays) and all(x.dtype.kind in "biu" or bool(f.all(f.isfinite(x))) for x in arrays)


def _in_blocks(a, v):
    """The sums of v times each window of a, as a product of two matrices. Each row of the first matrix is a part of a.
    Each column of the second matrix has v at the place of one window in such a part, and zeros elsewhere. The zeros
    multiply the elements of a outside of the window, so these elements must be finite."""
    count = a.size - v.size + 1
    block = max(_BLOCK, min(256, v.size // 2))
    rows = -(-count // block)
    a = f.pad(a, (0, rows * block - count))
    places = f.flip(sliding_window_view(f.pad(f.flip(v), block - 1), block + v.size - 1), axis=0)
    made = f.matmul(sliding_window_view(a, block + v.size - 1)[::block], f.matrix_transpose(places))
    return made.reshape(-1)[:count]


def _rising(a, v):
    """The first n elements of the convolution of two vectors of n elements: element i sums a[j] v[i - j] for
    j <= i. Only these products are computed, because other products may be NaN."""
    n = a.size
    if n <= _BLOCK:
        row, column = np.indices((n, n))
        products = f.take(a, (row - column).clip(0).reshape(-1)).reshape((n, n)) * v
        return f.sum(f.where(column <= row, products, 0), axis=1, dtype=products.dtype)
    half = n // 2
    rest = f.matmul(sliding_window_view(v[1:], half), f.flip(a[:half]))
    return f.concat([_rising(a[:half], v[:half]), _rising(a[half:], v[:n - half]) + rest])


@once_rounded("p")
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """Adds multiples of the period so that no difference along the axis exceeds half a period, or discont
    if that is larger. Integers with an integer period stay integers.

    >>> collet.unwrap([0.0, 3.0, 6.5, 0.5], period=6)
    array([0. , 3. , 0.5, 0.5])"""
    p, = taken(p)
    whole = p.dtype.kind in "iu" and isinstance(period, int)
    p = f.moveaxis(p if whole else p * 1.0, axis, -1)
    steps = p[..., 1:] - p[..., :-1]
    half = period // 2 if whole else period / 2
    short = (steps + half) % period - half
    if not whole or period % 2 == 0:
        short = f.where((short == -half) & (steps > 0), half, short)
    more = f.where(abs(steps) < (half if discont is None else discont), 0, short - steps)
    found = f.concat([p[..., :1], p[..., 1:] + f.cumulative_sum(more, axis=-1, dtype=p.dtype)], axis=-1)
    return f.moveaxis(found, -1, axis)


@once_rounded("x")
def degrees(x, /):
    """Converts radians to degrees.

    >>> float(collet.degrees(np.pi))
    180.0"""
    return taken(x)[0] * (180 / np.pi)


@once_rounded("x")
def radians(x, /):
    """Converts degrees to radians.

    >>> float(collet.radians(180.0)) == np.pi
    True"""
    return taken(x)[0] * (np.pi / 180)
