# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_fft.py
"""Discrete Fourier transforms under numpy.fft's names, on the ops fft and fftshift.

Results are collet.Arrays for collet.Arrays, and NumPy arrays for everything else that numpy.asarray takes.
Transforms of float32, float16, bfloat16 and complex64 are computed in float32, transforms of other dtypes in float64.
Axes have any length. n and s cut an axis, or pad it with zeros. norm: "backward" divides the inverse transform by the
number of points, "forward" divides the forward transform by it, and "ortho" divides both by its square
root. Raises ValueError for other words, axes that do not exist or repeat, and lengths below 1.
"""

import math

import numpy as np

from . import op
from ._array.creation import asarray
from ._hook import hook as _hook
from ._listing import own
from ._array.operands import arrays, axes_of, converted, floats, permuted, zeros_as

_AT_ONCE = 3  # Maximum number of axes that the op transforms.
_WIDE = ("float32", "float64", "complex64", "complex128")  # Dtypes of Arrays that need no conversion.


def _complex(a):
    return a if a.dtype.kind == "c" else converted(a, np.dtype("c8" if a.dtype == np.float32 else "c16"))


def _resized(a, lengths):
    """a, with the lengths of some axes changed. lengths: {axis: length}."""
    if all(lengths.get(i, n) == n for i, n in enumerate(a.shape)):
        return a
    kept = tuple(slice(lengths.get(i, n)) for i, n in enumerate(a.shape))
    if all(lengths.get(i, n) <= n for i, n in enumerate(a.shape)):
        return a[kept]
    shape = [lengths.get(i, n) for i, n in enumerate(a.shape)]
    padded = zeros_as(a, shape)
    padded[tuple(slice(min(n, m)) for n, m in zip(a.shape, shape))] = a[kept]
    return padded


def _lengths(a, s, axes, half):
    """The axes, and the number of points transformed along each. half: a has only half of the points of the
    last axis."""
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    axes = axes_of(axes, a.ndim)
    if s is None:
        s = [2 * (a.shape[i] - 1) if half and i == axes[-1] else a.shape[i] for i in axes]
    s = [int(n) for n in s]
    if len(s) != len(axes) or not axes or min(s) < 1:
        raise ValueError(f"fft: the axes {axes} of the shape {a.shape} have lengths {s}; each length must be at "
                         "least 1")
    return axes, s


def _scale(norm, points, inverse):
    """The factor for the op's result; the op divides inverse transforms by `points`."""
    factors = {None: 1, "backward": 1, "ortho": math.sqrt(points), "forward": points}
    if norm not in factors:
        raise ValueError(f"fft: norm is {norm!r}; it can be 'backward', 'ortho' or 'forward'")
    return factors[norm] if inverse else 1 / factors[norm]


def _along(a, axes, inverse, last=None):
    """Transforms along at most three axes. last: the length of the result's last axis, for transforms from
    real to complex or from complex to real."""
    order = [i for i in range(a.ndim) if i not in axes] + list(axes)
    ordered = order == [*range(a.ndim)]
    view = a if ordered else permuted(a, order)
    shape, dtype = list(view.shape), None
    if last is not None:
        shape[-1] = last
        dtype = {"f4": "c8", "f8": "c16", "c8": "f4", "c16": "f8"}[a.dtype.str[1:]]
    result = op.fft(view, last_axes=len(axes), inverse=inverse, shape=shape, dtype=dtype)
    return result if ordered else permuted(result, sorted(range(a.ndim), key=order.__getitem__))


def _transform(a, s, axes, norm, inverse, real=False):
    """Computes each transform of this module. real: from real numbers to half a spectrum or, with inverse,
    from half a spectrum to real numbers. Otherwise from complex to complex numbers."""
    if s is None and axes == -1 and norm is None and not real and getattr(a, "_dtype", None) in _WIDE and a.ndim and a.size:
        return op.fft(_complex(a), last_axes=1, inverse=inverse)
    a, = floats(a, complex_too=not real or inverse)
    axes, s = _lengths(a, s, axes, half=real and inverse)
    scale = _scale(norm, math.prod(s), inverse)
    lengths = dict(zip(axes, s))
    half = s[-1] // 2 + 1
    if real and inverse:
        lengths[axes[-1]] = half
    a = _resized(a if real and not inverse else _complex(a), lengths)
    groups = [axes[max(end - _AT_ONCE, 0):end] for end in range(len(axes), 0, -_AT_ONCE)]
    # The axis with half of the points is transformed first; in inverse transforms it is transformed last.
    for group in groups[::-1] if inverse else groups:
        last = (s[-1] if inverse else half) if real and axes[-1] in group else None
        a = _along(a, group, inverse, last)
    return a if scale == 1 else op.mul(a, scale)


def _one(n):
    return None if n is None else (n,)


def fft(a, n=None, axis=-1, norm=None):
    """The complex transform along an axis. The result has the shape of a, except that the axis has the
    length n.

    >>> collet.fft.fft([1.0, 2, 0, -1])
    array([2.+0.j, 1.-3.j, 0.+0.j, 1.+3.j])"""
    return _transform(a, _one(n), axis, norm, False)


def ifft(a, n=None, axis=-1, norm=None):
    """The inverse of fft: complex.

    >>> collet.fft.ifft([4, 0, 0, 0]).real
    array([1., 1., 1., 1.])"""
    return _transform(a, _one(n), axis, norm, True)


def fft2(a, s=None, axes=(-2, -1), norm=None):
    """The transform along two axes; s: their lengths.

    >>> collet.fft.fft2(np.eye(2)).real
    array([[2., 0.],
           [0., 2.]])"""
    return _transform(a, s, axes, norm, False)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """The inverse of fft2.

    >>> collet.fft.ifft2(2 * np.eye(2)).real
    array([[1., 0.],
           [0., 1.]])"""
    return _transform(a, s, axes, norm, True)


def fftn(a, s=None, axes=None, norm=None):
    """The transform along several axes, by default all, or the last len(s) axes if only s is given. s: their
    lengths.

    >>> collet.fft.fftn(np.ones((2, 2, 2)))[0, 0].real
    array([8., 0.])"""
    return _transform(a, s, axes, norm, False)


def ifftn(a, s=None, axes=None, norm=None):
    """The inverse of fftn.

    >>> collet.fft.ifftn(np.ones((2, 2))).real
    array([[1., 0.],
           [0., 0.]])"""
    return _transform(a, s, axes, norm, True)


def rfft(a, n=None, axis=-1, norm=None):
    """The first n // 2 + 1 numbers of fft along the axis, for a real a. Raises DtypeError for a complex a.

    >>> collet.fft.rfft([1.0, 2, 0, -1])
    array([2.+0.j, 1.-3.j, 0.+0.j])"""
    return _transform(a, _one(n), axis, norm, False, real=True)


def irfft(a, n=None, axis=-1, norm=None):
    """The inverse of rfft: real. The default length n is 2 (m - 1) for an axis of a with m elements.

    >>> collet.fft.irfft([4, 0, 0])
    array([1., 1., 1., 1.])"""
    return _transform(a, _one(n), axis, norm, True, real=True)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """fft2 of a real a: only the first n // 2 + 1 numbers of the last axis.

    >>> collet.fft.rfft2(np.eye(2)).real
    array([[2., 0.],
           [0., 2.]])"""
    return _transform(a, s, axes, norm, False, real=True)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """The inverse of rfft2, real.

    >>> collet.fft.irfft2(2 * np.eye(2), s=(2, 2))
    array([[1., 0.],
           [0., 1.]])"""
    return _transform(a, s, axes, norm, True, real=True)


def rfftn(a, s=None, axes=None, norm=None):
    """fftn of a real a: only the first n // 2 + 1 numbers of the last axis.

    >>> collet.fft.rfftn(np.ones((2, 4))).shape
    (2, 3)"""
    return _transform(a, s, axes, norm, False, real=True)


def irfftn(a, s=None, axes=None, norm=None):
    """The inverse of rfftn, real.

    >>> collet.fft.irfftn(np.ones((2, 3)), s=(2, 4)).shape
    (2, 4)"""
    return _transform(a, s, axes, norm, True, real=True)


_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward"}


def hfft(a, n=None, axis=-1, norm=None):
    """The real transform of a Hermitian signal. a: the first half of the signal.

    >>> collet.fft.hfft([1, 2j, 0])
    array([ 1.,  5.,  1., -3.])"""
    return irfft(op.conj(_complex(floats(a, complex_too=True)[0])), n, axis, _OTHER_WAY.get(norm, norm))


def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of hfft: the first n // 2 + 1 numbers.

    >>> collet.fft.ihfft([1.0, 2, 0, 2]).real
    array([ 1.25,  0.25, -0.75])"""
    return op.conj(rfft(a, n, axis, _OTHER_WAY.get(norm, norm)))


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the numbers that fft gives, for n points at the distance d.

    >>> collet.fft.fftfreq(4, 0.5).to_numpy()
    array([ 0. ,  0.5, -1. , -0.5])"""
    return asarray(np.fft.fftfreq(n, d), dtype, device=device)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the numbers that rfft gives.

    >>> collet.fft.rfftfreq(4, 0.5).to_numpy()
    array([0. , 0.5, 1. ])"""
    return asarray(np.fft.rfftfreq(n, d), dtype, device=device)


def _shift(x, axes, inverse):
    x, = arrays(x)
    axes = axes_of(range(x.ndim) if axes is None else axes, x.ndim)
    return op.fftshift(x, axes=axes, inverse=inverse)


def fftshift(x, axes=None):
    """x rolled so that frequency 0 is in the middle of the axes, by default all. Any dtype of
    ops.

    >>> collet.fft.fftshift([0, 1, 2, 3])
    array([2, 3, 0, 1])"""
    return _shift(x, axes, False)


def ifftshift(x, axes=None):
    """Undoes fftshift.

    >>> collet.fft.ifftshift([2, 3, 0, 1])
    array([0, 1, 2, 3])"""
    return _shift(x, axes, True)


_hook(globals(), __name__, "fft.")


def __dir__():
    return own(globals())
