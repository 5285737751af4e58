# SPDX-License-Identifier: Apache-2.0
"""Every public function, class and method of these modules has an example, and the examples are right."""

import doctest
import inspect
import pathlib

import numpy as np
import pytest

import collet
from collet import bench, fft, linalg, md, random, scatter, special, ternary
from collet.md import analysis

ROOT = pathlib.Path(__file__).parents[2]
MODULES = (collet, bench, fft, linalg, md, analysis, random, scatter, special, ternary)
WITHOUT = {  # without an example: another example shows it, or it needs files or another program
    "Device", "EigResult", "EighResult", "LUResult", "LstsqResult", "QRResult", "SVDResult", "SlogdetResult", "Counts",
    "Quantized",
    "Format", "Quantity", "RotationalObservables", "RotationalObservables.run", "Results.plot",
    "Result.to_xarray",
    "Integrals.to_xarray", "Frames.call", "Scan.close", "decompose_vector_batch_static_ref",
    "decompose_vector_single",
    "compute_com_single", "inertia_tensor_single", "cross_product_single_frame", "custom_vjp.defvjp",
    "profile_trace",
    *(f"BenchmarkResult{n}" for n in ("", ".calls_per_second", ".memory_delta_gb", ".resident_delta_gb", ".summary",
                                      ".to_dict", ".total_time_s")),
    *(f"analysis.{n}" for n in analysis.__all__ if n[0].isupper()), "analysis.MeanForcePotential.centers",
    "read", *(f"Expression.{n}" for n in ("input", "constant", "set_constant", "apply", "convert",
    "output", "reduce",
                                          "gradient"))}


def members(value):
    """The members of a class and of its private base classes."""
    for base in value.__mro__ if inspect.isclass(value) else ():
        if base is value or base.__module__.startswith(value.__module__ + "._"):
            yield from vars(base).items()


def public():
    """(name, object) of all functions, classes and methods that the modules define."""
    for module in MODULES:
        for name in dir(module):
            try:
                value = getattr(module, name, None)
            except ImportError:  # needs a library that is not installed
                continue
            home = getattr(value, "__module__", None) or ""
            own = home.startswith(module.__name__ if module is not collet else "collet")
            if name.startswith("_") or inspect.ismodule(value) or not callable(value) or not own:
                continue
            if inspect.isclass(value) and issubclass(value, Exception):
                continue
            name = f"analysis.{name}" if module is analysis else name  # collet has some of these names too
            yield name, value
            for method, function in members(value):
                if not method.startswith("_") and (callable(function) or isinstance(
                        function, (property, classmethod, staticmethod))):
                    yield f"{name}.{method}", function


PUBLIC = {name: value for name, value in public() if name not in WITHOUT}


def test_all_are_listed():
    assert {"add", "concat", "grad", "norm", "fft2", "loss_and_grad", "Result.cotangents"} <= {*PUBLIC}


@pytest.mark.parametrize("name", PUBLIC)
def test_examples(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    value = PUBLIC[name]
    names = {"collet": collet, "np": np, "scatter": scatter, "md": md, "ternary": ternary, "bench": bench,
             "analysis": analysis}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", names, name, None, 0)
    assert test.examples, f"{name} has no example"
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert not runner.run(test, out=report.append).failed, "".join(report)
