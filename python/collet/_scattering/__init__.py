# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py
"""What collet.scatter computes from and returns."""
