# SPDX-License-Identifier: Apache-2.0
"""Paths without jumps (pbc="nojump") across parts of a trajectory: results from a merge, shards, ranks, --resume or
several input files have the same bytes as the result of one run."""

import json
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from collet import _plugins

EXTRACT, MERGE = (pathlib.Path(_plugins.tool(name)[0]) for name in ("collet-extract", "collet-merge"))
pytestmark = pytest.mark.skipif(not (EXTRACT.exists() and MERGE.exists()), reason="collet-extract and collet-merge are not built")

WATERS, FRAMES, SIDE = 216, 50, 1.86
SHAPES = {"constant": lambda t: np.diag([SIDE] * 3),
          "skewed": lambda t: SIDE * np.array([[1, 0, 0], [0.4, 0.9, 0], [-0.45, 0.4, 0.8]]),
          "breathing": lambda t: SIDE * (1 + 0.1 * np.sin(t)) * np.array([[1, 0, 0], [0.3, 1, 0], [0.2, -0.4, 0.9]])}
#           x, y, z of the vectors in the order of .gro files
ELEMENTS = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def waters(box):
    """Waters that diffuse through a box, each atom wrapped into it. Yields each frame as the text of a .gro file."""
    random = np.random.default_rng(5)
    fractions = random.random((WATERS, 3))
    for t in range(FRAMES):
        vectors = box(t)
        turns = np.linalg.qr(random.normal(size=(WATERS, 3, 3)))[0]
        atoms = (fractions @ vectors)[:, None] + np.array([[0, 0, 0], [0.1, 0, 0], [-0.03, 0.095, 0]]) @ turns
        inverse = np.linalg.inv(vectors)
        atoms -= np.floor(atoms @ inverse) @ vectors
        rows = [f"{m % 99999 + 1:5}SOL  {name:>5}{3 * m + k + 1:5}" + "".join(f"{x:12.7f}" for x in atoms[m, k])
                for m in range(WATERS) for k, name in enumerate(("OW", "HW1", "HW2"))]
        yield "\n".join([f"waters t= {t / 2}", str(3 * WATERS), *rows,
                         " ".join(f"{vectors[i, j]:.7f}" for i, j in ELEMENTS)]) + "\n"
        fractions += random.normal(scale=0.06, size=(WATERS, 3))


def run(program, folder, *words, status=0, before=()):
    done = subprocess.run([*before, program, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    return done.stderr


def extract(folder, out, *words, trajectory=("all.gro",), **options):
    return run(EXTRACT, folder, "-q", "-o", out, "--pbc", "nojump", "--each", "residue", "--keys", "time_ps,com,rg", *words,
               "conf.gro", *trajectory, **options)


@pytest.fixture(params=SHAPES)
def folder(request, tmp_path):
    texts = list(waters(SHAPES[request.param]))
    (tmp_path / "conf.gro").write_text(texts[0])
    (tmp_path / "all.gro").write_text("".join(texts))
    for k in range(7):
        (tmp_path / f"part{k}.gro").write_text("".join(texts[FRAMES * k // 7:FRAMES * (k + 1) // 7]))
    extract(tmp_path, "one.npz")
    return tmp_path


def same(folder, name):
    found, expected = np.load(folder / name), np.load(folder / "one.npz")
    assert found.files == expected.files and "com_wrapped" in found.files
    assert all(found[key].tobytes() == expected[key].tobytes() for key in expected.files)


def test_merged_parts_are_one_run(folder):
    one = np.load(folder / "one.npz")
    assert abs(one["com"] - one["com_wrapped"]).max() > SIDE  # molecules went through the box
    for k in range(7):
        extract(folder, f"part{k}.npz", trajectory=[f"part{k}.gro"])
    joined = np.concatenate([np.load(folder / f"part{k}.npz")["com"] for k in range(7)])
    assert abs(joined - one["com"]).max() > SIDE / 2  # without changes the parts do not fit together
    assert "0.4 of the box" not in run(MERGE, folder, "-q", "-o", "seven.npz", *[f"part{k}.npz" for k in (3, 0, 6, 1, 5, 2, 4)])
    same(folder, "seven.npz")
    run(MERGE, folder, "-q", "-o", "a.npz", "part1.npz", "part0.npz", "part2.npz")  # merges can be merged
    run(MERGE, folder, "-q", "-o", "b.npz", *[f"part{k}.npz" for k in range(3, 7)])
    run(MERGE, folder, "-q", "-o", "twice.npz", "b.npz", "a.npz")
    same(folder, "twice.npz")
    extract(folder, "early.npz", "--stop", "23")
    extract(folder, "late.npz", "--start", "17")
    assert "late.npz replaces the last 6 frames" in run(MERGE, folder, "-q", "-o", "overlap.npz", "late.npz", "early.npz")
    same(folder, "overlap.npz")


def test_gaps_are_as_in_one_run(folder):
    for k in (0, 1, 3, 5):
        extract(folder, f"part{k}.npz", trajectory=[f"part{k}.gro"])
    extract(folder, "gaps.npz", trajectory=[f"part{k}.gro" for k in (0, 1, 3, 5)])
    text = run(MERGE, folder, "-q", "-o", "merged.npz", "part5.npz", "part1.npz", "part0.npz", "part3.npz")
    assert text.count("there are no frames between") == 2
    assert "between part1.npz and part3.npz" in text and "moved by more than 0.4 of the box" in text
    assert run(MERGE, folder, "-q", "--check", "part5.npz", "part1.npz", "part0.npz", "part3.npz", status=3) == text
    found, expected = np.load(folder / "merged.npz"), np.load(folder / "gaps.npz")
    assert all(found[key].tobytes() == expected[key].tobytes() for key in expected.files)


def test_other_ways_are_one_run(folder):
    extract(folder, "several.npz", trajectory=[f"part{k}.gro" for k in (2, 0, 6, 4, 1, 3, 5)])
    same(folder, "several.npz")
    for k in (3, 1, 2):
        extract(folder, "shards.npz", "--shard", f"{k}/3")
    run(MERGE, folder, "-q", "shards.npz.shards")
    same(folder, "shards.npz")
    for k in (4, 2):  # --resume computes what is missing
        extract(folder, "resumed.npz", "--shard", f"{k}/5")
    for k in range(1, 6):
        extract(folder, "resumed.npz", "--shard", f"{k}/5", "--resume")
    run(MERGE, folder, "-q", "resumed.npz.shards")
    same(folder, "resumed.npz")


@pytest.mark.parametrize("folder", ["breathing"], indirect=True)
@pytest.mark.skipif(not shutil.which("mpiexec"), reason="mpiexec is not installed")
def test_ranks_are_one_run(folder, monkeypatch):
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "false")
    monkeypatch.setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
    monkeypatch.setenv("HWLOC_COMPONENTS", "-opencl")
    extract(folder, "ranks.npz", before=["mpiexec", "-n", "3"])
    same(folder, "ranks.npz")


@pytest.mark.parametrize("folder", ["constant"], indirect=True)
def test_what_cannot_be_continued(folder):
    def parts(*words):
        for name, frames in (("a", ("--stop", "20")), ("b", ("--start", "20"))):
            run(EXTRACT, folder, "-q", "--force", "-o", f"{name}.npz", "--pbc", "nojump", *frames, *words, "conf.gro", "all.gro")

    parts("--keys", "time_ps,com")
    assert "cannot be joined if a body has several molecules" in run(MERGE, folder, "-o", "no.npz", "a.npz", "b.npz", status=1)
    parts("--keys", "time_ps,positions", "--selection", "resid 1")
    assert "leave this key out" in run(MERGE, folder, "-o", "no.npz", "a.npz", "b.npz", status=1)
    parts("--keys", "time_ps,rg", "--each", "residue")  # nothing that depends on paths
    run(MERGE, folder, "-q", "-o", "rg.npz", "a.npz", "b.npz")
    assert np.load(folder / "rg.npz")["rg"].tobytes() == np.load(folder / "one.npz")["rg"].tobytes()
    parts("--keys", "time_ps,com", "--each", "residue")
    meta = {name: json.loads((folder / f"{name}.meta.json").read_text()) for name in ("a", "b")}
    for shapes, message in (({"com_wrapped": None}, "it has no array com_wrapped"),  # so in older versions
                            ({"molecule_wrapped": [3]}, "do not have the shapes of one run"),
                            ({"box": [9]}, "do not have the shapes of one run"),
                            ({key: [2**36, 3] for key in ("com", "com_wrapped", "molecule_wrapped")}, "com_wrapped")):
        for name in meta:
            changed = json.loads(json.dumps(meta[name]))
            for key, shape in shapes.items():
                changed["outputs"][key]["shape"][1:] = shape or []
                if shape is None:
                    del changed["outputs"][key]
            (folder / f"{name}.meta.json").write_text(json.dumps(changed))
        assert message in run(MERGE, folder, "-o", "no.npz", "a.npz", "b.npz", status=1)
    assert not (folder / "no.npz").exists()
