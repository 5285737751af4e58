# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_extract.py, python/tests/clients/test_md_clients.py
"""Observables of trajectories, computed by the engine of collet-extract."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import operator
import os
import sys
import warnings
from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, _host, _trajectory
from .._job import Job, check_devices
from . import _clients, _plot, _save
from ._objects import Files, bodies_of, encoded, is_part, ways, with_molecules

if TYPE_CHECKING:
    from typing import TypeAlias
    Path: TypeAlias = str | os.PathLike[str]

Quantity = namedtuple("Quantity", "unit meaning shape")
Quantity.__doc__ = "Unit and meaning of an array of results, and the shape of a frame's row."


Format = namedtuple("Format", "title topology trajectory")
Format.__doc__ = "The title of a format, and whether extract reads topologies and trajectories in it."


def formats() -> dict[str, Format]:
    """All file formats that extract reads, as a dict of Format(title, topology, trajectory). The keys are
    suffixes of file names. extract itself recognises a file by its content.

    >>> ".gro" in str(collet.md.formats())
    False"""
    return {name: Format(*rest) for name, *rest in _trajectory.formats()}


def times(traj: Any) -> Any:
    """The times of all frames of a trajectory in ps, (frames,), as extract's time_ps: NaN for frames without a time. Only
    the headers of frames are read, up to the end or to the first frame that is cut off or damaged.

    traj : the path of a file, or a list of the files of one trajectory

    >>> collet.md.times("absent.xtc")
    Traceback (most recent call last):
    collet.FileError: absent.xtc: cannot be opened: No such file or directory"""
    return np.frombuffer(_trajectory.times(encoded(traj)))


def quantities() -> dict[str, Quantity]:
    """All keys that extract can compute, as a dict of Quantity(unit, meaning, shape).

    >>> sorted(collet.md.quantities())[:3]
    ['L_magnitude', 'L_parallel', 'L_parallel_mag']"""
    return {key: Quantity(*rest) for key, *rest in _trajectory.quantities()}


class Results(dict[str, Any]):
    """Arrays by key. `meta` is the content of collet-extract's meta file, as a dict: inputs,
    masses, units, what was left out and why, warnings, backends, timing. `bodies` lists the labels of the
    bodies, which are the second axis of the arrays. Without `each` there is no such axis, and `bodies` is
    None. `atoms` lists the labels of the atoms of "positions", such as "CA of ALA 3", or is None.

    >>> water = "tests/data/md/water/"
    >>> results = collet.md.extract(water + "conf.gro", water + "traj.trr", keys="com")
    >>> results["com"].shape
    (51, 3)"""

    meta: dict[str, Any] | None = None
    bodies: list[str] | None = None
    atoms: list[str] | None = None

    def copy(self) -> Results:
        """Results with the same arrays and `meta`.

        >>> water = "tests/data/md/water/"
        >>> results = collet.md.extract(water + "conf.gro", water + "traj.trr", keys="com")
        >>> results.copy()["com"].shape
        (51, 3)"""
        return copy.copy(self)

    def save(self, path: Path, *, force: bool = False) -> None:
        """Writes a file as collet-extract -o does. The suffix of path chooses the format: .npz, .csv, .xvg or
        .h5 (needs h5py). The meta data go into a second file next to it; a .h5 file contains them. force:
        replaces existing files; without it an existing file raises FileError.

        >>> import os, tempfile
        >>> water = "tests/data/md/water/"
        >>> results = collet.md.extract(water + "conf.gro", water + "traj.trr", keys="com", stop=1)
        >>> path = os.path.join(tempfile.mkdtemp(), "out.csv")
        >>> results.save(path)
        >>> os.path.exists(path)
        True"""
        _save.save(self, path, force, quantities())

    def plot(self, directory: Path, *, force: bool = False) -> list[str]:
        """Draws the arrays over time: a .png for each group of quantities. With bodies, draws their mean
        and standard deviation. Returns the paths. Needs matplotlib. force: as in save."""
        return _plot.plot(self, directory, force, quantities())


# ---- Trajectories -------------------------------------------------------------------------------

class _Bar:
    """The progress on stderr, by tqdm if it is installed."""

    def __init__(self):
        try:
            from tqdm.auto import tqdm
            self._bar = tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")
        except ImportError:
            self._bar = None

    def __call__(self, frames, fraction):
        if self._bar is None:
            print(f"\r{fraction:4.0%} {frames} frames", end="", file=sys.stderr, flush=True)
        else:
            self._bar.set_postfix(frames=frames, refresh=False)
            self._bar.update(fraction - self._bar.n)

    def close(self):
        """Leaves the line."""
        if self._bar is None:
            print(file=sys.stderr)
        else:
            self._bar.close()


def _count(name, value, minimum):
    """Converts to an integer. None becomes 0, the engine's value for its default."""
    if value is None:
        return 0
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"extract: {name} is {value!r}, not an integer") from None
    if not minimum <= value < 2**62:
        raise _core.InvalidError(f"extract: {name} is {value}; it must be at least {minimum} "
                                 "and below 2**62")
    return value


def _axis(values):
    _host.check(values, "axis")
    try:
        x, y, z = map(float, values)
    except (TypeError, ValueError):
        x = y = z = 0.0
    if not 0 < x * x + y * y + z * z < float("inf"):
        raise _core.InvalidError(f"extract: axis is {values!r}, not three numbers, at least one "
                                 "not 0")
    return x, y, z


def _choice(name, value, *choices):
    """The index of a value among the choices. Raises InvalidError for other values."""
    if value not in choices:
        names = [repr(choice) for choice in choices]
        raise _core.InvalidError(f"extract: {name} is {value!r}, not {', '.join(names[:-1])} "
                                 f"or {names[-1]}")
    return choices.index(value)


def _patterns(keys):
    if keys is None or isinstance(keys, str):
        return keys
    return ",".join(map(str, keys))


def _bar(progress):
    if progress and progress is not True and not callable(progress):
        raise TypeError(f"extract: progress is {progress!r}, not a function, True or False")
    return _Bar() if progress is True else None


def _shard(shard, shards):
    """Checks shard=(i, n) and shards, and returns them for the engine: (i, n) and a path, or (0, 0) and None."""
    if shard is None and shards is None:
        return (0, 0), None
    if shard is None or shards is None:
        raise _core.InvalidError("extract: shard=(i, n) and shards, the directory for the files of "
                                 "shards, go together")
    try:
        i, n = shard
    except (TypeError, ValueError):
        raise TypeError(f"extract: shard is {shard!r}, not a pair of numbers like (3, 100)") from None
    n = _count("the number of shards", n, 1)
    i = _count("shard", i, 1)
    if i > n:
        raise _core.InvalidError(f"extract: shard is ({i}, {n}): shards are numbered from 1 to {n}")
    return (i, n), os.fsencode(shards)


class _Trajectory:
    def __init__(self, top, traj, selection, ndx, each, keys, masses, reference, axis, start, stop,
                 step, missing, pbc, strict, drift, drift_of, batch, rows, progress, shard=(0, 0),
                 shards=None, devices=None):
        if each is not None and not isinstance(each, str):
            raise TypeError(f"extract: each is {each!r}, not a text like 'residue'")
        removed = _choice("drift", drift, "keep", "linear", "angular", "both")
        if drift_of is not None and not isinstance(drift_of, str):
            raise TypeError(f"extract: drift_of is {drift_of!r}, not a text like 'protein'")
        if traj is None and (pbc != "none" or removed) and isinstance(selection, str) and is_part(top):
            each = bodies_of(top) if each is None else each
            by_place = ndx is not None or reference is not None or \
                isinstance(masses, (str, os.PathLike)) and masses != "equal"
            top, selection, masses = with_molecules(top.atoms, selection, each, masses, by_place, removed > 0) or \
                (top, selection, masses)
        *earlier, self._frames = ways(top, traj, selection, each)
        if each is None:
            each = getattr(self._frames, "each", None)
        mass_file = os.fsencode(masses) if isinstance(masses, (str, os.PathLike)) else None
        if masses is None:
            masses = self._frames.masses
        elif mass_file is None:
            masses = _host.array(masses, np.float64, "masses").tolist()
        if not isinstance(selection, str):
            raise TypeError(f"extract: selection is {selection!r}, not a text like 'protein'")
        devices = ",".join(check_devices(devices)) or None
        self._bar = _bar(progress)

        def opened(frames):
            return Job(frames.call, functools.partial(
                _trajectory.open, *getattr(frames, "files", (None, None)), selection, os.fsencode(ndx) if ndx is not None else None,
                each, mass_file, None if mass_file else masses,
                os.fsencode(reference) if reference is not None else None, _patterns(keys),
                _axis(axis), _count("start", start, 0), _count("stop", stop, 1),
                _count("step", step, 1), _choice("missing", missing, "fail", "skip", "nan"),
                _choice("pbc", pbc, "whole", "nojump", "center", "none"),
                bool(strict), removed, drift_of,
                _count("batch", batch, 1), _count("rows", rows, 1),
                self._bar or progress or None, frames.source, shard, shards, None,
                devices)).wait()

        try:
            self._engine = None
            for frames in earlier:
                with contextlib.suppress(_core.FormatError):  # MDAnalysis may read files that the engine refuses
                    self._engine, self._frames = opened(frames), frames
            if self._engine is None:
                self._engine = opened(self._frames)
        except BaseException:
            self.close_bar()
            raise
        self._bodies, self._atoms = self._engine.bodies(), self._engine.atoms()

    @classmethod
    def of_shards(cls, parts, top, progress):
        """The frames of shards."""
        work = cls.__new__(cls)
        *_, work._frames = ways(top, None, "all", None) if top is not None else (Files("", ""),)
        work._bar = _bar(progress)
        try:
            work._engine = Job(work._frames.call, functools.partial(
                _trajectory.open, None, None, None, None, None, None, None, None, None, (0, 0, 0), 0, 0,
                0, 0, 0, 0, 0, None, 0, 0, work._bar or progress or None, work._frames.source, (0, 0), None,
                parts, None)).wait()
        except BaseException:
            work.close_bar()
            raise
        work._bodies, work._atoms = work._engine.bodies(), work._engine.atoms()
        return work

    def close_bar(self):
        """Closes the progress bar."""
        if self._bar:
            self._bar.close()
            self._bar = None

    def run(self, name, *arguments):
        """Calls the engine to compute."""
        try:
            return Job(self._frames.call,
                       functools.partial(getattr(self._engine, name), *arguments)).wait()
        except BaseException:
            self._engine.cancel()
            self.close_bar()
            raise

    def write(self):
        """Writes the shard and returns its path."""
        path = os.fsdecode(self.run("write", b"all.npz"))
        self.close_bar()
        self._engine.close()
        return path

    def take(self, name):
        """Calls the engine's `next` or `collect`. After the last rows also takes the engine's meta data and
        warnings."""
        rows = self.run(name)
        if rows is None:
            return None
        results = Results(rows)
        results.bodies, results.atoms = self._bodies, self._atoms
        return results

    def finish(self):
        """Returns the meta data. To be called after the last row."""
        self.close_bar()
        meta = json.loads(self._engine.meta())
        self._engine.close()
        for text in meta["warnings"]:
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        return meta


def _absolute(path):
    """An absolute path, for other processes. Values that are not paths, and "equal", stay unchanged."""
    is_path = isinstance(path, (str, bytes, os.PathLike)) and path != "equal"
    return os.path.abspath(path) if is_path else path


def _shared_files(top, traj, selection, each, masses):
    """Checks and returns the files for workers, and the masses."""
    found = ways(top, traj, selection, each)[0]
    if not isinstance(found, Files):
        raise TypeError("extract: with client, give the paths of a topology and a trajectory: workers "
                        f"cannot read the frames of a {type(top).__name__}")
    top, traj = found.files
    return (_absolute(top), list(map(_absolute, traj))), found.masses if masses is None else masses


def extract(top: Any, traj: Any = None, *, selection: str = "all", ndx: Path | None = None,
            each: str | None = None, keys: str | Sequence[str] | None = None, masses: Any = None,
            reference: Any = None, axis: Sequence[float] = (0, 0, 1), start: int = 0,
            stop: int | None = None, step: int = 1, missing: str = "fail", pbc: str = "whole",
            strict: bool = False, drift: str = "keep", drift_of: str | None = None, batch: int | None = None,
            progress: Any = False, shard: Any = None, shards: Any = None, client: Any = None,
            devices: Sequence[str] | None = None) -> Any:
    """Computes the observables of every frame, as the program collet-extract does.

    top, traj : paths of files in the formats that formats() lists. `traj` may be a list of files, which form one
        trajectory, sorted by their first times. If files overlap in time, a file ends before its first frame at or
        after the first time of a later file. Or only `top`: an MDAnalysis Universe or AtomGroup, an mdtraj.Trajectory,
        an iterator of these (mdtraj.iterload), which is copied to a temporary file first, or Frames of arrays. Frames
        are then read from the object. A group is made whole with all atoms of its molecules and residues. If that is
        impossible, because other arguments refer to indices in the group (index, within, same or group in
        `selection`, `ndx`, `reference`, a file of masses) or the group names an atom twice, a warning says so. A
        ResidueGroup or SegmentGroup means each of its residues or segments. An UpdatingAtomGroup is evaluated in
        each frame, and `masses` and indices of atoms then refer to the atoms of its universe. If the frames of a
        universe come from an .xtc or .trr file alone, `selection` is "all" and `each` is None, the files are read
        without MDAnalysis
    selection : atoms, in collet-extract's language: "protein and not name H*"; "within 0.5 of resname LIG",
        in nm, is evaluated in each frame
    ndx : path of a .ndx file of GROMACS, whose groups the selection may name: "group Protein"
    each : "residue", "molecule", "segment", "chain", or patterns of groups of `ndx`, with blanks between:
        computes the quantities of each of these bodies from its selected atoms; None: the selection is one body
    keys : "com,L_*" or a list of such patterns; None: all for which the trajectory has the fields
    masses : in amu, one for every atom of the topology; or the path of a file with one mass in each line; or "equal":
        1 for each atom. None: the object's masses; for files the topology's masses, or else standard atomic weights
        of the topology's elements or of elements that are guessed from the atoms' names
    reference : path of a file whose first frame rmsd refers to; None: the first frame read
    axis : the direction to which the tilt and the z components refer
    start, stop, step : frames, counted from 0
    missing : for a frame of a file without the velocities or forces that a key needs: "skip" leaves the frame out,
        "nan" sets these keys to NaN in this frame, "fail" raises collet.NotFoundError
    pbc : "whole" makes molecules whole that the periodic box cuts, by the topology's bonds or, where
        they are not known, by residues; "nojump" then moves each molecule from frame to frame by the shortest
        way; "center" moves the selection's centre of mass to the middle of the box and each molecule
        next to it; "none" uses positions as they are
    strict : raises collet.InvalidError where a warning would say that a body may not be in one piece
    drift : "linear" removes the motion of the system's centre of mass from velocities, "angular" its rotation, and
        "both" removes both. "linear" and "both" also move positions back by the displacement of the centre of mass
        since the first frame, where paths have no jumps: with pbc "nojump", and in frames without a box. Positions are
        never turned. In a periodic box the rotation of several molecules has no meaning: a warning says so. "keep"
        removes nothing
    drift_of : the system, a selection with the same atoms in all frames; None: all atoms of the topology, or of the
        universe of a group of MDAnalysis, whatever `selection` chooses
    batch : number of frames that are computed at a time; None: frames of about 3 MiB
    progress : True for a bar on stderr, or a function of the number of frames and the fraction done
    shard, shards : (i, n) computes only part i, 1 to n, of the frames and writes it to a file in the directory
        `shards`. Returns the path of the file instead of results; merge computes the results from all parts.
        Parts may be computed in any order, by any process. A part of the same work that exists already is kept
    client : a Client of dask.distributed or an executor of concurrent.futures, whose workers compute parts
        of the frames. The inputs must be files; workers open them by the same paths, with the same version of
        collet. Results are the same, bit for bit, on processors of the same kind. If `shards` is a directory on
        a file system of all machines, the workers share one index of the file there, and parts that an
        interrupted call has computed are used. Without `shards` a worker that does not have this machine's
        temporary directory sends its part through the client
    devices : choices, such as ["cpu_openmp", "opencl:0"], that share the frames; a fast device computes more.
        Quantities that are derived from sums over atoms, such as axes, are computed by the CPU. Devices with the same
        name give the same bits; other devices differ by rounding. If a device fails, a warning says so, and the other
        devices compute its frames. None: the backend in force

    Returns Results: a dict of float64 arrays. The first axis is the frames. With `each` the second axis is the
    bodies, except in time_ps, and `bodies` has their labels. quantities() has the arrays' units (nm, ps,
    amu, kJ/mol), meanings and shapes without bodies; `meta` describes inputs and what was left out.
    The warnings in `meta` are issued as RuntimeWarnings too. Times that MDAnalysis or mdtraj made up,
    because a file has none, are not used. MDAnalysis stores lengths as float32 in Angstrom, so results
    of its frames differ from the file's results in the seventh digit.
    Raises collet.FileError and FormatError for files, and InvalidError for options. Exceptions of an object or of
    `progress` pass through. Ctrl-C raises KeyboardInterrupt at once; the work stops at its next step, and still reads
    its input until then. The object and `progress` are used by another thread than the caller's.

    The backend is the choice of collet.set_backend or using.

    >>> water = "tests/data/md/water/"
    >>> results = collet.md.extract(water + "conf.gro", water + "traj.trr", keys="com", stop=3)
    >>> results["com"].shape
    (3, 3)"""
    if client is not None and shard is None:
        if devices is not None:
            raise _core.InvalidError("extract: client and devices exclude each other: workers choose their "
                                     "backends by COLLET_BACKEND")
        bar = _bar(progress)
        files, masses = _shared_files(top, traj, selection, each, masses)
        options = {"selection": selection, "ndx": _absolute(ndx), "each": each, "keys": keys,
                   "masses": _absolute(masses), "reference": _absolute(reference), "axis": axis,
                   "start": start, "stop": stop, "step": step, "missing": missing, "pbc": pbc,
                   "strict": strict, "drift": drift, "drift_of": drift_of, "batch": batch}
        with contextlib.closing(bar) if bar else contextlib.nullcontext(), \
                _clients.parts(client, files, options, shards, bar or progress or None) as paths:
            work = _Trajectory.of_shards(encoded(paths), None, False)
            results = work.take("collect")
            results.meta = work.finish()
        return results
    work = _Trajectory(top, traj, selection, ndx, each, keys, masses, reference, axis, start, stop,
                       step, missing, pbc, strict, drift, drift_of, batch, None, progress, *_shard(shard, shards), devices)
    if shard is not None:
        return work.write()
    results = work.take("collect")
    results.meta = work.finish()
    return results


def merge(parts: Any, top: Any = None, *, progress: Any = False) -> Results:
    """Joins the parts of an extraction. The Results equal the Results of one call, bit for bit. No frame is computed.
    `parts` is the directory `shards`, or a list of files. If the parts were extracted from an object, give it as
    `top`; if they were extracted from files, these are opened by the same paths. collet-extract --shard writes such
    parts too.

    Raises collet.NotFoundError if parts are missing, and InvalidError if some parts belong to other work or
    the inputs have changed; the message names them. Raises FileError and FormatError for files.

    >>> import tempfile
    >>> water = "tests/data/md/water/"
    >>> parts = tempfile.mkdtemp()
    >>> for i in (1, 2):
    ...     _ = collet.md.extract(water + "conf.gro", water + "traj.trr", keys="com", shard=(i, 2),
    ...                           shards=parts)
    >>> collet.md.merge(parts)["com"].shape
    (51, 3)"""
    work = _Trajectory.of_shards(encoded(parts, "parts", "the files of shards"), top, progress)
    results = work.take("collect")
    results.meta = work.finish()
    return results


def extract_batches(top: Any, traj: Any = None, *, selection: str = "all", ndx: Path | None = None,
                    each: str | None = None, keys: str | Sequence[str] | None = None,
                    masses: Any = None, reference: Any = None, axis: Sequence[float] = (0, 0, 1),
                    start: int = 0, stop: int | None = None, step: int = 1, missing: str = "fail",
                    pbc: str = "whole", strict: bool = False, drift: str = "keep", drift_of: str | None = None,
                    batch: int | None = None, rows: int | None = None, progress: Any = False,
                    devices: Sequence[str] | None = None) -> Iterator[Results]:
    """Like extract, but returns an iterator over Results of `rows` frames; the last Results may have fewer. rows
    None: 1024 frames, or with `each` at most about 32768 rows of bodies. Memory does not grow with the
    trajectory. The rows equal the rows of extract, bit for bit. A Universe is moved only while rows are computed.
    `meta` is None. Files are opened at once: errors of files and options are raised by this call.

    >>> water = "tests/data/md/water/"
    >>> batches = collet.md.extract_batches(water + "conf.gro", water + "traj.trr", keys="com", rows=20)
    >>> [rows["com"].shape for rows in batches]
    [(20, 3), (20, 3), (11, 3)]"""
    work = _Trajectory(top, traj, selection, ndx, each, keys, masses, reference, axis, start, stop,
                       step, missing, pbc, strict, drift, drift_of, batch, rows, progress, devices=devices)
    return _iterate(work)


def _iterate(work):
    try:
        while (results := work.take("next")) is not None:
            yield results
        work.finish()
    finally:
        work.close_bar()
