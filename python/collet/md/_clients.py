# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_md_clients.py
"""extract(client=): the parts of the frames on workers."""

import contextlib
import os
import pathlib
import shutil
import tempfile
import time

from .. import _core, _jobs

_PARTS = 4  # shards for each worker: with several, a slow worker causes little delay


@contextlib.contextmanager
def _folder():
    """A temporary directory. Removing it is retried, because a worker with an abandoned task may still write there
    for a moment."""
    folder = tempfile.mkdtemp(prefix="collet-")
    try:
        yield folder
    finally:
        for _ in range(100):
            try:
                shutil.rmtree(folder)
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.05)


def _compute(files, options, shard, shards, mark=None):
    """Computes a shard. Returns the path of its file and the number of its frames. Raises CancelledError when the file
    `mark` has been removed."""
    from ._extract import extract  # imported here, because it imports this module
    frames = 0

    def progress(done, _):
        nonlocal frames
        frames = done
        _jobs.check()
        if mark and not os.path.exists(mark):
            raise _core.CancelledError("the call has ended")

    return extract(*files, **options, progress=progress, shard=shard, shards=shards), frames


def part(files, options, shard, folder, mark, is_temporary):
    """Computes a shard on a worker. Returns the name of its file and the number of its frames. If the
    worker cannot access the caller's folder, where the file `mark` is, also returns the bytes of the shard's file. If
    the caller has ended meanwhile, removes its temporary folder."""
    mark = os.path.join(folder, mark)
    if os.path.exists(mark):
        try:
            path, frames = _compute(files, options, shard, folder, mark)
        finally:
            if is_temporary and not os.path.exists(mark):
                shutil.rmtree(folder, ignore_errors=True)
        return os.path.basename(path), frames, None
    with tempfile.TemporaryDirectory(prefix="collet-") as own:
        path, frames = _compute(files, options, shard, own)
        return os.path.basename(path), frames, pathlib.Path(path).read_bytes()


@contextlib.contextmanager
def parts(client, files, options, shards, progress):
    """Lets workers compute all shards. Returns the paths of their files, which are in the directory
    `shards`, or in a temporary one if that is None. Files of the same work that exist there are kept.

    progress: None, or a function that is called with (frames, fraction)"""
    count = _jobs.slots(client) * (1 if options["pbc"] == "nojump" else _PARTS)
    with contextlib.ExitStack() as stack:
        if shards is None:
            folder = stack.enter_context(_folder())
        else:
            folder = os.path.abspath(shards)
            os.makedirs(folder, exist_ok=True)
        mark = stack.enter_context(tempfile.NamedTemporaryFile(dir=folder, prefix=".collet-"))
        tasks = [_jobs.Task(f"frames of shard {i} of {count}", part,
                            (files, options, (i, count), folder, os.path.basename(mark.name), shards is None))
                 for i in range(1, count + 1)]
        paths, frames = [], 0
        with _jobs.Run(client, tasks) as run:
            run.report = progress and (lambda done: progress(frames, done / count))
            for _, found, error, _ in run:
                if error:
                    raise error
                name, computed, data = found
                frames += computed
                paths.append(os.path.join(folder, name))
                if data is None and not os.path.exists(paths[-1]):
                    raise _core.FileError(f"{paths[-1]}: a worker wrote it, but it is not here: is the "
                                          "directory on a file system of all machines?")
                if data is not None:
                    pathlib.Path(paths[-1]).write_bytes(data)
        if progress:
            progress(frames, 1.0)
        yield paths
