# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/scatter/test_scatter_jax.py
"""collet.scatter.jax_function, imported by its first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .functions import Function
from .patterns import Floats


def function(shared: Function) -> Callable[..., Any]:
    structure: Any = jax.ShapeDtypeStruct

    def dtype_of(arrays: tuple[Any, ...]) -> str:
        return shared.dtype([a.dtype.name for a in arrays])

    def evaluate(*arrays: Any) -> Floats:
        """The patterns, in the host's memory."""
        with shared.patterns([np.asarray(a) for a in arrays], dtype_of(arrays)) as made:
            values = shared.values(made)
        return values.astype(jax.dtypes.canonicalize_dtype(values.dtype), copy=False)

    def differentiate(cotangents: Any, *arrays: Any) -> tuple[Floats, ...]:
        given = [np.asarray(a) for a in arrays]
        with shared.patterns(given, dtype_of(arrays)) as made:
            found = shared.gradients(made, np.asarray(cotangents), given, [True] * len(given))
        return tuple(np.asarray(g, a.dtype) for g, a in zip(found, given))

    def call(*arrays: Any) -> Any:
        dtype = jax.dtypes.canonicalize_dtype(dtype_of(arrays))
        shape = structure(shared.shape([a.shape for a in arrays]), dtype)
        return jax.pure_callback(evaluate, shape, *arrays, vmap_method="sequential")

    def forward(*arrays: Any) -> tuple[Any, Any]:
        return call(*arrays), arrays

    def backward(arrays: Any, cotangents: Any) -> Any:  # the engine ignores cotangents of pixels that are NaN
        shapes = tuple(structure(a.shape, a.dtype) for a in arrays)
        return jax.pure_callback(differentiate, shapes, cotangents, *arrays, vmap_method="sequential")

    inner = jax.custom_vjp(call)
    inner.defvjp(forward, backward)

    def patterns(*arrays: Any) -> Any:
        shared.count(len(arrays))
        return inner(*map(jax.numpy.asarray, arrays))

    return patterns
