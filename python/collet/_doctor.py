# SPDX-License-Identifier: Apache-2.0
"""collet.doctor(): what is missing, why, and the line that mends it."""

import importlib.util
import os
import sys
from dataclasses import dataclass

from . import _core
from ._runtime import backends

# What the reason of an unusable backend says, and what mends it.
_MENDS = (
    ("libcuda.so", "install the driver of the NVIDIA card (Debian: apt-get install nvidia-driver)"),
    ("libnvrtc.so", "install NVRTC: pip install nvidia-cuda-nvrtc-cu12, or the CUDA toolkit"),
    ("libOpenCL.so", "apt-get install ocl-icd-libopencl1"),
    ("no platform", "install an OpenCL driver; for the processor: apt-get install pocl-opencl-icd"),
    ("no OpenCL", "install an OpenCL driver; for the processor: apt-get install pocl-opencl-icd"),
    ("libgomp", "apt-get install libgomp1"),
    ("world-writable", "chmod o-w on the file or directory named above"),
    ("built for", "build or install this backend for this version of collet"),
)


@dataclass(frozen=True)
class Finding:
    """Something that is missing."""

    what: str
    why: str
    mend: str  # a line; "" where none is known


class Report(tuple):
    """What doctor found: a tuple of Findings, empty where nothing is missing; its text says all."""

    def __new__(cls, head, findings):
        self = super().__new__(cls, findings)
        self._head = head
        return self

    def __str__(self):
        lines = [self._head]
        for finding in self:
            lines += [f"missing: {finding.what}", f"  why:   {finding.why}"]
            lines += [f"  mend:  {finding.mend}"] if finding.mend else []
        return "\n".join(lines + ([] if self else ["nothing is missing"]))

    __repr__ = __str__


def _mend(reason):
    return next((line for part, line in _MENDS if part in reason), "")


def _of_backend(backend):
    if backend.state == "unavailable":
        yield Finding(f"backend {backend.name}", backend.reason,
                      _mend(backend.reason) or f"python -m collet --why {backend.name}")
    for name, state in _libraries(backend.capabilities):
        yield Finding(f"{name}, which {backend.name} uses", state, _mend(state))


def _libraries(capabilities):
    """Libraries of a backend that it did not find."""
    found = capabilities.get("libraries") or {}
    for name, state in found.items() if isinstance(found, dict) else ():
        text = state.get("reason", "") if isinstance(state, dict) else ""
        if text:
            yield name, text


def examine():
    """The Report of this machine."""
    known = backends()
    lines = [f"collet {_core.version}, Python {sys.version.split()[0]}, {_core.directory()}"]
    lines += [f"  {b.name}: {b.state}" + "".join(f", {d.name}" for d in b.devices) for b in known]
    findings = [f for b in known for f in _of_backend(b)]
    if not any(b.state == "usable" for b in known):
        findings.insert(0, Finding("any usable backend", f"searched beside {_core.directory()}",
                                   "python -m collet --why"))
    paths = {b.path for b in known}
    for record in _core.records():
        if not record["accepted"] and record["path"] not in paths and os.path.isfile(record["path"]):
            findings.append(Finding(record["path"], record["reason"], _mend(record["reason"])))
    if importlib.util.find_spec("ml_dtypes") is None:
        findings.append(Finding("bf16 in NumPy arrays", "ml_dtypes is not installed",
                                "pip install ml_dtypes"))
    return Report("\n".join(lines), findings)
