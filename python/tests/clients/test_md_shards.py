# SPDX-License-Identifier: Apache-2.0
"""md.extract(shard=) and md.merge: merged parts equal the whole, bit for bit."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

from agree import FILES, same

import collet
from collet import _plugins, md

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


def test_errors(tmp_path):
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
