# SPDX-License-Identifier: Apache-2.0
"""grids.py [FILE]: draws docs/grids.png, films of identical layers on the grids of collet.scatter. Needs Matplotlib."""
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

from collet import scatter  # noqa: E402

DOCS = pathlib.Path(__file__).parent
ENERGY, VOXEL, SIDE = 285.0, 2.5, 128


def pattern(layers, empty, grid):
    """The pattern of layers that have the same random structure, with empty layers around them."""
    plane = np.random.default_rng(2).random((SIDE, SIDE))
    film = np.zeros((layers + empty, SIDE, SIDE))
    film[empty // 2:empty // 2 + layers] = plane
    constants = np.array([[1e-3, 1e-4, 1e-3, 1e-4]])
    sample = scatter.Sample([scatter.Material(constants, film), scatter.Material(0 * constants, 1 - film)],
                            [ENERGY], VOXEL, grid=grid)
    return scatter.simulate(sample, dtype="float64")


one = pattern(1, 0, "exact")
k = 2 * np.pi * ENERGY / 1239.84197
row = slice(SIDE // 2 + 1, SIDE - 1)
qz = k - np.sqrt(k**2 - one.qx[row]**2)
place = qz * 8 * VOXEL / (2 * np.pi)
with np.errstate(invalid="ignore"):
    line = np.linspace(0.001, place[-1], 400)
    closed = (np.sin(np.pi * line) / (8 * np.sin(np.pi * line / 8)))**2

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), dpi=80, layout="constrained", sharey=True)
for axis, empty in zip(axes, (0, 24)):
    axis.plot(line, closed, color="0.6", label="closed form")
    for grid, mark in ("exact", "."), ("fft", "x"), ("cyrsoxs", "+"):
        found = pattern(8, empty, grid).values[0, SIDE // 2, row] / one.values[0, SIDE // 2, row] / 64
        axis.plot(place, found, mark, markersize=5, label=grid)
    axis.set(xlabel="q_z L / 2 pi", yscale="log", ylim=(1e-3, 2),
             title="8 identical layers" + (f", {empty} empty ones" if empty else ""))
axes[0].set_ylabel("intensity / intensity of 8 layers in phase")
axes[1].legend()
figure.canvas.draw()
image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB").quantize(64)
image.save(sys.argv[1] if len(sys.argv) > 1 else DOCS / "grids.png", optimize=True)
