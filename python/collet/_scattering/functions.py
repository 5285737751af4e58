# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/scatter/test_scatter_torch.py, python/tests/scatter/test_scatter_jax.py
"""The patterns of a sample as functions of PyTorch and JAX, for collet.scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core, _host
from .._core import DtypeError, InvalidError, ShapeError
from .patterns import Floats, Gradient, Patterns, Sample, choice, extents, is_double

_NAMES = ("constants", "volume", "alignment", "theta", "psi", "direction", "unaligned")


class Function:
    """The code that the functions for both libraries share: a sample, and the list of its arrays that are arguments.

    places: (index in sample.materials, name of the array) of each argument"""

    def __init__(self, sample: Sample, arrays: Sequence[tuple[int, str]], dtype: npt.DTypeLike | None,
                 options: dict[str, Any]) -> None:
        if isinstance(arrays, str) or not arrays:
            raise InvalidError(f"arrays are {arrays!r}, not a list of one or more pairs (index of a material, name)")
        for pair in arrays:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise InvalidError(f"arrays has {pair!r}, not a pair (index of a material, name)")
            choice("the name in arrays", pair[1], _NAMES)
            if not 0 <= pair[0] < len(sample.materials):
                raise InvalidError(f"arrays has the material {pair[0]}; the sample has {len(sample.materials)} materials, "
                                   "from 0 on")
        self.places = list(arrays)
        if len(set(self.places)) != len(self.places):
            raise InvalidError(f"arrays is {self.places}: an array is named twice")
        self.wide = None if dtype is None else is_double(dtype)
        self.sample, self.options = sample, options
        self.energies = len(np.atleast_1d(_host.array(sample.energies, float, "energies")))

    def count(self, given: int) -> None:
        """Raises for a wrong number of arguments."""
        if given != len(self.places):
            raise TypeError(f"the function takes {len(self.places)} arrays, not {given}: "
                            f"{', '.join(map(self.name, range(len(self.places))))}")

    def name(self, i: int) -> str:
        """The name of argument i in messages."""
        return f"materials[{self.places[i][0]}].{self.places[i][1]}"

    def dtype(self, given: Sequence[str]) -> str:
        """Returns the dtype of the result of a call whose arguments have the dtypes `given`."""
        for i, name in enumerate(given):
            if name not in ("float32", "float64"):
                raise DtypeError(f"{self.name(i)} is {name}, not float32 or float64")
        wide = "float64" in given if self.wide is None else self.wide
        return "float64" if wide else "float32"

    def shape(self, given: Sequence[tuple[int, ...]]) -> tuple[int, int, int]:
        """Returns the shape (energies, Y, X) of the result of a call whose arguments have the shapes `given`."""
        voxels = next((shape[:3] for (_, name), shape in zip(self.places, given) if name in ("volume", "unaligned")), None)
        voxels = self.sample.shape if voxels is None else voxels
        for i, ((_, name), shape) in enumerate(zip(self.places, given)):
            expected = (*voxels, 3) if name == "direction" else voxels
            if name == "constants":
                expected = (4,) if len(shape) == 1 else (self.energies, 4)
            if tuple(shape) != expected:
                raise ShapeError(f"{self.name(i)} is {extents(tuple(shape))}, not {extents(expected)}")
        if len(voxels) != 3:
            raise ShapeError(f"the voxels have {len(voxels)} axes, not 3")
        return self.energies, voxels[1], voxels[2]

    def patterns(self, arrays: Sequence[Floats], dtype: str, **more: Any) -> Patterns:
        """The Patterns of the sample with these arrays, which are not copied if they are contiguous."""
        materials = list(self.sample.materials)
        for (i, name), array in zip(self.places, arrays):
            materials[i] = replace(materials[i], **{name: array})
        return Patterns(replace(self.sample, materials=materials), dtype=dtype, **{**self.options, **more})

    def values(self, patterns: Patterns) -> Floats:
        values = np.empty((len(patterns.energies), *patterns.shape[1:]), patterns.dtype)
        for i, pattern in enumerate(patterns):
            values[i] = pattern.values
        self.sample = replace(self.sample, _warns=False)  # one warning of the grid is enough
        return values

    def gradients(self, patterns: Patterns, cotangents: Floats, arrays: Sequence[Any],
                  needs: Sequence[bool]) -> list[Floats | None]:
        """dL / d(argument) of each argument; None where `needs` is False."""
        wrt = {name for (_, name), need in zip(self.places, needs) if need}
        found: list[Gradient] = patterns.differentiate(cotangents, sorted(wrt))
        made: list[Floats | None] = []
        for (i, name), array, need in zip(self.places, arrays, needs):
            gradient = getattr(found[i], name) if need else None
            if gradient is not None and name == "constants" and array.ndim == 1:
                gradient = gradient.sum(0)  # the same constants at all energies
            made.append(gradient)
        return made


def torch_function(sample: Sample, arrays: Sequence[tuple[int, str]], *, dtype: npt.DTypeLike | None = None,
                   **options: Any) -> Callable[..., Any]:
    """The patterns of a sample as a differentiable function of PyTorch.

    sample: a Sample; the arrays that are arguments may be absent in it
    arrays: the arguments: pairs of an index in sample.materials and a name: "constants", "volume", "alignment",
        "theta", "psi", "direction" or "unaligned"
    dtype: of the computation and the patterns, "float32" or "float64"; None: float64 if a tensor is float64
    options: as for Patterns

    The function takes one tensor for each pair, float32 or float64, with the shape that Material requires. It returns
    the patterns (energies, Y, X). Its backward uses the adjoint of the method "fast", as loss_and_grad does;
    gradients have the tensors' shapes and dtypes. Pixels that are NaN have no gradient: the loss's gradient there is
    ignored. Contiguous tensors in the host's memory are not copied. Tensors of another device are copied to the host,
    and the patterns and gradients back to the device. The arrays, spectra and a work area stay in memory until
    PyTorch frees the graph. RefusedError: for derivatives of gradients. ImportError: PyTorch is not installed. GIL:
    released.

        >>> import torch
        >>> ball, rest = scatter.Material([1e-3, 2e-4, 1e-3, 2e-4]), scatter.Material([0, 0, 0, 0])
        >>> film = scatter.Sample([ball, rest], energies=[285.0], voxel=2.0)
        >>> patterns = scatter.torch_function(film, [(0, "volume"), (1, "volume")])
        >>> volume = torch.rand((4, 16, 16), dtype=torch.float64, requires_grad=True)
        >>> values = patterns(volume, 1 - volume)
        >>> torch.nansum(values).backward()
        >>> values.dtype, volume.grad.shape
        (torch.float64, torch.Size([4, 16, 16]))
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError("scatter.torch_function needs PyTorch: pip install torch", name="torch") from error
    from .with_torch import function
    return function(Function(sample, arrays, dtype, options))


def jax_function(sample: Sample, arrays: Sequence[tuple[int, str]], *, dtype: npt.DTypeLike | None = None,
                 **options: Any) -> Callable[..., Any]:
    """The patterns of a sample as a differentiable function of JAX, which may be compiled by jax.jit.

    sample, arrays, dtype, options: as for torch_function; the backend is the current choice

    The function takes one array for each pair, float32 or float64, and returns the patterns (energies, Y, X). It calls the
    host (jax.pure_callback) for the patterns, and for their gradient in reverse mode (jax.custom_vjp), by the adjoint of the
    method "fast". The gradient transforms the morphology again. Pixels that are NaN have no gradient. While JAX's 64-bit mode
    (jax_enable_x64) is off, patterns and gradients are float32, even with dtype="float64". jax.vmap calls the host
    for one element after the other. JAX raises an error for derivatives of a gradient and in forward mode (jvp).
    ImportError: JAX is not installed. GIL: released.

        >>> import jax
        >>> volume = np.zeros((4, 16, 16), np.float32)
        >>> volume[:, 6:10, 6:10] = 1
        >>> ball, rest = scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], volume), scatter.Material([0, 0, 0, 0], 1 - volume)
        >>> film = scatter.Sample([ball, rest], energies=[285.0], voxel=2.0)
        >>> patterns = scatter.jax_function(film, [(0, "constants")])
        >>> total = jax.jit(lambda constants: jax.numpy.nansum(patterns(constants)))
        >>> jax.grad(total)(np.float32([1e-3, 2e-4, 1e-3, 2e-4])).shape
        (4,)
    """
    try:
        import jax
    except ImportError as error:
        raise ImportError("scatter.jax_function needs JAX: pip install jax", name="jax") from error
    from .with_jax import function
    return function(Function(sample, arrays, dtype, {"devices": [_core.get_backend()], **options}))
