# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_op.py
"""Every op as a function: collet.op.add(a, b). Ops of plugins too: collet.op.vendor.clamp(x).

The functions are made from libcore's descriptions of the ops. Inputs are arrays, in order or by
name; parameters are keywords. NumPy arrays give NumPy arrays, collet.Arrays give collet.Arrays.
In addition, every function takes

out    where the result goes: an array, or for several outputs a tuple, with None for an output to
       be made and False for an optional output that is not needed
dtype  of the first output, where the op can compute several
shape  of the first output, where the inputs do not determine it

Numbers among the arrays take the dtype of the first array. Several outputs are a named tuple.
"""

from ._ops import RESULT, describe, find, get, names, result_type


# The functions become members of this module. There they hide Python's built-in functions sum, min and abs.
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = result_type(name) if name.endswith(RESULT) else find(name)
    globals()[name] = found
    return found


def __dir__():
    return ["names", "describe", "get", *{n.partition(".")[0] for n in names()}]
