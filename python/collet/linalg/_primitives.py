# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules_linalg.py
"""The functions that need rules for gradients. Calls with traced arrays go to the tape."""

from .._array.conversion import small as _small
from .._hook import hook as _hook
from ._decompositions import (EighResult, EigResult, LUResult, QRResult, SVDResult, cholesky, eig, eigh, eigvals, eigvalsh,
                              lu, lu_factor, qr, svd, svdvals)
from ._determinants import SlogdetResult, det, slogdet
from ._equations import inv, solve, solve_triangular
from ._exponential import expm
from ._norms import cond, matrix_norm, norm, vector_norm
from ._products import dot, matrix_power, vdot
from ._ranks import LstsqResult, lstsq, matrix_rank, null_space, orth, pinv

_hook(globals(), __package__, "linalg.", dict.fromkeys(("norm", "vector_norm"), _small("norm")))
