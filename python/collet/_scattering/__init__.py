# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py
"""Arguments and results of collet.scatter."""
