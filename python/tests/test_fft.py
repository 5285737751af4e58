# SPDX-License-Identifier: Apache-2.0
"""collet.fft beside numpy.fft."""

import numpy as np
import pytest

import collet
from collet import fft

RNG = np.random.default_rng(3)
NORMS = (None, "backward", "ortho", "forward")


@pytest.fixture(name="kind", params=[np.asarray, collet.asarray], ids=["numpy", "Array"])
def fixture_kind(request):
    return request.param


def same(found, wanted, a):
    assert type(found) is (collet.Array if isinstance(a, collet.Array) else np.ndarray)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis(kind, name):
    a = RNG.normal(size=(3, 7, 4)) + 1j * RNG.normal(size=(3, 7, 4)) * (name not in ("rfft", "ihfft"))
    a = a.real if name in ("rfft", "ihfft") else a
    for norm in NORMS:
        for n, axis in ((None, -1), (None, 1), (5, 1), (9, 0), (1, 2)):
            wanted = getattr(np.fft, name)(a, n, axis, norm)
            same(getattr(fft, name)(kind(a), n, axis, norm), wanted, kind(a))
    same(getattr(fft, name)(kind(a.real)), getattr(np.fft, name)(a.real), kind(a))


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn",
                                  "irfftn"])
def test_several_axes(kind, name):
    a = RNG.normal(size=(3, 4, 2, 5, 3))
    a = a if name[0] == "r" else a + 1j * RNG.normal(size=a.shape)
    options = [{}, {"axes": (0, 3)}, {"axes": (3, 1), "s": (6, 3)},
               {"axes": (1, 0), "norm": "ortho"}]
    if name.endswith("n"):
        options += [{"axes": (1,)}, {"axes": (4, 0, 2, 1)},
                    {"s": (4, 4, 4, 4), "axes": (0, 1, 2, 3)},
                    {"axes": (2, 1, 0), "norm": "forward"}]
    for option in options:
        same(getattr(fft, name)(kind(a), **option), getattr(np.fft, name)(a, **option), kind(a))


def test_dtypes(kind):
    for dtype in ("f2", "f4", "c8", "f8", "c16", "i4"):
        wanted = "c8" if dtype in ("f2", "f4", "c8") else "c16"
        a = kind(np.arange(6).astype(dtype))
        assert fft.fft(a).dtype == wanted and fft.ifft(a).dtype == wanted
        assert fft.irfft(a).dtype == {"c8": "f4", "c16": "f8"}[wanted]
        if dtype[0] != "c":
            assert fft.rfft(a).dtype == wanted


def test_inputs_stay(kind):
    a = kind(RNG.normal(size=(4, 4)) + 0j)
    before = np.array(a)
    for name in ("fft", "ifft2", "irfftn"):
        getattr(fft, name)(a, norm="ortho")
    assert (np.asarray(a) == before).all()


def test_errors(kind):
    a = kind(np.ones((3, 4)))
    with pytest.raises(collet.DtypeError, match="real"):
        fft.rfft(kind(np.ones(3, complex)))
    for call in (lambda: fft.fft(a, norm="half"), lambda: fft.fft(a, axis=2), lambda: fft.fft(a, 0),
                 lambda: fft.fftn(a, axes=(0, 0)), lambda: fft.fft2(a, s=(2,)),
                 lambda: fft.fftn(a, axes=()), lambda: fft.fft(kind(np.ones((3, 0)))),
                 lambda: fft.irfft(kind(np.ones((3, 1))))):
        with pytest.raises(ValueError):
            call()


def test_shifts(kind):
    for dtype in ("f4", "i8", "c16", "u1"):
        a = np.arange(30).reshape(2, 3, 5).astype(dtype)
        for axes in (None, 1, -1, (0, 2)):
            same(fft.fftshift(kind(a), axes), np.fft.fftshift(a, axes), kind(a))
            same(fft.ifftshift(kind(a), axes), np.fft.ifftshift(a, axes), kind(a))
    assert (fft.fftfreq(5, 0.1).to_numpy() == np.fft.fftfreq(5, 0.1)).all()
    assert fft.rfftfreq(6, dtype="f4").dtype == np.float32 and fft.rfftfreq(6).shape == (4,)
