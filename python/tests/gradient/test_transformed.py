# SPDX-License-Identifier: Apache-2.0
"""Twenty programs agree with loops over the rows, with calls without jit, and, if JAX is installed, with JAX."""

import types

import numpy as np
import pytest
from transformed import PROGRAMS

import collet
from collet._gradient.trees import leaves, rebuilt


def loop(function, in_axes=0):
    """vmap as a loop."""
    def call(*arguments):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
        count = next(a.shape[0] for a, axis in zip(arguments, axes) if axis == 0)
        rows = [function(*(a if axis is None else a[i] for a, axis in zip(arguments, axes))) for i in range(count)]
        return rebuilt(rows[0], [collet.stack(parts) for parts in zip(*map(leaves, rows))])

    return call


def by_differences(function, primals, tangents):
    """jvp of a function of one number, by central differences."""
    (x,), (v,), step = primals, tangents, 1e-6
    return function(x), (function(x + step * v) - function(x - step * v)) / (2 * step)


LOOPS = types.SimpleNamespace(vmap=loop, jit=lambda f: f, jvp=by_differences, jacfwd=collet.jacobian, grad=collet.grad,
                              value_and_grad=collet.value_and_grad, hessian=collet.hessian)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_against_loops(program):
    found, wanted = leaves(program(collet, collet)), leaves(program(collet, LOOPS))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-8 if program.__name__ == "pde_step" else 1e-11, atol=1e-11)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_against_jax(program):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    found, wanted = leaves(program(collet, collet)), jax.tree_util.tree_leaves(program(jax.numpy, jax))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-9, atol=1e-11)
