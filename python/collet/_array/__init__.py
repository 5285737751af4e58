# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_array.py, python/tests/op/test_namespace.py
"""What functions are written with: making and converting arrays, their operands, the elementwise functions and
the dtypes."""
