# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_transforms.py
"""Gradients in reverse mode. tape.py records calls of functions. The modules *_rules.py have the derivative
of each function. transforms.py has the public functions. _hook.py intercepts the calls."""
