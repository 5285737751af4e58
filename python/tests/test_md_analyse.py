# SPDX-License-Identifier: Apache-2.0
"""The command python -m collet.md.analysis: its files agree with the functions, its refusals."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet.md import _analyse, analysis

random = np.random.default_rng(5)
FRAMES, STEP = 60, 0.25
AXES = np.linalg.qr(np.eye(3) + 0.1 * random.normal(size=(FRAMES, 3, 3)).cumsum(axis=0) / 9)[0]
ARRAYS = {"time_ps": 10 + STEP * np.arange(FRAMES), "axes": AXES,
          "com": random.normal(size=(FRAMES, 3)).cumsum(axis=0),
          "L_vector": random.normal(size=(FRAMES, 3)), "rg": random.normal(size=FRAMES)}


@pytest.fixture(name="run")
def run_in_folder(tmp_path, monkeypatch, capsys):
    """run(arguments, **arrays): status, what was printed, the file's arrays."""
    monkeypatch.chdir(tmp_path)

    def run(arguments, **arrays):
        np.savez("in.npz", **{**ARRAYS, **arrays})
        try:
            status = _analyse.main(["in.npz", *arguments.split()])
        except SystemExit as error:
            status = error.code
        text = capsys.readouterr()
        found = dict(np.load("out.npz")) if os.path.exists("out.npz") else None
        return status, text.out + text.err, found
    return run


@pytest.mark.parametrize("arguments, columns, numbers", [
    ("acf --key L_vector", lambda: {"acf": analysis.autocorrelation(ARRAYS["L_vector"], STEP)},
     lambda: {"integral_time": analysis.autocorrelation(ARRAYS["L_vector"], STEP).integral_time}),
    ("acf --key rg --no-normalise --subtract-mean --blocks 3",
     lambda: {"acf": analysis.autocorrelation(ARRAYS["rg"], STEP, False, True, blocks=3)}, dict),
    ("msd --key com", lambda: {"msd": analysis.mean_square_displacement(ARRAYS["com"], STEP)},
     dict),
    ("diffusion --key com --fit 1:2",
     lambda: {"msd": analysis.mean_square_displacement(ARRAYS["com"], STEP)},
     lambda: {"diffusion": analysis.diffusion(
         analysis.mean_square_displacement(ARRAYS["com"], STEP), 1, 2).value, "fit_lags": 5}),
    ("rotation --key axes --column 2",
     lambda: {"c1": analysis.rotation(AXES[:, :, 2], STEP).c1,
              "c2": analysis.rotation(AXES[:, :, 2], STEP).c2},
     lambda: {"s2": analysis.rotation(AXES[:, :, 2]).s2}),
    ("rotational-msd --key axes",
     lambda: {"msd": analysis.rotational_mean_square_displacement(AXES[:, :, 0], STEP)}, dict),
    ("rotational-diffusion --key axes --dt 2",
     lambda: {"msd": analysis.rotational_mean_square_displacement(AXES[:, :, 0], 2)},
     lambda: {"diffusion": analysis.diffusion(analysis.rotational_mean_square_displacement(
         AXES[:, :, 0], 2)).value, "dimensions": 2}),
    ("inefficiency --key rg", dict,
     lambda: {"inefficiency": analysis.statistical_inefficiency(ARRAYS["rg"])})])
def test_files_have_what_the_functions_return(run, arguments, columns, numbers):
    status, text, found = run(arguments + " -o out.npz")
    assert status == 0, text
    for name, curve in columns().items():
        assert np.array_equal(found["lag"], curve.lag)
        assert np.array_equal(found[name], curve.value)
        assert np.array_equal(found[name + "_error"], curve.error, equal_nan=True)
    for name, value in numbers().items():
        assert found[name] == value and name in text
    meta = json.loads(str(found["meta"]))
    assert set(meta["units"]) == set(found) - {"meta"} and meta["key"] in arguments
    assert run(arguments + " -o out.csv")[0] == 0
    lines = open("out.csv", encoding="utf-8").read().splitlines()
    notes = [line for line in lines if line.startswith("#")]
    for name in numbers():
        line, = (n for n in notes if n.startswith((f"# {name} =", f"# {name} (")))
        assert float(line.rpartition("= ")[2]) == found[name]
    if columns():
        names = [n.partition(" (")[0] for n in lines[len(notes)].split(",")]
        table = np.loadtxt(lines[len(notes) + 1:], delimiter=",")
        assert all(np.array_equal(c, found[n], equal_nan=True) for n, c in zip(names, table.T))


@pytest.mark.parametrize("arguments, units", [
    ("msd --key com", {"msd": "nm^2", "lag": "ps"}), ("acf --key L_vector", {"acf": "1"}),
    ("acf --key L_vector --no-normalise", {"acf": "(amu nm^2/ps)^2"}),
    ("diffusion --key com", {"diffusion": "nm^2/ps"}),
    ("rotational-msd --key axes", {"msd": "rad^2"}),
    ("acf --key mine --no-normalise", {"acf": ""})])
def test_units(run, arguments, units):
    found = json.loads(str(run(arguments + " -o out.npz", mine=ARRAYS["rg"])[2]["meta"]))["units"]
    assert {name: found[name] for name in units} == units


def test_chosen_frames(run):
    found = run("acf --key rg --start 3 --stop 50 --step 2 -o out.npz")[2]
    expected = analysis.autocorrelation(ARRAYS["rg"][3:50:2], 2 * STEP)
    assert np.array_equal(found["acf"], expected.value)
    assert np.array_equal(found["lag"], expected.lag)
    found = run("acf --key rg --step 2 --dt 3 -o out.npz --force")[2]
    assert found["lag"][1] == 6
    step = np.r_[np.full(30, 50.), random.normal(size=30)]
    found = run("equilibration --key step --start 4 --step 2 -o out.npz --force", step=step)[2]
    expected = analysis.equilibration_time(step[4::2], 2 * STEP)
    assert found["frame"] == 4 + 2 * expected.frame >= 28 and found["time"] == expected.time


def test_bodies(run):
    x = random.normal(size=(FRAMES, 4))
    found = run("acf --key rg -o out.npz", rg=x)[2]
    assert np.array_equal(found["acf"], analysis.autocorrelation(x[:, :, None]).value)
    frames = np.stack([AXES, np.roll(AXES, 1, axis=2)], axis=1)
    found = run("rotation --key axes --column 1 -o out.npz --force", axes=frames)[2]
    assert np.array_equal(found["c1"], analysis.rotation(frames[..., 1]).c1.value)


@pytest.mark.parametrize("arguments, status, words", [
    ("acf --key comm -o out.npz", 1, "in.npz has no array 'comm', but com"),
    ("acf --key com -o out.txt", 2, "must end in .npz or .csv"),
    ("acf -o out.npz", 2, "--key"), ("acf --key com", 2, "-o"),
    ("acv --key com -o out.npz", 2, "acf"),
    ("acf --key com -o in.npz", 2, "in.npz exists"),
    ("acf --key com -o no/out.npz", 1, "no/out.npz: No such file"),
    ("acf --key axes -o out.npz", 1, "'axes' has a matrix a frame"),
    ("acf --key one -o out.npz --dt 1", 1, "one number"),
    ("acf --key one -o out.npz", 1, "one and time_ps have different numbers of frames"),
    ("acf --key texts -o out.npz", 1, "texts: .*<U"),
    ("acf --key gap -o out.npz --dt 1", 1, "nan at frame 7"),
    ("acf --key gap -o out.npz --start 3 --step 2", 1, "frame 2: .*from --start in steps of"),
    ("acf --key com -o out.npz --start 60", 1, "fewer than two frames have no time step: give"),
    ("acf --key com -o out.npz --start 60 --dt 1", 1, "there is nothing to average"),
    ("acf --key com -o out.npz --start -1", 2, "--start must be at least 0"),
    ("acf --key com -o out.npz --blocks 1", 1, "blocks is 1"),
    ("acf --key com -o out.npz --dt 0", 1, "dt is 0"),
    ("diffusion --key com -o out.npz --fit 5", 2, "'5' is not FROM:TO"),
    ("diffusion --key com -o out.npz --fit 50:60", 1, "0 lags from 50 to 60")])
def test_refusals(run, arguments, status, words):
    gap = ARRAYS["rg"].copy()
    gap[7] = np.nan
    found, text, made = run(arguments, one=np.float64(3), texts=np.array(["a"] * FRAMES), gap=gap)
    assert found == status and re.search(words, text), text
    assert made is None and os.listdir() == ["in.npz"]


def test_times(run):
    times = ARRAYS["time_ps"].copy()
    times[40:] += 1
    status, text, _ = run("acf --key com -o out.npz", time_ps=times)
    assert status == 1 and "21 ps follows 19.75 ps, and the usual step is 0.25 ps" in text
    assert run("acf --key com -o out.npz --stop 40", time_ps=times)[0] == 0
    for wrong in (times[::-1], times * 0, times * np.nan):
        status, text, _ = run("acf --key com -o out.npz --force", time_ps=wrong)
        assert status == 1 and "times are not equally spaced" in text
    np.savez("bare.npz", com=ARRAYS["com"])
    assert _analyse.main("bare.npz acf --key com -o out2.npz".split()) == 1
    assert _analyse.main("bare.npz acf --key com -o out2.npz --dt 1".split()) == 0


def test_damaged_files(run, capsys):
    run("acf --key com -o out.npz")
    whole = open("in.npz", "rb").read()
    for name, content in (("empty", b""), ("cut", whole[:len(whole) // 2]),
                          ("text", b"com 1 2 3\n"), ("changed", whole.replace(b"NUMPY", b"NOMPY"))):
        open(name, "wb").write(content)
        assert _analyse.main([name, *"acf --key com -o b.npz".split()]) == 1
        assert f"{name} is not a results file" in capsys.readouterr().err
    assert _analyse.main("absent acf --key com -o b.npz".split()) == 1
    assert "absent: No such file" in capsys.readouterr().err
    np.save("one.npy", ARRAYS["com"])
    assert _analyse.main("one.npy acf --key com -o b.npz".split()) == 1
    assert not os.path.exists("b.npz")


def test_force_replaces(run):
    open("out.npz", "wb").close()
    assert run("msd --key com -o out.npz --force")[2]["msd"].size == FRAMES
    assert sorted(os.listdir()) == ["in.npz", "out.npz"]


def test_a_file_made_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(collet.FileError, match="out.csv exists: choose another name"):
        _analyse._write(str(path), _analyse._Found([], []), {}, False)
    assert path.read_text() == "mine" and os.listdir(tmp_path) == ["out.csv"]


def test_program(run):
    run("msd --key com -o out.npz")
    done = subprocess.run([sys.executable, "-W", "error", "-m", "collet.md.analysis", "in.npz",
                           "rotational-msd", "--key", "wild", "-o", "b.npz"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and "no array 'wild'" in done.stderr
    np.savez("in.npz", wild=random.normal(size=(9, 3)))
    done = subprocess.run([sys.executable, "-m", "collet.md.analysis", "in.npz", "rotational-msd",
                           "--key", "wild", "-o", "b.npz", "--dt", "1"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "warning: rotational_mean" in done.stderr, done.stderr
    help_text = subprocess.run([sys.executable, "-m", "collet.md.analysis", "--help"],
                               capture_output=True, text=True, check=True).stdout
    assert all(name in help_text for name in (*_analyse._ANALYSES, "Exit status"))
