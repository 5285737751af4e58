# SPDX-License-Identifier: Apache-2.0
"""md.extract(client=): the results of one call, bit for bit, from workers."""

import os
import signal
import warnings

import numpy as np
import pytest

from agree import FILES, WATER, same

import collet
from collet import md
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
