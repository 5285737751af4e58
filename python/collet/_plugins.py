# SPDX-License-Identifier: Apache-2.0
"""Directories of plugins that installed distributions name in the group collet.plugins."""

import os
import sys

GROUP = "collet.plugins"


def _warning(*text):
    import logging
    logging.getLogger("collet").warning(*text)


def _listed(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _distributions():
    """Only those that name the group. importlib.metadata, glob and logging, which are not imported
    for this, take longer than all else of a first call."""
    for folder in filter(os.path.isabs, sys.path):
        for info in (n for n in _listed(folder) if n.endswith(".dist-info")):
            info = os.path.join(folder, info)
            try:
                with open(os.path.join(info, "entry_points.txt"), "rb") as file:
                    if GROUP.encode() in file.read():
                        yield folder, info
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                _warning("%s cannot be read: %s", error.filename, error)


def directories() -> list[str]:
    """In the order of sys.path. Nothing of a distribution is imported: "package.folder" is the
    directory package/folder beside its metadata."""
    found = []
    for folder, info in _distributions():
        import importlib.metadata
        for point in importlib.metadata.Distribution.at(info).entry_points:
            directory = os.path.join(folder, *point.value.split("."))
            if point.group != GROUP or directory in found:
                continue
            if ":" in directory:
                _warning("the plugins in %s are not searched: ':' separates directories", directory)
                continue
            found.append(directory)
    return found


def setting() -> str:
    """The default of plugin_path; a user's `+` path comes before it, any other replaces it."""
    found = directories()
    return f"plugin_path=+{':'.join(found)}" if found else ""
