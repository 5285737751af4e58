# SPDX-License-Identifier: Apache-2.0
"""The common behaviour of scatter.torch_function and scatter.jax_function, and their errors without PyTorch and JAX."""

import subprocess
import sys

import numpy as np
import pytest
from test_listing import WITHOUT

import collet
from collet import scatter
from collet._scattering.functions import Function

VOLUME = np.ones((2, 4, 6))
SAMPLE = scatter.Sample([scatter.Material([1e-3, 1e-4, 1e-3, 1e-4], VOLUME), scatter.Material([0, 0, 0, 0])],
                        [284.0, 285.0], 2.0)
CALL = """
from collet import scatter
sample = scatter.Sample([scatter.Material([1e-3, 1e-4, 1e-3, 1e-4])], [285.0], 2.0)
try:
    scatter.{1}_function(sample, [(0, "volume")])
except ImportError as error:
    print(error.name, error)
"""


@pytest.mark.parametrize("library, name, command", [("torch", "PyTorch", "pip install torch"),
                                                    ("jax", "JAX", "pip install jax")])
def test_without_the_library(library, name, command):
    done = subprocess.run([sys.executable, "-c", WITHOUT.format(library) + CALL.format(0, library)], capture_output=True,
                          text=True)
    assert done.stdout == f"{library} scatter.{library}_function needs {name}: {command}\n", done.stderr


def test_nothing_is_imported():
    done = subprocess.run([sys.executable, "-c", "import sys, collet.scatter\n"
                           "print({'torch', 'jax'} & {*sys.modules})"], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_they_are_listed():
    for name in "torch_function", "jax_function":
        assert name in dir(scatter) and name in scatter.__all__


@pytest.mark.parametrize("arrays, text", [
    ([], "not a list of one or more pairs"), ("volume", "not a list of one or more pairs"),
    (["volume"], "arrays has 'volume', not a pair"), ([(0, "volume", 1)], "not a pair"),
    ([(0, "radius")], "the name in arrays is 'radius', not one of 'constants', 'volume'"),
    ([(2, "volume")], "arrays has the material 2; the sample has 2 materials, from 0 on"),
    ([(-1, "volume")], "arrays has the material -1"), ([(0, "psi"), (0, "psi")], "an array is named twice")])
def test_wrong_arrays(arrays, text):
    with pytest.raises(collet.InvalidError, match=text):
        Function(SAMPLE, arrays, None, {})


def test_shapes():
    both = Function(SAMPLE, [(0, "volume"), (1, "constants")], None, {})
    assert both.shape([(2, 4, 6), (4,)]) == both.shape([(2, 4, 6), (2, 4)]) == (2, 4, 6)
    assert both.shape([(3, 5, 7), (4,)]) == (2, 5, 7)  # Y and X are the argument's, not the sample's
    with pytest.raises(collet.ShapeError, match=r"materials\[1\].constants is 3 x 4, not 2 x 4"):
        both.shape([(2, 4, 6), (3, 4)])
    with pytest.raises(collet.ShapeError, match=r"materials\[1\].direction is 2 x 4 x 6, not 2 x 4 x 6 x 3"):
        Function(SAMPLE, [(1, "direction")], None, {}).shape([(2, 4, 6)])
    with pytest.raises(collet.ShapeError, match="the voxels have 2 axes, not 3"):
        both.shape([(2, 4), (4,)])
    with pytest.raises(TypeError, match=r"takes 2 arrays, not 1: materials\[0\].volume, materials\[1\].constants"):
        both.count(1)


def test_dtypes():
    both = Function(SAMPLE, [(0, "volume"), (1, "constants")], None, {})
    assert both.dtype(["float32", "float32"]) == "float32" and both.dtype(["float32", "float64"]) == "float64"
    assert Function(SAMPLE, [(0, "volume")], "f8", {}).dtype(["float32"]) == "float64"
    with pytest.raises(collet.DtypeError, match=r"materials\[1\].constants is float16, not float32 or float64"):
        both.dtype(["float32", "float16"])
    with pytest.raises(collet.InvalidError, match="dtype is 'float16'"):
        Function(SAMPLE, [(0, "volume")], "float16", {})
