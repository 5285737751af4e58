# SPDX-License-Identifier: Apache-2.0
"""Results.save and Results.plot: the file formats of collet-extract -o, and pictures."""

import csv
import json
import pathlib
import subprocess

import numpy as np
import pytest

import collet
from collet import _plugins, md

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md"
PROGRAM = pathlib.Path(_plugins.tool("collet-extract")[0])
FILES = DATA / "peptide/conf.gro", DATA / "peptide/traj.trr"


def numbers(path):
    """The names of the columns of a table, and the numbers, without the labels of bodies."""
    if path.suffix == ".csv":
        names, *rows = csv.reader(path.open(encoding="utf-8"))
        keep = [i for i, name in enumerate(names) if name != "body"]
        return names, [[float(row[i]) for i in keep] for row in rows]
    lines = path.read_text(encoding="utf-8").splitlines()
    names = [line for line in lines if line.startswith("@") and "title" not in line]
    return names, [list(map(float, line.split())) for line in lines if line[0] not in "#@"]


@pytest.mark.skipif(not PROGRAM.exists(), reason="collet-extract is not built")
@pytest.mark.parametrize("suffix", [".csv", ".xvg"])
@pytest.mark.parametrize("each", [None, "residue"])
@pytest.mark.parametrize("keys", ["time_ps,com,moments,axes,euler_zyz,gyration_tensor", "time_ps,rg"])
def test_tables_are_those_of_collet_extract(tmp_path, suffix, each, keys):
    theirs, ours = tmp_path / f"theirs{suffix}", tmp_path / f"ours{suffix}"
    subprocess.run([PROGRAM, *FILES, "-o", theirs, "-q", "--keys", keys, *(["--each", each] if each else [])],
                   check=True, capture_output=True)
    results = md.extract(*FILES, keys=keys, each=each)
    results.save(ours)
    assert numbers(ours) == numbers(theirs)
    assert json.loads((tmp_path / f"ours{suffix}.meta.json").read_text()) == results.meta


def test_arrays(tmp_path):
    results = md.extract(*FILES, each="residue", stop=3)
    results.save(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as loaded:
        assert loaded["bodies"].tolist() == results.bodies
        assert all((loaded[key] == results[key]).all() for key in results)
    assert json.loads((tmp_path / "out.meta.json").read_text()) == results.meta
    results = md.extract(*FILES, keys="positions", stop=2)
    results.save(tmp_path / "atoms.npz")
    with np.load(tmp_path / "atoms.npz") as loaded:
        assert loaded["atoms"].tolist() == results.atoms == results.meta["atoms"]["labels"]
        assert results.atoms[1] == "H1 of ASN 1" and (loaded["positions"] == results["positions"]).all()


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    results = md.extract(*FILES, keys="com", each="residue", stop=3)
    results.save(tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["com"][...] == results["com"]).all() and file["com"].attrs["unit"] == "nm"
        assert json.loads(file.attrs["meta"]) == results.meta
        assert file["bodies"].asstr()[...].tolist() == results.bodies


def test_files_that_exist(tmp_path):
    results = md.extract(*FILES, keys="rg", stop=2)
    results.save(tmp_path / "out.csv")
    before = (tmp_path / "out.csv").read_bytes()
    with pytest.raises(collet.FileError, match="out.csv already exists.*force=True"):
        results.save(tmp_path / "out.csv")
    (tmp_path / "out.csv").unlink()
    with pytest.raises(collet.FileError, match="out.csv.meta.json already exists"):
        results.save(tmp_path / "out.csv")
    results.save(tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_bytes() == before
    with pytest.raises(collet.InvalidError, match="does not name a file format"):
        results.save(tmp_path / "out.txt")
    with pytest.raises(collet.FileError, match="No such file"):
        results.save(tmp_path / "missing/out.csv")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("options", [{}, *({"keys": "rg,L_vector,time_ps", **more} for more in ({"each": "residue"}, {"stop": 1}, {}))])
def test_pictures(tmp_path, options):
    image = pytest.importorskip("matplotlib.image")
    results = md.extract(*FILES, **options)
    paths = results.plot(tmp_path / "plots")
    assert len(paths) == (2 if "keys" in options else 12)
    for path in paths:
        assert image.imread(path)[..., :3].std() > 0.01
    with pytest.raises(collet.FileError, match="already exists"):
        results.plot(tmp_path / "plots")


def test_pictures_of_many_frames(tmp_path):
    pytest.importorskip("matplotlib")
    results = md.Results(time_ps=np.arange(5001.0), rg=np.sin(np.arange(5001.0)))
    assert [pathlib.Path(p).name for p in results.plot(tmp_path)] == ["size.png"]
    with pytest.raises(collet.InvalidError, match="no quantity over time"):
        md.Results(time_ps=np.arange(3.0)).plot(tmp_path)


def test_axes_of_pictures(tmp_path, monkeypatch):
    """The label of an axis has the name of the drawn quantity and its unit."""
    pytest.importorskip("matplotlib")
    from collet.md import _plot
    seen, panel = [], _plot._panel

    def noted(axes, *arguments):
        panel(axes, *arguments)
        seen.append(axes.get_ylabel())

    monkeypatch.setattr(_plot, "_panel", noted)
    md.extract(*FILES).plot(tmp_path / "plots")
    assert {"angle (rad)", "angular momentum (amu nm²/ps)", "kinetic energy (kJ/mol)"} <= {*seen}
    assert not [label for label in seen if not label or label.startswith(("(", "_"))]


def test_quantities_of_rotmd():
    """The relations of docs/from-rotmd.md, by rotmd's formulas (rotmd.core.orientation, rotmd.observables.structural)."""
    found = md.extract(DATA / "peptide/conf.gro", DATA / "peptide/traj.trr", keys="axes,moments,euler_zyz,asphericity,rotation_matrices")
    matrices = np.swapaxes(found["axes"], 1, 2)  # rotmd's: axes.T
    np.testing.assert_array_equal(matrices, np.swapaxes(found["rotation_matrices"], 1, 2))
    phi, theta, psi = (np.pi - found["euler_zyz"][:, 2], found["euler_zyz"][:, 1], np.pi - found["euler_zyz"][:, 0])
    np.testing.assert_allclose(np.exp(1j * phi), np.exp(1j * np.arctan2(matrices[:, 1, 2], matrices[:, 0, 2])), atol=1e-12)
    np.testing.assert_allclose(theta, np.arccos(matrices[:, 2, 2]), atol=1e-7)
    np.testing.assert_allclose(np.exp(1j * psi), np.exp(1j * np.arctan2(matrices[:, 2, 1], -matrices[:, 2, 0])), atol=1e-12)
    np.testing.assert_allclose(np.arcsin(np.abs(found["axes"][:, 2, 2])), np.pi / 2 - np.minimum(theta, np.pi - theta), atol=1e-7)
    moments = found["moments"]
    np.testing.assert_allclose(found["asphericity"] / 4, 1.5 * (moments**2).sum(axis=1) / moments.sum(axis=1)**2 - 0.5, rtol=1e-9)
