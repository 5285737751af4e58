# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_extract.py, python/tests/md/test_md_sources.py
"""The inputs of extract: files, or the atoms and frames of objects of MDAnalysis and mdtraj."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np

from .. import _core, _host, _trajectory
from ._sources import Chunks, Frames, files_of


def _attribute(atoms, name, default):
    """A topology attribute, as a list with an item for each atom; the default if the topology lacks it."""
    found = _optional(atoms, name)
    return [default] * len(atoms) if found is None else found


def _optional(atoms, name):
    """A topology attribute, as a list with an item for each atom; None if the topology lacks it."""
    found = getattr(atoms, name, None)
    return None if found is None else np.asarray(found).tolist()


def bonds_of(atoms):
    """The bonds between atoms of a group of MDAnalysis, as indices (bonds, 2) into the group. None if no
    bonds are known."""
    bonds = getattr(atoms, "bonds", None)
    if bonds is None:
        return None
    places = np.full(len(atoms.universe.atoms), -1)
    places[atoms.indices] = np.arange(len(atoms))
    pairs = places[np.asarray(bonds.indices, np.int64).reshape(-1, 2)]
    return pairs[(pairs >= 0).all(axis=1)]


def _bonds(atoms):
    """The bonds as a flat list of indices, two for each bond; None if no bonds are known."""
    pairs = bonds_of(atoms)
    return None if pairs is None else pairs.ravel().tolist()


def has_times(frame):
    """Whether the file has times. If the file has no times, MDAnalysis invents times, 1 ps per frame, and warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame.time  # pylint: disable=pointless-statement
    return not any("no dt information" in str(w.message) for w in caught)


def _times_of(reader):
    """Returns the times of the frames of an MDAnalysis reader of one or several files. Computes them for each file as
    extract does, because the files store times in single precision. None for other readers."""
    readers = getattr(reader, "readers", [reader])
    if any(type(one).__name__ not in ("XTCReader", "TRRReader", "NCDFReader") for one in readers):
        return None
    try:
        found = np.concatenate([np.frombuffer(_trajectory.times(encoded(one.filename))) for one in readers])
    except _core.Error:
        return None
    return found if len(found) == len(reader) else None


class Universe:
    """The atoms of an MDAnalysis Universe or AtomGroup in all of its frames. For an UpdatingAtomGroup: all
    atoms of its universe; the group's atoms are selected in each frame."""

    def __init__(self, group, each=None):
        self._updating = group if hasattr(group, "is_uptodate") else None
        self._chosen = {}  # by frame: the group's atoms, stored when the frame is read, removed when they are selected
        atoms = (group if self._updating is None else group.universe).atoms
        if not len(atoms):
            raise _core.InvalidError(f"extract: the {type(group).__name__} has no atoms")
        self.each = each
        self._atoms = atoms
        self._trajectory = atoms.universe.trajectory
        reader, now = self._trajectory, self._trajectory.ts
        native = not getattr(reader, "convert_units", True) and reader.units["length"] == "nm"
        self._length = 1.0 if native else 0.1  # the unit of lengths, in nm
        self._timed = has_times(now)
        self._times = _times_of(reader)
        self.masses = _optional(atoms, "masses")
        self.source = ("MDAnalysis universe", "float32", len(reader), _attribute(atoms, "names", ""),
                       _attribute(atoms, "resnames", ""), _optional(atoms, "segids"),
                       _optional(atoms, "chainIDs"), _attribute(atoms, "resids", 0),
                       _optional(atoms, "resindices"), _optional(atoms, "charges"), _bonds(atoms),
                       now.has_velocities, now.has_forces, self._timed, self._read,
                       None if self._updating is None else self._choose)

    def _choose(self, frame):
        marks = np.zeros(len(self._atoms), np.uint8)
        marks[self._chosen.pop(frame)] = 1
        return marks.tobytes()

    def _read(self, frame, positions, velocities, forces, box):
        now = self._trajectory[frame]
        if self._updating is not None:
            self._chosen[frame] = self._updating.indices
        vectors = getattr(now, "triclinic_dimensions", None)
        box[:] = 0 if vectors is None else vectors * self._length
        np.multiply(self._atoms.positions, self._length, out=positions, casting="same_kind")
        if velocities is not None:
            np.multiply(self._atoms.velocities, self._length, out=velocities, casting="same_kind")
        if forces is not None:
            np.divide(self._atoms.forces, self._length, out=forces, casting="same_kind")
        return self._time(frame, float(now.time)) if self._timed else 0.0

    def _time(self, frame, given):
        """The file's time, if the given time is the file's time rounded; else the given time, which an offset or a
        transformation may have changed."""
        exact = given if self._times is None else float(self._times[frame])
        return exact if float(np.float32(exact)) == given else given

    def call(self, function):
        """Calls function(), then moves the universe back to its frame."""
        frame = self._trajectory.frame
        try:
            return function()
        finally:
            self._trajectory[frame]  # pylint: disable=pointless-statement


def _chain(chain):
    """The name of an mdtraj chain. mdtraj before 1.10 does not keep the name that the file has."""
    name = getattr(chain, "chain_id", None)
    return str(chain.index) if name is None else name


class Mdtraj:
    """An mdtraj.Trajectory."""

    def __init__(self, trajectory):
        self._trajectory = trajectory
        self._boxes = getattr(trajectory, "unitcell_vectors", None)
        atoms = list(trajectory.topology.atoms)
        known = all(a.element is not None for a in atoms)
        timed = not getattr(trajectory, "_time_default_to_arange", False)  # else mdtraj invented the times
        self.masses = [float(a.element.mass) for a in atoms] if known else None
        residues = [a.residue for a in atoms]
        bonds = [a.index for bond in trajectory.topology.bonds for a in bond[:2]]
        self.source = ("mdtraj trajectory", "float32", len(trajectory.xyz), [a.name for a in atoms],
                       [r.name for r in residues], [r.segment_id for r in residues],
                       [_chain(r.chain) for r in residues], [int(r.resSeq) for r in residues],
                       [r.index for r in residues], None, bonds or None,
                       False, False, timed, self._read, None)

    def _read(self, frame, positions, velocities, forces, box):
        del velocities, forces
        positions[:] = self._trajectory.xyz[frame]
        box[:] = 0 if self._boxes is None else self._boxes[frame]
        return float(self._trajectory.time[frame])

    @staticmethod
    def call(function):
        """function()"""
        return function()


def encoded(traj, name="traj", what="the path of a trajectory"):
    """One path or several, as a tuple."""
    several = (traj,) if isinstance(traj, (str, bytes, os.PathLike)) else tuple(traj)
    if not several:
        raise _core.InvalidError(f"extract: {name} is an empty list; give {what}")
    return tuple(map(os.fsencode, several))


class Files:
    """A topology and a trajectory in files."""

    source = None
    call = staticmethod(lambda function: function())

    def __init__(self, top, traj, masses=None):
        self.files, self.masses = [os.fsencode(top), encoded(traj)], masses


def bodies_of(group):
    """The division of an MDAnalysis group into bodies: None, "residue" or "segment"."""
    kind = type(group).__name__.strip("_")
    level = getattr(getattr(group, "level", None), "name", "atom")
    if level == "atom" or not hasattr(group, "__len__"):
        return None
    if level == "residue" and not np.diff(group.resindices).all():
        raise TypeError(f"extract: a residue follows itself in the {kind}: name each once")
    if level == "segment" and len(set(group.segids)) < len(group):
        raise TypeError(f"extract: segments of the {kind} have the same name and cannot be told apart; "
                        "give them different segids")
    return level


def is_part(top):
    """Whether the object is a group of MDAnalysis with fixed atoms, not a universe."""
    return hasattr(top, "universe") and hasattr(getattr(top, "atoms", None), "resindices") and \
        hasattr(top.atoms, "indices") and not hasattr(top, "is_uptodate")


def molecules_of(atoms):
    """The atoms of a group of MDAnalysis, and all other atoms of their molecules and residues. Making
    molecules whole needs these atoms."""
    everything = atoms.universe.atoms
    needed = np.isin(everything.resindices, atoms.resindices)
    if len(getattr(everything, "bonds", ())):
        needed |= np.isin(everything.fragindices, atoms.fragindices)
    return everything[needed]


def _ranges(places):
    """The text of a selection of these ascending indices."""
    ends = np.flatnonzero(np.diff(places) > 1)
    firsts, lasts = places[np.r_[0, ends + 1]], places[np.r_[ends, len(places) - 1]]
    return "index " + " ".join(f"{a}:{b}" for a, b in zip(firsts, lasts))


# Words of the selection language by which the selection of an atom depends on other atoms or on its index.
_RELATIVE = re.compile(r"\b(index|bynum|within|exwithin|same|group)\b", re.IGNORECASE)


def with_molecules(group, selection, each, masses, by_place, drift=False):
    """The atoms to read instead of a group, the selection of the group among them, and their masses. None
    if the group contains all atoms of its molecules. by_place: other arguments refer to indices in the
    group. drift: reads all atoms of the universe, whose drift is removed."""
    places, ascending = np.asarray(group.indices), np.unique(group.indices)
    atoms = group.universe.atoms if drift else molecules_of(group)
    if len(atoms) == len(ascending):
        return None
    ordered = len(places) == len(ascending) and (each is None or (places == ascending).all())
    fixed = by_place or _RELATIVE.search(selection) or not ordered
    if drift and (fixed or masses is not None and not isinstance(masses, str)):
        raise _core.InvalidError("extract: drift is of all atoms of the universe, but the order of the group, the selection, ndx, "
                                 "reference or masses refers to places in the group: give the universe and a selection")
    if fixed:
        warnings.warn("extract: the group lacks atoms of its molecules, and the molecules are made whole without "
                      "them: the order of the group, the selection, ndx, reference or the file of masses refers to "
                      "places in the group: give all atoms of the molecules and a selection, or pbc=\"none\"",
                      RuntimeWarning, stacklevel=4)
        return None
    places = np.searchsorted(atoms.indices, places)
    if masses is not None and not isinstance(masses, str):
        given = _host.array(masses, np.float64, "masses")
        if given.shape != places.shape:
            return None  # the engine raises the error
        masses = np.ones(len(atoms))
        masses[places] = given
    chosen = _ranges(np.sort(places))
    return atoms, chosen if selection == "all" else f"({selection}) and {chosen}", masses


def ways(top, traj, selection, each):
    """Ways to read the frames, in the order in which they are tried."""
    if traj is not None:
        return [Files(top, traj)]
    if isinstance(top, Frames):
        return [top]
    if hasattr(top, "universe") and hasattr(top, "atoms"):
        bodies = bodies_of(top)
        updating = hasattr(top, "is_uptodate")
        universe = Universe(top if updating else top.atoms, bodies if each is None else each)
        files = files_of(top.atoms) if selection == "all" and universe.each is None and \
            not updating else None
        return [universe] if files is None else [Files(*files, universe.masses), universe]
    if hasattr(top, "xyz") and hasattr(top, "topology"):
        return [Mdtraj(top)]
    if hasattr(top, "__next__"):
        return [Chunks(top, Mdtraj)]
    raise TypeError("extract: give the paths of a topology and a trajectory, or an MDAnalysis "
                    "Universe or AtomGroup, an mdtraj.Trajectory or an iterator of such, or "
                    f"md.Frames of arrays, not {type(top).__name__} alone")
