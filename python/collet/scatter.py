# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py
"""Resonant soft X-ray scattering of voxel morphologies, as CyRSoXS simulates it.

    material = scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], volume=sphere)
    vacuum = scatter.Material([0, 0, 0, 0], volume=1 - sphere)
    result = scatter.simulate(scatter.Sample([material, vacuum], energies=[285.0], voxel=2.0))
    result.values                # (energy, qy, qx)
    result.integrate().mean      # (energy, q)

Patterns iterates over energies, simulate computes all energies, and scan iterates over samples, here or on
workers. They run on the backend that collet.using or collet.set_backend chose. Lengths are nm, energies eV,
q 1/nm, angles of polarisation degrees, Euler angles radians.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from os.path import abspath
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _host, _jobs, _scatter, _suspicious
from ._core import InvalidError, ShapeError
from ._job import Job
from ._scattering.functions import jax_function, torch_function
from ._scattering.losses import LeastSquares
from ._scattering.patterns import (Floats, Gradient, Material, Pattern, Patterns, Request, Sample,
                                   Vector, arrays_of, bar, check_progress, choice, direction_of, extents,
                                   given_of, is_double)
from ._listing import own

__all__ = ["Gradient", "Integrals", "LeastSquares", "Material", "Pattern", "Patterns", "Result", "Sample",
           "SampleError", "Scan", "integrate", "jax_function", "loss_and_grad", "read", "read_pattern", "scan",
           "simulate", "torch_function", "write"]

Path = str | PathLike[str]


# ---- Results --------------------------------------------------------------------------------------


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise InvalidError("to_xarray needs xarray: pip install xarray") from None
    return xarray


@dataclass(eq=False)
class Result:
    """The patterns of one beam: values (energy, qy, qx), and the energies, qy and qx.

    >>> ball = np.zeros((4, 8, 8), np.float32)
    >>> ball[1:3, 2:6, 2:6] = 1
    >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
    >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
    >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
    >>> result = collet.scatter.simulate(sample)
    >>> result.values.dtype
    dtype('float32')"""

    values: Floats
    energy: Floats
    qy: Floats
    qx: Floats
    voxel: float
    direction: Vector
    layers: int  # voxels along z, 1 with z_collapse
    detector: Vector = (0.0, 0.0, 1.0)

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.values if dtype is None else self.values.astype(dtype, copy=False)
        return values.copy() if copy and values is self.values else values

    def to_xarray(self) -> Any:
        """An xarray.DataArray with the dimensions energy, qy, qx, their coordinates, and the attributes
        that PyHyperScattering's integrators read. Shares the memory of `values`."""
        return _xarray().DataArray(
            self.values, dims=("energy", "qy", "qx"),
            coords={"energy": self.energy, "qy": self.qy, "qx": self.qx},
            attrs={"phys_size_nm": self.voxel, "z_dim": self.layers})

    def integrate(self, wedge: float = 90.0, dtype: npt.DTypeLike = "float32") -> Integrals:
        """The Integrals of these patterns: see the function integrate().

        >>> ball = np.zeros((4, 8, 8), np.float32)
        >>> ball[1:3, 2:6, 2:6] = 1
        >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
        >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
        >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
        >>> integrals = collet.scatter.simulate(sample).integrate()
        >>> integrals.mean.shape[0]
        1"""
        return integrate(self.values, self.energy, self.voxel, direction=self.direction,
                         detector=self.detector, flat=self.layers == 1, wedge=wedge, dtype=dtype)

    def cotangents(self, *, polar: npt.ArrayLike | None = None, mean: npt.ArrayLike | None = None,
                   parallel: npt.ArrayLike | None = None, perpendicular: npt.ArrayLike | None = None,
                   anisotropy: npt.ArrayLike | None = None, wedge: float = 90.0) -> Floats:
        """dL / dvalues of a loss L of the integrals, for loss_and_grad: the adjoint of integrate().

        Each argument is dL / d(array of Integrals), with the shape (energies, q), for `polar` (energies, chi, q).
        Where an integral is NaN, its cotangent is ignored. Raises ShapeError and InvalidError. GIL: released.

            >>> volume = np.zeros((4, 16, 16))
            >>> volume[:, 6:10, 6:10] = 1
            >>> ball = scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], volume)
            >>> rest = scatter.Material([0, 0, 0, 0], 1 - volume)
            >>> result = scatter.simulate(scatter.Sample([ball, rest], [285.0], 2.0), dtype="float64")
            >>> ones = np.ones_like(result.integrate().mean)
            >>> result.cotangents(mean=ones).shape      # of L = sum of I(q)
            (1, 16, 16)
        """
        rings = _rings(self.values.shape[1:], self.voxel, self.direction, self.detector,
                       self.layers == 1, wedge)
        q = len(_scatter.rings_q(rings))
        given = []
        for name, array in (("polar", polar), ("mean", mean), ("parallel", parallel),
                            ("perpendicular", perpendicular), ("anisotropy", anisotropy)):
            shape = (len(self.energy), *((_scatter.CHI,) if name == "polar" else ()), q)
            if array is not None:
                array = np.ascontiguousarray(_host.array(array, float, name))
                if array.shape != shape:
                    raise ShapeError(f"{name} is {extents(array.shape)}, not {extents(shape)}")
            given.append(array)
        rows = [Job(_scatter.integrate_adjoint, rings, float(e), v.dtype == np.float64,
                    np.ascontiguousarray(v), tuple(None if a is None else a[i] for a in given)).wait()
                for i, (e, v) in enumerate(zip(self.energy, self.values))]
        return np.stack(rows)


@dataclass(eq=False)
class Integrals:
    """Patterns averaged over rings of q. Arrays of float32 or float64; NaN for rings without pixels.

    The coordinates are energy, q, and chi, in degrees from x, the direction of the electric field, towards y. polar is
    (energy, chi, q). The other arrays are (energy, q): mean, over all chi; parallel and perpendicular, over the wedges
    parallel and perpendicular to the field; anisotropy, (parallel - perpendicular) / (parallel + perpendicular).

    >>> ball = np.zeros((4, 8, 8), np.float32)
    >>> ball[1:3, 2:6, 2:6] = 1
    >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
    >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
    >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
    >>> integrals = collet.scatter.simulate(sample).integrate()
    >>> len(integrals.q) == integrals.mean.shape[1]
    True"""

    energy: Floats
    chi: Floats
    q: Floats
    polar: Floats
    mean: Floats
    parallel: Floats
    perpendicular: Floats
    anisotropy: Floats

    def to_xarray(self) -> Any:
        """An xarray.Dataset of I_chi, I, I_parallel, I_perpendicular and A: the names that collet-rsoxs
        uses."""
        ring = ("energy", "q")
        return _xarray().Dataset(
            {"I_chi": (("energy", "chi", "q"), self.polar), "I": (ring, self.mean),
             "I_parallel": (ring, self.parallel), "I_perpendicular": (ring, self.perpendicular),
             "A": (ring, self.anisotropy)},
            coords={"energy": self.energy, "chi": self.chi, "q": self.q})


def simulate(sample: Sample, *, client: Any = None, progress: Any = None,
             **options: Any) -> Result:
    """All patterns of a sample for one beam: a Result. Options and errors as in Patterns.

    client: a Client of dask.distributed, or an executor of concurrent.futures, such as
        ProcessPoolExecutor(): each worker computes a part of the energies. The patterns are the same, bit
        for bit, on processors of the same kind. `memory` and `devices` apply to each worker.
        Raises UnavailableError if a worker lacks this version of collet

    >>> ball = np.zeros((4, 8, 8), np.float32)
    >>> ball[1:3, 2:6, 2:6] = 1
    >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
    >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
    >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
    >>> collet.scatter.simulate(sample).values.shape
    (1, 8, 8)"""
    if "output" in options:
        raise TypeError("simulate has no option output: use Patterns, whose patterns may stay on a device")
    if client is None:
        with Patterns(sample, progress=progress, **options) as patterns:
            values = np.empty((len(patterns.energies), *patterns.shape[1:]), patterns.dtype)
            for i, pattern in enumerate(patterns):
                values[i] = pattern.values
            return _result(values, patterns)
    check_progress(progress)
    request = Request(sample, **options)
    request.warn()
    return _result(_shared_out(sample, client, progress, options, request), request)


Loss = Callable[[Result], tuple[float, npt.ArrayLike]]


def loss_and_grad(sample: Sample, loss: Loss, *, wrt: Sequence[str] = ("constants",),
                  dtype: npt.DTypeLike = "float64",
                  progress: Any = None, **options: Any) -> tuple[float, list[Gradient]]:
    """A real loss of the patterns of a sample, and its gradient: (loss, one Gradient for each material).

    loss: called with the Result; returns the loss and dL / d(result.values), (energies, Y, X).
        An example is LeastSquares. For a loss of the integrals, Result.cotangents() computes dL / dvalues
    wrt: names of the arrays of Material: "constants", "volume", "alignment", "theta", "psi",
        "direction", "unaligned". Gradients of "constants" are (energies, 4), even if all energies have the same
        constants. The gradient of an array has the array's dtype; it is None for an array that a material lacks
    dtype: the dtype of the computation, "float64" or "float32"
    options: as for Patterns

    Each number of a voxel is a separate variable. For materials with volumes v and 1 - v, the gradient with
    respect to v is the difference of the gradients with respect to the two volumes. Where the alignment is 0,
    its gradient uses theta and psi, and is NaN if these are NaN. The gradient is computed by the adjoint of
    the fast method. It takes about as long as one to three simulations, for any number of variables. The
    host's threads compute everything except the transforms. Raises RefusedError for method="direct", and for several
    devices. GIL: released, except in `loss`.

        >>> volume = np.zeros((4, 16, 16))
        >>> volume[:, 6:10, 6:10] = 1
        >>> def film(delta):
        ...     ball = scatter.Material([delta, 2e-4, delta, 2e-4], volume)
        ...     return scatter.Sample([ball, scatter.Material([0, 0, 0, 0], 1 - volume)], [285.0], 2.0)
        >>> measured = scatter.simulate(film(1e-3), dtype="float64").integrate().mean
        >>> loss = scatter.LeastSquares(measured, of="mean")
        >>> value, gradient = scatter.loss_and_grad(film(2e-3), loss, wrt=["constants", "volume"])
        >>> gradient[0].volume.shape
        (4, 16, 16)
        >>> delta = gradient[0].constants[:, ::2].sum()    # both deltas of all energies are one number
        >>> bool(value > 0 and delta > 0)
        True
    """
    with Patterns(sample, dtype=dtype, progress=progress, **options) as patterns:
        values = np.empty((len(patterns.energies), *patterns.shape[1:]), patterns.dtype)
        for i, pattern in enumerate(patterns):
            values[i] = pattern.values
        found = loss(_result(values, patterns))
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError("loss_and_grad: the loss gave " f"{type(found).__name__}, not the pair of its value and the "
                            "derivatives with respect to the values of the result")
        value, cotangents = found
        return float(value), patterns.differentiate(cotangents, wrt)


def _result(values: Floats, made: Patterns | Request) -> Result:
    return Result(values, made.energies, made.qy, made.qx, made.voxel, made.direction,
                  made.layers, made.detector)


# ---- On workers -----------------------------------------------------------------------------------


def _some(sample: Sample, first: int, last: int, options: dict[str, Any]) -> Floats:
    """Patterns of the energies `first` to `last` - 1."""
    part = [replace(m, constants=np.asarray(m.constants)[first:last]) for m in sample.materials]
    return simulate(replace(sample, materials=part,
                            energies=np.asarray(sample.energies)[first:last]), **options).values


def _shared_out(sample: Sample, client: Any, progress: Any, options: dict[str, Any],
                request: Request) -> Floats:
    """Lets workers compute the patterns. Each worker gets only one part of the energies, because it has to transform
    the morphology before each part."""
    count = len(request.energies)
    ends = (float(request.energies.min()), float(request.energies.max())) if count else (0.0, 0.0)
    whole = _jobs.Shared(replace(sample, energies=request.energies, _range=ends, materials=[
        replace(m, constants=request.constants[:, i]) for i, m in enumerate(sample.materials)]))
    tell = _Progress(progress, count, "energy")
    parts = min(_jobs.slots(client), count)
    edges = [count * i // parts for i in range(parts + 1)]
    tasks = [_jobs.Task(f"energies {request.energies[a]:g} to {request.energies[b - 1]:g} eV", _some,
                        (a, b, options), whole) for a, b in zip(edges, edges[1:])]
    values = np.empty((count, *request.shape[1:]), request.dtype)
    with contextlib.closing(tell), _jobs.Run(client, tasks, parts) as run:
        run.report = lambda done: tell(edges[done])
        for i, outcome in enumerate(run):
            if outcome.error:
                raise outcome.error
            values[edges[i]:edges[i + 1]] = outcome.value
    return values


class _Progress:
    """Reports progress when it is called: calls progress(fraction, done), or draws a bar."""

    def __init__(self, progress: Any, total: int | None, unit: str) -> None:
        self._total = total
        self._bar = bar(total, unit) if progress is True else None
        self._function = progress if self._bar is None else None

    def __call__(self, done: int) -> None:
        if self._function:
            self._function(done / self._total if self._total else 0.0, done)
        elif self._bar is not None:
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class SampleError(_core.FailedError):
    """A sample of a scan failed. `index`: the sample's position. __cause__: the reason."""

    index = -1


Source = Sample | Path | Callable[[], Sample] | tuple[Callable[..., Sample], Any]


def _made(source: Source, configuration: str) -> Sample:
    if isinstance(source, tuple):
        function, arguments = source
        found = function(**arguments) if isinstance(arguments, Mapping) else function(*arguments)
    elif isinstance(source, (str, PathLike)):
        found = read(source, configuration)
    else:
        found = source() if callable(source) else source
    if not isinstance(found, Sample):
        raise TypeError(f"a scatter.Sample is needed, not {type(found).__name__}")
    return found


def _one(source: Source, configuration: str, then: Callable[[Result], Any] | None,
         options: dict[str, Any]) -> Any:
    result = simulate(_made(source, configuration), **options)
    return result if then is None else then(result)


def _name(index: int, source: Source) -> str:
    """The name of a sample in messages."""
    text = ""
    if isinstance(source, (str, PathLike)):
        text = fspath(source)
    elif isinstance(source, tuple) and len(source) == 2:
        given = ", ".join(map(str, source[1])) if isinstance(source[1], tuple) else str(source[1])
        text = f"{getattr(source[0], '__name__', source[0])}: {given}"
    elif callable(source):
        text = getattr(source, "__name__", str(source))
    text = text if len(text) < 200 else text[:200] + "..."
    return f"samples[{index}]" + (f" ({text})" if text else "")


class Scan(Iterator[Any]):
    """The results of scan(), in the order of its samples.

    >>> ball = np.zeros((4, 8, 8), np.float32)
    >>> ball[1:3, 2:6, 2:6] = 1
    >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
    >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
    >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
    >>> with collet.scatter.scan([sample]) as results:
    ...     print(next(results).values.shape)
    (1, 8, 8)"""

    def __init__(self, run: _jobs.Run, tell: _Progress, on_error: str) -> None:
        self._run, self._tell, self._on_error = run, tell, on_error
        self._index = -1

    def __next__(self) -> Any:
        try:
            task, value, error, texts = next(self._run)
        except BaseException:
            self._tell.close()
            raise
        self._index += 1
        _suspicious.warn(f"{task.name}: {text}" for text in texts)
        if error is None:
            return value
        failed = SampleError(f"{task.name}: {error}")
        failed.index, failed.__cause__ = self._index, error
        if self._on_error == "return":
            return failed
        self.close()
        raise failed

    def close(self) -> None:
        """Cancels the samples that have not begun; does not wait for samples that workers compute."""
        self._run.close()
        self._tell.close()

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scan(samples: Iterable[Source], client: Any = None, *, configuration: Path = "config.txt",
         then: Callable[[Result], Any] | None = None, on_error: str = "raise",
         window: int | None = None, progress: Any = None, **options: Any) -> Scan:
    """Calls simulate() for many samples. Returns an iterator over their Results, in order. Memory does not
    grow with the number of samples.

    samples: each a Sample; or the path of a morphology, which read() reads with `configuration`; or a
        function that makes a Sample, or (function, arguments) with a tuple or a dict of arguments. The
        worker calls read() or the function, so only names are sent. `samples` may be a generator
    client: as in simulate(); each worker computes whole samples. None: this process computes one after the other
    then: a function that the worker calls with the Result, such as Result.integrate; the iterator yields
        its value
    on_error: "raise", or "return": then the result of a failed sample is a SampleError, and the other
        samples continue. A broken pool, or a worker without this version of collet, always raises
    window: maximum number of samples that are submitted and whose results were not taken yet; None: two for
        each worker
    progress: called as progress(fraction, samples_done); the fraction is 0.0 if `samples` has no length. True
        shows a bar of tqdm
    options: as in simulate()

    Relative paths begin at this process's directory. Functions of a script, and lambdas, can be sent to other
    processes if cloudpickle is installed. Warnings and errors about a sample name the sample. Ctrl-C, an
    exception and close() cancel samples that have not begun. Raises SampleError, InvalidError,
    UnavailableError, FailedError and TypeError.

    >>> ball = np.zeros((4, 8, 8), np.float32)
    >>> ball[1:3, 2:6, 2:6] = 1
    >>> polymer = collet.scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], ball)
    >>> vacuum = collet.scatter.Material([0, 0, 0, 0], 1 - ball)
    >>> sample = collet.scatter.Sample([polymer, vacuum], energies=[285.0], voxel=2.0)
    >>> [result.values.shape for result in collet.scatter.scan([sample, sample])]
    [(1, 8, 8), (1, 8, 8)]"""
    choice("on_error", on_error, ("raise", "return"))
    check_progress(progress)
    if isinstance(samples, (str, PathLike, Sample)):
        raise TypeError("scan: samples is one sample, not a list of samples")
    for name in options.keys() - inspect.signature(Request).parameters.keys():
        raise TypeError(f"scan: there is no option {name}")
    total = len(samples) if isinstance(samples, Sequence) else None

    def tasks() -> Iterator[_jobs.Task]:
        for i, source in enumerate(samples):
            if isinstance(source, (str, PathLike)):
                source = abspath(source)
            yield _jobs.Task(_name(i, source), _one, (source, abspath(configuration), then, options))

    run = _jobs.Run(client, tasks(), window)
    tell = _Progress(progress, total, "sample")
    run.report = tell
    return Scan(run, tell, on_error)


def _rings(shape: tuple[int, ...], voxel: float, direction: Vector, detector: Vector, flat: bool,
           wedge: float) -> tuple[Any, ...]:
    if not 0 < _host.number(wedge, "wedge") <= 180:  # 0 is the default of the C interface
        raise InvalidError(f"wedge is {wedge} degrees; it must be above 0 and at most 180")
    return (bool(flat), *shape, float(_host.number(voxel, "voxel")),
            direction_of("direction", direction), direction_of("detector", detector),
            float(_host.number(wedge, "wedge")))


def integrate(values: npt.ArrayLike, energies: npt.ArrayLike, voxel: float, *,
              direction: Vector = (0.0, 0.0, 1.0), detector: Vector = (0.0, 0.0, 1.0),
              flat: bool = False, wedge: float = 90.0, dtype: npt.DTypeLike = "float32") -> Integrals:
    """Averages patterns (energies, Y, X) or (Y, X) over rings of q and over chi. Returns Integrals.

    direction, detector: the beam's direction and the detector's normal, as in Sample
    flat: q is the length in the detector's plane, as for a sample of one layer; else |q| on Ewald's sphere
    wedge: whole width of each wedge, above 0 and up to 180 degrees
    dtype: "float32" or "float64", for the integrals
    Numbers other than float32 and float64 are converted to float32. Raises ShapeError and InvalidError. GIL:
    released.

    >>> found = collet.scatter.integrate(np.ones((1, 8, 8)), [285.0], 2.0)
    >>> float(found.mean[0, 1])
    1.0"""
    energies = np.atleast_1d(_host.array(energies, float, "energies"))
    values = _host.array(values, None, "values")
    single = values.dtype.name != "float64"
    values = np.ascontiguousarray(_host.array(values, np.float32 if single else float, "values"))
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or energies.shape != values.shape[:1]:
        raise ShapeError(f"values are {extents(values.shape)} and energies {extents(energies.shape)}: give values as "
                         "energies x Y x X, and as many energies")
    wide = is_double(dtype)
    rings = _rings(values.shape[1:], voxel, direction, detector, flat, wedge)
    q = _scatter.rings_q(rings)
    rows = [Job(_scatter.integrate, rings, e, values.dtype == np.float64, v, wide).wait()
            for e, v in zip(energies.tolist(), values)]
    chi = np.arange(_scatter.CHI) - 0.5 * (_scatter.CHI - 1)
    return Integrals(energies, chi, q, *(np.stack(column) for column in zip(*rows)))


# ---- Files ----------------------------------------------------------------------------------------


def read(morphology: Path, configuration: Path = "config.txt", *, dtype: npt.DTypeLike = "float32") -> Sample:
    """Reads a Sample from files of CyRSoXS: a morphology (HDF5), a configuration, and the files
    Material<i>.txt in the configuration's directory.

    Its arrays have `dtype`. Unused or suspicious parts of the files, such as angles that seem to be
    degrees, cause a RuntimeWarning and are listed in `warnings`; `directory` is the configuration's
    directory for results ("": not given), and `grid` "cyrsoxs". Raises FileError, FormatError and InvalidError, which name the file,
    dataset or key. Ctrl-C interrupts it. GIL: released."""
    wide = is_double(dtype)
    found = Job(_scatter.read, fspath(morphology), fspath(configuration), wide).wait()
    count = len(found["materials"])
    energies = np.array(found["energies"])
    constants = np.array(found["constants"]).reshape(len(energies), count, 4)
    materials = [Material(constants[:, i], **arrays) for i, arrays in enumerate(found["materials"])]
    _suspicious.warn(found["warnings"])
    detector = found["detector"] if any(found["detector"]) else (0.0, 0.0, 1.0)
    sample = Sample(materials, energies, found["voxel"], found["angles"],
                    found["beams"], bool(found["window"]), bool(found["nearest"]),
                    bool(found["mask"]), bool(found["material"]), detector,
                    tuple(found["warnings"]), found["directory"], bool(found["attenuation"]),
                    grid="cyrsoxs", _warns=True)
    arrays = [arrays_of(given_of(m, i), i, sample.shape) for i, m in enumerate(materials, 1)]
    sample._told = frozenset(_suspicious.suspicions(energies, sample.voxel, constants, arrays))
    return sample


def write(directory: Path, energy: float, patterns: npt.ArrayLike,
          beams: Sequence[Vector] = ((0.0, 0.0, 1.0),)) -> None:
    """Writes the patterns (beams, Y, X) or (Y, X) of one energy as CyRSoXS does:
    directory/Energy_285.20.h5 with /K<i>/projection of float32 and /KIDList/KVec.

    The file gets its name when it is complete. The name has the energy with two decimals, and a RuntimeWarning says if
    this is not exact: energies that round to the same name have the same file. Raises FileError.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> collet.scatter.write(folder, 285.0, np.ones((8, 8), np.float32))
    >>> collet.scatter.read_pattern(folder, 285.0, (8, 8)).shape
    (8, 8)"""
    patterns = np.ascontiguousarray(_host.array(patterns, np.float32, "patterns"))
    if patterns.ndim == 2:
        patterns = patterns[None]
    if patterns.ndim != 3 or len(patterns) != len(beams):
        raise ShapeError(f"patterns are {extents(patterns.shape)}: {len(beams)} (beams) x Y x X are "
                         "needed")
    if abs(energy - round(float(energy), 2)) > 1e-6:
        _suspicious.warn([f"the name Energy_{energy:.2f}.h5 has two decimals, but the energy is {energy:g} eV: other energies may have "
                          "the same name"])
    rows = [(tuple(map(float, beam)), p) for beam, p in zip(beams, patterns)]
    Job(_scatter.write, fspath(directory), float(energy), patterns.shape[1:], rows).wait()


def read_pattern(directory: Path, energy: float, shape: tuple[int, int],
                 beam: int = 0) -> npt.NDArray[np.float32]:
    """Reads the pattern of an energy and a beam that collet-rsoxs, CyRSoXS or write() wrote. Returns
    a float32 array of `shape` (Y, X). Raises NotFoundError, FileError, and FormatError if the file has no such
    pattern.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> collet.scatter.write(folder, 285.0, np.ones((8, 8), np.float32))
    >>> collet.scatter.read_pattern(folder, 285.0, (8, 8)).dtype
    dtype('float32')"""
    pattern: npt.NDArray[np.float32] = Job(_scatter.read_pattern, fspath(directory), float(energy),
                                           int(beam), tuple(shape)).wait()
    return pattern


def __dir__() -> list[str]:
    return own(globals(), ("Gradient", "LeastSquares", "Material", "Pattern", "Patterns", "Sample",
                           "jax_function", "torch_function"))
