# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_libraries.py
"""einops on Arrays: after collet.compat.einops.install() einops.rearrange, reduce, repeat, pack, unpack and
einsum take collet.Arrays. einops.array_api takes Arrays without install()."""

import functools

from collet._listing import own


@functools.cache
def install():
    """Registers Arrays with einops, once for the process."""
    from einops._backends import AbstractBackend

    import collet

    class ColletBackend(AbstractBackend):
        framework_name = "collet"

        def is_appropriate_type(self, tensor):
            return isinstance(tensor, collet.Array)

        def from_numpy(self, x):
            return collet.asarray(x)

        def to_numpy(self, x):
            return x.to_numpy()

        def arange(self, start, stop):
            return collet.arange(start, stop)

        def stack_on_zeroth_dimension(self, tensors):
            return collet.stack(tensors)

        def add_axis(self, x, new_position):
            return collet.expand_dims(x, axis=new_position)

        def tile(self, x, repeats):
            return collet.tile(x, repeats)

        def concat(self, tensors, axis):
            return collet.concat(tensors, axis=axis)

        def is_float_type(self, x):
            return collet.isdtype(x.dtype, "real floating")

        def einsum(self, pattern, *x):
            return collet.einsum(pattern, *x)

    return ColletBackend  # functools.cache keeps the class alive: einops looks for subclasses that exist.


def __dir__():
    return own(globals())
