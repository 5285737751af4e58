# SPDX-License-Identifier: Apache-2.0
"""Other sources of collet.md.extract: arrays, iterators, and universes that equal their files."""

import pathlib
import warnings

import numpy as np
import pytest

import collet
from collet import md
from collet.md import _objects, _sources

DATA = pathlib.Path(__file__).parents[3] / "tests/data/md"
PEPTIDE = str(DATA / "peptide/conf.gro"), str(DATA / "peptide/traj.trr")
FILES = {"peptide": PEPTIDE, "xtc": (PEPTIDE[0], str(DATA / "peptide/traj.xtc"))}
random = np.random.default_rng(2)
POSITIONS, VELOCITIES = random.normal(size=(2, 7, 5, 3))
MASSES = np.arange(1., 6)


def same(a, b, limit=1e-12):
    assert list(a) == list(b)
    for key in a:
        np.testing.assert_allclose(a[key], b[key], rtol=limit, atol=limit, err_msg=key)


# ---- Arrays --------------------------------------------------------------------------------------


def test_arrays_are_what_the_kernels_compute():
    frames = md.Frames(POSITIONS, MASSES, velocities=VELOCITIES, forces=2 * VELOCITIES,
                       times=np.arange(7) * 0.5)
    found = md.extract(frames)
    kernels = md.observables(POSITIONS, MASSES, VELOCITIES, 2 * VELOCITIES)
    np.testing.assert_allclose(found["com"], kernels.com, rtol=1e-12)
    np.testing.assert_allclose(found["L_vector"], kernels.L, atol=1e-12)
    np.testing.assert_allclose(found["tau_vector"], kernels.torque, atol=1e-12)
    assert found["time_ps"].tolist() == (np.arange(7) * 0.5).tolist()
    assert found.meta["inputs"]["trajectory"]["path"] == "Frames"
    same(found, md.extract(frames))  # frames can be extracted once more
    same(found, {key: np.concatenate([part[key] for part in md.extract_batches(frames, rows=3)])
                 for key in found})
    one = md.extract(md.Frames(POSITIONS[2], MASSES), keys="com")
    np.testing.assert_allclose(one["com"], kernels.com[2:3])


def test_arrays_of_other_kinds():
    expected = md.extract(md.Frames(POSITIONS.astype("f4"), MASSES), keys="com,moments")
    same(expected, md.extract(md.Frames(collet.asarray(POSITIONS.astype("f4")), MASSES.tolist()),
                              keys="com,moments"))
    mixed = md.Frames(POSITIONS.astype("f4"), MASSES, velocities=VELOCITIES)
    assert mixed.source[1] == "float64"
    assert md.Frames(np.arange(15).reshape(5, 3)).source[1] == "float64"
    part = md.extract(md.Frames(POSITIONS, MASSES, names=["CA", "CB", "N", "O", "CA"],
                                residue_ids=[1, 1, 2, 2, 3]), selection="name CA and resid 1:2",
                      keys="com")
    np.testing.assert_allclose(part["com"], POSITIONS[:, 0])


@pytest.mark.parametrize("box", [(4, 5, 6), np.diag([4, 5, 6]), np.tile([4, 5, 6], (7, 1)),
                                 np.tile(np.diag([4., 5, 6]), (7, 1, 1))])
def test_boxes(box):
    frames, place = md.Frames(POSITIONS, MASSES, box=box), np.empty((3, 3))
    frames.source[-2](6, np.empty((5, 3)), None, None, place)
    assert np.array_equal(place, np.diag([4, 5, 6]))


def test_vectors_of_three_frames():
    place = np.empty((3, 3))
    md.Frames(POSITIONS[:3], box=np.diag([4, 5, 6])).source[-2](1, np.empty((5, 3)), None, None, place)
    assert np.array_equal(place, np.diag([4, 5, 6]))


@pytest.mark.parametrize("arguments, error, words", [
    ({"positions": POSITIONS[0, 0]}, collet.ShapeError, "frames x atoms x 3"),
    ({"positions": np.zeros((0, 5, 3))}, collet.ShapeError, "frames x atoms x 3"),
    ({"positions": POSITIONS + 1j}, collet.DtypeError, "complex128"),
    ({"positions": np.ma.masked_array(POSITIONS)}, TypeError, "masked array"),
    ({"velocities": VELOCITIES[:3]}, collet.ShapeError, "velocities are"),
    ({"masses": [1, 2]}, collet.ShapeError, r"masses are \(2,\); they must be \(5,\)"),
    ({"times": [1, 2]}, collet.ShapeError, r"they must be \(7,\)"),
    ({"box": [1, 2]}, collet.ShapeError, "box is"),
    ({"names": "CACBN"}, collet.ShapeError, "one for each atom"),
    ({"residue_ids": [0.5] * 5}, collet.DtypeError, "residue_ids is float64")])
def test_refused_arrays(arguments, error, words):
    with pytest.raises(error, match=words):
        md.Frames(**{"positions": POSITIONS, **arguments})


def test_without_masses_names_count():
    found = md.extract(md.Frames(POSITIONS, names=["C", "C", "H", "H", "O"]), keys="com")
    masses = [12.011, 12.011, 1.008, 1.008, 15.999]
    np.testing.assert_allclose(found["com"], md.compute_com_batch(POSITIONS, masses), rtol=1e-4)


# ---- mdtraj --------------------------------------------------------------------------------------


def test_an_iterator_of_parts():
    mdtraj = pytest.importorskip("mdtraj")
    top, traj = FILES["xtc"]
    parts = mdtraj.iterload(traj, top=top, chunk=20)
    found = md.extract(parts)
    same(found, md.extract(mdtraj.load(traj, top=top)))
    assert len(found["com"]) == 51
    with pytest.raises(collet.InvalidError, match="gives no trajectory, or was used before"):
        md.extract(parts)
    with pytest.raises(TypeError, match="must give mdtraj.Trajectory, not int"):
        md.extract(iter([1]))
    whole = mdtraj.load(traj, top=top)
    with pytest.raises(collet.ShapeError, match="gives 3 atoms after 280"):
        md.extract(iter([whole, whole.atom_slice([1, 2, 3])]))


# ---- MDAnalysis ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_universe_of_files_is_read_from_them(name):
    universe = pytest.importorskip("MDAnalysis").Universe(*FILES[name])
    found = md.extract(universe)
    assert found.meta["inputs"]["trajectory"]["path"] == FILES[name][1]
    masses = universe.atoms.masses
    same(found, md.extract(*FILES[name], masses=masses))
    # The results equal the results read through MDAnalysis, up to the rounding of its frames (Angstrom in float32).
    through = md.extract(universe, selection="resid 1:1000",
                         keys="time_ps,com,moments" + ",L_*" * (name == "peptide"))
    assert through.meta["inputs"]["trajectory"]["path"] == "MDAnalysis universe"
    for key, values in through.items():
        scale = np.abs(values).max()
        assert np.abs(values - found[key]).max() < 2e-5 * scale, key


def test_a_universe_that_is_more_than_files():
    """A universe that its files do not describe completely is read through MDAnalysis."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    from MDAnalysis.transformations import translate
    top, traj = FILES["xtc"]

    def way(group):
        return _sources.files_of(group.atoms)

    def universe(**options):
        return MDAnalysis.Universe(top, options.pop("traj", traj), **options)
    assert way(universe()) == (top, traj)
    assert way(universe().atoms[:-1]) is None and way(universe().atoms[::-1]) is None
    for options in ({"in_memory": True}, {"dt": 2}, {"transformations": translate([1, 2, 3])},
                    {"traj": [traj, traj]}, {"traj": top}):
        assert way(universe(**options)) is None, options
    assert md.extract(universe(traj=[traj, traj]), keys="time_ps")["time_ps"].tolist() == 2 * md.times(traj).tolist()
    bonded = universe()
    bonded.add_TopologyAttr("bonds", [(0, 1)])
    assert way(bonded) is None
    moved = universe(transformations=translate([10, 0, 0]))
    np.testing.assert_allclose(md.extract(moved, keys="com")["com"],
                               md.extract(universe(), keys="com")["com"] + [1, 0, 0], atol=1e-5)
    heavy = universe()
    heavy.atoms[0].mass = 500.0
    assert np.abs(md.extract(heavy, keys="com")["com"] -
                  md.extract(universe(), keys="com")["com"]).max() > 0.01


def test_a_file_that_only_mdanalysis_reads(tmp_path, monkeypatch):
    """If Collet cannot read the universe's file, it takes the frames from MDAnalysis."""
    universe = pytest.importorskip("MDAnalysis").Universe(*FILES["xtc"])
    (tmp_path / "broken.xtc").write_bytes(b"no trajectory")
    monkeypatch.setattr(_objects, "files_of",
                        lambda atoms: (FILES["xtc"][0], str(tmp_path / "broken.xtc")))
    found = md.extract(universe, keys="com")
    assert found.meta["inputs"]["trajectory"]["path"] == "MDAnalysis universe"


def test_an_analysis_of_mdanalysis(capsys):
    universe = pytest.importorskip("MDAnalysis").Universe(*PEPTIDE)
    from MDAnalysis.analysis.base import AnalysisBase
    group = universe.select_atoms("name CA")
    done = md.RotationalObservables(group, keys="time_ps,com,L_*").run(5, -2, 3)
    assert isinstance(done, AnalysisBase)
    expected = md.extract(group, keys="time_ps,com,L_*", start=5, stop=49, step=3)
    same({key: done.results[key] for key in expected}, expected)
    assert np.array_equal(done.results.L_vector, expected["L_vector"])
    assert np.array_equal(done.frames, np.arange(5, 49, 3)) and done.n_frames == len(done.frames)
    assert np.array_equal(done.times, expected["time_ps"])
    assert done.results.meta["frames"]["count"] == len(done.frames)
    chosen = md.RotationalObservables(group, keys="com").run(frames=[2, 6, 10], verbose=True)
    np.testing.assert_allclose(chosen.results.com,
                               md.extract(group, keys="com", start=2, stop=11, step=4)["com"])
    assert "%" in capsys.readouterr().err
    assert set(chosen.results.meta["outputs"]) == {"com"} and "time_ps" not in chosen.results
    assert np.array_equal(chosen.frames, [2, 6, 10])
    np.testing.assert_allclose(chosen.times, [universe.trajectory[i].time for i in (2, 6, 10)])
    all_frames = md.extract(group, keys="com,dLdt_vector", start=1, stop=14)
    for frames in ([1, 2, 5, 13], np.array([13, 1, 2]), [-len(universe.trajectory) + 1, 13, 2, 2], np.isin(np.arange(len(universe.trajectory)), [1, 2, 13])):
        chosen = md.RotationalObservables(group, keys="com,dLdt_vector").run(frames=frames)
        places = np.flatnonzero(frames) - 1 if np.asarray(frames).dtype == bool else np.array(frames) % len(universe.trajectory) - 1
        for key in ("com", "dLdt_vector"):
            np.testing.assert_array_equal(chosen.results[key], all_frames[key][places])
        assert np.array_equal(chosen.frames, places + 1) and chosen.n_frames == len(places)
        np.testing.assert_allclose(chosen.times, [universe.trajectory[int(i) + 1].time for i in places])
    assert chosen.results.meta["frames"]["chosen"] == [1, 2, 13]
    with pytest.raises(IndexError, match="frames has 51, and the trajectory 51 frames"):
        md.RotationalObservables(group).run(frames=[1, 51])
    with pytest.raises(collet.InvalidError, match="3 bools"):
        md.RotationalObservables(group).run(frames=np.array([True, False, True]))
    with pytest.raises(collet.InvalidError, match="no frame"):
        md.RotationalObservables(group).run(frames=[])
    with pytest.raises(ValueError, match="frames excludes"):
        md.RotationalObservables(group).run(1, frames=[1])
    with pytest.raises(TypeError, match="stop are arguments of run"):
        md.RotationalObservables(group, stop=3)
    np.testing.assert_array_equal(
        md.RotationalObservables(group, keys="com").run(backend="serial", n_workers=1).results.com,
        md.RotationalObservables(group, keys="com").run().results.com)
    with pytest.raises(collet.InvalidError, match="backend is 'dask' of MDAnalysis"):
        md.RotationalObservables(group).run(backend="dask")
    with pytest.raises(TypeError, match="argument 'nonsense'"):
        md.RotationalObservables(group).run(nonsense=1)


@pytest.mark.parametrize("keys", ["com", None])
@pytest.mark.filterwarnings("ignore")
def test_an_analysis_has_times_where_the_file_has_none(keys, tmp_path):
    MDAnalysis = pytest.importorskip("MDAnalysis")
    universe = MDAnalysis.Universe(*PEPTIDE)
    path = str(tmp_path / "timeless.xyz")
    with MDAnalysis.Writer(path, universe.atoms.n_atoms) as writer:
        for _ in universe.trajectory[:7]:
            writer.write(universe.atoms)
    universe = MDAnalysis.Universe(PEPTIDE[0], path)
    with pytest.raises(collet.InvalidError, match="no times"):
        md.RotationalObservables(universe, keys="com,time_ps").run()
    done = md.RotationalObservables(universe, keys=keys).run(step=3)
    assert "time_ps" not in done.results and done.results.com.shape == (3, 3)
    assert np.array_equal(done.times, [universe.trajectory[i].time for i in (0, 3, 6)])


def test_the_universe_stays_where_it_is():
    universe = pytest.importorskip("MDAnalysis").Universe(*PEPTIDE)
    universe.trajectory[7]  # pylint: disable=pointless-statement
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        md.extract(universe, keys="com")
        md.extract(universe.atoms[:9], keys="com")
    assert universe.trajectory.frame == 7


def test_times_in_single_precision(tmp_path):
    """Frames every 0.1 ps at 100 ns, where numbers of single precision lie 0.008 ps apart."""
    mda = pytest.importorskip("MDAnalysis")
    path = str(tmp_path / "late.trr")
    with mda.lib.formats.libmdaxdr.TRRFile(path, "w") as file:
        for k in range(100):
            file.write(np.zeros((3, 3), "f4"), None, None, 3 * np.eye(3, dtype="f4"), 50_000_000 + 50 * k, np.float32(100_000 + 0.1 * k), 0, 3)
    universe = mda.Universe.empty(3, trajectory=False)
    universe.load_new(path)
    universe.add_TopologyAttr("masses", [1, 2, 3])
    times = md.extract(universe.atoms, keys="com,time_ps")["time_ps"]
    np.testing.assert_allclose(times, 100_000 + 0.1 * np.arange(100), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(times, md.times(path))
    universe.load_new(path, time_offset=0.05)  # less than the rounding of such times
    assert abs(md.extract(universe.atoms, keys="time_ps")["time_ps"][0] - 100_000.05) < 1e-9
