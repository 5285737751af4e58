# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""Files of analyses."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._core import FileError

SUFFIXES = (".npz", ".csv", ".xvg")

Number = tuple[str, Any, str]  # name, value, unit


class Found(NamedTuple):
    """Columns of the same length, single numbers, arrays, which a .npz file has in place of the
    columns, and for pictures over time series, (frames,) or (frames, bodies)."""

    columns: Sequence[Number]
    numbers: Sequence[Number] = ()
    arrays: Sequence[Number] = ()
    series: Sequence[Number] = ()

    @property
    def units(self) -> dict[str, str]:
        """Of all that a .npz file has."""
        return {name: unit for name, _, unit in (*(self.arrays or self.columns), *self.numbers)}


# ---- Output --------------------------------------------------------------------------------------


def labelled(name: str, unit: str) -> str:
    """A name with its unit."""
    return name if unit in ("", "1") else f"{name} ({unit})"


def _table(path: str, found: Found, meta: dict[str, Any]) -> bytes:
    """Text for spreadsheets, .csv, or for Grace, .xvg."""
    csv = path.endswith(".csv")
    lines = [f"# {name} = {json.dumps(value)}" for name, value in meta.items() if name != "units"]
    lines += [f"# {labelled(name, unit)} = {value!r}"
              for name, value, unit in found.numbers]
    labels = [labelled(name, unit) for name, _, unit in found.columns]
    if csv:
        lines += [",".join(labels)] * bool(labels)
    elif labels:
        lines += [f'@    title "{meta["analysis"]}"', f'@    xaxis  label "{labels[0]}"',
                  f'@    yaxis  label "{labels[1] if len(labels) == 2 else ""}"', "@TYPE xy",
                  *(f'@ s{i} legend "{label}"' for i, label in enumerate(labels[1:]))]
    lines += [("," if csv else " ").join(map(repr, row))
              for row in zip(*(values.tolist() for _, values, _ in found.columns))]
    return ("\n".join(lines) + "\n").encode()


def content_of(path: str, found: Found, meta: dict[str, Any]) -> bytes:
    """The bytes of a file in the format of the path's ending."""
    if not path.endswith(".npz"):
        return _table(path, found, meta)
    arrays = {name: value for name, value, _ in (*(found.arrays or found.columns), *found.numbers)}
    file = io.BytesIO()
    np.savez(file, **arrays, meta=json.dumps(meta))
    return file.getvalue()


def write(files: Sequence[tuple[str, bytes]], force: bool) -> None:
    """Writes files under other names, and gives them their names when all are complete: all or
    none."""
    parts = [os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
             for path, _ in files]
    reserved: list[str] = []
    try:
        for part, (path, content) in zip(parts, files):
            with open(part, "wb") as file:
                file.write(content)
            if not force:
                with open(path, "xb"):
                    reserved.append(path)
            elif os.path.isdir(path):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        for part, (path, _) in zip(parts, files):
            os.replace(part, path)
        reserved.clear()
    except FileExistsError:
        raise FileError(f"{path} exists: choose another name, or --force replaces it") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    finally:
        for left in (*parts, *reserved):
            if os.path.lexists(left):
                os.unlink(left)
