# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules.py
"""Rules for collet.fft. A transform is linear and symmetric, so its backward function is the same
transform."""

import math

import numpy as np

from .. import fft
from ..fft import _lengths, _OTHER_WAY
from .rules import E_, Key, cast, composite, rule, unindex
from .tape import CONSTANTS

CONSTANTS.update(("fft.fftfreq", "fft.rfftfreq"))


def _resized(g, shape):
    """Cuts g, or pads g with zeros at the end, to another shape."""
    part = tuple(slice(min(n, m)) for n, m in zip(g.shape, shape))
    g = g[part] if g.shape != tuple(len(range(*p.indices(n))) for p, n in zip(part, g.shape)) else g
    return g if g.shape == tuple(shape) else unindex(g, Key(part), tuple(shape))


def _complete(name, several):
    """The rule of a transform from complex to complex arrays."""
    def transform(a, n=None, axis=-1, norm=None):
        function, shape, dtype = getattr(fft, name), a.shape, a.dtype

        def back(g):
            return cast(_resized(function(g, axis=axis, norm=norm), shape), dtype)

        return function(a, n, axis, norm), (back,)

    def transforms(a, s=None, axes=(-2, -1) if name.endswith("2") else None, norm=None):
        function, shape, dtype = getattr(fft, name), a.shape, a.dtype
        chosen, _ = _lengths(a, s, axes, half=False)

        def back(g):
            return cast(_resized(function(g, axes=chosen, norm=norm), shape), dtype)

        return function(a, s, axes, norm), (back,)

    rule("fft." + name)(transforms if several else transform)


for _name in ("fft", "ifft"):
    _complete(_name, False)
for _name in ("fft2", "ifft2", "fftn", "ifftn"):
    _complete(_name, True)


def _real_rule(a, s, axes, norm, made):
    shape, dtype = a.shape, a.dtype
    chosen, lengths = _lengths(a, s, axes, half=False)

    def back(g):
        whole = list(g.shape)
        whole[chosen[-1]] = lengths[-1]
        g = _resized(g, whole)  # zeros in the half of the spectrum that is not stored
        return _resized(cast(fft.fftn(g, axes=chosen, norm=norm), dtype), shape)

    return made, (back,)


def _inverse_rule(a, s, axes, norm, made):
    shape, dtype = a.shape, a.dtype
    chosen, lengths = _lengths(a, s, axes, half=True)
    last, points = chosen[-1], lengths[-1]
    scale = {None: 1 / math.prod(lengths), "backward": 1 / math.prod(lengths), "forward": 1.0,
             "ortho": 1 / math.sqrt(math.prod(lengths))}[norm]

    def back(g):
        half = points // 2 + 1
        twice = np.full(half, 2 * scale)
        twice[0] = scale
        if points % 2 == 0:
            twice[-1] = scale
        weights = twice.astype(made.dtype).reshape([-1 if i == last else 1 for i in range(len(shape))])
        g = E_["conj"](fft.rfftn(g, axes=chosen)) * weights
        return cast(_resized(g, shape), dtype)

    return made, (back,)


def _half(name, back, several):
    def transform(a, n=None, axis=-1, norm=None):
        made = getattr(fft, name)(a, n, axis, norm)
        return back(a, None if n is None else (n,), axis, norm, made)

    def transforms(a, s=None, axes=(-2, -1) if name.endswith("2") else None, norm=None):
        return back(a, s, axes, norm, getattr(fft, name)(a, s, axes, norm))

    rule("fft." + name)(transforms if several else transform)


for _name in ("rfft", "rfft2", "rfftn"):
    _half(_name, _real_rule, _name != "rfft")
    _half("i" + _name, _inverse_rule, _name != "rfft")


@composite("fft.hfft")
def _hfft(a, n=None, axis=-1, norm=None):
    a = a if a.dtype.kind == "c" else a * (1 + 0j)
    return fft.irfft(E_["conj"](a), n, axis, _OTHER_WAY.get(norm, norm))


@composite("fft.ihfft")
def _ihfft(a, n=None, axis=-1, norm=None):
    return E_["conj"](fft.rfft(a, n, axis, _OTHER_WAY.get(norm, norm)))


@rule("fft.fftshift")
def _fftshift(x, axes=None):
    return fft.fftshift(x, axes), (lambda g: fft.ifftshift(g, axes), None)


@rule("fft.ifftshift")
def _ifftshift(x, axes=None):
    return fft.ifftshift(x, axes), (lambda g: fft.fftshift(g, axes), None)
