# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_dlpack.py, python/tests/op/test_shared_memory.py
"""The methods of Arrays that other libraries call: NumPy's protocols, DLPack, pickle."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from .array import Array


class Exchange(_core.Array):
    """The base class of collet.Array with these methods."""

    __slots__ = ()

    if TYPE_CHECKING:  # members that collet.Array adds
        device: property
        dtype: Any

        def copy(self) -> Array: ...

    _package: Any = None  # The module collet, which sets this name.
    __array_priority__ = 100  # Dask and others compare the priorities, to choose the type of a result.

    # The first call imports the module protocols, which replaces the next two methods by its own functions.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        from .protocols import ufunc as compute
        return compute(self, ufunc, method, *inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        from .protocols import function as compute
        return compute(self, function, types, arguments, keywords)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        known = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
        if api_version not in (None, *known):
            raise ValueError(f"the array API {api_version} is not supported; {known[-1]} is")
        return self._package

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> npt.NDArray[Any]:
        """A view of the elements in the host's memory, or with copy=True a copy. Elements on a device are
        fetched first."""
        found = None
        if not copy and self.size:
            try:
                found = self._memory(None if copy is False else "host")
            except _core.UnsupportedError:  # device memory of another library, or a device without native handles
                pass
        if found:
            import numpy
            values = numpy.asarray(_Memory(self, *found)).view(self.dtype)
        elif copy is False and self.size:
            raise ValueError("the elements are on a device and have to be copied: give copy=None, or "
                             "x.to_device('host')")
        else:
            values = self.to_numpy()
            values.flags.writeable = bool(copy or not self.size)  # a copy that was not requested is read-only
        if dtype is None or values.dtype == dtype:
            return values
        if copy is False:
            raise ValueError(f"the elements are {values.dtype} and have to be copied to become {dtype}")
        return values.astype(dtype)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        data = self._bytes()
        if protocol >= 5:  # a buffer, which pickle can send out of band
            from pickle import PickleBuffer
            return _unpickle, (self._dtype, self.shape, PickleBuffer(data))
        return _unpickle, (self._dtype, self.shape, data)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__reduce_ex__(2)

    # ---- DLPack

    def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> Any:
        """A capsule over the elements, on their device or in the host's memory; with copy=True, over a
        copy. First waits for the work on the elements, so the given stream need not wait. On a
        device the capsule is read-only. Raises BufferError for a read-only Array if max_version is below 1: older
        capsules have no read-only flag."""
        if stream is not None and (type(stream) is not int or stream < -1):
            raise ValueError(f"__dlpack__: stream is {stream!r}; it is None or an integer, at least -1")
        place = None
        if dl_device is not None and tuple(dl_device) != self._place():
            if tuple(dl_device)[0] != 1 or copy is False:
                raise BufferError(f"the array is on {self.device}")
            place = "host"
        versioned = max_version is not None and max_version[0] >= 1
        return (self.copy() if copy else self)._capsule(place, versioned, bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._place()


class _Memory:
    """Shares the memory of an Array with numpy.asarray."""

    __slots__ = "__array_interface__", "tensor"

    def __init__(self, array: Exchange, address: int, readonly: bool, tensor: Any) -> None:
        size = array.itemsize
        kind = "V" if array._dtype == "bfloat16" else array.dtype.kind
        self.tensor = tensor
        self.__array_interface__ = {"version": 3, "data": (address, readonly), "shape": array.shape,
                                    "strides": tuple(n * size for n in array.strides),
                                    "typestr": f"{'|<'[size > 1]}{kind}{size}"}


def _unpickle(dtype: str, shape: tuple[int, ...], data: Any) -> Any:
    array = _core.empty(shape, dtype)
    array._write(bytes(data))  # bytes(data) makes no copy if data is bytes
    return array
