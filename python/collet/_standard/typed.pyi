# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_stubs.py
"""Types of what is made at run time: the elementwise functions, from the list of ops, and dtypes."""

from typing import Any, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from .array import Array

_Operand: TypeAlias = Array | npt.ArrayLike
_Result: TypeAlias = npt.NDArray[Any]

class _One(Protocol):
    """A function of one array: an Array of an Array, else an array of NumPy."""

    @overload
    def __call__(self, x: Array, /, *, out: Array | None = None) -> Array: ...
    @overload
    def __call__(self, x: npt.ArrayLike, /, *, out: _Result | None = None) -> _Result: ...

class _Two(Protocol):
    """A function of two arrays or numbers: an Array if one is an Array."""

    @overload
    def __call__(self, x1: Array, x2: _Operand, /, *, out: Array | None = None) -> Array: ...
    @overload
    def __call__(self, x1: npt.ArrayLike, x2: Array, /, *, out: Array | None = None) -> Array: ...
    @overload
    def __call__(
        self, x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, out: _Result | None = None
    ) -> _Result: ...

class _Three(Protocol):
    """A function of three arrays or numbers: an Array if one is an Array."""

    @overload
    def __call__(
        self, x1: Array, x2: _Operand, x3: _Operand, /, *, out: Array | None = None
    ) -> Array: ...
    @overload
    def __call__(
        self, x1: npt.ArrayLike, x2: Array, x3: _Operand, /, *, out: Array | None = None
    ) -> Array: ...
    @overload
    def __call__(
        self, x1: npt.ArrayLike, x2: npt.ArrayLike, x3: Array, /, *, out: Array | None = None
    ) -> Array: ...
    @overload
    def __call__(
        self,
        x1: npt.ArrayLike,
        x2: npt.ArrayLike,
        x3: npt.ArrayLike,
        /,
        *,
        out: _Result | None = None,
    ) -> _Result: ...

class _Clip(Protocol):
    @overload
    def __call__(
        self,
        x: Array,
        /,
        min: _Operand | None = None,
        max: _Operand | None = None,
        *,
        out: Array | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        x: npt.ArrayLike,
        /,
        min: npt.ArrayLike | None = None,
        max: npt.ArrayLike | None = None,
        *,
        out: _Result | None = None,
    ) -> _Result: ...

abs: _One
acos: _One
acosh: _One
add: _Two
asin: _One
asinh: _One
atan: _One
atan2: _Two
atanh: _One
bitwise_and: _Two
bitwise_invert: _One
bitwise_left_shift: _Two
bitwise_or: _Two
bitwise_right_shift: _Two
bitwise_xor: _Two
cbrt: _One
ceil: _One
clip: _Clip
complex: _Two
conj: _One
copysign: _Two
cos: _One
cosh: _One
divide: _Two
equal: _Two
erf: _One
erfc: _One
exp: _One
exp2: _One
expit: _One
expm1: _One
floor: _One
floor_divide: _Two
fma: _Three
greater: _Two
greater_equal: _Two
hypot: _Two
imag: _One
isfinite: _One
isinf: _One
isnan: _One
less: _Two
less_equal: _Two
lgamma: _One
log: _One
log10: _One
log1p: _One
log2: _One
logaddexp: _Two
logical_and: _Two
logical_not: _One
logical_or: _Two
logical_xor: _Two
maximum: _Two
minimum: _Two
multiply: _Two
negative: _One
nextafter: _Two
not_equal: _Two
positive: _One
pow: _Two
real: _One
reciprocal: _One
remainder: _Two
round: _One
sign: _One
signbit: _One
sin: _One
sinc: _One
sinh: _One
sqrt: _One
square: _One
subtract: _Two
tan: _One
tanh: _One
trunc: _One
where: _Three

bool: np.dtype[np.bool]
int8: np.dtype[np.int8]
int16: np.dtype[np.int16]
int32: np.dtype[np.int32]
int64: np.dtype[np.int64]
uint8: np.dtype[np.uint8]
uint16: np.dtype[np.uint16]
uint32: np.dtype[np.uint32]
uint64: np.dtype[np.uint64]
bfloat16: np.dtype[Any]
float16: np.dtype[np.float16]
float32: np.dtype[np.float32]
float64: np.dtype[np.float64]
complex64: np.dtype[np.complex64]
complex128: np.dtype[np.complex128]
