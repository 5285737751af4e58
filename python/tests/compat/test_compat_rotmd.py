# SPDX-License-Identifier: Apache-2.0
"""collet.compat.rotmd with a stand-in of the package. Each case runs in a separate process."""

import os
import subprocess
import sys

import pytest

FILES = {"rotmd/__init__.py": "", "rotmd/core/__init__.py": "from .vectors import magnitudes\n",
         "rotmd/core/kernels.py": "def compute_magnitude_batch(vectors):\n    return 'own'\n"
                                  "NUMBA_AVAILABLE = True\n",
         "rotmd/core/vectors.py": "from . import kernels as K\n"
                                  "def magnitudes(v):\n    return K.compute_magnitude_batch(v)\n"}
CALL = "print(magnitudes([[3, 4, 0.]]))"


@pytest.fixture(name="run")
def fixture_run(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(text, *arguments, **environment):
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        (tmp_path / "script.py").write_text(text)
        done = subprocess.run([sys.executable, *arguments, str(tmp_path / "script.py"), "word"],
                              env={**os.environ, "PYTHONPATH": path, **environment}, text=True,
                              capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]
    return run


INSTALL = "import collet.compat.rotmd as drop\ndrop.install()\n"


def test_installed_before_and_after_rotmd(run):
    use = "from rotmd.core import magnitudes\n"
    assert run(use + CALL) == ["own"]
    assert run(INSTALL + use + CALL) == ["[5.]"]
    assert run(use + INSTALL + INSTALL + CALL) == ["[5.]"]
    assert run(INSTALL + "import rotmd.core.kernels as K\nprint(K.__name__, K.NUMBA_AVAILABLE, "
               "len(K.__all__))") == ["rotmd.core.kernels False 14"]


def test_unchanged_programs(run):
    text = "import sys\nfrom rotmd.core import magnitudes\nprint(sys.argv[1:], __name__)\n" + CALL
    assert run(text, "-m", "collet.compat.rotmd") == ["['word'] __main__", "[5.]"]


def test_backends(run):
    text = INSTALL + "import rotmd.core.kernels as K, collet\n"
    assert run(text + "print(K.get_backend(), {'numba', 'torch', 'cpu_scalar'} <= "
               "set(K.get_available_backends()))") == ["auto True"]
    text += "K.print_backend_info()\nprint(K.get_backend(), collet.get_backend())"
    lines = run(text, ROTMD_BACKEND="numba")
    assert lines[0] == "Active backend: numba (Collet: cpu_openmp,cpu_scalar)"
    assert lines[2].startswith("CUDA available: ")
    assert lines[-1] == "numba cpu_openmp,cpu_scalar"
    assert run(text, ROTMD_BACKEND="torch")[-1] == "torch auto"
    text += """
K.set_backend("cpu_scalar"); print(K.get_backend(), collet.get_backend())
K.set_device("cpu"); print(collet.get_backend())
try: K.set_backend("tensor")
except collet.UnknownBackendError: print(K.get_backend())"""
    assert run(text)[-3:] == ["cpu_scalar cpu_scalar", "cpu_openmp,cpu_scalar", "cpu_scalar"]


def test_jit_is_transparent(run):
    assert run(INSTALL + """import rotmd.core.kernels as K
@K.jit
def f(x): return x
@K.jit(nopython=True)
def g(x): return x + 1
print(f(1), g(1), K.prange is range)""") == ["1 2 True"]
