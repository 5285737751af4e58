# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py, python/tests/test_operators.py
"""The class collet.Array, and the protocols that the Python array API standard and NumPy require."""
