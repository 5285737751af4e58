# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_special.py
"""Functions of scipy.special that reduce axes, with SciPy's arguments and SciPy's results for infinities and NaN.
Results have the dtype of the argument; integers become float64. Elementwise functions, such as expit and erf, are in
collet itself, for real numbers; scipy.special.erf(x) of a complex Array is computed by SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from . import functions as f
from ._array.elementwise import functions as _E
from ._array.names import astype
from ._array.operands import taken
from ._hook import hook as _hook
from ._listing import own
from .functions._rounding import once_rounded

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._standard.array import Array

    Axis: TypeAlias = int | Sequence[int] | None


def _floats(*values: Any) -> list[Any]:
    return [astype(x, "float64") if x.dtype.kind in "biu" else x for x in taken(*values)]


def _maximum(x: Any, axis: Any) -> Any:
    """The maximum; for complex numbers the maximum of the real parts; 0 if there are no elements."""
    return f.max(_E["real"](x) if x.dtype.kind == "c" else x, axis=axis, keepdims=True) if x.size else 0.0


def _finite_maximum(x: Any, axis: Any) -> Any:
    """The maximum, or 0 where it is not finite."""
    top = _maximum(x, axis)
    return _E["where"](_E["isfinite"](top), top, 0.0) if x.size else top


@overload
def logsumexp(a: Array, axis: Axis = None, b: Any = None, keepdims: bool = False, return_sign: Literal[False] = False
              ) -> Array: ...
@overload
def logsumexp(a: Array, axis: Axis = None, b: Any = None, keepdims: bool = False, *, return_sign: Literal[True]
              ) -> tuple[Array, Array]: ...
@overload
def logsumexp(a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any: ...
@once_rounded("a", "b")
def logsumexp(a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False,
              return_sign: bool = False) -> Any:
    """log(sum(b * exp(a))) over axes, by default all, without overflow. Elements whose weight b is 0 do not count. The
    sum of no elements is 0, and its logarithm -inf; the logarithm of a negative sum is NaN. return_sign: returns the
    logarithm of the magnitude of the sum, and the sign of the sum; a complex sum has the sign sum / |sum|.

    >>> float(collet.special.logsumexp([1000.0, 1000.0]))
    1000.6931471805599
    >>> [float(x) for x in collet.special.logsumexp([0.0, 0.0], b=[1, -3], return_sign=True)]
    [0.6931471805599453, -1.0]"""
    if b is None:
        a, = _floats(a)
    else:
        a, b = f.broadcast_arrays(*_floats(a, b))
        a = _E["where"](_E["equal"](b, 0), -float("inf"), a)
    top = _finite_maximum(a, axis)
    terms = _E["exp"](_E["subtract"](a, top))
    total = f.sum(terms if b is None else _E["multiply"](b, terms), axis=axis, keepdims=keepdims)
    logarithm = _E["log"](_E["abs"](total) if return_sign else total)
    found = _E["add"](logarithm, f.reshape(top, total.shape) if a.size else 0.0)
    return (found, _E["sign"](total)) if return_sign else found


@overload
def softmax(x: Array, axis: Axis = None) -> Array: ...
@overload
def softmax(x: npt.ArrayLike, axis: Axis = None) -> npt.NDArray[Any]: ...
@once_rounded("x")
def softmax(x: Any, axis: Axis = None) -> Any:
    """exp(x) / sum(exp(x)) over axes, by default all, without overflow.

    >>> collet.special.softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])"""
    x, = _floats(x)
    terms = _E["exp"](_E["subtract"](x, _maximum(x, axis)))
    return _E["divide"](terms, f.sum(terms, axis=axis, keepdims=True))


@overload
def log_softmax(x: Array, axis: Axis = None) -> Array: ...
@overload
def log_softmax(x: npt.ArrayLike, axis: Axis = None) -> npt.NDArray[Any]: ...
@once_rounded("x")
def log_softmax(x: Any, axis: Axis = None) -> Any:
    """The logarithm of softmax, also where softmax underflows to 0.

    >>> collet.special.log_softmax(np.array([1000.0, 0.0]))
    array([    0., -1000.])"""
    x, = _floats(x)
    x = _E["subtract"](x, _finite_maximum(x, axis))
    return _E["subtract"](x, _E["log"](f.sum(_E["exp"](x), axis=axis, keepdims=True)))


_hook(globals(), __name__, "special.")


def __dir__() -> list[str]:
    return own(globals())
