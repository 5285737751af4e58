# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_md_analyse.py
"""The command python -m collet.md.analysis: analyses of a results file of collet-extract."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core, _trajectory
from .._core import Error, FileError, FormatError, InvalidError, ShapeError
from . import analysis
from ._series import Floats

_PROGRAM = "python -m collet.md.analysis"
_SUFFIXES = (".npz", ".csv")
_REGULAR = 1e-3  # of the usual step, by which steps of time may differ: files round times

Number = tuple[str, Any, str]  # name, value, unit


class _Found(NamedTuple):
    """Columns of the same length, and single numbers."""

    columns: Sequence[Number]
    numbers: Sequence[Number]


class _Task(NamedTuple):
    """dt in ps, and the unit of the series."""

    options: argparse.Namespace
    dt: float
    unit: str

    @property
    def square(self) -> str:
        """The unit of squares."""
        if self.unit in ("", "1"):
            return self.unit
        return f"({self.unit})^2" if set(self.unit) & set(" /^") else f"{self.unit}^2"


# ---- Analyses ------------------------------------------------------------------------------------


def _curve(name: str, curve: Any, unit: str) -> list[Number]:
    return [("lag", curve.lag, "ps"), (name, curve.value, unit),
            (name + "_error", curve.error, unit)]


def _integral(name: str, curve: analysis.Correlation) -> list[Number]:
    return [(f"{name}_time", curve.integral_time, "ps"),
            (f"{name}_time_error", curve.integral_error, "ps"),
            (f"{name}_stop", curve.integral_stop, "ps")]


def _acf(x: Floats, task: _Task) -> _Found:
    found = analysis.autocorrelation(x, task.dt, not task.options.no_normalise,
                                     task.options.subtract_mean, blocks=task.options.blocks)
    return _Found(_curve("acf", found, task.square if task.options.no_normalise else "1"),
                  _integral("integral", found))


def _msd(x: Floats, task: _Task) -> _Found:
    found = analysis.mean_square_displacement(x, task.dt, blocks=task.options.blocks)
    return _Found(_curve("msd", found, task.square), [])


def _rotational_msd(x: Floats, task: _Task) -> _Found:
    found = analysis.rotational_mean_square_displacement(x, task.dt, blocks=task.options.blocks)
    return _Found(_curve("msd", found, "rad^2"), [])


def _rotation(x: Floats, task: _Task) -> _Found:
    found = analysis.rotation(x, task.dt, blocks=task.options.blocks)
    return _Found(_curve("c1", found.c1, "1") + _curve("c2", found.c2, "1")[1:],
                  [("s2", found.s2, "1"), ("s2_error", found.s2_error, "1"),
                   *_integral("c1", found.c1), *_integral("c2", found.c2)])


def _fitted(msd: analysis.MeanSquareDisplacement, task: _Task, square: str) -> _Found:
    start, stop = task.options.fit or (None, None)
    found = analysis.diffusion(msd, start, stop)
    return _Found(_curve("msd", msd, square), [
        ("diffusion", found.value, f"{square}/ps"),
        ("diffusion_error", found.error, f"{square}/ps"),
        ("fit_start", found.start, "ps"), ("fit_stop", found.stop, "ps"),
        ("fit_lags", found.lags, "1"), ("fit_intercept", found.intercept, square),
        ("dimensions", found.dimensions, "1")])


def _diffusion(x: Floats, task: _Task) -> _Found:
    return _fitted(analysis.mean_square_displacement(x, task.dt, blocks=task.options.blocks), task,
                   task.square)


def _rotational_diffusion(x: Floats, task: _Task) -> _Found:
    return _fitted(analysis.rotational_mean_square_displacement(
        x, task.dt, blocks=task.options.blocks), task, "rad^2")


def _inefficiency(x: Floats, task: _Task) -> _Found:
    g = analysis.statistical_inefficiency(x)
    return _Found([], [("inefficiency", g, "frames"), ("samples", len(x) / g, "1")])


def _equilibration(x: Floats, task: _Task) -> _Found:
    found = analysis.equilibration_time(x, task.dt)
    frame = task.options.start + task.options.step * found.frame  # in the file
    return _Found([], [("frame", frame, "1"), ("time", found.time, "ps"),
                       ("inefficiency", found.inefficiency, "frames"),
                       ("samples", found.samples, "1")])


_ANALYSES: dict[str, tuple[Callable[[Floats, _Task], _Found], str]] = {
    "acf": (_acf, "autocorrelation function and its integral time"),
    "msd": (_msd, "mean square displacement"),
    "diffusion": (_diffusion, "the same, and the diffusion coefficient"),
    "rotation": (_rotation, "C1, C2 and S^2 of an axis"),
    "rotational-msd": (_rotational_msd, "mean square angular displacement of an axis"),
    "rotational-diffusion": (_rotational_diffusion, "the same, and its diffusion coefficient"),
    "inefficiency": (_inefficiency, "frames per independent sample"),
    "equilibration": (_equilibration, "the frame from which on a series is equilibrated"),
}
_OF_AXES = ("rotation", "rotational-msd", "rotational-diffusion")

# ---- Input ---------------------------------------------------------------------------------------


def _array(file: Any, path: str, key: str) -> Any:
    if key not in file.files:
        near = difflib.get_close_matches(key, file.files, 1) or file.files
        raise InvalidError(f"{path} has no array '{key}', but {', '.join(near)}")
    return file[key]


def _read(path: str, key: str, timed: bool) -> tuple[Any, Any]:
    """The array and, with `timed`, the times, as long."""
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise ValueError("it is no .npz file")
        with file:
            if timed and "time_ps" not in file.files:
                raise InvalidError(f"{path} has no time_ps: give the time between frames, --dt")
            x, times = _array(file, path, key), file["time_ps"] if timed else None
            if times is not None and times.shape != x.shape[:1]:
                raise ValueError(f"{key} and time_ps have different numbers of frames")
            return x, times
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, Error):
            raise
        raise FormatError(f"{path} is not a results file (.npz) of collet-extract: "
                          f"{error}") from None


def _known(key: str) -> tuple[str, tuple[int, ...] | None]:
    """The unit of an array of collet-extract, and the shape of a frame's row."""
    for name, unit, _, shape in _trajectory.quantities():
        if name == key:
            return unit, tuple(shape)
    return "", None


def _series(x: Any, options: argparse.Namespace) -> Any:
    """The array as frames, frames x 3, or frames x bodies x components."""
    row = _known(options.key)[1]
    if options.analysis in _OF_AXES and x.ndim in (3, 4) and x.shape[-2:] == (3, 3) and \
            (row == (3, 3) or x.ndim == 4):
        return x[..., options.column]
    if not x.ndim:
        raise ShapeError(f"'{options.key}' is one number, not a series of frames")
    if row == (3, 3):
        raise ShapeError(f"'{options.key}' has a matrix a frame, and {options.analysis} needs a "
                         "number or a vector")
    return x[..., None] if row == () and x.ndim == 2 else x


def _step(times: Any, options: argparse.Namespace) -> float:
    """The time between two frames."""
    if len(times) < 2:
        raise InvalidError("fewer than two frames have no time step: give --dt")
    steps = np.diff(times)
    usual = np.median(steps)
    wrong = np.flatnonzero(~(np.abs(steps - usual) <= _REGULAR * usual) | ~(steps > 0))
    if len(wrong):
        earlier, later = times[wrong[0]], times[wrong[0] + 1]
        raise InvalidError(
            f"times are not equally spaced: {later:.10g} ps follows {earlier:.10g} ps, and the "
            f"usual step is {usual:.10g} ps; choose frames with --start, --stop and --step, or give --dt "
            "if the times are wrong")
    return float((times[-1] - times[0]) / len(steps))


# ---- Output --------------------------------------------------------------------------------------


def _labelled(name: str, unit: str) -> str:
    return name if unit in ("", "1") else f"{name} ({unit})"


def _csv(found: _Found, meta: dict[str, Any]) -> bytes:
    lines = [f"# {name} = {json.dumps(value)}" for name, value in meta.items() if name != "units"]
    lines += [f"# {_labelled(name, unit)} = {value!r}"
              for name, value, unit in found.numbers]
    if found.columns:
        lines.append(",".join(_labelled(name, unit) for name, _, unit in found.columns))
        lines += [",".join(map(repr, row))
                  for row in zip(*(values.tolist() for _, values, _ in found.columns))]
    return ("\n".join(lines) + "\n").encode()


def _write(path: str, found: _Found, meta: dict[str, Any], force: bool) -> None:
    """Writes a file under another name, and gives it its name when it is complete."""
    part = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            if path.endswith(".csv"):
                file.write(_csv(found, meta))
            else:
                arrays = {name: value for name, value, _ in (*found.columns, *found.numbers)}
                np.savez(file, **arrays, meta=json.dumps(meta))
        if not force:
            with open(path, "xb"):  # reserves the name
                pass
        os.replace(part, path)
    except FileExistsError:
        raise FileError(f"{path} exists: choose another name, or --force replaces it") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    finally:
        if os.path.lexists(part):
            os.unlink(part)


# ---- Command line --------------------------------------------------------------------------------


def _fit(text: str) -> tuple[float, float]:
    try:
        start, stop = map(float, text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not FROM:TO, two lags in ps") from None
    return start, stop


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Analyses an array of a results file of collet-extract.",
        epilog="Analyses:\n" + "".join(f"  {name:20}  {text}\n" for name, (_, text)
                                       in _ANALYSES.items()) +
        "\nTimes are ps. Errors are standard errors by blocks; a lag as long as a block has none,\n"
        "and a correlation function that never falls to 0 has no integral: nan.\n"
        "Exit status: 0 success, 1 failure, nothing was written, 2 wrong command line.")
    parser.add_argument("results", metavar="RESULTS.npz")
    parser.add_argument("analysis", choices=list(_ANALYSES), metavar="ANALYSIS")
    parser.add_argument("--key", required=True, help="array to analyse, such as com or L_vector")
    parser.add_argument("-o", "--output", required=True, metavar="OUT",
                        help="write OUT.npz or OUT.csv")
    parser.add_argument("--force", action="store_true", help="replace an existing OUT")
    parser.add_argument("--dt", type=float, metavar="PS",
                        help="time between frames of the file (default: from its time_ps)")
    parser.add_argument("--start", type=int, default=0, metavar="N",
                        help="first frame, counted from 0 (default: 0)")
    parser.add_argument("--stop", type=int, metavar="N", help="stop before this frame")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="take every Nth frame")
    parser.add_argument("--blocks", type=int, default=5, metavar="N",
                        help="blocks for errors (default: 5)")
    parser.add_argument("--subtract-mean", action="store_true",
                        help="acf: subtract the mean over all frames first")
    parser.add_argument("--no-normalise", action="store_true", help="acf: do not divide by C(0)")
    parser.add_argument("--fit", type=_fit, metavar="FROM:TO",
                        help="diffusion: lags in ps to fit (default: from a tenth to a half of a "
                        "block)")
    parser.add_argument("--column", type=int, choices=(0, 1, 2), default=0,
                        help="rotation: column of principal axes (default: 0, the long axis)")
    parser.add_argument("--version", action="version", version=f"collet {_core.version}")
    return parser


def _run(options: argparse.Namespace) -> list[Number]:
    x, times = _read(options.results, options.key, options.dt is None)
    series = _series(x, options)[frames := slice(options.start, options.stop, options.step)]
    dt = _step(times[frames], options) if options.dt is None else options.dt * options.step
    task = _Task(options, dt, _known(options.key)[0])
    found = _ANALYSES[options.analysis][0](series, task)
    meta = {"analysis": options.analysis, "key": options.key, "results": options.results,
            "start": options.start, "stop": options.stop, "step": options.step, "dt_ps": dt,
            "blocks": options.blocks, "collet": _core.version,
            "units": {name: unit for name, _, unit in (*found.columns, *found.numbers)}}
    _write(options.output, found, meta, options.force)
    return list(found.numbers)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.output.endswith(_SUFFIXES):
        parser.error(f"{options.output}: the name must end in {' or '.join(_SUFFIXES)}")
    if options.start < 0 or options.step < 1 or (options.stop is not None and options.stop < 1):
        parser.error("--start must be at least 0, --stop and --step at least 1")
    if not options.force and os.path.lexists(options.output):
        parser.error(f"{options.output} exists: choose another name, or --force replaces it")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numbers = _run(options)
    except KeyboardInterrupt:
        return 130
    except (Error, MemoryError) as error:
        chosen = (options.start, options.step) != (0, 1) and "frame" in str(error)
        print(f"{_PROGRAM}: {options.key}: {error}" +
              ("; frames are counted from --start in steps of --step" if chosen else ""),
              file=sys.stderr)
        return 1
    for warning in caught:
        print(f"{_PROGRAM}: warning: {warning.message}", file=sys.stderr)
    for name, value, unit in numbers:
        print(f"{name:20} {value:<14.8g} {'' if unit == '1' else unit}".rstrip())
    return 0
