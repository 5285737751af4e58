# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_plugins.py
"""Defaults of settings that depend on installed distributions: directories of plugins, from the entry
points of the group collet.plugins, and the OpenBLAS of scipy-openblas32."""

import os
import sys

from . import _core

GROUP = "collet.plugins"
_LARGEST = 1 << 20  # Maximum size in bytes of an entry_points.txt.
_warned = set()  # Warnings that were given: each start of the library reads all files again, but warns once.


def _warning(*text):
    if text in _warned:
        return
    _warned.add(text)
    import logging
    logging.getLogger("collet").warning(*text)


def _listed(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _folders():
    return dict.fromkeys(p for p in sys.path if isinstance(p, str) and os.path.isabs(p))


def _read(path):
    """The bytes of a regular file of bounded size. For any other file: None, and a warning. O_NONBLOCK:
    opening a fifo without a writer does not block."""
    from stat import S_ISREG
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(file)
            if S_ISREG(about.st_mode) and about.st_size <= _LARGEST:
                return os.read(file, _LARGEST)
        finally:
            os.close(file)
        why = (f"has {about.st_size} bytes, more than {_LARGEST}" if S_ISREG(about.st_mode) else
               "is not a regular file")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    _warning("%s is skipped: it %s", path, why)
    return None


def _values(path, data):
    """The values of the group, "package.folder". Malformed lines are skipped with a warning, because
    files of other distributions may contain anything."""
    import re
    inside = False
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        line = line.strip()
        if line.startswith(b"["):
            header = re.fullmatch(rb"\[\s*(.*?)\s*\]\s*([;#].*)?", line)
            inside = header is not None and header[1] == GROUP.encode()
        elif inside and line and line[:1] not in b"#;":
            found = re.fullmatch(rb"[^=]+=\s*([\w-]+(?:\.[\w-]+)*)(?:\s+[;#].*)?", line)
            if found:
                yield found[1].decode()
            else:
                _warning("%s, line %d is skipped: it is %s, not name = package.folder", path, number,
                         ascii(line[:200].decode("latin-1")))


def _entries():
    """(folder, value) of distributions that have entry points in the group. Does not use
    importlib.metadata, glob and logging: importing them takes longer than the rest of a first call."""
    for folder in _folders():
        for info in (n for n in _listed(folder) if n.endswith(".dist-info")):
            path = os.path.join(folder, info, "entry_points.txt")
            data = _read(path)
            if data and GROUP.encode() in data:
                for value in _values(path, data):
                    yield folder, value


def directories() -> list[str]:
    """Returns the directories in the order of sys.path. Imports nothing of a distribution: "package.folder" is the
    directory package/folder beside the distribution's metadata."""
    found = []
    for folder, value in _entries():
        directory = os.path.join(folder, *value.split("."))
        if directory in found:
            continue
        if ":" in directory:
            _warning("the plugins in %s are not searched: ':' separates directories", directory)
            continue
        found.append(directory)
    return found


def _openblas() -> str:
    """The library beside this package, "" if it is not installed there. The distribution is not imported."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(_core.__file__)))
    path = os.path.join(beside, "scipy_openblas32", "lib", "libscipy_openblas.so")
    return path if os.path.isfile(path) else ""


def defaults() -> list[str]:
    """Default settings at the start of a runtime; the environment and the configuration file override them. A user's
    plugin_path that begins with `+` is put before the default; any other path replaces the default."""
    if hasattr(sys.modules.get("threadpoolctl"), "LibController"):
        from . import _threadpool
        _threadpool.register()
    found, library = directories(), _openblas()
    return ([f"plugin_path=+{':'.join(found)}"] if found else []) + (
        [f"cpu_openmp.openblas={library}"] if library else [])


def tool(name: str) -> list[str]:
    """Returns the path of a program, and arguments that make it use the same plugins and libraries as this package.
    The program is in bin/ of the prefix, libcore in lib/ or in a folder of lib/ (Debian: lib/x86_64-linux-gnu)."""
    above = os.path.dirname(_core.directory())
    if not os.path.exists(path := os.path.join(above, "bin", name)):
        path = os.path.join(os.path.dirname(above), "bin", name)
    return [path, *(f"--default={d}" for d in defaults())]
