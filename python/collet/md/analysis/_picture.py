# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""Pictures of analyses. Need matplotlib."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from ..._core import InvalidError
from ._files import Found, labelled


def _curves(axes: Any, found: Found) -> None:
    """Columns over the first, with their errors as bands; of one unit on each axis."""
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
    axes.set_xlabel(labelled(name, unit))
    axes.set_ylabel(labelled(rest[0][0] if len(axes.lines) == 1 else "", first))
    if len(axes.lines) > 1:
        axes.legend()


def _map(axes: Any, found: Found) -> None:
    """A matrix, or a potential over two coordinates."""
    arrays = {name: (values, unit) for name, values, unit in found.arrays}
    name = next(n for n in ("pmf", "difference", "dccm", "tensor") if n in arrays)
    values, unit = arrays[name]
    if name == "pmf":
        (x, x_unit), (y, y_unit) = arrays["x_edges"], arrays["y_edges"]
        image = axes.pcolormesh(x, y, values.T, cmap="viridis")
        axes.set_xlabel(labelled("x", x_unit))
        axes.set_ylabel(labelled("y", y_unit))
    else:
        size = float(np.nanmax(np.abs(values))) or 1.0
        image = axes.imshow(values, cmap="RdBu_r", vmin=-size, vmax=size, origin="lower")
        axes.set_xlabel("j")
        axes.set_ylabel("i")
    axes.figure.colorbar(image, ax=axes, label=labelled(name, unit))


def _series(axes: Any, x: Any, times: Any, found: Found, unit: str) -> None:
    """A series over time, and the frame from which on it is equilibrated."""
    numbers = {name: value for name, value, _ in found.numbers}
    axes.plot(times, np.reshape(x, (len(x), -1)), linewidth=0.8)
    axes.axvline(times[0] + numbers["time"], color="black", linestyle="--",
                 label=f"equilibrated from {times[0] + numbers['time']:g} ps on, "
                       f"{numbers['samples']:.0f} samples")
    axes.set_xlabel("time (ps)")
    axes.set_ylabel(unit)
    axes.legend()


def draw(path: str, title: str, found: Found, series: tuple[Any, Any, str] | None) -> bytes:
    """A picture in the format of the path's ending; series: numbers, times and label of what
    `equilibration` looked at."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidError("--plot needs matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    if series is not None:
        _series(axes, series[0], series[1], found, series[2])
    elif any(values.ndim == 2 and name in ("pmf", "difference", "dccm", "tensor")
             for name, values, _ in found.arrays):
        _map(axes, found)
    elif len(found.columns) > 1:
        _curves(axes, found)
    else:
        raise InvalidError("--plot: this analysis has numbers alone, nothing to draw")
    axes.set_title(title)
    suffix = os.path.splitext(path)[1][1:].lower()
    if suffix not in canvas.get_supported_filetypes():
        raise InvalidError(f"--plot {path}: the name must end in one of "
                           f".{', .'.join(sorted(canvas.get_supported_filetypes()))}, "
                           f"which matplotlib {matplotlib.__version__} writes")
    made = io.BytesIO()
    figure.savefig(made, format=suffix, dpi=150)
    return made.getvalue()
