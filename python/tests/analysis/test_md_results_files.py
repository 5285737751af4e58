# SPDX-License-Identifier: Apache-2.0
"""collet-analyse on files that md.extract and collet-extract write: all formats, atoms by name, and vectors
of residues."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import collet
from collet import _plugins, md
from collet.md import analysis
from collet.md.analysis import _command, _results

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md"
FILES = DATA / "peptide/conf.gro", DATA / "peptide/traj.trr"
PROGRAM = pathlib.Path(_plugins.tool("collet-extract")[0])
KEYS = "time_ps,com,axes,rg,end_to_end,gyration_tensor"


@pytest.fixture(name="run")
def run_in_folder(tmp_path, monkeypatch, capsys):
    """run(arguments) returns the printed text and the arrays; after a failure it returns only the text."""
    monkeypatch.chdir(tmp_path)

    def run(arguments):
        words = [word.replace("~", " ") for word in arguments.split()]
        status = _command.main([*words, "-o", "out.npz", "--force"])
        text = capsys.readouterr()
        assert (status == 0) == (text.err == ""), text.err
        return text.out + text.err, dict(np.load("out.npz")) if status == 0 else None
    return run


@pytest.mark.parametrize("each", [None, "residue"])
@pytest.mark.parametrize("form", ["a.csv", "a.xvg", "a.h5", "folder"])
def test_forms_have_the_same_arrays(tmp_path, monkeypatch, form, each):
    if form == "a.h5":
        pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    results = md.extract(*FILES, keys=KEYS, each=each)
    if form == "folder":
        os.mkdir(form)
        for key, values in results.items():
            np.save(f"folder/{key}.npy", values)
    else:
        results.save(form)
    with _results.Results(form) as file:
        for key, values in results.items():
            assert np.array_equal(file[key], values), key
        if each and form != "folder":
            assert file["bodies"].tolist() == results.bodies
        with pytest.raises(collet.InvalidError, match="has no array 'rgg'; the nearest is rg"):
            file["rgg"]  # pylint: disable=pointless-statement


def test_xvg_of_gromacs(tmp_path):
    path = tmp_path / "gyrate.xvg"
    path.write_text("# gmx gyrate is part of G R O M A C S:\n" + r"""@    title "Radius of gyration (total)"
@    xaxis  label "Time (ns)"
@    yaxis  label "Rg (nm)"
@TYPE xy
@ s0 legend "Rg"
@ s1 legend "Rg\sX\N"
         0     1.17938    0.9
     0.001     1.18   9.1e-1
&
""")
    with _results.Results(str(path)) as file:
        assert file["Rg"].tolist() == [1.17938, 1.18] and file["Rg_X"].tolist() == [0.9, 0.91]
        assert file["time_ps"].tolist() == [0, 1]
    path.write_text('@ xaxis label "Time (ps)"\n@ yaxis label "RMSD (nm)"\n0 1\n1 2\n')
    with _results.Results(str(path)) as file:
        assert file["RMSD"].tolist() == [1, 2]
    for unit, factor in [("fs", 1e-3), (r"\xm\f{}s", 1e6), ("s", 1e12)]:
        path.write_text(f'@ xaxis label "Time ({unit})"\n@ yaxis label "RMSD (nm)"\n0 1\n2 2\n')
        with _results.Results(str(path)) as file:
            assert file["time_ps"].tolist() == [0, 2 * factor]
    for text, words in [('@ xaxis label "Time (min)"\n0 1\n', r"its times are in 'Time \(min\)', not in fs, ps"), ("@ s0 legend\n", "no rows"), ("0 1\n1\n", "line 3 has 1 columns"),
                        ('@ s0 legend "a"\n@ s1 legend "a"\n0 1 2\n', "two legends are equal"), ("0 x\n", "x")]:
        path.write_text(text)
        with pytest.raises(collet.FormatError, match=words):
            _results.Results(str(path))


@pytest.mark.skipif(not PROGRAM.exists(), reason="collet-extract is not built")
def test_a_directory_of_collet_extract(run):
    subprocess.run([PROGRAM, *FILES, "-q", "-o", "folder/", "--keys", "positions"], check=True)
    found = run("folder rmsd --fit-atoms name~CA")[1]
    positions = np.load("folder/positions.npy")
    chosen = np.flatnonzero([label.startswith("CA of ") for label in np.load("folder/atoms.npy")])
    assert len(chosen) == 18
    assert np.array_equal(found["rmsd"], analysis.rmsd(positions, fit=chosen))


def test_displacements_know_how_paths_were_placed(run, capsys):
    for pbc in ("whole", "nojump"):
        md.extract(DATA / "water/conf.gro", DATA / "water/traj.trr", keys="time_ps,com", each="residue",
                   pbc=pbc).save(f"{pbc}.csv")
    assert _command.main("whole.csv msd --key com -o out.npz".split()) == 0
    assert "'com' was extracted with --pbc whole" in capsys.readouterr().err
    run("nojump.csv msd --key com")


@pytest.mark.parametrize("text, words", [
    ("time_ps (ps),body,rg (nm)\n0,A,1\n0,B,2\n1,B,3\n1,A,4\n", "do not have the same bodies"),
    ("time_ps (ps),rg (nm)\n", "it has no rows"), ("time_ps (ps),rg (nm)\n0,1\n1\n", "line 3 has 1 columns"),
    ("time_ps (ps),rg (nm)\n0,x\n", "could not convert"), ("x,rg\n0,1\n", "neither time_ps nor row"),
    ("", "not a results file")])
def test_wrong_tables(tmp_path, text, words):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(collet.FormatError, match=words):
        _results.Results(str(path))


def test_tables_without_times_and_with_equal_labels(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("row,body,rg (nm),mine\n0,A,1,5\n0,A,2,6\n1,A,3,7\n1,A,4,8\n")
    with _results.Results(str(path)) as file:
        assert file["rg"].tolist() == [[1, 2], [3, 4]] and file["mine"].tolist() == [[5, 6], [7, 8]]
        assert "time_ps" not in file


def test_atoms_by_names(run):
    results = md.extract(*FILES, keys="time_ps,positions,end_to_end")
    results.save("p.npz")
    alphas = np.flatnonzero([label.startswith("CA of ") for label in results.atoms])
    first = np.flatnonzero([int(label.split()[-1]) <= 4 for label in results.atoms])
    found = run("p.npz rmsd --fit-atoms name~CA --domain first=resid~1:4 --domain all=0:280")[1]
    expected = analysis.rmsd(results["positions"], fit=alphas, of={"first": first, "all": None})
    for name, values in expected.items():
        assert np.array_equal(found[name], values)
    found = run("p.npz dccm --fit-atoms name~CA --stop 20")[1]
    assert np.array_equal(found["dccm"], analysis.dccm(results["positions"][:20], fit=alphas).matrix)
    assert found["atoms"].tolist() == results.atoms
    assert "'name CX' matches none of the 280 atoms of the file" in run("p.npz rmsd --fit-atoms name~CX")[0]
    assert "other atoms in other frames" in run("p.npz rmsd --fit-atoms within~1~of~name~CA")[0]
    np.savez("bare.npz", positions=results["positions"])
    assert "which the file does not have" in run("bare.npz rmsd --fit-atoms name~CA")[0]
    md.extract(*FILES, keys="rg").save("rg.npz")
    assert "run collet-extract with --keys positions" in run("rg.npz rmsd")[0]


def test_chains_are_told_apart():
    labels = ["CA of ALA 3 of chain A", "CA of ALA -3 of chain B", "HO5' of DA 12A of chain B"]
    assert _results.atoms_of("chain B and name CA", labels).tolist() == [1]
    assert _results.atoms_of("resid -3 or resid 12", labels).tolist() == [1, 2]
    with pytest.raises(collet.InvalidError, match="texts that are not like 'CA of ALA 3'"):
        _results.atoms_of("name CA", ["CA", "CB"])


def test_vectors_of_residues(run):
    results = md.extract(*FILES, keys="time_ps,positions")
    results.save("p.npz")
    ends = [[i for i, label in enumerate(results.atoms) if label.startswith(f"{name} of ")]
            for name in ("C", "O")]
    heads = {results.atoms[i].partition(" of ")[2]: i for i in ends[0]}
    tails = {results.atoms[i].partition(" of ")[2]: i for i in ends[1]}
    both = [residue for residue in heads if residue in tails]
    vectors = results["positions"][:, [tails[r] for r in both]] - \
        results["positions"][:, [heads[r] for r in both]]
    step = results["time_ps"][1]
    found = run("p.npz rotation --key positions --vector C O")[1]
    assert found["bodies"].tolist() == both and len(both) > 10
    assert np.array_equal(found["c1"], analysis.rotation(vectors, step).c1.value)
    single = [analysis.rotation(vectors[:, i]).s2 for i in range(len(both))]
    np.testing.assert_allclose(found["s2_bodies"], single, atol=1e-12)
    found = run("p.npz acf --key positions --vector C O")[1]
    assert np.array_equal(found["acf"], analysis.autocorrelation(vectors, step).value)
    assert "no residue has atoms C and XX; names of atoms are C, CA" in run(
        "p.npz acf --key positions --vector C XX")[0]
    assert "has no directions" in run("p.npz rotation --key positions")[0]


def test_vectors_within_a_molecule_that_rotates(run):
    own = np.random.default_rng(4)
    turns = np.linalg.qr(own.normal(size=(30, 3, 3)))[0]
    turns *= np.linalg.det(turns)[:, None, None]
    labels = [f"{name} of ALA {i}" for i in range(5) for name in ("N", "H", "CA")]
    np.savez("p.npz", positions=own.normal(size=(15, 3)) @ turns + own.normal(size=(30, 1, 3)),
             atoms=labels)
    found = run("p.npz rotation --key positions --vector N H --fit-atoms name~CA --dt 1")[1]
    np.testing.assert_allclose(found["s2_bodies"], np.ones(5), atol=1e-9)


def test_vectors_of_bodies(run):
    residues = md.extract(*FILES, keys="time_ps,end_to_end", each="residue")
    residues.save("r.csv")
    found = run("r.csv rotation --key end_to_end")[1]
    assert found["bodies"].tolist() == residues.bodies
    assert np.array_equal(found["c2"], analysis.rotation(residues["end_to_end"],
                                                         residues["time_ps"][1]).c2.value)
    whole = md.extract(*FILES, keys="time_ps,end_to_end")
    whole.save("w.npz")
    found = run("w.npz acf --key end_to_end --no-normalise")[1]
    assert np.array_equal(found["acf"], analysis.autocorrelation(
        whole["end_to_end"], whole["time_ps"][1], False).value)
