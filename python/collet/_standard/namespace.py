# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py
"""What collet has of the standard and of NumPy: each name is found at its first use, since NumPy alone, which
functions import, takes longer than the rest of the package."""

from .._array.creation import asarray, empty, from_dlpack, full, ones, zeros


def _places():
    """Where names are, and what finds them."""
    from .. import functions
    from .._array import elementwise, names
    composed = {n: f for n, f in vars(functions).items() if not n.startswith("_")}
    yield elementwise.names(), elementwise.functions.__getitem__
    yield composed, composed.__getitem__
    yield names.names(), lambda name: getattr(names, name)


def __getattr__(name):
    for names, find in _places():
        if name in names:
            globals()[name] = found = find(name)
            return found
    raise AttributeError(f"module 'collet' has no attribute {name!r}")
