# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md_results.py, python/tests/analysis/test_md_analyse.py
"""Tables of numbers, and files that get their names when they are complete."""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Iterable, Sequence
from typing import Any

from .._core import FileError


def labelled(name: str, unit: str) -> str:
    """A name with its unit, unless that is 1."""
    return name if unit in ("", "1") else f"{name} ({unit})"


def table(suffix: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *,
          notes: Iterable[str] = (), title: str = "", y: str = "") -> bytes:
    """Text of a .csv file, for spreadsheets, or of an .xvg file, for Grace. In an .xvg file the first
    column is the horizontal axis. Reading a number back gives the same double.

    notes: comments. title, y: the title of an .xvg file and the label of its vertical axis"""
    out = io.StringIO(newline="")
    out.writelines(f"# {note}\n" for note in notes)
    if suffix == ".csv":
        csv.writer(out, lineterminator="\n").writerows([names, *rows] if names else rows)
    elif names:
        x, y, *plain = (name.replace('"', "").replace("\\", "") for name in (names[0], y, *names[1:]))
        out.write(f'@    title "{title}"\n' * bool(title) + f'@    xaxis  label "{x}"\n@    yaxis  label '
                  f'"{y}"\n@TYPE xy\n@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n'
                  "@ legend loctype view\n@ legend 0.78, 0.8\n@ legend length 2\n")
        out.writelines(f'@ s{i} legend "{name}"\n' for i, name in enumerate(plain))
        out.writelines(" ".join(map(repr, row)) + "\n" for row in rows)
    return out.getvalue().encode()


def write(files: Sequence[tuple[str, bytes]], force: bool) -> None:
    """Writes all files or none: writes them under temporary names, and renames them when all are
    complete."""
    parts = [os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
             for path, _ in files]
    reserved: list[str] = []
    try:
        for part, (path, content) in zip(parts, files):
            with open(part, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if not force:
                with open(path, "xb"):
                    reserved.append(path)
            elif os.path.isdir(path):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        for part, (path, _) in zip(parts, files):
            os.replace(part, path)
        reserved.clear()
    except FileExistsError:
        raise FileError(f"{path} already exists: choose another name, or replace it with force=True "
                        "(collet-analyse: --force)") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    finally:
        for left in (*parts, *reserved):
            if os.path.lexists(left):
                os.unlink(left)
