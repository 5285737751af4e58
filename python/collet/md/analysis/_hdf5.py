# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_results_files.py
"""Results in HDF5. A separate process reads them, because libhdf5 may crash or hang on a damaged file.

As a program: _hdf5.py FILE PATHS, where PATHS is sys.path as JSON, copies the arrays to standard output as .npz."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

_SECONDS = 10  # seconds of processor time, plus one second for each MiB


class Damaged(Exception):
    """The file is damaged; the text says how."""


def _copy(path: str, target: Any) -> None:
    """Copies all arrays, and the attribute meta as the array "/meta". No array of the file can have this name."""
    import h5py  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import numpy as np
    with h5py.File(path) as file:
        found = {key: values.asstr()[...].astype(str) if values.dtype.kind == "O" else values[...]
                 for key, values in file.items() if isinstance(values, h5py.Dataset)}
        meta = file.attrs.get("meta")
    if meta is not None:
        found["/meta"] = np.array(str(meta))
    np.savez(target, allow_pickle=False, **found)


def read(path: str) -> Any:
    """Returns an open .npz file, which the caller closes. Raises Damaged, or OSError as open() does."""
    target = tempfile.TemporaryFile(prefix="collet-")
    try:
        with open(path, "rb"):
            pass
        if not sys.executable or getattr(sys, "frozen", False):
            _copy(path, target)  # in this process: a frozen application has no Python to start
        else:
            made = subprocess.run([sys.executable, __file__, path, json.dumps(sys.path)],
                                  stdin=subprocess.DEVNULL, stdout=target, stderr=subprocess.PIPE,
                                  check=False)
            if made.returncode < 0:
                raise Damaged("libhdf5 crashes, or does not end, while it reads the arrays")
            if made.returncode:
                lines = made.stderr.decode(errors="replace").strip().splitlines()
                raise Damaged(lines[-1] if lines else f"the reader ended with {made.returncode}")
        target.seek(0)
        return target
    except BaseException:
        target.close()
        raise


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[2])
    import resource
    _limit = _SECONDS + (os.stat(sys.argv[1]).st_size >> 20)
    resource.setrlimit(resource.RLIMIT_CPU, (_limit, _limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _copy(sys.argv[1], sys.stdout.buffer)
