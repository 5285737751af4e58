# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md.py
"""Molecular dynamics: kernels for positions in NumPy arrays, and observables of whole trajectories.

The kernels take one frame, with positions (atoms, 3), or many, with positions (frames, atoms, 3). For many
frames the first axis of results counts the frames. Kernels compute in float64. They take float32 and float64
arrays, and convert other numbers to float64. For collet.Arrays they return collet.Arrays. Results have the
caller's units. Names and arguments are the same as in rotmd. observables computes several quantities in
one pass.

extract and extract_batches compute the observables of all frames of a trajectory. RotationalObservables does
the same in the form of an analysis of MDAnalysis. merge joins parts that several processes extracted. make_whole,
unwrap and pack_into_box place molecules in periodic boxes. The module analysis computes correlation, diffusion,
potentials of mean force and more from these observables.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from .._hook import hook as _hook
from .._listing import own
from ._kernels import (compute_com_batch as compute_com_batch, compute_com_single as compute_com_single,
                      compute_magnitude_batch as compute_magnitude_batch,
                      cross_product_single_frame as cross_product_single_frame,
                      cross_product_trajectory as cross_product_trajectory,
                      decompose_vector_batch as decompose_vector_batch,
                      decompose_vector_batch_static_ref as decompose_vector_batch_static_ref,
                      decompose_vector_single as decompose_vector_single,
                      inertia_tensor_batch as inertia_tensor_batch,
                      inertia_tensor_single as inertia_tensor_single, observables as observables,
                      principal_axes_batch as principal_axes_batch,
                      process_in_chunks as process_in_chunks, solve_linear_batch as solve_linear_batch,
                      time_derivative_batch as time_derivative_batch)

_hook(globals(), __name__, "md.")

_ENGINE = ("extract", "extract_batches", "formats", "Format", "merge", "quantities", "Quantity",
           "Results", "times")


_PERIODIC = ("make_whole", "unwrap", "pack_into_box")


if TYPE_CHECKING:
    from . import analysis as analysis
    from ._extract import (Format as Format, Quantity as Quantity, Results as Results, extract as extract,
                           extract_batches as extract_batches, formats as formats, merge as merge,
                           quantities as quantities, times as times)
    from ._mdanalysis import RotationalObservables as RotationalObservables
    from ._periodic import make_whole as make_whole, pack_into_box as pack_into_box, unwrap as unwrap
    from ._sources import Frames as Frames


def __getattr__(name: str) -> Any:  # loads the engine's library at its first use
    if name in _ENGINE:
        from . import _extract
        return getattr(_extract, name)
    if name == "Frames":
        from ._sources import Frames
        return Frames
    if name in _PERIODIC:
        from . import _periodic
        return getattr(_periodic, name)
    if name == "RotationalObservables":
        try:
            from ._mdanalysis import RotationalObservables
        except ImportError as error:  # hasattr, and programs that look up every name of dir(), need AttributeError
            raise AttributeError(f"collet.md.RotationalObservables needs MDAnalysis, pip install MDAnalysis: {error}") \
                from error
        return RotationalObservables
    if name == "analysis":
        return importlib.import_module(f"{__name__}.analysis")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    more = ("RotationalObservables",) if importlib.util.find_spec("MDAnalysis") else ()
    return own(globals(), (*_ENGINE, *_PERIODIC, *more, "Frames", "analysis"))
