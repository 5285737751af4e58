# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py, python/tests/test_operators.py
"""The class collet.Array, whose methods are functions too, and what the Python array API standard and NumPy ask for."""
