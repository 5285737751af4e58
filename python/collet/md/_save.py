# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_md_results.py
"""Files of results, in the forms that collet-extract writes."""

import io
import json
import os

import numpy as np

from .. import _core

_TENSOR = [a + b for a in "xyz" for b in "xyz"]
_COMPONENTS = {"moments": list("123"), "euler_zyz": ["phi", "theta", "psi"],
               "axes": [a + b for a in "xyz" for b in "123"]}
_COMPONENTS["rotation_matrices"] = _COMPONENTS["axes"]


def components(key: str, width: int) -> list[str]:
    """The names of the numbers of a row; "" where it is one number."""
    return _COMPONENTS.get(key) or {1: [""], 3: list("xyz"), 9: _TENSOR}[width]


def labelled(name, unit):
    """A name with its unit, unless that is 1."""
    return name if unit in ("", "1") else f"{name} ({unit})"


def _columns(results, quantities, joint):
    """The time, or the numbers of the rows; names of columns; and an array frames x bodies x columns."""
    count = len(next(iter(results.values())))
    first = results.get("time_ps", np.arange(count))
    names, parts = [], []
    for key, values in results.items():
        if key == "time_ps":
            continue
        parts.append(values.reshape(count, len(results.bodies or "1"), -1))
        names += [labelled(f"{key}{joint}{c}" if c else key, quantities[key].unit)
                  for c in components(key, parts[-1].shape[2])]
    if not parts:
        return first, names, np.empty((count, 1, 0))
    return first, names, np.concatenate(parts, axis=2)


def _csv(results, quantities):
    first, names, rows = _columns(results, quantities, "_")
    labels = [None] if results.bodies is None else [
        '"' + label.replace('"', '""') + '"' if any(c in label for c in ',"\r\n') else label
        for label in results.bodies]
    start = ["time_ps (ps)" if "time_ps" in results else "row"]
    yield ",".join(start + ["body"] * (results.bodies is not None) + names)
    for time, row in zip(first.tolist(), rows):
        for label, numbers in zip(labels, row.tolist()):
            yield ",".join([repr(time)] + [label] * (label is not None) + list(map(repr, numbers)))


def _xvg(results, quantities):
    first, names, rows = _columns(results, quantities, " ")
    timed = "time_ps" in results
    legends = [" ".join(filter(None, (label, name))).replace('"', "").replace("\\", "")
               for label in results.bodies or [""] for name in names]
    keys = [key for key in results if key != "time_ps"]
    units = {quantities[key].unit for key in keys}
    unit = units.pop() if len(units) == 1 else ""
    label = labelled(keys[0], unit) if len(keys) == 1 else f"({unit})" if unit not in ("", "1") else ""
    yield f"# Created by collet.md {_core.version}"
    yield f'@    xaxis  label "{"Time (ps)" if timed else "Row"}"'
    yield f'@    yaxis  label "{label}"'
    yield ("@TYPE xy\n@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n"
           "@ legend loctype view\n@ legend 0.78, 0.8\n@ legend length 2")
    for i, legend in enumerate(legends):
        yield f'@ s{i} legend "{legend}"'
    for time, row in zip(first.tolist(), rows.reshape(len(rows), -1).tolist()):
        yield " ".join(map(repr, [time, *row]))


def _text(lines):
    return ("\n".join(lines) + "\n").encode()


def _labels(results):
    return [(key, texts) for key, texts in (("bodies", results.bodies), ("atoms", results.atoms))
            if texts is not None]


def _npz(results, _):
    file = io.BytesIO()
    np.savez(file, **results, **{key: np.array(texts) for key, texts in _labels(results)})
    return file.getvalue()


def _hdf5(results, quantities):
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


_FORMS = {".npz": _npz, ".csv": lambda *args: _text(_csv(*args)),
          ".xvg": lambda *args: _text(_xvg(*args)), ".h5": _hdf5}


def publish(path, content, force):
    """Writes a file under another name, and gives it its name when it is complete."""
    part = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    try:
        with open(part, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if force:
            os.replace(part, path)
        else:
            os.link(part, path)
    except FileExistsError:
        raise _core.FileError(f"{path} already exists: choose another name, or replace it with "
                              "force=True") from None
    except OSError as error:
        raise _core.FileError(f"{path}: {error.strerror or error}") from None
    finally:
        if os.path.lexists(part):
            os.unlink(part)


def save(results, path, force, quantities):
    """Writes a file, and next to it the meta data where the form has no place for them."""
    path = os.fspath(path)
    stem, suffix = os.path.splitext(path)
    if suffix not in _FORMS:
        raise _core.InvalidError(f"save: the name {path} does not say the form of the file: let it end "
                                 f"in {', '.join(_FORMS)}")
    if "positions" in results and suffix in (".csv", ".xvg"):
        raise _core.InvalidError(f"save: a table has no columns for positions: give {path} the ending "
                                 ".npz or .h5, or remove the key positions")
    meta = f"{stem if suffix == '.npz' else path}.meta.json"
    described = results.meta is not None and suffix != ".h5"
    content = _FORMS[suffix](results, quantities)
    if not force:
        for name in [path] + [meta] * described:
            if os.path.lexists(name):
                raise _core.FileError(f"{name} already exists: choose another name, or replace it with "
                                      "force=True")
    publish(path, content, force)
    if described:
        publish(meta, (json.dumps(results.meta, indent=2) + "\n").encode(), force)
