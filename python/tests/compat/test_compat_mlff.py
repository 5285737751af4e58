# SPDX-License-Identifier: Apache-2.0
"""collet.compat.mlff with a stand-in of torch, on every backend, each case in its own process."""

import os
import subprocess
import sys

import pytest

import collet

DEVICES = [d.choice for b in collet.backends() if b.state != "unavailable" for d in b.devices]
TORCH = """
import types
import numpy as np
class device:
    def __init__(self, name, index=None):
        name = str(name)
        self.type, _, number = name.partition(":")
        self.index = int(number) if number else index
    def __str__(self): return self.type
class Tensor:
    def __init__(self, values): self.values, self.dtype = values, values.dtype
    def numpy(self): return self.values
    def __eq__(self, other): return bool(np.all(self.values == other.values))
Size, from_numpy = tuple, Tensor
def ones(*shape, device=None): return Tensor(np.ones(shape, "f4"))
randn = rand = zeros = empty = full = tensor = ones
def cos(x): return x.__torch_function__(cos, (type(x),), (x,))
def sum(x): return x.__torch_function__(sum, (type(x),), (x,))
cuda = types.SimpleNamespace(is_available=lambda: False)
"""
CASE = """
import torch, collet
from collet.compat import mlff
mlff.install({device!r})
mlff.install({device!r})
cuda = torch.cuda
assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
about = cuda.get_device_properties(0)
assert about.name == cuda.get_device_name("cuda:0") and about.total_memory > 0
assert len(cuda.get_device_capability()) == 2
cuda.reset_peak_memory_stats()
before, start, end = cuda.memory_allocated(), cuda.Event(enable_timing=True), cuda.Event()
try: start.elapsed_time(end)
except RuntimeError as error: assert "recorded" in str(error)
start.record()
a = torch.ones(100, 200, device="cuda")
b = a @ torch.ones(200, 50, device="cuda:0")
end.record()
assert start.elapsed_time(end) > 0
assert a.is_cuda and tuple(a.shape) == (100, 200) and str(a.dtype) == "float32"
assert b.cpu().numpy()[3, 4] == 200 and torch.sum(b).item() == 200 * 100 * 50
assert (a + a - a * a / a).numpy().max() == 1 and a.to("cuda") is a
try: a == a
except TypeError as error: assert "no comparison" in str(error)
else: assert False
assert torch.sum(a) and not torch.sum(a - a) and len({{a, b}}) == 2
assert collet.last_backend() == {device!r}.partition(":")[0]
assert cuda.memory_allocated() - before >= 100000
assert cuda.max_memory_allocated() >= 100000, cuda.max_memory_allocated()
del a, b
cuda.synchronize(); cuda.empty_cache()
assert cuda.memory_allocated() == before
assert cuda.Stream().device.index == 0 and torch.ones(2).numpy().sum() == 2
x = torch.ones(2, device="cuda")
assert torch.cos(x) is NotImplemented
for bad in (lambda: cuda.set_device(1), lambda: torch.ones(2, device="cuda:1")):
    try: bad(); print("no error")
    except RuntimeError as error: assert "invalid device ordinal 1" in str(error)
try: x.cosh(); print("no error")
except AttributeError as error: assert "matmul" in str(error)
print("right")
"""


def run(folder, text, *arguments, **environment):
    (folder / "torch.py").write_text(TORCH)
    (folder / "script.py").write_text(text)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, *arguments, str(folder / "script.py")], text=True,
                          env={**os.environ, "PYTHONPATH": path, **environment}, timeout=300,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_as_cuda(tmp_path, device):
    assert run(tmp_path, CASE.format(device=device)) == "right\n"


def test_unchanged_program(tmp_path):
    text = "import torch\nprint(torch.cuda.is_available(), torch.ones(2, device='cuda').is_cuda)"
    assert run(tmp_path, text, "-m", "collet.compat.mlff") == "True True\n"


def test_a_torch_with_cuda_is_refused(tmp_path):
    text = """import torch
torch.cuda.is_available = lambda: True
from collet.compat import mlff
try: mlff.install()
except RuntimeError as error: print(error)"""
    assert "CUDA of its own" in run(tmp_path, text)
