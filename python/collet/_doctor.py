# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""collet.doctor(): the missing requirements, the reasons, and the commands that install them. Texts that do
not concern Python come from backend-info --doctor (tools/info/doctor.c)."""

import importlib.util
import sys
from collections import namedtuple

from . import _core, _package, _plugins
from ._runtime import _STATES, backends

# Parts of the reasons why a backend is unavailable, and the correction for each.
_MENDS = (
    ("libcuda.so", "apt-get install nvidia-driver   # on a machine with an NVIDIA card"),
    ("libnvrtc.so", "pip install nvidia-cuda-nvrtc-cu12   # or install the CUDA toolkit"),
    ("libcu", "install the CUDA toolkit"),
    ("libOpenCL.so", "apt-get install ocl-icd-libopencl1"),
    ("libclblast.so", "apt-get install libclblast1"),
    ("no platform", "apt-get install pocl-opencl-icd   # for the processor; for a GPU its driver"),
    ("libgomp", "apt-get install libgomp1"),
)
_MISSING = ("not found", "cannot be opened", " lacks ")


Finding = namedtuple("Finding", "what why fix")
Finding.__doc__ = """Something that is missing; `fix` is a command or advice, "" if none is known."""


class Report(tuple):
    """A tuple of Findings; str() lists them. Empty if nothing is missing."""

    def __new__(cls, head, findings):
        self = super().__new__(cls, findings)
        self._head = head
        return self

    def __getnewargs__(self):
        return self._head, tuple(self)

    def __str__(self):
        lines = [self._head]
        for finding in self:
            lines += [f"missing: {finding.what}", f"  why:   {finding.why}"]
            lines += [f"  fix:   {finding.fix}"] if finding.fix else []
        text = "\n".join(lines + ([] if self else ["nothing is missing"]))
        return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode()
                       for c in text)

    __repr__ = __str__


def _fix(reason):
    package = reason.partition("(Debian: ")[2].partition(")")[0]
    if package:
        return f"apt-get install {package.replace(' or ', '   # or: ', 1)}"
    last = reason.rpartition(": ")[2]
    if last.startswith(("set ", "unset ", "chmod ")) or any(part in reason for part in (
            " may write to ", " may create files in ", " are trusted: ")):
        return last
    return next((line for part, line in _MENDS if part in reason), "")


def _texts(capabilities, name=""):
    """(subject, text) for each text in the capabilities."""
    for key, value in capabilities.items() if isinstance(capabilities, dict) else ():
        about = name if name and key == "reason" else key
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield about, part
            else:
                yield from _texts(part, about)


def _by_name(backend):
    """Whether the backend has devices only after the user names them, like the worker. Then nothing is
    missing."""
    return "name a backend" in backend.reason


def _of_backend(backend):
    if _by_name(backend):
        return
    if backend.state == "unavailable":
        yield Finding(f"the backend {backend.name}", backend.reason,
                      _fix(backend.reason) or f"python -m collet --why {backend.name}")
        return
    seen = set()
    for name, text in _texts(backend.capabilities):
        if text not in seen and any(word in text for word in _MISSING):
            seen.add(text)
            yield Finding(f"{name} for {backend.name}", text, _fix(text))


def _strangers():
    for folder in _plugins._folders():
        for other, removal in _package.strangers(folder):
            yield Finding("the name collet for this package alone",
                          f"{folder} has {other}, another program with an import of that name",
                          f"{removal}   # this package: pip install {_package.DISTRIBUTION}")


def _size(count):
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _no_backend():
    path = next(s for s in _core.settings() if s["key"] == "plugin_path")
    beside = f"{_core.directory()}/collet"
    if path["value"] and not path["value"].startswith("+"):
        return Finding("any usable backend", f"the setting plugin_path ({path['environment']}) is "
                       f"{path['value']}, so {beside} is not searched",
                       f"unset {path['environment']}, or begin it with '+' to search both")
    return Finding("any usable backend", f"searched {beside}", "python -m collet --why")


def _chosen(known):
    """Checks the backend that the environment or the configuration file names."""
    try:
        _core.get_backend()
    except _core.Error as error:
        usable = [b.name for b in known if b.state != "unavailable"]
        if usable:
            yield Finding("the backend that is chosen", str(error),
                          f"set COLLET_BACKEND (the setting backend) to {' or '.join(usable)}")


def _threads():
    """The reference backend computes on one thread."""
    usable = [b for b in _core.backends() if _STATES[b["state"]] != "unavailable"]
    if usable and not any(b["parallel"] or b["gpu"] for b in usable):
        yield Finding("a backend that computes on all cores", "every usable backend computes on one thread",
                      "install the backend cpu_openmp; a build from source needs a compiler with OpenMP")


def _calibration(known):
    """A GPU is not the fastest device for every call."""
    usable = [b for b in known if b.devices]
    other = [b.name for b in usable if b.devices[0].kind != "cpu"]
    on = next(s["value"] for s in _core.settings() if s["key"] == "calibration") == "on"
    if on and len(usable) > 1 and other and not any(b.calibration for b in usable):
        yield Finding("a calibration of this machine",
                      f"the sizes from which {other[0]} is faster than the other backends were not measured: auto "
                      "takes the first backend that has a kernel", "python -m collet calibrate")


def _merged(findings):
    """Merges Findings that the same command corrects."""
    same = {}
    for finding in findings:
        same.setdefault(finding[1:], []).append(finding.what)
    start = "the backend "
    for rest, whats in same.items():
        if len(whats) > 1 and all(w.startswith(start) for w in whats):
            whats = ["the backends " + ", ".join(w[len(start):] for w in whats)]
        yield Finding(", ".join(whats), *rest)


def examine():
    """The Report of this machine."""
    known = backends()
    lines = [f"{_package.DISTRIBUTION} {_core.version}, Python {sys.version.split()[0]}, {_core.directory()}"]
    lines += [f"  {b.name}: {'by name' if _by_name(b) else b.state}" + "".join(f", {d.name}" for d in b.devices)
              for b in known]
    total, limit = _core.memory_limit()
    lines.append(f"  memory: {_size(total)}" + f", {limit}" * bool(limit))
    findings = [f for b in known for f in _of_backend(b)]
    if not any(b.state == "usable" for b in known):
        findings.insert(0, _no_backend())
    findings += _chosen(known)
    paths = {b.path for b in known}
    reported = {b.reason for b in known}
    for record in _core.records():  # directories and files that were not loaded as backends
        if record["accepted"] or record["code"] == "not-found" or record["path"] in paths:
            continue
        if record["stage"] != "policy" or record["reason"] not in reported:  # not reported already
            findings.append(Finding(record["path"], record["reason"], _fix(record["reason"])))
    findings += _threads()
    findings += _calibration(known)
    if importlib.util.find_spec("ml_dtypes") is None:
        findings.append(Finding("bfloat16 in NumPy arrays", "ml_dtypes is not installed",
                                "pip install ml_dtypes   # in a virtual environment; Debian has no package"))
    return Report("\n".join(lines), _merged([*findings, *_strangers()]))
