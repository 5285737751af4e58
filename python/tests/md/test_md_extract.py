# SPDX-License-Identifier: Apache-2.0
"""collet.md.extract of files and of objects in memory."""

import ast
import bz2
import concurrent.futures
import gzip
import importlib
import lzma
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import collet
from collet import _plugins, md

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md"
WATER, PEPTIDE = DATA / "water", DATA / "peptide"
PROGRAM = pathlib.Path(_plugins.tool("collet-extract")[0])


def same(results, expected):
    assert list(results) == list(expected)
    for key in results:
        assert results[key].dtype == np.float64 and results[key].shape == expected[key].shape
        assert results[key].tobytes() == expected[key].tobytes(), key


# ---- Files -------------------------------------------------------------------------------------

@pytest.mark.skipif(not PROGRAM.exists(), reason="collet-extract is not built")
@pytest.mark.parametrize("folder, name, words, options", [
    (WATER, "traj.trr", [], {}),
    (PEPTIDE, "traj_double.trr", [], {}),
    (PEPTIDE, "traj.xtc", ["--reference", str(PEPTIDE / "conf.gro"), "--batch", "3"],
     {"reference": PEPTIDE / "conf.gro", "batch": 3}),
    (WATER, "traj.trr", ["--selection", "resid 1:100", "--masses", str(WATER / "masses.txt"),
                         "--start", "2", "--stop", "40", "--step", "3", "--axis", "1,1,0",
                         "--keys", "com,L_*"],
     {"selection": "resid 1:100", "masses": WATER / "masses.txt", "start": 2, "stop": 40, "step": 3,
      "axis": (1, 1, 0), "keys": ["com", "L_*"]})])
def test_results_are_those_of_collet_extract(tmp_path, folder, name, words, options):
    out = tmp_path / "out.npz"
    subprocess.run([PROGRAM, "-q", folder / "conf.gro", folder / name, "-o", out, *words],
                   check=True)
    results = md.extract(folder / "conf.gro", folder / name, **options)
    with np.load(out) as expected:
        same(results, dict(expected))
    assert results.meta["status"] == "complete" and results.meta["program"] == "collet.md"
    assert results.meta["frames"]["count"] == len(results["com"])


@pytest.mark.parametrize("module, suffix", [(gzip, ".gz"), (bz2, ".bz2"), (lzma, ".xz")])
def test_packed_files(tmp_path, module, suffix, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("conf.gro", "traj.trr", "masses.txt"):
        packed = tmp_path / (name + suffix)
        packed.write_bytes(module.compress((PEPTIDE / name).read_bytes()))
    before = sorted(tmp_path.iterdir())
    topology, trajectory, masses = (tmp_path / (name + suffix)
                                    for name in ("conf.gro", "traj.trr", "masses.txt"))
    expected = md.extract(PEPTIDE / "conf.gro", PEPTIDE / "traj.trr", masses=PEPTIDE / "masses.txt")
    try:
        results = md.extract(topology, trajectory, masses=masses)
    except collet.Error as error:
        if "was built without" in str(error):
            pytest.skip(str(error))
        raise
    same(results, expected)
    md.extract(topology, trajectory, keys="com", shard=(2, 2), shards=tmp_path / "shards")
    md.extract(topology, trajectory, keys="com", shard=(1, 2), shards=tmp_path / "shards")
    same(md.merge(tmp_path / "shards"), md.extract(topology, trajectory, keys="com"))
    shutil.rmtree(tmp_path / "shards")
    assert sorted(tmp_path.iterdir()) == before

    packed = trajectory.read_bytes()
    trajectory.write_bytes(packed[:-100])
    with pytest.raises(collet.Error, match=f"traj.trr{suffix}: the packed data end early"):
        md.extract(topology, trajectory)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    trajectory.write_bytes(packed)
    with pytest.raises(collet.Error, match="absent for its unpacked data cannot be written"):
        md.extract(PEPTIDE / "conf.gro", trajectory)


def test_batches_are_parts_of_the_whole():
    files = str(PEPTIDE / "conf.gro"), str(PEPTIDE / "traj.trr")
    whole = md.extract(*files)
    parts = list(md.extract_batches(*files, rows=20))
    assert [len(p["com"]) for p in parts] == [20, 20, 11]
    same({k: np.concatenate([p[k] for p in parts]) for k in parts[0]}, whole)


def test_masses_as_numbers():
    masses = np.loadtxt(PEPTIDE / "masses.txt")
    files = PEPTIDE / "conf.gro", PEPTIDE / "traj.trr"
    same(md.extract(*files, masses=masses), md.extract(*files, masses=PEPTIDE / "masses.txt"))


def test_equal_masses():
    files = PEPTIDE / "conf.gro", PEPTIDE / "traj.trr"
    equal = md.extract(*files, masses="equal")
    same(equal, md.extract(*files, masses=np.ones(280)))
    assert equal.meta["inputs"]["masses"]["origin"] == "equal"
    assert md.extract(*files).meta["inputs"]["masses"]["elements"]["N"] > 18


def test_frames_without_forces(tmp_path):
    data = (PEPTIDE / "traj.trr").read_bytes()
    size, forces = 10200, 280 * 12
    frames = [bytearray(data[i * size:(i + 1) * size]) for i in range(4)]
    for frame in frames[1:3]:
        frame[24 + 4 * 9:24 + 4 * 10] = bytes(4)
        del frame[-forces:]
    sparse = tmp_path / "sparse.trr"
    sparse.write_bytes(b"".join(frames))
    files = PEPTIDE / "conf.gro", sparse
    whole = md.extract(PEPTIDE / "conf.gro", PEPTIDE / "traj.trr", stop=4)
    with pytest.raises(collet.NotFoundError, match="frame 1 .*has no forces.*--missing skip, nan"):
        md.extract(*files)
    with pytest.warns(RuntimeWarning, match="frame 1 has no forces: frames without .* frames: 2"):
        skipped = md.extract(*files, missing="skip")
    assert (skipped["com"] == whole["com"][[0, 3]]).all() and skipped.meta["frames"]["skipped"] == 2
    with pytest.warns(RuntimeWarning, match="frame 1 has no forces: keys that need"):
        parts = list(md.extract_batches(*files, missing="nan", rows=3))
    for key in ("com", "L_vector", "tau_vector"):
        found = np.concatenate([p[key] for p in parts])
        lost = [1, 2] if key == "tau_vector" else []
        assert np.isnan(found[lost]).all()
        kept = [i for i in range(4) if i not in lost]
        assert (found[kept] == whole[key][kept]).all()
    with pytest.raises(collet.InvalidError, match="missing is for files"):
        md.extract(mdtraj_like(), missing="nan")


def test_stub():
    path = pathlib.Path(__file__).parents[2] / "collet/_trajectory.pyi"
    stub = {n.name for n in ast.parse(path.read_text()).body
            if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    from collet import _trajectory
    assert stub == {n for n in vars(_trajectory) if not n.startswith("__")}


def test_formats():
    known = md.formats()
    assert known["gro"].topology and known["gro"].trajectory and not known["trr"].topology
    help = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"  .{name} " in help for name in known)


def test_quantities():
    known = md.quantities()
    assert known["L_vector"].unit == "amu nm^2/ps" and known["inertia_tensor"].shape == (3, 3)
    results = md.extract(WATER / "conf.gro", WATER / "traj.trr", stop=1)
    named = ["com_velocity", "positions", "box", "com_wrapped", "molecule_wrapped"]  # chosen only by their names
    missing = [key for row in results.meta["left_out"] for key in row["keys"]]
    assert missing == ["dipole", *named] and list(known) == [
        *list(results)[:-1], "dipole", "end_to_end", *named]
    assert all(results[k].shape == (1, *known[k].shape) for k in results)


def test_vectors_of_positions():
    given = np.random.default_rng(3).normal(size=(5, 7, 3))
    found = md.extract(md.Frames(given, masses=np.ones(7)), keys="end_to_end,positions")
    assert (found["positions"] == given).all() and len(found.atoms) == 7
    assert (found["end_to_end"] == given[:, 6] - given[:, 0]).all()
    with pytest.raises(collet.InvalidError, match="no columns for positions"):
        found.save("out.csv")


def test_the_choice_of_backend():
    for name in ("cpu_scalar", "cpu_openmp"):
        with collet.using(name):
            results = md.extract(WATER / "conf.gro", WATER / "traj.trr", keys="com")
        assert [b["name"] for b in results.meta["backend"]["used"]] == [name]


def test_devices_share_the_frames():
    files = WATER / "conf.gro", WATER / "traj.trr"
    with collet.using("cpu_openmp"):
        alone = md.extract(*files)
    shared = md.extract(*files, devices=["cpu_openmp"], batch=3)
    same(shared, alone)
    several = md.extract(*files, devices=["cpu_openmp", "cpu_scalar"], batch=3)
    used = several.meta["backend"]["devices"]
    assert [d["device"] for d in used] == ["cpu_openmp", "cpu_scalar"]
    assert sum(d["frames"] for d in used) == 51
    for key, values in alone.items():
        np.testing.assert_allclose(several[key], values, rtol=1e-9, atol=1e-9, err_msg=key)
    rows = list(md.extract_batches(*files, keys="com", rows=20, devices=["cpu_openmp"]))
    assert np.concatenate([r["com"] for r in rows]).tobytes() == alone["com"].tobytes()
    for wrong in "cpu_openmp", [], ["cpu_openmp", "cpu_openmp"]:
        with pytest.raises(collet.InvalidError, match="devices are"):
            md.extract(*files, devices=wrong)
    with pytest.raises(collet.UnknownBackendError, match="devices: .*nothing"):
        md.extract(*files, devices=["cpu_openmp", "nothing"])
    with pytest.raises(collet.InvalidError, match="client and devices"):
        md.extract(*files, devices=["cpu_openmp"], client=object())


def test_bad_arguments():
    files = WATER / "conf.gro", WATER / "traj.xtc"
    for error, text, arguments, options in [
            (collet.FileError, "none.gro", ("none.gro", files[1]), {}),
            (collet.InvalidError, "the nearest is com", files, {"keys": "comm"}),
            (collet.InvalidError, "has no velocities", files, {"keys": ["com", "k_*"]}),
            (collet.InvalidError, "column 1", files, {"selection": "every"}),
            (collet.InvalidError, "648 atoms", files, {"masses": [1, 2]}),
            (ValueError, "stop is 0", files, {"stop": 0}),
            (collet.InvalidError, "start 5, stop 3", files, {"start": 5, "stop": 3}),
            (TypeError, "not int alone", (3,), {})]:
        with pytest.raises(error, match=text):
            md.extract(*arguments, **options)
        with pytest.raises(error, match=text):
            md.extract_batches(*arguments, **options)


def test_progress(capsys):
    files = PEPTIDE / "conf.gro", PEPTIDE / "traj.trr"
    seen = []
    md.extract(*files, batch=4, progress=lambda *now: seen.append(now))
    assert seen[0] == (0, 0.0) and seen[-1] == (51, 1.0) and sorted(seen) == seen
    md.extract(*files, progress=True)
    assert "51" in capsys.readouterr().err

    def fail(frames, fraction):
        raise KeyError("stop")
    with pytest.raises(KeyError, match="stop"):
        md.extract(*files, progress=fail)


def test_warnings(tmp_path):
    short = tmp_path / "short.trr"
    short.write_bytes((PEPTIDE / "traj.trr").read_bytes()[:-100])
    with pytest.warns(RuntimeWarning, match="inside frame 50"):
        results = md.extract(PEPTIDE / "conf.gro", short)
    assert results.meta["status"] == "truncated" and len(results["com"]) == 50
    damaged = bytearray((PEPTIDE / "traj.trr").read_bytes())
    damaged[20 * 10200:20 * 10200 + 4] = b"junk"
    short.write_bytes(damaged)
    with pytest.warns(RuntimeWarning, match="frame 20 at byte 204000.*frames before it: 20"):
        results = md.extract(PEPTIDE / "conf.gro", short)
    assert results.meta["status"] == "damaged" and len(results["com"]) == 20


def test_an_extraction_serves_one_call_at_a_time():
    from collet import _trajectory
    engine, errors = None, []

    def again(frames, fraction):
        if engine is None:  # files are being opened
            return
        with pytest.raises(collet.BusyError):
            engine.next()
        with pytest.raises(collet.BusyError):
            engine.close()
        errors.append(frames)
    files = bytes(PEPTIDE / "conf.gro"), bytes(PEPTIDE / "traj.trr")
    engine = _trajectory.open(files[0], files[1:], None, None, None, None, None, None,
                              None, (0, 0, 1), 0, 0, 1, 0, 0, 0, 0, None, 0, 0, again, None, (0, 0), None, None,
                                  None)
    assert len(engine.collect()["com"]) == 51 and errors
    engine.close()
    with pytest.raises(collet.InvalidError, match="closed"):
        engine.next()


# ---- Objects in memory -------------------------------------------------------------------------

class Named:
    def __init__(self, **members):
        self.__dict__.update(members)


FRAMES, ATOMS = 9, 6
random = np.random.default_rng(5)
positions, velocities, forces = random.normal(size=(3, FRAMES, ATOMS, 3)).astype("f4")
masses = np.array([12, 1, 1, 16, 14, 1.])
times = np.arange(FRAMES) * 0.5
NAMES = ["CA", "HA", "HB1", "O", "N", "H"]


class Frames:
    """A stand-in for the trajectory of a universe and for its present frame; lengths are in Angstrom."""

    has_velocities = has_forces = convert_units = True

    def __init__(self):
        self.ts = self
        self[0]  # pylint: disable=pointless-statement

    def __len__(self):
        return FRAMES

    def __getitem__(self, frame):
        self.frame, self.time = frame, times[frame]
        return self


class Universe:
    """A stand-in for an MDAnalysis Universe and its atoms, with the members that collet.md uses."""

    names, resnames = np.array(NAMES, object), np.array(["ALA"] * ATOMS, object)
    resids, masses = np.arange(ATOMS), masses

    def __init__(self):
        self.universe = self.atoms = self
        self.trajectory = Frames()

    def __len__(self):
        return ATOMS

    positions = property(lambda self: positions[self.trajectory.frame] * 10)
    velocities = property(lambda self: velocities[self.trajectory.frame] * 10)
    forces = property(lambda self: forces[self.trajectory.frame] / 10)


def mdtraj_like(xyz=positions):
    residue = Named(name="ALA", resSeq=1, index=0, segment_id="", chain=Named(index=0))
    atoms = [Named(name=n, residue=residue, element=Named(mass=m)) for n, m in zip(NAMES, masses)]
    return Named(xyz=xyz, time=times, topology=Named(atoms=atoms, bonds=[]))


def test_a_universe():
    universe = Universe()
    universe.trajectory[4]  # pylint: disable=pointless-statement
    results = md.extract(universe)
    assert universe.trajectory.frame == 4
    com = md.compute_com_batch(positions, masses)
    np.testing.assert_allclose(results["com"], com, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(results["L_vector"], md.cross_product_trajectory(
        positions, velocities, masses, com), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(results["tau_vector"], md.cross_product_trajectory(
        positions, forces, np.ones(ATOMS), com), rtol=1e-5, atol=1e-5)
    assert results["time_ps"].tolist() == times.tolist()
    parts = md.extract_batches(universe, rows=2, selection="not name H*", start=1, step=2)
    heavy = [0, 3, 4]
    for k, part in enumerate(parts):
        assert universe.trajectory.frame == 4
        rows = slice(1 + 4 * k, min(5 + 4 * k, FRAMES), 2)
        np.testing.assert_allclose(part["com"], md.compute_com_batch(
            positions[rows][:, heavy], masses[heavy]), rtol=1e-6, atol=1e-6)


def test_an_mdtraj_trajectory():
    results = md.extract(mdtraj_like())
    np.testing.assert_allclose(results["com"], md.compute_com_batch(positions, masses), rtol=1e-14)
    assert "L_vector" not in results
    assert results.meta["inputs"]["trajectory"]["path"] == "mdtraj trajectory"
    guessed = md.extract(mdtraj_like(), masses=masses[:, None].ravel() * 2)
    np.testing.assert_allclose(guessed["inertia_tensor"], 2 * results["inertia_tensor"], rtol=1e-14)


def test_molecules_that_the_box_cuts():
    universe, trajectory = Universe(), mdtraj_like()
    universe.resids = np.ones(ATOMS, int)
    for edge, cut in ((1.5, True), (50, False)):
        Frames.triclinic_dimensions = np.eye(3) * 10 * edge
        trajectory.unitcell_vectors = np.broadcast_to(np.eye(3) * edge, (FRAMES, 3, 3))
        for given in (universe, trajectory):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                md.extract(given, keys="com", pbc="none")
            assert any("ALA 1: its atoms are" in str(w.message) for w in caught) == cut
    del Frames.triclinic_dimensions


def test_whole_molecules():
    files, third = (WATER / "conf.gro", WATER / "traj.trr"), {"selection": "resid 3"}
    cut = md.extract(*files, **third, keys="rg,com", pbc="none")
    for pbc in ("whole", "nojump", "center"):
        whole = md.extract(*files, **third, keys="rg,com", pbc=pbc)
        assert cut["rg"].max() > 0.5 and abs(whole["rg"] - 0.0328).max() < 1e-3
        assert whole.meta["periodic_box"]["pbc"] == pbc
        assert whole.meta["periodic_box"]["done"].startswith("molecules were made whole by residues")
    np.testing.assert_allclose(whole["com"], 1.86206 / 2, rtol=1e-5)
    start = md.extract(*files, **third, keys="com", pbc="nojump", start=7)["com"]
    step = np.diff(start, axis=0)
    assert (abs(step) < 1.86206 / 2).all()
    same(md.extract(*files, **third, keys="rmsd", reference=files[0]),
         md.extract(*files, **third, keys="rmsd", reference=files[0], batch=1))


def test_strict(tmp_path):
    """Every function that computes results accepts bodies in one piece, and refuses all other bodies."""
    files = DATA / "water/conf.gro", DATA / "water/traj.trr"
    cut = {"keys": "rg", "pbc": "none", "strict": True, "each": "residue"}
    text = "strict: frame 0: SOL 3: its atoms are 0.985 box lengths apart"
    frames = md.Frames(np.full((1, 2, 3), [[[0.1, 1, 1], [2.9, 1, 1]]]), box=[3, 3, 3], names=["O", "H"],
                       residue_names=["SOL"] * 2)
    with pytest.raises(collet.InvalidError, match=text):
        md.extract(*files, **cut)
    with pytest.raises(collet.InvalidError, match=text):
        list(md.extract_batches(*files, **cut, rows=5))
    with pytest.raises(collet.InvalidError, match=text):
        md.extract(*files, **cut, shard=(1, 2), shards=tmp_path)
    with pytest.raises(collet.InvalidError, match="strict: frame 0: SOL 0: its atoms are 0.933 box lengths apart"):
        md.extract(frames, keys="rg", pbc="none", strict=True)
    with concurrent.futures.ThreadPoolExecutor(1) as client, pytest.raises(collet.InvalidError, match=text):
        md.extract(*files, **cut, client=client)
    whole = md.extract(*files, **{**cut, "pbc": "whole"})
    same(whole, md.extract(*files, keys="rg", each="residue"))
    assert not whole.meta["warnings"]


@pytest.mark.parametrize("pbc", ["whole", "center", "none"])
@pytest.mark.parametrize("each", [None, "residue"])
def test_shards_are_decided_by_the_first_frame_of_all(pbc, each, tmp_path):
    """The residue has no bonds: the first frame of the trajectory decides how its atoms are joined. The first frames of
    later shards would decide it differently. Tested with frames from arrays and from a file."""
    x = np.tile(np.array([0.1, 0.4, 0.7, 1.0, 1.3])[None, :, None], (40, 1, 3))
    x[30:, 1:3, 0] = 2.6, 2.3
    frames = md.Frames(x, box=[3, 3, 3], times=np.arange(40.0), names=["C"] * 5, residue_names=["LIG"] * 5, residue_ids=[1] * 5)
    options = {"keys": "rg,com", "pbc": pbc, "each": each}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = md.extract(frames, **options)
        for count in (2, 4):
            for i in range(count, 0, -1):
                md.extract(frames, **options, shard=(i, count), shards=tmp_path / f"{count}{each}")
            merged = md.merge(tmp_path / f"{count}{each}", frames)
            same(merged, whole)
            assert merged.meta["warnings"] == whole.meta["warnings"]


def test_strict_shards_refuse_what_one_run_refuses(tmp_path):
    files = DATA / "water/conf.gro", DATA / "water/traj.xtc"
    options = {"keys": "com", "pbc": "none", "strict": True, "selection": "resid 38"}
    one = md.extract(*files, **options)  # whole in the first frame, cut in later frames
    for i in (2, 1):
        md.extract(*files, **options, shard=(i, 2), shards=tmp_path)
    same(md.merge(tmp_path), one)


def test_nojump_is_checked_in_the_first_frame_that_is_used(tmp_path):
    atom = "    1ALA     CA    1%8.3f   1.000   1.000%s\n    9ALA     CA    2%8.3f   1.000   1.000%s\n   3.0   3.0   3.0\n"
    moving = "  0.1000  0.0000  0.0000"
    frames = [(0.6, 0.2, moving), (0.6, 0.2, ""), (2.8, 0.2, moving), (2.8, 0.2, moving)]
    path = tmp_path / "dimer.gro"
    path.write_text("".join(f"t= {t}\n    2\n" + atom % (a, v, b, v) for t, (a, b, v) in enumerate(frames)))
    options = {"keys": "rg,k_total", "pbc": "nojump", "missing": "skip"}
    with pytest.raises(collet.InvalidError, match="strict: frame 2: molecules of the selection are nearer to each other"):
        md.extract(path, path, start=1, strict=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not any("nearer" in text for text in md.extract(path, path, **options).meta["warnings"])


def test_far_steps_are_refused_before_the_end():
    x = np.full((400, 1, 3), 1.0)
    x[1:, :, 0] = 2.5
    frames = md.Frames(x, box=[3, 3, 3], times=np.arange(400.0), names=["CA"], residue_names=["ALA"])
    read = []
    with pytest.raises(collet.InvalidError, match="strict: frame 1: the molecule of ALA 0 is about half a box"):
        for rows in md.extract_batches(frames, keys="com", pbc="nojump", strict=True, batch=1, rows=1):
            read.append(rows)
    assert len(read) < 20


def test_each_of_files():
    files = WATER / "conf.gro", WATER / "traj.trr"
    options = {"selection": "resid 1:9", "each": "residue", "keys": "com,tilt*,time_ps"}
    waters = md.extract(*files, **options)
    assert waters.bodies[8] == "SOL 9" and waters.meta["bodies"]["labels"] == waters.bodies
    assert waters["com"].shape == (51, 9, 3) and waters["tilt_deg"].shape == (51, 9)
    assert waters["time_ps"].shape == (51,) and waters.copy().bodies is waters.bodies
    alone = md.extract(*files, selection="resid 4", keys="com,tilt*")
    assert alone.bodies is None
    for key in alone:
        np.testing.assert_allclose(waters[key][:, 3], alone[key], rtol=1e-12)
    parts = list(md.extract_batches(*files, rows=20, **options))
    assert [p.bodies for p in parts] == [waters.bodies] * 3
    same({k: np.concatenate([p[k] for p in parts]) for k in parts[0]}, waters)
    for wrong, error, text in ((3, TypeError, "each is 3, not a text"),
                               ("", collet.InvalidError, "each: '' is not residue, molecule"),
                               ("chain", collet.InvalidError, "has no chains")):
        with pytest.raises(error, match=text):
            md.extract(*files, each=wrong)


def test_groups_that_are_no_bodies():
    twice, unnamed = Universe(), Universe()
    twice.level, twice.resindices = Named(name="residue"), np.array([1, 1])
    unnamed.level, unnamed.segids = Named(name="segment"), np.array(["A"] * ATOMS, object)
    for group, text in ((twice, "a residue follows itself in the Universe"),
                        (unnamed, "segments of the Universe have the same name")):
        with pytest.raises(TypeError, match=text):
            md.extract(group)
        with pytest.raises(TypeError, match=text):
            md.extract_batches(group)
    assert len(md.extract(Universe(), keys="com")["com"]) == FRAMES


def test_groups_of_mdanalysis():
    MDAnalysis = pytest.importorskip("MDAnalysis")
    universe = MDAnalysis.Universe(str(WATER / "conf.gro"), str(WATER / "traj.xtc"))
    near = universe.select_atoms("name OW and around 4 resid 3", updating=True)
    moving = md.extract(universe, selection="name OW and exwithin 4 A of resid 3", keys="com")
    part = md.extract(near, selection="resid 1:100", keys="com,rg", stop=3)
    for com, _ in zip(part["com"], universe.trajectory):
        np.testing.assert_allclose(com, near.select_atoms("resid 1:100").center_of_mass() / 10, atol=1e-6)
    selection = moving.meta["selection"]
    assert selection["least_atoms"] < selection["most_atoms"] < selection["atoms"]
    found = md.extract(near, keys="com", start=3, step=7)
    np.testing.assert_allclose(found["com"], moving["com"][3::7], rtol=1e-10)
    assert found.meta["selection"]["most_atoms"] < selection["atoms"]
    for com, _ in zip(moving["com"], universe.trajectory):
        np.testing.assert_allclose(com, near.center_of_mass() / 10, atol=1e-6)
    universe.add_TopologyAttr("masses", [16, 1, 1] * 216)
    options = {"keys": "com,inertia_tensor", "stop": 2}
    single = md.extract(universe.residues[1], **options)
    same(single, md.extract(universe.residues[1].atoms, **options))
    chosen = universe.residues[[7, 2, 3]]
    found = md.extract(chosen, **options)
    assert found.bodies == ["SOL 8", "SOL 3", "SOL 4"]
    for i, residue in enumerate(chosen):
        expected = md.extract(residue.atoms, **options)
        for key in expected:
            np.testing.assert_allclose(found[key][:, i], expected[key], rtol=1e-12, atol=1e-15)
    whole = md.extract(universe.segments, **options)
    assert whole.bodies == ["segment SYSTEM"] and whole["com"].shape == (2, 1, 3)
    assert md.extract(universe, each="residue", **options)["com"].shape == (2, 216, 3)
    universe.add_TopologyAttr("bonds", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    joined = md.extract(universe.atoms[:9], each="molecule", **options)
    assert joined.bodies == ["SOL 1 to SOL 2", "SOL 3"]


def test_times_that_a_package_made_up_are_not_used():
    trajectory = mdtraj_like()
    trajectory._time_default_to_arange = True  # pylint: disable=protected-access
    with pytest.warns(RuntimeWarning, match="mdtraj trajectory has no times: time_ps and dL/dt"):
        results = md.extract(trajectory)
    assert "time_ps" not in results and "com" in results
    assert not results.meta["inputs"]["trajectory"]["times"]

    class Untimed(Frames):
        @property
        def time(self):
            warnings.warn("Reader has no dt information, set to 1.0 ps")
            return float(self.frame)

        @time.setter
        def time(self, _):
            pass
    universe = Universe()
    universe.trajectory = Untimed()
    with pytest.warns(RuntimeWarning, match="MDAnalysis universe has no times"):
        results = md.extract(universe)
    assert "L_vector" in results and not any(k in results for k in ("time_ps", "dLdt_vector"))
    with pytest.raises(collet.InvalidError, match="'dLdt_.' cannot be computed: .* no times"):
        md.extract(universe, keys="dLdt_*")


def test_names_and_bonds_of_the_real_packages():
    objects = importlib.import_module("collet.md._objects")
    universe = pytest.importorskip("MDAnalysis").Universe.empty(
        6, 3, 2, atom_resindex=[0, 0, 1, 1, 2, 2], residue_segindex=[0, 0, 1], trajectory=True)
    universe.add_TopologyAttr("segids", ["A", "B"])
    universe.add_TopologyAttr("charges", [1, -1, 2, -2, 3, -3])
    universe.add_TopologyAttr("bonds", [(0, 1), (1, 2), (2, 3), (4, 5)])
    source = objects.Universe(universe.atoms[[3, 2, 1, 5]]).source
    assert source[5] == ["A", "A", "A", "B"] and source[6] is None
    assert source[8] == [1, 1, 0, 2] and source[9] == [-2, 2, -1, -3]
    assert [sorted(source[10][i:i + 2]) for i in (0, 2)] == [[1, 2], [0, 1]]
    assert len(md.extract(universe.atoms[[3, 2, 1, 5]], keys="com", masses="equal")["com"]) == 1
    with pytest.raises(collet.InvalidError, match="the AtomGroup has no atoms"):
        md.extract(universe.atoms[[]])
    mdtraj = pytest.importorskip("mdtraj")
    source = objects.Mdtraj(mdtraj.load(WATER / "conf.gro")).source
    assert source[6][0] == "0" and source[8][:4] == [0, 0, 0, 1]
    assert len(source[10]) == 2 * 432 and sorted(source[10][:2]) == [0, 1]


@pytest.mark.parametrize("each", [None, "residue"])
def test_the_molecules_of_a_group_make_it_whole(each, tmp_path):
    mda = pytest.importorskip("MDAnalysis")
    files = str(WATER / "conf.gro"), str(WATER / "traj.xtc")
    group = mda.Universe(*files).select_atoms("name HW*")
    expected = md.extract(*files, selection="name HW*", each=each, keys="com,rg", masses="equal")
    for masses in ("equal", np.ones(len(group))):
        found = md.extract(group, each=each, keys="com,rg", masses=masses)
        for key, values in expected.items():
            np.testing.assert_allclose(found[key], values, atol=1e-5)
    found = md.extract(group, each=each, keys="rg", masses="equal", selection="not name HW2 or name HW2")
    np.testing.assert_allclose(found["rg"], expected["rg"], atol=1e-5)
    if each is None:
        found = md.extract(group[::-1], keys="rg", masses="equal")
        np.testing.assert_allclose(found["rg"], expected["rg"], atol=1e-5)
    group.write(tmp_path / "group.gro")
    for options in ({"selection": "index 0:9"}, {"selection": "Within 1 of resid 3"},
                    {"reference": tmp_path / "group.gro"}):
        with pytest.warns(RuntimeWarning, match="the group lacks atoms of its molecules.*"):
            md.extract(group, each=each, masses="equal", keys="com", stop=1, **options)


def test_an_object_that_fails():
    class Broken:
        def __len__(self):
            return FRAMES

        def __getitem__(self, frame):
            if frame == 3:
                raise LookupError("frame 3 is lost")
            return positions[frame]
    with pytest.raises(LookupError, match="frame 3 is lost"):
        md.extract(mdtraj_like(Broken()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(md.extract(mdtraj_like(Broken()), stop=3)["com"]) == 3


@pytest.mark.parametrize("name", ["traj.trr", "traj.xtc"])
def test_the_real_packages(name):
    files = str(WATER / "conf.gro"), str(WATER / name)
    mass = np.loadtxt(WATER / "masses.txt")
    expected = md.extract(*files, masses=mass)
    mdtraj = pytest.importorskip("mdtraj")
    results = md.extract(mdtraj.load(files[1], top=files[0]), masses=mass)
    same(results, {k: expected[k] for k in results})
    universe = pytest.importorskip("MDAnalysis").Universe(*files)
    results = md.extract(universe, masses=mass)
    assert list(results) == list(expected)
    for key in ("com", "inertia_tensor", "rg"):
        np.testing.assert_allclose(results[key], expected[key], rtol=1e-5, atol=1e-5)
    part = md.extract(universe.select_atoms("resid 1:9"), keys="com", masses=mass[:27])
    np.testing.assert_allclose(part["com"], md.extract(
        *files, masses=mass, selection="resid 1:9")["com"], rtol=1e-5, atol=1e-5)


def test_files_of_the_real_packages_without_times():
    untimed = str(DATA / "missing/notime.gro")
    mass = [16, 1, 1] * 4
    with pytest.warns(RuntimeWarning, match="the title of the first frame has no time"):
        expected = md.extract(untimed, untimed, masses=mass)
    assert "time_ps" not in expected and len(expected["L_vector"]) == 5
    mdtraj = pytest.importorskip("mdtraj")
    with pytest.warns(RuntimeWarning, match="mdtraj trajectory has no times"):
        results = md.extract(mdtraj.Trajectory(np.zeros((2, 3, 3)) + np.eye(3), mdtraj.load(
            untimed).topology.subset([0, 1, 2])), masses=mass[:3])
    assert "time_ps" not in results
    universe = pytest.importorskip("MDAnalysis").Universe(untimed)
    with pytest.warns(RuntimeWarning, match="MDAnalysis universe has no times"):
        results = md.extract(universe, masses=mass)
    assert "time_ps" not in results and "L_vector" in results


# ---- Processes ---------------------------------------------------------------------------------

class Endless:
    def __len__(self):
        return 10**9

    def __getitem__(self, frame):
        return positions[0]


def interrupted(work):
    """The time from Ctrl-C to KeyboardInterrupt, in seconds."""
    sent = []

    def send():
        time.sleep(0.2)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    heard = time.perf_counter() - sent[0]
    thread.join()
    return heard


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # warnings of times that do not rise
def test_ctrl_c(tmp_path):
    endless = mdtraj_like(Endless())
    endless.time = np.broadcast_to(np.float64(0), 10**9)
    long = tmp_path / "long.trr"
    long.write_bytes((PEPTIDE / "traj.trr").read_bytes() * 100)

    def forever():
        while True:
            md.extract(PEPTIDE / "conf.gro", long)
    class Slow(Endless):
        def __getitem__(self, frame):
            np.sort(np.arange(8000000) * 0.618 % 1)  # Python handles no signals during the sort
            return positions[0]

    slow = mdtraj_like(Slow())
    slow.time = endless.time
    for work in (lambda: md.extract(endless), forever, lambda: md.extract(slow),
                 lambda: [b for b in md.extract_batches(endless) if not b]):
        assert any(interrupted(work) < 0.1 for _ in range(8))  # several attempts: other processes may be busy
    for thread in threading.enumerate():
        if thread.name == "collet.job":
            thread.join()
    assert len(md.extract(PEPTIDE / "conf.gro", PEPTIDE / "traj.trr")["com"]) == 51


def test_fork():
    script = f"""
import os, sys
from collet import md, ForkedError
files = {str(PEPTIDE / 'conf.gro')!r}, {str(PEPTIDE / 'traj.trr')!r}
batches = md.extract_batches(*files, rows=2, batch=2)
next(batches)
child = os.fork()
if not child:
    try:
        next(batches)
    except ForkedError as error:
        del batches
        os._exit(17 if len(md.extract(*files)["com"]) == 51 else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
assert sum(len(b["com"]) for b in batches) == 49
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps memory")
def test_extractions_leak_nothing():
    def resident():
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def repeat(count):
        for _ in range(count):
            md.extract(mdtraj_like(), keys="com")
            next(md.extract_batches(PEPTIDE / "conf.gro", PEPTIDE / "traj.trr", rows=3))
            with pytest.raises(collet.InvalidError):
                md.extract(mdtraj_like(), keys="nothing")

    def grown():
        before = resident()
        repeat(120)
        return resident() - before
    repeat(40)
    assert any(grown() < 4 << 20 for _ in range(3))  # several attempts: memory may still grow from earlier tests


def test_several_files():
    top, traj = PEPTIDE / "conf.gro", PEPTIDE / "traj.trr"
    once = md.extract(top, traj)
    again = md.extract(top, [traj, str(traj)])  # the second file replaces all frames of the first
    for key in once:
        np.testing.assert_array_equal(again[key], once[key])
    files = again.meta["inputs"]["trajectory"]["files"]
    assert [f["frames"] for f in files] == [0, len(once["com"])]
    with pytest.raises(collet.InvalidError, match="traj is an empty list"):
        md.extract(top, [])
    with pytest.raises(TypeError):
        md.extract(top, [traj, 3])


@pytest.mark.parametrize("wrong, text", [
    ({"axis": (0, 0)}, "axis is .0, 0., not three numbers"), ({"axis": (0, 0, 0)}, "axis is"),
    ({"axis": 3}, "axis is 3"), ({"step": 0}, "step is 0; it must be at least 1"),
    ({"start": 1.5}, "start is 1.5, not an integer"), ({"start": 2**70}, "start is"),
    ({"missing": "none"}, "missing is 'none', not 'fail', 'skip' or 'nan'"),
    ({"pbc": "mol"}, "pbc is 'mol', not 'whole', 'nojump', 'center' or 'none'"),
    ({"batch": 0}, "batch is 0"), ({"rows": 0}, "rows is 0"), ({"selection": 3}, "selection is 3"),
    ({"progress": 3}, "progress is 3, not a function")])
def test_wrong_arguments_are_told(wrong, text):
    with pytest.raises((TypeError, ValueError), match=text):
        md.extract_batches(PEPTIDE / "conf.gro", PEPTIDE / "traj.trr", **wrong)


def test_paths_of_any_bytes(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xc3\xa4 \xff"
    os.mkdir(folder)
    for name in ("conf.gro", "traj.trr"):
        shutil.copy(PEPTIDE / name, os.path.join(folder, name.encode()))
    bytes_ = md.extract(folder + b"/conf.gro", folder + b"/traj.trr", keys="com")
    text = os.fsdecode(folder)
    same(md.extract(text + "/conf.gro", pathlib.Path(text) / "traj.trr", keys="com"), bytes_)
    assert "conf.gro" in bytes_.meta["inputs"]["topology"]["path"]


def test_groups(tmp_path):
    path = tmp_path / "index.ndx"
    path.write_text("[ first ]\n1 2 3\n[ others ]\n4 5\n")
    files = WATER / "conf.gro", WATER / "traj.xtc"
    same(md.extract(*files, selection="group first", ndx=path, keys="com"),
         md.extract(*files, selection="index 0:2", keys="com"))
    rows = next(iter(md.extract_batches(*files, selection="group o*", ndx=path, keys="com")))
    same(rows, md.extract(*files, selection="index 3 4", keys="com"))
    with pytest.raises(collet.InvalidError, match="named 'second'; it has first, others"):
        md.extract(*files, selection="group second", ndx=path)


def test_times_of_files():
    for name in ("traj.trr", "traj.xtc"):
        times = md.times(DATA / "water" / name)
        assert times.tolist() == md.extract(DATA / "water/conf.gro", DATA / "water" / name, keys="time_ps")["time_ps"].tolist()
        assert times.tolist() == [2 * k / 100 for k in range(51)]  # not 0.019999999552965164
    assert md.times([DATA / "water/traj.trr"]).shape == (51,) and md.times(DATA / "water/conf.gro").shape == (1,)
    for wrong, error in (([], collet.InvalidError), ("absent.xtc", collet.FileError)):
        with pytest.raises(error):
            md.times(wrong)
