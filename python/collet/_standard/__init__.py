# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py, python/tests/test_operators.py
"""What makes the module collet a namespace of the Python array API standard, beside collet.functions."""
