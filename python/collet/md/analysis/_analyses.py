# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""The analyses of collet-analyse, as a table."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import _trajectory
from ..._core import InvalidError, ShapeError
from . import _friction, _profile, _structure, _tensors
from ._correlation import Correlation, autocorrelation
from ._displacement import MeanSquareDisplacement, diffusion, mean_square_displacement
from ._files import Found, Number
from ._results import Results, atoms_of, vectors_of
from ._rotation import order_parameters, rotation, rotational_mean_square_displacement
from ._samples import equilibration_time, statistical_inefficiency


_NO_AXES = ("com", "euler_zyz", "gyration_tensor", "inertia_tensor", "moments", "positions")
_PATHS = ("com", "positions")


class MissingOption(InvalidError):
    """An analysis lacks an option that it requires."""


class Task:
    """The input of an analysis: arrays of the chosen frames, and dt in ps."""

    def __init__(self, file: Results, options: argparse.Namespace) -> None:
        self._file, self.options = file, options
        self.frames = slice(options.start, options.stop, options.step)
        self.dt = 0.0
        self.times: Any = None  # the frames' times if they are not equally spaced; then dt is 0

    def array(self, key: str) -> Any:
        """The chosen frames of the array of a key; its first axis counts the frames."""
        found = self._file[key]
        if not found.ndim:
            raise ShapeError(f"'{key}' is one number, not a series of frames")
        return found[self.frames]

    @property
    def labels(self) -> Any:
        """The labels of atoms; None if the file has none."""
        return self._file["atoms"] if "atoms" in self._file else None

    @property
    def bodies(self) -> Any:
        """The labels of bodies; None if the file has none."""
        return self._file["bodies"] if "bodies" in self._file else None

    def atoms(self, text: str | None) -> Any:
        """The indices of the atoms that a text selects; None, for all atoms, if the text is None."""
        return None if text is None else atoms_of(text, self.labels)

    def vectors(self) -> tuple[Any, Any]:
        """The vectors of --vector, frames x residues x 3, and the residues."""
        x, fit = self.array(self.options.key), self.atoms(self.options.fit_atoms)
        if fit is not None:
            x = _structure.superposed_on_first(x, fit)
        return vectors_of(x, self.labels, *self.options.vector)

    def fixed(self, key: str) -> Any:
        """The array of a key whose first axis is not the frames."""
        return self._file[key]

    def series(self, key: str) -> Any:
        """The array of a key as frames, frames x 3, or frames x bodies x components."""
        x, row = self.array(key), _known(key)[1]
        if row == (3, 3):
            raise ShapeError(f"'{key}' has a matrix in each frame, and {self.options.analysis} needs a "
                             "number or a vector")
        return x[..., None] if row == () and x.ndim == 2 else x

    @property
    def x(self) -> Any:
        """The series of --key, or of --vector."""
        return self.vectors()[0] if self.options.vector else self.series(self.options.key)

    @property
    def path(self) -> Any:
        """The series of --key: positions that must not jump across the box."""
        key = self.options.key
        pbc = self._file.jumping if key in _PATHS and not self.options.vector else None
        if pbc is not None:
            warnings.warn(f"'{key}' was extracted with --pbc {pbc}, so positions jump where molecules "
                          "cross the box, and displacements are wrong: run collet-extract with --pbc "
                          "nojump")
        return self.x

    @property
    def axis(self) -> Any:
        """The axis of --key, --column of principal axes, or --vector."""
        if self.options.vector:
            return self.vectors()[0]
        if self.options.key in _NO_AXES:
            raise InvalidError(f"'{self.options.key}' has no directions: {self.options.analysis} needs "
                               "axes, a vector such as dipole, or with positions --vector")
        x, row = self.array(self.options.key), _known(self.options.key)[1]
        if x.ndim in (3, 4) and x.shape[-2:] == (3, 3) and (row == (3, 3) or x.ndim == 4):
            return x[..., self.options.column]
        return x

    @property
    def unit(self) -> str:
        """The unit of --key."""
        return _known(self.options.key)[0]

    @property
    def square(self) -> str:
        """The unit of the squares of --key."""
        if self.unit in ("", "1"):
            return self.unit
        return f"({self.unit})^2" if set(self.unit) & set(" /^") else f"{self.unit}^2"

    def check_fit(self, name: str, error: Any, stop: float) -> None:
        """Warns if an error is NaN because the fit goes beyond the lags of a block."""
        length = len(self.array(self.options.key)) // self.options.blocks * self.dt
        if self.times is not None:
            if np.isnan(error).any():
                warnings.warn(f"{name} is nan: with times that are not equally spaced, at least {self.options.blocks} "
                              "bodies are needed, the number of --blocks")
        elif np.isnan(error).any() and stop > length * (1 - 1e-9):
            warnings.warn(f"{name} is nan: the fit goes up to {stop:g} ps, and only lags below the "
                          f"length of a block, {length:g} ps, have errors: give --fit FROM:TO with TO "
                          "below it, or fewer --blocks")

    def needed(self, name: str) -> Any:
        """Returns an option that this analysis requires."""
        value = getattr(self.options, name)
        if value is None:
            raise MissingOption(f"{self.options.analysis} needs --{name.replace('_', '-')}")
        return value


class Analysis(NamedTuple):
    """An analysis of the table. timed: whether it needs times; irregular: whether these times may be unequally
    spaced."""

    run: Callable[[Task], Found]
    timed: bool
    text: str
    key: str | None = None  # the key that is analysed by default
    irregular: bool = False


def _known(key: str) -> tuple[str, tuple[int, ...] | None]:
    """The unit of an array of collet-extract, and the shape of a frame's row."""
    for name, unit, _, shape in _trajectory.quantities():
        if name == key:
            return unit, tuple(shape)
    return "", None


# ---- Correlation and displacement ----------------------------------------------------------------


def _curve(name: str, curve: Any, unit: str) -> list[Number]:
    return [("lag", curve.lag, "ps"), (name, curve.value, unit),
            (name + "_error", curve.error, unit)]


def _check_time(name: str, time: float, curve: Correlation) -> None:
    step = float(curve.lag[1]) if len(curve.lag) > 1 else 0.0
    if time < step:
        warnings.warn(f"{name} is unknown: the correlation decays within one step of {step:g} ps, so the result "
                      "depends on the step alone: use frames that are closer together")


def _integral(name: str, curve: Correlation) -> list[Number]:
    _check_time(f"{name}_time", curve.integral_time, curve)
    return [(f"{name}_time", curve.integral_time, "ps"),
            (f"{name}_time_error", curve.integral_error, "ps"),
            (f"{name}_stop", curve.integral_stop, "ps")]


def _correlated(task: Task, normalise: bool = True) -> Correlation:
    return autocorrelation(task.x, task.dt, normalise, task.options.subtract_mean,
                           blocks=task.options.blocks)


def _acf(task: Task) -> Found:
    found = _correlated(task, not task.options.no_normalise)
    return Found(_curve("acf", found, task.square if task.options.no_normalise else "1"),
                 _integral("integral", found))


def _displaced(task: Task) -> MeanSquareDisplacement:
    if task.times is not None:
        return mean_square_displacement(task.path, times=task.times, blocks=task.options.blocks)
    return mean_square_displacement(task.path, task.dt, blocks=task.options.blocks)


def _turned(task: Task) -> MeanSquareDisplacement:
    return rotational_mean_square_displacement(task.axis, task.dt, blocks=task.options.blocks)


def _fitted(msd: MeanSquareDisplacement, task: Task, square: str) -> Found:
    found = diffusion(msd, *(task.options.fit or (None, None)))
    task.check_fit("diffusion_error", found.error, found.stop)
    return Found(_curve("msd", msd, square), [
        ("diffusion", found.value, f"{square}/ps"),
        ("diffusion_error", found.error, f"{square}/ps"),
        ("fit_start", found.start, "ps"), ("fit_stop", found.stop, "ps"),
        ("fit_lags", found.lags, "1"), ("fit_intercept", found.intercept, square),
        ("dimensions", found.dimensions, "1")])


def _texts(name: str, labels: Any) -> list[Number]:
    return [] if labels is None else [(name, np.asarray(labels, np.str_), "")]


def _rotation(task: Task) -> Found:
    axes, options = task.axis, task.options
    found = rotation(axes, task.dt, blocks=options.blocks)
    columns = _curve("c1", found.c1, "1") + _curve("c2", found.c2, "1")[1:]
    arrays: list[Number] = []
    if axes.ndim == 3:
        arrays = [*columns, ("s2_bodies", order_parameters(axes), "1"),
                  *_texts("bodies", task.vectors()[1] if options.vector else task.bodies)]
    return Found(columns, [("s2", found.s2, "1"), ("s2_error", found.s2_error, "1"),
                           *_integral("c1", found.c1), *_integral("c2", found.c2)], arrays)


def _tensor(task: Task, found: _tensors.DiffusionTensor, unit: str) -> Found:
    task.check_fit("the error", found.error, found.stop)
    rows = [("tensor", found.tensor, unit), ("tensor_error", found.error, unit),
            ("values", found.values, unit), ("values_error", found.values_error, unit),
            ("frame", found.frame, "1")]
    columns = [(f"{name}_{'xyz'[i]}" if value.ndim == 2 else name,
                value[:, i] if value.ndim == 2 else value, unit)
               for name, value, unit in rows for i in range(3 if value.ndim == 2 else 1)]
    numbers: list[Number] = [(f"value_{i + 1}", float(found.values[i]), unit) for i in range(3)]
    numbers += [(f"value_{i + 1}_error", float(found.values_error[i]), unit) for i in range(3)]
    numbers += [("fit_start", found.start, "ps"), ("fit_stop", found.stop, "ps"),
                ("fit_lags", found.lags, "1")]
    return Found(columns, numbers, rows)


def _translational_tensor(task: Task) -> Found:
    options = task.options
    axes = None if options.axes is None else task.array(options.axes)
    return _tensor(task, _tensors.translational_diffusion_tensor(
        task.path, task.dt, *(options.fit or (None, None)), axes=axes, blocks=options.blocks),
        f"{task.square}/ps")


def _rotational_tensor(task: Task) -> Found:
    options = task.options
    return _tensor(task, _tensors.rotational_diffusion_tensor(
        task.array(options.key), task.dt, *(options.fit or (None, None)), blocks=options.blocks),
        "rad^2/ps")


# ---- Potential of mean force ---------------------------------------------------------------------


def _coordinate(task: Task, key: str, component: int | None) -> tuple[Any, str]:
    """A coordinate and its unit; an angle in degrees becomes rad for the Jacobian."""
    unit, row = _known(key)
    x = task.array(key)
    if component is not None:
        if x.ndim < 2 or not -x.shape[-1] <= component < x.shape[-1]:
            raise ShapeError(f"'{key}' has no component {component}")
        x = x[..., component]
    elif row not in ((), None) or x.ndim > 2:
        raise ShapeError(f"'{key}' has several numbers in each frame: choose one with --component")
    return x, unit


def _jacobian_of(key: str, component: int | None) -> str | None:
    """The Jacobian of an angle of a results file; other coordinates have none."""
    if key == "euler_zyz" and component in (1, -2):
        return "sin"
    return "cos" if key == "tilt_deg" else None


def _pmf(task: Task) -> Found:
    options = task.options
    keys = [options.key] if options.key2 is None else [options.key, options.key2]
    components = [options.component, options.component2]
    jacobians = list(options.jacobian or [])
    jacobians = [None if name == "none" else name for name in jacobians]
    jacobians += [_jacobian_of(key, part)
                  for key, part in list(zip(keys, components))[len(jacobians):]]
    names = ["x", "y"][:len(keys)]
    made = [_coordinate(task, key, part) for key, part in zip(keys, components)]
    ranges = [tuple(pair) for pair in options.range or []]
    values, limits = [], []
    for i, (x, unit) in enumerate(made):
        # The Jacobians need angles in rad, but tilt_deg is in degrees.
        turn = jacobians[i] in ("sin", "cos") and unit == "degree"
        values.append(np.radians(x) if turn else x)
        pair = ranges[i] if i < len(ranges) else None
        limits.append(None if pair is None else tuple(np.radians(pair)) if turn else pair)
    bins = list(options.bins or [50])
    bins += bins[-1:] * (len(keys) - len(bins))
    periodic = [name in (options.periodic or "") for name in names]
    weights = None if options.weights is None else task.array(options.weights)
    one = len(keys) == 1
    found = _profile.potential_of_mean_force(
        values[0], None if one else values[1], bins=bins[0] if one else bins,
        range=limits[0] if one else limits, temperature=options.temperature,
        jacobian=jacobians[0] if one else jacobians, weights=weights,
        periodic=periodic[0] if one else periodic, blocks=options.blocks)
    return _profile_file(found, values, made)


def _profile_file(found: _profile.MeanForcePotential, values: Any, made: Any) -> Found:
    counts, names = found.histogram, ["x", "y"][:len(values)]
    edges, centers = [], []
    for (given, unit), used, edge, center in zip(made, values, counts.edges, counts.centers):
        back = np.degrees if used is not given else np.asarray
        edges.append((back(edge), unit))
        centers.append((back(center), unit))
    grid = np.meshgrid(*(center for center, _ in centers), indexing="ij")
    rows: list[Number] = [("pmf", found.value, "kJ/mol"), ("pmf_error", found.error, "kJ/mol"),
                          ("counts", counts.counts, "1")]
    columns: list[Number] = [(name, part.ravel(), unit)
                             for name, part, (_, unit) in zip(names, grid, centers)]
    columns += [(name, value.ravel(), unit) for name, value, unit in rows]
    arrays: list[Number] = [(name, *center) for name, center in zip(names, centers)]
    arrays += [(f"{name}_edges", *edge) for name, edge in zip(names, edges)]
    return Found(columns, [("samples", float(counts.counts.sum()), "1"),
                           ("outside", counts.outside, "1"), ("not_a_number", counts.nan, "1"),
                           ("temperature", found.temperature, "K")], arrays + rows)


# ---- Friction and torque -------------------------------------------------------------------------


def _friction_of(task: Task) -> Found:
    options = task.options
    curve = _correlated(task)
    found = _friction.extract_friction_from_acf(curve, task.needed("inertia"), options.temperature,
                                                options.method)
    _check_time("tau_c", found.tau_c, curve)
    if options.method == "integral" and math.isnan(found.tau_c):
        warnings.warn(f"tau_c is nan: the correlation does not fall to 0 within {curve.lag[-1]:g} ps, the "
                      "longest lag: use a longer trajectory, --subtract-mean or another --method")
    return Found([], [("gamma", found.gamma, "amu nm^2/ps"),
                      ("gamma_error", found.gamma_error, "amu nm^2/ps"),
                      ("tau_c", found.tau_c, "ps"), ("tau_c_error", found.tau_c_error, "ps"),
                      ("diffusion_coeff", found.diffusion_coeff, "rad^2/ps")])


def _memory(task: Task) -> Found:
    fit = task.options.fit
    found = _friction.memory_kernel(_correlated(task), None if fit is None else fit[1])
    return Found([("lag", found.lag, "ps"), ("kernel", found.value, "1/ps^2"),
                  ("kernel_error", found.value_error, "1/ps^2"),
                  ("kernel_step_error", found.step_error, "1/ps^2"),
                  ("integral", found.integral, "1/ps"),
                  ("integral_error", found.integral_error, "1/ps")])


def _components(name: str, values: Any, unit: str) -> list[Number]:
    return [(f"{name}_{'xyz'[i]}", values[..., i], unit) for i in range(3)]


def _torque(task: Task) -> Found:
    found = _friction.torque_consistency(task.x, task.series(task.options.torque), task.dt)
    rows: list[Number] = [("derivative", found.derivative, "amu nm^2/ps^2"),
                          ("residual", found.residual, "amu nm^2/ps^2")]
    series = [part for row in rows for part in _components(*row)]
    columns = [(name, value.ravel(), unit) for name, value, unit in series]
    return Found(columns, [("relative", found.relative, "1"), ("slope", found.slope, "1"),
                           ("correlation", found.correlation, "1")], rows, series)


# ---- Structure -----------------------------------------------------------------------------------


def _rmsd(task: Task) -> Found:
    options = task.options
    domains: Mapping[str, Any] = {"rmsd": None}
    if options.domain:
        domains = {}
        for text in options.domain:
            name, equals, atoms = text.partition("=")
            if not equals or not name:
                raise InvalidError(f"--domain {text} is not NAME=ATOMS, such as core=0:50")
            domains[name] = task.atoms(atoms)
    reference = None if options.reference is None else task.fixed(options.reference)
    weights = None if options.weights is None else task.fixed(options.weights)
    found = _structure.rmsd(task.array(options.key), reference, weights=weights,
                            fit=task.atoms(options.fit_atoms), of=domains)
    columns = [(name, value, task.unit) for name, value in found.items()]
    return Found(columns, [(f"{name}_mean", float(value.mean()), unit)
                           for name, value, unit in columns], series=columns)


def _dccm(task: Task) -> Found:
    options = task.options
    found = _structure.dccm(task.array(options.key), fit=task.atoms(options.fit_atoms),
                            blocks=options.blocks)
    atoms = len(found.matrix)
    first, second = np.divmod(np.arange(atoms * atoms), atoms)
    rows: list[Number] = [("dccm", found.matrix, "1"), ("dccm_error", found.error, "1")]
    columns: list[Number] = [("i", first, "1"), ("j", second, "1")]
    columns += [(name, value.ravel(), unit) for name, value, unit in rows]
    return Found(columns, [("iterations", found.iterations, "1")], [
        *rows, ("dccm_blocks", found.blocks, "1"), ("rmsf", found.rmsf, task.unit),
        ("mean", found.mean, task.unit)] + _texts("atoms", task.labels))


def _map_of(file: Any) -> _structure.CrossCorrelation:
    """The CrossCorrelation in a file that _dccm wrote."""
    return _structure.CrossCorrelation(file["dccm"], file["dccm_error"], file["dccm_blocks"],
                                       file["rmsf"], file["mean"], int(file["iterations"]))


def _compare(task: Task) -> Found:
    sides = []
    for paths in ([task.options.results], task.needed("other")):
        runs = []
        for path in paths:
            with Results(path) as file:
                runs.append(_map_of(file))
        sides.append(runs)
    found = _structure.compare_dccm(*sides)
    atoms = len(found.difference)
    first, second = np.divmod(np.arange(atoms * atoms), atoms)
    rows: list[Number] = [("a", found.a, "1"), ("b", found.b, "1"),
                          ("difference", found.difference, "1"), ("low", found.low, "1"),
                          ("high", found.high, "1"), ("significant", found.significant, "1")]
    columns: list[Number] = [("i", first, "1"), ("j", second, "1")]
    columns += [(name, value.ravel(), unit) for name, value, unit in rows]
    off = ~np.eye(atoms, dtype=bool)
    return Found(columns, [
        ("largest", float(np.abs(found.difference[off]).max(initial=0)), "1"),
        ("significant_share", float(found.significant[off].mean()) if atoms > 1 else 0.0, "1")],
        rows)


def _shape(task: Task) -> Found:
    found = _structure.shape(task.array(task.options.key))
    unit = task.unit
    length = unit.removesuffix("^2") if unit.endswith("^2") else ""
    rows: list[Number] = [
        ("rg", found.rg, length), ("rg_about", found.rg_about, length),
        ("moments", found.moments, unit), ("asphericity", found.asphericity, unit),
        ("acylindricity", found.acylindricity, unit), ("anisotropy", found.anisotropy, "1")]
    series: list[Number] = []
    for row in rows:
        series += [row] if row[1].ndim == found.rg.ndim else _components(*row)
    columns = [(name, value.ravel(), label) for name, value, label in series]
    return Found(columns, [(f"{name}_mean", float(value.mean()), label)
                           for name, value, label in rows if value.ndim == found.rg.ndim], rows,
                 series)


# ---- Independent samples -------------------------------------------------------------------------


def _inefficiency(task: Task) -> Found:
    x = task.x
    g = statistical_inefficiency(x)
    return Found([], [("inefficiency", g, "frames"), ("samples", len(x) / g, "1")])


def _equilibration(task: Task) -> Found:
    x, key = task.x, task.options.key
    found = equilibration_time(x, task.dt)
    series = [(key, x if x.ndim == 1 else x[..., 0], task.unit)] if x.ndim == 1 or x.shape[-1] == 1 \
        else _components(key, x, task.unit)
    frame = task.options.start + task.options.step * found.frame  # the number of the frame in the file
    if found.frame > len(x) / 2:
        warnings.warn("more than half of the frames are not equilibrated by this rule: the series may "
                      "not be equilibrated at all; look at it with --plot, and simulate longer")
    return Found([], [("frame", frame, "1"), ("time", found.time, "ps"),
                      ("inefficiency", found.inefficiency, "frames"),
                      ("samples", found.samples, "1")], series=series)


ANALYSES: dict[str, Analysis] = {
    "acf": Analysis(_acf, True, "autocorrelation function and its integral time"),
    "msd": Analysis(lambda task: Found(_curve("msd", _displaced(task), task.square)), True,
                    "mean square displacement", irregular=True),
    "diffusion": Analysis(lambda task: _fitted(_displaced(task), task, task.square), True,
                          "the same, and the diffusion coefficient", irregular=True),
    "diffusion-tensor": Analysis(_translational_tensor, True,
                                 "translational diffusion tensor, also along --axes"),
    "rotation": Analysis(_rotation, True, "C1, C2 and S^2 of an axis, a vector or --vector"),
    "rotational-msd": Analysis(lambda task: Found(_curve("msd", _turned(task), "rad^2")), True,
                               "mean square angular displacement of an axis"),
    "rotational-diffusion": Analysis(lambda task: _fitted(_turned(task), task, "rad^2"), True,
                                     "the same, and its diffusion coefficient"),
    "rotational-tensor": Analysis(_rotational_tensor, True,
                                  "rotational diffusion tensor of principal axes"),
    "pmf": Analysis(_pmf, False, "potential of mean force along --key, or over --key2 too"),
    "friction": Analysis(_friction_of, True, "friction of an angular velocity"),
    "memory": Analysis(_memory, True, "memory kernel of a velocity"),
    "torque": Analysis(_torque, True, "dL/dt of --key against --torque"),
    "rmsd": Analysis(_rmsd, False, "of positions, by domain", "positions"),
    "dccm": Analysis(_dccm, False, "cross-correlation of positions", "positions"),
    "compare": Analysis(_compare, False, "the cross-correlation of two systems, files of dccm"),
    "shape": Analysis(_shape, False, "asphericity, acylindricity, ... of a gyration_tensor"),
    "inefficiency": Analysis(_inefficiency, False, "frames per independent sample"),
    "equilibration": Analysis(_equilibration, True,
                              "the frame from which a series is equilibrated"),
}
