# SPDX-License-Identifier: Apache-2.0
"""Molecules in periodic boxes: make_whole, unwrap and pack_into_box."""

import warnings

import numpy as np
import pytest

import collet
from collet import md

random = np.random.default_rng(3)
BOX = np.array([[3, 0, 0], [1.4, 2.5, 0], [-1.3, 1.1, 2.2]])
WATERS, FRAMES = 40, 12
ATOMS = 3 * WATERS
BONDS = np.array([[3 * w, 3 * w + k] for w in range(WATERS) for k in (1, 2)])
OFFSETS = np.arange(0, ATOMS + 1, 3)


def wrapped(positions, box=BOX):
    """Moves each atom into the box separately, so the box may cut molecules."""
    fractions = positions @ np.linalg.inv(box)
    return positions - np.floor(fractions) @ box


def paths():
    """Waters on random walks with small steps. The box cuts none of the molecules."""
    centres = random.uniform(size=(WATERS, 3)) @ BOX + np.cumsum(
        random.normal(scale=0.2, size=(FRAMES, WATERS, 3)), axis=0)
    shape = random.normal(scale=0.05, size=(FRAMES, WATERS, 3, 3))
    return (centres[:, :, None] + shape).reshape(FRAMES, ATOMS, 3)


@pytest.mark.parametrize("dtype, tolerance", [("f8", 1e-12), ("f4", 2e-6)])
@pytest.mark.parametrize("known", [{"bonds": BONDS}, {"molecules": OFFSETS}])
def test_molecules_that_were_cut(dtype, tolerance, known):
    free = paths()
    free -= np.repeat(free[:1, ::3] - wrapped(free[:1, ::3]), 3, axis=1)  # first atoms of molecules are in the box
    cut = wrapped(free).astype(dtype)
    before = cut.copy()
    np.testing.assert_allclose(md.unwrap(cut, BOX, **known), free, atol=tolerance)
    whole = md.make_whole(cut, np.array([BOX] * FRAMES), **known)
    assert whole.dtype == dtype and (cut == before).all()
    np.testing.assert_array_equal(whole[:, ::3], cut[:, ::3])
    np.testing.assert_allclose(whole - np.repeat(whole[:, ::3], 3, axis=1),
                               free - np.repeat(free[:, ::3], 3, axis=1), atol=2 * tolerance)
    np.testing.assert_allclose(md.make_whole(cut[3], BOX, **known), whole[3], atol=tolerance)
    masses = random.uniform(1, 2, size=ATOMS)
    packed = md.pack_into_box(cut, BOX, masses=masses, **known).astype("f8")
    centres = np.add.reduceat(packed * masses[:, None], OFFSETS[:-1], axis=1) / \
        np.add.reduceat(masses, OFFSETS[:-1])[:, None]
    fractions = centres @ np.linalg.inv(BOX)
    assert (fractions > -1e-6).all() and (fractions < 1 + 1e-6).all()


def test_steps_of_half_a_box():
    x = np.cumsum([0, 1.0, -1.2, 1.3, 1.45])  # in a cube of 3, the direction of a step of more than 1.2 is a guess
    positions = np.zeros((5, 4, 3))
    positions[:, 2:, 1] = x[:, None]
    with pytest.warns(RuntimeWarning, match=r"frame 3: the molecule of atom 2 is .*\(such steps: 2\)"):
        md.unwrap(positions, 3 * np.eye(3), molecules=[0, 2, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        md.unwrap(positions[:3], 3 * np.eye(3), molecules=[0, 2, 4])


def test_any_layout_and_dtype():
    cut = wrapped(paths())
    whole = md.make_whole(cut, BOX, bonds=BONDS)
    strided = np.asfortranarray(cut)
    strided.flags.writeable = False
    np.testing.assert_array_equal(md.make_whole(strided, BOX, bonds=BONDS[::-1].astype("i2")), whole)
    np.testing.assert_array_equal(md.make_whole(cut[::2], BOX.tolist(), bonds=BONDS), whole[::2])
    numbers = np.array([[0, 0, 0], [2, 0, 0]])
    assert md.make_whole(numbers, np.eye(3) * 3, bonds=[[0, 1]])[1].tolist() == [-1, 0, 0]
    assert md.pack_into_box(numbers + 3, np.eye(3) * 3).tolist() == [[0, 0, 0], [2, 0, 0]]


def test_a_chain_through_the_box():
    chain = np.array([[0, 0, 0], [0.8, 0, 0], [1.6, 0, 0], [2.4, 0, 0]])
    with pytest.warns(RuntimeWarning, match="that are not changed: 1, the first with atom 0"):
        same = md.make_whole(chain, np.eye(3) * 3, bonds=[[0, 1], [1, 2], [2, 3], [3, 0]])
    np.testing.assert_array_equal(same, chain)


@pytest.mark.parametrize("error, text, positions, box, more", [
    (collet.ShapeError, r"positions are \(4,\)", np.zeros(4), BOX, {"bonds": BONDS}),
    (collet.ShapeError, r"box is \(3,\)", np.zeros((4, 3)), np.ones(3), {"bonds": [[0, 1]]}),
    (collet.ShapeError, r"box is \(2, 3, 3\)", np.zeros((4, 3)), [BOX] * 2, {"bonds": [[0, 1]]}),
    (collet.ShapeError, r"bonds are \(3,\)", np.zeros((4, 3)), BOX, {"bonds": [0, 1, 2]}),
    (collet.ShapeError, r"masses are \(2,\)", np.zeros((4, 3)), BOX,
     {"bonds": [[0, 1]], "masses": [1, 1]}),
    (collet.InvalidError, "pack_into_box: bond 0 joins atoms 0 and 4", np.zeros((4, 3)), BOX, {"bonds": [[0, 4]]}),
    (collet.InvalidError, "offset 1 of the molecules is 3", np.zeros((4, 3)), BOX,
     {"molecules": [0, 3]}),
    (collet.InvalidError, "flat or not finite", np.zeros((4, 3)), np.ones((3, 3)),
     {"bonds": [[0, 1]]}),
    (TypeError, "give the box", np.zeros((4, 3)), None, {"bonds": [[0, 1]]}),
    (collet.DtypeError, "positions", np.zeros((4, 3), complex), BOX, {"bonds": [[0, 1]]})])
def test_what_is_refused(error, text, positions, box, more):
    with pytest.raises(error, match=text):
        md.pack_into_box(positions, box, **more)
    with pytest.raises(TypeError, match="give bonds or molecules"):
        md.make_whole(np.zeros((4, 3)), BOX)


def test_groups_of_mdanalysis():
    MDAnalysis = pytest.importorskip("MDAnalysis")
    from MDAnalysis.transformations import NoJump
    universe = MDAnalysis.Universe.empty(
        ATOMS, n_residues=WATERS, atom_resindex=np.arange(ATOMS) // 3, trajectory=True)
    universe.add_TopologyAttr("masses", np.tile([16, 1, 1], WATERS))
    universe.load_new(wrapped(paths()).astype("f4") * 10, order="fac")
    for ts in universe.trajectory:
        ts.triclinic_dimensions = BOX * 10
    dimensions = universe.dimensions.copy()
    vectors = universe.trajectory.ts.triclinic_dimensions
    cut = wrapped(paths(), vectors / 10).astype("f4") * 10
    universe.load_new(cut, order="fac", dimensions=np.array([dimensions] * FRAMES))
    by_residues = md.make_whole(universe.atoms)
    universe.add_TopologyAttr("bonds", BONDS)
    universe.trajectory[4]  # pylint: disable=pointless-statement
    atoms = universe.atoms
    np.testing.assert_allclose(by_residues, md.make_whole(cut[0], vectors, bonds=BONDS))
    whole = md.make_whole(atoms)
    hydrogens = np.flatnonzero(np.arange(ATOMS) % 3)[::-1]
    part = universe.atoms[hydrogens]
    np.testing.assert_array_equal(md.make_whole(part), whole[hydrogens])
    np.testing.assert_array_equal(md.unwrap(part), md.unwrap(atoms)[:, hydrogens])
    np.testing.assert_allclose(md.pack_into_box(part, masses=part.masses),
                               md.pack_into_box(atoms, masses=np.tile([0, 1, 1], WATERS))[hydrogens])
    with pytest.raises(collet.ShapeError, match=r"masses are \(2,\)"):
        md.pack_into_box(part, masses=[1, 1])
    np.testing.assert_allclose(atoms.positions, cut[4])
    packed = md.pack_into_box(atoms)
    unwrapped = md.unwrap(atoms)
    assert universe.trajectory.frame == 4
    np.testing.assert_allclose(whole, atoms.unwrap(reference=None, inplace=False), atol=1e-4)
    atoms.unwrap(reference=None)
    np.testing.assert_allclose(packed, atoms.wrap(compound="fragments", center="com"), atol=1e-4)
    # NoJump unwraps single atoms, md.unwrap whole molecules. Both give the same displacements here.
    universe.trajectory[0]  # pylint: disable=pointless-statement
    first = atoms.unwrap(reference=None, inplace=False)
    universe.trajectory.add_transformations(NoJump(universe))
    jumpless = np.array([atoms.positions for _ in universe.trajectory])
    np.testing.assert_allclose(unwrapped - first, jumpless - jumpless[0], atol=2e-3)
