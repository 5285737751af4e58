# SPDX-License-Identifier: Apache-2.0
"""Gradients of random functions, and Hessians of some, agree with central differences."""

import os

import numpy as np
import pytest
from differences import central, compare
from programs import BINARY, PRODUCTS, UNARY, inputs, program

import collet


COUNT = int(os.environ.get("COLLET_TEST_FUNCTIONS", 50))  # the long test sets 200


@pytest.mark.parametrize("seed", range(COUNT))
def test_gradients(seed):
    text, function = program(seed)
    x, y = inputs(seed)
    compare(lambda x: function(collet, x, y), x)
    compare(lambda y: function(collet, x, y), y)


@pytest.mark.parametrize("seed", range(COUNT // 10))
def test_hessians(seed):
    text, function = program(seed, steps=4)
    x, y = inputs(seed)
    x = x[:3, :2]
    y = y[:2]

    def of(x):
        return function(collet, x, y)

    hessian = collet.hessian(of)(x).to_numpy()
    for i in range(x.size):
        wanted = central(lambda x: collet.grad(of)(x).reshape(-1)[i], x)
        np.testing.assert_allclose(hessian.reshape(x.size, *x.shape)[i], wanted, rtol=1e-6, atol=1e-6)


def test_programs_use_everything():
    texts = "; ".join(program(seed)[0] for seed in range(200))
    used = {word.split("(")[0].strip() for word in texts.split(";")}
    assert used == {*UNARY, *BINARY, *PRODUCTS}
