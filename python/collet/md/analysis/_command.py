# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""The command collet-analyse: analyses of a results file of collet-extract."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ... import _core
from ..._core import Error, InvalidError, ShapeError
from .._table import write
from ._analyses import ANALYSES, MissingOption, Task
from ._files import SUFFIXES, Found, content_of
from ._picture import draw
from ._results import Results

_PROGRAM = "collet-analyse"
# tools/common/exit.h has the same for the programs in C.
_EXIT = ("Exit status: 0 success; 1 failure; 2 wrong command line; 3 incomplete: the input ends early\n"
         "or is damaged, or time was up, and all before that is done; 77 the backend cannot be used on\n"
         "this machine; 128 + n stopped by signal n.")
_REGULAR = 1e-3  # time steps may differ by this fraction of the usual step, because files round times

# ---- Command line --------------------------------------------------------------------------------


def _fit(text: str) -> tuple[float, float]:
    try:
        start, stop = map(float, text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not FROM:TO, two numbers") from None
    return start, stop


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Options of several analyses."""
    parser.add_argument("--dt", type=float, metavar="PS",
                        help="time between frames of the file (default: from its time_ps)")
    parser.add_argument("--start", type=int, default=0, metavar="N",
                        help="first frame, counted from 0 (default: 0)")
    parser.add_argument("--stop", type=int, metavar="N", help="stop before this frame")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="take every Nth frame")
    parser.add_argument("--blocks", type=int, default=5, metavar="N",
                        help="blocks for errors (default: 5)")
    parser.add_argument("--temperature", type=float, default=300, metavar="K",
                        help="pmf, friction: temperature (default: 300)")
    parser.add_argument("--weights", metavar="KEY",
                        help="pmf: weights of frames; rmsd: of atoms (default: equal)")
    parser.add_argument("--fit", type=_fit, metavar="FROM:TO",
                        help="diffusion and tensors: lags in ps to fit (default: from a tenth to a "
                        "half of a block); memory: TO is the last lag")


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Options of one analysis."""
    add = parser.add_argument
    add("--subtract-mean", action="store_true",
        help="acf, friction, memory: subtract the mean over all frames first")
    add("--no-normalise", action="store_true", help="acf: do not divide by C(0)")
    add("--column", type=int, choices=(0, 1, 2), default=0,
        help="rotation: column of principal axes (default: 0, the long axis)")
    add("--vector", nargs=2, metavar=("FROM", "TO"),
        help="acf, rotation and others of positions: the vector between two atoms of each residue "
        "that has both, such as N H")
    add("--axes", metavar="KEY", help="diffusion-tensor: principal axes to which it refers")
    add("--key2", metavar="KEY", help="pmf: the second coordinate")
    add("--component", type=int, metavar="N",
        help="pmf: component of --key, counted from 0, such as 1 (theta) of euler_zyz")
    add("--component2", type=int, metavar="N", help="pmf: component of --key2")
    add("--bins", type=int, nargs="+", metavar="N", help="pmf: bins of each coordinate (default: 50)")
    add("--range", type=_fit, action="append", metavar="FROM:TO",
        help="pmf: range of --key, and again of --key2 (default: all samples)")
    add("--jacobian", nargs="+", choices=("none", "sin", "cos", "r2"),
        help="pmf: of each coordinate: sin of an angle between two axes (theta), cos of one between "
        "an axis and a plane, r2 of a distance (default: sin of theta of euler_zyz, cos of tilt_deg, "
        "none of others)")
    add("--periodic", choices=("x", "y", "xy"), help="pmf: coordinates whose range is a period")
    add("--inertia", type=float, metavar="AMU_NM2", help="friction: moment of inertia")
    add("--method", choices=("integral", "initial_slope", "exponential_fit"), default="integral",
        help="friction: of the correlation time (default: integral)")
    add("--torque", default="tau_vector", metavar="KEY", help="torque: torque (default: tau_vector)")
    add("--fit-atoms", metavar="ATOMS",
        help="rmsd, dccm, --vector: atoms that are superposed, such as 0:50,60 or 'name CA' (default: "
        "all; --vector: no superposition)")
    add("--domain", action="append", metavar="NAME=ATOMS",
        help="rmsd: atoms that count; may be repeated (default: all)")
    add("--reference", metavar="KEY", help="rmsd: reference positions (default: the first frame)")
    add("--other", nargs="+", metavar="FILE", help="compare: files of the other system")


def _printed(text: str, note: str = "") -> bool:
    """Prints the text. If that fails: prints the reason and the note to standard error, and returns
    False."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
        return True
    except BrokenPipeError:  # the reader closed the pipe; otherwise Python would print an error at exit
        printed = True
    except OSError as error:
        print(f"{_PROGRAM}: standard output: {error.strerror}{note}", file=sys.stderr)
        printed = False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return printed


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Prints errors as the C tools do, without the long usage text."""
        self.exit(2, f"{self.prog}: {message}\nTry `{self.prog} --help' for more information.\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints the help. If this fails, ends with status 1, because argparse would ignore the failure."""
        if file is not sys.stdout:
            super()._print_message(message, file)
        elif not _printed(message):
            raise SystemExit(1)


def _parser() -> _Parser:
    parser = _Parser(
        prog=_PROGRAM, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Analyses an array of a results file of collet-extract.",
        epilog="Analyses:\n" + "".join(f"  {name:20}  {analysis.text}\n"
                                       for name, analysis in ANALYSES.items()) +
        "\nTimes are ps. Errors are standard errors by blocks, with Student's factor;\n"
        "a lag as long as a block has none, and a correlation function that never falls to 0 has no\n"
        "integral: nan.\n" + _EXIT)
    parser.add_argument("results", metavar="RESULTS",
                        help=".npz, .h5, .csv or .xvg file, or directory, of collet-extract")
    parser.add_argument("analysis", metavar="ANALYSIS")
    parser.add_argument("--key", help="array to analyse, such as com or L_vector (rmsd, dccm: positions)")
    parser.add_argument("-o", "--output", required=True, metavar="OUT",
                        help=f"write OUT{', OUT'.join(SUFFIXES)}")
    parser.add_argument("--plot", metavar="PICTURE",
                        help="draw the result, such as acf.png or acf.pdf, with matplotlib")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    _add_choices(parser)
    _add_options(parser)
    parser.add_argument("-V", "--version", action="version", version=f"collet {_core.version}")
    return parser


# ---- Work ----------------------------------------------------------------------------------------


def _step(chosen: Any) -> float:
    """The time between two frames of equally spaced times."""
    if len(chosen) < 2:
        raise InvalidError("fewer than two frames have no time step: give --dt")
    steps = np.diff(chosen)
    if not steps.any():
        raise InvalidError(f"all times are {chosen[0]:.10g} ps, so the trajectory has no times: give the "
                           "time between frames of the file, --dt")
    usual = np.median(steps)
    wrong = np.flatnonzero(~(np.abs(steps - usual) <= _REGULAR * usual) | ~(steps > 0))
    if len(wrong):
        earlier, later = chosen[wrong[0]], chosen[wrong[0] + 1]
        raise InvalidError(
            f"times are not equally spaced: {later:.10g} ps follows {earlier:.10g} ps, and the "
            f"usual step is {usual:.10g} ps; choose frames with --start, --stop and --step, or give "
            "--dt if the times are wrong")
    return float((chosen[-1] - chosen[0]) / len(steps))


def _set_times(task: Task, times: Any, irregular: bool) -> None:
    steps = np.diff(times)
    if irregular and len(steps) > 1 and (steps > 0).all() and np.ptp(steps) > 2 * _REGULAR * np.median(steps):
        task.times = times
    else:
        task.dt = _step(times)


def _times(file: Results, options: argparse.Namespace) -> Any:
    """The time of each frame; None if times are not needed."""
    if options.dt is not None or not ANALYSES[options.analysis].timed:
        return None
    if "time_ps" not in file:
        raise InvalidError(f"{file.path} has no time_ps: add time_ps to --keys of collet-extract, or "
                           "give the time between frames, --dt")
    times, x = file["time_ps"], file[options.key]
    if times.ndim != 1 or times.shape != x.shape[:1]:
        raise ShapeError(f"{file.path}: {options.key} and time_ps have different numbers of frames")
    return times


def _axis(file: Results, options: argparse.Namespace, found: Found) -> tuple[Any, str] | None:
    """Numbers and label of the time axis in a picture."""
    if not found.series:
        return None
    count = len(found.series[0][1])
    frames = options.start + options.step * np.arange(count)
    if options.dt is not None:
        return options.dt * frames, "time (ps)"
    times = file["time_ps"][options.start:options.stop:options.step] if "time_ps" in file else ()
    return (times, "time (ps)") if np.shape(times) == (count,) else (frames, "frame")


def _coordinate(key: str | None, component: int | None) -> str:
    return f"{key}" if component is None else f"{key}, component {component}"


def _check_blocks(task: Task, blocks: int, found: Found) -> None:
    """Warns if errors are NaN because there are more blocks than frames."""
    names = [name for name, values, _ in (*(found.arrays or found.columns), *found.numbers)
             if name.endswith("error") and np.isnan(np.asarray(values, float)).all()]
    if names and task.options.key and blocks > (frames := len(task.array(task.options.key))):
        warnings.warn(f"{', '.join(names)}: nan, because {frames} frames cannot be divided into {blocks} blocks: give fewer, "
                      "--blocks N, or more frames")


def _run(options: argparse.Namespace) -> Found:
    analysis = ANALYSES[options.analysis]
    with Results(options.results) as file:
        task = Task(file, options)
        times = _times(file, options)
        if times is not None:
            _set_times(task, times[task.frames], analysis.irregular)
        elif analysis.timed:
            task.dt = options.dt * options.step
        found = analysis.run(task)
        _check_blocks(task, options.blocks, found)
        axis = _axis(file, options, found) if options.plot is not None else None
    chosen = {name: value for name, value in vars(options).items()
              if name not in ("output", "force", "dt", "plot") and value is not None}
    meta = {**chosen, **({"dt_ps": task.dt} if analysis.timed else {}), "collet": _core.version,
            "units": found.units}
    files = [(options.output, content_of(options.output, found, meta))]
    if options.plot is not None:
        names = {"x": _coordinate(options.key, options.component),
                 "y": _coordinate(options.key2, options.component2)}
        files.append((options.plot, draw(
            options.plot, f"{options.key or options.results}: {options.analysis}", found, axis, names)))
    write(files, options.force)
    return found


def _joined(arguments: Sequence[str]) -> list[str]:
    """Replaces "--range -1:1" by "--range=-1:1", because argparse would take -1:1 for an option."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] in ("--range", "--fit") and argument[:1] == "-":
            found[-1] += f"={argument}"
        else:
            found.append(argument)
    return found


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(_joined(arguments))
    if options.analysis not in ANALYSES:
        near = difflib.get_close_matches(options.analysis, ANALYSES, 1)
        parser.error(f"the file comes first: {options.analysis} {options.results}"
                     if options.results in ANALYSES else f"'{options.analysis}' is not an analysis; " + (
                         f"the nearest is {near[0]}" if near else f"they are {', '.join(ANALYSES)}"))
    options.key = options.key or ANALYSES[options.analysis].key
    if options.key is None and options.analysis != "compare":
        parser.error("the following arguments are required: --key")
    if not options.output.endswith(SUFFIXES):
        parser.error(f"{options.output}: the name must end in {', '.join(SUFFIXES[:-1])} or "
                     f"{SUFFIXES[-1]}")
    if options.start < 0 or options.step < 1 or (options.stop is not None and options.stop < 1):
        parser.error("--start must be at least 0, --stop and --step at least 1")
    if options.plot is not None and os.path.abspath(options.plot) == os.path.abspath(options.output):
        parser.error("--plot and -o are the same file")
    for path in (options.output, options.plot):
        if path is not None and os.path.exists(path) and os.path.exists(options.results) and \
                os.path.samefile(path, options.results):
            parser.error(f"{path} is the file to analyse: choose another name")
        if path is not None and not options.force and os.path.lexists(path):
            parser.error(f"{path} exists: choose another name, or --force replaces it")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _parsed(sys.argv[1:] if arguments is None else arguments)
    name = options.key or options.analysis
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _run(options)
    except KeyboardInterrupt:
        return 130
    except (Error, MemoryError) as error:
        chosen = (options.start, options.step) != (0, 1) and "frame" in str(error)
        where = "" if str(error).startswith(options.results) else f"{name}: "
        print(f"{_PROGRAM}: {where}{error}" +
              ("; frames are counted from --start in steps of --step" if chosen else ""),
              file=sys.stderr)
        return 2 if isinstance(error, MissingOption) else 1
    for warning in caught:
        print(f"{_PROGRAM}: warning: {warning.message}", file=sys.stderr)
    numbers = "".join(f"{label:20} {value:<14.8g} {'' if unit == '1' else unit}".rstrip() + "\n"
                      for label, value, unit in found.numbers)
    return 0 if _printed(numbers, f"; {options.output} is complete") else 1
