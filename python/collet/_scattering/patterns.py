# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py
"""Samples of voxels, and the iterator over their patterns, of collet.scatter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core, _host, _jobs, _scatter, _suspicious
from .._array.creation import ON_THE_HOST, asarray
from .._core import InvalidError, ShapeError
from .._job import Job, check_devices, warn_of_devices
from . import precision

_EULER = ("volume", "alignment", "theta", "psi")
_VECTOR = ("direction", "unaligned")
_METHODS = ("fast", "direct")
_GRIDS = ("exact", "cyrsoxs", "fft")
_SAME_ENERGY = 1e-6  # eV

Vector = tuple[float, float, float]
Floats = npt.NDArray[np.floating[Any]]


class _Checked:
    """Raises for masks and units when the attribute is set, not only when the patterns are computed."""

    def __setattr__(self, name: str, value: Any) -> None:
        for part in value.values() if isinstance(value, Mapping) else (value,):
            _host.check(part, name)
        super().__setattr__(name, value)


@dataclass(eq=False)
class Material(_Checked):
    """A material of a morphology. Its arrays are (Z, Y, X), float32 or float64; arrays of other dtypes are converted.
    A RuntimeWarning says that float16 becomes float32, and long double float64; if float16 rounded the fractions,
    they are divided by their sums. Arrays, and arrays of other libraries on a device (DLPack), are used without a
    copy.

    constants: of n = 1 - delta + i beta: delta and beta parallel to the direction, then perpendicular to it. (4,) for
        all energies, (energies, 4) for each energy, or a dict {eV: (4,)} by energy
    volume, alignment, theta, psi: volume fraction from 0 to 1, alignment S from 0 to 1, second and third Euler
        angle (ZYZ); without alignment the material is isotropic
    direction, unaligned: instead of these four arrays: vectors (Z, Y, X, 3), and the unaligned fraction. The
        squared length of a vector is the aligned fraction"""

    constants: npt.ArrayLike | Mapping[float, Sequence[float]]
    volume: npt.ArrayLike | None = None
    alignment: npt.ArrayLike | None = None
    theta: npt.ArrayLike | None = None
    psi: npt.ArrayLike | None = None
    direction: npt.ArrayLike | None = None
    unaligned: npt.ArrayLike | None = None


@dataclass(eq=False)
class Gradient:
    """dL / d(array) of the arrays of a Material, as NumPy arrays. None for arrays that were not requested
    or that the material lacks. constants: (energies, 4)."""

    constants: Any = None
    volume: Any = None
    alignment: Any = None
    theta: Any = None
    psi: Any = None
    direction: Any = None
    unaligned: Any = None


@dataclass(eq=False)
class Sample(_Checked):
    """A morphology, and the parameters that determine its patterns.

    materials: their fractions add up to 1 in each voxel
    energies: (energies,), in eV
    voxel: edge of a voxel in nm
    angles: of polarisation: first, step, last; the patterns of all angles are averaged
    beams: directions x, y, z with z > 0
    window: multiplies by a Hann window along each axis of more than one voxel
    nearest: uses the slice nearest to Ewald's sphere instead of interpolating between two slices; not with the exact grid
    mask: a pixel that only some angles reach is the mean over these angles (RotMask), instead of NaN
    material_frame: rotates the sample instead of the electric field (ReferenceFrame 0)
    attenuation: multiplies patterns by exp(-mu t), the fraction of the beam that the film does not absorb:
        mu = 4 pi beta / lambda with the mean beta of the film, and t is its thickness along the beam
    z_collapse: "mean" replaces the film by one layer, the mean along z of all layers' fields: an approximation, NRSS's
        z_collapse_mode
    detector: the detector's normal x, y, z; patterns are warped to its plane as in CyRSoXS
    grid: "exact" sums the layers at the q_z that each pixel has on Ewald's sphere. "cyrsoxs" (set by read()) and "fft"
        interpolate between slices of a transform along z. The slices are at q_z = -pi/a + i 2 pi/(a (N - 1))
        ("cyrsoxs") or at the q_z of the transform ("fft"). Both are inexact: identical layers can be 4 times too
        bright or have no intensity at all, and empty layers around a film change its pattern
    omit_zero: the pixel of q = 0 is NaN
    warnings, directory: set by read()"""

    materials: Sequence[Material]
    energies: npt.ArrayLike
    voxel: float
    angles: Vector = (0.0, 0.0, 0.0)
    beams: Sequence[Vector] = field(default_factory=lambda: [(0.0, 0.0, 1.0)])
    window: bool = False
    nearest: bool = False
    mask: bool = False
    material_frame: bool = False
    detector: Vector = (0.0, 0.0, 1.0)
    warnings: tuple[str, ...] = ()
    directory: str = ""
    attenuation: bool = False
    z_collapse: str | None = None
    grid: str = "exact"
    omit_zero: bool = False
    _warns: bool = field(default=False, repr=False)  # The user did not choose the grid "cyrsoxs": warn about it.
    _range: tuple[float, float] = field(default=(0.0, 0.0), repr=False)  # Energies that processes share.
    _told: frozenset[str] = field(default=frozenset(), repr=False)  # Suspicions that read() warned of.

    @property
    def shape(self) -> tuple[int, ...]:
        """(Z, Y, X) in voxels."""
        for material in self.materials:
            for name in ("volume", "unaligned"):
                if getattr(material, name) is not None:
                    return np.shape(getattr(material, name))
        raise InvalidError("no material has `volume` or `unaligned`")


# ---- Conversion -----------------------------------------------------------------------------------


def choice(name: str, value: str, known: tuple[str, ...]) -> int:
    if value not in known:
        raise InvalidError(f"{name} is {value!r}, not one of {', '.join(map(repr, known))}")
    return known.index(value)


def is_double(dtype: npt.DTypeLike) -> bool:
    """Whether a dtype is float64. Raises unless it is float32 or float64."""
    return bool(choice("dtype", _core.dtype_name(dtype), ("float32", "float64")))


def vector(name: str, values: Sequence[float]) -> Vector:
    _host.check(values, name)
    try:
        x, y, z = map(float, values)
    except (TypeError, ValueError):
        raise InvalidError(f"{name} is {values!r}, not three numbers") from None
    return x, y, z


def direction_of(name: str, values: Sequence[float]) -> Vector:
    found = vector(name, values)
    if not any(found):  # refused, because the engine would take its default
        raise InvalidError(f"{name} is 0, 0, 0: no direction")
    return found


def extents(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "a scalar"


def _constants(material: Material, number: int, energies: Floats) -> Floats:
    """(energies, 4) of float64."""
    given = material.constants
    if isinstance(given, Mapping):
        known = np.array(list(given), float)
        rows = []
        for energy in energies:
            near = np.abs(known - energy)
            if not known.size or near.min() > _SAME_ENERGY:
                raise InvalidError(f"material {number}: no optical constants at {energy:g} eV")
            rows.append(list(given.values())[int(near.argmin())])
        given = rows
    given = _host.array(given, float, f"material {number}: constants")
    if given.shape not in ((4,), (len(energies), 4)):
        raise ShapeError(f"material {number}: constants are {extents(given.shape)}, not 4 or "
                         f"{len(energies)} x 4 (energies)")
    return np.broadcast_to(given, (len(energies), 4))


def _stays(value: Any) -> bool:
    """Whether an array is used without a copy: an Array, or another library's array on a device."""
    return isinstance(value, _core.Array) or (
        hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] not in ON_THE_HOST)


def given_of(material: Material, number: int) -> list[Any]:
    """The six arrays of a material, as NumPy arrays or Arrays; an absent array is None."""
    given = [getattr(material, name) for name in _EULER + _VECTOR]
    return [None if a is None else asarray(a, copy=False) if _stays(a) else _host.array(a, None, f"material {number}: {name}")
            for name, a in zip(_EULER + _VECTOR, given)]


def _dense(array: Any, dtype: npt.DTypeLike, name: str) -> Any:
    """A C-contiguous array of the dtype."""
    own = isinstance(array, _core.Array)
    if not own:
        return np.ascontiguousarray(array, dtype)
    if array.dtype.name in ("float16", "bfloat16"):
        raise InvalidError(f"{name} is an Array of {array.dtype}; convert it by astype to float32 or float64")
    array = array.astype(dtype, copy=False)
    dense = np.cumprod((1, *array.shape[:0:-1]))[::-1]
    return array if array.strides == tuple(dense) else array.copy()


def arrays_of(arrays: Sequence[Any], number: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Returns whether the arrays of given_of() become float64, and the arrays in that dtype."""
    dtype = np.result_type(np.float32, *(precision.known(a) for a in arrays if a is not None))
    if dtype not in (np.float32, np.float64):
        raise InvalidError(f"material {number}: its arrays are {dtype}, not real numbers of float32 or float64")
    for name, array in zip(_EULER + _VECTOR, arrays):
        expected = tuple(shape) + (3,) * (name == "direction")
        if array is not None and array.shape != expected:
            raise ShapeError(f"material {number}: {name} is {extents(array.shape)}, not "
                             f"{extents(expected)}")
    return (dtype == np.float64, *(a if a is None else _dense(a, dtype, f"material {number}: {name}")
                                   for name, a in zip(_EULER + _VECTOR, arrays)))


def _axis(count: int, voxel: float) -> Floats:
    return (np.arange(count) - count // 2) * (2 * np.pi / (count * voxel))


# ---- Patterns -------------------------------------------------------------------------------------


def bar(total: int | None, unit: str) -> Any:
    """A bar of tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise InvalidError("progress=True needs tqdm: pip install tqdm, or pass a function") from None
    return tqdm(total=total, unit=unit, bar_format="{l_bar}{bar}| {postfix} {elapsed}")


def check_progress(progress: object) -> None:
    if progress and progress is not True and not callable(progress):
        raise TypeError(f"progress is {progress!r}, not a function, True or None")


class Request:
    """The checked arguments of Patterns.

    engine: the arguments of _scatter.Scattering after the devices"""

    def __init__(self, sample: Sample, beam: int = 0, dtype: npt.DTypeLike = "float32", method: str = "fast",
                 grid: str | None = None, neighbours: bool = False, memory: int = 0,
                 devices: Sequence[str] | None = None) -> None:
        for material in sample.materials:
            if not isinstance(material, Material):
                raise TypeError(f"materials are scatter.Material, not {type(material).__name__}")
        if not 0 <= beam < len(sample.beams):
            raise InvalidError(f"beam is {beam}; the sample has {len(sample.beams)} beams, from 0 on")
        if memory < 0:
            raise InvalidError(f"memory is {memory} bytes; 0 means no limit")
        energies = np.atleast_1d(_host.array(sample.energies, float, "energies"))
        shape = sample.shape
        if energies.ndim != 1 or len(shape) != 3:
            raise ShapeError(f"energies have {energies.ndim} axes, voxels {len(shape)}; 1 and 3 are "
                             "needed")
        numbered = list(enumerate(sample.materials, 1))
        self.constants = np.stack([_constants(m, i, energies) for i, m in numbered], 1)
        options = (choice("method", method, _METHODS), is_double(dtype),
                   choice("grid", sample.grid if grid is None else grid, _GRIDS), bool(sample.nearest), bool(sample.window),
                   bool(neighbours), bool(sample.mask), bool(sample.material_frame),
                   bool(sample.attenuation),
                   choice("z_collapse", sample.z_collapse or "", ("", "mean")), bool(sample.omit_zero))
        self.energies = energies
        self.voxel = float(_host.number(sample.voxel, "voxel"))
        if not self.voxel:
            raise InvalidError("the edge of a voxel is 0 nm; it must be positive and finite")
        self.direction = direction_of("the beam's direction", sample.beams[beam])
        self.detector = direction_of("detector", sample.detector)
        given = [given_of(m, i) for i, m in numbered]
        if any(isinstance(a, _core.Array) for material in given for a in material):
            given = [[a if a is None or isinstance(a, _core.Array) else asarray(a) for a in material] for material in given]
        arrays, self._converted = precision.prepare(given, [arrays_of(a, i, shape) for i, a in enumerate(given, 1)])
        z, y, x = map(int, shape)
        self.shape = z, y, x
        self.layers = 1 if sample.z_collapse else z  # layers of the spectra
        self.dtype = np.dtype(np.float64 if is_double(dtype) else np.float32)
        self.qy, self.qx = (_axis(n, self.voxel) for n in self.shape[1:])
        self.devices = check_devices(devices)
        self.engine: tuple[Any, ...] = (arrays, energies,
                                        np.ascontiguousarray(self.constants), self.shape,
                                        self.voxel, self.direction, self.detector,
                                        vector("angles", sample.angles), sample._range, options, int(memory))
        self._told = sample._told
        self.compares = (sample._warns and grid is None and sample.grid == "cyrsoxs" and self.layers > 1
                         and z * y * x <= 1 << 25)  # the comparison reads all voxels once more

    def warn(self) -> None:
        """Warns of arrays that were converted, and of suspicious values, unless read() has warned of them."""
        _suspicious.warn([self._converted] if self._converted else [])
        found = _suspicious.suspicions(self.energies, self.voxel, self.constants, self.engine[0])
        _suspicious.warn(text for text in found if text not in self._told)


class Pattern(NamedTuple):
    """The pattern of one energy."""

    energy: float
    values: Any  #: (qy, qx): the intensity; NaN at pixels that no scattered wave reaches. A NumPy array, or an Array
    qy: Floats
    qx: Floats


class Patterns:
    """An iterator over the Pattern of each energy of a sample, in their order.

    sample: a Sample; its arrays must not be changed before close()
    beam: index of sample.beams
    dtype: "float32" or "float64", for the computation and the patterns
    method: "fast" transforms each field of the morphology once; "direct" transforms the
        polarisation for each energy and angle, as CyRSoXS does, and serves to check "fast"
    grid: "exact", "cyrsoxs" or "fft"; None: the sample's
    neighbours: uses at q = 0 the mean of the adjacent elements, as CyRSoXS 1.2 does; not with the exact grid
    memory: bytes that arrays may take on each device; 0: no limit
    devices: choices, such as ["cuda:0", "cuda:1"], that share the energies; None: the backend in force. If a device
        fails, a RuntimeWarning says so, and the other devices compute its energies
    progress: called as progress(fraction, energies_done) about 20 times a second and after each
        pattern; True shows a bar of tqdm
    output: "numpy", or "array": the values of a Pattern are an Array in the memory of the device that computed it, without
        a copy in the host's memory. This raises RefusedError with several `devices`, if `detector` changes the
        pattern, and on the grids "fft" and "cyrsoxs" without `mask`

    All arguments except the voxels are checked at once. The first pattern checks the voxels: InvalidError
    names material and voxel. Suspicious values, such as angles that seem to be degrees, cause a
    RuntimeWarning. RefusedError: `memory` is too small; the message says how much one energy needs. Ctrl-C raises
    KeyboardInterrupt at once; the computation stops at its next step, and the iterator can
    continue. Only one thread at a time may use it. GIL: released."""

    def __init__(self, sample: Sample, *, beam: int = 0, dtype: npt.DTypeLike = "float32", method: str = "fast",
                 grid: str | None = None, neighbours: bool = False, memory: int = 0,
                 devices: Sequence[str] | None = None,
                 progress: Callable[[float, int], object] | bool | None = None, output: str = "numpy") -> None:
        check_progress(progress)
        self._on_device = bool(choice("output", output, ("numpy", "array")))
        request = Request(sample, beam, dtype, method, grid, neighbours, memory, devices)
        self.energies, self.voxel, self.shape = request.energies, request.voxel, request.shape
        self.layers = request.layers
        self.direction, self.detector = request.direction, request.detector
        self.dtype, self.qy, self.qx = request.dtype, request.qy, request.qx
        self._devices = request.devices
        self._core: _scatter.Scattering | None = _scatter.Scattering(
            self._devices or [_core.get_backend()], *request.engine)
        self._arrays = {name for material in request.engine[0]
                        for name, array in zip(_EULER + _VECTOR, material[1:]) if array is not None}
        request.warn()
        self._compares = request.compares
        self._job: Job | None = None
        self._ready: Any = None
        self._done = 0
        self._failed: set[str] = set()  # names of devices that failed
        self._bar: Any = bar(len(self.energies), "energy") if progress is True else None
        self._progress: Any = self._draw if self._bar is not None else progress

    def __iter__(self) -> Iterator[Pattern]:
        return self

    def __next__(self) -> Pattern:
        if self._ready is None and self._core:
            self._settle()
        if self._ready is None and self._core:
            if self._compares:
                self._warn_of_grid(self._core)
            self._ready = self._wait(self._core.next_array if self._on_device else self._core.next)
            if len(self._devices) > 1:
                warn_of_devices(self._core.shares(), self._failed, 2)
        if self._ready is None:
            self._end_bar()
            raise StopIteration
        self._report(1)
        values, self._ready = self._ready, None
        self._done += 1
        return Pattern(float(self.energies[self._done - 1]), values, self.qy, self.qx)

    def _warn_of_grid(self, core: _scatter.Scattering) -> None:
        """Warns that the sample's grid is "cyrsoxs", and how far its intensities are from the exact intensities."""
        self._compares = False
        try:
            energy, y, x, low, high, total = self._wait(core.compare)
        except _core.Error:  # the first pattern raises it
            return
        if np.isnan(total):
            return
        warnings.warn(f'grid="cyrsoxs" interpolates intensities between slices, as CyRSoXS does: at {energy:g} eV, in the '
                      f"middle {y} x {x} voxels of the film, they are {low:.2f} to {high:.2f} times the exact ones, all "
                      f'together {total:.2f} times; grid="exact" computes the exact ones', RuntimeWarning, 3)

    def differentiate(self, cotangents: npt.ArrayLike, wrt: Sequence[str] = ("constants",)
                      ) -> list[Gradient]:
        """The gradient of a loss of all patterns, from cotangents = dL / dvalues (energies, Y, X): see
        loss_and_grad. May be called at any time, and several times."""
        core = self._need()
        names = ("constants", *_EULER, *_VECTOR)
        if isinstance(wrt, str) or not wrt:
            raise InvalidError(f"wrt is {wrt!r}, not a list of one or more names")
        for name in wrt:
            choice("wrt", name, names)
            if name != "constants" and name not in self._arrays:
                raise InvalidError(f"wrt is {name!r}, but no material has {name}")
        array = np.ascontiguousarray(_host.array(cotangents, self.dtype, "cotangents"))
        expected = (len(self.energies), *self.shape[1:])
        if array.shape != expected:
            raise ShapeError(f"cotangents are {extents(array.shape)}, not {extents(expected)} "
                             "(energies, Y, X)")
        self._settle()
        constants, found = self._wait(lambda: core.differentiate(array, tuple(wrt)))
        keep = "constants" in wrt
        return [Gradient(constants[:, i] if keep else None, *arrays) for i, arrays in enumerate(found)]

    def plan(self) -> dict[str, int]:
        """The work and memory needed: passes over the morphology, fields, transforms, block (energies
        at a time), angles, bytes of arrays."""
        core = self._need()
        self._settle()
        plan: dict[str, int] = self._wait(core.plan)
        return plan

    @property
    def backend(self) -> str:
        """The backend that computed the last pattern; "" before the first pattern. With `devices`: their names,
        separated by commas."""
        core = self._need()
        return ",".join(self._devices) if self._devices else core.backend()

    def close(self) -> None:
        """Frees everything. Work that was interrupted stops at its next step."""
        if self._core:
            self._core.cancel(True)
        self._core = self._ready = None
        self._end_bar()

    def __enter__(self) -> Patterns:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:  # refused, because a copy would use the same engine
        raise TypeError("Patterns cannot be copied or pickled, because it is an iterator: create another Patterns of "
                        "the same sample")

    def _need(self) -> _scatter.Scattering:
        if not self._core:
            raise InvalidError("these patterns are closed")
        return self._core

    def _wait(self, function: Callable[[], Any]) -> Any:
        core = self._need()
        core.cancel(False)
        self._job = Job(function)
        try:
            result = self._job.wait(self._report)
        except BaseException:
            core.cancel(True)
            raise
        self._job = None
        return result

    def _settle(self) -> None:
        """Waits for a call that was interrupted; if it completed a pattern, that is the next pattern."""
        if self._job:
            try:
                result = self._job.wait()
            except Exception:  # the work was cancelled, or the next call raises the same error
                result = None
            self._job = None
            self._ready = result if isinstance(result, np.ndarray | _core.Array) else None

    def _report(self, more: int = 0) -> None:
        _jobs.check()
        if self._progress:
            self._progress(self._need().progress(), self._done + more)

    def _draw(self, fraction: float, energies: int) -> None:
        self._bar.n = round(fraction * self._bar.total, 2)
        self._bar.set_postfix_str(f"{energies} of {self._bar.total} energies")

    def _end_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
