# SPDX-License-Identifier: Apache-2.0
"""Pairs of points below a distance, and a gradient."""
import collet as xp
import numpy as np

x = xp.asarray(np.random.default_rng(0).normal(size=(1000, 3)))
apart = x[:, None, :] - x[None, :, :]
r = xp.sqrt(xp.sum(apart * apart, axis=-1))
energy = xp.sum(xp.where((r > 0) & (r < 0.5), 1 / (r + 1), 0.0))  # computed here, and no array of 1 / (r + 1) is made
slope = xp.grad(lambda x: xp.sum(xp.exp(-x * x)))(x)
print(float(energy), slope.shape)
