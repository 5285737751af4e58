# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_results.py
"""Pictures of results over time, one for each group of quantities. Need matplotlib."""

import io
import os

import numpy as np

from .. import _core
from ._save import components
from ._table import labelled, write

_POINTS = 2000  # points of a line: with more frames each point is a mean, drawn with the range of its frames

# Name and title of a picture, and its panels: keys that share an axis, with the names of their lines.
# "axes/1": only the components of "axes" whose names contain "1".
_VECTORS = [("L", "Angular momentum"), ("tau", "Torque"), ("omega", "Angular velocity"),
            ("dLdt", "Change of the angular momentum")]
_FIGURES = [
    *((name, title, [{f"{name}/{axis}": ""} for axis in "xyz"])
      for name, title in [("com", "Centre of mass"), ("com_velocity", "Velocity of the centre of mass"),
                          ("dipole", "Dipole moment"),
                          ("end_to_end", "From the first to the last atom")]),
    ("size", "Size and shape", [{"rg": "radius of gyration"}, {"rmsd": "rmsd"},
                                {"asphericity": "asphericity"}]),
    ("inertia", "Inertia", [{"moments": "moment"}, {"inertia_tensor": "I"}]),
    ("gyration", "Gyration tensor", [{"gyration_tensor": "S"}]),
    ("orientation", "Orientation", [{"euler_zyz": ""}, {"tilt_deg": "tilt"}]),
    ("axes", "Principal axes", [{"axes/1": "axis"}, {"axes/2": "axis"}, {"axes/3": "axis"}]),
    ("energy", "Kinetic energy", [{"k_total": "total", "k_trans": "translation",
                                   "k_rot": "rotation"}]),
    *((name, title, [{f"{name}_vector": name},
                     {f"{name}_magnitude": "length", f"{name}_parallel_mag": "parallel part",
                      f"{name}_perp_mag": "perpendicular part", f"{name}_z_mag": "along the axis"}])
      for name, title in _VECTORS)]
_SYMMETRIC = ("inertia_tensor", "gyration_tensor")
_ANGLES = ("euler_zyz",)


def _time_of(results):
    """The label and the values of the horizontal axis."""
    if "time_ps" not in results:
        return "frame", np.arange(len(next(iter(results.values()))), dtype=float)
    times = results["time_ps"]
    last = np.nanmax(np.abs(times), initial=0)
    for unit, size in (("µs", 1e6), ("ns", 1e3)):
        if last >= 10 * size:
            return f"time ({unit})", times / size
    return "time (ps)", times


def _lines_of(results, key):
    """The components of a key: for each the name, and the values as an array frames x bodies."""
    key, _, only = key.partition("/")
    values = results[key].reshape(len(results[key]), len(results.bodies or "1"), -1)
    for i, name in enumerate(components(key, values.shape[2])):
        if only not in name or key in _SYMMETRIC and name[0] > name[1]:
            continue  # this component is not selected, or equals another component by symmetry
        yield name, values[:, :, i]


def _broken(values):
    """Sets NaN where an angle jumps, so that no line is drawn there."""
    values = values.copy()
    values[1:][np.abs(np.diff(values, axis=0)) > np.pi] = np.nan
    return values


def _reduced(x, values):
    """At most _POINTS points: x, middle, and the lower and upper edge of a band or None."""
    many = values.shape[1] > 1
    with np.errstate(invalid="ignore"):
        middle = values.mean(axis=1)
        spread = values.std(axis=1) if many else None
    step = -(-len(x) // _POINTS)
    if step > 1:
        count = len(x) // step
        blocks = middle[:count * step].reshape(count, step)
        x = x[:count * step].reshape(count, step).mean(axis=1)
        middle = blocks.mean(axis=1)
        if not many:
            return x, middle, blocks.min(axis=1), blocks.max(axis=1)
        spread = spread[:count * step].reshape(count, step).mean(axis=1)
    return (x, middle, middle - spread, middle + spread) if many else (x, middle, None, None)


def _panel(axes, results, x, keys, quantities, title):
    """Draws the lines of some keys. The label of the axis is the name of a single key, or the title for several
    keys."""
    units = []
    for key, own in keys.items():
        for name, values in _lines_of(results, key):
            if key in _ANGLES:
                values = _broken(values)
            at, middle, low, high = _reduced(x, values)
            if key.startswith("axes/"):
                name = f"{name[1]} {name[0]}"
            line, = axes.plot(at, middle, linewidth=1.2, label=" ".join(filter(None, (own, name))),
                              marker="." if len(at) == 1 else None)
            if low is not None:
                axes.fill_between(at, low, high, alpha=0.15, linewidth=0, color=line.get_color())
        units.append(quantities[key.partition("/")[0]].unit)
    alone = len(axes.lines) == 1
    of_all = "angle" if keys.keys() & {*_ANGLES} else title[0].lower() + title[1:]
    axes.set_ylabel(labelled(axes.lines[0].get_label() if alone else of_all, units[0].replace("^2", "²")))
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.margins(x=0)
    axes.grid(alpha=0.3)
    if not alone:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _figures(results):
    """(name, title, panels) of the quantities in the results."""
    for name, title, panels in _FIGURES:
        present = [{key: own for key, own in panel.items() if key.partition("/")[0] in results
                    and not (key in _ANGLES and results.bodies)} for panel in panels]
        present = [panel for panel in present if panel]
        if present:
            yield name, title, present


def plot(results, directory, force, quantities):
    """Writes DIRECTORY/NAME.png for each group; returns the paths."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise _core.InvalidError("plot needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib") from None
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise _core.FileError(f"{os.fspath(directory)}: {error.strerror or error}") from None
    label, x = _time_of(results)
    made = []
    for name, title, panels in _figures(results):
        figure = Figure(figsize=(8, 1.2 + 2.6 * len(panels)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, panel in zip(figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0], panels):
            _panel(axes, results, x, panel, quantities, title)
        axes.set_xlabel(label)
        if results.bodies:
            title += f": mean and standard deviation of {len(results.bodies)} bodies"
        figure.suptitle(title)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=120)
        made.append(os.path.join(os.fspath(directory), f"{name}.png"))
        write([(made[-1], content.getvalue())], force)
    if not made:
        raise _core.InvalidError("plot: the results have no quantity over time")
    return made
