# SPDX-License-Identifier: Apache-2.0
"""md.extract(drift=): after a drift is added to a system, the results equal the results without the drift."""

import pathlib
import warnings

import numpy as np
import pytest

import collet
from collet import md

WATER = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md/water"
FILES = WATER / "conf.gro", WATER / "traj.trr"
ATOMS, FRAMES = 12, 9
rng = np.random.default_rng(5)
MASSES = rng.uniform(1, 20, ATOMS)
TIMES = np.arange(FRAMES) * 0.5


def centre(values):
    return np.einsum("a,fak->fk", MASSES, values)[:, None] / MASSES.sum()


def momentum(positions, velocities):
    return np.einsum("a,fak->fk", MASSES, np.cross(positions - centre(positions), velocities))


def rotation(positions, velocities):
    """The angular velocity of each frame."""
    x = positions - centre(positions)
    inertia = np.einsum("a,fa,jk->fjk", MASSES, (x**2).sum(2), np.eye(3)) - np.einsum("a,faj,fak->fjk", MASSES, x, x)
    return np.linalg.solve(inertia, momentum(positions, velocities - centre(velocities))[..., None])[..., 0]


def resting():
    """Positions and velocities of a system whose centre of mass rests and that does not turn."""
    positions = rng.normal(size=(1, ATOMS, 3)) + 0.1 * rng.normal(size=(FRAMES, ATOMS, 3)).cumsum(0)
    positions -= centre(positions) - centre(positions)[:1]
    velocities = rng.normal(size=positions.shape)
    velocities -= centre(velocities)
    omega = rotation(positions, velocities)[:, None]
    return positions, velocities - np.cross(omega, positions - centre(positions))


POSITIONS, VELOCITIES = resting()


def frames_of(positions, velocities, **more):
    return md.Frames(positions, MASSES, velocities=velocities, times=TIMES, residue_ids=np.arange(ATOMS) // 3, **more)


def drifting(linear, angular):
    path = linear * np.array([3.0, -2, 5]) * TIMES[:, None, None]
    turn = np.cross(angular * np.array([0.3, 1, -2]) * (1 + TIMES[:, None, None]), POSITIONS - centre(POSITIONS))
    return frames_of(POSITIONS + path, VELOCITIES + turn + linear * np.array([30.0, -20, 50]))


def close(found, expected):
    assert list(found) == list(expected) and found
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=1e-9, atol=1e-10, err_msg=key)


@pytest.mark.parametrize("drift, linear, angular", [("linear", 1, 0), ("angular", 0, 1), ("both", 1, 1)])
@pytest.mark.parametrize("options", [{}, {"each": "residue", "keys": "com,L_*,com_velocity"},
                                     {"selection": "index 2:7", "keys": ["com", "k_*", "omega_vector", "rmsd"]}])
def test_the_drift_is_removed(drift, linear, angular, options):
    found = md.extract(drifting(linear, angular), drift=drift, **options)
    close(found, md.extract(frames_of(POSITIONS, VELOCITIES), **options))
    assert found.meta["drift"]["drift"] == drift and found.meta["drift"]["atoms"] == ATOMS
    assert found.meta["drift"]["of"] == "all" and found.meta["drift"]["positions_moved"] == bool(linear)
    assert md.extract(drifting(linear, angular), **options).meta["drift"] == {"drift": "keep"}


def test_another_inertial_frame_changes_nothing():
    fast = frames_of(POSITIONS + 100 * TIMES[:, None, None], VELOCITIES + 100)
    options = {"keys": "com,com_velocity,L_vector,k_total", "each": "residue", "drift": "linear", "drift_of": "index 0:4"}
    close(md.extract(fast, **options), md.extract(frames_of(POSITIONS, VELOCITIES), **options))


def test_displacements_are_those_without_the_drift():
    options = {"keys": "com", "each": "residue"}
    found = md.extract(drifting(1, 0), drift="linear", **options)
    expected, wrong = md.extract(frames_of(POSITIONS, VELOCITIES), **options), md.extract(drifting(1, 0), **options)
    msd = [md.analysis.mean_square_displacement(r["com"], 0.5).value for r in (found, expected, wrong)]
    np.testing.assert_allclose(msd[0], msd[1], atol=1e-9)
    assert msd[2][1] > 3 * msd[1][1]


@pytest.mark.parametrize("pbc", ["whole", "nojump", "center", "none"])
@pytest.mark.parametrize("drift", ["linear", "both"])
@pytest.mark.filterwarnings("ignore:the rotation of 100 molecules", "ignore:.*the periodic box cuts this molecule")
def test_each_way_gives_the_same(pbc, drift, tmp_path):
    options = {"keys": "com,com_velocity,L_vector", "selection": "resid 3:20", "pbc": pbc, "drift": drift,
               "drift_of": "resid 1:100", "start": 2}
    whole = md.extract(*FILES, **options)
    parts = list(md.extract_batches(*FILES, rows=20, **options))
    for key, values in whole.items():
        assert np.concatenate([rows[key] for rows in parts]).tobytes() == values.tobytes()
    for i in (3, 1, 2):
        md.extract(*FILES, **options, shard=(i, 3), shards=tmp_path)
    merged = md.merge(tmp_path)
    for key, values in whole.items():
        assert merged[key].tobytes() == values.tobytes()
    assert merged.meta["drift"] == whole.meta["drift"]
    with pytest.raises(collet.InvalidError, match="is of other work .drift"):
        md.extract(*FILES, **{**options, "drift": "angular"}, shard=(1, 3), shards=tmp_path)
    with pytest.raises(collet.InvalidError, match="is of other work .drift_of"):
        md.extract(*FILES, **{**options, "drift_of": None}, shard=(1, 3), shards=tmp_path)


def test_momentum_of_files():
    free = md.extract(*FILES, keys="com,com_velocity")
    calm = md.extract(*FILES, keys="com,com_velocity,k_trans", pbc="nojump", drift="linear")
    assert abs(free["com_velocity"]).max() > 1e-5 > 1e-7 > abs(calm["com_velocity"]).max()
    assert abs(calm["com"] - calm["com"][0]).max() < 1e-6 and calm["k_trans"].max() < 1e-6
    assert calm.meta["drift"]["done"] == "motion of the centre of mass of 648 atoms removed from velocities, " \
        "displacement of the centre of mass from positions"


def test_warnings():
    with pytest.warns(RuntimeWarning, match="the rotation of 216 molecules in a periodic box was removed"):
        md.extract(*FILES, keys="L_vector", drift="both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        md.extract(*FILES, keys="L_vector", drift="linear")
        md.extract(*FILES, keys="L_vector", drift="angular", drift_of="resid 3")


@pytest.mark.parametrize("wrong, text", [
    ({"drift": "rotation"}, "drift is 'rotation', not 'keep', 'linear', 'angular' or 'both'"),
    ({"drift": 1}, "drift is 1"), ({"drift_of": "all"}, "drift_of: 'all' is given, but no drift is removed"),
    ({"drift": "both", "drift_of": 3}, "drift_of is 3, not a text"),
    ({"drift": "both", "drift_of": "index 4"}, "one atom has no rotation"),
    ({"drift": "linear", "drift_of": "within 1 of resid 1"}, "differs from frame to frame"),
    ({"drift": "linear", "drift_of": "name Q"}, "drift_of: the selection 'name Q' matches none")])
def test_wrong_arguments_are_told(wrong, text):
    with pytest.raises((TypeError, ValueError), match=text):
        md.extract_batches(*FILES, **wrong)


def test_groups_of_mdanalysis():
    mda = pytest.importorskip("MDAnalysis")
    files = list(map(str, FILES))
    universe = mda.Universe(*files)
    options = {"keys": "com,com_velocity,k_total", "masses": "equal", "drift": "linear", "stop": 5, "pbc": "nojump"}
    group = universe.select_atoms("resid 5:9 and name HW*")
    for each in (None, "residue"):
        found = md.extract(group, each=each, **options)
        expected = md.extract(*files, selection="resid 5:9 and name HW*", each=each, **options)
        for key, values in expected.items():
            np.testing.assert_allclose(found[key], values, atol=1e-4)
        assert found.meta["drift"] == expected.meta["drift"] and found.meta["drift"]["atoms"] == 648
    part = md.extract(group, **{**options, "drift_of": "resid 5:9", "pbc": "none"})
    assert part.meta["drift"]["atoms"] == 15
    for more in ({"selection": "index 0:3"}, {"masses": np.ones(len(group))}):
        with pytest.raises(collet.InvalidError, match="drift is of all atoms of the universe"):
            md.extract(group, **{**options, **more})
    same = md.extract(universe, **options)
    assert same.meta["drift"]["atoms"] == 648
