# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Functions composed of ops, under the names and with the arguments of the Python array API standard
2025.12, and under NumPy's names where the standard lacks the function. collet exports them: collet.concat.

Results are collet.Arrays for collet.Arrays, and NumPy arrays for everything else that numpy.asarray takes.
Elements of Arrays stay on their device. Results have the dtypes of NumPy 2. A backend that lacks an op of a
function raises the error of that op.
"""

from .. import _core
from .._hook import hook as _hook
from ._arrangement import (append, atleast_1d, atleast_2d, column_stack, delete, diag, fliplr, flipud, hstack,
                           meshgrid, ravel, rot90, sliding_window_view, split, swapaxes, tile, transpose, unstack,
                           vstack)
from ._bins import bincount, digitize, histogram2d
from ._comparison import allclose, array_equal, isclose
from ._inner import dot, inner, kron, vdot
from ._moments import average, corrcoef, cov, median, percentile, ptp
from ._nan import (nan_to_num, nanargmax, nanargmin, nanmax, nanmean, nanmedian, nanmin, nanpercentile, nanprod,
                   nanquantile, nanstd, nansum, nanvar)
from ._primitives import *
from ._selection import argpartition, argwhere, flatnonzero, intersect1d, partition, select, setdiff1d, union1d
from ._signals import convolve, degrees, diff, gradient, interp, radians, trapezoid, unwrap

_hook(globals(), __name__, direct={"tile": _core.small_tile, "median": _core.small_median,
                                     "convolve": _core.small_convolve, "diff": _core.small_diff,
                                     "gradient": _core.small_gradient})
