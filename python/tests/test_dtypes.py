# SPDX-License-Identifier: Apache-2.0
"""Dtypes in Python are written with the names that numpy.dtype accepts. Collet's own names are accepted only
if NumPy has no such name."""

import numpy as np
import pytest

import collet
from collet import op

NUMPY = {n: n for n in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
                        "float32", "float64", "complex64", "complex128", "i1", "u1", "i2", "u2", "i4", "u4", "i8",
                        "u8", "f2", "f4", "f8", "c8", "c16", "?", "<i8", "=u8", "single", "double", "half")}
OWN = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128", "i16": "int16", "u16": "uint16",
       "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64"}
X = np.array([[1.0, 2], [3, 4]])

# Every way to pass a dtype. Each returns an array of that dtype.
WAYS = {
    "asarray": lambda d: collet.asarray(X, dtype=d),
    "astype": lambda d: collet.asarray(X).astype(d),
    "the function astype": lambda d: collet.astype(X, d),
    "empty": lambda d: collet.empty(3, d), "zeros": lambda d: collet.zeros(3, d), "ones": lambda d: collet.ones(3, d),
    "full": lambda d: collet.full(3, 1, d), "eye": lambda d: collet.eye(2, dtype=d),
    "arange": lambda d: collet.arange(1, 2, dtype=d), "linspace": lambda d: collet.linspace(0, 1, 2, dtype=d),
    "empty_like": lambda d: collet.empty_like(X, dtype=d), "zeros_like": lambda d: collet.zeros_like(X, dtype=d),
    "ones_like": lambda d: collet.ones_like(X, dtype=d), "full_like": lambda d: collet.full_like(X, 1, dtype=d),
    "numpy's zeros_like": lambda d: np.zeros_like(collet.asarray(X), dtype=d),
    "sum": lambda d: collet.sum(X, dtype=d), "prod": lambda d: collet.prod(X, dtype=d),
    "the method sum": lambda d: collet.asarray(X).sum(dtype=d),
    "numpy's sum": lambda d: np.sum(collet.asarray(X), dtype=d),
    "cumulative_sum": lambda d: collet.cumulative_sum(X, axis=0, dtype=d),
    "cumulative_prod": lambda d: collet.cumulative_prod(X, axis=0, dtype=d),
    "trace": lambda d: collet.trace(X, dtype=d), "nansum": lambda d: collet.nansum(X, dtype=d),
    "nanprod": lambda d: collet.nanprod(X, dtype=d), "op": lambda d: op.copy(X, dtype=d),
    "op.fill": lambda d: op.fill(value=1, shape=2, dtype=d),
    "result_type": lambda d: np.empty(1, collet.result_type(d)),
    "lazy": lambda d: (collet.asarray(X) + 0).astype(d, copy=False),
}


def convert(dtype):
    e = collet.Expression()
    e.output(e.convert(e.input("x"), dtype))
    return e(X)


WAYS["Expression.convert"] = convert


@pytest.mark.parametrize("way", WAYS)
def test_every_way(way):
    for given, dtype in {**NUMPY, **OWN}.items():
        assert WAYS[way](given).dtype == np.dtype(dtype), given
        assert WAYS[way](np.dtype(dtype)).dtype == np.dtype(dtype)
    with pytest.raises(collet.DtypeError, match="'f16' has 16 bytes in NumPy.*write float16"):
        WAYS[way]("f16")


def test_values():
    x = collet.asarray([300])
    assert x.astype("i8").tolist() == [300] and int(np.sum(collet.asarray([100, 200]), dtype="i8")) == 300
    assert int(collet.sum([100, 200], dtype="u8")) == 300
    assert (x + 0).astype("i8").tolist() == [300] and (x + 0).astype("int8").tolist() == [44]


def test_own_names_are_those_that_numpy_does_not_read():
    for dtype, own in (line.split() for line in """bool bool\nint8 i8\nuint8 u8\nint16 i16\nuint16 u16\nint32 i32
            uint32 u32\nint64 i64\nuint64 u64\nfloat16 f16\nfloat32 f32\nfloat64 f64\ncomplex64 c64
            complex128 c128""".split("\n")):
        try:
            expected = np.dtype(own)
        except TypeError:
            expected = np.dtype(dtype)
        if expected.itemsize > 8 and expected.kind == "f":  # longdouble, which collet does not have
            continue
        assert collet.empty(1, own).dtype == expected


def test_inputs_of_expressions():
    e = collet.Expression()
    e.output(e.input("x", "i8"))
    assert e(np.array([300])).tolist() == [300]
    with pytest.raises(collet.DtypeError, match="is int8; it must be int64"):
        e(np.array([3], "i1"))


@pytest.mark.parametrize("function", [lambda text: collet.evaluate(text, {"x": X}), collet.Expression])
def test_texts(function):
    for name, written in ("i8", "int8"), ("u8", "uint8"), ("f16", "float16"):
        for text in f"{name}(x)", f"x + {name} (x)", f"ä*{name}(x)":
            column = text.index(name) + 1
            with pytest.raises(collet.InvalidError, match=rf"column {column}: '{name}' has another width in NumPy: "
                                                          rf"write {written}\(...\)"):
                function(text)
    assert collet.Expression("i8 + f16").inputs == ("i8", "f16")  # i8 and f16 are allowed as names of inputs
    for dtype in "int8", "uint8", "float16", "float32", "int64", "complex128", "bool":
        assert collet.evaluate(f"{dtype}(x)", {"x": X}).dtype == dtype
    for own, dtype in OWN.items():
        assert collet.evaluate(f"{own}(x)", {"x": X}).dtype == dtype


def test_texts_for_users():
    """repr, messages, docstrings and descriptions of ops use NumPy's names of dtypes."""
    assert "dtype=float32" in repr(collet.ones(2, "f4")) and "dtype=int8" in repr(collet.ones(2, "i1"))
    for wrong, words in ((lambda: op.add(X, X.astype("f4")), r"is float64, b .input 1. is float32"),
                         (lambda: op.exp(np.ones(2, "i1")), r"is int8"),
                         (lambda: op.add(X, X, out=np.ones((2, 2), "i1")), r"int8"),
                         (lambda: collet.zeros(2, "timedelta64"), "it has complex64 complex128 float16 bfloat16"),
                         (lambda: collet.full(2, 300, "u1"), "which uint8 does not have"),
                         (lambda: collet.evaluate("x + y", {"x": np.ones(2, "u1"), "y": 300}), "uint8")):
        with pytest.raises(collet.DtypeError, match=words) as error:
            wrong()
        assert not {"f32", "f64", "i8", "u8", "i64"} & {*str(error.value).replace(",", " ").replace(")", " ").split()}
    assert "float32 of (float32)" in op.exp.__doc__ and "f32 of" not in op.exp.__doc__
    assert not {f["dtype"] for n in op.names() for f in op.describe(n)["fields"]} & {*OWN, "i8", "u8", "f16"}


def test_quoted_names_stay():
    with pytest.raises(collet.Error, match="'f32'|\"f32\""):
        op.get("f32")
    with pytest.raises(collet.Error, match="/nowhere/f32.t2"):
        collet.ternary.File("/nowhere/f32.t2")


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    for way in WAYS.values():
        if way not in (WAYS["arange"], WAYS["linspace"]):
            assert way("bf16").dtype.name == way("bfloat16").dtype.name == "bfloat16"
