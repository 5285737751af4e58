# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py, python/tests/test_documents.py
"""Collet: one interface to the hardware that a machine has, for NumPy arrays.

collet.op has every kernel as a function, collet.evaluate computes formulas, collet.Array keeps data on a device, collet.backends()
lists the backends found, collet.doctor() lists what is missing.
"""

from . import op
from ._array import Array, asarray, empty, from_dlpack, full, ones, zeros
from ._core import (AbiError, BusyError, CancelledError, DeviceLostError, DtypeError, Error,
                    Expression, FailedError, FileError, ForkedError, FormatError, InvalidError, NoMemoryError,
                    NotFoundError, NotReadyError, RefusedError, ShapeError, SizeOverflowError,
                    UnavailableError, UnknownBackendError, UnsupportedError, evaluate)
from ._core import version as __version__
from ._runtime import (Backend, Device, backends, configure, counters, finish, get_backend,
                       last_backend, memory, reset_peak, set_backend, set_num_threads, trim, using)


def doctor() -> tuple:
    """What is missing on this machine, why, and the command that installs it; print the result."""
    from ._doctor import examine
    return examine()
