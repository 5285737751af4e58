# SPDX-License-Identifier: Apache-2.0
"""The stubs are complete and agree with the extensions, and mypy infers the right types in programs. Needs mypy."""

import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys
import types
from importlib.util import find_spec

import pytest

import collet
from collet._array import elementwise, names

pytest.importorskip("mypy.version", "1.18")  # older versions lack options
PACKAGE = pathlib.Path(collet.__file__).parent
STUBS = sorted([*PACKAGE.glob("*.pyi"), *(PACKAGE / f"{name}/__init__.pyi" for name in ("functions", "linalg"))])
TYPED = PACKAGE / "_standard/typed.pyi"  # types of functions made at run time
EXAMPLES = sorted(pathlib.Path(__file__).parents[2].glob("examples/*.py"))
SAMPLE = '''
import numpy as np
import numpy.typing as npt
from typing import Any
from typing_extensions import assert_type

import collet
import collet as xp

x = collet.asarray(np.linspace(0, 1, 10), dtype="f4")
assert_type(x, collet.Array)
assert_type(x.shape, tuple[int, ...])
assert_type(collet.sin(x), collet.Array)
assert_type(collet.sin(np.ones(3)), npt.NDArray[Any])
assert_type(collet.add(1, x), collet.Array)
assert_type(collet.add(1, [2.0]), npt.NDArray[Any])
assert_type(collet.where(x > 0.5, x, 0), collet.Array)
assert_type(collet.fma(2, x, x), collet.Array)
assert_type(collet.clip(x, 0, max=1), collet.Array)
assert_type(2 * x + x**2 - x @ x, collet.Array)
assert_type(xp.zeros((2, 3), dtype=xp.float32), collet.Array)
x[0:3] = 3
x += collet.exp(-x, out=collet.empty(10, "f4"))
total = float(collet.sum(x))
assert_type(xp.concat([x, x]), collet.Array)
assert_type(collet.matmul(np.eye(3), collet.ones((3, 2))), collet.Array)
assert_type(collet.sort(np.ones(3)), npt.NDArray[Any])
assert_type(xp.unique_counts(x).counts, collet.Array)
assert_type(collet.linalg.eigh(collet.eye(2)).eigenvectors, collet.Array)
assert_type(collet.fft.rfft(x, n=16), collet.Array)
counts, edges = collet.histogram(x, bins=5)
collet.linalg.solve(np.eye(3), np.ones(3))
assert_type(collet.linalg.svd(collet.eye(2)).U, collet.Array)
assert_type(collet.linalg.svd(np.eye(2), compute_uv=False), npt.NDArray[Any])
assert_type(collet.linalg.svd(collet.eye(2), False, False), collet.Array)
assert_type(collet.linalg.qr(collet.eye(2), "r"), collet.Array)
assert_type(collet.linalg.lstsq(collet.eye(2), np.ones(2)).x, collet.Array)
assert_type(collet.linalg.lu_solve(collet.linalg.lu_factor(collet.eye(2)), np.ones(2)), collet.Array)
assert_type(-x, collet.Array)
assert_type(collet.random.default_rng([1, 2]).normal(size=3), collet.Array)
assert_type(collet.special.softmax(x), collet.Array)
assert_type(collet.special.logsumexp(x, return_sign=True), tuple[collet.Array, collet.Array])
assert_type(collet.convolve(x, x), collet.Array)
assert_type(collet.linspace(x, 1, 5), collet.Array)


def loss(w: collet.Array, n: int = 2) -> collet.Array:
    return collet.sum(w**n)


assert_type(collet.grad(loss)(x, n=3), collet.Array)
assert_type(collet.value_and_grad(loss)(np.ones(3)), tuple[collet.Array, collet.Array])
assert_type(collet.jit(collet.vmap(collet.grad(loss)))(x), collet.Array)
assert_type(collet.hessian(loss)(x), collet.Array)
assert_type(collet.stop_gradient(x), collet.Array)
collet.grad(collet.grad(lambda w: w**3))(3.0)
collet.grad(lambda tree: collet.sum(tree["w"]))({"w": x})["w"]
collet.grad(loss, argnums=(0,), has_aux=False)(x)
assert_type(collet.linalg.eigh(np.eye(2), np.eye(2)).eigenvalues, npt.NDArray[Any])
assert_type(collet.linalg.cho_factor(collet.eye(2), lower=True), tuple[collet.Array, bool])
value, gradient = collet.value_and_grad(lambda x: collet.sum(x**2))(x)
collet.hessian(lambda p: collet.sum(p["a"]), has_aux=False)({"a": x})
def scaled(x: collet.Array, factor: float) -> collet.Array:
    return x * factor
assert_type(collet.vmap(scaled, (0, None))(x, 2.0), collet.Array)
assert_type(collet.jit(scaled)(x, 2.0), collet.Array)
assert_type(collet.jit(static_argnums=1)(scaled)(x, 2.0), collet.Array)
assert_type(collet.jvp(scaled, [x, 1.0], [x, 1.0]), tuple[collet.Array, collet.Array])
assert_type(collet.linearize(scaled, x, 1.0)[1](x, 1.0), collet.Array)
assert_type(collet.vjp(scaled, x, 1.0)[0], collet.Array)
def named(x: collet.Array) -> tuple[collet.Array, str]:
    return collet.sum(x), "name"
assert_type(collet.vjp(named, x, has_aux=True)[2], str)
assert_type(collet.vjp(scaled, x, 1.0)[1](x), tuple[Any, ...])
assert_type(collet.hvp(loss, [x], [x]), collet.Array)
assert_type(collet.custom_vjp(scaled)(x, 1.0), collet.Array)
collet.special.softmax(x, axis=-1)
collet.fft.fft(xp.concat([x, x]))
collet.random.default_rng(1).normal(size=3)
assert_type(collet.md.quantities()["com"].unit, Any)
collet.md.compute_com_batch(np.ones((1, 2, 3)), np.ones(2))
with collet.using("cpu_openmp"):
    collet.evaluate("x + 1")
if collet.isdtype(x.dtype, "real floating"):
    print(collet.finfo(x.dtype).eps, collet.float64, x.to_numpy().sum(), len(x), x.device)
'''
MISTAKES = ("collet.sum(1, axs=0)", "collet.linalg.solve(1)", "collet.sort(collet.ones(3)).nosuch",
            "collet.nosuch(1)", "collet.sin()", "collet.add(collet.ones(3))", "collet.ones(3).nosuch",
            "collet.sin(1, axis=0)", "collet.exp(object())", "collet.vmap(len)(1, 2)", "collet.jit(len)([1]).nosuch",
            "collet.grad(len)()")


def check(*arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_have_all_types():
    check("mypy", "--strict", "--python-version", "3.12", *map(str, STUBS))


def test_modules_have_all_types():
    check("mypy", "--strict", "--python-version", "3.12", "--follow-imports=silent",
         "--ignore-missing-imports",
         *(str(PACKAGE / f"{m}.py") for m in ("scatter", "_jobs")),
         *map(str, sorted((PACKAGE / "_scattering").glob("*.py"))),
         *map(str, sorted((PACKAGE / "md/analysis").glob("*.py"))))


WRITTEN_IN_C = types.MethodDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType


def test_stubs_are_what_there_is(tmp_path):
    """The stubs agree with the modules, except for op, whose functions are made at run time. The stub of the type Array has the
    members that are written in C; _standard/array.py has all other members."""
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"collet._core.Array.{name}\n" for name, member in vars(collet.Array).items()
                               if not isinstance(member, WRITTEN_IN_C)))
    check("mypy.stubtest", "--concise", "--ignore-disjoint-bases", "--allowlist", str(allowed), "--ignore-unused-allowlist",
          *("collet." + (path.parent.name if path.stem == "__init__" else path.stem) for path in STUBS if path.stem != "op"))


def test_functions_made_at_run_time_have_types():
    body = ast.parse(TYPED.read_text()).body
    stub = {n.name: [a.arg for a in [*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs]]
            for n in body if isinstance(n, ast.FunctionDef)}
    assert stub == {n: [*inspect.signature(elementwise.functions[n]).parameters] for n in elementwise.names()}
    dtypes = {n.target.id for n in body if isinstance(n, ast.AnnAssign) and not n.target.id.startswith("_")}
    assert dtypes == {*names._DTYPES}


def test_programs_have_types(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SAMPLE)
    exec(SAMPLE, {})
    options = ("--python-version", "3.12", "--follow-imports=silent", "--ignore-missing-imports")
    check("mypy", "--strict", *options, str(program), str(TYPED))
    check("mypy", *options, *map(str, EXAMPLES))


def test_mistakes_are_found(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import collet\n" + "\n".join(MISTAKES))
    with pytest.raises(AssertionError) as error:
        check("mypy", "--python-version", "3.12", "--follow-imports=silent", "--ignore-missing-imports",
              str(program))
    lines = {int(n) for n in re.findall(r"program\.py:(\d+): error", str(error.value))}
    assert lines == {i + 2 for i in range(len(MISTAKES))}


@pytest.mark.skipif(not find_spec("pyright"), reason="pyright is not installed")
def test_pyright(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SAMPLE)
    check("pyright", "--pythonpath", sys.executable, str(program), *map(str, EXAMPLES))
