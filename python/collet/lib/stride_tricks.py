# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_libraries.py
"""collet.sliding_window_view under NumPy's name."""

from ..functions import sliding_window_view as sliding_window_view
