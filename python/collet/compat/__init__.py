# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_rotor.py
"""Drop-in replacements of other projects' modules, computed by Collet: one module for each project."""
