# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_results_files.py
"""Results files of collet-extract in all formats, .xvg of GROMACS, and selections of their atoms by names."""

from __future__ import annotations

import csv
import difflib
import importlib.util
import json
import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _trajectory, md
from ..._core import Error, FileError, FormatError, InvalidError
from .._save import components
from . import _hdf5

_VARYING = re.compile(r"\b(ex)?within\b", re.IGNORECASE)


# ---- Forms ---------------------------------------------------------------------------------------


def _bodies_of(first: list[str], labels: list[str]) -> int:
    """Rows of a frame."""
    changed = next((i for i, time in enumerate(first) if time != first[0]), len(first))
    again = labels.index(labels[0], 1) if labels.count(labels[0]) > 1 else len(labels)
    for bodies in (changed, again):
        if len(labels) % bodies == 0 and labels == labels[:bodies] * (len(labels) // bodies):
            return bodies
    raise ValueError("its frames do not have the same bodies")


def _csv(path: str) -> dict[str, Any]:
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return _table(names, rows)


def _columns() -> dict[str, list[str]]:
    """The columns of each key, without the units."""
    return {key: [f"{key}_{c}" if c else key for c in components(key, int(np.prod(shape)))]
            for key, _, _, shape in _trajectory.quantities()}


def _legend(text: str, known: set[str]) -> tuple[str, str]:
    """Returns the body and the column that a legend such as "SOL 1 com x (nm)" names. For another program's
    "Rg\\sX\\N", returns "" and "Rg_X"."""
    plain = re.sub(r"\\s(.*?)\\N", r" \1", text).partition(" (")[0].strip()
    words = re.sub(r"\\.", "", plain).split()
    for first in range(len(words)):
        if "_".join(words[first:]) in known:
            return " ".join(words[:first]), "_".join(words[first:])
    return "", "_".join(words)


_PS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "us": 1e6, "\\xm\\f{}s": 1e6, "ms": 1e9, "s": 1e12}


def _xvg(path: str) -> dict[str, Any]:
    """A file of collet-extract or GROMACS: one set of columns, whose names are its legends."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    head = " ".join(line for line in lines if line.startswith("@"))
    found = re.findall(r'@\s*(s\d+ legend|[xy]axis\s+label)\s+"((?:\\"|[^"])*)"', head)
    texts: dict[str, str] = {" ".join(what.split()): text for what, text in found}
    rows = [line.split() for line in lines if line and line[0] not in "#@&"]
    if not rows:
        raise ValueError("it has no rows")
    axis = texts.get("xaxis label", "")
    wide = len(rows[0]) - 1
    known = {column for columns in _columns().values() for column in columns}
    legends = [_legend(texts.get(f"s{i} legend", texts.get("yaxis label", "") if wide == 1 else f"column {i + 1}"), known)
               for i in range(wide)]
    bodies = list(dict.fromkeys(body for body, _ in legends))
    names = list(dict.fromkeys(column for _, column in legends))
    if [(body, name) for body in bodies for name in names] != legends:
        raise ValueError("its legends do not name the same columns for each body, or two legends are equal")
    first, factor = "row", 1.0
    if re.match("time", axis, re.IGNORECASE):
        unit = re.search(r"\((.*)\)", axis)
        first, factor = "time_ps", _PS.get(unit[1] if unit else "ps", 0.0)
        if not factor:
            raise ValueError(f"its times are in '{axis}', not in {', '.join(_PS)}")
    if factor != 1:
        rows = [[repr(factor * float(row[0])), *row[1:]] for row in rows]
    if bodies == [""]:
        return _table([first, *names], rows)
    n = len(names)
    return _table([first, "body", *names],
                  [[row[0], body, *row[1 + n * i:1 + n * (i + 1)]] for row in rows for i, body in enumerate(bodies)])


def _table(names: list[str], rows: list[list[str]]) -> dict[str, Any]:
    """The arrays of a table with the columns "time_ps (ps)", "body", "com_x (nm)" and so on."""
    plain = [name.partition(" (")[0] for name in names]
    if plain[0] not in ("time_ps", "row"):
        raise ValueError(f"its first column is '{names[0]}', neither time_ps nor row")
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(names)), None)
    if not rows or wrong is not None:
        raise ValueError("it has no rows" if wrong is None else
                         f"line {wrong + 2} has {len(rows[wrong])} columns, and there are {len(names)}")
    found: dict[str, Any] = {}
    bodies: tuple[int, ...] = ()
    if "body" in plain:
        labels = [row[1] for row in rows]
        bodies = (_bodies_of([row[0] for row in rows], labels),)
        found["bodies"] = np.array(labels[:bodies[0]])
        plain.remove("body")
        rows = [row[:1] + row[2:] for row in rows]
    numbers = np.array([list(map(float, row)) for row in rows]).reshape(-1, *bodies, len(plain))
    found.update((name, numbers[..., i]) for i, name in enumerate(plain) if i)
    if plain[0] == "time_ps":
        found["time_ps"] = numbers.reshape(len(numbers), -1)[:, 0]
    shapes = {key: shape for key, _, _, shape in _trajectory.quantities()}
    for key, columns in _columns().items():
        shape = shapes[key]
        if key != "time_ps" and set(columns) <= set(plain):
            parts = [found.pop(c) for c in columns] if shape else [found[key]]
            found[key] = np.stack(parts, axis=-1).reshape(*parts[0].shape, *shape)
    return found


_TEXTS = ("atoms", "bodies", "meta")  # the arrays of texts
_KINDS = {"U": "texts", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations",
          "V": "records", "O": "objects"}


class Results:
    """Arrays of a file, or of a directory of .npy files. Used by `with`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open: Any = None
        self._meta: str | None = None
        self._arrays: Any = self._guarded(self._read)
        self._names = list(self._arrays)

    def _read(self) -> Any:
        if os.path.isdir(self.path):
            self._meta = self._text(os.path.join(self.path, "meta.json"))
            return _Folder(self.path)
        with open(self.path, "rb") as file:
            start = file.read(4)
        if start.startswith(b"PK"):
            self._meta = self._text(os.path.splitext(self.path)[0] + ".meta.json")
            self._open = np.load(self.path, allow_pickle=False)
            return self._open
        if start == b"\x89HDF":
            if importlib.util.find_spec("h5py") is None:
                raise InvalidError(f"{self.path}: .h5 needs h5py: pip install h5py")
            with _hdf5.read(self.path) as copied:
                arrays = dict(np.load(copied, allow_pickle=False))
            self._meta = str(arrays.pop("/meta", ""))
            return arrays
        if self.path.endswith(".csv"):
            self._meta = self._text(self.path + ".meta.json")
            return _csv(self.path)
        if self.path.endswith(".xvg"):
            self._meta = self._text(self.path + ".meta.json")
            return _xvg(self.path)
        raise ValueError("only .npz, .h5, .csv, .xvg and directories of .npy files are read: run collet-extract "
                         "with -o NAME.npz")

    @staticmethod
    def _text(path: str) -> str | None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, ValueError):
            return None  # results without meta data, of another program

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *unused: object) -> None:
        if self._open is not None:
            self._open.close()

    def __contains__(self, key: str) -> bool:
        return key in self._names

    def __getitem__(self, key: str) -> Any:
        if key not in self._names:
            near = difflib.get_close_matches(key, self._names, 1)
            raise InvalidError(f"{self.path} has no array '{key}'; " + (
                f"the nearest is {near[0]}" if near else f"it has {', '.join(self._names)}") + (
                "; run collet-extract with --keys positions" if key == "positions" else ""))
        found = self._guarded(lambda: self._arrays[key])
        if found.dtype.kind not in ("U" if key in _TEXTS else "biuf"):
            raise self._damaged(f"its array {key} has {_KINDS.get(found.dtype.kind, 'real numbers')}, not "
                                f"{'texts' if key in _TEXTS else 'real numbers'}")
        return found

    @property
    def jumping(self) -> str | None:
        """The --pbc option of collet-extract from the meta data, if there was a box and positions jump
        across it with this option."""
        try:
            meta = json.loads(self._meta or "")
            box = meta["periodic_box"]
            boxed = box.get("frames_without_box", 0) < meta["frames"]["count"]
            return str(box["pbc"]) if boxed and box["pbc"] != "nojump" else None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def _guarded(self, load: Callable[[], Any]) -> Any:
        """Returns load(); raises FileError or FormatError instead of other exceptions. load() only reads a file, and
        zipfile, NumPy and csv raise many kinds of exceptions for damaged files."""
        try:
            return load()
        except (Error, MemoryError):
            raise
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        except Exception as error:  # pylint: disable=broad-exception-caught
            raise self._damaged(error) from None

    def _damaged(self, why: object) -> FormatError:
        return FormatError(f"{self.path} is not a results file of collet-extract: {why}")


class _Folder(dict[str, Any]):
    """The arrays of .npy files by key, each loaded when it is used."""

    def __init__(self, path: str) -> None:
        super().__init__((name[:-4], os.path.join(path, name)) for name in sorted(os.listdir(path))
                         if name.endswith(".npy"))

    def __getitem__(self, key: str) -> Any:
        return np.load(super().__getitem__(key), allow_pickle=False)


# ---- Atoms ---------------------------------------------------------------------------------------


def _parts(label: str) -> tuple[str, str, str, str]:
    """The name, residue, residue number and chain of "CA of ALA 3 of chain A"."""
    name, _, residue = label.partition(" of ")
    residue, _, chain = residue.partition(" of ")
    residue, _, number = residue.rpartition(" ")
    return name, residue, number, chain.rpartition(" ")[2]


def atoms_of(text: str, labels: Any) -> Any:
    """The indices of the atoms that a text selects: ranges such as "0:50,60", counted from 0, without their ends; or
    a selection in collet-extract's language by the atoms' `labels`, such as "name CA and resid 2:9"."""
    if re.match(r"[\d\s]", text):
        try:
            found: list[int] = []
            for part in text.split(","):
                first, colon, last = part.partition(":")
                found += range(int(first), int(last)) if colon else [int(first)]
        except ValueError:
            raise InvalidError(f"'{text}' is not a list of atoms such as 0:50,60 (from 0 to 49, and 60)") from None
        return np.array(found, np.int64)
    if labels is None:
        raise InvalidError(f"'{text}' selects atoms by names, which the file does not have: run "
                           "collet-extract with --keys positions, or give indices such as 0:50,60")
    if _VARYING.search(text):
        raise InvalidError(f"'{text}' selects other atoms in other frames; all frames need the same")
    names, residues, numbers, chains = zip(*map(_parts, labels))
    places = np.zeros((len(labels), 3))
    places[:, 0] = np.arange(len(labels))
    try:
        ids = [int(n if n[-1:].isdigit() else n[:-1]) for n in numbers]
    except ValueError:
        raise InvalidError("the array atoms of the file has texts that are not like 'CA of ALA 3': give indices "
                           "such as 0:50,60") from None
    frames = md.Frames(places, np.ones(len(labels)), names=names, residue_names=residues,
                       residue_ids=ids, chains=chains if any(chains) else None)
    frames.source = ("the file", *frames.source[1:])  # as messages name it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reason, for example that the frames have no indices of atoms
        chosen = md.extract(frames, selection=text, keys="positions", pbc="none")
    return chosen["positions"][0, :, 0].astype(np.int64)


def vectors_of(positions: Any, labels: Any, first: str, last: str) -> tuple[Any, list[str]]:
    """Returns the vectors between two atoms of each residue that has both, (frames, residues, 3), and the
    names of these residues. positions: (frames, atoms, 3)"""
    if positions.ndim != 3 or labels is None or len(labels) != positions.shape[1]:
        raise InvalidError("--vector needs positions with the names of their atoms: run collet-extract "
                           "with --keys positions, and give --key positions")
    places: dict[str, dict[str, int]] = {}
    for i, label in enumerate(labels):
        name, _, residue = str(label).partition(" of ")
        places.setdefault(residue, {}).setdefault(name, i)
    both = [(residue, atoms[first], atoms[last]) for residue, atoms in places.items()
            if first in atoms and last in atoms]
    if not both:
        known = sorted({name for atoms in places.values() for name in atoms})
        raise InvalidError(f"no residue has atoms {first} and {last}; names of atoms are "
                           f"{', '.join(known[:20])}{', ...' if len(known) > 20 else ''}")
    residues, heads, tails = zip(*both)
    return positions[:, list(tails)] - positions[:, list(heads)], list(residues)
