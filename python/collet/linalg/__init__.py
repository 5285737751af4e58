# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py, python/tests/linalg/test_linalg_equations.py
"""Linear algebra under the names of numpy.linalg and scipy.linalg, on the ops of collet.op.

Matrices are the last two axes; axes before them are a batch. Results are collet.Arrays for collet.Arrays,
and NumPy arrays for everything else that numpy.asarray takes. Results are float32 if all arguments are
float32, float16 or bfloat16, else float64. If an argument is complex, they are complex64 or complex128.
Exceptions: cross, diagonal, matmul, matrix_transpose, multi_dot, outer, tensordot, trace and vecdot have NumPy's
dtypes, and powers of integer matrices are integers. Shapes that do not fit raise collet.ShapeError. A
single number is returned as an array without axes.
"""

from numpy.linalg import LinAlgError

from .._hook import hook as _hook
from .._listing import own as _own
from ..functions import cross, diagonal, matmul, matrix_transpose, outer, tensordot, trace, vecdot
from ._composed import cho_factor, cho_solve, lu_solve, multi_dot, tensorinv, tensorsolve
from ._primitives import *

_hook(globals(), __name__, "linalg.")


def __dir__():
    return _own(globals(), ("LinAlgError", "cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot",
                            "trace", "vecdot"))
