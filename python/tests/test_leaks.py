# SPDX-License-Identifier: Apache-2.0
"""References and memory after many calls."""

import gc
import os
import sys

import numpy as np
import pytest

import collet
from collet import op

A, B, OUT = np.ones(4), np.ones(4), np.ones(4)
THREE, BOOLS = np.ones(3), np.ones(4, "?")
X, Y, INTEGERS = collet.ones(4), collet.ones((2, 2)), collet.asarray([1, 200])
GRADIENT = collet.grad(lambda x: collet.sum(collet.evaluate("x*x", {"x": x}) * op.sin(x)))


def failing(function):
    try:
        function()
    except Exception:
        return
    raise AssertionError("no error")


CALLS = {
    "numpy": lambda: op.add(A, B),
    "out": lambda: op.add(A, B, out=OUT),
    "number": lambda: op.mul(A, 2.0),
    "list": lambda: op.add([1.0, 2.0], [3.0, 4.0]),
    "big endian": lambda: op.add(A.astype(">f8"), B),
    "fields": lambda: op.sum(A, axes=(0,), keepdims=True, dtype="float64"),
    "choice": lambda: op.ternary_pack(np.zeros((1, 256), "i1"), format="t2"),
    "several": lambda: op.eigh(np.eye(2)),
    "arrays": lambda: op.add(X, X),
    "operator": lambda: (X + 1) * X - X,
    "views": lambda: X.reshape(2, 2)[:, ::-1].T,
    "to_numpy": lambda: X.to_numpy(),
    "asarray": lambda: collet.asarray(A),
    "share": lambda: collet.asarray(A, copy=False),
    "dlpack": lambda: collet.from_dlpack(X.__dlpack__ and A) if hasattr(A, "__dlpack__") else None,
    "capsule": lambda: collet._core.from_capsule(X.__dlpack__()),
    "unused": lambda: (X.__dlpack__(), X.__dlpack__(max_version=(1, 0))),
    "writable tensor": lambda: collet._core.from_capsule(X.__dlpack__(copy=True, max_version=(1, 3))),
    "view of numpy": lambda: (np.asarray(X), np.asarray(X, dtype="f4")),
    "indices": lambda: (X[[1, 0]], Y[:, [1, 0]], Y[[0, 1], [1, 1]], Y[Y > 0]),
    "indexed writes": lambda: (Y.__setitem__([1, 0], 2.0), Y.__setitem__((slice(None), [1]), X[:2].reshape(2, 1))),
    "index array error": lambda: failing(lambda: Y[:, [5]]),
    "beyond": lambda: (INTEGERS == 2**70, INTEGERS < -1, INTEGERS.astype("int8")),
    "pickle": lambda: X.__reduce_ex__(5),
    "using": lambda: collet.using("cpu_scalar").__enter__().__exit__(),
    "backends": collet.backends,
    "evaluate": lambda: collet.evaluate("A*2 + B; X", out=(OUT, None)),
    "expression": lambda: collet.Expression("A*n + B").gradient("A")(A, n=2.5, B=X),
    "text error": lambda: failing(lambda: collet.evaluate("A*")),
    "name error": lambda: failing(lambda: collet.evaluate("A + C", {"A": A})),
    "shape error": lambda: failing(lambda: op.add(A, THREE)),
    "dtype error": lambda: failing(lambda: op.add(A, BOOLS)),
    "keyword error": lambda: failing(lambda: op.add(A, B, c=3)),
    "field error": lambda: failing(lambda: op.sum(A, axes=3)),
    "out error": lambda: failing(lambda: op.add(A, B, out=THREE)),
    "choice error": lambda: failing(lambda: collet.set_backend("nothing")),
    "index error": lambda: failing(lambda: X[9]),
    "gradient": lambda: GRADIENT(A),
    "gradient error": lambda: failing(lambda: collet.grad(lambda x: op.partition(x, kth=1).sum())(A)),
    "traced": lambda: failing(lambda: collet.grad(lambda x: op.add(x, A, out=OUT))(A)),
}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("name", CALLS)
def test_references(name):
    call = CALLS[name]
    watched = [A, B, OUT, THREE, BOOLS, X, A.dtype, np.float64]
    if sys.version_info < (3, 12):  # since 3.12 these are immortal
        watched += [None, True]

    def growth():
        gc.collect()
        before = [sys.getrefcount(o) for o in watched] + [sys.getallocatedblocks()]
        for _ in range(200):
            call()
        gc.collect()
        after = [sys.getrefcount(o) for o in watched] + [sys.getallocatedblocks()]
        return max(abs(a - b) for a, b in zip(after, before))

    # the first rounds fill caches: for instance, the cached names of NumPy's dtypes take 700 blocks of memory
    assert any(growth() < 100 for _ in range(12))


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="a sanitizer keeps memory")
def test_memory_is_flat():
    names = ("numpy", "out", "arrays", "views", "to_numpy", "share", "capsule", "shape error",
             "several", "evaluate", "expression", "name error")
    calls = [CALLS[name] for name in names]
    big = np.ones(1000)

    def growth():
        before = resident()
        for _ in range(4000):
            for call in calls:
                call()
            op.add(big, big)
        return resident() - before

    # A leak grows in every round. In some rounds memory grows without a leak: Linux merges pages to one of 2 MiB.
    assert min(growth() for _ in range(4)) < 2**19
