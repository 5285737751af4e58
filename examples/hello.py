# SPDX-License-Identifier: Apache-2.0
"""The radius of gyration along a trajectory, from the root of the repository."""
import collet
from collet import md

files = "tests/data/md/peptide/conf.gro", "tests/data/md/peptide/traj.trr"
rg = collet.asarray(md.extract(*files, keys="rg")["rg"])  # nm, one number per frame
mean, growth = collet.mean(rg), rg[-1] / rg[0] - 1
print(f"Rg {float(mean):.4f} nm, grows by {float(growth):.1%}, by {collet.last_backend()}")
