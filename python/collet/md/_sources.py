# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_sources.py
"""Other sources of frames for extract: arrays and iterators. Also finds the files of an MDAnalysis universe, if its
frames equal the frames of its files."""

import os
import tempfile
from typing import Any

import numpy as np

from .. import _host
from .._core import InvalidError, ShapeError

_NATIVE = {"XTC", "TRR"}  # readers of MDAnalysis that return the same frames as Collet's
_TOPOLOGIES = {".gro", ".psf"}


class Frames:
    """Frames of a program, in NumPy arrays, for extract.

    positions : (frames, atoms, 3), or (atoms, 3) for one frame, in nm; float32 or float64, other numbers become float64
    masses : (atoms,), in amu; None: guessed from the atoms' names
    velocities, forces : like positions, in nm/ps and kJ/mol/nm; None: there are none
    box : (3, 3), the vectors of the periodic box as rows, nm; or (frames, 3, 3); or (3,) and
        (frames, 3), the edges of a rectangular box. (3, 3) always means vectors, even for three frames. None: no box
    times : (frames,), in ps; None: there are none
    names, residue_names : one for each atom, for selections; None: all ""
    residue_ids : one for each atom; None: all 0
    chains : one for each atom; None: there are none
    extract reads the arrays while it works. float32 and float64 arrays are not copied. Raises ShapeError,
    DtypeError and TypeError.

    >>> frames = collet.md.Frames(np.zeros((10, 2, 3)), masses=[1, 2])
    >>> collet.md.extract(frames, keys="com")["com"].shape
    (10, 3)"""

    def __init__(self, positions: Any, masses: Any = None, *, velocities: Any = None, forces: Any = None,
                 box: Any = None, times: Any = None, names: Any = None, residue_names: Any = None,
                 residue_ids: Any = None, chains: Any = None) -> None:
        given = [(name, None if values is None else _host.array(values, None, f"Frames: {name}"))
                 for name, values in (("positions", positions), ("velocities", velocities),
                                      ("forces", forces))]
        if given[0][1] is None or given[0][1].ndim not in (2, 3) or given[0][1].shape[-1] != 3 or \
                not given[0][1].size:
            raise ShapeError(f"Frames: positions are {np.shape(positions)}; they must be frames x atoms x "
                             "3, or atoms x 3")
        shape = given[0][1].shape
        single = all(a is None or a.dtype == np.float32 for _, a in given)
        dtype = np.float32 if single else np.float64
        self._fields = []
        for name, values in given:
            if values is not None and values.shape != shape:
                raise ShapeError(f"Frames: {name} are {values.shape}, positions {shape}")
            self._fields.append(None if values is None else
                                _host.array(values, dtype, f"Frames: {name}").reshape(-1, shape[-2], 3))
        frames, atoms = self._fields[0].shape[:2]
        self._box = _boxes(box, frames)
        self._times = None if times is None else _numbers(times, frames, "times")
        self.masses = None if masses is None else _numbers(masses, atoms, "masses").tolist()
        ids = None if residue_ids is None else _numbers(residue_ids, atoms, "residue_ids", np.int64)
        self.source = ("Frames", "float32" if single else "float64", frames, _texts(names, atoms, "names"),
                       _texts(residue_names, atoms, "residue_names"), None,
                       None if chains is None else _texts(chains, atoms, "chains"),
                       [0] * atoms if ids is None else ids.tolist(), None, None, None,
                       self._fields[1] is not None, self._fields[2] is not None,
                       self._times is not None, self._read, None)

    def _read(self, frame, positions, velocities, forces, box):
        for values, place in zip(self._fields, (positions, velocities, forces)):
            if place is not None:
                place[:] = values[frame]
        box[:] = 0 if self._box is None else self._box[frame if len(self._box) > 1 else 0]
        return 0.0 if self._times is None else float(self._times[frame])

    @staticmethod
    def call(function):
        """function()"""
        return function()


def _numbers(values, length, name, dtype=np.float64):
    found = _host.array(values, dtype, f"Frames: {name}")
    if found.shape != (length,):
        raise ShapeError(f"Frames: {name} are {found.shape}; they must be ({length},)")
    return found


def _texts(values, length, name):
    if values is None:
        return [""] * length
    found = list(map(str, values))
    if isinstance(values, str) or len(found) != length:
        raise ShapeError(f"Frames: {name} are {len(found)}; they must be {length}, one for each atom")
    return found


def _boxes(box, frames):
    """(frames or 1, 3, 3)"""
    if box is None:
        return None
    found = _host.array(box, np.float64, "Frames: box")
    if found.shape == (3, 3):
        return found[None]
    if found.shape == (frames, 3) or found.shape == (3,):
        return found.reshape(-1, 3, 1) * np.eye(3)
    if found.shape == (frames, 3, 3):
        return found
    raise ShapeError(f"Frames: box is {found.shape}; it must be (3, 3), (3,), ({frames}, 3, 3) or "
                     f"({frames}, 3)")


class Chunks:
    """Frames of an iterator of mdtraj.Trajectory, such as mdtraj.iterload's. Positions are first written to
    a temporary file, because extract needs the number of frames before it computes the first.

    source_of(trajectory): the object with `source` and `masses` that extract reads for one trajectory"""

    def __init__(self, iterator, source_of):
        self._file = tempfile.TemporaryFile()  # pylint: disable=consider-using-with
        boxes, times, first = [], [], None
        for chunk in iterator:
            if not hasattr(chunk, "xyz") or not hasattr(chunk, "topology"):
                raise TypeError("extract: an iterator must give mdtraj.Trajectory, not "
                                f"{type(chunk).__name__}")
            made = source_of(chunk)
            if first is None:
                first = made
            elif len(made.source[3]) != len(first.source[3]):
                raise ShapeError(f"extract: the iterator gives {len(made.source[3])} atoms after "
                                 f"{len(first.source[3])}")
            np.ascontiguousarray(chunk.xyz, np.float32).tofile(self._file)
            vectors = getattr(chunk, "unitcell_vectors", None)
            boxes.append(np.zeros((len(chunk.xyz), 3, 3)) if vectors is None else vectors)
            times.append(np.asarray(chunk.time, np.float64))
        if first is None:
            raise InvalidError("extract: the iterator gives no trajectory, or was used before")
        self._boxes, self._times = np.concatenate(boxes), np.concatenate(times)
        self._shape = (len(first.source[3]), 3)
        self._file.flush()
        self.masses = first.masses
        title, dtype, _, *middle, _, _ = first.source
        self.source = (f"{title} in parts", dtype, len(self._times), *middle, self._read, None)

    def _read(self, frame, positions, velocities, forces, box):
        del velocities, forces
        count = int(np.prod(self._shape))
        self._file.seek(4 * count * frame)
        positions[:] = np.fromfile(self._file, np.float32, count).reshape(self._shape)
        box[:] = self._boxes[frame]
        return float(self._times[frame])

    @staticmethod
    def call(function):
        """function()"""
        return function()


def files_of(atoms):
    """Paths of the topology and the trajectory of an MDAnalysis AtomGroup, if it contains all atoms of
    these files, and no transformation changes its frames. Otherwise None."""
    universe = atoms.universe
    reader = universe.trajectory
    formats = getattr(reader, "format", None)
    formats = {formats} if isinstance(formats, str) else set(formats or ())
    top, traj = getattr(universe, "filename", None), getattr(reader, "filename", None)
    if not formats & _NATIVE or not isinstance(top, (str, os.PathLike)) or \
            not isinstance(traj, (str, os.PathLike)):
        return None
    suffix = os.path.splitext(os.fspath(top))[1].lower()
    bonds = len(getattr(atoms, "bonds", ()))  # bonds may have been guessed or added
    changed = reader.transformations or getattr(reader, "_ts_kwargs", None) or \
        getattr(reader, "_auxs", None)
    whole = len(atoms) == len(universe.atoms) and \
        np.array_equal(atoms.indices, np.arange(len(atoms)))
    if changed or not whole or suffix not in _TOPOLOGIES or (bonds and suffix != ".psf") or \
            not os.path.isfile(top) or not os.path.isfile(traj):
        return None
    return os.fspath(top), os.fspath(traj)
