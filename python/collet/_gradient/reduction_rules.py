# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules.py
"""Rules for reductions and for products of arrays."""

import math
import string

from .. import functions as f
from .._array.operands import axes_of, axis_of
from ..functions._products import _parse
from .rules import E_, cast, composite, conj, fit, fitted, like, rule
from .tape import record

# ---- Reductions


def _axes(x, axis):
    return axes_of(range(len(x.shape)) if axis is None else axis, len(x.shape))


def _kept(x, axes):
    """The shape with reduced axes of length 1."""
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape))


@rule("sum")
def _sum(x, /, *, axis=None, dtype=None, keepdims=False):
    kept, (shape, was) = _kept(x, _axes(x, axis)), like(x)
    return f.sum(x, axis=axis, dtype=dtype, keepdims=keepdims), (
        lambda g: f.broadcast_to(cast(f.reshape(g, kept), was), shape),)


@rule("mean")
def _mean(x, /, *, axis=None, keepdims=False):
    kept, shape = _kept(x, _axes(x, axis)), x.shape
    share = math.prod(kept) / max(math.prod(shape), 1)
    return f.mean(x, axis=axis, keepdims=keepdims), (
        lambda g: f.broadcast_to(f.reshape(g * share, kept), shape),)


@composite("prod")
def _prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Multiplies by halves. Quotients would divide by elements that are 0."""
    x = x if dtype is None else x.astype(dtype)
    axes = _axes(x, axis)
    others = [i for i in range(x.ndim) if i not in axes]
    kept = _kept(x, axes) if keepdims else tuple(x.shape[i] for i in others)
    rows = f.reshape(f.permute_dims(x, [*others, *axes]), (*(x.shape[i] for i in others),
                                                           math.prod(x.shape[i] for i in axes)))
    if not rows.shape[-1]:
        return f.broadcast_to(f.ones_like(f.sum(rows)), kept)
    while rows.shape[-1] > 1:
        half, odd = divmod(rows.shape[-1], 2)
        first = rows[..., :half] * rows[..., half:2 * half]
        rows = f.concat([first, rows[..., 2 * half:]], axis=-1) if odd else first
    return f.reshape(rows, kept)


def _spread_back(x, axes, kept, correction):
    """2 (x - mean) / (n - correction)."""
    count = math.prod(x.shape[i] for i in axes) - correction
    return conj(x - f.mean(x, axis=axes, keepdims=True)) * (2 / count if count > 0 else math.nan)


@rule("var")
def _var(x, /, *, axis=None, correction=0.0, keepdims=False):
    axes = _axes(x, axis)
    kept = _kept(x, axes)
    return f.var(x, axis=axis, correction=correction, keepdims=keepdims), (
        lambda g: f.reshape(g, kept) * _spread_back(x, axes, kept, correction),)


@composite("std")
def _std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return E_["sqrt"](f.var(x, axis=axis, correction=correction, keepdims=keepdims))


def _extreme(name):
    @rule(name)
    def extreme(x, /, *, axis=None, keepdims=False):
        """Elements that share the extreme value share the gradient equally."""
        reduce = getattr(f, name)
        kept = _kept(x, _axes(x, axis))
        made = reduce(x, axis=axis, keepdims=keepdims)
        chosen = (x == f.reshape(made, kept)).astype(x.dtype)
        share = chosen / f.sum(chosen, axis=axis, keepdims=True)
        return made, (lambda g: f.reshape(g, kept) * share,)


_extreme("min")
_extreme("max")

# ---- Products


def _rows(x):
    return f.expand_dims(x, -2) if len(x.shape) == 1 else x


def _columns(x):
    return f.expand_dims(x, -1) if len(x.shape) == 1 else x


def _array(x):
    return x if hasattr(x, "shape") else f.broadcast_arrays(x)[0]


@rule("matmul")
def _matmul(a, b, /):
    a, b = _array(a), _array(b)
    made = f.matmul(a, b)
    row, column = len(a.shape) == 1, len(b.shape) == 1

    def whole(g):
        """The gradient of the product of matrices."""
        g = f.expand_dims(g, -1) if column else g
        return f.expand_dims(g, -2) if row else g

    def back_a(g):
        g = f.matmul(whole(g), f.matrix_transpose(_columns(b)))
        return g[..., 0, :] if row else g

    def back_b(g):
        g = f.matmul(f.matrix_transpose(_rows(a)), whole(g))
        return g[..., 0] if column else g

    return made, (fitted(a, back_a), fitted(b, back_b))


@composite("vecdot")
def _vecdot(a, b, /, *, axis=-1):
    a, b = _array(a), _array(b)
    if axis != -1:
        a, b = (f.moveaxis(x, axis_of(axis, len(x.shape)), -1) for x in (a, b))
    return record(_inner, (conj(a), b), {})


def _inner(a, b, /):
    made = f.vecdot(conj(a), b)
    return made, (fitted(a, lambda g: f.expand_dims(g, -1) * b),
                  fitted(b, lambda g: f.expand_dims(g, -1) * a))


@composite("outer")
def _outer(a, b, /):
    a, b = _array(a), _array(b)
    return f.reshape(a, (-1, 1)) * f.reshape(b, (1, -1))


@composite("cross")
def _cross(a, b, /, *, axis=-1):
    a, b = (f.moveaxis(x, axis_of(axis, len(x.shape)), -1) for x in (_array(a), _array(b)))
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return f.stack(parts, axis=axis)


@composite("trace")
def _trace(x, /, *, offset=0, dtype=None):
    return f.sum(f.diagonal(x, offset=offset), axis=-1, dtype=dtype)


@composite("tensordot")
def _tensordot(a, b, /, *, axes=2):
    a, b = _array(a), _array(b)
    if hasattr(axes, "__index__"):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    first, second = axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim)
    rows, columns = ([i for i in range(x.ndim) if i not in used] for x, used in ((a, first), (b, second)))
    size = math.prod(a.shape[i] for i in first)
    shape = [a.shape[i] for i in rows] + [b.shape[i] for i in columns]
    a = f.reshape(f.permute_dims(a, [*rows, *first]), (math.prod(a.shape[i] for i in rows), size))
    b = f.reshape(f.permute_dims(b, [*second, *columns]), (size, math.prod(b.shape[i] for i in columns)))
    return f.reshape(f.matmul(a, b), shape)


@composite("einsum")
def _einsum(subscripts, /, *operands):
    operands = [_array(x) for x in operands]
    groups, wanted = _parse(subscripts, tuple([x.ndim for x in operands]))
    letters = iter(set(string.ascii_letters) - {n for group in groups for n in group if isinstance(n, str)})
    names = {n: n if isinstance(n, str) else next(letters)
             for n in dict.fromkeys(n for group in groups for n in group)}
    terms = [_distinct([names[n] for n in group], x) for group, x in zip(groups, operands)]
    text = ",".join(labels for labels, _ in terms) + "->" + "".join(names[n] for n in wanted)
    return record(_einsum_rule, (text, *(x for _, x in terms)), {})


def _distinct(labels, x):
    """The operand with each label once: takes diagonals of repeated labels."""
    for label in set(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = f.diagonal(f.moveaxis(x, (first, second), (-2, -1)))
            labels = [n for i, n in enumerate(labels) if i not in (first, second)] + [label]
    return "".join(labels), x


def _einsum_rule(text, /, *operands):
    inputs, output = text.split("->")
    inputs = inputs.split(",")
    extents = {}
    for labels, x in zip(inputs, operands):
        for label, n in zip(labels, x.shape):
            extents[label] = n if extents.get(label, 1) == 1 else extents[label]

    def back(i):
        labels, shape = inputs[i], operands[i].shape

        def gradient(g):
            others = [x for j, x in enumerate(operands) if j != i]
            terms = [output, *(t for j, t in enumerate(inputs) if j != i)]
            known = [n for n in labels if any(n in t for t in terms)]
            g = f.broadcast_to(g, [extents[n] for n in output])
            found = f.einsum(",".join(terms) + "->" + "".join(known), g, *others)
            whole = [extents[n] if n in known else 1 for n in labels]
            found = f.broadcast_to(f.reshape(found, whole), [extents[n] for n in labels])
            return fit(found, shape, found.dtype)

        return fitted(operands[i], gradient)

    return f.einsum(text, *operands), (None, *map(back, range(len(operands))))
