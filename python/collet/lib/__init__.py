# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_libraries.py
"""Functions where NumPy has them, for libraries that look there: numpy.lib.stride_tricks."""

from . import stride_tricks as stride_tricks
