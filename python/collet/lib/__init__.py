# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_libraries.py
"""Functions at the same place as in NumPy, for libraries that look there: numpy.lib.stride_tricks."""

from . import stride_tricks as stride_tricks
