# SPDX-License-Identifier: Apache-2.0
"""The examples of the README, of the tour and of the pages for Python, and the stubs."""

import ast
import pathlib
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import collet

ROOT = pathlib.Path(__file__).parents[2]
OPTIONAL = (("matplotlib", "matplotlib"), ("import torch", "torch"), ("from scipy", "scipy"))  # blocks with these words need the library


def test_readme():
    done = subprocess.run([sys.executable, "examples/hello.py"], capture_output=True, text=True, cwd=ROOT)
    said = f"Rg 0.8441 nm, grows by 7.9%, by {collet.backends()[0].name}"
    assert done.stdout == said + "\n", done.stderr
    assert said.replace(collet.backends()[0].name, "cpu_openmp") in (ROOT / "README.md").read_text()


@pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="this NumPy has no from_dlpack")
def test_ops():
    done = subprocess.run([sys.executable, ROOT / "examples/ops.py"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "[3.5 8. ] [3.5 8. ]"
    assert done.stdout.splitlines()[0].endswith(" by " + collet.backends()[0].name)


def test_arrays():
    done = subprocess.run([sys.executable, ROOT / "examples/arrays.py"], capture_output=True, text=True)
    assert done.stdout.startswith("8122.3126385") and done.stdout.endswith(" (1000, 3)\n"), done.stderr


def test_picture():
    done = subprocess.run([sys.executable, ROOT / "examples/spheres.py"], capture_output=True,
                          text=True)
    assert done.stdout.startswith("(1, 128, 128) rings at q = 0.0245"), done.stderr
    assert 0 < (ROOT / "docs/spheres.png").stat().st_size < 60 * 1024


@pytest.mark.skipif(not find_spec("matplotlib"), reason="Matplotlib is not installed")
def test_drawing(tmp_path):
    subprocess.run([sys.executable, ROOT / "docs/spheres.py", tmp_path / "a.png"], check=True)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", (*sorted((ROOT / "docs/python").glob("*.md")), *sorted((ROOT / "docs").glob("from-*.md")),
                                  ROOT / "docs/gradients.md", ROOT / "docs/tutorials/arrays.md"), ids=lambda path: path.stem)
def test_pages(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = path.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert blocks or path.stem == "collet-analyse"
    names = {}
    for block in blocks:
        if any(word in block[1] and not find_spec(library) for word, library in OPTIONAL):
            continue
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], path, "exec"), names)


def plain_names(text):
    return set(re.findall(r"`([a-z_0-9]+)`", text))


def test_lists_of_from_numpy():
    """Each name is either in collet, or in exactly one of the lists of missing names."""
    text = (ROOT / "docs/from-numpy.md").read_text()
    other = text.partition("| NumPy | Collet |")[2].partition("\n\n")[0]
    missing = text.partition("## Missing")[2]
    absent = set().union(*(plain_names(row.split("|")[1]) for table in (other, missing) for row in table.splitlines()
                           if row.startswith("| ") and not row.startswith("| methods"))) - {"flags"}
    there = plain_names(text.partition("Collet has these functions of NumPy: ")[2].partition("\n\n")[0])
    assert len(absent) > 12 and len(there) > 50
    assert {n for n in absent if hasattr(collet, n)} == set() and {n for n in there if not hasattr(collet, n)} == set()
    assert not absent & there


def test_libraries_page():
    """The examples run in a separate process, because SciPy reads SCIPY_ARRAY_API during its import."""
    pytest.importorskip("scipy", "1.17")
    pytest.importorskip("sklearn", "1.9")
    text = (ROOT / "docs/libraries.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, cwd=ROOT)
    assert blocks and done.returncode == 0, done.stderr


def names_in(path):
    tree = ast.parse(path.read_text())
    return {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))} | {
        n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}


def test_stubs_name_what_there_is():
    stub = names_in(ROOT / "python/collet/_core.pyi")
    real = {n for n in vars(collet._core) if not n.startswith("__")}
    assert stub == real
    assert pathlib.Path(collet.__file__).with_name("py.typed").exists()
