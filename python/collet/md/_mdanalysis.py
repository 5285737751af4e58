# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_sources.py
"""extract as an analysis of MDAnalysis. Needs MDAnalysis."""

import operator
from fnmatch import fnmatchcase

import numpy as np
from MDAnalysis.analysis.base import AnalysisBase

from .._core import InvalidError
from ._extract import extract
from ._objects import has_times


class RotationalObservables(AnalysisBase):
    """extract as an analysis of MDAnalysis: RotationalObservables(atoms, keys="com,L_*").run().

    atomgroup : an AtomGroup or a Universe; other arguments as in extract, without start, stop
        and step, which run takes
    After run `results` has extract's arrays, by key or attribute (results.L_vector), with `results.meta` and
        `results.bodies`;
    `times` (ps) and `frames` are arrays, as in every analysis, whether or not `keys` have time_ps.
        Units are nm, ps, amu and kJ/mol."""

    def __init__(self, atomgroup, verbose=False, **options):
        super().__init__(atomgroup.universe.trajectory, verbose=verbose)
        wrong = {"start", "stop", "step", "progress"} & set(options)
        if wrong:
            raise TypeError(f"RotationalObservables: {', '.join(sorted(wrong))} are arguments of run "
                            "(progress: verbose)")
        self._group, self._options = atomgroup, options

    def run(self, start=None, stop=None, step=None, frames=None, verbose=None, *, backend=None, **unused):
        """Computes all frames from start below stop in steps; returns self.

        frames : indices, or a bool for each frame, instead of start, stop and step. From the first frame to the last,
            frames are read in the largest step that includes all the given frames. Derivatives and paths refer to the
            frames that are read
        verbose : whether a bar shows the progress
        backend : None or "serial"; other backends of MDAnalysis are refused, because Collet's own backends compute
            (collet.using, `devices`, `client`); n_workers and n_parts are not used"""
        if backend not in (None, "serial"):
            raise InvalidError(f"RotationalObservables: backend={backend!r} is a backend of MDAnalysis, but "
                               "Collet uses its own backends: choose them by collet.using or devices=, and "
                               "processes by client=")
        wrong = set(unused) - {"n_workers", "n_parts", "unsupported_backend", "progressbar_kwargs"}
        if wrong:
            raise TypeError(f"run() got an unexpected keyword argument '{min(wrong)}'")
        chosen = None
        if frames is not None:
            if start is not None or stop is not None or step is not None:
                raise ValueError("frames excludes start, stop and step")
            chosen = self._indices(frames)
            start, stop = int(chosen.min()), int(chosen.max()) + 1
            step = int(np.gcd.reduce(chosen - start)) or 1
        start, stop, step = self._trajectory.check_slice_indices(start, stop, step)
        found, times = self._extracted(start=start, stop=max(stop, 1), step=step,
                                       progress=bool(self._verbose if verbose is None else verbose))
        if chosen is not None and not np.array_equal(chosen, np.arange(start, stop, step)):
            places = (chosen - start) // step
            for key in found:
                found[key] = found[key][places]
            times = times if times is None else times[places]
            found.meta["frames"]["chosen"] = chosen.tolist()
        self.results.update(found)
        self.results.meta, self.results.bodies = found.meta, found.bodies
        self.n_frames = len(next(iter(found.values())))
        self.start, self.stop, self.step = start, stop, step
        self.frames = np.arange(start, stop, step) if chosen is None else chosen
        if times is None:  # the file has no times: MDAnalysis computes times from the frame numbers
            times = self.frames * self._trajectory.dt + \
                self._trajectory.ts.data.get("time_offset", 0)
        self.times = times
        return self

    def _indices(self, frames):
        """The numbers of the chosen frames, from 0."""
        count = len(self._trajectory)
        chosen = np.asarray(frames if hasattr(frames, "__array__") else list(frames))
        if chosen.dtype == bool:
            if chosen.shape != (count,):
                raise InvalidError(f"RotationalObservables: frames has {chosen.size} bools, but the trajectory has "
                                   f"{count} frames")
            chosen = np.flatnonzero(chosen)
        if not chosen.size:
            raise InvalidError("RotationalObservables: there is no frame")
        chosen = np.array([operator.index(i) for i in chosen.tolist()])
        if chosen.min() < -count or chosen.max() >= count:
            raise IndexError(f"RotationalObservables: frames has {chosen.max() if chosen.max() >= count else chosen.min()}, and the "
                             f"trajectory {count} frames")
        return chosen % count

    def _extracted(self, **frames):
        """Returns extract's results, and the times or None. The results contain the times only if `keys` name
        them."""
        keys = self._options.get("keys")
        if keys is None or not has_times(self._trajectory.ts):
            found = extract(self._group, **frames, **self._options)
            return found, found.get("time_ps")
        keys = keys.split(",") if isinstance(keys, str) else list(map(str, keys))
        found = extract(self._group, **frames, **{**self._options, "keys": [*keys, "time_ps"]})
        times = found["time_ps"]
        if not any(fnmatchcase("time_ps", key.strip()) for key in keys):
            del found["time_ps"]
            found.meta["outputs"].pop("time_ps", None)
        return found, times
