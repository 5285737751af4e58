# SPDX-License-Identifier: Apache-2.0
"""collet.compat.rotor with a stand-in of the package. Each case runs in a separate process."""

import os
import subprocess
import sys

FILES = {"rotor/__init__.py": "", "rotor/core.py": """
class RotorCore:
    dot = staticmethod(lambda *a: "own")
    matmul = staticmethod(lambda *a: "own")
""", "rotor/layers.py": """
import numpy as np
from .core import RotorCore
class TernaryLinear:
    use_bias, quantizer = True, staticmethod(lambda x: np.sign(x).astype("i1"))
    def forward(self, x): return "own"
""", "rotor/native.py": """
class NativeBackend: available = False
_backend = None
def get_backend():
    global _backend
    _backend = _backend or NativeBackend()
    return _backend
""", "rotor/gpu_ternary.py": "import no_such_package_of_opencl\n"}
CASE = """
import numpy as np
{first}
from rotor.core import RotorCore
from rotor.layers import TernaryLinear
from rotor.native import get_backend
own = RotorCore.dot([1], [0], [1], [0])
{second}
assert own in (1, "own")
rng = np.random.default_rng(5)
W, x, v = rng.integers(-1, 2, (9, 70)), rng.normal(size=(4, 70)), rng.integers(-1, 2, 70)
bits = lambda a: ((a == 1).astype("u1"), (a == -1).astype("u1"))
wanted = np.sign(x).astype(int) @ W.T
got = RotorCore.matmul(*bits(W), x)
assert got.dtype == "i4" and np.array_equal(got, wanted)
assert np.array_equal(RotorCore.matmul(*bits(W), x[0]), wanted[0])
assert RotorCore.dot(*bits(v), *bits(W[0])) == v @ W[0] and RotorCore.dot(*bits(v[:0]) * 2) == 0
layer = TernaryLinear()
(layer.weight_bit0, layer.weight_bit1), layer.bias = bits(W), np.arange(9, dtype="f4")
y = layer.forward(x)
assert y.dtype == "f4" and np.array_equal(y, wanted + np.arange(9))
big = rng.integers(-1, 2, (700, 900))  # more than is computed at once
x_big = rng.normal(size=(2, 900))
assert np.array_equal(RotorCore.matmul(*bits(big), x_big), np.sign(x_big).astype(int) @ big.T)
assert RotorCore.matmul(*bits(big[:0]), x_big).shape == (2, 0)
assert not RotorCore.matmul(*bits(big[:3, :0]), x_big[:, :0]).any()
native = get_backend()
assert native.available and np.array_equal(native.matvec(*bits(W), x[0]), wanted[0])
plus, minus = bits(W)
for change in range(3):  # the caller's own arrays, in place
    plus[change], minus[change] = minus[change].copy(), plus[change].copy()
    wanted[:, change] *= -1
    got = native.matvec(plus, minus.astype(bool), x[1])
    assert got.dtype == "i4" and np.array_equal(got, wanted[1])
    assert np.array_equal(RotorCore.matmul(7 * plus, minus, x), wanted)
assert np.array_equal(native.decode(*native.encode(v)), v)
from rotor.gpu_ternary import GPUTernaryOps
gpu, scale = GPUTernaryOps(), np.arange(9)
packed = gpu.pack_ternary_weights(W)
assert packed.shape == (158,) and packed[0] & 3 == W[0, 0] + 1
for bytes_ in (packed, np.array(packed), packed):
    assert np.allclose(gpu.ternary_matmul(bytes_, scale, x[0], 70, 9), W @ x[0] * scale, atol=1e-4)
print("right")
"""
INSTALL = "import collet.compat.rotor as drop; drop.install(); drop.install()"


def run(folder, text, *arguments):
    for name, content in {**FILES, "script.py": text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, *arguments, str(folder / "script.py")], text=True,
                          env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_installed_before_and_after_rotor(tmp_path):
    assert run(tmp_path, CASE.format(first=INSTALL, second="")) == "right\n"
    assert run(tmp_path, CASE.format(first="", second=INSTALL)) == "right\n"


def test_unchanged_program(tmp_path):
    text = CASE.format(first="", second="")
    assert run(tmp_path, text, "-m", "collet.compat.rotor") == "right\n"
