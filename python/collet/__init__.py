# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py, python/tests/test_documents.py
"""Collet: one interface to the hardware that a machine has, for NumPy arrays.

collet.op has every kernel as a function. collet.functions has the functions composed of kernels, such as
collet.concat. collet.evaluate computes formulas, and collet.Array keeps data on a device. collet.backends()
lists the backends found, and collet.doctor() the missing requirements.
"""

import sys as _sys

try:
    from ._core import version as __version__
except ModuleNotFoundError:
    from ._package import missing_extension
    raise ImportError(missing_extension()) from None
from . import op as op
from ._array.creation import (asarray as asarray, empty as empty, from_dlpack as from_dlpack, full as full, ones as ones,
                              zeros as zeros)
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
                       get_backend as get_backend, get_num_threads as get_num_threads,
                       last_backend as last_backend, memory as memory,
                       register_threadpoolctl as register_threadpoolctl, reset_peak as reset_peak, set_backend as set_backend,
                       set_num_threads as set_num_threads, trim as trim, using as using)
from ._standard import namespace as _namespace
from ._standard.array import Array as Array

Array._package = _sys.modules[__name__]

_MODULES = ("bench", "fft", "functions", "lib", "linalg", "md", "random", "scatter", "special", "ternary")
_TRANSFORMS = {"forward": ("hvp", "jacfwd", "jvp", "linearize"), "jit": ("jit",), "trees": ("register_pytree_node",), "vmap": ("vmap",),
               "transforms": ("custom_vjp", "grad", "hessian", "jacobian", "stop_gradient", "value_and_grad", "vjp")}
_TRANSFORMS = {name: module for module, names in _TRANSFORMS.items() for name in names}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (bench as bench, fft as fft, functions as functions, lib as lib, linalg as linalg,
                   md as md, random as random, scatter as scatter, special as special, ternary as ternary)
    from ._array.names import *
    from ._gradient.forward import *
    from ._gradient.jit import *
    from ._gradient.transforms import *
    from ._gradient.trees import register_pytree_node as register_pytree_node
    from ._gradient.vmap import *
    from ._standard.typed import *
    from .functions import *
else:
    def __getattr__(name):
        """Imports modules and functions at their first use. They import NumPy, and importing NumPy alone
        takes longer than importing this package."""
        from importlib import import_module
        if name in _MODULES:
            return import_module("collet." + name)
        if name in _TRANSFORMS:
            found = getattr(import_module("collet._gradient." + _TRANSFORMS[name]), name)
        elif "__array_" in name or not name.startswith("_"):
            found = getattr(_namespace, name)
        else:
            raise AttributeError(f"module 'collet' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__():
    found = {*globals(), *_MODULES, *_TRANSFORMS, *(n for names, _ in _namespace._places() for n in names)} - {"TYPE_CHECKING"}
    return sorted(n for n in found if (n[0] != "_" or n[:2] == "__") and (n != "bfloat16" or hasattr(_namespace, n)))


def doctor() -> tuple:
    """Returns the missing requirements of this machine, the reasons, and the commands that install them.
    Print the result.

    >>> text = str(collet.doctor())"""
    from ._doctor import examine
    return examine()
