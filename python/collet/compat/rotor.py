# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_rotor.py
"""Rotor on Collet: ops of the ternary family compute the inner loops of its package `rotor`.

    import collet.compat.rotor
    collet.compat.rotor.install()           # before or after rotor is imported

or, for an unchanged program: python -m collet.compat.rotor script.py ARGUMENTS

rotor.core's products, rotor.layers' TernaryLinear, rotor.native's backend and rotor.gpu_ternary's
GPUTernaryOps (which then needs no OpenCL package) compute on the backend that Collet chose. Integer
results are the same bit for bit; the float32 results of GPUTernaryOps differ in the order of sums.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import math
import sys
import types

import numpy as np

import collet
from collet import op, ternary
from collet._host import array as _taken
from collet._listing import own


_AT_ONCE = 1 << 18  # codes that are computed at a time: they fit in a cache


def _codes(bit0, bit1):
    """Computes the values bit0 - bit1 of two arrays of bits."""
    return np.subtract((_taken(bit0) != 0).view("i1"), (_taken(bit1) != 0).view("i1"))


def dot(a_bit0, a_bit1, b_bit0, b_bit1):
    """RotorCore.dot: the sum of products of two vectors, an int."""
    a, b = np.broadcast_arrays(_codes(a_bit0, a_bit1), _codes(b_bit0, b_bit1))
    return ternary.dot(ternary.pack(a.ravel()), ternary.pack(b.ravel()))


def _product(bit0, bit1, x_codes):
    """Multiplies bits (M, K) by codes (..., K); the result is int32 (..., M). The bits may differ at each
    call, so they are not packed: packing takes longer than a product with one vector."""
    bit0, bit1, x = _taken(bit0), _taken(bit1), np.ascontiguousarray(x_codes)
    count, columns = bit0.shape
    rows = max(1, _AT_ONCE // max(1, columns))
    flat = x.reshape(math.prod(x.shape[:-1]), columns)
    y = [op.matmul(flat, _codes(bit0[i:i + rows], bit1[i:i + rows]).T)
         for i in range(0, max(1, count), rows)]
    return (np.concatenate(y, axis=-1) if y[1:] else y[0]).reshape(*x.shape[:-1], count)


def matmul(W_bit0, W_bit1, x):
    """RotorCore.matmul: W times the signs of x (K) or (batch, K), in int32."""
    x = _taken(x)
    return _product(W_bit0, W_bit1, np.sign(x).astype("i1"))


def forward(self, x):
    """TernaryLinear.forward of rotor.layers: float32."""
    output = _product(self.weight_bit0, self.weight_bit1, self.quantizer(x)).astype("f4")
    return output + self.bias if self.use_bias and self.bias is not None else output


class NativeBackend:
    """rotor.native's backend; always available. Bits are 0 or 1, as for Rotor's C library."""

    def __init__(self, use_cuda=False):
        self.available = True
        self.use_cuda = use_cuda and any(b.name == "cuda" and b.state == "usable"
                                         for b in collet.backends())

    def encode(self, values):
        codes = _taken(values).astype("i1").ravel()
        return (codes == 1).astype("u1"), (codes == -1).astype("u1")

    def decode(self, bit0, bit1):
        return _taken(bit0).ravel().astype("i1") - _taken(bit1).ravel().astype("i1")

    def dot(self, a_bit0, a_bit1, b_bit0, b_bit1):
        return dot(a_bit0, a_bit1, b_bit0, b_bit1)

    def matvec(self, W_bit0, W_bit1, x):
        """The product of the ternary matrix W_bit0 - W_bit1 (M, K) and the signs of x (K): int32 (M). The
        caller may change the bits between calls, so nothing is packed or kept."""
        x = _taken(x, "f4").ravel()
        codes = _codes(x > 0, x < 0)[:, None]
        plus, minus = (op.matmul(_taken(bits).astype("u1", copy=False).view("i1"), codes)
                       for bits in (W_bit0, W_bit1))
        return (plus - minus)[:, 0]


class _Packed(np.ndarray):
    """The packed weights of GPUTernaryOps, read-only. codes: the same weights, one in each byte, as a vector."""

    codes = None


class GPUTernaryOps:
    """rotor.gpu_ternary's class, on the backend that Collet chose."""

    def __init__(self, device_type="GPU"):
        self.device_type = device_type

    def pack_ternary_weights(self, weights):
        """Packs 4 weights into each byte of a vector, as weight + 1. The first is in the lowest 2 bits."""
        codes = _taken(weights).astype("i1").ravel()
        fields = np.ones(-(-codes.size // 4) * 4, "u1")
        fields[:codes.size] = codes + 1
        fields[codes.size:] = 0
        fields = fields.reshape(-1, 4) << np.array([0, 2, 4, 6], "u1")
        packed = np.bitwise_or.reduce(fields, axis=1).astype("u1").view(_Packed)
        packed.codes = codes
        packed.flags.writeable = False
        return packed

    def ternary_matmul(self, packed_weights, scales, input_vec, in_dim, out_dim):
        """The product of the weights (out_dim, in_dim) and the vector, times scales: float32 (out_dim)."""
        rows = getattr(packed_weights, "rows", None)
        if rows is None:
            codes = getattr(packed_weights, "codes", None)
            if codes is None:
                fields = np.asarray(packed_weights, "u1")[:, None] >> np.array([0, 2, 4, 6], "u1")
                codes = (fields & 3).astype("i1").ravel() - 1
            rows = ternary.pack(codes[:out_dim * in_dim].reshape(out_dim, in_dim))
            if isinstance(packed_weights, _Packed):
                packed_weights.rows = rows
        return op.ternary_linear(rows, _taken(input_vec, "f4"), _taken(scales, "f4"), None,
                                 activations="f32")


def _core(module):
    module.RotorCore.dot = staticmethod(dot)
    module.RotorCore.matmul = staticmethod(matmul)


def _layers(module):
    module.TernaryLinear.forward = forward


def _native(module):
    module.NativeBackend, module._backend = NativeBackend, None


def _gpu_ternary(module):
    module.GPUTernaryOps = GPUTernaryOps


_PATCHES = {"rotor.core": _core, "rotor.layers": _layers, "rotor.native": _native}
_REPLACED = "rotor.gpu_ternary"  # this module is not imported, because it imports pyopencl


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds rotor's modules unchanged, and patches them after their import."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == _REPLACED:
            return importlib.machinery.ModuleSpec(fullname, self)
        if fullname not in _PATCHES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and spec.loader:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                _PATCHES[fullname](module)
            spec.loader.exec_module = exec_module
        return spec

    def exec_module(self, module):
        _gpu_ternary(module)


_finder = _Finder()


def install():
    """Patches rotor's modules: now if they are imported already, else at their import. A second call
    changes nothing."""
    if _finder in sys.meta_path:
        return
    sys.meta_path.insert(0, _finder)
    for name, patch in {**_PATCHES, _REPLACED: _gpu_ternary}.items():
        if isinstance(sys.modules.get(name), types.ModuleType):
            patch(sys.modules[name])


if __name__ == "__main__":
    from collet.compat import _program, rotor  # by its name, because this copy is the module __main__
    _program.run("python -m collet.compat.rotor", rotor.install)


def __dir__():
    return own(globals())
