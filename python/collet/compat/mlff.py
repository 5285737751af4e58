# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_mlff.py
"""MLFF-Distiller on Collet: its CUDA utilities see a device of Collet as torch's "cuda".

    import collet.compat.mlff
    collet.compat.mlff.install("opencl:0")

or, for an unchanged program, on the first device of COLLET_BACKEND:

    COLLET_BACKEND=opencl python -m collet.compat.mlff -m pytest tests/unit

After install() the functions of torch.cuda about devices, memory, events and streams describe the device,
and torch.randn, rand, zeros, ones, empty, full and tensor with device="cuda" make a DeviceTensor there. A
DeviceTensor is not a torch.Tensor. It contains a collet.Array, and supports the functions of torch for
which an op exists; other functions raise TypeError or AttributeError. install() raises RuntimeError if torch can
use CUDA.
"""

import functools
import re
from types import SimpleNamespace

import torch

import collet
from collet import _core, bench, op
from collet._listing import own

_state = SimpleNamespace(device=None)
_FACTORIES = ("randn", "rand", "zeros", "ones", "empty", "full", "tensor")
_TORCH = {"matmul": "matmul", "mm": "matmul", "bmm": "matmul", "add": "add", "sub": "sub",
          "mul": "mul", "div": "div", "exp": "exp", "sqrt": "sqrt", "abs": "abs", "neg": "neg",
          "sum": "sum", "mean": "mean"}


class DeviceTensor:
    """An array on the device: a collet.Array in `array`."""

    is_cuda = True

    def __init__(self, array):
        self.array = array

    @property
    def device(self):
        return torch.device("cuda", 0)

    @property
    def shape(self):
        return torch.Size(self.array.shape)

    @property
    def dtype(self):
        return torch.from_numpy(self.array[(slice(0, 0),) * self.array.ndim].to_numpy()).dtype

    def cpu(self):
        return torch.from_numpy(self.array.to_numpy())

    def numpy(self):
        return self.array.to_numpy()

    def item(self):
        return self.array.item()

    def __bool__(self):
        return bool(self.array)

    def _compared(self, other):
        raise TypeError("a tensor on a device of Collet has no comparison: compare .cpu()")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__  # as torch.Tensor

    def to(self, device):
        return self if torch.device(device).type == "cuda" else self.cpu()

    def __repr__(self):
        return f"DeviceTensor({self.array!r})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name not in _TORCH or kwargs:
            return NotImplemented
        return _compute(_TORCH[name], *args)

    def __getattr__(self, name):
        if name not in _TORCH:
            raise AttributeError(f"{name}: a tensor on a device of Collet has {', '.join(_TORCH)}")
        return functools.partial(_compute, _TORCH[name], self)


def _compute(name, *args):
    values = [a.array if isinstance(a, DeviceTensor) else a for a in args]
    with collet.using(_state.device):
        if name == "matmul":
            return DeviceTensor(values[0] @ values[1])
        return DeviceTensor(getattr(op, name)(*values))


def _operator(name):
    return lambda self, other: _compute(name, self, other)


for _symbol, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"),
                       ("matmul", "matmul")):
    setattr(DeviceTensor, f"__{_symbol}__", _operator(_name))


def _factory(own):
    @functools.wraps(own)
    def make(*args, device=None, **kwargs):
        if device is None or torch.device(device).type != "cuda":
            return own(*args, **kwargs) if device is None else own(*args, device=device, **kwargs)
        _index(device)
        made = own(*args, **kwargs).numpy()
        with collet.using(_state.device):
            array = collet.asarray(made)
            return DeviceTensor(op.copy(array))  # on the device
    return make


# ---- torch.cuda


def _index(device=None):
    """Returns 0, the index of the only device. Raises RuntimeError for other devices."""
    index = 0 if device is None else device
    if not isinstance(index, int):
        index = torch.device(device).index or 0
    if index != 0:
        raise RuntimeError(f"invalid device ordinal {index}: {_state.device} is the only device")
    return 0


def _memory(key):
    def memory(device=None):
        _index(device)
        synchronize()
        return collet.memory(_state.device)[key]
    return memory


def synchronize(device=None):
    """Waits for the device."""
    _index(device)
    with collet.using(_state.device):
        collet.finish()


def _version(info):
    """(major, minor) of CUDA's compute capability or of the OpenCL version; (0, 0) if neither is known."""
    text = info["compute_capability"] or info["details"].get("opencl_version", "")
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def get_device_properties(device=None):
    """As in torch. Values that are unknown to Collet are 0."""
    _index(device)
    info = bench.device_info(_state.device)
    major, minor = _version(info)
    total = info["memory_bytes"] or collet.memory(_state.device)["total"]
    return SimpleNamespace(name=info["name"], major=major, minor=minor, total_memory=total,
                           multi_processor_count=info["compute_units"],
                           warp_size=info["details"].get("warp_size", 0),
                           max_threads_per_multi_processor=0, regs_per_multiprocessor=0,
                           L2_cache_size=info["cache_bytes"])


class Event:
    """torch.cuda.Event: a timestamp of the device."""

    def __init__(self, enable_timing=False, **_):
        self._moment = None

    def record(self, stream=None):
        with collet.using(_state.device):
            self._moment = _core.timestamp(_state.device)

    def synchronize(self):
        synchronize()

    def elapsed_time(self, end):
        """Milliseconds until `end`."""
        if self._moment is None or end._moment is None:
            raise RuntimeError("both events must be recorded before calculating elapsed time")
        return _core.elapsed(self._moment, end._moment)[0] / 1e6


class Stream:
    """torch.cuda.Stream: the only queue of the thread."""

    def __init__(self, device=None, **_):
        self.device = torch.device("cuda", _index(device))

    def synchronize(self):
        synchronize()


def install(device=None):
    """Makes `device` torch's "cuda" from now on. None: the first usable device of Collet's choice.
    Changes torch for the whole process; a second call changes the device. Raises RuntimeError if this torch has
    CUDA."""
    if _state.device is None and torch.cuda.is_available():
        raise RuntimeError("collet.compat.mlff: this torch has CUDA of its own, which it can use")
    name = bench._resolve(device)
    if _state.device is None:
        for factory in _FACTORIES:
            setattr(torch, factory, _factory(getattr(torch, factory)))
        for key, value in _CUDA.items():
            setattr(torch.cuda, key, value)
    _state.device = name


_CUDA = {
    "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
    "set_device": _index, "synchronize": synchronize, "empty_cache": collet.trim,
    "get_device_properties": get_device_properties, "Event": Event, "Stream": Stream,
    "get_device_name": lambda device=None: get_device_properties(device).name,
    "get_device_capability": lambda device=None: _version(bench.device_info(_state.device)),
    "memory_allocated": _memory("current"), "memory_reserved": _memory("held"),
    "max_memory_allocated": _memory("peak"),
    "reset_peak_memory_stats": lambda device=None: collet.reset_peak(_state.device),
}


if __name__ == "__main__":
    from collet.compat import _program, mlff  # by its name, because this copy is the module __main__
    _program.run("python -m collet.compat.mlff", mlff.install)


def __dir__():
    return own(globals())
