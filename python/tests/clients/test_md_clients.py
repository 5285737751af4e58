# SPDX-License-Identifier: Apache-2.0
"""md.extract(client=): workers compute the same results, bit for bit, as a call without a client."""

import os
import pathlib
import signal
import subprocess
import warnings

import numpy as np
import pytest

from agree import FILES, WATER, same

import collet
from collet import _plugins, md
from collet.md import _clients


@pytest.mark.parametrize("options", [
    {}, {"each": "residue", "keys": "com,axes", "start": 1, "step": 3},
    {"masses": np.linspace(1, 12, 280), "pbc": "nojump"}, {"drift": "both", "drift_of": "resid 2:9", "pbc": "none"}],
    ids=["all", "each", "nojump", "drift"])
def test_the_same(client, options):
    seen = []
    found = md.extract(*FILES, client=client, progress=lambda *p: seen.append(p), **options)
    same(found, md.extract(*FILES, **options))
    assert seen[-1] == (len(found["com"]), 1.0) and [f for f, _ in seen] == sorted(f for f, _ in seen)


def test_workers_with_other_directories(threads, monkeypatch):
    """Workers that do not have the caller's folder send the files of their shards."""
    part = _clients.part
    monkeypatch.setattr(_clients, "part", lambda f, o, s, folder, *rest: part(f, o, s, "/none", *rest))
    same(md.extract(*FILES, client=threads), md.extract(*FILES))


def test_shards_are_kept(client, tmp_path):
    found = md.extract(*FILES, client=client, shards=tmp_path)
    paths = sorted(tmp_path.glob("*-of-*.npz"))
    times = [os.stat(path).st_mtime_ns for path in paths]
    paths[1].unlink()
    same(md.extract(*FILES, client=client, shards=tmp_path), found)
    same(md.merge(tmp_path), found)
    assert [os.stat(p).st_mtime_ns == t for p, t in zip(paths, times)] == \
        [i != 1 for i in range(len(paths))]
    assert not list(tmp_path.glob(".collet-*"))


def test_workers_are_killed(dask):
    kills = []

    def kill(_, fraction):
        if fraction > 0.2 * (len(kills) + 1) and len(kills) < 2:
            kills.append(next(iter(dask.run(os.getpid, on_error="ignore").values())))
            os.kill(kills[-1], signal.SIGKILL)

    same(md.extract(*WATER, client=dask, each="residue", keys="com", progress=kill),
         md.extract(*WATER, each="residue", keys="com"))
    assert len(kills) == 2


def test_errors(client, tmp_path):
    with pytest.raises(collet.FileError, match="none.gro"):
        md.extract("none.gro", FILES[1], client=client)
    with pytest.raises(collet.InvalidError, match="axis"):
        md.extract(*FILES, client=client, axis=(0, 0, 0))
    with pytest.raises(TypeError, match="cannot read the frames of a Frames"):
        md.extract(md.Frames(np.ones((2, 3, 3))), client=client)
    cut = tmp_path / "cut.trr"
    cut.write_bytes(FILES[1].read_bytes()[:-100])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = md.extract(FILES[0], cut, client=client)
        there = [str(w.message) for w in caught]
        caught.clear()
        same(found, md.extract(FILES[0], cut))
        assert [str(w.message) for w in caught] == there and there
    assert caught[0].filename == __file__


# md.extract(shard=) and md.merge: merged parts equal the whole, bit for bit.


PROGRAM = pathlib.Path(_plugins.tool("collet-extract")[0])


@pytest.mark.parametrize("options", [
    {}, {"each": "residue", "keys": "com,axes", "start": 1, "step": 3},
    {"masses": np.linspace(1, 12, 280), "pbc": "nojump"}])
def test_parts_are_merged_to_the_whole(tmp_path, options):
    whole = md.extract(*FILES, **options)
    paths = [md.extract(*FILES, **options, shard=(i, 5), shards=tmp_path / "parts")
             for i in (4, 1, 5, 2, 3)]
    assert sorted(paths) == [str(tmp_path / f"parts/{i}-of-5.npz") for i in range(1, 6)]
    same(md.merge(tmp_path / "parts"), whole)
    same(md.merge(paths), whole)
    done = []
    md.merge(paths, progress=lambda frames, fraction: done.append((frames, fraction)))
    assert done[-1] == (len(whole["com"]), 1.0)


def test_parts_of_an_object(tmp_path):
    random = np.random.default_rng(3)
    frames = md.Frames(random.random((10, 4, 3)), names=["CA"] * 4)
    for i in range(3):
        md.extract(frames, keys="com,rmsd", shard=(i + 1, 3), shards=tmp_path)
    same(md.merge(tmp_path, frames), md.extract(frames, keys="com,rmsd"))
    with pytest.raises(collet.InvalidError, match="shards are of a trajectory in memory"):
        md.merge(tmp_path)


@pytest.mark.skipif(not PROGRAM.exists(), reason="collet-extract is not built")
def test_parts_of_the_program(tmp_path):
    for i in (1, 2):
        subprocess.run([PROGRAM, "-q", *FILES, "-o", tmp_path / "out.npz", "--shard", f"{i}/2"],
                       check=True)
    found = md.merge(tmp_path / "out.npz.shards")
    assert found.meta["program"] == "collet-extract"
    expected = md.extract(*FILES)
    assert all(found[key].tobytes() == expected[key].tobytes() for key in expected)


def test_errors_of_shards(tmp_path):
    options = {"keys": "com", "shards": tmp_path}
    path = md.extract(*FILES, shard=(1, 2), **options)
    before = os.stat(path).st_mtime_ns
    assert md.extract(*FILES, shard=(1, 2), **options) == path  # the existing part is kept
    assert os.stat(path).st_mtime_ns == before
    with pytest.raises(collet.NotFoundError, match="shard 2 of 2 is missing"):
        md.merge(tmp_path)
    with pytest.raises(collet.InvalidError, match="is of other work"):
        md.extract(*FILES, shard=(1, 2), **{**options, "keys": "rg"})
    for wrong in {"shard": (1, 2)}, {"shards": tmp_path}, {"shard": (3, 2), "shards": tmp_path}, \
            {"shard": (0, 2), "shards": tmp_path}:
        with pytest.raises(collet.InvalidError):
            md.extract(*FILES, **wrong)
    with pytest.raises(TypeError, match="not a pair of numbers"):
        md.extract(*FILES, shard=3, shards=tmp_path)
    with pytest.raises(collet.InvalidError, match="parts is an empty list"):
        md.merge([])
