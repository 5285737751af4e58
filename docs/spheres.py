# SPDX-License-Identifier: Apache-2.0
"""spheres.py [FILE]: draws docs/spheres.png from the results of examples/spheres.py. Needs Matplotlib."""
import pathlib
import runpy
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

DOCS = pathlib.Path(__file__).parent
found = runpy.run_path(str(DOCS.parent / "examples/spheres.py"))
result, intensity = found["result"], found["intensity"]
pattern = np.log10(np.maximum(result.values[0], np.nanmax(result.values) * 1e-8))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 2.9), dpi=80, layout="constrained")
left.imshow(found["film"].mean(0), cmap="gray", extent=(0, 256, 256, 0))
left.set(title="film, seen along z", xlabel="x, nm", ylabel="y, nm")
edges = (result.qx[0], result.qx[-1], result.qy[0], result.qy[-1])
middle.imshow(pattern, cmap="viridis", extent=edges, origin="lower")
middle.set(title="pattern at 285 eV, log", xlabel="qx, 1/nm", ylabel="qy, 1/nm")
right.loglog(intensity.q[1:], intensity.mean[0, 1:])
right.set(title="I(q)", xlabel="q, 1/nm", yticks=[])
figure.canvas.draw()
image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB").quantize(64)
image.save(sys.argv[1] if len(sys.argv) > 1 else DOCS / "spheres.png", optimize=True)
