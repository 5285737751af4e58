# SPDX-License-Identifier: Apache-2.0
"""Ops on NumPy arrays and on arrays that stay on a device."""
import collet
import numpy as np

a = np.arange(6.0).reshape(2, 3)
values, vectors, info = collet.op.eigh(a @ a.T)  # NumPy in, NumPy out
print(values, "by", collet.last_backend())

x = collet.asarray(a)  # a collet.Array: its bytes stay where they are used
with collet.using("cpu_scalar"):
    y = (x @ x.T)[0] / 2 + 1
print(y.to_numpy(), np.from_dlpack(y))
