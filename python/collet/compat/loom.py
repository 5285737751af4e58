# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_loom.py
"""LOOM on Collet: its tensors, linear algebra and FFT compute with Collet.

    import collet.compat.loom
    collet.compat.loom.install()            # before names are imported from LOOM

or, for an unchanged program:

    python -m collet.compat.loom [--no-fallback] -m pytest tests
    python -m collet.compat.loom [--no-fallback] script.py ARGUMENTS

Afterwards LOOM's operations run on the backend that Collet prefers or collet.set_backend chose,
regardless of loom.set_backend, because LOOM's tensors never call LOOM's backends. LOOM also gets a
backend named "collet": after loom.set_backend("collet"), loom.backend.get_backend() returns an object with
LOOM's interface. Functions without an op fall back to LOOM's own code; counters() counts ops and fallbacks.
If fallback is forbidden, such a call raises collet.UnsupportedError.

Everything is computed in float64 or complex128 and stored in the dtype that LOOM gives the result. Integers
that float64 might not hold exactly are computed by LOOM's own code, as a fallback. LOOM's symbols are not
touched.
"""

import functools
import importlib
import math
import sys
from collections import Counter

import numpy as np

from collet import UnsupportedError, evaluate, fft, functions, linalg, op
from collet._listing import own

_ops, _fallbacks = Counter(), Counter()
_allowed = True
_EXACT = 2.0**53


class _NoOp(Exception):
    """No op computes this call."""


class _Theirs(Exception):
    """Raised to let LOOM's own code run: there is nothing to compute, or LOOM reports the error."""


def counters():
    """Calls so far: {"ops": {name: number}, "fallbacks": {name: number}}."""
    return {"ops": dict(_ops), "fallbacks": dict(_fallbacks)}


def set_fallback(allowed):
    """Sets whether LOOM's own code may compute functions without an op. If not, they raise UnsupportedError."""
    global _allowed
    _allowed = bool(allowed)


def _fall_back(name):
    if not _allowed:
        raise UnsupportedError(f"loom: no op computes this {name}; "
                               "collet.compat.loom.set_fallback(True) lets LOOM compute it"
                               ) from None
    _fallbacks[name] += 1


# ---- LOOM's data as arrays


def _array(data, dims=None):
    """Converts LOOM's numbers to an array of float64 or complex128. Also returns whether they are
    integers."""
    if hasattr(data, "_is_complex"):
        if data._is_complex:
            values = np.empty(len(data), "c16")
            values.real, values.imag = data._real, data._imag
        else:
            values = np.array(data._buffer)
    else:
        try:
            values = np.array(list(data))
        except ValueError:
            raise _Theirs from None
    if values.dtype.kind not in "biufc":
        raise _Theirs
    if dims is not None and values.size != math.prod(dims):
        if values.size != 1:
            raise _Theirs
        values = np.broadcast_to(values, dims)
    whole = values.dtype.kind in "biu"
    values = values.astype("c16" if values.dtype.kind == "c" else "f8", copy=False)
    return (values if dims is None else values.reshape(dims)), whole


def _alike(arrays):
    dtype = np.result_type(*arrays)
    return [a.astype(dtype, copy=False) for a in arrays]


def _exact(arrays):
    """Whether sums of products of these integers are exact in float64."""
    bound = max(a.size for a in arrays)
    for a in arrays:
        bound *= max(np.abs(a).max(initial=0), 1)
    return bound < _EXACT


def _flat(values):
    return np.asarray(values).reshape(-1).tolist()


# ---- Operations of tensors: functions of LOOM's operation and arrays


def _plain(name):
    return lambda operation, *arrays: getattr(op, name)(*_alike(arrays))


def _pow(operation, a, b):
    """Roots of negative numbers are complex, as in Python."""
    if a.dtype.kind != "c" and b.dtype.kind != "c" and ((a < 0) & (b != np.floor(b))).any():
        a = a.astype("c16")
    if ((a == 0) & (b.real < 0)).any():
        raise _Theirs  # LOOM raises ZeroDivisionError
    result = op.pow(*_alike([a, b]))
    if not np.isfinite(result).all():
        raise _Theirs  # LOOM raises OverflowError, or returns a number that is not finite
    return result


def _quotient(name):
    """A function that computes `name`, and gives 0 where the divisor is 0."""
    def compute(operation, a, b):
        if a.dtype.kind == "c" or b.dtype.kind == "c":
            raise _NoOp
        return evaluate(f"where(b != 0, {name}(a, b), 0.0)", {"a": a, "b": b})
    return compute


def _angle(operation, a):
    return op.atan2(np.ascontiguousarray(a.imag), np.ascontiguousarray(a.real))


def _axes(operation, a):
    if not a.ndim or not a.size:
        raise _Theirs
    return operation._normalize_axis(operation.axis, a.ndim)


def _reduction(name, ordered=False):
    """`ordered`: not for complex numbers."""
    def compute(operation, a):
        axes = _axes(operation, a)
        if a.dtype.kind == "c" and ordered:
            raise _NoOp
        return getattr(functions, name)(a, axis=tuple(axes))
    return compute


def _argument(name):
    def compute(operation, a):
        axes = _axes(operation, a)
        if len(axes) != 1:
            raise _Theirs
        if a.dtype.kind == "c":
            raise _NoOp
        return getattr(op, name)(a, axes=axes)
    return compute


def _var(operation, a):
    axes = _axes(operation, a)
    if a.dtype.kind == "c":
        raise _NoOp
    count = math.prod(a.shape[i] for i in axes)
    return functions.var(a, axis=tuple(axes), correction=operation.ddof if 0 < operation.ddof < count else 0)


def _matmul(operation, a, b):
    return linalg.matmul(*_alike([a, b]))


def _transpose(operation, a):
    return op.transpose(a, perm=operation.axes) if operation.axes else op.transpose(a)


def _conj(operation, a):
    return op.conj(a) if a.dtype.kind == "c" else op.copy(a)


# By LOOM's module and class: the operation's name in the counters, and the function that computes it.
_OPERATIONS = {
    "arithmetic": {
        "AddOp": ("add", _plain("add")), "SubOp": ("sub", _plain("sub")),
        "MulOp": ("mul", _plain("mul")), "DivOp": ("div", _plain("div")),
        "FloorDivOp": ("floordiv", _quotient("floor_divide")), "ModOp": ("mod", _quotient("remainder")),
        "PowOp": ("pow", _pow), "NegOp": ("neg", _plain("neg")), "AbsOp": ("abs", _plain("abs")),
        "SqrtOp": ("sqrt", _plain("sqrt")), "ExpOp": ("exp", _plain("exp")),
        "LogOp": ("log", _plain("log")), "SinOp": ("sin", _plain("sin")),
        "CosOp": ("cos", _plain("cos")), "TanOp": ("tan", _plain("tan"))},
    "reduction": {
        "SumOp": ("sum", _reduction("sum")), "MeanOp": ("mean", _reduction("mean")),
        "MaxOp": ("max", _reduction("max", ordered=True)), "MinOp": ("min", _reduction("min", ordered=True)),
        "ProdOp": ("prod", _reduction("prod")), "ArgMaxOp": ("argmax", _argument("argmax")),
        "ArgMinOp": ("argmin", _argument("argmin")), "VarOp": ("var", _var),
        "StdOp": ("std", lambda operation, a: op.sqrt(_var(operation, a)))},
    "matmul": {"MatmulOp": ("matmul", _matmul)},
    "manipulation": {"TransposeOp": ("transpose", _transpose)},
    "complex_ops": {
        "ConjOp": ("conj", _conj), "RealOp": ("real", lambda operation, a: op.copy(a.real)),
        "ImagOp": ("imag", lambda operation, a: op.copy(a.imag)),
        "ComplexAbsOp": ("complex_abs", _plain("abs")), "AngleOp": ("angle", _angle)}}


def _execute(own, name, compute):
    """A method `execute` of LOOM's operations."""
    @functools.wraps(own)
    def execute(self, *tensors):
        try:
            found = [_array(self._get_data(t), getattr(getattr(t, "shape", None), "dims", ()))
                     for t in tensors]
            arrays, whole = [a for a, _ in found], any(w for _, w in found)
            if whole and not _exact(arrays):
                raise _NoOp
            result = np.asarray(compute(self, *arrays))
            if whole and np.abs(result).max(initial=0) >= _EXACT:
                raise _NoOp
        except _Theirs:
            return own(self, *tensors)
        except _NoOp:
            _fall_back(name)
            return own(self, *tensors)
        _ops[name] += 1
        return _flat(result)
    return execute


# ---- Functions of loom.linalg and loom.signal.fft


def _matrix(a, ndim=2):
    values, _ = _array(a.compute(), tuple(a.shape.dims))
    if values.ndim != ndim:
        raise _Theirs
    if values.dtype.kind == "c":
        raise _NoOp
    return values


def _tensor(values):
    from loom.core.tensor import Tensor
    values = np.asarray(values)
    return Tensor(_flat(values), shape=values.shape,
                  dtype="complex128" if values.dtype.kind == "c" else None)


def _solved(function, *arrays):
    try:
        return function(*arrays)
    except linalg.LinAlgError:
        raise _NoOp from None  # LOOM's own code continues with a small pivot


def _lu(a, pivot=True):
    values = _matrix(a)
    if not pivot:
        raise _NoOp
    p, lower, upper = linalg.lu(values)
    whole = np.zeros(values.shape)  # LOOM's U has as many rows as a
    whole[:upper.shape[0]] = upper
    return _tensor(p), _tensor(lower), _tensor(whole)


def _qr(a, mode="reduced"):
    mode = "reduced" if mode == "reduced" else "complete"
    return tuple(map(_tensor, linalg.qr(_matrix(a), mode)))


def _cholesky(a):
    try:
        return _tensor(linalg.cholesky(_matrix(a)))
    except linalg.LinAlgError as error:  # LOOM raises ValueError; LinAlgError of NumPy 1 is not a ValueError
        raise ValueError(str(error)) from None


def _eigh(a):
    values, vectors = linalg.eigh(_matrix(a))
    order = np.argsort(-np.abs(values), kind="stable")  # the order of the results of LOOM's iteration
    return _tensor(values[order]), _tensor(vectors[:, order])


def _svd(a):
    return tuple(map(_tensor, linalg.svd(_matrix(a), full_matrices=False)))


def _solve(a, b):
    right = _matrix(b, len(b.shape.dims))
    return _tensor(_solved(linalg.solve, _matrix(a), right))


def _inv(a):
    return _tensor(_solved(linalg.inv, _matrix(a)))


def _det(a):
    return _tensor(linalg.det(_matrix(a)))


def _fourier(function):
    def compute(x):
        values, _ = _array(x.tolist() if hasattr(x, "compute") else x)
        if values.ndim != 1 or values.size < 2:
            raise _Theirs
        return _tensor(function(values))
    return compute


_FUNCTIONS = {
    "loom.linalg.decompositions": {"lu": _lu, "qr": _qr, "cholesky": _cholesky, "eigh": _eigh,
                                   "svd": _svd},
    "loom.linalg.solvers": {"solve": _solve, "inv": _inv, "det": _det},
    "loom.signal.fft": {"fft": _fourier(fft.fft), "ifft": _fourier(fft.ifft)}}


def _function(own, name, compute):
    @functools.wraps(own)
    def call(*args, **kwargs):
        try:
            result = compute(*args, **kwargs)
        except _Theirs:
            return own(*args, **kwargs)
        except _NoOp:
            _fall_back(name)
            return own(*args, **kwargs)
        _ops[name] += 1
        return result
    return call


def _rebind(old, new):
    """Replaces `old` by `new` under every name in LOOM."""
    for name, module in list(sys.modules.items()):
        if name == "loom" or name.startswith("loom."):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)


# ---- LOOM's interface of backends


def _backend(base):
    def one(name):
        def method(self, a):
            _ops[name] += 1
            return _flat(getattr(op, name)(np.array(a, "f8")))
        return method

    def two(name):
        def method(self, a, b):
            _ops[name] += 1
            count = min(len(a), len(b))
            return _flat(getattr(op, name)(np.array(a[:count], "f8"), np.array(b[:count], "f8")))
        return method

    def matmul(self, a, b, a_shape, b_shape):
        _ops["matmul"] += 1
        return _flat(op.matmul(np.array(a, "f8").reshape(a_shape),
                               np.array(b, "f8").reshape(b_shape)))

    def total(self, a, axis=None, shape=None):
        _ops["sum"] += 1
        values = np.array(a, "f8")
        return (float(op.sum(values)) if axis is None
                else _flat(op.sum(values.reshape(shape), axes=axis)))

    def transpose(self, a, m, n):
        _ops["transpose"] += 1
        return _flat(op.transpose(np.array(a, "f8").reshape(m, n)))

    def lu(self, a, n):
        _ops["lu"] += 1
        return tuple(map(_flat, linalg.lu(np.array(a, "f8").reshape(n, n))))

    def qr(self, a, m, n):
        _ops["qr"] += 1
        return tuple(map(_flat, linalg.qr(np.array(a, "f8").reshape(m, n))))

    return type("ColletBackend", (base,), {
        "__doc__": "Collet, under LOOM's interface: flat lists of numbers.",
        "name": property(lambda self: "collet"), "is_available": property(lambda self: True),
        "add": two("add"), "mul": two("mul"), "matmul": matmul, "sum": total, "exp": one("exp"),
        "log": one("log"), "sqrt": one("sqrt"), "transpose": transpose, "lu": lu, "qr": qr})()


def install(fallback=True):
    """Makes LOOM compute with Collet from now on. Imports LOOM. Raises ImportError if LOOM is not installed, and
    AttributeError if this version lacks a replaced name. A second call changes only fallback."""
    set_fallback(fallback)
    manager = importlib.import_module("loom.backend").get_backend_manager()
    if "collet" in manager.available_backends():
        return
    importlib.import_module("loom.linalg")
    importlib.import_module("loom.signal")
    for module, classes in _OPERATIONS.items():
        loaded = importlib.import_module("loom.ops." + module)
        for name, row in classes.items():
            kind = getattr(loaded, name)
            kind.execute = _execute(kind.execute, *row)
    for module, functions in _FUNCTIONS.items():
        loaded = sys.modules[module]
        for name, compute in functions.items():
            own = getattr(loaded, name)
            _rebind(own, _function(own, name, compute))
    manager.register_backend("collet", _backend(importlib.import_module("loom.backend").Backend))


def _main():
    from collet.compat import _program, loom  # by its name, because this copy is the module __main__
    strict = sys.argv[1:2] == ["--no-fallback"]
    _program.run("python -m collet.compat.loom [--no-fallback]", lambda: loom.install(fallback=not strict), 1 + strict)


if __name__ == "__main__":
    _main()


def __dir__():
    return own(globals())
