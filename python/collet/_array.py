# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_array.py, python/tests/test_operators.py
"""collet.Array: indexing, operators, methods and exchange, on the type that is written in C."""

from __future__ import annotations

import math
import operator

from . import _core, op

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    Operator = Callable[["Array", Any], Any]
    Number = int | float | complex
    Shape = int | Sequence[int]

_PLACES = {1: "host", 2: "cuda", 4: "opencl"}  # DLDeviceType
_FLOATS = {"f16": 1, "bf16": 1, "f32": 2, "f64": 3}
_COMPLEX = {"c64": 2, "c128": 3}


# ---- Operators: for each the op that computes it.


def _promoted(a: str, b: str) -> str | None:
    """The dtype of an operator on two dtypes, by the rules of the array API; None: none."""
    if a == b:
        return a
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if a in _FLOATS and b in _FLOATS:
        return a if _FLOATS[a] >= _FLOATS[b] else b
    if (a in _FLOATS or a in _COMPLEX) and (b in _FLOATS or b in _COMPLEX):
        wide = max(_FLOATS.get(a) or _COMPLEX[a], _FLOATS.get(b) or _COMPLEX[b])
        return "c128" if wide == 3 else "c64"
    return None


def cast(array: Array, dtype: str) -> Array:
    """The array in another dtype."""
    return array if array._dtype == dtype else op.copy(array, dtype=dtype)


def _operand(value: Any) -> Any:
    """The other operand of an operator, converted; None: this class does not support it. A sequence
    would multiply itself by an integer Array."""
    if isinstance(value, (Array, int, float, complex)):
        return value
    if hasattr(value, "__array_struct__"):
        return asarray(value, copy=False)
    if isinstance(value, (list, tuple, str, bytes, bytearray)):
        raise TypeError("operators take numbers, NumPy arrays and collet.Arrays, not "
                        f"{type(value).__name__}: convert it by collet.asarray")
    return None


def _compute(name: str, a: Any, b: Any) -> Array:
    function = getattr(op, name)
    if isinstance(a, Array) and isinstance(b, Array) and a._dtype != b._dtype:
        dtype = _promoted(a._dtype, b._dtype)
        if dtype:
            a, b = cast(a, dtype), cast(b, dtype)
    return function(a, b)


def _binary(name: str) -> tuple[Operator, Operator]:
    """The methods for the operator, with the Array on its left and on its right."""
    def forward(self: Array, other: Any) -> Any:
        if type(other) is type(self) and other._dtype == self._dtype:
            return getattr(op, name)(self, other)
        other = _operand(other)
        return NotImplemented if other is None else _compute(name, self, other)

    def backward(self: Array, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else _compute(name, other, self)

    return forward, backward


def _in_place(name: str) -> Operator:
    def assign(self: Array, other: Any) -> Array:
        if not isinstance(other, (int, float, complex)):
            other = cast(asarray(other, copy=False), self._dtype)
        return getattr(op, name)(self, other, out=self)

    return assign


def _comparison(symbol: str, numpy_too: str = "x.to_numpy() {} y") -> Operator:
    """An operator that raises, because Python would compare identities."""
    def compare(self: Array, other: Any) -> Any:
        raise TypeError(f"collet.Array has no operator {symbol}: compare copies of the elements, "
                        f"{numpy_too.format(symbol)}; `is` compares identities")

    return compare


# NumPy's names of the operators, and their methods with the Array on the left and on the right
_OPERATORS = {
    "add": ("__add__", "__radd__"), "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"), "divide": ("__truediv__", "__rtruediv__"),
    "matmul": ("__matmul__", "__rmatmul__"), "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"), "less": ("__lt__", "__gt__"), "greater": ("__gt__", "__lt__"),
    "less_equal": ("__le__", "__ge__"), "greater_equal": ("__ge__", "__le__")}


def _ufunc(_: Array, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    names = _OPERATORS.get(ufunc.__name__)
    if not names or method != "__call__":
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise TypeError(f"numpy.{name} takes no collet.Array: use the functions of collet.op, or give "
                        "it a copy of the elements, x.to_numpy()")
    if keywords:
        raise TypeError(f"numpy.{ufunc.__name__} takes no {'=, '.join(keywords)}= where an operand or out "
                        "is a collet.Array (a += x is out=a): use the functions of collet.op, or give "
                        "it a copy of the elements, x.to_numpy()")
    if isinstance(inputs[0], Array):
        return getattr(inputs[0], names[0])(inputs[1])
    return getattr(inputs[1], names[1])(inputs[0])


class _Ufunc:
    """NumPy finds a function in the class, which computes operators with an Array on the right and
    refuses the rest. Masked arrays find None in an Array, and leave operators to it."""

    def __get__(self, array: Array | None, owner: type) -> Any:
        return _ufunc if array is None else None


def _matmul(a: Any, b: Any) -> Any:
    b = _operand(b)
    if b is None or isinstance(b, (int, float, complex)):
        return NotImplemented
    if a.ndim == 1 and b.ndim == 1:
        return _compute("dot", a, b)
    if b.ndim == 1:
        return _compute("matvec", a, b)
    if a.ndim == 1:
        return _compute("matvec", b.mT, a)
    return _compute("matmul", a, b)


class Array(_core.Array):
    """An array whose elements stay on the device that used them last.

    asarray, empty, zeros, ones and full make one, and collet.op computes with it. Slices,
    transpose and reshape are views. to_numpy copies the elements; numpy.from_dlpack shares them,
    read-only, as long as they are in the host's memory. An Array is used by one thread at a time
    while one of them writes it.
    """

    __slots__ = ()

    __array_ufunc__ = _Ufunc()

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype; for bf16 the dtype of ml_dtypes."""
        return _core.dtype(self._dtype)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Where the elements are: "host", "opencl:0". Waits for the work that computes them."""
        kind, number = self._place()
        name = _PLACES.get(kind, f"dlpack{kind}")
        return name if kind == 1 else f"{name}:{number}"

    # ---- Operators

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("sub")
    __mul__, __rmul__ = _binary("mul")
    __truediv__, __rtruediv__ = _binary("div")
    __iadd__, __isub__ = _in_place("add"), _in_place("sub")
    __imul__, __itruediv__ = _in_place("mul"), _in_place("div")

    def __matmul__(self, other: Any) -> Any:
        return _matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _matmul(asarray(other, copy=False), self)

    def __imatmul__(self, other: Any) -> Array:
        product = _matmul(self, asarray(other, copy=False))
        if product.shape != self.shape:
            raise _core.ShapeError(f"@=: the product is {product.shape}, the array {self.shape}")
        return op.copy(cast(product, self._dtype), out=self)

    __eq__, __ne__ = _comparison("=="), _comparison("!=")  # type: ignore[assignment]
    __lt__, __le__ = _comparison("<"), _comparison("<=")
    __gt__, __ge__ = _comparison(">"), _comparison(">=")
    __contains__ = _comparison("in", "y in x.to_numpy()")
    __hash__ = None  # type: ignore[assignment] # as NumPy's arrays: elements change

    def __neg__(self) -> Array:
        return op.neg(self)

    def __pos__(self) -> Array:
        return self.copy()

    def __abs__(self) -> Array:
        return op.abs(self)

    # ---- Views

    @property
    def T(self) -> Array:
        """The axes reversed."""
        return self._permute(range(self.ndim - 1, -1, -1))

    @property
    def mT(self) -> Array:
        """The last two axes swapped."""
        if self.ndim < 2:
            raise _core.ShapeError("mT needs two axes")
        return self._permute([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])

    @property
    def real(self) -> Array:
        """The real parts: a view, for real numbers the array itself."""
        return self._part(False)

    @property
    def imag(self) -> Array:
        """The imaginary parts of complex numbers: a view."""
        return self._part(True)

    def transpose(self, *axes: Any) -> Array:
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return self._permute(axes) if axes else self.T

    def reshape(self, *shape: Any) -> Array:
        """A view with another shape, or a copy if strides allow no view; -1: the remaining extent."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = shape[0]
        extents = [operator.index(n) for n in shape]
        if extents.count(-1) == 1:
            known = math.prod(n for n in extents if n != -1)
            extents[extents.index(-1)] = self.size // known if known else 0
        try:
            return self._reshape(extents)
        except _core.ShapeError:
            if math.prod(extents) != self.size:
                raise
            return self.copy()._reshape(extents)

    def broadcast_to(self, *shape: Any) -> Array:
        alone = len(shape) == 1 and not isinstance(shape[0], int)
        return self._broadcast(shape[0] if alone else shape)

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        used = sum(k is not None and k is not Ellipsis for k in keys)
        if used > self.ndim:
            raise IndexError(f"{used} indices for {self.ndim} axes")
        if sum(k is Ellipsis for k in keys) > 1:
            raise IndexError("more than one '...'")
        if not any(k is Ellipsis for k in keys):
            keys += (Ellipsis,)
        view, shape, axis = self, [], 0
        for k in keys:
            if k is None:
                shape.append(1)
            elif k is Ellipsis:
                shape += view.shape[axis:axis + self.ndim - used]
                axis += self.ndim - used
            elif isinstance(k, slice):
                start, stop, step = k.indices(view.shape[axis])
                count = len(range(start, stop, step))
                view = view._slice(axis, start if count else 0, count, step)
                shape.append(count)
                axis += 1
            else:
                view = view._slice(axis, _index(k, view.shape[axis], axis), 1, 1)
                axis += 1
        return view if list(view.shape) == shape and view is not self else view._reshape(shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        target = self[key]
        if isinstance(value, (int, float, complex)) or getattr(value, "ndim", None) == 0 and \
                not (isinstance(value, Array) and target._dtype in (value._dtype, *_FLOATS, *_COMPLEX)):
            op.fill(value=value, out=target)  # refuses what integers do not hold
        else:
            op.copy(value, out=target)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    # ---- Reductions, whose arguments are NumPy's: np.sum(x) and its like call them

    def _reduce(self, name: str, axis: Any, keepdims: bool, dtype: None, out: None) -> Array:
        if dtype is not None or out is not None:
            raise TypeError(f"{name}: an Array takes neither dtype nor out; collet.op.{name} does")
        if isinstance(axis, tuple) and not axis:
            raise ValueError(f"{name}: axis is (); give at least one axis, or None for all")
        return getattr(op, name)(self, axes=axis, keepdims=bool(keepdims))

    def sum(self, axis: Any = None, dtype: None = None, out: None = None,
            keepdims: bool = False) -> Array:
        return self._reduce("sum", axis, keepdims, dtype, out)

    def mean(self, axis: Any = None, dtype: None = None, out: None = None,
             keepdims: bool = False) -> Array:
        return self._reduce("mean", axis, keepdims, dtype, out)

    def max(self, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
        return self._reduce("max", axis, keepdims, None, out)

    def min(self, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
        return self._reduce("min", axis, keepdims, None, out)

    # ---- Copies

    def copy(self) -> Array:
        return op.copy(self, out=_core.empty(self.shape, self._dtype))

    def astype(self, dtype: npt.DTypeLike, copy: bool = True) -> Array:
        name = _core.dtype_name(dtype)
        return self if name == self._dtype and not copy else op.copy(self, dtype=name)

    def item(self) -> Any:
        """The only element as a Python number."""
        return self.to_numpy().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim:
            raise TypeError("only an integer array without axes can be used as an index, not one of "
                            f"the shape {self.shape}")
        return operator.index(self.item())

    def __bytes__(self) -> bytes:
        """The elements in C order."""
        return self._bytes()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth value of an Array of {self.size} elements is ambiguous")
        return bool(self.item())

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("the elements are copied; numpy.from_dlpack shares them")
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._dtype, self.shape, self._bytes())

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Array:
        return self.copy()

    # ---- DLPack

    def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> Any:
        """A read-only capsule over the elements where they are, or in the host's memory, after the work
        on them is done."""
        source = self.copy() if copy else self
        host = False
        if dl_device is not None and tuple(dl_device) != source._place():
            if tuple(dl_device)[0] != 1 or copy is False:
                raise BufferError(f"the array is on {self.device}")
            host = True
        return source._capsule(host, max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._place()

    # ---- Text

    def __repr__(self) -> str:
        import numpy
        device = self.device  # before the elements are copied to the host
        shown = self.astype("f32") if self._dtype == "bf16" else self
        values = numpy.array2string(shown.to_numpy(), separator=", ", prefix="collet.Array(",
                                    threshold=200)
        return (f"collet.Array({values}, dtype={self._dtype}, shape={self.shape}, "
                f"device='{device}')")

    def __str__(self) -> str:
        return str(self.to_numpy())

    def __format__(self, text: str) -> str:
        return format(self.item() if not self.ndim else str(self), text)


def _index(key: Any, extent: int, axis: int) -> int:
    if isinstance(key, list) or getattr(key, "ndim", 0):
        raise TypeError("indexing by arrays is not supported; use to_numpy()")
    if isinstance(key, bool) or getattr(key, "dtype", None) == bool:
        raise IndexError("an index is an integer, a slice, '...' or None, not a boolean")
    try:
        index = operator.index(key)
    except TypeError:
        raise TypeError("an index is an integer, a slice, '...' or None, not "
                        f"{type(key).__name__}") from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of range for axis {axis} of length {extent}")
    return index + extent if index < 0 else index


def _unpickle(dtype: str, shape: tuple[int, ...], data: bytes) -> Array:
    array = _core.empty(shape, dtype)
    array._write(data)
    return array


# ---- Creation


def asarray(values: Any, dtype: npt.DTypeLike | None = None, *,
            copy: bool | None = None) -> Array:
    """An Array made from an Array or from anything that numpy.asarray takes. copy=False shares the
    memory of a NumPy array, which must not be changed as long as the Array exists; otherwise the
    memory is copied. Use from_dlpack for arrays of other libraries that are on a device."""
    if isinstance(values, Array):
        array = values.copy() if copy else values
    else:
        from ._host import array as taken
        array = _core.array_from(taken(values), copy is not False)
    return array if dtype is None else array.astype(dtype, copy=False)


def from_dlpack(x: Any) -> Array:
    """An Array that shares the memory of an array of another library, in order with its work."""
    if isinstance(x, Array):
        return x
    from ._host import check
    check(x, "the array")
    keywords = {}
    if x.__dlpack_device__()[0] == 2:  # its commands come before ours in this stream of CUDA
        keywords["stream"] = _core.native_queue(f"cuda:{x.__dlpack_device__()[1]}") or 1
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:
        capsule = x.__dlpack__(**keywords)
    return _core.from_capsule(capsule)


def empty(shape: Shape, dtype: npt.DTypeLike = "f64") -> Array:
    """An Array with undefined elements."""
    return _core.empty((shape,) if isinstance(shape, int) else shape, dtype)


def full(shape: Shape, value: Number, dtype: npt.DTypeLike = "f64") -> Array:
    """An Array whose elements are all `value`; DtypeError if its integers cannot hold that."""
    return op.fill(value=value, out=empty(shape, dtype))


def zeros(shape: Shape, dtype: npt.DTypeLike = "f64") -> Array:
    """An Array of zeros."""
    return full(shape, 0, dtype)


def ones(shape: Shape, dtype: npt.DTypeLike = "f64") -> Array:
    """An Array of ones."""
    return full(shape, 1, dtype)


_core.set_array_class(Array)
