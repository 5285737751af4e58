# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py, python/tests/linalg/test_linalg.py
"""Products of arrays of any dtype, in the dtype that NumPy 2 gives them. collet.functions exports them.

The ops dot, matvec and matmul multiply float32, float64 and complex numbers. matmul multiplies float16 and
bfloat16 too. Integers and bool have no such kernels: evaluate multiplies integers modulo 2^width, and
computes `and` and `or` of bool.
"""

import functools
import math

from .. import _core, op
from .._core import ShapeError
from .._array.conversion import small
from .._array.operands import axes_of, axis_of, converted, empty_as, narrowed, permuted, promoted
from ._rounding import is_half, once_rounded
from ._shapes import broadcast_to, diagonal, matrix_transpose, moveaxis


def _multiply(a, b):
    return (op.bitwise_and if a.dtype.kind == "b" else op.mul)(a, b)


def _sum(a, axes):
    """The sum in the dtype of a. For bool: whether any element is true."""
    if not axes:
        return a
    if a.dtype.kind == "b":
        return op.any(a, axes=axes)
    return narrowed(op.sum(a, axes=axes), a.dtype)


def _sum_of_products(a, b, axis):
    """The sums over an axis of the broadcast product, in one pass."""
    text = "any(a & b, axis={})" if a.dtype.kind == "b" else "sum(a*b, axis={})"
    return narrowed(_core.evaluate(text.format(axis), {"a": a, "b": b}), a.dtype)


def _inner(a, b):
    """The sum over the last axis of a times b."""
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind in "fV" and size < 4:
        single = _core.dtype("float32")
        return converted(_inner(converted(a, single), converted(b, single)), a.dtype)
    return op.dot(a, b) if a.ndim == b.ndim == 1 and kind in "fc" else _sum_of_products(a, b, -1)


_small = small("matmul")
_SINGLE = {"float32", "float64", "complex64", "complex128"}
_OPS = {(1, 1): op.dot, (2, 1): op.matvec, (2, 2): op.matmul}  # the ops, by numbers of axes, for dtypes of _SINGLE


def matmul(x1, x2, /):
    """The product of (..., M, K) and (..., K, N), batch axes broadcast: (..., M, N). An argument with one
    axis is a vector. Its axis is absent from the result.

    >>> collet.matmul([[1, 2], [3, 4]], [1, 1])
    array([3, 7])"""
    made = _small(x1, x2)
    if made is not None:
        return made
    if isinstance(x1, _core.Array) and isinstance(x2, _core.Array) and x1._dtype == x2._dtype:
        product = _OPS.get((x1.ndim, x2.ndim)) if x1._dtype in _SINGLE else None
        if product and x1.shape[-1] == x2.shape[0]:
            return product(x1, x2)
    a, b = promoted(x1, x2)
    if not a.ndim or not b.ndim:
        raise ShapeError("matmul: an argument has no axes; use multiply instead")
    kind, size = a.dtype.kind, a.dtype.itemsize
    if a.shape[-1] != b.shape[-2:][0]:
        raise ShapeError(f"matmul: the shapes {a.shape} and {b.shape} do not fit: {a.shape[-1]} columns "
                         f"and {b.shape[-2:][0]} rows")
    if a.ndim == 1 and b.ndim == 1:
        return _inner(a, b)
    if kind in "fc" and size >= 4 and 1 in (a.ndim, b.ndim):
        return op.matvec(a, b) if b.ndim == 1 else op.matvec(matrix_transpose(b), a)
    row, column = a.ndim == 1, b.ndim == 1
    a, b = a[None] if row else a, b[:, None] if column else b
    if kind in "biu":
        product = _sum_of_products(a[..., None], b[..., None, :, :], -2)
    else:
        product = op.matmul(a, b)
    if row:
        return product[..., 0, :]
    return product[..., 0] if column else product


def vecdot(x1, x2, /, *, axis=-1):
    """The sums over an axis of x1, conjugated if complex, times x2.

    >>> collet.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])"""
    if axis == -1 and isinstance(x1, _core.Array) and isinstance(x2, _core.Array) and x1.ndim == x2.ndim == 1:
        made = small("matmul")(x1, x2)
        if made is not None:
            return made
    a, b = promoted(x1, x2)
    a, b = (moveaxis(x, axis_of(axis, x.ndim), -1) for x in (a, b))
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"vecdot: the axes have the lengths {a.shape[-1]} and {b.shape[-1]}")
    return _inner(op.conj(a) if a.dtype.kind == "c" else a, b)


def outer(x1, x2, /):
    """All products of an element of x1 and one of x2: (size of x1, size of x2).

    >>> collet.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])"""
    a, b = promoted(x1, x2)
    return _multiply(a.reshape((-1, 1)), b.reshape((1, -1)))


@once_rounded("x1", "x2")
def cross(x1, x2, /, *, axis=-1):
    """The cross products of vectors of 3 along an axis.

    >>> collet.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])"""
    a, b = promoted(x1, x2)
    a, b = (moveaxis(x, axis_of(axis, x.ndim), -1) for x in (a, b))
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ShapeError(f"cross: the axes have the lengths {a.shape[-1]} and {b.shape[-1]}; vectors "
                         "have 3 elements")
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        parts.append(op.sub(op.mul(a[..., i], b[..., j]), op.mul(a[..., j], b[..., i])))
    out = empty_as(parts[0], (*parts[0].shape, 3))
    for i, part in enumerate(parts):
        op.copy(part, out=out[..., i])
    return moveaxis(out, -1, axis)


def trace(x, /, *, offset=0, dtype=None):
    """The traces of the matrices in the last two axes. Traces of integers and bool are int64 or uint64.

    >>> int(collet.trace([[1, 2], [3, 4]]))
    5"""
    found = diagonal(x, offset=offset)
    if dtype is None:
        return op.sum(found, axes=-1)
    dtype = _core.dtype(dtype)
    if found.dtype.kind not in "biu" or dtype.kind not in "iu":
        found = converted(found, dtype)
    return narrowed(op.sum(found, axes=-1), dtype)


def tensordot(x1, x2, /, *, axes=2):
    """The sums of products over the last `axes` axes of x1 and the first `axes` axes of x2. axes may be a
    pair of sequences: the summed axes of x1 and of x2. In the result the other axes of x1 come first.

    >>> collet.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]]).shape
    ()"""
    a, b = promoted(x1, x2)
    if hasattr(axes, "__index__"):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes is {axes}; the arrays have {a.ndim} and {b.ndim} axes")
        axes = range(a.ndim - axes, a.ndim), range(axes)
    first, second = axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim)
    extents = [a.shape[i] for i in first]
    if extents != [b.shape[i] for i in second]:
        raise ShapeError(f"tensordot: the lengths {extents} and {[b.shape[i] for i in second]} of the "
                         "axes are not equal")
    rows, columns = ([i for i in range(x.ndim) if i not in used] for x, used in
                     ((a, first), (b, second)))
    shape = [a.shape[i] for i in rows] + [b.shape[i] for i in columns]
    size = math.prod(extents)
    a = permuted(a, [*rows, *first]).reshape((math.prod(a.shape[i] for i in rows), size))
    b = permuted(b, [*second, *columns]).reshape((size, math.prod(b.shape[i] for i in columns)))
    return matmul(a, b).reshape(shape)


# ---- einsum. An operand is (labels, array). Each axis has a label: a letter, or for an axis of "..." a
# number, counted from the last of these axes.


def _labels(term, ndim):
    before, dots, after = term.partition("...")
    letters = before + after
    missing = ndim - len(letters)
    if not (letters.isalpha() or not letters) or missing < 0 or (missing and not dots):
        raise ValueError(f"einsum: the subscripts {term!r} do not fit an array with {ndim} axes; give a "
                         "letter for each, or '...' for the others")
    return [*before, *range(-missing, 0), *after]


def _read(subscripts, axes):
    """The labels of every operand, and of the result. axes: the number of axes of each operand."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(axes):
        raise ValueError(f"einsum: subscripts for {len(terms)} arrays, but there are {len(axes)}")
    labels = [_labels(term, ndim) for term, ndim in zip(terms, axes)]
    every = [label for group in labels for label in group]
    dots = sorted({label for label in every if isinstance(label, int)})
    letters = [label for label in every if not isinstance(label, int)]
    if not arrow:
        return labels, dots + sorted(label for label in set(letters) if letters.count(label) == 1)
    before, found, after = output.partition("...")
    wanted = [*before, *(dots if found else ()), *after]
    if len(set(wanted)) < len(wanted) or not set(before + after) <= set(letters) or (dots and not found):
        raise ValueError(f"einsum: the result is {output!r}; it may have each letter of the arrays once, and "
                         "must have '...' if an array has it")
    return labels, wanted


_parse = functools.lru_cache(512)(_read)


def _distinct(labels, x):
    """The operand with each label once: takes diagonals of repeated labels."""
    if len({*labels}) == len(labels):
        return labels, x
    labels = list(labels)
    for label in set(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ShapeError(f"einsum: the axes {label!r} have the lengths {x.shape[first]} and "
                                 f"{x.shape[second]}")
            x = diagonal(moveaxis(x, (first, second), (-2, -1)))
            labels = [n for i, n in enumerate(labels) if i not in (first, second)] + [label]
    return labels, x


def _kept(labels, x, needed):
    """The operand summed over axes that are not needed."""
    axes = tuple(i for i, n in enumerate(labels) if n not in needed)
    if not axes:
        return labels, x
    return [n for n in labels if n in needed], _sum(x, axes)


def _ordered(labels, x, wanted):
    return x if labels == wanted else permuted(x, [labels.index(n) for n in wanted])


def _contracted(first, second, later):
    """The product of two operands, summed over the labels that neither the result nor a later operand
    has."""
    labels_a, a = _kept(*first, later | set(second[0]))
    labels_b, b = _kept(*second, later | set(labels_a))
    batch = [n for n in labels_a if n in labels_b and n in later]
    inner = [n for n in labels_a if n in labels_b and n not in later]
    rows, columns = ([n for n in own if n not in other] for own, other in
                     ((labels_a, labels_b), (labels_b, labels_a)))
    a, b = _ordered(labels_a, a, batch + rows + inner), _ordered(labels_b, b, batch + inner + columns)
    outside, left = list(a.shape[:len(batch)]), a.shape[len(batch):len(batch) + len(rows)]
    right = b.shape[len(batch) + len(inner):]
    if not inner:
        a = a.reshape((*outside, *left, *(1 for _ in columns)))
        b = b.reshape((*outside, *(1 for _ in rows), *right))
        return batch + rows + columns, _multiply(a, b)
    size = math.prod(b.shape[len(batch):len(batch) + len(inner)])
    a = a.reshape((*outside, math.prod(left), size))
    b = b.reshape((*outside, size, math.prod(right)))
    if rows or columns:
        return batch + rows + columns, matmul(a, b).reshape((*outside, *left, *right))
    return batch, _inner(a[..., 0, :], b[..., 0])


def _is_product(labels, wanted):
    """Whether there are two operands, and every summed label occurs in both."""
    return len(labels) == 2 and all({*own} <= {*other, *wanted} for own, other in (labels, labels[::-1]))


def einsum(subscripts, /, *operands):
    """The sums of products that the subscripts describe, as in numpy.einsum. Contracts from left to right:
    each pair of arrays by one matmul, sum or mul.

    >>> collet.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])
    array([3, 7])"""
    operands = promoted(*operands)
    labels, wanted = _parse(subscripts, tuple([x.ndim for x in operands]))
    if len(labels) == 2 and labels[0] == labels[1] == labels[0][:1] and not wanted and \
            operands[0].shape == operands[1].shape:
        return _inner(*operands)
    if is_half(operands[0].dtype) and not _is_product(labels, wanted):
        single = [converted(x, _core.dtype("float32")) for x in operands]
        return converted(einsum(subscripts, *single), operands[0].dtype)
    terms = [_distinct(*term) for term in zip(labels, operands)]
    extents = {}
    for group, x in terms:
        for label, n in zip(group, x.shape):
            if extents.setdefault(label, n) == 1:
                extents[label] = n
            elif n not in (1, extents[label]):
                raise ShapeError(f"einsum: the axes {label!r} have the lengths {extents[label]} and {n}")
    terms = [(group, broadcast_to(x, [extents[n] for n in group])) for group, x in terms]
    result = terms[0]
    for i in range(1, len(terms)):
        later = set(wanted).union(*(group for group, _ in terms[i + 1:]))
        result = _contracted(result, terms[i], later)
    return _ordered(*_kept(*result, set(wanted)), wanted)
