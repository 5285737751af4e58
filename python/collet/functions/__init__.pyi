# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_stubs.py
"""Types of the composed functions: an Array of Arrays, else what NumPy gives."""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

import numpy.typing as npt

from .._standard.array import Array

_Operand: TypeAlias = Array | npt.ArrayLike
_Result: TypeAlias = npt.NDArray[Any]
_Axis: TypeAlias = int | Sequence[int] | None
_A = TypeVar("_A")

class _UniqueAll(NamedTuple, Generic[_A]):
    values: _A
    indices: _A
    inverse_indices: _A
    counts: _A

class _UniqueCounts(NamedTuple, Generic[_A]):
    values: _A
    counts: _A

class _UniqueInverse(NamedTuple, Generic[_A]):
    values: _A
    inverse_indices: _A

@overload
def all(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def all(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
def allclose(
    a: _Operand, b: _Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool: ...
@overload
def any(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def any(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
def append(arr: _Operand, values: _Operand, axis: int | None = None) -> Any: ...
def arange(
    start: complex,
    /,
    stop: complex | None = None,
    step: complex = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Array: ...
@overload
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array: ...
@overload
def argmax(x: npt.ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Any: ...
@overload
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array: ...
@overload
def argmin(x: npt.ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Any: ...
@overload
def argpartition(x: Array, kth: int | Sequence[int], /, axis: int = -1) -> Array: ...
@overload
def argpartition(x: npt.ArrayLike, kth: int | Sequence[int], /, axis: int = -1) -> _Result: ...
@overload
def argsort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Array: ...
@overload
def argsort(
    x: npt.ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> _Result: ...
@overload
def argwhere(x: Array, /) -> Array: ...
@overload
def argwhere(x: npt.ArrayLike, /) -> _Result: ...
def array_equal(a1: _Operand, a2: _Operand, equal_nan: bool = False) -> bool: ...
def atleast_1d(*arrays: _Operand) -> Any: ...
def atleast_2d(*arrays: _Operand) -> Any: ...
def average(
    x: _Operand,
    /,
    *,
    axis: _Axis = None,
    weights: _Operand | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any: ...
@overload
def bincount(x: Array, /, weights: _Operand | None = None, minlength: int = 0) -> Array: ...
@overload
def bincount(
    x: npt.ArrayLike, /, weights: _Operand | None = None, minlength: int = 0
) -> _Result: ...
@overload
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]: ...
@overload
def broadcast_arrays(*arrays: _Operand) -> tuple[Any, ...]: ...
def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]: ...
@overload
def broadcast_to(x: Array, /, shape: int | Sequence[int]) -> Array: ...
@overload
def broadcast_to(x: npt.ArrayLike, /, shape: int | Sequence[int]) -> _Result: ...
def column_stack(tup: Sequence[_Operand]) -> Any: ...
@overload
def concat(arrays: Sequence[Array], /, *, axis: int = 0) -> Array: ...
@overload
def concat(arrays: Sequence[_Operand], /, *, axis: int = 0) -> Any: ...
def convolve(a: _Operand, v: _Operand, mode: str = "full") -> Any: ...
@overload
def corrcoef(x: Array, y: _Operand | None = None, rowvar: bool = True) -> Array: ...
@overload
def corrcoef(x: npt.ArrayLike, y: _Operand | None = None, rowvar: bool = True) -> _Result: ...
@overload
def count_nonzero(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def count_nonzero(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def cov(
    x: Array,
    y: _Operand | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> Array: ...
@overload
def cov(
    x: npt.ArrayLike,
    y: _Operand | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> _Result: ...
@overload
def cross(x1: Array, x2: _Operand, /, *, axis: int = -1) -> Array: ...
@overload
def cross(x1: npt.ArrayLike, x2: Array, /, *, axis: int = -1) -> Array: ...
@overload
def cross(x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, axis: int = -1) -> _Result: ...
@overload
def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Array: ...
@overload
def cumulative_prod(
    x: npt.ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> _Result: ...
@overload
def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Array: ...
@overload
def cumulative_sum(
    x: npt.ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> _Result: ...
@overload
def degrees(x: Array, /) -> Array: ...
@overload
def degrees(x: npt.ArrayLike, /) -> _Result: ...
def delete(
    arr: _Operand, obj: int | slice | Sequence[int] | _Operand, axis: int | None = None
) -> Any: ...
@overload
def diag(x: Array, /, k: int = 0) -> Array: ...
@overload
def diag(x: npt.ArrayLike, /, k: int = 0) -> _Result: ...
@overload
def digitize(x: Array, bins: _Operand, right: bool = False) -> Array: ...
@overload
def digitize(x: npt.ArrayLike, bins: _Operand, right: bool = False) -> _Result: ...
@overload
def flatnonzero(a: Array, /) -> Array: ...
@overload
def flatnonzero(a: npt.ArrayLike, /) -> _Result: ...
@overload
def fliplr(m: Array, /) -> Array: ...
@overload
def fliplr(m: npt.ArrayLike, /) -> _Result: ...
@overload
def flipud(m: Array, /) -> Array: ...
@overload
def flipud(m: npt.ArrayLike, /) -> _Result: ...
def gradient(
    f: _Operand, *varargs: float | _Operand, axis: int | Sequence[int] | None = None
) -> Any: ...
def histogram2d(
    x: _Operand,
    y: _Operand,
    bins: Any = 10,
    range: Any = None,
    density: bool = False,
    weights: _Operand | None = None,
) -> tuple[Any, _Result, _Result]: ...
def intersect1d(ar1: _Operand, ar2: _Operand) -> Any: ...
def nanpercentile(
    x: _Operand, q: float | Sequence[float], /, axis: _Axis = None, *, keepdims: bool = False
) -> Any: ...
def nanquantile(
    x: _Operand, q: float | Sequence[float], /, axis: _Axis = None, *, keepdims: bool = False
) -> Any: ...
@overload
def radians(x: Array, /) -> Array: ...
@overload
def radians(x: npt.ArrayLike, /) -> _Result: ...
@overload
def rot90(m: Array, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array: ...
@overload
def rot90(m: npt.ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> _Result: ...
def select(
    condlist: Sequence[_Operand], choicelist: Sequence[_Operand], default: float | _Operand = 0
) -> Any: ...
def setdiff1d(ar1: _Operand, ar2: _Operand) -> Any: ...
@overload
def sliding_window_view(
    x: Array, window_shape: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Array: ...
@overload
def sliding_window_view(
    x: npt.ArrayLike, window_shape: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> _Result: ...
@overload
def diagonal(x: Array, /, *, offset: int = 0) -> Array: ...
@overload
def diagonal(x: npt.ArrayLike, /, *, offset: int = 0) -> _Result: ...
@overload
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: _Operand | None = None,
    append: _Operand | None = None,
) -> Array: ...
@overload
def diff(
    x: npt.ArrayLike,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: _Operand | None = None,
    append: _Operand | None = None,
) -> _Result: ...
@overload
def dot(a: Array, b: _Operand) -> Array: ...
@overload
def dot(a: npt.ArrayLike, b: Array) -> Array: ...
@overload
def dot(a: npt.ArrayLike, b: npt.ArrayLike) -> Any: ...
@overload
def einsum(subscripts: str, /, *operands: Array) -> Array: ...
@overload
def einsum(subscripts: str, /, *operands: _Operand) -> Any: ...
@overload
def empty_like(
    x: Array, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array: ...
@overload
def empty_like(
    x: npt.ArrayLike, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> _Result: ...
@overload
def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array: ...
@overload
def expand_dims(x: npt.ArrayLike, /, axis: int | Sequence[int] = 0) -> _Result: ...
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Array: ...
@overload
def flip(x: Array, /, *, axis: int | Sequence[int] | None = None) -> Array: ...
@overload
def flip(x: npt.ArrayLike, /, *, axis: int | Sequence[int] | None = None) -> _Result: ...
@overload
def full_like(
    x: Array,
    /,
    fill_value: complex,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> Array: ...
@overload
def full_like(
    x: npt.ArrayLike,
    /,
    fill_value: complex,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
) -> _Result: ...
@overload
def histogram(
    x: Array,
    /,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: _Operand | None = None,
) -> tuple[Array, Array]: ...
@overload
def histogram(
    x: npt.ArrayLike,
    /,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: _Operand | None = None,
) -> tuple[_Result, _Result]: ...
@overload
def hstack(tup: Sequence[Array]) -> Array: ...
@overload
def hstack(tup: Sequence[_Operand]) -> Any: ...
@overload
def inner(a: Array, b: _Operand) -> Array: ...
@overload
def inner(a: npt.ArrayLike, b: Array) -> Array: ...
@overload
def inner(a: npt.ArrayLike, b: npt.ArrayLike) -> Any: ...
@overload
def interp(
    x: Array, xp: _Operand, fp: _Operand, left: float | None = None, right: float | None = None
) -> Array: ...
@overload
def interp(
    x: npt.ArrayLike,
    xp: _Operand,
    fp: _Operand,
    left: float | None = None,
    right: float | None = None,
) -> Any: ...
@overload
def isclose(
    a: Array, b: _Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array: ...
@overload
def isclose(
    a: npt.ArrayLike, b: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array: ...
@overload
def isclose(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> _Result: ...
@overload
def isin(x1: Array, x2: _Operand, /, *, invert: bool = False) -> Array: ...
@overload
def isin(x1: npt.ArrayLike, x2: Array, /, *, invert: bool = False) -> Array: ...
@overload
def isin(x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, invert: bool = False) -> _Result: ...
@overload
def kron(a: Array, b: _Operand) -> Array: ...
@overload
def kron(a: npt.ArrayLike, b: Array) -> Array: ...
@overload
def kron(a: npt.ArrayLike, b: npt.ArrayLike) -> _Result: ...
def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Array: ...
@overload
def matmul(x1: Array, x2: _Operand, /) -> Array: ...
@overload
def matmul(x1: npt.ArrayLike, x2: Array, /) -> Array: ...
@overload
def matmul(x1: npt.ArrayLike, x2: npt.ArrayLike, /) -> Any: ...
@overload
def matrix_transpose(x: Array, /) -> Array: ...
@overload
def matrix_transpose(x: npt.ArrayLike, /) -> _Result: ...
@overload
def max(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def max(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def mean(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def mean(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def median(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def median(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]: ...
@overload
def meshgrid(*arrays: _Operand, indexing: str = "xy") -> tuple[Any, ...]: ...
@overload
def min(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def min(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def moveaxis(
    x: Array, source: int | Sequence[int], destination: int | Sequence[int], /
) -> Array: ...
@overload
def moveaxis(
    x: npt.ArrayLike, source: int | Sequence[int], destination: int | Sequence[int], /
) -> _Result: ...
@overload
def nan_to_num(
    x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array: ...
@overload
def nan_to_num(
    x: npt.ArrayLike,
    /,
    *,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> _Result: ...
@overload
def nanargmax(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array: ...
@overload
def nanargmax(x: npt.ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Any: ...
@overload
def nanargmin(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array: ...
@overload
def nanargmin(x: npt.ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Any: ...
@overload
def nanmax(x: Array, /, axis: _Axis = None, *, keepdims: bool = False) -> Array: ...
@overload
def nanmax(x: npt.ArrayLike, /, axis: _Axis = None, *, keepdims: bool = False) -> Any: ...
@overload
def nanmean(
    x: Array, /, axis: _Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> Array: ...
@overload
def nanmean(
    x: npt.ArrayLike,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def nanmedian(x: Array, /, axis: _Axis = None, *, keepdims: bool = False) -> Array: ...
@overload
def nanmedian(x: npt.ArrayLike, /, axis: _Axis = None, *, keepdims: bool = False) -> Any: ...
@overload
def nanmin(x: Array, /, axis: _Axis = None, *, keepdims: bool = False) -> Array: ...
@overload
def nanmin(x: npt.ArrayLike, /, axis: _Axis = None, *, keepdims: bool = False) -> Any: ...
@overload
def nanprod(
    x: Array, /, axis: _Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> Array: ...
@overload
def nanprod(
    x: npt.ArrayLike,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def nanstd(
    x: Array,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    ddof: float = 0,
    correction: float | None = None,
    keepdims: bool = False,
) -> Array: ...
@overload
def nanstd(
    x: npt.ArrayLike,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    ddof: float = 0,
    correction: float | None = None,
    keepdims: bool = False,
) -> Any: ...
@overload
def nansum(
    x: Array, /, axis: _Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> Array: ...
@overload
def nansum(
    x: npt.ArrayLike,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def nanvar(
    x: Array,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    ddof: float = 0,
    correction: float | None = None,
    keepdims: bool = False,
) -> Array: ...
@overload
def nanvar(
    x: npt.ArrayLike,
    /,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    *,
    ddof: float = 0,
    correction: float | None = None,
    keepdims: bool = False,
) -> Any: ...
@overload
def nonzero(x: Array, /) -> tuple[Array, ...]: ...
@overload
def nonzero(x: npt.ArrayLike, /) -> tuple[_Result, ...]: ...
@overload
def ones_like(
    x: Array, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array: ...
@overload
def ones_like(
    x: npt.ArrayLike, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> _Result: ...
@overload
def outer(x1: Array, x2: _Operand, /) -> Array: ...
@overload
def outer(x1: npt.ArrayLike, x2: Array, /) -> Array: ...
@overload
def outer(x1: npt.ArrayLike, x2: npt.ArrayLike, /) -> _Result: ...
@overload
def pad(x: Array, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Array: ...
@overload
def pad(
    x: npt.ArrayLike, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0
) -> _Result: ...
@overload
def partition(x: Array, kth: int | Sequence[int], /, axis: int = -1) -> Array: ...
@overload
def partition(x: npt.ArrayLike, kth: int | Sequence[int], /, axis: int = -1) -> _Result: ...
@overload
def percentile(
    x: Array, q: _Operand, /, *, axis: _Axis = None, method: str = "linear", keepdims: bool = False
) -> Array: ...
@overload
def percentile(
    x: npt.ArrayLike,
    q: _Operand,
    /,
    *,
    axis: _Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Any: ...
@overload
def permute_dims(x: Array, /, axes: Sequence[int]) -> Array: ...
@overload
def permute_dims(x: npt.ArrayLike, /, axes: Sequence[int]) -> _Result: ...
@overload
def prod(
    x: Array, /, *, axis: _Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> Array: ...
@overload
def prod(
    x: npt.ArrayLike,
    /,
    *,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
) -> Any: ...
@overload
def ptp(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array: ...
@overload
def ptp(x: npt.ArrayLike, /, *, axis: _Axis = None, keepdims: bool = False) -> Any: ...
@overload
def quantile(
    x: Array, q: _Operand, /, *, axis: _Axis = None, method: str = "linear", keepdims: bool = False
) -> Array: ...
@overload
def quantile(
    x: npt.ArrayLike,
    q: _Operand,
    /,
    *,
    axis: _Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Any: ...
@overload
def ravel(x: Array, /) -> Array: ...
@overload
def ravel(x: npt.ArrayLike, /) -> _Result: ...
@overload
def repeat(x: Array, repeats: int | _Operand, /, *, axis: int | None = None) -> Array: ...
@overload
def repeat(x: npt.ArrayLike, repeats: int | _Operand, /, *, axis: int | None = None) -> _Result: ...
@overload
def reshape(x: Array, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Array: ...
@overload
def reshape(
    x: npt.ArrayLike, /, shape: int | Sequence[int], *, copy: bool | None = None
) -> _Result: ...
@overload
def roll(
    x: Array, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None
) -> Array: ...
@overload
def roll(
    x: npt.ArrayLike, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None
) -> _Result: ...
@overload
def searchsorted(
    x1: Array, x2: _Operand, /, *, side: str = "left", sorter: _Operand | None = None
) -> Array: ...
@overload
def searchsorted(
    x1: npt.ArrayLike, x2: Array, /, *, side: str = "left", sorter: _Operand | None = None
) -> Array: ...
@overload
def searchsorted(
    x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, side: str = "left", sorter: _Operand | None = None
) -> _Result: ...
@overload
def sort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Array: ...
@overload
def sort(
    x: npt.ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> _Result: ...
@overload
def split(x: Array, indices_or_sections: int | Sequence[int], /, axis: int = 0) -> list[Array]: ...
@overload
def split(
    x: npt.ArrayLike, indices_or_sections: int | Sequence[int], /, axis: int = 0
) -> list[_Result]: ...
@overload
def squeeze(x: Array, /, axis: int | Sequence[int] | None = None) -> Array: ...
@overload
def squeeze(x: npt.ArrayLike, /, axis: int | Sequence[int] | None = None) -> _Result: ...
@overload
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array: ...
@overload
def stack(arrays: Sequence[_Operand], /, *, axis: int = 0) -> Any: ...
@overload
def std(
    x: Array, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array: ...
@overload
def std(
    x: npt.ArrayLike, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Any: ...
@overload
def sum(
    x: Array, /, *, axis: _Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> Array: ...
@overload
def sum(
    x: npt.ArrayLike,
    /,
    *,
    axis: _Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
) -> Any: ...
@overload
def swapaxes(x: Array, axis1: int, axis2: int, /) -> Array: ...
@overload
def swapaxes(x: npt.ArrayLike, axis1: int, axis2: int, /) -> _Result: ...
@overload
def take(x: Array, indices: _Operand, /, *, axis: int | None = None) -> Array: ...
@overload
def take(x: npt.ArrayLike, indices: _Operand, /, *, axis: int | None = None) -> Any: ...
@overload
def take_along_axis(x: Array, indices: _Operand, /, *, axis: int = -1) -> Array: ...
@overload
def take_along_axis(x: npt.ArrayLike, indices: _Operand, /, *, axis: int = -1) -> _Result: ...
@overload
def tensordot(
    x1: Array, x2: _Operand, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array: ...
@overload
def tensordot(
    x1: npt.ArrayLike, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array: ...
@overload
def tensordot(
    x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Any: ...
@overload
def tile(x: Array, repetitions: int | Sequence[int], /) -> Array: ...
@overload
def tile(x: npt.ArrayLike, repetitions: int | Sequence[int], /) -> _Result: ...
@overload
def trace(x: Array, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Array: ...
@overload
def trace(x: npt.ArrayLike, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Any: ...
@overload
def transpose(x: Array, /, axes: Sequence[int] | None = None) -> Array: ...
@overload
def transpose(x: npt.ArrayLike, /, axes: Sequence[int] | None = None) -> _Result: ...
@overload
def trapezoid(y: Array, x: _Operand | None = None, dx: float = 1.0, axis: int = -1) -> Array: ...
@overload
def trapezoid(
    y: npt.ArrayLike, x: _Operand | None = None, dx: float = 1.0, axis: int = -1
) -> Any: ...
@overload
def tril(x: Array, /, *, k: int = 0) -> Array: ...
@overload
def tril(x: npt.ArrayLike, /, *, k: int = 0) -> _Result: ...
@overload
def triu(x: Array, /, *, k: int = 0) -> Array: ...
@overload
def triu(x: npt.ArrayLike, /, *, k: int = 0) -> _Result: ...
def union1d(ar1: _Operand, ar2: _Operand) -> Any: ...
@overload
def unique_all(x: Array, /) -> _UniqueAll[Array]: ...
@overload
def unique_all(x: npt.ArrayLike, /) -> _UniqueAll[_Result]: ...
@overload
def unique_counts(x: Array, /) -> _UniqueCounts[Array]: ...
@overload
def unique_counts(x: npt.ArrayLike, /) -> _UniqueCounts[_Result]: ...
@overload
def unique_inverse(x: Array, /) -> _UniqueInverse[Array]: ...
@overload
def unique_inverse(x: npt.ArrayLike, /) -> _UniqueInverse[_Result]: ...
@overload
def unique_values(x: Array, /) -> Array: ...
@overload
def unique_values(x: npt.ArrayLike, /) -> _Result: ...
@overload
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]: ...
@overload
def unstack(x: npt.ArrayLike, /, *, axis: int = 0) -> tuple[_Result, ...]: ...
def unwrap(
    p: _Operand, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586
) -> Any: ...
@overload
def var(
    x: Array, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array: ...
@overload
def var(
    x: npt.ArrayLike, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Any: ...
@overload
def vdot(a: Array, b: _Operand) -> Array: ...
@overload
def vdot(a: npt.ArrayLike, b: Array) -> Array: ...
@overload
def vdot(a: npt.ArrayLike, b: npt.ArrayLike) -> Any: ...
@overload
def vecdot(x1: Array, x2: _Operand, /, *, axis: int = -1) -> Array: ...
@overload
def vecdot(x1: npt.ArrayLike, x2: Array, /, *, axis: int = -1) -> Array: ...
@overload
def vecdot(x1: npt.ArrayLike, x2: npt.ArrayLike, /, *, axis: int = -1) -> Any: ...
@overload
def vstack(tup: Sequence[Array]) -> Array: ...
@overload
def vstack(tup: Sequence[_Operand]) -> Any: ...
@overload
def zeros_like(
    x: Array, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Array: ...
@overload
def zeros_like(
    x: npt.ArrayLike, /, *, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> _Result: ...
