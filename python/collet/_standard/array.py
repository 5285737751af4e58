# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_array.py, python/tests/test_operators.py
"""collet.Array: indexing, operators and methods. They become members of the type that is written in C."""

from __future__ import annotations

import math
import operator

from .. import _core, op
from .._array.conversion import cast, check_kind, converted
from .._array.creation import asarray, placed, zeros
from .exchange import Exchange
from .operators import call_function, matmul, method, numpy_method, reduction

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from .._array.creation import Number

_PLACES = {1: "host", 2: "cuda", 4: "opencl"}  # by DLPack's DLDeviceType


class Array(Exchange):
    """An array whose elements stay on the device that used them last. asarray, empty, zeros, ones and full
    create Arrays, and collet.op computes with them. Slices, transpose and reshape are views. to_numpy
    copies the elements; numpy.asarray shares them. While a thread writes an Array, no other thread may use
    it.

    >>> x = collet.asarray([[1.0, 2], [3, 4]])
    >>> y = x * 2
    >>> y[y > 4] = 0
    >>> float(y.sum())
    6.0
    >>> y
    collet.Array([[2., 4.],
                  [0., 0.]], dtype=float64, shape=(2, 2), device='host')"""

    __slots__ = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype; for bfloat16 the dtype of ml_dtypes.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.dtype
        dtype('float64')"""
        return _core.dtype(self._dtype)

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.nbytes
        32"""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """The device that holds the elements: "host", "opencl:0". Waits for the work that computes the
        elements.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.device
        'host'"""
        kind, number = self._place()
        name = _PLACES.get(kind, f"dlpack{kind}")
        return name if kind == 1 else f"{name}:{number}"

    # ---- Operators

    def __divmod__(self, other: Any) -> Any:
        quotient = self // other
        return quotient if quotient is NotImplemented else (quotient, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __matmul__(self, other: Any) -> Array:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(asarray(other, copy=False), self)

    def __imatmul__(self, other: Any) -> Array:
        other = asarray(other, copy=False)
        check_kind(self._dtype, other._dtype, "matmul", "@")
        product = matmul(self, other)
        if product.shape != self.shape:
            raise _core.ShapeError(f"@=: the product is {product.shape}, the array {self.shape}")
        return op.copy(cast(product, self._dtype), out=self)

    def __contains__(self, value: Any) -> bool:
        return bool(op.any(self == value))

    # ---- Views

    @property
    def T(self) -> Array:
        """The axes reversed.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.T.to_numpy()
        array([[1., 3.],
               [2., 4.]])"""
        return self._permute(None)

    @property
    def mT(self) -> Array:
        """The last two axes swapped.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.mT.to_numpy()
        array([[1., 3.],
               [2., 4.]])"""
        if self.ndim < 2:
            raise _core.ShapeError("mT needs two axes")
        return self._permute([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])

    @property
    def real(self) -> Array:
        """The real parts: a view, for real numbers the array itself.

        >>> collet.asarray([1+2j]).real.to_numpy()
        array([1.])"""
        return self._part(False)

    @property
    def imag(self) -> Array:
        """The imaginary parts, a view. For real numbers an array of zeros.

        >>> collet.asarray([1+2j]).imag.to_numpy()
        array([2.])"""
        return self._part(True) if self._dtype[0] == "c" else zeros(self.shape, self._dtype)

    def transpose(self, *axes: Any) -> Array:
        """A view with the axes in another order, by default reversed.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.transpose(1, 0).to_numpy()
        array([[1., 3.],
               [2., 4.]])"""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return self._permute(axes) if axes else self.T

    def ravel(self) -> Array:
        """The elements along one axis: a view, or a copy if strides allow no view.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.ravel().to_numpy()
        array([1., 2., 3., 4.])"""
        return self.reshape(-1)

    def flatten(self) -> Array:
        """A copy of the elements along one axis.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.flatten().to_numpy()
        array([1., 2., 3., 4.])"""
        return self.copy().reshape(-1)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Array:
        """A view without the given axes of length 1, by default without all axes of length 1.

        >>> collet.ones((1, 3, 1)).squeeze().shape
        (3,)"""
        from ..functions import squeeze
        return squeeze(self, axis=axis)

    def view(self, dtype: npt.DTypeLike | None = None) -> Array:
        """A view of the array. Raises DtypeError for another dtype: Arrays never reinterpret bytes. astype
        converts.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> y = x.view()
        >>> y[0] = 7
        >>> x.to_numpy()
        array([[7., 7.],
               [3., 4.]])"""
        if dtype is not None and _core.dtype_name(dtype) != self._dtype:
            raise _core.DtypeError(f"view: the elements are {self._dtype}, not {_core.dtype_name(dtype)}: "
                                   "astype converts them")
        return self[...]

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """A view with two axes swapped.

        >>> collet.ones((2, 3, 4)).swapaxes(0, 2).shape
        (4, 3, 2)"""
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self._permute(order)

    def _view(self, shape: Sequence[int]) -> Array:
        """A view with another shape. Raises ShapeError if the strides allow no view."""
        extents = [operator.index(n) for n in shape]
        if extents == [-1]:
            extents = [self.size]
        elif extents.count(-1) == 1:
            known = math.prod(n for n in extents if n != -1)
            extents[extents.index(-1)] = self.size // known if known else 0
        return self._reshape(extents)

    def broadcast_to(self, *shape: Any) -> Array:
        """A read-only view with repeated elements.

        >>> collet.asarray([1, 2]).broadcast_to(3, 2).to_numpy()
        array([[1, 2],
               [1, 2],
               [1, 2]])"""
        alone = len(shape) == 1 and not hasattr(shape[0], "__index__")
        return self._broadcast(shape[0] if alone else shape)

    # The type's C code calls these for keys and values that it does not handle.

    def _read(self, key: Any) -> Array:
        from .indexing import read
        return read(self, key)

    def _assign(self, key: Any, value: Any) -> None:
        from .indexing import assign
        assign(self, key, value)

    # ---- Reductions, with the arguments of NumPy's methods

    sum, prod, mean = (reduction(n, "axis dtype out keepdims") for n in ("sum", "prod", "mean"))
    var, std = (reduction(n, "axis dtype out ddof keepdims") for n in ("var", "std"))
    max, min, any, all, argmax, argmin = (reduction(n, "axis out keepdims") for n in (
        "max", "min", "any", "all", "argmax", "argmin"))

    # ---- Other functions, with the arguments of NumPy's methods

    argsort, clip, conj, conjugate, cumprod, cumsum, dot, ptp, repeat, take = (
        method(n, call_function) for n in ("argsort", "clip", "conj", "conjugate", "cumprod", "cumsum", "dot",
                                           "ptp", "repeat", "take"))

    argpartition, choose, compress, diagonal, put, round, searchsorted, trace = (
        numpy_method(n) for n in ("argpartition", "choose", "compress", "diagonal", "put", "round", "searchsorted", "trace"))

    def sort(self, axis: int = -1, **keywords: Any) -> None:
        """Sorts the elements in place, along an axis, with the arguments of numpy.sort.

        >>> x = collet.asarray([3, 1, 2])
        >>> x.sort()
        >>> x.to_numpy()
        array([1, 2, 3])"""
        import numpy
        self[...] = numpy.sort(self, axis, **keywords)

    def partition(self, kth: int | Sequence[int], axis: int = -1) -> None:
        """Moves the elements along an axis so that element kth is where sorting would put it, smaller elements before
        it, and greater elements after it.

        >>> x = collet.asarray([3, 1, 2])
        >>> x.partition(0)
        >>> x[0].item()
        1"""
        import numpy
        self[...] = numpy.partition(self, kth, axis)

    def nonzero(self) -> tuple[Array, ...]:
        """The indices of the elements that are not 0, a vector for each axis.

        >>> collet.asarray([0, 5, 7]).nonzero()[0].to_numpy()
        array([1, 2])"""
        return call_function("nonzero", (self,), {})  # type: ignore[no-any-return]

    def fill(self, value: Number) -> None:
        """Sets all elements to a number.

        >>> x = collet.empty(2)
        >>> x.fill(3)
        >>> x.to_numpy()
        array([3., 3.])"""
        op.fill(value=value, out=self)

    # ---- Copies

    def to_device(self, device: str, /, *, stream: object = None) -> Array:
        """The array itself if its elements are on the device already, else a copy there. device: "cuda:0",
        or "host".

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> x.to_device("host").device
        'host'"""
        if stream is not None:
            raise ValueError("to_device: stream must be None")
        if device == self.device:
            return self
        return placed(self.copy(), device)

    def copy(self) -> Array:
        """A copy of the elements.

        >>> x = collet.asarray([[1.0, 2], [3, 4]])
        >>> y = x.copy()
        >>> y[0] = 7
        >>> x.to_numpy()
        array([[1., 2.],
               [3., 4.]])"""
        made: Array | None = _core.small_copy(self)
        return op.copy(self, out=_core.empty(self.shape, self._dtype)) if made is None else made

    def astype(self, dtype: npt.DTypeLike, copy: bool = True) -> Array:
        """The array in another dtype. Integers are converted modulo 2^width, as in NumPy. A conversion from
        floats to integers truncates, saturates, and maps NaN to 0.

        >>> collet.asarray([1.7, -1.7]).astype("int32").to_numpy()
        array([ 1, -1], dtype=int32)"""
        name = _core.dtype_name(dtype)
        return self if name == self._dtype and not copy else converted(self, name)

    def tolist(self) -> Any:
        """The elements as Python numbers, in nested lists.

        >>> collet.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]"""
        return self.to_numpy().tolist()

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bytes__(self) -> bytes:
        """The elements in C order."""
        return self._bytes()

    def tobytes(self) -> bytes:
        """The elements in C order.

        >>> collet.asarray([1, 2], dtype="int8").tobytes()
        b'\\x01\\x02'"""
        return self._bytes()

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None and not self.ndim:
            return round(self.item())
        return self.round(ndigits or 0)

    def __trunc__(self) -> int:
        return math.trunc(self.item())

    def __floor__(self) -> int:
        return math.floor(self.item())

    def __ceil__(self) -> int:
        return math.ceil(self.item())

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Array:
        return self.copy()

    # ---- Text

    def _text(self, threshold: int, **options: Any) -> str:
        """NumPy's text of the elements. If there are more than `threshold` elements, only the elements at the edges
        are copied to the host."""
        import numpy
        shown = self
        if self.size > threshold:
            edge, threshold = numpy.get_printoptions()["edgeitems"], 0
            for axis in sorted(range(self.ndim), key=lambda i: -self.shape[i]):
                if shown.shape[axis] > 2 * edge + 1:  # NumPy prints only the edges
                    ends = [(slice(None),) * axis + (slice(*s),) for s in ((edge + 1,), (shown.shape[axis] - edge, None))]
                    shown = call_function("concat", ([shown[end] for end in ends],), {"axis": axis})
        shown = shown.astype("float32") if self._dtype == "bfloat16" else shown
        return numpy.array2string(shown.to_numpy(), threshold=threshold, **options)

    def __repr__(self) -> str:
        device = self.device  # read before the elements are copied to the host
        values = self._text(200, separator=", ", prefix="collet.Array(")
        return (f"collet.Array({values}, dtype={self._dtype}, shape={self.shape}, "
                f"device='{device}')")

    def __str__(self) -> str:
        if not self.ndim and self._dtype in ("float64", "int64", "bool"):
            return str(self.item())  # NumPy's text is the same, but importing NumPy takes longer than all else
        import numpy
        threshold = numpy.get_printoptions()["threshold"]
        return self._text(threshold) if self.size > threshold else str(self.to_numpy())

    def __format__(self, text: str) -> str:
        return format(self.item() if not self.ndim else str(self), text)


def _extended(written: type[Array]) -> type[Array]:
    """Adds the members of the classes to the type that is written in C, and returns this type. If the class were
    written in Python, the garbage collector would visit its objects, and making an Array would take a third longer."""
    for part in (Exchange, written):
        for name, member in vars(part).items():
            if name != "__slots__":
                setattr(_core.Array, name, member)
    return _core.Array  # type: ignore[return-value]


if not TYPE_CHECKING:
    Array = _extended(Array)
