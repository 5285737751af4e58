# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Functions composed of ops, under the names and with the arguments of the Python array API standard
2025.12, and under NumPy's where the standard has none. collet has all of them: collet.concat.

NumPy arrays, and what numpy.asarray takes, give NumPy arrays; collet.Arrays give collet.Arrays, and
their elements stay on their device. Results have the dtypes of NumPy 2. A backend that lacks an op of a
function raises the error of that op.
"""

from ._products import cross, einsum, matmul, outer, tensordot, trace, vecdot
from ._reductions import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
from ._search import (argsort, count_nonzero, isin, nonzero, searchsorted, sort, take, take_along_axis,
                      unique_all, unique_counts, unique_inverse, unique_values)
from ._shapes import (arange, broadcast_arrays, broadcast_shapes, broadcast_to, concat, diagonal, empty_like,
                      expand_dims, eye, flip, full_like, linspace, matrix_transpose, meshgrid, moveaxis,
                      ones_like, pad, permute_dims, repeat, reshape, roll, squeeze, stack, tile, tril, triu,
                      unstack, zeros_like)
from ._statistics import (cumulative_prod, cumulative_sum, diff, histogram, median, percentile,
                          quantile)
