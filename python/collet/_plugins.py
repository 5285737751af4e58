# SPDX-License-Identifier: Apache-2.0
"""Directories of plugins that installed distributions name in the group collet.plugins."""

import glob
import logging
import os
import sys

GROUP = "collet.plugins"


def _distributions():
    """Only those that name the group: importlib.metadata takes longer than all of a first call."""
    for folder in filter(os.path.isabs, sys.path):
        for name in sorted(glob.glob(glob.escape(folder) + "/*.dist-info/entry_points.txt")):
            try:
                with open(name, "rb") as file:
                    if GROUP.encode() in file.read():
                        yield folder, os.path.dirname(name)
            except OSError as error:
                logging.getLogger("collet").warning("%s cannot be read: %s", name, error)


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
                logging.getLogger("collet").warning(
                    "the plugins in %s are not searched: ':' separates directories", directory)
                continue
            found.append(directory)
    return found


def setting() -> str:
    """The default of plugin_path; a user's `+` path comes before it, any other replaces it."""
    found = directories()
    return f"plugin_path=+{':'.join(found)}" if found else ""
