# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_stubs.py
"""Types of collet.fft: an Array of an Array, else an array of NumPy."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy.typing as npt

from ._standard.array import Array

_Result: TypeAlias = npt.NDArray[Any]

@overload
def fft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def fft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def fft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> Array: ...
@overload
def fft2(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> _Result: ...
def fftfreq(
    n: int, d: float = 1.0, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array: ...
@overload
def fftn(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array: ...
@overload
def fftn(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> _Result: ...
@overload
def fftshift(x: Array, axes: int | Sequence[int] | None = None) -> Array: ...
@overload
def fftshift(x: npt.ArrayLike, axes: int | Sequence[int] | None = None) -> _Result: ...
@overload
def hfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def hfft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def ifft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def ifft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def ifft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> Array: ...
@overload
def ifft2(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> _Result: ...
@overload
def ifftn(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array: ...
@overload
def ifftn(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> _Result: ...
@overload
def ifftshift(x: Array, axes: int | Sequence[int] | None = None) -> Array: ...
@overload
def ifftshift(x: npt.ArrayLike, axes: int | Sequence[int] | None = None) -> _Result: ...
@overload
def ihfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def ihfft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def irfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def irfft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def irfft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> Array: ...
@overload
def irfft2(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> _Result: ...
@overload
def irfftn(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array: ...
@overload
def irfftn(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> _Result: ...
@overload
def rfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array: ...
@overload
def rfft(
    a: npt.ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
) -> _Result: ...
@overload
def rfft2(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> Array: ...
@overload
def rfft2(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
) -> _Result: ...
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array: ...
@overload
def rfftn(
    a: Array,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array: ...
@overload
def rfftn(
    a: npt.ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> _Result: ...
