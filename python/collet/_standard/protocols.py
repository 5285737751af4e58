# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_operators.py
"""NumPy's protocols: its functions compute Arrays by the functions of collet, or refuse them."""

from __future__ import annotations

from typing import Any

from .. import _core
from .elementwise import functions

_NAMES = {"absolute": "abs", "conjugate": "conj", "invert": "bitwise_invert", "rint": "round", "power": "pow",
          "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
          **{"arc" + n: "a" + n for n in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")}}
_PRODUCTS = ("matmul", "vecdot")
_ADVICE = "use the functions of collet, or give it a copy of the elements, x.to_numpy()"


def _of_ufunc(name: str) -> Any:
    name = _NAMES.get(name, name)
    if name == "divmod":
        return lambda a, b: (functions["floor_divide"](a, b), functions["remainder"](a, b))
    if name in _PRODUCTS:
        from .. import functions as composed
        return getattr(composed, name)
    try:
        return functions[name]
    except KeyError:
        return None


def ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """__array_ufunc__: numpy.sin(x) is collet.sin(x)."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    function = _of_ufunc(ufunc.__name__) if method == "__call__" else None
    if function is None:
        raise TypeError(f"numpy.{name} takes no collet.Array: {_ADVICE}")
    out, *_ = keywords.pop("out", (None,)) if ufunc.nout == 1 else (None,)
    if keywords:
        raise TypeError(f"numpy.{name} takes no {'=, '.join(keywords)}= with a collet.Array: {_ADVICE}")
    if out is None:
        return function(*inputs)
    if not isinstance(out, _core.Array):
        raise TypeError(f"numpy.{name} does not store a collet.Array in out=, an array of NumPy: {_ADVICE}")
    return function(*inputs, out=out)
