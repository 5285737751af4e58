# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_results.py
"""Files of results, in the formats that collet-extract writes."""

import io
import json
import os

import numpy as np

from .. import _core
from ._table import labelled, table, write

_TENSOR = [a + b for a in "xyz" for b in "xyz"]
_COMPONENTS = {"moments": list("123"), "euler_zyz": ["phi", "theta", "psi"],
               "axes": [a + b for a in "xyz" for b in "123"]}
_COMPONENTS["rotation_matrices"] = _COMPONENTS["axes"]


def components(key: str, width: int) -> list[str]:
    """The names of the numbers in a row; "" if a row is one number."""
    return _COMPONENTS.get(key) or {1: [""], 3: list("xyz"), 9: _TENSOR}[width]


def _table(results, quantities, suffix):
    """A table of the time, or else the row numbers, and the values of all keys. A .csv file has one line for
    each body."""
    if "positions" in results:
        raise _core.InvalidError("save: a table has no columns for positions: give the file the ending "
                                 ".npz or .h5, or remove the key positions")
    keys = [key for key in results if key != "time_ps"]
    units = {quantities[key].unit for key in keys}
    count, bodies = len(next(iter(results.values()))), results.bodies or [""]
    first = results.get("time_ps", np.arange(count)).tolist()
    parts = [results[key].reshape(count, len(bodies), -1) for key in keys]
    rows = np.concatenate([np.empty((count, len(bodies), 0)), *parts], axis=2)
    timed, csv = "time_ps" in results, suffix == ".csv"
    names = [labelled(f"{key}{'_' if csv else ' '}{c}" if c else key, quantities[key].unit)
             for key, part in zip(keys, parts) for c in components(key, part.shape[2])]
    if csv:
        label = results.bodies is not None
        return table(suffix, ["time_ps (ps)" if timed else "row", *["body"] * label, *names],
                     ([time, *[body] * label, *numbers] for time, row in zip(first, rows.tolist())
                      for body, numbers in zip(bodies, row)))
    unit = units.pop() if len(units) == 1 else ""
    return table(suffix, ["Time (ps)" if timed else "Row",
                          *(f"{body} {name}".lstrip() for body in bodies for name in names)],
                 ([time, *row] for time, row in zip(first, rows.reshape(count, -1).tolist())),
                 notes=[f"Created by collet.md {_core.version}"],
                 y=labelled(keys[0] if len(keys) == 1 else "", unit).lstrip())


def _labels(results):
    return [(key, texts) for key, texts in (("bodies", results.bodies), ("atoms", results.atoms))
            if texts is not None]


def _npz(results, *_):
    file = io.BytesIO()
    np.savez(file, **results, **{key: np.array(texts) for key, texts in _labels(results)})
    return file.getvalue()


def _hdf5(results, quantities, _):
    try:
        import h5py
    except ImportError:
        raise _core.InvalidError("save: .h5 needs h5py: pip install h5py") from None
    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        for key, values in results.items():
            file[key] = values
            file[key].attrs["unit"] = quantities[key].unit
            file[key].attrs["meaning"] = quantities[key].meaning
        for key, texts in _labels(results):
            file[key] = list(texts)
        if results.meta is not None:
            file.attrs["meta"] = json.dumps(results.meta)
    return made.getvalue()


_FORMS = {".npz": _npz, ".csv": _table, ".xvg": _table, ".h5": _hdf5}


def save(results, path, force, quantities):
    """Writes a file. If the format cannot store the meta data, writes them to a second file."""
    path = os.fspath(path)
    stem, suffix = os.path.splitext(path)
    if suffix not in _FORMS:
        raise _core.InvalidError(f"save: the name {path} does not name a file format: let it end in "
                                 f"{', '.join(_FORMS)}")
    files = [(path, _FORMS[suffix](results, quantities, suffix))]
    if results.meta is not None and suffix != ".h5":
        files.append((f"{stem if suffix == '.npz' else path}.meta.json",
                      (json.dumps(results.meta, indent=2) + "\n").encode()))
    write(files, force)
