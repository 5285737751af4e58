# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_special.py
"""Functions of scipy.special that reduce axes, with SciPy's arguments and its results for infinities and NaN.
Results have the dtype of the argument; integers become float64. DtypeError for complex numbers. Elementwise
functions, such as expit and erf, are in collet itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from . import functions as f
from ._array.elementwise import functions as _E
from ._array.names import astype
from ._array.operands import taken
from ._hook import hook as _hook
from ._listing import own
from .functions._rounding import once_rounded


def _real(name: str, *values: Any) -> list[Any]:
    found = taken(*values)
    for x in found:
        if x.dtype.kind == "c":
            raise _core.DtypeError(f"{name}: the dtype is {x.dtype}; real numbers are needed")
    return [astype(x, "float64") if x.dtype.kind in "biu" else x for x in found]


def _maximum(x: Any, axis: Any) -> Any:
    return f.max(x, axis=axis, keepdims=True) if x.size else 0.0


def _finite_maximum(x: Any, axis: Any) -> Any:
    """The maximum, or 0 where it is not finite."""
    top = _maximum(x, axis)
    return _E["where"](_E["isfinite"](top), top, 0.0) if x.size else top


@once_rounded("a", "b")
def logsumexp(a: Any, axis: int | Sequence[int] | None = None, b: Any = None, keepdims: bool = False) -> Any:
    """log(sum(b * exp(a))) over axes, by default all, without overflow. Elements whose weight b is 0 do not count. The
    sum of no elements is 0, and its logarithm -inf; the logarithm of a negative sum is NaN.

    >>> float(collet.special.logsumexp([1000.0, 1000.0]))
    1000.6931471805599"""
    if b is None:
        a, = _real("logsumexp", a)
    else:
        a, b = f.broadcast_arrays(*_real("logsumexp", a, b))
        a = _E["where"](_E["equal"](b, 0), -float("inf"), a)
    top = _finite_maximum(a, axis)
    terms = _E["exp"](_E["subtract"](a, top))
    total = f.sum(terms if b is None else _E["multiply"](b, terms), axis=axis, keepdims=keepdims)
    return _E["add"](_E["log"](total), f.reshape(top, total.shape) if a.size else 0.0)


@once_rounded("x")
def softmax(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """exp(x) / sum(exp(x)) over axes, by default all, without overflow.

    >>> collet.special.softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])"""
    x, = _real("softmax", x)
    terms = _E["exp"](_E["subtract"](x, _maximum(x, axis)))
    return _E["divide"](terms, f.sum(terms, axis=axis, keepdims=True))


@once_rounded("x")
def log_softmax(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """The logarithm of softmax, also where softmax underflows to 0.

    >>> collet.special.log_softmax(np.array([1000.0, 0.0]))
    array([    0., -1000.])"""
    x, = _real("log_softmax", x)
    x = _E["subtract"](x, _finite_maximum(x, axis))
    return _E["subtract"](x, _E["log"](f.sum(_E["exp"](x), axis=axis, keepdims=True)))


_hook(globals(), __name__, "special.")


def __dir__() -> list[str]:
    return own(globals())
