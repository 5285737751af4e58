# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_array.py, python/tests/op/test_namespace.py
"""Building blocks of functions: creation and conversion of arrays, operands, elementwise functions and
dtypes."""
