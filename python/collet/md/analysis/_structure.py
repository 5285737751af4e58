# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_structure.py
"""Superposition, cross-correlation and shape of the atoms of a body."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _host, op
from ..._core import InvalidError, ShapeError
from ._blocks import count, jackknife
from ._series import Floats

DEBYE = 48.0320471  # Debye in 1 e nm.
_AT_ONCE = 2**22  # Coordinates that are converted to float64 at a time.
_ROUNDS = 100
_CONVERGED = 1e-9  # fraction of the body's size: the iteration ends when the mean structure moves by less


@dataclass(frozen=True, eq=False)
class CrossCorrelation:
    """matrix, error: (atoms, atoms), C of each pair and its standard error by blocks
    blocks: (blocks, atoms, atoms), C of each block
    rmsf: (atoms,), root mean square displacement from the mean structure. mean: (atoms, 3), the mean
    structure
    iterations: superpositions until the mean structure no longer changed"""

    matrix: Floats
    error: Floats
    blocks: Floats
    rmsf: Floats
    mean: Floats
    iterations: int


@dataclass(frozen=True, eq=False)
class CrossCorrelationDifference:
    """a, b: (atoms, atoms), the mean maps; difference: b - a
    low, high: the limits of the difference's confidence interval; significant: whether the interval excludes 0"""

    a: Floats
    b: Floats
    difference: Floats
    low: Floats
    high: Floats
    significant: Any


@dataclass(frozen=True, eq=False)
class Shape:
    """rg: radius of gyration; rg_about: (..., 3), radii of gyration about the axes x, y and z
    moments: (..., 3), the eigenvalues l1, l2, l3 of the tensor, ascending
    asphericity: l3 - (l1 + l2) / 2; acylindricity: l2 - l1; both in the tensor's unit
    anisotropy: relative shape anisotropy, 0 for a sphere and 1 for a rod"""

    rg: Floats
    rg_about: Floats
    moments: Floats
    asphericity: Floats
    acylindricity: Floats
    anisotropy: Floats


# ---- Arguments -----------------------------------------------------------------------------------


def _positions(value: Any, caller: str) -> Any:
    found = _host.array(value, None, f"{caller}: positions")
    if found.ndim != 3 or found.shape[2] != 3 or not found.size:
        shape = " x ".join(map(str, found.shape)) or "a scalar"
        raise ShapeError(f"{caller}: positions are {shape}; they must be frames x atoms x 3")
    return found


def _atoms(chosen: Any, atoms: int, caller: str, name: str) -> Any:
    """Converts a mask or indices to indices. None: the indices of all atoms."""
    if chosen is None:
        return np.arange(atoms)
    found = _host.array(chosen, None, f"{caller}: {name}")
    if found.dtype == np.bool_ and found.shape == (atoms,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise ShapeError(f"{caller}: {name} must be indices of atoms, or a mask of {atoms} atoms, "
                         "with at least one")
    if found.min() < 0 or found.max() >= atoms:
        raise InvalidError(f"{caller}: {name} has index {found.min() if found.min() < 0 else found.max()}"
                           f", and there are {atoms} atoms")
    return found


def _weights_of(weights: Any, atoms: int, caller: str, name: str = "weights") -> Floats:
    if weights is None:
        return np.ones(atoms)
    found = _host.array(weights, np.float64, f"{caller}: {name}")
    if found.shape != (atoms,):
        raise ShapeError(f"{caller}: {name} are {found.shape}; they must be one for each of {atoms} "
                         "atoms")
    return found


def _slabs(positions: Any, caller: str) -> Iterator[tuple[slice, Floats]]:
    """Yields slices of the frames, and these frames in float64. Raises InvalidError for numbers that are not
    finite."""
    step = max(1, _AT_ONCE // (3 * positions.shape[1]))
    for start in range(0, len(positions), step):
        part = _host.array(positions[start:start + step], np.float64, f"{caller}: positions")
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            raise InvalidError(f"{caller}: positions are {part[tuple(bad[0])]} at frame "
                               f"{start + bad[0][0]}, atom {bad[0][1]}")
        yield slice(start, start + len(part)), part


def _superposed(part: Floats, reference: Floats, fit: Any, weights: Floats) -> Floats:
    """Superposes frames: moves them so that their atoms `fit` lie as near as possible to the atoms `fit` of the
    reference."""
    own = weights[fit]
    core, place = np.ascontiguousarray(part[:, fit]), np.ascontiguousarray(reference[fit])
    rotation = np.asarray(op.rmsd(core, own, place)[1])
    centres = np.asarray(op.com(core, own))[:, None]
    middle = own @ place / own.sum()
    return np.asarray(np.einsum("fij,fnj->fni", rotation, part - centres) + middle)


def superposed_on_first(positions: Any, fit: Any) -> Floats:
    """Superposes frames on the first frame by their atoms `fit`. Same shape."""
    caller = "superposition"
    given = _positions(positions, caller)
    atoms = given.shape[1]
    place, core = _reference(None, given, caller), _atoms(fit, atoms, caller, "fit")
    return np.concatenate([_superposed(part, place, core, np.ones(atoms))
                           for _, part in _slabs(given, caller)])


def _reference(reference: Any, positions: Any, caller: str) -> Floats:
    found = positions[0] if reference is None else reference
    found = _host.array(found, np.float64, f"{caller}: reference")
    if found.shape != positions.shape[1:]:
        raise ShapeError(f"{caller}: reference is {found.shape}; it must be {positions.shape[1]} x 3, "
                         "as a frame of positions")
    return found


# ---- Superposition -------------------------------------------------------------------------------


def rmsd(positions: Any, reference: Any = None, *, weights: Any = None, fit: Any = None,
         of: Any = None) -> Any:
    """Root mean square deviation from a reference after the best superposition.

    positions: (frames, atoms, 3), of molecules that the box does not cut
    reference: (atoms, 3); None: the first frame
    weights: one for each atom, such as masses, for superposition and mean; None: equal
    fit: the atoms that are superposed, as indices or a mask; None: all
    of: the atoms whose deviation is computed, as indices or a mask, or a dict from names of domains to their atoms.
        They are moved with the atoms of `fit`. None: all
    Returns (frames,), or for a dict a dict of these.

    >>> r = np.array([[[0.0, 0, 0], [3, 4, 0]], [[0.0, 0, 0], [3, 5, 0]]])
    >>> analysis.rmsd(r).round(3)
    array([0.   , 0.415])"""
    caller = "rmsd"
    given = _positions(positions, caller)
    atoms = given.shape[1]
    place = _reference(reference, given, caller)
    own = _weights_of(weights, atoms, caller)
    core = _atoms(fit, atoms, caller, "fit")
    domains = {name: _atoms(chosen, atoms, caller, f"of[{name!r}]") for name, chosen in
               (of.items() if isinstance(of, Mapping) else [("", of)])}
    for chosen in (core, *domains.values()):
        if not own[chosen].sum() > 0:
            raise InvalidError(f"{caller}: the weights of the chosen atoms sum to 0")
    found = {name: np.empty(len(given)) for name in domains}
    for frames, part in _slabs(given, caller):
        moved = _superposed(part, place, core, own)
        squares = ((moved - place)**2).sum(axis=2)
        for name, chosen in domains.items():
            found[name][frames] = np.sqrt(squares[:, chosen] @ own[chosen] / own[chosen].sum())
    return found if isinstance(of, Mapping) else found[""]


# ---- Cross-correlation ---------------------------------------------------------------------------


def _normalised(sums: Floats) -> Floats:
    """The correlations C from the sums of products of displacements; 0 for an atom that does not move."""
    squares = np.sqrt(np.einsum("...ii->...i", sums))
    both = squares[..., :, None] * squares[..., None, :]
    made: Floats = np.divide(sums, both, out=np.zeros_like(sums), where=both > 0)
    return made


def _mean_structure(positions: Any, place: Floats, core: Any, own: Floats,
                    caller: str) -> tuple[Floats, int]:
    """The mean structure of the frames superposed on it, and the number of superpositions until it no
    longer changed."""
    size = float(np.sqrt(((place - place.mean(axis=0))**2).sum(axis=1).mean())) or 1.0
    for iteration in range(1, _ROUNDS + 1):
        sums = np.zeros_like(place)
        for _, part in _slabs(positions, caller):
            sums += _superposed(part, place, core, own).sum(axis=0)
        moved = sums / len(positions) - place
        place = place + moved
        left = float(np.sqrt((moved**2).sum(axis=1).mean())) / size
        if left <= _CONVERGED:
            break
    else:
        warnings.warn(f"{caller}: the mean structure still moves by {left:.1e} of its radius after "
                      f"{_ROUNDS} superpositions: are the atoms of `fit` on a line, or too mobile?",
                      RuntimeWarning, stacklevel=3)
    return place, iteration


def dccm(positions: Any, *, fit: Any = None, weights: Any = None,
         blocks: int = 5) -> CrossCorrelation:
    """Dynamic cross-correlation: C_ij = <d_i . d_j> / sqrt(<d_i^2> <d_j^2>) of displacements d from the
    mean structure, on which all frames are superposed: a CrossCorrelation.

    positions: (frames, atoms, 3), usually of C-alpha atoms, at least two frames
    fit: the atoms that are superposed, as in rmsd: the rigid part of the body. None: all
    weights: one for each atom, for the superposition; None: equal
    The mean structure is the mean of the superposed frames, iterated until it no longer changes. An atom that does
    not move has C = 0 with all other atoms and with itself.

    >>> r = np.random.default_rng(1).normal(size=(100, 3, 3))
    >>> analysis.dccm(r).matrix.shape
    (3, 3)"""
    caller = "dccm"
    given = _positions(positions, caller)
    frames, atoms = given.shape[:2]
    number = count(blocks, caller, "blocks", 2)
    if frames < 2:
        raise ShapeError(f"{caller}: positions have one frame; displacements need at least two")
    core, own = _atoms(fit, atoms, caller, "fit"), _weights_of(weights, atoms, caller)
    place, iterations = _mean_structure(given, _reference(None, given, caller), core, own, caller)
    length = frames // number
    edges = [*(b * length for b in range(number + 1)), frames] if length else [0, frames]
    parts = np.zeros((len(edges) - 1, atoms, atoms))
    for where, part in _slabs(given, caller):
        moved = _superposed(part, place, core, own) - place
        for block, (low, high) in enumerate(zip(edges[:-1], edges[1:])):
            chosen = moved[max(low - where.start, 0):max(high - where.start, 0)]
            if len(chosen):
                rows = np.ascontiguousarray(chosen.transpose(1, 0, 2)).reshape(atoms, -1)
                parts[block] += np.asarray(op.matmul(rows, np.ascontiguousarray(rows.T)))
    whole = parts.sum(axis=0)
    matrix = _normalised(whole)
    error, curves = np.full((atoms, atoms), np.nan), np.zeros((0, atoms, atoms))
    if length:
        full = parts[:number]
        error, curves = jackknife(_normalised(full.sum(axis=0) - full)), _normalised(full)
    return CrossCorrelation(matrix, error, curves, np.sqrt(np.diagonal(whole) / frames), place,
                            iterations)


def compare_dccm(a: Any, b: Any, *, alpha: float = 0.05, samples: int = 500,
                 seed: int = 0) -> CrossCorrelationDifference:
    """The difference of two systems' cross-correlation, b - a, and where it is significant: a
    CrossCorrelationDifference.

    a, b: results of dccm, or lists of the results of several runs, all of the same atoms
    alpha: the confidence interval leaves out alpha / 2 at each end
    samples, seed: number of samples and seed of the bootstrap over the blocks of all runs
    Maps are averaged as artanh C (R. A. Fisher), and the bootstrap resamples whole blocks. Blocks must
    be longer than the correlation time.

    >>> r = np.random.default_rng(1).normal(size=(100, 3, 3))
    >>> a, b = analysis.dccm(r[:50]), analysis.dccm(r[50:])
    >>> analysis.compare_dccm(a, b).difference.shape
    (3, 3)"""
    caller = "compare_dccm"
    sides = [[side] if isinstance(side, CrossCorrelation) else list(side) for side in (a, b)]
    shapes = {run.matrix.shape for side in sides for run in side}
    if len(shapes) != 1 or not all(sides):
        raise ShapeError(f"{caller}: maps of {sorted(shapes)} atoms; all must be of the same atoms")
    if not 0 < alpha < 1:
        raise InvalidError(f"{caller}: alpha is {alpha!r}; it must be between 0 and 1")
    draws = count(samples, caller, "samples", 2)
    means = [np.tanh(np.mean([_artanh(run.matrix) for run in side], axis=0)) for side in sides]
    random = np.random.default_rng(seed)
    blocks = [_artanh(np.concatenate([run.blocks for run in side])) for side in sides]
    if not all(len(part) > 1 for part in blocks):
        raise InvalidError(f"{caller}: fewer than two blocks: dccm needs more frames")
    made = np.empty((draws, *means[0].shape), np.float32)
    for i in range(draws):
        one, two = (np.tanh(part[random.integers(0, len(part), len(part))].mean(axis=0))
                    for part in blocks)
        made[i] = two - one
    low, high = np.quantile(made, [alpha / 2, 1 - alpha / 2], axis=0)
    return CrossCorrelationDifference(means[0], means[1], means[1] - means[0], low, high,
                                      (low > 0) | (high < 0))


def _artanh(matrix: Floats) -> Floats:
    """artanh of C clipped to 1 - 1e-7 in magnitude, so that it is finite for 1 and -1 too."""
    return np.asarray(np.arctanh(np.clip(matrix, -1 + 1e-7, 1 - 1e-7)))


# ---- Shape ---------------------------------------------------------------------------------------


def shape(gyration_tensor: Any) -> Shape:
    """The Shape that a gyration tensor describes.

    gyration_tensor: (..., 3, 3), as md.extract returns it: (frames, 3, 3), or (frames, bodies, 3, 3)
    The names follow D. N. Theodorou and U. W. Suter, Macromolecules 18 (1985) 1206; extract's "asphericity" is
    called anisotropy here.

    >>> float(analysis.shape(np.diag([4.0, 1.0, 1.0])).asphericity)
    3.0"""
    tensor = _host.array(gyration_tensor, np.float64, "shape: gyration_tensor")
    if tensor.ndim < 2 or tensor.shape[-2:] != (3, 3):
        raise ShapeError(f"shape: gyration_tensor is {tensor.shape}; it must be ... x 3 x 3")
    diagonal = np.einsum("...ii->...i", tensor)
    square = diagonal.sum(axis=-1)
    finite = np.isfinite(tensor).all(axis=(-2, -1))
    moments = np.linalg.eigvalsh(np.where(finite[..., None, None], tensor, 0))
    moments = np.where(finite[..., None], moments, np.nan)
    small, middle, large = np.moveaxis(moments, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        anisotropy = 1.5 * ((moments - moments.mean(axis=-1, keepdims=True))**2).sum(axis=-1) / \
            square**2
    return Shape(np.sqrt(square), np.sqrt(square[..., None] - diagonal), moments,
                 large - (small + middle) / 2, middle - small, anisotropy)


def end_to_end(positions: Any, first: int = 0, last: int = -1) -> Floats:
    """The vector from the first to the last atom of a chain that the box does not cut.

    positions: (frames, atoms, 3); first, last: indices of atoms. Returns (frames, 3)

    >>> r = np.array([[[0.0, 0, 0], [3, 4, 0]]])
    >>> analysis.end_to_end(r)
    array([[3., 4., 0.]])"""
    given = _positions(positions, "end_to_end")
    for value, name in ((first, "first"), (last, "last")):
        if not -given.shape[1] <= count(value, "end_to_end", name, -given.shape[1]) < given.shape[1]:
            raise InvalidError(f"end_to_end: {name} is {value}, and there are {given.shape[1]} atoms")
    return np.asarray(given[:, last].astype(np.float64) - given[:, first])


def distance(positions: Any, a: Any, b: Any, *, weights: Any = None) -> Floats:
    """The distance between the centres of two groups of atoms, as a coordinate of a potential of mean
    force.

    positions: (frames, atoms, 3); a, b: indices or masks of atoms
    weights: one for each atom, such as masses; None: equal. Returns (frames,)

    >>> r = np.array([[[0.0, 0, 0], [3, 4, 0]]])
    >>> analysis.distance(r, [0], [1])
    array([5.])"""
    caller = "distance"
    given = _positions(positions, caller)
    own = _weights_of(weights, given.shape[1], caller)
    centres = []
    for chosen, name in ((a, "a"), (b, "b")):
        atoms = _atoms(chosen, given.shape[1], caller, name)
        if not own[atoms].sum() > 0:
            raise InvalidError(f"{caller}: the weights of {name} sum to 0")
        centres.append(np.asarray(op.com(given[:, atoms].astype(np.float64), own[atoms])))
    return np.asarray(np.linalg.norm(centres[1] - centres[0], axis=1))


def dipole(positions: Any, charges: Any, masses: Any = None) -> Floats:
    """The dipole moment sum q (r - centre), in e nm. Multiplied by DEBYE it is in debye.

    positions: (frames, atoms, 3), nm, of molecules that the box does not cut
    charges: one for each atom, in e
    masses: one for each atom; the centre is the centre of mass. None: the centre is the mean position. The centre
        matters only if the charges do not sum to 0. Returns (frames, 3)

    >>> r = np.array([[[0.0, 0, 0], [3, 4, 0]]])
    >>> analysis.dipole(r, [-1.0, 1.0])
    array([[3., 4., 0.]])"""
    caller = "dipole"
    given = _positions(positions, caller)
    atoms = given.shape[1]
    charge = _weights_of(charges, atoms, caller, "charges")
    mass = _weights_of(masses, atoms, caller, "masses")
    found = np.empty((len(given), 3))
    for frames, part in _slabs(given, caller):
        centre = np.asarray(op.com(part, mass))
        found[frames] = np.einsum("n,fni->fi", charge, part - centre[:, None])
    return found
