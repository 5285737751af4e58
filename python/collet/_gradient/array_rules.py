# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules.py
"""Rules for functions that arrange, select and sort elements."""


import numpy as np

from .. import functions as f
from .._array.creation import asarray
from .._array.operands import axes_of, axis_of
from ..functions._rounding import once_rounded
from ..functions._shapes import spaced
from .rules import E_, Key, composite, fit, fitted, like, rule, unindex
from .tape import CONSTANTS, Traced, bottom, record, untraced

CONSTANTS.update((
    "argsort", "argmin", "argmax", "any", "all", "count_nonzero", "isin", "nonzero", "searchsorted",
    "empty_like", "zeros_like", "ones_like", "result_type", "can_cast", "finfo", "broadcast_shapes"))


def _ranges(extents):
    """The indices of every element: an array for each axis. The arrays broadcast to the shape."""
    return [np.arange(n).reshape([-1 if i == j else 1 for j in range(len(extents))])
            for i, n in enumerate(extents)]


# ---- Views


@rule("reshape")
def _reshape(x, /, shape, *, copy=None):
    was = x.shape
    return f.reshape(x, shape, copy=copy), (lambda g: f.reshape(g, was), None)


@rule("permute_dims")
def _permute_dims(x, /, axes):
    order = axes_of(axes, len(x.shape))
    back = sorted(range(len(order)), key=order.__getitem__)
    return f.permute_dims(x, order), (lambda g: f.permute_dims(g, back), None)


@rule("moveaxis")
def _moveaxis(x, source, destination, /):
    return f.moveaxis(x, source, destination), (lambda g: f.moveaxis(g, destination, source), None, None)


@rule("matrix_transpose")
def _matrix_transpose(x, /):
    return f.matrix_transpose(x), (f.matrix_transpose,)


@rule("expand_dims")
def _expand_dims(x, /, axis=0):
    was = x.shape
    return f.expand_dims(x, axis), (lambda g: f.reshape(g, was), None)


@rule("squeeze")
def _squeeze(x, /, axis=None):
    was = x.shape
    return f.squeeze(x, axis), (lambda g: f.reshape(g, was), None)


@rule("flip")
def _flip(x, /, *, axis=None):
    return f.flip(x, axis=axis), (lambda g: f.flip(g, axis=axis),)


@rule("broadcast_to")
def _broadcast_to(x, /, shape):
    was = like(x)
    return f.broadcast_to(x, shape), (lambda g: fit(g, *was), None)


@composite("broadcast_arrays")
def _broadcast_arrays(*arrays):
    shape = np.broadcast_shapes(*(np.shape(a) if not hasattr(a, "shape") else a.shape for a in arrays))
    return tuple(f.broadcast_to(a, shape) for a in arrays)


@rule("diagonal")
def _diagonal(x, /, *, offset=0):
    made, shape = f.diagonal(x, offset=offset), x.shape
    places = np.arange(made.shape[-1])
    key = Key((Ellipsis, places + max(-offset, 0), places + max(offset, 0)))
    return made, (lambda g: unindex(g, key, shape),)


@composite("diag")
def _diag(x, /, k=0):
    if x.ndim == 2:
        return f.diagonal(x, offset=k)
    rows = f.pad(x, (max(-k, 0), max(k, 0)))
    return E_["where"](f.eye(rows.shape[0], k=k) != 0, rows.reshape(-1, 1), 0.0)


# ---- Copies


@composite("linspace")
def _linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    return spaced(start, stop, num, dtype, endpoint)


@composite("asarray")
def _asarray(value, dtype):
    if isinstance(value, (list, tuple)):
        value = f.stack([_asarray(v, None) for v in value])
    elif not isinstance(value, Traced):
        value = asarray(value)
    return value if dtype is None else value.astype(dtype)


def _listed(arrays):
    return list(arrays) if isinstance(arrays, Traced) else arrays


@composite("concat")
def _concat(arrays, /, *, axis=0):
    return record(_concat_rule, (_listed(arrays),), {"axis": axis})


def _concat_rule(arrays, /, *, axis=0):
    made = f.concat(arrays, axis=axis)
    backs, end = [], 0
    for x in arrays:
        shape, dtype = like(x)
        start, end = end, end + ((np.size(x) if dtype is None else x.size) if axis is None else
                                 np.shape(x)[axis] if dtype is None else shape[axis])
        if axis is None:
            backs.append(lambda g, a=start, b=end, s=shape, d=dtype: fit(f.reshape(g[a:b], s), s, d))
        else:
            lead = (slice(None),) * axis_of(axis, len(made.shape))
            backs.append(fitted(x, lambda g, k=(*lead, slice(start, end)): g[k]))
    return made, (backs,)


@composite("stack")
def _stack(arrays, /, *, axis=0):
    return record(_stack_rule, (_listed(arrays),), {"axis": axis})


def _stack_rule(arrays, /, *, axis=0):
    made = f.stack(arrays, axis=axis)
    lead = (slice(None),) * axis_of(axis, len(made.shape))
    return made, ([fitted(x, lambda g, k=(*lead, i): g[k]) for i, x in enumerate(arrays)],)


@rule("roll")
def _roll(x, /, shift, *, axis=None):
    back = tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else -shift
    return f.roll(x, shift, axis=axis), (lambda g: f.roll(g, back, axis=axis), None)


@composite("repeat")
def _repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = f.reshape(x, -1), 0
    places = f.repeat(f.arange(x.shape[axis]), untraced(repeats))
    return f.take(x, places, axis=axis)


@composite("pad")
def _pad(x, pad_width, mode="constant", *, constant_values=0):
    if mode == "constant":
        outside = f.pad(f.zeros_like(bottom(x)), pad_width, constant_values=untraced(constant_values))
        sides = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
        inner = Key(tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, sides)))
        return unindex(x, inner, outside.shape) + outside
    places = f.reshape(f.arange(x.size), x.shape)
    return f.take(f.reshape(x, -1), f.pad(places, pad_width, mode))


@rule("tril")
def _tril(x, /, *, k=0):
    return f.tril(x, k=k), (lambda g: f.tril(g, k=k),)


@rule("triu")
def _triu(x, /, *, k=0):
    return f.triu(x, k=k), (lambda g: f.triu(g, k=k),)


@composite("full_like")
def _full_like(x, /, fill_value, *, dtype=None, device=None):
    if not isinstance(fill_value, Traced):
        return f.full_like(bottom(x), fill_value, dtype=dtype, device=device)
    x = bottom(x)
    filled = f.broadcast_to(fill_value, x.shape)
    return filled.astype(x.dtype if dtype is None else dtype)


# ---- Selection and order


@rule("take")
def _take(x, indices, /, *, axis=None):
    shape = x.shape
    place = axis_of(-1 if axis is None else axis, len(shape))
    key = Key((slice(None),) * place + (indices,))
    return f.take(x, indices, axis=axis), (lambda g: unindex(g, key, shape), None)


def _along(x, indices, axis):
    """The key of take_along_axis."""
    axis = axis_of(axis, len(x.shape))
    indices = indices if isinstance(indices, Traced) else np.asarray(indices)  # positions, on the host
    shape = [n if i == axis else m for i, (n, m) in enumerate(zip(indices.shape, x.shape))]
    key = _ranges(shape)
    key[axis] = f.broadcast_to(indices, shape)
    return Key(tuple(key))


@rule("take_along_axis")
def _take_along_axis(x, indices, /, *, axis=-1):
    key, shape = _along(x, indices, axis), x.shape
    return f.take_along_axis(x, indices, axis=axis), (lambda g: unindex(g, key, shape), None)


@rule("sort")
def _sort(x, /, *, axis=-1, descending=False, stable=True):
    order = f.argsort(bottom(x), axis=axis, descending=descending)
    back = f.argsort(order, axis=axis)
    return f.take_along_axis(x, order, axis=axis), (lambda g: f.take_along_axis(g, back, axis=axis),)


def _unique(name):
    @composite(name)
    def unique(x, /):
        found = getattr(f, name)(bottom(x))
        values = f.take(f.reshape(x, -1), f.unique_all(bottom(x)).indices)
        return values if name == "unique_values" else found._replace(values=values)


for _name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
    _unique(_name)


# ---- Cumulative sums and order statistics along an axis


@rule("cumulative_sum")
def _cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    made, was = f.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial), like(x)
    axis = axis_of(-1 if axis is None else axis, len(made.shape))

    def back(g):
        g = g[(slice(None),) * axis + (slice(1, None),)] if include_initial else g
        g = f.flip(f.cumulative_sum(f.flip(g, axis=axis), axis=axis), axis=axis)
        return fit(f.reshape(g, was[0]), *was)

    return made, (back,)


@composite("cumulative_prod")
def _cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    axis = axis_of(-1 if axis is None else axis, x.ndim)
    x = f.moveaxis(x if dtype is None else x.astype(dtype), axis, -1)
    count = 1
    while count < x.shape[-1]:  # products of 2, 4, 8, ... elements: quotients would divide by elements that are 0
        x = f.concat([x[..., :count], x[..., count:] * x[..., :-count]], axis=-1)
        count *= 2
    if include_initial:
        x = f.concat([f.ones_like(bottom(x)[..., :1]), x], axis=-1)
    return f.moveaxis(x, -1, axis)


@composite("quantile")
@once_rounded("x")
def _quantile(x, /, q, *, axis=None, method="linear", keepdims=False):
    from ..functions._statistics import _ELEMENTS, _places
    q = np.asarray(untraced(q), "f8")
    f.quantile(bottom(x), q, axis=axis, method=method)  # checks the arguments
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim)
    others = [i for i in range(x.ndim) if i not in axes]
    kept = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    x = f.sort(f.reshape(f.permute_dims(x, [*others, *axes]), [*(x.shape[i] for i in others), -1]))
    at = _places(q.reshape(-1), x.shape[-1], method)
    if method in _ELEMENTS:
        found = f.take(x, at.astype("i8"), axis=-1)
    else:
        share = np.asarray(at - np.floor(at), x.dtype)
        low, high = (f.take(x, edge(at).astype("i8"), axis=-1) for edge in (np.floor, np.ceil))
        found = low * (1 - share) + high * share
    return f.reshape(f.moveaxis(found, -1, 0), [*q.shape, *kept])


@composite("histogram")
def _histogram(x, /, bins=10, range=None, density=False, weights=None):
    """Counts are constants. Sums of weights are linear in the weights."""
    if not isinstance(weights, Traced):
        return f.histogram(bottom(x), untraced(bins), range, density, weights)
    counts, edges = f.histogram(bottom(x), untraced(bins), range)
    edges, values = edges.astype("f8"), bottom(x).reshape(-1)
    places = f.searchsorted(edges, values, side="right")
    count = counts.shape[0]
    places = E_["where"](values == edges[-1:], count, places)
    inside = f.nonzero((places >= 1) & (places <= count))[0]
    found = unindex(f.take(f.reshape(weights, -1), inside), Key(f.take(places, inside) - 1), (count,))
    if density:
        found = found / (edges[1:] - edges[:-1]) / f.sum(found)
    return found, edges


