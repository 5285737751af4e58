# SPDX-License-Identifier: Apache-2.0
"""The stubs are complete and agree with the extensions. Needs mypy."""

import os
import pathlib
import subprocess
import sys

import pytest

import collet

pytest.importorskip("mypy.version", "1.18")  # older ones have not all options
PACKAGE = pathlib.Path(collet.__file__).parent
STUBS = sorted(PACKAGE.glob("*.pyi"))


def mypy(*arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_have_all_types():
    mypy("mypy", "--strict", "--python-version", "3.12", *map(str, STUBS))


def test_modules_have_all_types():
    mypy("mypy", "--strict", "--python-version", "3.12", "--follow-imports=silent",
         "--ignore-missing-imports", *(str(PACKAGE / f"{m}.py") for m in ("scatter", "_patterns", "_jobs")),
         *map(str, sorted((PACKAGE / "md/analysis").glob("*.py"))))


def test_stubs_are_what_there_is():
    """But of op, whose functions are made at run time."""
    mypy("mypy.stubtest", "--concise", "--ignore-disjoint-bases", *("collet." + path.stem for path in STUBS if path.stem != "op"))
