# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py, python/tests/test_documents.py
"""Collet: one interface to the hardware that a machine has, for NumPy arrays.

collet.op has every kernel as a function, collet.functions what is composed of them (collet.concat),
collet.evaluate computes formulas, collet.Array keeps data on a device, collet.backends() lists the
backends found, collet.doctor() what is missing.
"""

from . import op
from ._array import Array, asarray, empty, from_dlpack, full, ones, zeros
from ._core import (AbiError, BusyError, CancelledError, DeviceLostError, DtypeError, Error,
                    Expression, FailedError, FileError, ForkedError, FormatError, InvalidError, NoMemoryError,
                    NotFoundError, NotReadyError, RefusedError, ShapeError, SizeOverflowError,
                    UnavailableError, UnknownBackendError, UnsupportedError, evaluate)
from ._core import version as __version__
from ._runtime import (Backend, Device, backends, configure, counters, eager, finish, get_backend,
                       last_backend, memory, reset_peak, set_backend, set_num_threads, trim, using)

_MODULES = ("bench", "fft", "functions", "linalg", "md", "random", "scatter", "ternary")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import bench, fft, functions, linalg, md, random, scatter, ternary
    from ._standard.names import *
    from .functions import *

    def __getattr__(name: str) -> object: ...  # the elementwise functions, made from the list of ops
else:
    def __getattr__(name):
        """Modules and functions are imported at their first use: NumPy alone, which they import, takes
        longer than this package."""
        from importlib import import_module
        if name in _MODULES:
            return import_module("collet." + name)
        standard = "__array_" in name or not name.startswith("_")
        for names, find in _places() if standard else ():
            if name in names:
                globals()[name] = found = find(name)
                return found
        raise AttributeError(f"module 'collet' has no attribute {name!r}")


def _places():
    """Where names are that are imported at their first use, and what finds them."""
    from . import functions
    from ._standard import elementwise, names
    composed = {n: f for n, f in vars(functions).items() if not n.startswith("_")}
    yield elementwise.names(), elementwise.functions.__getitem__
    yield composed, composed.__getitem__
    yield names.names(), lambda name: getattr(names, name)


def __dir__():
    return sorted({*globals(), *_MODULES, *(n for names, _ in _places() for n in names)})


def doctor() -> tuple:
    """What is missing on this machine, why, and the command that installs it; print the result."""
    from ._doctor import examine
    return examine()
