# SPDX-License-Identifier: Apache-2.0
"""The command collet-analyse: its files agree with the functions, and it reports errors."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet.md import _table, analysis
from collet.md.analysis import _analyses, _command

random = np.random.default_rng(5)
FRAMES, STEP = 60, 0.25
AXES = np.linalg.qr(np.eye(3) + 0.1 * random.normal(size=(FRAMES, 3, 3)).cumsum(axis=0) / 9)[0]
ARRAYS = {"time_ps": 10 + STEP * np.arange(FRAMES), "axes": AXES,
          "com": random.normal(size=(FRAMES, 3)).cumsum(axis=0),
          "L_vector": random.normal(size=(FRAMES, 3)), "rg": random.normal(size=FRAMES)}


@pytest.fixture(name="run")
def run_in_folder(tmp_path, monkeypatch, capsys):
    """run(arguments, **arrays) returns the exit status, the printed text and the arrays of the file."""
    monkeypatch.chdir(tmp_path)

    def run(arguments, **arrays):
        np.savez("in.npz", **{**ARRAYS, **arrays})
        try:
            status = _command.main(["in.npz", *arguments.split()])
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


POSITIONS = random.normal(size=(7, 3)) + 0.05 * random.normal(size=(FRAMES, 7, 3))
MORE = {"tilt_deg": 90 * random.uniform(size=FRAMES), "euler_zyz": random.uniform(
            0, 3, size=(FRAMES, 3)), "weight": random.uniform(size=FRAMES), "r": POSITIONS,
        "tau_vector": random.normal(size=(FRAMES, 3)), "reference": POSITIONS[3],
        "masses": np.arange(1., 8), "gyration_tensor": np.einsum("fni,fnj->fij", POSITIONS,
                                                                 POSITIONS)}


@pytest.mark.parametrize("arguments, expected", [
    ("pmf --key rg --bins 6 --range -1:1 --temperature 310 --weights weight",
     lambda: (p := analysis.potential_of_mean_force(
         ARRAYS["rg"], bins=6, range=(-1, 1), temperature=310, weights=MORE["weight"])) and
     {"pmf": p.value, "pmf_error": p.error, "counts": p.histogram.counts, "x": p.centers[0],
      "x_edges": p.histogram.edges[0], "outside": p.histogram.outside}),
    ("pmf --key tilt_deg --range 0:90 --bins 4 --jacobian none",
     lambda: (p := analysis.potential_of_mean_force(MORE["tilt_deg"], bins=4, range=(0, 90))) and
     {"pmf": p.value, "x": p.centers[0]}),
    ("pmf --key euler_zyz --component 2 --key2 euler_zyz --component2 1 --bins 3",
     lambda: (p := analysis.potential_of_mean_force(
         *MORE["euler_zyz"].T[:0:-1], bins=3, jacobian=(None, "sin"))) and {"pmf": p.value}),
    ("pmf --key tilt_deg --range 0:90 --bins 4",
     lambda: (p := analysis.potential_of_mean_force(
         np.radians(MORE["tilt_deg"]), bins=4, range=(0, np.pi / 2), jacobian="cos")) and
     {"pmf": p.value, "x": np.degrees(p.centers[0])}),
    ("pmf --key euler_zyz --component 1 --key2 euler_zyz --component2 2 --jacobian sin none "
     "--range 0:3.1 --range 0:2 --bins 3 4 --periodic y",
     lambda: (p := analysis.potential_of_mean_force(
         *MORE["euler_zyz"].T[1:], bins=(3, 4), range=((0, 3.1), (0, 2)),
         jacobian=("sin", None), periodic=(False, True))) and
     {"pmf": p.value, "y_edges": p.histogram.edges[1], "samples": FRAMES}),
    ("diffusion-tensor --key com --fit 1:2 --axes axes",
     lambda: (d := analysis.translational_diffusion_tensor(
         ARRAYS["com"], STEP, 1, 2, axes=AXES)) and
     {"tensor": d.tensor, "tensor_error": d.error, "frame": d.frame, "value_3": d.values[2]}),
    ("rotational-tensor --key axes --fit 0.25:1",
     lambda: (d := analysis.rotational_diffusion_tensor(AXES, STEP, 0.25, 1)) and
     {"tensor": d.tensor, "values": d.values, "fit_lags": 4}),
    ("friction --key L_vector --inertia 3 --temperature 310 --method exponential_fit",
     lambda: (f := analysis.extract_friction_from_acf(analysis.autocorrelation(
         ARRAYS["L_vector"], STEP), 3, 310, "exponential_fit")) and
     {"gamma": f.gamma, "tau_c": f.tau_c, "diffusion_coeff": f.diffusion_coeff}),
    ("memory --key L_vector --fit 0:2",
     lambda: (m := analysis.memory_kernel(analysis.autocorrelation(
         ARRAYS["L_vector"], STEP), 2)) and {"kernel": m.value, "integral": m.integral}),
    ("torque --key L_vector",
     lambda: (t := analysis.torque_consistency(ARRAYS["L_vector"], MORE["tau_vector"], STEP)) and
     {"derivative": t.derivative, "relative": t.relative}),
    ("rmsd --key r --fit-atoms 0:4 --domain tail=5:7 --domain two=0,6 --reference reference "
     "--weights masses",
     lambda: analysis.rmsd(POSITIONS, POSITIONS[3], weights=MORE["masses"], fit=np.arange(4),
                           of={"tail": [5, 6], "two": [0, 6]})),
    ("dccm --key r --fit-atoms 0:4",
     lambda: (c := analysis.dccm(POSITIONS, fit=np.arange(4))) and
     {"dccm": c.matrix, "dccm_error": c.error, "dccm_blocks": c.blocks, "rmsf": c.rmsf}),
    ("shape --key gyration_tensor",
     lambda: (s := analysis.shape(MORE["gyration_tensor"])) and
     {"acylindricity": s.acylindricity, "rg_about": s.rg_about, "rg_mean": s.rg.mean()})])
def test_other_analyses(run, arguments, expected):
    status, text, found = run(arguments + " -o out.npz", **MORE)
    assert status == 0, text
    for name, value in expected().items():
        np.testing.assert_array_equal(found[name], value)
    assert set(json.loads(str(found["meta"]))["units"]) == set(found) - {"meta"}
    assert run(arguments + " -o out.csv", **MORE)[0] == 0
    lines = open("out.csv", encoding="utf-8").read().splitlines()
    table = [line for line in lines if not line.startswith("#")]
    if table:
        widths = {line.count(",") for line in table}
        assert len(widths) == 1
        first = table[0].split(",")[-1].partition(" (")[0].removesuffix("_z")
        assert first in found


def test_xvg(run):
    found = run("rotation --key axes -o out.npz")[2]
    assert run("rotation --key axes -o out.xvg")[0] == 0
    lines = open("out.xvg", encoding="utf-8").read().splitlines()
    assert '@    xaxis  label "lag (ps)"' in lines and '@ s2 legend "c2"' in lines
    table = np.loadtxt(lines, comments=("#", "@")).T
    for name, column in zip(("lag", "c1", "c1_error", "c2", "c2_error"), table):
        np.testing.assert_array_equal(column, found[name])


def test_two_systems_are_compared(run):
    for name, seed in (("a", 1), ("b", 2)):
        noise = np.random.default_rng(seed).normal(size=(FRAMES, 7, 3))
        assert run(f"dccm --key r -o {name}.npz", r=POSITIONS[0] + 0.1 * noise)[0] == 0
    assert _command.main("a.npz compare --other b.npz b.npz -o out.npz".split()) == 0
    found = np.load("out.npz")
    a, b = np.load("a.npz"), np.load("b.npz")
    np.testing.assert_allclose(found["difference"], (b["dccm"] - a["dccm"]) * (1 - np.eye(7)),
                               atol=1e-6)
    assert found["significant"].dtype == bool and 0 <= found["significant_share"] <= 1
    assert _command.main("a.npz compare -o c.npz".split()) == 2
    assert _command.main("a.npz compare --other in.npz -o c.npz".split()) == 1


@pytest.mark.parametrize("arguments, words", [
    ("pmf --key com", "several numbers in each frame: choose one with --component"),
    ("pmf --key com --component 3", "has no component 3"),
    ("pmf --key rg --range 50:60", "no sample is within the range"),
    ("rmsd --key r --fit-atoms 1:x", "'1:x' is not a list of atoms"),
    ("rmsd --key r --domain 3:4", "--domain 3:4 is not NAME=ATOMS"),
    ("rmsd --key r --fit-atoms 3:9", "index 8, and there are 7 atoms"),
    ("dccm --key com", "60 x 3; they must be frames x atoms x 3"),
    ("diffusion-tensor --key com --axes rg", "axes are 60")])
def test_refused_analyses(run, arguments, words):
    status, text, found = run(arguments + " -o out.npz", **MORE)
    assert status == 1 and words in text and found is None


def test_missing_options(run):
    status, text, found = run("friction --key L_vector -o out.npz", **MORE)
    assert status == 2 and "friction needs --inertia" in text and found is None


def test_more_blocks_than_frames(run):
    text = "nan, because 60 frames cannot be divided into 100 blocks: give fewer, --blocks N, or more frames"
    for analysis in ("msd --key com", "acf --key L_vector"):
        status, words, found = run(f"{analysis} --blocks 100 --force -o out.npz", **MORE)
        assert status == 0 and text in words
        assert text not in run(f"{analysis} --blocks 5 --force -o out.npz", **MORE)[1]


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
    ("acf --key comm -o out.npz", 1, "^collet-analyse: in.npz has no array 'comm'; the nearest is com$"),
    ("acf --key com -o out.txt", 2, "must end in .npz, .csv or .xvg"),
    ("acf -o out.npz", 2, "--key"), ("acf --key com", 2, "-o"),
    ("acv --key com -o out.npz", 2, "^collet-analyse: 'acv' is not an analysis; the nearest is acf\nTry "),
    ("zzz --key com -o out.npz", 2, "'zzz' is not an analysis; they are acf, msd, "),
    ("acf --key zzz -o out.npz", 1, "no array 'zzz'; it has time_ps, axes, com, "),
    ("acf --key com -o out.npz --plot ./out.npz", 2, "are the same file"),
    ("rotation --key com -o out.npz", 1, "'com' has no directions: rotation needs axes"),
    ("rotational-msd --key euler_zyz -o out.npz", 1, "'euler_zyz' has no directions"),
    ("acf --key com -o in.npz", 2, "in.npz is the file to analyse"),
    ("acf --key com -o no/out.npz", 1, "no/out.npz: No such file"),
    ("acf --key axes -o out.npz", 1, "'axes' has a matrix in each frame"),
    ("acf --key one -o out.npz --dt 1", 1, "one number"),
    ("acf --key one -o out.npz", 1, "one and time_ps have different numbers of frames"),
    ("acf --key texts -o out.npz", 1, "array texts has texts, not real numbers"),
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
    found, text, made = run(arguments, euler_zyz=ARRAYS["com"], one=np.float64(3), texts=np.array(["a"] * FRAMES), gap=gap)
    assert found == status and re.search(words, text), text
    assert made is None and os.listdir() == ["in.npz"]


def test_times(run, capsys):
    times = ARRAYS["time_ps"].copy()
    times[40:] += 1
    status, text, _ = run("acf --key com -o out.npz", time_ps=times)
    assert status == 1 and "21 ps follows 19.75 ps, and the usual step is 0.25 ps" in text
    assert run("acf --key com -o out.npz --stop 40", time_ps=times)[0] == 0
    for wrong in (times * 0, times * 0 + 7):
        status, text, _ = run("acf --key com -o out.npz --force", time_ps=wrong)
        assert status == 1 and f"all times are {wrong[0]:g} ps, so" in text and "--dt" in text
    for wrong in (times[::-1], times * np.nan):
        status, text, _ = run("acf --key com -o out.npz --force", time_ps=wrong)
        assert status == 1 and "times are not equally spaced" in text
    times = ARRAYS["time_ps"] * 1.1**np.arange(FRAMES)
    status, _, found = run("msd --key com -o out.npz --force", time_ps=times)
    assert status == 0 and np.array_equal(found["lag"], analysis.mean_square_displacement(ARRAYS["com"], times=times).lag)
    assert run("diffusion --key com -o out.npz --force --fit 1:10", time_ps=times)[0] == 0
    np.savez("bare.npz", com=ARRAYS["com"])
    assert _command.main("bare.npz acf --key com -o out2.npz".split()) == 1
    assert "add time_ps to --keys of collet-extract, or" in capsys.readouterr().err
    assert _command.main("bare.npz acf --key com -o out2.npz --dt 1".split()) == 0


@pytest.mark.parametrize("pbc, boxless, warned", [
    ("whole", 0, True), ("center", 0, True), ("none", FRAMES - 1, True), ("nojump", 0, False),
    ("whole", FRAMES, False)])
def test_positions_that_jump_at_the_box_warn(run, pbc, boxless, warned):
    with open("in.meta.json", "w", encoding="utf-8") as file:
        json.dump({"frames": {"count": FRAMES}, "periodic_box": {
            "pbc": pbc, "frames_without_box": boxless}}, file)
    for arguments in ("msd --key com", "diffusion --key com", "diffusion-tensor --key com"):
        status, text, _ = run(arguments + " -o out.npz --force")
        assert status == 0 and ("run collet-extract with --pbc nojump" in text) == warned, text
    assert "nojump" not in run("msd --key L_vector -o out.npz --force")[1]


@pytest.mark.parametrize("arguments, words", [
    ("diffusion --key com --fit 1:10", "diffusion_error is nan: .* up to 10 ps, and .* block, 3 ps"),
    ("diffusion-tensor --key com --fit 1:10", "the error is nan: the fit goes up to 10 ps"),
    ("acf --key noise", "integral_time is unknown: .*one step of 0.25 ps"),
    ("friction --key steady --inertia 1", "tau_c is nan: .* not fall to 0 within 14.75 ps"),
    ("rotation --key noise", "c2_time is unknown: the correlation decays within one step"),
    ("friction --key noise --inertia 1", "tau_c is unknown: the correlation decays within one"),
    ("memory --key noise", "more than 1 / dt = 4: .*the solution diverges"),
    ("equilibration --key late", "more than half of the frames are not equilibrated")])
def test_doubtful_results_warn(run, arguments, words):
    own = np.random.default_rng(8)
    late = np.r_[np.linspace(0, 50, 40), own.normal(50, 1, size=20)]
    noise = own.normal(size=(FRAMES, 3))
    status, text, _ = run(arguments + " -o out.npz", noise=noise, late=late, steady=late + 1)
    assert status == 0 and re.search(f"warning: .*{words}", text), text
    smooth = np.exp(-np.arange(FRAMES) / 40)[:, None] * [1., 0, 0] - [.5, 0, 0]
    text = run(arguments.partition(" --fit")[0] + " -o out.npz --force", noise=smooth,
               late=noise[:, 0], steady=noise[:, 0])[1]
    assert not re.search(f"warning: .*{words}", text), text


def test_swapped_arguments(capsys):
    with pytest.raises(SystemExit) as error:
        _command.main("msd in.npz --key com -o out.npz".split())
    assert error.value.code == 2
    assert "the file comes first: in.npz msd\n" in capsys.readouterr().err


def test_damaged_files(run, capsys):
    run("acf --key com -o out.npz")
    whole = open("in.npz", "rb").read()
    for name, content in (("empty", b""), ("table.csv", b"x (ps),com\n1,2\n"), ("cut", whole[:len(whole) // 2]),
                          ("text", b"com 1 2 3\n"), ("changed", whole.replace(b"NUMPY", b"NOMPY"))):
        open(name, "wb").write(content)
        assert _command.main([name, *"acf --key com -o b.npz".split()]) == 1
        text = capsys.readouterr().err
        assert f"{name} is not a results file" in text and "pickle" not in text
        assert ("only .npz, .h5, .csv, .xvg and directories of .npy" in text) == (name in ("empty", "text"))
    assert _command.main("absent acf --key com -o b.npz".split()) == 1
    assert "absent: No such file" in capsys.readouterr().err
    np.save("one.npy", ARRAYS["com"])
    assert _command.main("one.npy acf --key com -o b.npz".split()) == 1
    assert not os.path.exists("b.npz")


@pytest.mark.parametrize("arguments", [
    "acf --key L_vector", "rotation --key axes", "equilibration --key rg --start 3",
    "equilibration --key com --dt 2", "pmf --key rg --bins 9",
    "pmf --key euler_zyz --component 1 --key2 euler_zyz --component2 2 --bins 4",
    "dccm --key r", "rmsd --key r --domain a=0:3 --domain b=3:7", "shape --key gyration_tensor",
    "memory --key L_vector", "rotational-tensor --key axes --fit 0.25:1"])
def test_pictures(run, arguments):
    pytest.importorskip("matplotlib")
    status, text, _ = run(arguments + " -o out.npz --plot out.png", **MORE)
    assert status == 0, text
    assert open("out.png", "rb").read().startswith(b"\x89PNG")


def test_what_pictures_show(run, monkeypatch):
    figure_type = pytest.importorskip("matplotlib.figure").Figure
    save, figures = figure_type.savefig, []

    def kept(figure, *args, **options):
        figures.append(figure)
        save(figure, *args, **options)
    monkeypatch.setattr(figure_type, "savefig", kept)

    def axes_of(arguments, **arrays):
        status, text, found = run(arguments + " -o out.npz --plot out.png --force",
                                  **{**MORE, **arrays})
        assert status == 0, text
        return found, figures[-1].axes

    times = ARRAYS["time_ps"][4:]
    for arguments, panels, curves in (
            ("torque --key L_vector", 1, 6), ("shape --key gyration_tensor", 3, 4),
            ("rmsd --key r --domain a=0:3", 1, 1), ("equilibration --key L_vector", 1, 4)):
        _, found = axes_of(arguments + " --start 4")
        assert len(found) == panels and len(found[0].lines) == curves
        assert found[-1].get_xlabel() == "time (ps)"
        assert np.array_equal(found[0].lines[0].get_xdata(), times)
    _, (axes,) = axes_of("rmsd --key r --dt 2 --step 3")
    assert np.array_equal(axes.lines[0].get_xdata(), 2. * np.arange(0, FRAMES, 3))
    _, (axes,) = axes_of("rmsd --key r", time_ps=np.zeros(1))
    assert axes.get_xlabel() == "frame"
    many = 7e5 + random.normal(size=(FRAMES, 9))
    _, (axes,) = axes_of("equilibration --key rg", rg=many)
    assert np.allclose(axes.lines[0].get_ydata(), many.mean(axis=1)) and len(axes.lines) == 2
    assert len(axes.collections) == 1 and axes.get_ylabel() == "rg (nm)"
    assert not axes.yaxis.get_major_formatter().get_offset()
    result, (axes,) = axes_of("diffusion --key com --fit 1:2")
    line = axes.lines[1]
    assert list(line.get_xdata()) == [1, 2]
    assert np.isclose(np.diff(line.get_ydata())[0], 6 * result["diffusion"])
    _, (axes,) = axes_of("pmf --key tilt_deg")
    assert axes.get_xlabel() == "tilt_deg (degree)"
    _, (axes, _) = axes_of("pmf --key euler_zyz --component 1 --key2 rg --bins 4")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("euler_zyz, component 1 (rad)", "rg (nm)")
    result, (axes, _) = axes_of("diffusion-tensor --key com")
    assert [text.get_text() for text in axes.texts] == [f"{x:.3g}" for x in result["tensor"].flat]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["x", "y", "z"]
    assert axes.yaxis_inverted()


def test_refused_pictures(run):
    pytest.importorskip("matplotlib")
    for arguments, words in (("acf --key rg --plot a.txt", "must end in one of"),
                             ("inefficiency --key rg --plot a.png", "nothing to draw"),
                             ("acf --key rg --plot in.npz", "in.npz is the file to analyse")):
        status, text, found = run(arguments + " -o out.npz")
        assert status and words in text and found is None, text


def test_force_replaces(run):
    open("out.npz", "wb").close()
    assert run("msd --key com -o out.npz --force")[2]["msd"].size == FRAMES
    assert sorted(os.listdir()) == ["in.npz", "out.npz"]


def test_the_input_is_never_replaced(run):
    status, text, _ = run("msd --key com --force -o ./in.npz")
    assert status == 2 and "./in.npz is the file to analyse" in text
    assert dict(np.load("in.npz")).keys() == ARRAYS.keys()


def test_a_file_made_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(collet.FileError, match="out.csv already exists: choose another name"):
        _table.write([(str(tmp_path / "first.csv"), b""), (str(path), b"")], False)
    assert path.read_text() == "mine" and os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("options", ["", " --force"])
def test_a_picture_that_fails_leaves_no_file(run, monkeypatch, options):
    monkeypatch.setattr(_command, "draw", lambda *unused: b"picture")
    os.mkdir("folder.png")
    for picture in ("no/k.png", "folder.png"):
        status, text, found = run(f"msd --key com -o out.npz --plot {picture}{options}")
        assert status and picture in text and found is None, text
    assert sorted(os.listdir()) == ["folder.png", "in.npz"]


def test_installed_command():
    text = (pathlib.Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    module, function = re.search(r'\ncollet-analyse = "(.+):(\w+)"\n', text).groups()
    assert getattr(importlib.import_module(module), function) is _command.main


def test_the_manual_page_is_complete():
    page = (pathlib.Path(__file__).parents[3] / "man/collet-analyse.1").read_text(encoding="utf-8")
    options = [name for action in _command._parser()._actions for name in action.option_strings
               if name.startswith("--")]
    assert [name for name in options if not re.search(rf"(Fl|,) {name[1:]}\b", page)] == []
    assert re.findall(r"\n\.It Cm ([a-z-]+)\n", page) == list(_analyses.ANALYSES)


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
    assert all(name in help_text for name in (*_analyses.ANALYSES, "Exit status"))
