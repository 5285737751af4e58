# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_rotmd.py
"""rotmd on Collet: its module rotmd.core.kernels, with kernels of collet.md.

    import collet.compat.rotmd
    collet.compat.rotmd.install()           # before or after rotmd is imported

or, for an unchanged program:

    python -m collet.compat.rotmd -m pytest tests
    python -m collet.compat.rotmd script.py ARGUMENTS

Backends are chosen as rotmd's runtime documents it, by set_backend or ROTMD_BACKEND: "numba" is the
CPU, "torch" and "jax" are Collet's preferred backend ("auto"), and Collet's own names work too.
"""

import importlib.abc
import importlib.machinery
import os
import sys

import collet
from collet._listing import own
from collet.md import (compute_com_batch, compute_com_single, compute_magnitude_batch,
                       cross_product_single_frame, cross_product_trajectory, decompose_vector_batch,
                       decompose_vector_batch_static_ref, decompose_vector_single,
                       inertia_tensor_batch, inertia_tensor_single, principal_axes_batch,
                       process_in_chunks, solve_linear_batch, time_derivative_batch)

MODULE = "rotmd.core.kernels"
NUMBA_AVAILABLE = False  # nothing here is compiled by numba
prange = range

_CHOICES = {"numba": "cpu_openmp,cpu_scalar", "torch": "auto", "jax": "auto"}
_KERNELS = ["compute_com_batch", "compute_com_single", "compute_magnitude_batch",
            "cross_product_single_frame", "cross_product_trajectory", "decompose_vector_batch",
            "decompose_vector_batch_static_ref", "decompose_vector_single", "inertia_tensor_batch",
            "inertia_tensor_single", "principal_axes_batch", "process_in_chunks",
            "solve_linear_batch", "time_derivative_batch"]
_NAMES = [*_KERNELS, "NUMBA_AVAILABLE", "jit", "prange", "set_backend", "get_backend",
          "get_available_backends", "set_device", "print_backend_info"]
_backend = None  # the last name that set_backend took


def jit(*args, **kwargs):
    """Replaces numba.jit: returns the function unchanged."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


def set_backend(name):
    """Chooses "numba", "torch", "jax" or a choice of collet.set_backend, for the whole process.

    Raises the exceptions of collet.set_backend; the earlier choice then stays."""
    global _backend
    collet.set_backend(_CHOICES.get(name, name))
    _backend = name


def get_backend():
    """The chosen name. Before the first choice: Collet's choice."""
    return _backend or collet.get_backend()


def get_available_backends():
    """rotmd's names of backends, all supported by Collet, and Collet's usable backends."""
    return [*_CHOICES, *(b.name for b in collet.backends() if b.state != "unavailable")]


def set_device(device):
    """Chooses a device as PyTorch writes it: "cpu", "cuda", "cuda:0"; also Collet's "opencl:1"."""
    name = str(device)
    collet.set_backend(_CHOICES["numba"] if name == "cpu" else name)


def print_backend_info():
    """Prints the choice and the devices of CUDA."""
    devices = [d for b in collet.backends() if b.name == "cuda" and b.state == "usable"
               for d in b.devices]
    print(f"Active backend: {get_backend()} (Collet: {collet.get_backend()})")
    print(f"Available backends: {', '.join(get_available_backends())}")
    print(f"CUDA available: {bool(devices)}")
    print(f"CUDA devices: {len(devices)}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        return importlib.machinery.ModuleSpec(fullname, self) if fullname == MODULE else None

    def exec_module(self, module):
        _fill(module)


def _fill(module):
    for name in _NAMES:
        setattr(module, name, globals()[name])
    module.__all__ = _KERNELS


_finder = _Finder()


def install():
    """Replaces rotmd.core.kernels by Collet's module. rotmd may be imported already. If ROTMD_BACKEND is
    set, calls set_backend with it. A second call changes nothing."""
    if _finder in sys.meta_path:
        return
    if os.environ.get("ROTMD_BACKEND"):
        set_backend(os.environ["ROTMD_BACKEND"])
    sys.meta_path.insert(0, _finder)
    if MODULE in sys.modules:
        _fill(sys.modules[MODULE])


def _main():
    from collet.compat import _program, rotmd  # by its name, because this copy is the module __main__
    _program.run("python -m collet.compat.rotmd", rotmd.install)


if __name__ == "__main__":
    _main()


def __dir__():
    return own(globals(), _NAMES)
