# SPDX-License-Identifier: Apache-2.0
"""Every row of the list of elementwise functions against NumPy, in every dtype."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import collet
from collet import op

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
FLOATS = ["f2", "f4", "f8"]
NUMPY = {  # functions with another name in NumPy
    "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "pow": "power",
    "round": "rint", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "atan": "arctan", "asin": "arcsin", "acos": "arccos", "atan2": "arctan2", "sinh": "sinh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "bitwise_invert": "invert"}
OWN = {  # functions that NumPy lacks or defines differently
    "minimum": np.minimum, "where": np.where, "real": np.real, "imag": np.imag,
    "complex": lambda a, b: np.stack([a, b], -1).view("c%d" % (2 * a.itemsize))[..., 0], "clip": lambda a, b, c: np.minimum(np.maximum(a, b), c),
    "erf": np.vectorize(math.erf, otypes="d"), "erfc": np.vectorize(math.erfc, otypes="d"),
    "expit": lambda a: 1 / (1 + np.exp(-a)),
    "fma": lambda a, b, c: (a.astype("g") * b + c).astype(a.dtype),
    "sinc": lambda a: np.where((a == np.rint(a)) & np.isfinite(a), a == 0, np.sinc(a)),
    "sign": lambda a: np.sign(a) if a.dtype.kind != "c" else np.where(a == 0, 0, a / abs(a)),
    "lgamma": np.vectorize(lambda x: np.nan if np.isnan(x) else np.inf if abs(x) > 1e300 or x <= 0
                           and x == np.floor(x) else math.lgamma(x), otypes="d")}
ROWS = Path(__file__).parents[3] / "include/collet/ops/elementwise.def"
ROUNDED = {name for name, ulp in re.findall(r"ELEMENTWISE\(\w+, \d+, (\w+), \d, \w+, \w+, ([\d.]+)",
                                            ROWS.read_text()) if float(ulp)}  # functions whose error limit is not 0 ulp
SHAPES = ["out[...] : a[...]", "out[...] : a[...] b[...]", "out[...] : a[...] b[...] c[...]"]
LIST = [n for n in op.names() if op.describe(n)["shapes"] in SHAPES and n != "copy"]
# Devices would compile a program for each function and dtype. backend-check tests some of them.
BACKENDS = [b.name for b in collet.backends()
            if b.state != "unavailable" and not b.capabilities.get("jit")]


def arguments(dtype, number):
    """Every pair of special values, and pairs of ordinary values."""
    if dtype == "?":
        values = np.array([False, True])
    elif dtype in INTEGERS:
        limits = np.iinfo(dtype)
        values = np.array([0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 63, 64, limits.max, limits.max - 1,
                           limits.min, limits.min + 1, *([-1, -2, -3, -7] if limits.min else [])], object)
        values = np.array([v for v in values if limits.min <= v <= limits.max], dtype)
    else:
        limits = np.finfo(dtype)
        values = np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 2.5, -2.5, 3, 7.25, -1e-3, 88, -104,
                           limits.max, limits.tiny, limits.tiny / 4, np.inf, -np.inf, np.nan],
                          limits.dtype)
        if dtype[0] == "c":
            with np.errstate(all="ignore"):
                values = (values[:, None] + 1j * values).ravel().astype(dtype)
            values = values[np.isfinite(values)] if number > 1 else values
            values = values[::number * number]
    grids = np.meshgrid(*[values] * min(number, 2), indexing="ij")
    found = [g.ravel() for g in grids]
    return found if number < 3 else [*found, np.roll(found[0], 3)]


def expected(name, given, dtype):
    function = OWN.get(name) or getattr(np, NUMPY.get(name, name))
    if name == "pow" and dtype in INTEGERS:
        given = [given[0], np.maximum(given[1], 0)]
    with np.errstate(all="ignore"):
        if name in ROUNDED and dtype in FLOATS:
            return function(*[g.astype("g" if name not in OWN else "d") for g in given])
        return function(*given)


def defined(name, given, dtype):
    """Whether NumPy defines the result for integers."""
    if dtype not in INTEGERS:
        return np.ones(given[0].shape, bool)
    if name in ("floor_divide", "remainder"):
        return given[1] != 0
    if name == "pow":
        return given[1] >= 0
    if "shift" in name:
        return (given[1] >= 0) & (given[1] < 8 * given[1].dtype.itemsize)
    return np.ones(given[0].shape, bool)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", LIST)
def test_equals_numpy(name, backend):
    about = op.describe(name)
    number = sum(not o["output"] for o in about["operands"])
    tried = 0
    with collet.using(backend):
        for dtype in ["?", *INTEGERS, *FLOATS, "c8", "c16"]:
            given = arguments(dtype, number)
            if name == "where":
                given[0] = np.arange(len(given[1])) % 3 == 0
            try:
                result = getattr(op, name)(*given)
            except (collet.Error, TypeError):
                continue
            assert collet.last_backend() == backend
            tried += 1
            compare(name, dtype, given, result)
    assert tried


def compare(name, dtype, given, result):
    want = expected(name, given, dtype)
    mask = defined(name, given, dtype)
    if dtype in ("c8", "c16") and name in ("mul", "square", "div", "reciprocal", "abs", "sign"):
        with np.errstate(all="ignore"):
            mask &= np.isfinite(want) & (np.abs(want) < np.finfo(dtype).max / 1e3)
            mask &= np.abs(want) > np.finfo(dtype).tiny * 1e3
            for g in given:
                mask &= np.isfinite(g)
        assert np.allclose(result[mask], want[mask], rtol=8 * np.finfo(dtype).eps, atol=0)
    elif name in ROUNDED | {"sqrt"} and dtype in ("c8", "c16"):
        with np.errstate(all="ignore"):
            mask &= np.isfinite(want) & (abs(want) < 1e30) & (abs(want) > 1e-30)
            mask &= (abs(given[0]) < 1e30)
            if name == "pow":
                mask &= (abs(given[0]) > 0.1) & (abs(given[1]) < 20) & (abs(given[0]) < 20)
        assert mask.any()
        # NumPy's own functions of complex64 are less exact than Collet's.
        assert np.allclose(result[mask], want[mask], rtol=1e-3 if dtype == "c8" else 1e-11, atol=0)
    elif name in ROUNDED and dtype in FLOATS:
        info = np.finfo(dtype)
        with np.errstate(all="ignore"):
            finite = np.isfinite(want) & (abs(want) <= info.max)
            size = abs(want[finite]) if name != "logaddexp" else np.maximum(abs(want), np.maximum(
                abs(given[0]), abs(given[1])))[finite]
            limit = 10 * float(info.eps) * np.maximum(size, 1 if name == "lgamma" else info.tiny)
            assert (abs(result[finite].astype("g") - want[finite]) <= limit).all(), dtype
            rest = want[~finite].astype(dtype)
        assert np.array_equal(result[~finite], rest, equal_nan=True), dtype
    elif dtype == "f2" and name not in ("where",):
        with np.errstate(all="ignore"):
            want = expected(name, [g.astype("f4") if g.dtype == "f2" else g for g in given], dtype)
            want = np.asarray(want).astype(result.dtype)
        assert np.array_equal(result, want, equal_nan=True), dtype
    else:
        assert np.array_equal(result[mask], np.asarray(want).astype(result.dtype)[mask],
                              equal_nan=result.dtype.kind in "fc"), dtype


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_without_a_result_in_numpy(dtype):
    limits = np.iinfo(dtype)
    a = np.array([5, 0, limits.max, limits.min, 1], dtype)
    zero, width = np.zeros(5, dtype), np.full(5, 8 * a.itemsize, dtype)
    assert op.floor_divide(a, zero).tolist() == op.remainder(a, zero).tolist() == [0] * 5
    assert op.bitwise_left_shift(a, width).tolist() == [0] * 5
    assert op.bitwise_right_shift(a, width).tolist() == [-1 if x < 0 else 0 for x in a.tolist()]
    if limits.min:
        minus = np.full(5, -1, dtype)
        assert op.floor_divide(a, minus)[3] == limits.min and op.remainder(a, minus)[3] == 0
        assert op.pow(a, minus).tolist() == [0, 0, 0, 0, 1]
        assert op.pow(minus, minus).tolist() == [-1] * 5
        assert op.bitwise_left_shift(a, minus).tolist() == [0] * 5
        assert op.abs(a)[3] == op.neg(a)[3] == limits.min


def test_zeros_of_minimum_and_maximum():
    zeros = np.array([0.0, -0.0]), np.array([-0.0, 0.0])
    assert np.signbit(op.minimum(*zeros)).all() and not np.signbit(op.maximum(*zeros)).any()


INF, NAN = np.inf, np.nan
ANNEX_G = {  # C11 annex G defines both parts of these results, also if one part is NaN
    "acos": {(0, NAN): (np.pi / 2, NAN), (INF, NAN): (NAN, INF), (NAN, INF): (NAN, -INF)},
    "acosh": {(0, NAN): (NAN, np.pi / 2), (-INF, NAN): (INF, NAN), (NAN, INF): (INF, NAN)},
    "asinh": {(NAN, 0): (NAN, 0), (NAN, INF): (INF, NAN), (INF, NAN): (INF, NAN)},
    "atanh": {(0, NAN): (0, NAN), (INF, NAN): (0, NAN)},
    "cosh": {(0, INF): (NAN, 0), (0, NAN): (NAN, 0), (NAN, 0): (NAN, 0), (INF, NAN): (INF, NAN)},
    "sinh": {(0, INF): (0, NAN), (0, NAN): (0, NAN), (NAN, 0): (NAN, 0), (INF, NAN): (INF, NAN)},
    "tanh": {(0, INF): (0, NAN), (0, NAN): (0, NAN), (NAN, 0): (NAN, 0), (INF, NAN): (1, 0)},
    "sqrt": {(-INF, NAN): (NAN, INF), (INF, NAN): (INF, NAN), (NAN, INF): (INF, INF)}}


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("name", ANNEX_G)
def test_complex_infinities(name, dtype):
    for parts, expected in ANNEX_G[name].items():
        made = getattr(op, name)(np.array(complex(*parts), dtype))
        for got, wanted in zip((made.real, made.imag), expected):
            signed = abs if np.isinf(wanted) and NAN in parts else float  # the sign of an infinity is unspecified
            np.testing.assert_allclose(signed(got), signed(wanted), rtol=1e-6)
