# SPDX-License-Identifier: Apache-2.0
"""Faults of unwrapping, joining and times that users of MDAnalysis, GROMACS, mdtraj and cpptraj reported: Collet has
none of them."""

import pathlib

import numpy as np
import pytest

from collet import md

WATER = pathlib.Path(__file__).parents[3] / "tests/data/md/water"
TILTED = np.array([[3.0, 0, 0], [1.4, 2.6, 0], [-1.2, 1.1, 2.5]])


@pytest.fixture
def parts(tmp_path):
    """write(name, first, stop) writes frames first to stop - 1 of a run of one atom to the .gro file `name`."""
    def write(name, first, stop):
        path = tmp_path / name
        path.write_text("".join(f"t= {i / 4}\n1\n    1SOL     OW    1{i / 10:8.3f}   1.000   1.000\n   9 9 9\n"
                                for i in range(first, stop)))
        return path
    return write


def test_a_jump_to_the_second_frame_in_a_box_that_changes():
    """MDAnalysis: NoJump ignored jumps on the second frame of NPT trajectories."""
    boxes = np.array([np.diag([b, b, b]) for b in (10.0, 9.6, 9.7)])
    path = np.array([[9.5, 5, 5], [0.1, 5, 5], [0.4, 5, 5]])[:, None]
    found = md.unwrap(path, boxes)[:, 0, 0]
    np.testing.assert_allclose(found, [9.5, 9.7, 10.0], atol=1e-12)  # steps of 0.2 and 0.3


def test_all_atoms_are_in_a_tilted_box():
    """MDAnalysis: wrap() left atoms outside the triclinic unit cell."""
    atoms = np.random.default_rng(1).normal(scale=9, size=(500, 3))
    fractions = md.pack_into_box(atoms, TILTED) @ np.linalg.inv(TILTED)
    assert fractions.min() > -1e-12 and fractions.max() < 1 + 1e-12


def test_paths_in_a_tilted_box():
    """lipyphilic, for MDAnalysis: nojump raised an exception for triclinic systems."""
    true = np.cumsum(np.random.default_rng(2).normal(scale=0.2, size=(200, 20, 3)), 0)
    wrapped = true - np.floor(true @ np.linalg.inv(TILTED)) @ TILTED
    np.testing.assert_allclose(md.unwrap(wrapped, TILTED) - wrapped[0], true - true[0], atol=1e-9)


def test_sites_without_mass():
    """MDAnalysis: unwrap() failed for virtual sites, whose mass is 0."""
    cut = np.array([[[0.1, 1, 1], [2.9, 1, 1], [2.95, 1, 1]]] * 2)
    cut[1] += [0.2, 0, 0]
    found = md.unwrap(cut, np.eye(3) * 3, bonds=[[0, 1]], masses=[16.0, 1.0, 0.0])
    np.testing.assert_allclose(found[1] - found[0], [[0.2, 0, 0]] * 3, atol=1e-12)
    assert abs(found[0, 1, 0] - found[0, 0, 0]) < 0.3


def test_molecules_whose_atoms_are_not_adjacent():
    """MDAnalysis: centres of compounds were wrong where their atoms were not contiguous."""
    random = np.random.default_rng(3)
    box, whole = np.eye(3) * 4, random.random((30, 1, 3)) * 4 + random.normal(scale=0.1, size=(30, 3, 3))
    order = random.permutation(90)
    bonds = np.concatenate([np.arange(90).reshape(30, 3)[:, :2], np.arange(90).reshape(30, 3)[:, 1:]])
    place = np.argsort(order)
    shuffled = (whole.reshape(90, 3) % 4)[order]
    found = md.make_whole(shuffled, box, bonds=place[bonds])[place].reshape(30, 3, 3)
    np.testing.assert_allclose(found - found[:, :1], whole - whole[:, :1], atol=1e-12)


def test_bonds_in_any_order():
    """mdtraj: make_molecules_whole failed if bonds were not well ordered."""
    box = np.diag([2.0, 5.0, 2.0])
    cut = np.array([[0.4, 0.5, 1.0], [0.4, 4.0, 1.0], [1.0, 4.715, 1.0]])
    for bonds in ([[0, 2], [1, 2]], [[1, 2], [0, 2]], [[2, 1], [2, 0]]):
        found = md.make_whole(cut, box, bonds=bonds)
        assert all(np.linalg.norm(found[i] - found[2]) < 1.1 for i in (0, 1)), bonds


def test_a_group_that_only_some_bonds_join():
    """MDAnalysis: unwrap() raised "AtomGroup was not contiguous from bonds"."""
    cut = np.array([[2.9, 0, 0], [0.1, 0, 0], [1.5, 0, 0], [0.05, 1, 0], [2.95, 1, 0]])
    found = md.make_whole(cut, np.eye(3) * 3, bonds=[[0, 1], [3, 4]])
    np.testing.assert_allclose(found[:, 0], [2.9, 3.1, 1.5, 0.05, -0.05], atol=1e-12)


def test_files_that_overlap_by_several_frames(parts):
    """mdtraj: discard_overlapping_frames did not work if more than one frame overlapped."""
    first, second = parts("a.gro", 0, 5), parts("b.gro", 2, 9)
    found = md.extract(first, [first, second], keys="time_ps,com")
    assert found["time_ps"].tolist() == [i / 4 for i in range(9)]
    np.testing.assert_allclose(found["com"][:, 0], np.arange(9) / 10, atol=1e-6)


def test_the_same_file_twice(parts):
    """MDAnalysis: with continuous=True, the frames of a file that was given twice appeared twice, and times went
    back."""
    path = parts("a.gro", 0, 5)
    with pytest.warns(RuntimeWarning, match="no frame of this file is used: another file begins at 0 ps too"):
        found = md.extract(path, [path, path], keys="time_ps")
    assert found["time_ps"].tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_long_paths_in_a_fluctuating_box():
    """cpptraj, and GROMACS with -pbc nojump: unwrapping became very inaccurate for long times at constant
    pressure."""
    random = np.random.default_rng(4)
    steps = random.normal(scale=0.2, size=(5000, 5, 3))
    edges = 3 + 0.02 * random.normal(size=5000)
    wrapped, at = np.empty_like(steps), np.full((5, 3), 1.5)
    for i, (step, edge) in enumerate(zip(steps, edges)):
        at = (at + step) % edge
        wrapped[i] = at
    found = md.unwrap(wrapped, edges[:, None, None] * np.eye(3))
    assert abs(found - found[0] - (np.cumsum(steps, 0) - steps[0])).max() < 1e-9
    assert abs(found).max() > 6 * 3


def test_paths_begin_at_the_first_frame_that_is_read():
    """GROMACS: trjconv -pbc nojump needs a structure file that has the first frame, with whole molecules. If reading
    began at a later frame, trjconv moved atoms."""
    files = WATER / "conf.gro", WATER / "traj.trr"
    options = {"keys": "com,com_wrapped", "each": "residue", "pbc": "nojump"}
    found = md.extract(*files, **options, start=9)
    assert (found["com"][0] == found["com_wrapped"][0]).all()
    assert abs(np.diff(found["com"], axis=0)).max() < 0.5
