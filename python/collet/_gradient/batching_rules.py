# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_vmap.py
"""The rules of vmap for the functions of collet, collet.linalg, collet.fft and collet.random."""

import string

import numpy as np

from .. import _core, fft, linalg, random
from .. import functions as f
from .._array import elementwise, names
from .._array.operands import axes_of, axis_of
from ..functions._products import _parse
from . import array_rules, batching_indices, linalg_rules, reduction_rules  # noqa: F401 (they register rules)
from .batching import BATCHES, COMPOSED, LOOPED, array, batching, loop, ndim_of
from .batching import elementwise as by_elements
from .rules import E_, function
from .tape import COMPOSITES

for _name in elementwise.names():
    BATCHES[_name] = by_elements(E_[_name])

# These functions examine values, or call ops that have no axis for the rows.
LOOPED.update(("average", "bincount", "digitize", "histogram", "histogram2d", "interp", "nanargmax", "nanargmin", "searchsorted"))
# vmap replaces these functions by the same compositions of public functions as gradients do.
COMPOSED.update((n, COMPOSITES[n]) for n in (
    "asarray", "broadcast_arrays", "cross", "diag", "linspace", "outer", "tensordot", "trace", "linalg.dot", "linalg.vdot"))


# ---- Reductions, and functions along axes

def _moved(x, axis):
    """The axis, or the axes, of the array of all rows."""
    if axis is None:
        return tuple(range(1, x.ndim + 1))
    if hasattr(axis, "__index__"):
        return axis_of(axis, x.ndim) + 1
    return tuple(i + 1 for i in axes_of(axis, x.ndim))


def _over_axes(name):
    def rule(batch, x, /, *, axis=None, **keywords):
        return function(name)(x.value, axis=_moved(x, axis), **keywords)

    return rule


for _name in ("all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"):
    BATCHES[_name] = _over_axes(_name)


def _index_of(name):
    def rule(batch, x, /, *, axis=None, keepdims=False):
        if axis is not None:
            return getattr(f, name)(x.value, axis=_moved(x, axis), keepdims=keepdims)
        found = getattr(f, name)(f.reshape(x.value, (batch.size, -1)), axis=1)
        return f.reshape(found, (batch.size, *[1] * x.ndim)) if keepdims else found

    return rule


BATCHES["argmax"], BATCHES["argmin"] = _index_of("argmax"), _index_of("argmin")


def _along_axis(name, default):
    def rule(batch, x, /, *, axis=default, **keywords):
        return getattr(f, name)(x.value, axis=_moved(x, -1 if axis is None else axis), **keywords)

    return rule


for _name in ("argsort", "sort"):
    BATCHES[_name] = _along_axis(_name, -1)
for _name in ("cumulative_prod", "cumulative_sum"):
    BATCHES[_name] = _along_axis(_name, None)


@batching("quantile")
def _quantile(batch, x, q, /, *, axis=None, method="linear", keepdims=False):
    if not batch.has(x) or batch.has(q):
        return loop(batch, f.quantile, (x, q), {"axis": axis, "method": method, "keepdims": keepdims})
    found = f.quantile(x.value, q, axis=_moved(x, axis), method=method, keepdims=keepdims)
    return f.moveaxis(found, ndim_of(q), 0)


@batching("isin")
def _isin(batch, x1, x2, /, *, invert=False):
    if batch.has(x2):
        return loop(batch, f.isin, (x1, x2), {"invert": invert})
    return f.isin(x1.value, x2, invert=invert)


# ---- Shapes


@batching("reshape")
def _reshape(batch, x, /, shape, *, copy=None):
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    if -1 in shape and not batch.size:
        known = int(np.prod([n for n in shape if n != -1]))
        shape = tuple(x.size // known if n == -1 else n for n in shape)
    return f.reshape(x.value, (batch.size, *shape), copy=copy)


@batching("permute_dims")
def _permute_dims(batch, x, /, axes):
    return f.permute_dims(x.value, (0, *_moved(x, tuple(axes))))


@batching("moveaxis")
def _moveaxis(batch, x, source, destination, /):
    return f.moveaxis(x.value, _moved(x, source), _moved(x, destination))


@batching("matrix_transpose")
def _matrix_transpose(batch, x, /):
    return f.permute_dims(x.value, (*range(x.ndim - 1), x.ndim, x.ndim - 1))


@batching("expand_dims")
def _expand_dims(batch, x, /, axis=0):
    axes = axes_of(axis, x.ndim + (1 if hasattr(axis, "__index__") else len(axis)))
    return f.expand_dims(x.value, tuple(i + 1 for i in axes))


@batching("squeeze")
def _squeeze(batch, x, /, axis=None):
    axes = tuple(i for i, n in enumerate(x.shape) if n == 1) if axis is None else axis
    return f.squeeze(x.value, _moved(x, axes))


@batching("flip")
def _flip(batch, x, /, *, axis=None):
    return f.flip(x.value, axis=_moved(x, axis))


@batching("broadcast_to")
def _broadcast_to(batch, x, /, shape):
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return f.broadcast_to(batch.aligned(x, len(shape)), (batch.size, *shape))


for _name in ("diagonal", "tril", "triu"):  # they work on the last two axes
    BATCHES[_name] = lambda batch, x, /, *, name=_name, **keywords: getattr(f, name)(x.value, **keywords)


@batching("roll")
def _roll(batch, x, /, shift, *, axis=None):
    if batch.has(shift):
        return loop(batch, f.roll, (x, shift), {"axis": axis})
    if axis is None:
        return f.reshape(f.roll(f.reshape(x.value, (batch.size, x.size)), shift, axis=1), x.value.shape)
    return f.roll(x.value, shift, axis=_moved(x, axis))


@batching("repeat")
def _repeat(batch, x, repeats, /, *, axis=None):
    if axis is None:
        return f.repeat(f.reshape(x.value, (batch.size, x.size)), repeats, axis=1)
    return f.repeat(x.value, repeats, axis=_moved(x, axis))


@batching("pad")
def _pad(batch, x, pad_width, mode="constant", *, constant_values=0):
    if not batch.has(x) or batch.any((constant_values,)):
        return loop(batch, f.pad, (x, pad_width, mode), {"constant_values": constant_values})

    def sides(value, batch_axis):
        given = np.broadcast_to(np.asarray(value), (x.ndim, 2))
        return np.concatenate([np.full((1, 2), batch_axis, given.dtype), given])

    values = {"constant_values": sides(constant_values, 0)} if mode == "constant" else {}
    return f.pad(x.value, sides(pad_width, 0), mode, **values)


@batching("concat")
def _concat(batch, arrays, /, *, axis=0):
    parts = [batch.rows(x) for x in arrays]
    if axis is None:
        return f.concat([f.reshape(x, (batch.size, -1)) for x in parts], axis=1)
    return f.concat(parts, axis=axis_of(axis, parts[0].ndim - 1) + 1)


@batching("stack")
def _stack(batch, arrays, /, *, axis=0):
    parts = [batch.rows(x) for x in arrays]
    return f.stack(parts, axis=axis_of(axis, parts[0].ndim) + 1)


@batching("astype")
def _astype(batch, x, dtype, /, *, copy=True, device=None):
    return names.astype(x.value, dtype, copy=copy, device=device)


for _name in ("empty_like", "ones_like", "zeros_like"):
    BATCHES[_name] = lambda batch, x, /, *, dtype=None, device=None, name=_name: getattr(f, name)(
        x.value, dtype=dtype, device=device)


@batching("full_like")
def _full_like(batch, x, /, fill_value, *, dtype=None, device=None):
    if not batch.has(fill_value):
        return f.full_like(x.value, fill_value, dtype=dtype, device=device)
    x = array(x)
    made = f.broadcast_to(batch.aligned(fill_value, x.ndim), (batch.size, *x.shape))
    return names.astype(made, x.dtype if dtype is None else dtype, device=device)


for _name in ("can_cast", "finfo", "result_type"):  # their results are no arrays
    BATCHES[_name] = lambda batch, *values, name=_name: function(name)(*(v.value if batch.has(v) else v for v in values))


# ---- Products


def _matrices(batch, a, b):
    """Both arguments of a product, as arrays of matrices that broadcast."""
    if not ndim_of(a) or not ndim_of(b):
        raise _core.ShapeError("a product of matrices: an argument has no axes; use multiply instead")
    rank = max(ndim_of(a), ndim_of(b), 2)

    def matrices(x, axis):
        vector = ndim_of(x) == 1
        x = x if batch.has(x) else array(x)
        return batch.aligned(f.expand_dims(x, axis) if vector else x, rank)

    return matrices(a, 0), matrices(b, 1)


@batching("matmul")
def _matmul(batch, a, b, /):
    row, column = ndim_of(a) == 1, ndim_of(b) == 1
    made = f.matmul(*_matrices(batch, a, b))
    made = f.squeeze(made, -1) if column else made
    return f.squeeze(made, -2 if not column else -1) if row else made


@batching("vecdot")
def _vecdot(batch, a, b, /, *, axis=-1):
    a, b = (f.moveaxis(x if batch.has(x) else array(x), axis_of(axis, ndim_of(x)), -1) for x in (a, b))
    rank = max(a.ndim, b.ndim)
    return f.vecdot(batch.aligned(a, rank), batch.aligned(b, rank))


@batching("einsum")
def _einsum(batch, subscripts, /, *operands):
    operands = [x if batch.has(x) else array(x) for x in operands]
    groups, wanted = _parse(subscripts, tuple([x.ndim for x in operands]))
    every = dict.fromkeys(n for group in groups for n in group)
    letters = iter(set(string.ascii_letters) - {n for n in every if isinstance(n, str)})
    rows = next(letters)
    of = {n: n if isinstance(n, str) else next(letters) for n in every}
    terms = [rows * batch.has(x) + "".join(of[n] for n in group) for x, group in zip(operands, groups)]
    text = ",".join(terms) + "->" + rows + "".join(of[n] for n in wanted)
    return f.einsum(text, *(x.value if batch.has(x) else x for x in operands))


# ---- Linear algebra


def _of_matrices(name):
    def rule(batch, a, *arguments, **keywords):
        if batch.any((*arguments, *keywords.values())):
            return loop(batch, getattr(linalg, name), (a, *arguments), keywords)
        return getattr(linalg, name)(a.value, *arguments, **keywords)

    BATCHES["linalg." + name] = rule


for _name in ("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu", "matrix_norm", "matrix_power",
              "matrix_rank", "pinv", "qr", "slogdet", "svd", "svdvals"):
    _of_matrices(_name)


@batching("linalg.solve")
def _solve(batch, a, b):
    vector = ndim_of(b) == 1
    made = linalg.solve(*_matrices(batch, a, b))
    return f.squeeze(made, -1) if vector else made


@batching("linalg.norm")
def _norm(batch, x, ord=None, axis=None, keepdims=False):
    if axis is None and ord is None:
        return _vector_norm(batch, x, keepdims=keepdims)
    return linalg.norm(x.value, ord, _moved(x, axis), keepdims)


@batching("linalg.vector_norm")
def _vector_norm(batch, x, /, *, axis=None, keepdims=False, ord=2):
    return linalg.vector_norm(x.value, axis=_moved(x, axis), keepdims=keepdims, ord=ord)


# ---- Fourier transforms


def _one_axis(name):
    def rule(batch, a, n=None, axis=-1, norm=None):
        return getattr(fft, name)(a.value, n, _moved(a, axis), norm)

    BATCHES["fft." + name] = rule


def _several_axes(name):
    default = (-2, -1) if name.endswith("2") else None

    def rule(batch, a, s=None, axes=default, norm=None):
        if axes is None:
            axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
        return getattr(fft, name)(a.value, s, _moved(a, tuple(axes)), norm)

    BATCHES["fft." + name] = rule


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _one_axis(_name)
for _name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
    _several_axes(_name)
for _name in ("fftshift", "ifftshift"):
    BATCHES["fft." + _name] = lambda batch, x, axes=None, name=_name: getattr(fft, name)(x.value, _moved(x, axes))


# ---- Random numbers: each row has the numbers of the row's seed and offset


for _name in ("uniform", "normal"):
    BATCHES["random." + _name] = lambda batch, *arguments, name=_name, **keywords: loop(
        batch, getattr(random, name), arguments, keywords)
