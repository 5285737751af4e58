#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""film.py DIRECTORY Z Y X MATERIALS ENERGIES: writes a film of random voxels for collet-rsoxs, with its configuration
and optical constants. The benchmarks of scattering use films that this script writes. Needs numpy and h5py."""
import os
import sys

import h5py
import numpy as np

directory = sys.argv[1]
z, y, x, materials, count = map(int, sys.argv[2:7])
rng = np.random.default_rng(1)
os.makedirs(directory, exist_ok=True)
fraction = rng.random((materials, z, y, x), dtype=np.float32) + 0.01
fraction /= fraction.sum(0)
with h5py.File(f"{directory}/film.h5", "w") as film:
    film["Morphology_Parameters/NumMaterial"] = materials
    film["Morphology_Parameters/PhysSize"] = 2.0
    for m in range(materials):
        values = {"Vfrac": fraction[m]}
        for name, scale in (("S", float(m < materials - 1)), ("Theta", np.pi), ("Psi", 2 * np.pi)):
            values[name] = rng.random((z, y, x), dtype=np.float32) * scale
        for name, array in values.items():
            data = film.create_dataset(f"Euler_Angles/Mat_{m + 1}_{name}", data=array.astype(np.float64))
            for axis, label in enumerate("ZYX"):
                data.dims[axis].label = label
energies = [270 + i / 2 for i in range(count)]
with open(f"{directory}/config.txt", "w") as config:
    config.write("CaseType = 0;\nMorphologyType = 0;\nEAngleRotation = [0.0, 5.0, 355.0];\nRotMask = true;\n")
    config.write(f"Energies = [{', '.join(map(str, energies))}];\n")
names = ("BetaPara", "BetaPerp", "DeltaPara", "DeltaPerp")
for m in range(materials):
    with open(f"{directory}/Material{m + 1}.txt", "w") as constants:
        for i, energy in enumerate(energies):
            lines = "".join(f"{name} = {value:.9e};\n" for name, value in zip(names, rng.random(4) * 2e-3))
            constants.write(f"EnergyData{i}:\n{{\nEnergy = {energy};\n{lines}}}\n")
