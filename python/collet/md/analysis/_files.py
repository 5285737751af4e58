# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""Files of analyses."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._table import labelled, table

SUFFIXES = (".npz", ".csv", ".xvg")

Number = tuple[str, Any, str]  # name, value, unit


class Found(NamedTuple):
    """Columns of the same length; single numbers; arrays, which a .npz file contains instead of the
    columns; and series (frames,) or (frames, bodies) for pictures over time."""

    columns: Sequence[Number]
    numbers: Sequence[Number] = ()
    arrays: Sequence[Number] = ()
    series: Sequence[Number] = ()

    @property
    def units(self) -> dict[str, str]:
        """The units of everything in a .npz file."""
        return {name: unit for name, _, unit in (*(self.arrays or self.columns), *self.numbers)}


def content_of(path: str, found: Found, meta: dict[str, Any]) -> bytes:
    """The bytes of a file. The path's suffix chooses the format."""
    if not path.endswith(".npz"):
        notes = [f"{name} = {json.dumps(value)}" for name, value in meta.items() if name != "units"]
        notes += [f"{labelled(name, unit)} = {value!r}" for name, value, unit in found.numbers]
        names = [labelled(name, unit) for name, _, unit in found.columns]
        return table(os.path.splitext(path)[1], names,
                     zip(*(values.tolist() for _, values, _ in found.columns)), notes=notes,
                     title=meta["analysis"], y=names[1] if len(names) == 2 else "")
    arrays = {name: value for name, value, _ in (*(found.arrays or found.columns), *found.numbers)}
    file = io.BytesIO()
    np.savez(file, **arrays, meta=json.dumps(meta))
    return file.getvalue()
