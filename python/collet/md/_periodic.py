# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_periodic.py
"""Molecules in periodic boxes: whole, on paths without jumps, or packed into the box."""

import warnings
from typing import Any

import numpy as np

from .. import _core, _host, _trajectory
from ._objects import bonds_of, molecules_of

_WHOLE, _UNWRAP, _PACK = range(3)


def _refuse(function, text):
    raise _core.ShapeError(f"{function}: {text}")


def _integers(values, name):
    return None if values is None else _host.array(values, np.int64, name)


class _Group:
    """The molecules and residues that contain atoms of an MDAnalysis AtomGroup, as arrays in Angstrom.
    `places`: the rows of the group's atoms."""

    def __init__(self, group, whole_trajectory):
        atoms = molecules_of(group)
        self.places = np.searchsorted(atoms.indices, group.indices)
        trajectory = atoms.universe.trajectory
        if whole_trajectory:
            frame = trajectory.frame
            frames = [(atoms.positions, trajectory.ts.triclinic_dimensions) for _ in trajectory]
            trajectory[frame]  # pylint: disable=pointless-statement
        else:
            frames = [(atoms.positions, trajectory.ts.triclinic_dimensions)]
        boxes = [np.zeros((3, 3)) if box is None else box for _, box in frames]
        self.box = np.array(boxes, np.float64)
        self.positions = np.array([positions for positions, _ in frames])
        if not whole_trajectory:
            self.positions, self.box = self.positions[0], self.box[0]
        self.bonds = bonds_of(atoms)
        self.molecules = None if self.bonds is not None else self._residues(atoms)
        self.masses = None if getattr(atoms, "masses", None) is None else \
            np.ascontiguousarray(atoms.masses, np.float64)

    def spread(self, masses):
        """The masses of the group's atoms, and 0 for the other atoms."""
        found = np.zeros(self.positions.shape[-2])
        found[self.places] = masses
        return found

    @staticmethod
    def _residues(atoms):
        starts = np.flatnonzero(np.diff(atoms.resindices)) + 1
        return np.concatenate(([0], starts, [len(atoms)]))


def _check_masses(function, masses, atoms):
    if masses is not None and masses.shape != (atoms,):
        _refuse(function, f"masses are {masses.shape}, not ({atoms},)")


def _place(function, what, positions, box, bonds, molecules, masses):
    places = None
    if masses is not None:
        masses = np.ascontiguousarray(_host.array(masses, np.float64, "masses"))
    if hasattr(positions, "universe"):
        if box is not None or bonds is not None or molecules is not None:
            raise TypeError(f"{function}: an MDAnalysis group has its own box and bonds: give it alone")
        _check_masses(function, masses, len(positions.atoms))
        group = _Group(positions.atoms, what == _UNWRAP)
        positions, box, bonds, molecules = group.positions, group.box, group.bonds, group.molecules
        masses = group.masses if masses is None else group.spread(masses)
        places = group.places
    elif box is None:
        raise TypeError(f"{function}: give the box, three vectors")
    elif what == _WHOLE and bonds is None and molecules is None:
        raise TypeError(f"{function}: give bonds or molecules")
    given = _host.array(positions, None, "positions")
    dtype = np.dtype(np.float32 if given.dtype == np.float32 else np.float64)
    found = np.array(_host.array(given, dtype, "positions"), order="C")
    if found.ndim not in (2, 3) or found.shape[-1] != 3 or found.shape[-2] == 0:
        _refuse(function, f"positions are {found.shape}, not (atoms, 3) or (frames, atoms, 3)")
    frames, atoms = (1, *found.shape)[-3:-1]
    boxes = np.ascontiguousarray(_host.array(box, np.float64, "box"))
    if boxes.shape[-2:] != (3, 3) or boxes.shape[:-2] not in ((), (1,), (frames,)):
        _refuse(function, f"box is {boxes.shape}, not (3, 3) or (frames, 3, 3)")
    bonds, molecules = _integers(bonds, "bonds"), _integers(molecules, "molecules")
    if bonds is not None and (bonds.ndim != 2 or bonds.shape[1] != 2) and bonds.size:
        _refuse(function, f"bonds are {bonds.shape}, not (bonds, 2)")
    if molecules is not None and (molecules.ndim != 1 or not molecules.size):
        _refuse(function, f"molecules are {molecules.shape}, not (molecules + 1,)")
    _check_masses(function, masses, atoms)
    bonds, molecules = (None if a is None or not a.size else np.ascontiguousarray(a)
                        for a in (bonds, molecules))
    try:
        left, atom, far, frame, mover = _trajectory.place(
            what, dtype == np.float64, found, frames, atoms, boxes, boxes.size // 9,
            bonds, 0 if bonds is None else len(bonds),
            molecules, 0 if molecules is None else len(molecules) - 1, masses)
    except _core.InvalidError as error:  # it calls itself place
        raise _core.InvalidError(str(error).replace("place:", f"{function}:", 1)) from None
    if left:
        warnings.warn(f"{function}: molecules that are not changed: {left}, the first with atom {atom}: it is bonded "
                      "to its own image through the box, or has more than 4096 atoms without "
                      "bonds", RuntimeWarning, stacklevel=3)
    if far:
        warnings.warn(f"{function}: frame {frame}: the molecule of atom {mover} is about half a box from where it "
                      f"was in the frame before (such steps: {far}): its path may not be the shortest one: give "
                      "frames that are closer in time", RuntimeWarning, stacklevel=3)
    return found if places is None else found[..., places, :]


def make_whole(positions: Any, box: Any = None, *, bonds: Any = None, molecules: Any = None) -> Any:
    """Moves atoms by vectors of the box so that the periodic box cuts no molecule. The first atom of a molecule stays.

    positions : (frames, atoms, 3) or (atoms, 3), or an MDAnalysis AtomGroup: its positions in the present frame,
        in Angstrom. The group is not changed. Its molecules and residues are made whole, and moved,
        with all their atoms, also those that are not in the group
    box : the vectors a, b and c as rows, (3, 3) or (frames, 3, 3), of any shape; zeros: no box
    bonds : (bonds, 2) atoms, counted from 0. A group has its own bonds; if it has none, its residues are the molecules
    molecules : (molecules + 1,): atoms molecules[m] to molecules[m + 1] - 1 belong together; the
        atoms that bonds do not join are joined to the nearest atoms in the first frame

    Returns an array of the same shape, float32 for float32, else float64. Molecules that are bonded to themselves
    through the box are not changed, and a RuntimeWarning gives their number. Raises collet.ShapeError and InvalidError.

    >>> box = np.diag([3.0, 3.0, 3.0])
    >>> cut = np.array([[2.9, 0, 0], [0.1, 0, 0]])
    >>> collet.md.make_whole(cut, box, bonds=[[0, 1]])
    array([[2.9, 0. , 0. ],
           [3.1, 0. , 0. ]])"""
    return _place("make_whole", _WHOLE, positions, box, bonds, molecules, None)


def unwrap(positions: Any, box: Any = None, *, bonds: Any = None, molecules: Any = None,
           masses: Any = None) -> Any:
    """Makes molecules whole, and removes jumps across the box: a molecule moves from frame to frame by the
    shortest way.

    The centre of each molecule (with `masses` the centre of mass) moves to the nearest image of its next position.
    These steps are summed, so paths are also correct if the box changes. Without bonds and molecules each
    atom is a molecule. All frames of an AtomGroup are read; afterwards it is at its earlier frame. Other
    arguments, results and errors: as in make_whole.

    >>> box = np.diag([3.0, 3.0, 3.0])
    >>> frames = np.array([[[2.9, 0, 0]], [[0.1, 0, 0]]])
    >>> collet.md.unwrap(frames, box, molecules=[0, 1])[:, 0]
    array([[2.9, 0. , 0. ],
           [3.1, 0. , 0. ]])"""
    return _place("unwrap", _UNWRAP, positions, box, bonds, molecules, masses)


def pack_into_box(positions: Any, box: Any = None, *, bonds: Any = None, molecules: Any = None,
                  masses: Any = None) -> Any:
    """Makes molecules whole, and moves their centres (with `masses` the centres of mass) into the box: their
    coordinates as fractions of a, b and c are then from 0 to below 1. Without bonds and molecules each atom is a
    molecule. Other arguments, results and errors: as in make_whole.

    >>> box = np.diag([3.0, 3.0, 3.0])
    >>> cut = np.array([[2.9, 0, 0], [0.1, 0, 0]])
    >>> collet.md.pack_into_box(cut + 3, box, molecules=[0, 2])
    array([[-0.1,  0. ,  0. ],
           [ 0.1,  0. ,  0. ]])"""
    return _place("pack_into_box", _PACK, positions, box, bonds, molecules, masses)
