# SPDX-License-Identifier: Apache-2.0
"""collet.compat.loom with a stand-in of the package. Operations that the stand-in computes itself return "own"."""

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import collet
import collet.compat.loom as drop

OPERATION = """
class Operation:
    axis = axes = None
    ddof = 0
    def __init__(self, **options): vars(self).update(options)
    def _get_data(self, tensor): return tensor._dense_data
    def _normalize_axis(self, axis, ndim):
        axes = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return tuple(i % ndim for i in axes)
def make(*names):
    for name in names:
        yield type(name, (Operation,), {"execute": lambda self, *tensors: ["own"]})
"""


def classes(names):
    names = names.replace(" ", ", ")
    quoted = "', '".join(names.split(", "))
    return f"from loom.operation import make\n{names}, = make('{quoted}')\n"


FLOORS = [[2.0, 0, -1, 1]]
FILES = {
    "__init__": "from loom.backend import get_backend_manager\n", "operation": OPERATION,
    "ops/__init__": "",
    "ops/arithmetic": classes("AddOp SubOp MulOp DivOp FloorDivOp ModOp PowOp NegOp AbsOp SqrtOp "
                              "ExpOp LogOp SinOp CosOp TanOp"),
    "ops/reduction": classes("SumOp MeanOp MaxOp MinOp ProdOp ArgMaxOp ArgMinOp VarOp StdOp"),
    "ops/matmul": classes("MatmulOp"), "ops/manipulation": classes("TransposeOp"),
    "ops/complex_ops": classes("ConjOp RealOp ImagOp ComplexAbsOp AngleOp"),
    "core/__init__": "",
    "core/tensor": """
from types import SimpleNamespace
class Tensor:
    def __init__(self, data, shape=None, dtype=None):
        self._dense_data, self.dtype = data, dtype
        self.shape = SimpleNamespace(dims=tuple((len(data),) if shape is None else shape))
    def compute(self): return self._dense_data
    tolist = compute
""",
    "backend": """
class Backend: pass
class Manager:
    def __init__(self): self.known = {"cpu": None}
    def available_backends(self): return list(self.known)
    def register_backend(self, name, backend):
        assert isinstance(backend, Backend)
        self.known[name] = backend
_manager = Manager()
def get_backend_manager(): return _manager
""",
    "linalg/__init__": "from .decompositions import lu, qr, cholesky, eigh, svd\n"
                       "from .solvers import solve, inv, det\n",
    "linalg/decompositions": "".join(f"def {n}(*args, **kwargs): return 'own'\n"
                                     for n in ("lu", "qr", "cholesky", "eigh", "svd")),
    "linalg/solvers": "".join(f"def {n}(*args): return 'own'\n" for n in ("solve", "inv", "det")),
    "signal/__init__": "from .fft import fft, ifft\n",
    "signal/fft": "def fft(x): return 'own'\ndef ifft(x): return 'own'\n"}


def write(folder):
    for name, text in FILES.items():
        path = folder / "loom" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module", name="loom")
def fixture_loom(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standin")
    write(folder)
    sys.path.insert(0, str(folder))
    drop.install()
    drop.install()  # a second call changes nothing
    yield SimpleNamespace(
        Tensor=importlib.import_module("loom.core.tensor").Tensor,
        manager=importlib.import_module("loom.backend").get_backend_manager(),
        linalg=importlib.import_module("loom.linalg"),
        signal=importlib.import_module("loom.signal"),
        ops={n: getattr(importlib.import_module("loom.ops." + module), n)
             for module, names in drop._OPERATIONS.items() for n in names})
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def fixture_fallback():
    drop.set_fallback(True)
    yield
    drop.set_fallback(True)


class Counts:
    def __init__(self):
        self._before = drop.counters()

    def since(self):
        now = drop.counters()
        return tuple({n: c - self._before[k].get(n, 0) for n, c in now[k].items()
                      if c > self._before[k].get(n, 0)} for k in ("ops", "fallbacks"))


RNG = np.random.default_rng(4)
A, B = RNG.uniform(0.5, 2, (3, 4)), RNG.uniform(0.5, 2, (3, 4))
C = A + 1j * B


def run(loom, name, *arrays, **options):
    tensors = [loom.Tensor(np.asarray(a).reshape(-1).tolist(), np.shape(a)) for a in arrays]
    return loom.ops[name](**options).execute(*tensors)


def check(found, wanted):
    np.testing.assert_allclose(found, np.asarray(wanted).reshape(-1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name, arrays, wanted", [
    ("AddOp", (A, B), A + B), ("SubOp", (A, B[:1]), A - B[:1]), ("MulOp", (C, B), C * B),
    ("DivOp", (A, 2.0), A / 2), ("NegOp", (A,), -A), ("NegOp", (C,), -C), ("AbsOp", (C,), abs(C)),
    ("SqrtOp", (A,), A**0.5), ("ExpOp", (A,), np.exp(A)), ("LogOp", (A,), np.log(A)),
    ("SinOp", (A,), np.sin(A)), ("CosOp", (A,), np.cos(A)), ("TanOp", (A,), np.tan(A)),
    ("PowOp", (A, 3.0), A**3), ("PowOp", (C, -2.0), C**-2), ("PowOp", (A, 0.5), A**0.5),
    ("PowOp", (A, -1.5), A**-1.5), ("PowOp", (A, 0.0), A**0),
    ("PowOp", (A[0], np.full((2, 4), 5.0)), [A[0]**5] * 2),
    ("MatmulOp", (A, B.T), A @ B.T), ("MatmulOp", (C, C.T), C @ C.T),
    ("MatmulOp", (A, B[0]), A @ B[0]), ("TransposeOp", (A,), A.T), ("ConjOp", (C,), C.conj()),
    ("RealOp", (C,), A), ("ImagOp", (C,), B),
    ("ImagOp", (A,), 0 * A), ("ComplexAbsOp", (C,), abs(C))])
def test_operations_on_ops(loom, name, arrays, wanted):
    drop.set_fallback(False)
    counts = Counts()
    check(run(loom, name, *arrays), wanted)
    ops, fallbacks = counts.since()
    assert sum(ops.values()) == 1 and not fallbacks


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_reductions(loom, axis):
    drop.set_fallback(False)
    for name, function in (("SumOp", np.sum), ("MeanOp", np.mean), ("MaxOp", np.max),
                           ("MinOp", np.min), ("ProdOp", np.prod), ("VarOp", np.var),
                           ("StdOp", np.std)):
        check(run(loom, name, A, axis=axis), function(A, axis))
    for name in ("VarOp", "StdOp"):
        check(run(loom, name, A, axis=axis, ddof=1), getattr(np, name[:3].lower())(A, axis, ddof=1))
    check(run(loom, "SumOp", C, axis=axis), C.sum(axis))
    check(run(loom, "MeanOp", C, axis=axis), C.mean(axis))
    if isinstance(axis, int):
        check(run(loom, "ArgMaxOp", A, axis=axis), A.argmax(axis))
        check(run(loom, "ArgMinOp", A, axis=axis), A.argmin(axis))
    else:
        assert run(loom, "ArgMaxOp", A, axis=axis) == ["own"]  # LOOM raises


@pytest.mark.parametrize("name, arrays, wanted", [
    ("FloorDivOp", (A, FLOORS), [[x // 2, 0, y // -1, z // 1] for x, _, y, z in A]),
    ("ModOp", (-A, FLOORS), [[-x % 2, 0, -y % -1, -z % 1] for x, _, y, z in A]),
    ("PowOp", (A, B), A**B), ("PowOp", (-A, B), (-A + 0j)**B), ("ExpOp", (C,), np.exp(C)), ("AngleOp", (C,), np.angle(C))])
def test_functions_of_any_number(loom, name, arrays, wanted):
    drop.set_fallback(False)
    counts = Counts()
    check(run(loom, name, *arrays), wanted)
    ops, fallbacks = counts.since()
    assert sum(ops.values()) == 1 and not fallbacks


def test_fallback_to_looms_own_code(loom):
    big = 2.0**40
    for name, arrays in (("MaxOp", (C,)), ("ModOp", (C, C)), ("MulOp", ([2**40], [2**40])),
                         ("SumOp", ([2**53, 1],)), ("ProdOp", ([2**20] * 3,)),
                         ("PowOp", ([2**9], [7]))):
        counts = Counts()
        assert run(loom, name, *arrays) == ["own"], name
        assert sum(counts.since()[1].values()) == 1
    drop.set_fallback(False)
    with pytest.raises(collet.UnsupportedError, match="no op computes this.*set_fallback"):
        run(loom, "MaxOp", C)
    check(run(loom, "MulOp", [big], [big]), [big * big])
    check(run(loom, "SumOp", [2**40, 1]), [2**40 + 1])


def test_what_is_not_a_computation_stays_looms(loom):
    drop.set_fallback(False)
    counts = Counts()
    assert loom.ops["AddOp"]().execute(loom.Tensor(["x"], ()), loom.Tensor([1.0], ())) == ["own"]
    assert run(loom, "PowOp", [0.0], [-1.0]) == ["own"]  # ZeroDivisionError
    assert run(loom, "PowOp", [1e300], [2.0]) == ["own"]  # OverflowError
    assert run(loom, "MeanOp", []) == ["own"] and run(loom, "SumOp", 1.0) == ["own"]
    assert counts.since() == ({}, {})


def values(tensor):
    return np.array(tensor.compute()).reshape(tensor.shape.dims)


def test_linear_algebra(loom):
    def tensor(a):
        return loom.Tensor(a.reshape(-1).tolist(), a.shape)

    drop.set_fallback(False)
    square = A[:, :3] + 3 * np.eye(3)
    symmetric = square @ square.T
    for a in (square, A, A.T):
        p, lower, upper = map(values, loom.linalg.lu(tensor(a)))
        assert upper.shape == a.shape
        check((p @ lower @ upper[:lower.shape[1]]).reshape(-1), a)
        for mode in ("reduced", "complete"):
            q, r = map(values, loom.linalg.qr(tensor(a), mode=mode))
            assert q.shape[1] == (min(a.shape) if mode == "reduced" else a.shape[0])
            check((q @ r).reshape(-1), a)
        u, s, vh = map(values, loom.linalg.svd(tensor(a)))
        check(((u * s) @ vh).reshape(-1), a)
    lower = values(loom.linalg.cholesky(tensor(symmetric)))
    check((lower @ lower.T).reshape(-1), symmetric)
    w, v = map(values, loom.linalg.eigh(tensor(symmetric)))
    assert (np.diff(abs(w)) <= 0).all()
    check(((v * w) @ v.T).reshape(-1), symmetric)
    check(values(loom.linalg.inv(tensor(square))).reshape(-1), np.linalg.inv(square))
    check(values(loom.linalg.det(tensor(square))).reshape(-1), np.linalg.det(square))
    for b in (B[:, 0], B):
        check(values(loom.linalg.solve(tensor(square), tensor(b))).reshape(-1),
              np.linalg.solve(square, b))
    with pytest.raises(ValueError, match="positive definite"):
        loom.linalg.cholesky(tensor(-symmetric))


def test_linear_algebra_without_an_op(loom):
    singular = loom.Tensor([1.0, 1, 1, 1], (2, 2))
    calls = [lambda: loom.linalg.solve(singular, singular), lambda: loom.linalg.inv(singular),
             lambda: loom.linalg.lu(singular, pivot=False),
             lambda: loom.linalg.det(loom.Tensor([1j], (1, 1)))]
    for call in calls:
        counts = Counts()
        assert call() == "own" and sum(counts.since()[1].values()) == 1
    drop.set_fallback(False)
    for call in calls:
        with pytest.raises(collet.UnsupportedError):
            call()
    assert loom.linalg.lu(loom.Tensor([1.0], (1,))) == "own"  # LOOM raises


def test_fourier(loom):
    drop.set_fallback(False)
    x = [1.0, 2, 4, 8, 3]
    found = loom.signal.fft(x)
    assert found.dtype == "complex128"
    check(found.compute(), np.fft.fft(x))
    check(loom.signal.ifft(found).compute(), x)
    assert loom.signal.fft([1.0]) == "own"


def test_backend(loom):
    backend = loom.manager.known["collet"]
    assert backend.name == "collet" and backend.is_available
    counts = Counts()
    assert backend.add([1, 2], [3, 4]) == [4, 6] and backend.mul([1, 2, 3], [3, 4]) == [3, 8]
    assert backend.matmul([1, 2, 3, 4], [1, 1], (2, 2), (2, 1)) == [3, 7]
    assert backend.sum([1, 2, 3]) == 6 and backend.sum([1, 2, 3, 4], 0, (2, 2)) == [4, 6]
    check(backend.exp([0, 1]) + backend.log([1, 2]) + backend.sqrt([4]), [1, np.e, 0, np.log(2), 2])
    assert backend.transpose([1, 2, 3, 4, 5, 6], 2, 3) == [1, 4, 2, 5, 3, 6]
    p, lower, upper = (np.reshape(x, (2, 2)) for x in backend.lu([4, 3, 6, 3], 2))
    check((p @ lower @ upper).reshape(-1), [4, 3, 6, 3])
    q, r = backend.qr([1, 2, 3, 4, 5, 6], 3, 2)
    check((np.reshape(q, (3, 2)) @ np.reshape(r, (2, 2))).reshape(-1), range(1, 7))
    assert sum(counts.since()[0].values()) == 11


def test_unchanged_programs(tmp_path):
    write(tmp_path)
    (tmp_path / "script.py").write_text("""
import sys
from loom.core.tensor import Tensor
from loom.ops.arithmetic import AddOp, MulOp
print(sys.argv[1:], AddOp().execute(Tensor([1.0]), Tensor([2.0])))
try: print(MulOp().execute(Tensor([2**40]), Tensor([2**40])))
except Exception as error: print(type(error).__name__)
""")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    for option, last in (([], "['own']"), (["--no-fallback"], "UnsupportedError")):
        done = subprocess.run([sys.executable, "-m", "collet.compat.loom", *option,
                               str(tmp_path / "script.py"), "word"], text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": path}, timeout=120, check=False)
        assert done.stdout.splitlines() == ["['word'] [3.0]", last], done.stderr
