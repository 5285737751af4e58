# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_functions.py
"""Functions composed of ops, under the names and with the arguments of the Python array API standard
2025.12, and under NumPy's where the standard has none. collet has all of them: collet.concat.

NumPy arrays, and what numpy.asarray takes, give NumPy arrays; collet.Arrays give collet.Arrays, and
their elements stay on their device. Results have the dtypes of NumPy 2. A backend that lacks an op of a
function raises the error of that op.
"""

from .._gradient.hook import hook as _hook
from ._nan import (nan_to_num as nan_to_num, nanargmax as nanargmax, nanargmin as nanargmin,
                   nanmax as nanmax, nanmean as nanmean, nanmedian as nanmedian, nanmin as nanmin,
                   nanpercentile as nanpercentile, nanprod as nanprod, nanquantile as nanquantile,
                   nanstd as nanstd, nansum as nansum, nanvar as nanvar)
from ._numpy import (allclose as allclose, argpartition as argpartition, argwhere as argwhere,
                     array_equal as array_equal, atleast_1d as atleast_1d, atleast_2d as atleast_2d,
                     average as average, bincount as bincount, corrcoef as corrcoef, cov as cov,
                     diag as diag, dot as dot, hstack as hstack, inner as inner, interp as interp,
                     isclose as isclose, kron as kron, partition as partition, ptp as ptp, ravel as ravel,
                     sliding_window_view as sliding_window_view, split as split, swapaxes as swapaxes, trapezoid as trapezoid, vdot as vdot, vstack as vstack)
from ._numpy_more import (append as append, column_stack as column_stack, convolve as convolve, degrees as degrees,
                          delete as delete, digitize as digitize, flatnonzero as flatnonzero, fliplr as fliplr,
                          flipud as flipud, gradient as gradient, histogram2d as histogram2d,
                          intersect1d as intersect1d, radians as radians, rot90 as rot90, select as select, setdiff1d as setdiff1d,
                          union1d as union1d, unwrap as unwrap)
from ._products import (cross as cross, einsum as einsum, matmul as matmul, outer as outer,
                        tensordot as tensordot, trace as trace, vecdot as vecdot)
from ._reductions import (SMALL as _SMALL, all as all, any as any, argmax as argmax, argmin as argmin, max as max,
                          mean as mean, min as min, prod as prod, std as std, sum as sum, var as var)
from ._search import (argsort as argsort, count_nonzero as count_nonzero, isin as isin, nonzero as nonzero,
                      searchsorted as searchsorted, sort as sort, take as take,
                      take_along_axis as take_along_axis, unique_all as unique_all,
                      unique_counts as unique_counts, unique_inverse as unique_inverse,
                      unique_values as unique_values)
from ._shapes import (arange as arange, broadcast_arrays as broadcast_arrays,
                      broadcast_shapes as broadcast_shapes, broadcast_to as broadcast_to, concat as concat,
                      diagonal as diagonal, empty_like as empty_like, expand_dims as expand_dims,
                      eye as eye, flip as flip, full_like as full_like, linspace as linspace,
                      matrix_transpose as matrix_transpose, meshgrid as meshgrid, moveaxis as moveaxis,
                      ones_like as ones_like, pad as pad, permute_dims as permute_dims, repeat as repeat,
                      reshape as reshape, roll as roll, squeeze as squeeze, stack as stack, tile as tile,
                      transpose as transpose, tril as tril, triu as triu, unstack as unstack,
                      zeros_like as zeros_like)
from ._statistics import (cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum,
                          diff as diff, histogram as histogram, median as median, percentile as percentile,
                          quantile as quantile)

_hook(globals(), __name__, small=_SMALL)
