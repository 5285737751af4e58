# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""Pictures of analyses. Need matplotlib."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._core import InvalidError
from .._table import labelled
from ._files import Found


_MAPS = ("pmf", "difference", "dccm", "tensor")


def _curves(axes: Any, found: Found, names: Mapping[str, str]) -> None:
    """Draws columns over the first column, with their errors as bands. Each axis has one unit."""
    (name, x, unit), *rest = found.columns
    errors = {label.removesuffix("_error"): values for label, values, _ in rest
              if label.endswith("_error")}
    first = rest[0][2]
    for label, values, own in rest:
        if label.endswith("_error") or own != first:
            continue
        line, = axes.plot(x, values, label=label, linewidth=1.5)
        if label in errors:
            axes.fill_between(x, values - errors[label], values + errors[label], alpha=0.25,
                              color=line.get_color(), linewidth=0)
    axes.set_xlabel(labelled(names.get(name, name), unit))
    axes.set_ylabel(labelled(rest[0][0] if len(axes.lines) == 1 else "", first))
    numbers = {label: value for label, value, _ in found.numbers}
    if "fit_intercept" in numbers:
        ends = np.array([numbers["fit_start"], numbers["fit_stop"]])
        slope = 2 * numbers["dimensions"] * numbers["diffusion"]
        axes.plot(ends, numbers["fit_intercept"] + slope * ends, color="black", linestyle="--",
                  label=f"fit, D = {numbers['diffusion']:.4g} {first}/ps")
    if len(axes.lines) > 1:
        axes.legend()


def _map(axes: Any, found: Found, names: Mapping[str, str]) -> None:
    """Draws a matrix, or a potential over two coordinates."""
    arrays = {name: (values, unit) for name, values, unit in found.arrays}
    name = next(n for n in _MAPS if n in arrays)
    values, unit = arrays[name]
    if name == "pmf":
        (x, x_unit), (y, y_unit) = arrays["x_edges"], arrays["y_edges"]
        image = axes.pcolormesh(x, y, values.T, cmap="viridis")
        axes.set_xlabel(labelled(names["x"], x_unit))
        axes.set_ylabel(labelled(names["y"], y_unit))
    else:
        size = float(np.nanmax(np.abs(values))) or 1.0
        tensor = name == "tensor"
        image = axes.imshow(values, cmap="RdBu_r", vmin=-size, vmax=size,
                            origin="upper" if tensor else "lower")
        if tensor:
            axes.set_xticks(range(3), "xyz")
            axes.set_yticks(range(3), "xyz")
            for (i, j), value in np.ndenumerate(values):
                axes.text(j, i, f"{value:.3g}", ha="center", va="center",
                          color="white" if abs(value) > 0.6 * size else "black")
        else:
            axes.set_xlabel("j")
            axes.set_ylabel("i")
    axes.figure.colorbar(image, ax=axes, label=labelled(name, unit))


def _series(panels: Any, found: Found, times: Any, time_label: str) -> None:
    """Draws series over time, with a panel for each unit. For many bodies: their mean, with the standard
    deviation as a band. For `equilibration`: also the first frame that counts as equilibrated."""
    numbers = {name: value for name, value, _ in found.numbers}
    for axes, unit in zip(panels, _units(found)):
        for name, values, own in found.series:
            if own != unit:
                continue
            bodies = values.ndim > 1 and values.shape[1] > 1
            mean = values.reshape(len(values), -1).mean(axis=1)
            line, = axes.plot(times, mean, linewidth=0.8,
                              label=f"{name}, mean of {values.shape[1]} bodies" if bodies else name)
            if bodies:
                spread = values.std(axis=1)
                axes.fill_between(times, mean - spread, mean + spread, alpha=0.25,
                                  color=line.get_color(), linewidth=0, label="standard deviation")
        label = axes.lines[0].get_label() if len(axes.lines) == 1 else ""
        axes.set_ylabel(labelled(label.partition(",")[0], unit))
        if "time" in numbers:
            start = times[0] + numbers["time"]
            axes.axvline(start, color="black", linestyle="--", label=f"equilibrated from {start:g} ps "
                         f"on, {numbers['samples']:.0f} samples")
        if len(axes.lines) > 1 or axes.collections:
            axes.legend(fontsize="small")
    panels[-1].set_xlabel(time_label)


def _units(found: Found) -> list[str]:
    return list(dict.fromkeys(unit for _, _, unit in found.series))


def draw(path: str, title: str, found: Found, axis: tuple[Any, str] | None,
         names: Mapping[str, str]) -> bytes:
    """The bytes of a picture, in the format that the path's suffix names. axis: the numbers and the label of
    the time axis of found.series. names: the names of the columns x and y."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import ScalarFormatter
    except ImportError:
        raise InvalidError("--plot needs matplotlib: pip install matplotlib, or Debian's python3-matplotlib") from None
    rows = max(1, len(_units(found)))
    figure = Figure(figsize=(7, 2.5 + 2 * rows), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    panels = figure.subplots(rows, sharex=True, squeeze=False)[:, 0]
    if axis is not None:
        _series(panels, found, *axis)
    elif any(values.ndim == 2 and name in _MAPS for name, values, _ in found.arrays):
        _map(panels[0], found, names)
    elif len(found.columns) > 1:
        _curves(panels[0], found, names)
    else:
        raise InvalidError("--plot: this analysis gives only numbers, and there is nothing to draw")
    for axes in panels:
        for side in (axes.xaxis, axes.yaxis):
            if isinstance(side.get_major_formatter(), ScalarFormatter):
                side.get_major_formatter().set_useOffset(False)
    panels[0].set_title(title)
    suffix = os.path.splitext(path)[1][1:].lower()
    if suffix not in canvas.get_supported_filetypes():
        raise InvalidError(f"--plot {path}: the name must end in one of "
                           f".{', .'.join(sorted(canvas.get_supported_filetypes()))}, "
                           f"which matplotlib {matplotlib.__version__} writes")
    made = io.BytesIO()
    figure.savefig(made, format=suffix, dpi=150)
    return made.getvalue()
