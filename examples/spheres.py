# SPDX-License-Identifier: Apache-2.0
"""X-rays scattered by spheres in a film, as NumPy arrays."""
import numpy as np
from collet import scatter

z, y, x = np.indices((32, 128, 128), "f4")
film = np.zeros_like(z)
for place in np.random.default_rng(1).uniform((8, 8, 8), (24, 120, 120), (60, 3)):
    film[(z - place[0])**2 + (y - place[1])**2 + (x - place[2])**2 < 6**2] = 1

polymer = scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], film)  # n = 1 - delta + i beta
vacuum = scatter.Material([0, 0, 0, 0], 1 - film)
sample = scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)  # eV, nm
result = scatter.simulate(sample)
intensity = result.integrate()
print(result.values.shape, "rings at q =", intensity.q[1], "...", intensity.q[-1], "1/nm")
