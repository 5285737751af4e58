# SPDX-License-Identifier: Apache-2.0
"""Small trajectories, and results that are equal bit for bit."""

import pathlib

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md"
FILES = DATA / "peptide/conf.gro", DATA / "peptide/traj.trr"
WATER = DATA / "water/conf.gro", DATA / "water/traj.trr"


def same(found, expected):
    """Compares arrays, bodies and meta data, except entries that depend on the time or the machine."""
    assert list(found) == list(expected)
    for key in found:
        assert found[key].tobytes() == expected[key].tobytes(), key
    own, theirs = dict(found.meta), dict(expected.meta)
    for changing in "created", "counters", "timing":
        del own[changing], theirs[changing]
    assert own == theirs and found.bodies == expected.bodies
