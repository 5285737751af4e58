# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_transforms.py
"""Gradients in reverse mode. tape.py records calls of functions, the modules *_rules.py say how each is
differentiated, transforms.py has the public functions; hook.py finds the calls."""
