# SPDX-License-Identifier: Apache-2.0
"""collet-analyse on damaged results: changed bytes, arrays of wrong kinds, a crash of libhdf5, and a full
output device. The program `test_md_damaged.py SEED COUNT` tests more damaged files."""

import os
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import _core, md
from collet.md.analysis import _command, _hdf5, _results

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data/md/peptide"
KEYS = "time_ps,com,L_vector,rmsd,axes"
RUNS = ("acf --key com", "diffusion --key com", "equilibration --key rmsd", "rotation --key axes",
        "pmf --key rmsd --bins 5", "acf --key L_vector --dt 2")
FORMS = ("npz", "csv", "folder")
COUNT = 150


def _write_good(folder):
    """Makes good.npz, good.csv, good.folder and, with h5py, good.h5. Returns these endings of the names."""
    results = md.extract(DATA / "conf.gro", DATA / "traj.trr", keys=KEYS, stop=20)
    results.save(folder / "good.npz")
    results.save(folder / "good.csv")
    os.mkdir(folder / "good.folder")
    for key, values in results.items():
        np.save(folder / f"good.folder/{key}.npy", values)
    try:
        results.save(folder / "good.h5")
    except collet.InvalidError:
        return FORMS
    return (*FORMS, "h5")


def _damaged_bytes(numbers, content):
    """Changes a few bytes. More changes are near both ends, where headers and directories are."""
    damaged = bytearray(content)
    for _ in range(numbers.choice((1, 1, 2, 5, 20))):
        size = len(damaged)
        at = numbers.choice((numbers.randrange(size), numbers.randrange(min(400, size)),
                             size - 1 - numbers.randrange(min(600, size))))
        change = numbers.randrange(5)
        if change < 2:
            damaged[at] = numbers.randrange(256)
        elif change == 2:
            damaged[at:at + 4] = b"\xff" * 4
        elif change == 3:
            damaged[at:at] = bytes(numbers.randrange(256) for _ in range(9))
        elif size > 40:
            del damaged[at:at + numbers.randrange(1, 30)]
    return bytes(damaged[:numbers.randrange(len(damaged))] if numbers.random() < 0.1 else damaged)


def _damaged_values(values):
    """Arrays of wrong kinds, each to replace an array of the results."""
    rows = len(values)
    return [np.array(["x"] * rows), np.array("text"), values.astype(complex), values[:0],
            values[..., None], np.full_like(values, np.nan), np.full_like(values, 1e300), values[:-1],
            np.zeros(rows, [("a", "f8")]), np.array(5.0), np.arange(rows).astype("M8[s]"),
            np.arange(rows).astype("m8[s]"), np.ones(values.shape, bool), np.zeros(rows, "S3")]


def _damage(numbers, folder, form):
    """Writes bad.FORM and optionally its meta file. Returns the path."""
    good, bad = folder / f"good.{form}", folder / f"bad.{form}"
    shutil.rmtree(bad, ignore_errors=True)
    if form == "folder":
        shutil.copytree(good, bad)
        good = numbers.choice(sorted(good.iterdir()))
        (bad / good.name).write_bytes(_damaged_bytes(numbers, good.read_bytes()))
    elif form == "npz" and numbers.random() < 0.4:
        arrays = dict(np.load(good))
        key = numbers.choice(sorted(key for key in arrays if arrays[key].dtype.kind == "f"))
        np.savez(bad, **{**arrays, key: numbers.choice(_damaged_values(arrays[key]))})
    else:
        bad.write_bytes(_damaged_bytes(numbers, good.read_bytes()))
    if form == "npz":
        meta = (folder / "good.meta.json").read_bytes()
        (folder / "bad.meta.json").write_bytes(
            _damaged_bytes(numbers, meta) if numbers.random() < 0.3 else meta)
    return str(bad)


def _run_damaged(folder, seed, count, forms):
    """Runs collet-analyse on damaged files. Returns the runs that neither succeeded nor reported an
    error."""
    numbers = random.Random(seed)
    failures = []
    for index in range(count):
        path = _damage(numbers, folder, numbers.choice(forms))
        words = [path, *numbers.choice(RUNS).split(), "-o", str(folder / "out.csv"), "--force"]
        try:
            status = _command.main(words)
        except Exception as error:  # pylint: disable=broad-exception-caught
            status = repr(error)
        if status not in (0, 1):
            failures.append(f"input {index} of seed {seed}, {path} {words[1]}: {status}")
    return failures


def test_damaged_files_are_errors(tmp_path, capsys):
    forms = _write_good(tmp_path)
    assert not _run_damaged(tmp_path, 1, COUNT, FORMS)
    if "h5" in forms:
        assert not _run_damaged(tmp_path, 2, 12, ("h5",))
    capsys.readouterr()


@pytest.mark.parametrize("key, values, words", [
    ("time_ps", np.array(list("abcdefghij")), "its array time_ps has texts, not real numbers"),
    ("time_ps", np.arange(10).astype("m8[s]"), "its array time_ps has durations, not real numbers"),
    ("com", np.zeros((10, 3), complex), "its array com has complex numbers, not real numbers"),
    ("com", np.zeros(10, [("x", "f8")]), "its array com has records, not real numbers")])
def test_arrays_of_other_kinds(tmp_path, monkeypatch, capsys, key, values, words):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", **{"time_ps": np.arange(10.0), "com": np.zeros((10, 3)), key: values})
    assert _command.main("a.npz acf --key com -o out.npz".split()) == 1
    assert words in capsys.readouterr().err
    assert not os.path.exists("out.npz")


def test_zip_versions(tmp_path, monkeypatch, capsys):
    """A member's version in the archive's directory is wrong: zipfile raises NotImplementedError."""
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", time_ps=np.arange(10.0), com=np.zeros((10, 3)))
    content = bytearray(pathlib.Path("a.npz").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 122
    pathlib.Path("a.npz").write_bytes(content)
    assert _command.main("a.npz acf --key com -o out.npz".split()) == 1
    assert "a.npz is not a results file of collet-extract: zip file version 12.2" in capsys.readouterr().err


@pytest.mark.parametrize("code, words", [
    ("import os; os.abort()", "libhdf5 crashes, or does not end"),
    ("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
     "libhdf5 crashes, or does not end"),
    ("raise RuntimeError('wrong B-tree signature')", "wrong B-tree signature")])
def test_a_crash_of_hdf5_ends_no_program(tmp_path, monkeypatch, code, words):
    """A module in the place of h5py crashes, never ends, or raises."""
    (tmp_path / "h5py.py").write_text(code)
    path = tmp_path / "a.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(collet.FormatError, match=f"a.h5 is not a results file of collet-extract: .*{words}"):
        _results.Results(str(path))


def test_hdf5_is_read_in_another_process(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "a.h5")
    with h5py.File(path, "w") as file:
        file["com"] = np.arange(6.0).reshape(2, 3)
        file["bodies"] = ["A", "B"]
        file.attrs["meta"] = "{}"
    with _hdf5.read(path) as copied:
        found = dict(np.load(copied))
    assert found["com"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["bodies"].tolist() == ["A", "B"]
    assert str(found["/meta"]) == "{}"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_full_output(tmp_path, buffered):
    np.savez(tmp_path / "a.npz", time_ps=np.arange(10.0), com=np.random.default_rng(1).normal(size=(10, 3)))
    places = os.pathsep.join([str(pathlib.Path(_core.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONUNBUFFERED": buffered}
    for words in ("--help", "--version", "a.npz acf --key com -o out.csv --force"):
        with open("/dev/full", "wb") as full:
            made = subprocess.run([sys.executable, "-m", "collet.md.analysis", *words.split()], cwd=tmp_path,
                                  env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert made.returncode == 1, words
        last = made.stderr.splitlines()[-1]
        assert last.startswith("collet-analyse: standard output: No space left on device"), made.stderr
        assert "Traceback" not in made.stderr and "Exception" not in made.stderr, made.stderr


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as _folder:
        _forms = _write_good(pathlib.Path(_folder))
        print("\n".join(_run_damaged(pathlib.Path(_folder), int(sys.argv[1]), int(sys.argv[2]), _forms)))
