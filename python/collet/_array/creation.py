# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_array.py, python/tests/op/test_dlpack.py
"""Creates Arrays: from values, from other libraries' arrays, and new ones."""

from __future__ import annotations

from .. import _core, op
from .. import _hook as hook

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from .._standard.array import Array

    Number = int | float | complex
    Shape = int | Sequence[int]
else:
    Array = _core.Array

_empty, _filled = _core.empty, _core.small_filled


def placed(array: Array, device: str | None) -> Array:
    """Moves the array to the device and returns it. Nothing else may use the array. Afterwards only the
    device's copy of the elements is valid. If the backend cannot give out its memory, as `worker` cannot, the
    host's copy stays valid too."""
    if device is not None and device != array.device:
        try:
            array._move(device)
        except _core.UnsupportedError:
            array.prefetch(device)
    return array


def taken(values: npt.NDArray[Any], device: str | None = None) -> Array:
    """An Array over the memory of a NumPy array that no other code uses."""
    return placed(_core.array_from(values, False, False), device)


ON_THE_HOST = 1, 3, 11  # DLPack's device types: CPU, and host memory of CUDA and ROCm


def shared(values: npt.NDArray[Any] | np.generic) -> Array:
    """An Array over the memory of a NumPy array. If the array's byte order is not the machine's, the Array has a copy
    of the elements."""
    return asarray(values, copy=False if values.dtype.isnative else None)


def asarray(obj: Any, /, dtype: npt.DTypeLike | None = None, *, device: str | None = None,
            copy: bool | None = None) -> Array:
    """An Array made from an Array, from anything that numpy.asarray takes, or from another library's array
    on a device (from_dlpack). An Array made from an array on a device is on the same device. copy=False
    shares the memory of the argument: a write to either is visible in both. Otherwise the memory is copied.

    >>> collet.asarray([1, 2.5], dtype="f4")
    collet.Array([1. , 2.5], dtype=float32, shape=(2,), device='host')"""
    if dtype is None and device is None and copy is not False:
        made = _core.small_asarray(obj)
        if made is not None:
            return made
    if isinstance(obj, Array):
        array = obj.copy() if copy else obj
    elif hook.traced(obj):
        return hook.asarray(obj, dtype)  # type: ignore[no-any-return]
    elif hasattr(obj, "__dlpack_device__") and obj.__dlpack_device__()[0] not in ON_THE_HOST:
        array = from_dlpack(obj, copy=copy is not False)
    else:
        from .._host import array as numbers
        values = numbers(obj)
        if dtype is not None and isinstance(obj, (int, list, tuple)) and values.dtype.kind in "iu" and \
                _core.dtype(dtype).kind in "iu":
            values = numbers(values, _core.dtype(dtype))  # raises for numbers that the dtype cannot hold
        array = _core.array_from(values, copy is not False, True)
    if dtype is not None:
        if copy is False and array._dtype != _core.dtype_name(dtype):
            raise ValueError(f"asarray: {array._dtype} cannot be converted to {dtype} without a copy")
        array = array.astype(dtype, copy=False)
    return array if device is None else array.to_device(device)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """An Array that shares the memory of another library's array. Work of both libraries on it stays in order.
    copy=True makes a copy on the same device. A different `device` makes a copy there, unless copy is False.

    >>> collet.from_dlpack(np.arange(3.0)).to_numpy()
    array([0., 1., 2.])"""
    if isinstance(x, Array):
        array = x
    else:
        from .._host import check
        check(x, "the array")
        kind, number = x.__dlpack_device__()
        keywords: dict[str, Any] = {"max_version": (1, 3)}
        if kind == 2:  # on this CUDA stream the other library's commands precede ours
            keywords["stream"] = _core.native_queue(f"cuda:{number}") or 1
        if device == "host" and kind not in ON_THE_HOST and copy is not False:
            keywords |= {"dl_device": (1, 0), "copy": copy}
        try:
            capsule = x.__dlpack__(**keywords)
        except TypeError:  # before DLPack 1
            capsule = x.__dlpack__(**{n: v for n, v in keywords.items() if n == "stream"})
        array = _core.from_capsule(capsule)
    if copy:
        return placed(array.copy(), device or array.device)
    if copy is False and device is not None and device != array.device:
        raise BufferError(f"from_dlpack: the array is on {array.device}, not on {device}, and copy is False")
    return array if device is None else array.to_device(device)


def empty(shape: Shape, dtype: npt.DTypeLike | None = None, *, device: str | None = None) -> Array:
    """An Array with undefined elements, by default of float64.

    >>> collet.empty((2, 3), "f4").shape
    (2, 3)"""
    made = _empty(shape, dtype)
    return made if device is None else placed(made, device)


_DEFAULTS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def full(shape: Shape, fill_value: Number, dtype: npt.DTypeLike | None = None, *,
         device: str | None = None) -> Array:
    """An Array whose elements are all `fill_value`. Raises DtypeError if an integer dtype cannot hold the value.
    The default dtype is the value's: int64 for an int, float64 for a float.

    >>> collet.full(3, 7).to_numpy()
    array([7, 7, 7])"""
    if device is None:
        made: Array | None = _filled(shape, fill_value, dtype)
        if made is not None:
            return made
    if dtype is None:
        dtype = _DEFAULTS.get(type(fill_value)) or getattr(fill_value, "dtype", "float64")
    return placed(op.fill(value=fill_value, out=empty(shape, dtype)), device)


def zeros(shape: Shape, dtype: npt.DTypeLike | None = None, *, device: str | None = None) -> Array:
    """An Array of zeros, by default of float64.

    >>> collet.zeros(3).to_numpy()
    array([0., 0., 0.])"""
    if device is None:
        made: Array | None = _filled(shape, 0.0 if dtype is None else 0, dtype)
        if made is not None:
            return made
    return full(shape, 0, "float64" if dtype is None else dtype, device=device)


def ones(shape: Shape, dtype: npt.DTypeLike | None = None, *, device: str | None = None) -> Array:
    """An Array of ones, by default of float64.

    >>> collet.ones((2, 2), dtype="int32").to_numpy()
    array([[1, 1],
           [1, 1]], dtype=int32)"""
    if device is None:
        made: Array | None = _filled(shape, 1.0 if dtype is None else 1, dtype)
        if made is not None:
            return made
    return full(shape, 1, "float64" if dtype is None else dtype, device=device)

