# SPDX-License-Identifier: Apache-2.0
"""Gradients by central differences in float64, the reference for collet.grad."""

import numpy as np

import collet

STEP = 1e-5


def central(function, x):
    """The gradient of a real function: d/d(real part) - i d/d(imaginary part)."""
    x = np.array(x)
    flat, found = x.reshape(-1), np.zeros(x.size, x.dtype)
    for i in range(x.size):
        for unit in (1,) if x.dtype.kind == "f" else (1, 1j):
            values = []
            for step in (-2, -1, 1, 2):
                moved = flat.copy()
                moved[i] += step * STEP * unit
                values.append(float(function(collet.asarray(moved.reshape(x.shape)))))
            slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * STEP)
            found[i] += slope if unit == 1 else -1j * slope
    return found.reshape(x.shape)


def compare(function, x, limit=1e-6):
    """Raises unless value_and_grad returns the value of the function and the gradient by central differences."""
    value, gradient = collet.value_and_grad(function)(x)
    x = np.asarray(x)
    assert gradient.shape == x.shape and gradient.dtype == x.dtype
    np.testing.assert_allclose(float(value), float(function(collet.asarray(x))), rtol=1e-12, atol=1e-14)
    wanted = central(function, x)
    np.testing.assert_allclose(gradient.to_numpy(), wanted, rtol=limit, atol=limit * max(1, abs(wanted).max()))


def weighted(*results):
    """Reduces arrays to one number. Each element contributes with a different weight."""
    total = 0
    for result in results:
        if isinstance(result, tuple):
            total = total + weighted(*result)
        elif result is not None and result.dtype.kind in "fc":
            weights = np.cos(np.arange(1.0, result.size + 1)).reshape(result.shape)
            if result.dtype.kind == "c":
                result = collet.real(result * (1 - 0.5j))
            total = total + collet.sum(result * weights)
    return total
