# SPDX-License-Identifier: Apache-2.0
"""collet-runtime and the unrelated distribution `collet` of PyPI. pip installs both into the same folder."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import collet

PACKAGE = pathlib.Path(collet.__file__).parent
ROOT = pathlib.Path(__file__).parents[2]
MEND = ("pip uninstall --yes collet && "
        "pip install --force-reinstall --no-deps collet-runtime")
AGAIN = "missing, perhaps since the unrelated distribution collet was uninstalled: pip install"
STRANGER = {  # the files of collet 0.0.1 on PyPI
    "collet/__init__.py": "from .agents import Agent\nfrom .cli import main\n",
    "collet/__main__.py": "from .cli import main\nmain()\n",
    "collet/agents.py": "class Agent: pass\n",
    "collet/cli.py": "def main(): print('the stranger')\n",
    "collet-0.0.1.dist-info/METADATA": "Metadata-Version: 2.4\nName: collet\nVersion: 0.0.1\n",
    "collet-0.0.1.dist-info/entry_points.txt": "[console_scripts]\ncollet = collet.cli:main\n",
    "collet-0.0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
    "collet-0.0.1.dist-info/RECORD": "",
}


def install_stranger(site):
    for name, text in STRANGER.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).unlink(missing_ok=True)
        (site / name).write_text(text)


def install_ours(site):
    shutil.copytree(PACKAGE, site / "collet", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "collet_runtime-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: collet-runtime\nVersion: 0.1.0\n")


def python(site, *text):
    return subprocess.run([sys.executable, "-B", *text], capture_output=True, text=True, cwd=site,
                          env={**os.environ, "PYTHONPATH": str(site)}, timeout=120)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "lib").symlink_to(PACKAGE.parents[1] / "lib")  # libcore is in lib/ beside a build's package
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


USE = ("-c", "import collet; print(float(collet.op.add(1.0, 2.0)))")


def test_ours_alone(site):
    install_ours(site)
    done = python(site, *USE)
    assert done.stdout == "3.0\n", done.stderr


@pytest.mark.parametrize("order", [(install_stranger, install_ours),
                                   (install_ours, install_stranger)])
def test_both_in_one_folder(site, order):
    for install in order:
        install(site)
    for text in (USE, ("-c", "from collet import scatter"), ("-m", "collet"),
                 ("-c", "from collet.cli import main; main()")):
        done = python(site, *text)
        assert done.returncode == 1 and done.stdout == "", done.stdout
        last = done.stderr.splitlines()[-1]
        assert "collet-runtime and the unrelated collet 0.0.1" in last and MEND in last
        assert str(site / "collet") in last
    for name in STRANGER:  # removes what pip uninstall removes
        (site / name).unlink()
    (site / "collet-0.0.1.dist-info").rmdir()
    done = python(site, *USE)
    assert done.returncode == 1 and AGAIN in done.stderr
    shutil.rmtree(site / "collet_runtime-0.1.0.dist-info")
    install_ours(site)
    assert python(site, *USE).stdout == "3.0\n"


EDITABLE = """
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "collet":
            return spec_from_file_location(name, {site!r} + "/collet/__init__.abi3.so",
                                           submodule_search_locations=[{site!r} + "/collet", {source!r}])
sys.meta_path.insert(0, Finder)
"""


def test_an_editable_installation(site, tmp_path):
    install_ours(site)
    shutil.copytree(site / "collet", tmp_path / "source", ignore=shutil.ignore_patterns("*.so", "lib"))
    for file in (site / "collet").glob("*.py"):
        file.unlink()
    start = EDITABLE.format(site=str(site), source=str(tmp_path / "source"))
    done = python(site, "-c", start + USE[1])
    assert done.stdout == "3.0\n", done.stderr
    install_stranger(site)
    done = python(site, "-c", start + USE[1])
    assert MEND in done.stderr and done.returncode == 1


def test_one_in_another_folder_is_told_by_doctor(site, tmp_path):
    install_ours(site)
    install_stranger(tmp_path / "later")
    done = python(site, "-c", f"import sys; sys.path.append({str(tmp_path / 'later')!r})\n"
                              "import collet; print(collet.doctor())")
    assert "later has collet 0.0.1, another program" in done.stdout, done.stderr


def test_the_line_mends_leftovers(site):
    install_ours(site)
    left = site / "collet-0.0.1.dist-info"
    for file in None, "METADATA":
        left.mkdir(exist_ok=True)
        if file:
            (left / file).write_text(STRANGER[f"collet-0.0.1.dist-info/{file}"])
        done = python(site, *USE)
        line = done.stderr.strip().rpartition("To keep collet-runtime: ")[2].partition(" && ")[0]
        assert line == f"rm -r {left}", done.stderr
        subprocess.run(line, shell=True, check=True)
        assert python(site, *USE).stdout == "3.0\n"


def test_an_extension_for_another_python(site):
    install_ours(site)
    for file in (site / "collet").glob("_core.*.so"):
        file.unlink()
    done = python(site, "-c", "import collet")
    assert done.returncode == 1
    for words in (f"has no extension for the Python {sys.version.split()[0]}", sys.executable,
                  "-m pip install ."):
        assert words in done.stderr
    done = python(site, "-c",
                  "import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1; import collet")
    assert "a free-threaded Python needs a separate build" in done.stderr
    abi3 = python(site, "-c", "import sys; sys.abiflags = 't'; import collet")  # as in Python 3.13t
    if (site / "collet/__init__.abi3.so").exists():
        assert f"ImportError: this installation of collet-runtime has no extension for the free-threaded " \
            f"Python {sys.executable}:" in abi3.stderr
        assert f"`{sys.executable} -m pip install .`" in abi3.stderr and "SystemError" not in abi3.stderr


def test_without_sources(site):
    install_ours(site)
    done = python(site, "-m", "compileall", "-q", "-b", "collet")
    assert done.returncode == 0, done.stdout
    for file in (site / "collet").rglob("*.py"):
        file.unlink()
    done = python(site, *USE)
    assert done.stdout == "3.0\n", done.stderr
    assert python(site, "-m", "collet", "--version").returncode == 0
    (site / "collet/__main__.pyc").unlink()
    assert "collet/__main__.pyc is missing" in python(site, *USE).stderr


@pytest.mark.parametrize("file", ["pyproject.toml", "examples/plugin/pyproject.toml",
                                  "python/cyrsoxs/pyproject.toml"])
def test_names(file):
    lines = (ROOT / file).read_text().splitlines()
    assert any(line.startswith('name = "collet-') for line in lines)
    for line in lines:
        assert not line.startswith("collet =")  # a console script
        assert '"collet' not in line.replace('"collet-runtime', "") or "depend" not in line
