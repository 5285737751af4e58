# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_rotor.py
"""Drop-ins: other projects' modules on Collet, one module for each project."""
