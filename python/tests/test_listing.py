# SPDX-License-Identifier: Apache-2.0
"""dir(), help() and inspect of the package's modules list the public names, and each name can be looked
up."""

import importlib
import inspect
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import collet

FOLDER = pathlib.Path(collet.__file__).parent
FOREIGN = {"typing", "collections.abc", "collections", "contextlib", "dataclasses", "functools", "itertools", "numpy",
           "os", "pathlib", "re", "types", "posixpath", "__future__"}


def modules():
    for path in sorted(FOLDER.rglob("*.py")):
        parts = ("collet", *path.relative_to(FOLDER).with_suffix("").parts)
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts):
            yield ".".join(parts)


@pytest.mark.parametrize("name", modules())
def test_dir(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))
    for n in dir(module):
        if n.startswith("_"):
            assert module is not collet or n.startswith("__"), n
            continue
        value = getattr(module, n)
        assert n not in ("TYPE_CHECKING", "annotations"), n
        assert not isinstance(value, types.ModuleType) or value.__name__.startswith("collet."), n
        assert getattr(value, "__module__", None) not in FOREIGN, n
    assert inspect.getmembers(module)


def test_what_is_listed():
    from collet import bench, md, scatter, ternary
    assert {"Patterns", "Sample", "Material", "simulate", "integrate", "read", "LeastSquares"} <= {*dir(scatter)}
    assert {"Weights", "Network", "pack", "FORMATS"} <= {*dir(ternary)} and "Timer" in dir(bench)
    assert {"extract", "merge", "observables", "analysis", "make_whole"} <= {*dir(md)}
    assert {"sin", "concat", "grad", "linalg", "float32", "Array", "pi"} <= {*dir(collet)}


# Code that makes a package unavailable: its import finder raises an error for the package's name.
WITHOUT = """import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {0!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Refuse())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == {0!r} else find(name, package)
import inspect, pydoc
import collet
from collet import md
"""


def python(package, code):
    run = subprocess.run([sys.executable, "-c", WITHOUT.format(package) + code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_without_mdanalysis():
    said = python("MDAnalysis", """
assert not hasattr(md, "RotationalObservables") and "RotationalObservables" not in dir(md)
assert inspect.getmembers(md) and "extract" in pydoc.render_doc(md)
try:
    md.RotationalObservables
except AttributeError as error:
    print(error)
""")
    assert "needs MDAnalysis, pip install MDAnalysis" in said


def test_without_ml_dtypes():
    said = python("ml_dtypes", """
assert not hasattr(collet, "bfloat16") and "bfloat16" not in dir(collet) and "float16" in dir(collet)
assert inspect.getmembers(collet) and "concat" in pydoc.render_doc(collet)
try:
    collet.bfloat16
except AttributeError as error:
    print(error)
""")
    assert "pip install ml_dtypes" in said


def test_members_of_arrays():
    x = collet.asarray([1.0, 4.0])
    for n in dir(x):
        if n not in ("mT", "__index__"):
            getattr(x, n)
    assert x.__array_ufunc__(np.sqrt, "__call__", x).tolist() == [1, 2]
    masked = np.ma.array([1.0, 2.0], mask=[0, 1]) + x  # computed by NumPy, which keeps the mask
    assert masked.mask.tolist() == [False, True] and masked[0] == 2


def test_help_of_elementwise_functions():
    from collet._array import elementwise
    for name, first in (("add", "x1 + x2, by elements."), ("exp", "e to the power of x, by elements."),
                        ("sin", "The sine of x, in radians, by elements."),
                        ("where", "x1 where condition, a bool, is true; else x2, by elements."),
                        ("clip", "minimum(maximum(x, min), max), by elements."),
                        ("isnan", "Whether x is NaN, by elements."),
                        ("bitwise_invert", "Every bit of x inverted; of a bool: not x, by elements.")):
        assert getattr(collet, name).__doc__.splitlines()[0] == first
    for name in elementwise.names():
        words = re.sub(r"\ba bool", "", getattr(collet, name).__doc__.splitlines()[0])
        assert not re.search(r"\b[abcA]\b", words), words
