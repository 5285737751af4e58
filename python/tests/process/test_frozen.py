# SPDX-License-Identifier: Apache-2.0
"""The package outside of an installation: in a frozen application, and in the source folder. Errors state
the reason."""

import os
import runpy
import shutil
import subprocess
import sys
import types

import pytest

import collet
from collet import _freeze

PACKAGE = os.path.dirname(os.path.abspath(collet.__file__))
SOURCES = os.path.dirname(os.path.realpath(collet.__file__))


def run(text, folder, **variables):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, cwd=folder,
                          env=dict(os.environ, PYTHONPATH=str(folder), LD_LIBRARY_PATH=collet._core.directory(), **variables))


def copy(tmp_path, *left_out):
    shutil.copytree(PACKAGE, tmp_path / "collet", ignore=shutil.ignore_patterns("__pycache__", *left_out))
    return tmp_path


def test_a_part_of_the_package(tmp_path):
    done = run("import sys; sys.frozen = True; import collet", copy(tmp_path, "__main__.py"))
    assert "this frozen application has only a part of collet-runtime" in done.stderr
    assert "--collect-all collet" in done.stderr and "include_files" in done.stderr
    done = run("import collet", tmp_path)
    assert "frozen" not in done.stderr and "reinstall" in done.stderr


def test_all_of_the_package_with_a_loader_of_its_own(tmp_path):
    """The package loads its own files by Python's loader, since a loader such as PyInstaller's cannot load them."""
    text = """if True:
        import sys, importlib.machinery as m
        class Loader(m.SourceFileLoader):
            def __init__(self, name, path):
                if name == "collet":
                    raise TypeError("PyiFrozenLoader takes no name")
                super().__init__(name, path)
        class Finder:
            @staticmethod
            def find_spec(name, path=None, target=None):
                spec = m.PathFinder.find_spec(name, path, target)
                if name == "collet._package":
                    spec.loader = Loader(name, spec.origin)
                return spec
        sys.frozen = True
        sys.meta_path.insert(0, Finder)
        import collet
        print(float(collet.sum(collet.ones(3))))"""
    done = run(text, copy(tmp_path))
    assert done.stdout == "3.0\n", done.stderr


def test_the_hook_takes_every_file(tmp_path, monkeypatch):
    hooks = types.ModuleType("PyInstaller.utils.hooks")
    hooks.collect_submodules = lambda name, filter: [n for n in (name, name + ".md", name + "._freeze") if filter(n)]
    hooks.get_module_file_attribute = lambda name: str(tmp_path / "collet" / "__init__.abi3.so")
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    copy(tmp_path)
    (tmp_path / "collet" / "lib" / "collet").mkdir(parents=True)
    (tmp_path / "collet" / "lib" / "collet" / "opencl.so").touch()
    folder, = _freeze.hook_dirs()
    found = runpy.run_path(os.path.join(folder, "hook-collet.py"))
    kept = {os.path.join(there, os.path.basename(file)) for file, there in found["datas"]}
    assert kept >= {"collet/lib/collet/opencl.so", "collet/__init__.py", "collet/__main__.py", "collet/md/__init__.py"}
    assert found["hiddenimports"] == ["collet", "collet.md"]


def test_the_source_folder():
    done = run("import collet", os.path.dirname(SOURCES), PYTHONNOUSERSITE="1")
    assert "is in Collet's sources" in done.stderr and "start Python in another folder" in done.stderr


def test_drivers_of_opencl_elsewhere():
    if not [b for b in collet.backends() if b.name == "opencl" and b.devices]:
        pytest.skip("no OpenCL")
    done = subprocess.run([sys.executable, "-m", "collet", "--doctor"], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, OCL_ICD_VENDORS="/nowhere"))
    assert "OCL_ICD_VENDORS=/nowhere" in done.stdout and "fix:   unset OCL_ICD_VENDORS" in done.stdout
    assert "no driver is installed" not in done.stdout
