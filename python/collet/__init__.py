# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py, python/tests/test_documents.py
"""Collet: one interface to the hardware that a machine has, for NumPy arrays.

collet.op has every kernel as a function, collet.functions what is composed of them (collet.concat),
collet.evaluate computes formulas, collet.Array keeps data on a device, collet.backends() lists the
backends found, collet.doctor() what is missing.
"""

try:
    from ._core import version as __version__
except ModuleNotFoundError:
    from ._package import missing_extension
    raise ImportError(missing_extension()) from None
from . import op as op
from ._array import (Array as Array, asarray as asarray, empty as empty, from_dlpack as from_dlpack,
                     full as full, ones as ones, zeros as zeros)
from ._core import (AbiError as AbiError, BusyError as BusyError, CancelledError as CancelledError,
                    DeviceLostError as DeviceLostError, DtypeError as DtypeError, Error as Error,
                    Expression as Expression, FailedError as FailedError, FileError as FileError,
                    ForkedError as ForkedError, FormatError as FormatError, InvalidError as InvalidError,
                    NoMemoryError as NoMemoryError, NotFoundError as NotFoundError,
                    NotReadyError as NotReadyError, RefusedError as RefusedError, ShapeError as ShapeError,
                    SizeOverflowError as SizeOverflowError, UnavailableError as UnavailableError,
                    UnknownBackendError as UnknownBackendError, UnsupportedError as UnsupportedError,
                    evaluate as evaluate)
from ._runtime import (Backend as Backend, Device as Device, backends as backends, configure as configure,
                       counters as counters, eager as eager, explain as explain, finish as finish,
                       get_backend as get_backend, last_backend as last_backend, memory as memory,
                       reset_peak as reset_peak, set_backend as set_backend,
                       set_num_threads as set_num_threads, trim as trim, using as using)

_MODULES = ("bench", "fft", "functions", "lib", "linalg", "md", "random", "scatter", "ternary")
_GRADIENTS = ("custom_vjp", "grad", "hessian", "jacobian", "stop_gradient", "value_and_grad", "vjp")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (bench as bench, fft as fft, functions as functions, lib as lib, linalg as linalg,
                   md as md, random as random, scatter as scatter, ternary as ternary)
    from ._standard.names import *
    from ._gradient.transforms import *
    from ._standard.typed import *
    from .functions import *
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
    yield _GRADIENTS, _transform


def _transform(name):
    from ._gradient import transforms
    return getattr(transforms, name)


def __dir__():
    found = {*globals(), *_MODULES, *(n for names, _ in _places() for n in names)} - {"TYPE_CHECKING"}
    return sorted(n for n in found if (n[0] != "_" or n[:2] == "__") and (n != "bfloat16" or _has_bfloat16()))


def _has_bfloat16():
    from ._standard import names
    return hasattr(names, "bfloat16")


def doctor() -> tuple:
    """What is missing on this machine, why, and the command that installs it; print the result.

    >>> text = str(collet.doctor())"""
    from ._doctor import examine
    return examine()
