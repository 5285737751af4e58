# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py, python/tests/gradient/test_rules.py
"""Primitive functions: other functions call them. Each has a rule for its gradient. Calls with traced arrays go
to the tape. Elementwise functions and dtypes become members at their first use."""

from .. import _core
from .. import op as _op
from .._array import elementwise as _elementwise
from .._array import names as _names
from .._hook import hook as _hook
from ._products import cross, einsum, matmul, outer, tensordot, trace, vecdot
from ._reductions import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
from ._reductions import SMALL as _SMALL
from ._search import (argsort, count_nonzero, isin, nonzero, searchsorted, sort, take, take_along_axis, unique_all,
                      unique_counts, unique_inverse, unique_values)
from ._shapes import (arange, broadcast_arrays, broadcast_shapes, broadcast_to, concat, diagonal, empty_like,
                      expand_dims, eye, flip, full_like, linspace, matrix_transpose, moveaxis, ones_like, pad,
                      permute_dims, repeat, reshape, roll, squeeze, stack, tril, triu, zeros_like)
from ._statistics import cumulative_prod, cumulative_sum, histogram, quantile

_DIRECT = {name: getattr(_core, "small_" + name)
           for name in ("take", "nonzero", "count_nonzero", "concat", "stack", "repeat", "roll", "eye")}
_DIRECT |= {"sort": _core.small_sort(_op.sort), "argsort": _core.small_sort(_op.argsort),
            "unique_values": _core.small_unique(_op.sort)}

_hook(globals(), __package__, small=_SMALL, direct=_DIRECT)


def __getattr__(name):
    try:
        found = _elementwise.functions[name]
    except KeyError:
        found = getattr(_names, name)
    globals()[name] = found
    return found
