# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_namespace.py
"""The names that collet takes from the standard and from NumPy. Each name is looked up at its first use, because the
functions import NumPy, which takes longer than importing the rest of the package."""

import functools

from .._array.creation import asarray, empty, from_dlpack, full, ones, zeros


@functools.cache
def _places():
    """For each source of names: the names, and a function that returns the value of a name."""
    from .. import functions
    from .._array import elementwise, names
    composed = {n: f for n, f in vars(functions).items() if not n.startswith("_")}
    return ((elementwise.names(), elementwise.functions.__getitem__), (composed, composed.__getitem__),
            (names.names(), lambda name: getattr(names, name)))


def __getattr__(name):
    for names, find in _places():
        if name in names:
            globals()[name] = found = find(name)
            return found
    raise AttributeError(f"module 'collet' has no attribute {name!r}")
