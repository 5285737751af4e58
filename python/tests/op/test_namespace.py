# SPDX-License-Identifier: Apache-2.0
"""The functions of the array API standard that ops compute, against NumPy."""

import inspect

import numpy as np
import pytest

import collet
from collet import op
from collet._array import elementwise

NUMPY_1 = {"pow": "power", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
           "bitwise_invert": "invert", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
           "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh"}
STANDARD = """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor
floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10
logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter
not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh
trunc where""".split()
DTYPES = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()
NOT_NUMPY = ("reciprocal", "round")  # results for integers differ from NumPy's


def test_names():
    assert {*STANDARD} <= {*elementwise.names()} <= {*dir(collet)}
    assert "sub" not in dir(collet) and not hasattr(collet, "sub") and not hasattr(collet, "copy")
    for name in elementwise.names():
        function = getattr(collet, name)
        assert function.__name__ == name and function.__doc__ and function is getattr(collet, name)
        assert function.__module__ == "collet" and "out" in inspect.signature(function).parameters


@pytest.mark.parametrize("name", [n for n in STANDARD if n not in ("clip", "where", "positive")])
def test_elementwise(name):
    reference = getattr(np, name, None) or getattr(np, NUMPY_1[name])
    count = reference.nin if isinstance(reference, np.ufunc) else 1
    for first in DTYPES:
        for second in DTYPES[::3] if count == 2 else [first]:
            inputs = [np.array([1, 1, 0], first), np.array([1, 1, 1], second)][:count]
            if "c" in {x.dtype.kind for x in inputs} and name in ("less", "less_equal", "greater", "greater_equal",
                                                                  "maximum", "minimum"):
                continue  # complex numbers have no order
            with np.errstate(all="ignore"):
                try:
                    expected = reference(*inputs)
                except TypeError:
                    with pytest.raises(collet.DtypeError):
                        getattr(collet, name)(*inputs)
                    continue
            made = getattr(collet, name)(*map(collet.asarray, inputs))
            assert isinstance(made, collet.Array)
            if not hasattr(np, "acos") and name in ("ceil", "floor", "trunc"):
                continue  # in NumPy 1 they convert integers to floating-point numbers
            if first == second and (expected.dtype.kind == "f" or name not in NOT_NUMPY) and first not in "?i1u1":
                assert made.dtype == expected.dtype or name in ("nextafter", *NOT_NUMPY)
            if name not in (*NOT_NUMPY, "nextafter"):
                assert np.allclose(made.to_numpy(), expected, rtol=2e-3, atol=2e-3, equal_nan=True)


def test_kinds_of_arguments():
    host = collet.add([1, 2], np.array([0.5, 1.5]))
    assert isinstance(host, np.ndarray) and host.tolist() == [1.5, 3.5]
    x = collet.asarray(np.array([1, 2, 3], "f4"))
    assert collet.add(x, 1).dtype == np.float32 and collet.add(1.5, x).dtype == np.float32
    assert collet.add(x, np.float64(1)).dtype == np.float64
    assert collet.add(x.astype("i4"), 1.5).dtype == np.float64
    out = collet.empty(3, "f4")
    assert collet.sin(x, out=out) is out and np.allclose(out.to_numpy(), np.sin(x.to_numpy()))
    with pytest.raises(collet.DtypeError):
        collet.add(x, x, out=collet.empty(3))


def test_choices():
    x = collet.asarray(np.arange(5))
    for low, high in (1, 3), (None, 3), (1, None), (None, None):
        expected = x.to_numpy() if low is high is None else np.clip(x.to_numpy(), low, high)
        assert collet.clip(x, low, high).to_numpy().tolist() == expected.tolist()
    assert collet.where(x > 2, x, 0.5).to_numpy().tolist() == [0.5, 0.5, 0.5, 3, 4]
    assert collet.where(x, 1, 0).to_numpy().tolist() == [0, 1, 1, 1, 1]


def test_square_is_a_product():
    x = collet.asarray(np.random.default_rng(0).normal(size=100))
    assert ((x**2) == x * x).to_numpy().all() and (collet.pow(x, 2) == op.square(x)).to_numpy().all()


# ---- Reductions


SHAPES = [(3, 4), (1,), ()]


@pytest.mark.parametrize("dtype", "? i1 u2 i4 u8 f2 f4 f8 c8".split())
@pytest.mark.parametrize("name", "sum prod mean var std min max any all argmin argmax count_nonzero".split())
def test_reductions(name, dtype):
    if dtype[0] == "c" and name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(collet.DtypeError):
            getattr(collet, name)(collet.ones(3, np.dtype(dtype)))
        return
    for shape in SHAPES:
        host = (np.arange(np.prod(shape, dtype=int)).reshape(shape) - 2).astype(dtype)
        for axis in (None, *range(-len(shape), len(shape)), *([(), tuple(range(len(shape)))] * ("arg" not in name))):
            for keepdims in False, True:
                expected = np.asarray(getattr(np, name)(host, axis=axis, keepdims=keepdims))
                for x in host, collet.asarray(host):
                    made = getattr(collet, name)(x, axis=axis, keepdims=keepdims)
                    assert isinstance(made, collet.Array) == isinstance(x, collet.Array) and made.shape == np.shape(expected)
                    assert name in ("mean", "var", "std") or made.dtype == expected.dtype
                    assert np.allclose(np.asarray(made), expected, rtol=3e-3)


def test_arguments_of_reductions():
    x = collet.asarray(np.arange(12, dtype="f4").reshape(3, 4))
    assert collet.sum(x, dtype="float64").dtype == np.float64 and collet.prod(x, dtype="int32").dtype == np.int32
    assert collet.sum(collet.asarray(np.full(300, 1, "u1")), dtype="uint8").to_numpy() == 44
    for name in "sum", "prod", "cumulative_sum", "cumulative_prod":  # elements become bool before they are summed
        for host in np.array([-1, 1, 0], "i4"), np.array([.25, -.25, 1]), np.array([1j, -1j]), np.array([256, 0]):
            expected = getattr(np, name.replace("ulative_", ""))(host, dtype=bool)
            np.testing.assert_array_equal(getattr(collet, name)(collet.asarray(host), dtype=bool), expected)
    for name in "sum", "prod":
        for dtype in "i1", "u1", "i4", "u8", "i8":
            for host in np.array([-1, -2, -200, 5]), np.array([2**63 + 5, 2], "u8"), np.array([], "i4"):
                expected = getattr(np, name)(host, dtype=dtype)
                assert getattr(collet, name)(collet.asarray(host), dtype=np.dtype(dtype)).to_numpy() == expected
    assert np.allclose(collet.var(x, axis=0, correction=1).to_numpy(), np.var(x.to_numpy(), axis=0, ddof=1))
    z = np.array([[1j, 2, 3 - 1j]])
    assert np.allclose(collet.std(z, axis=1, correction=1), np.std(z, axis=1, ddof=1))
    assert collet.argmax(x, keepdims=True).shape == (1, 1)
    for name in "min", "max", "argmin", "argmax":
        with pytest.raises(ValueError):
            getattr(collet, name)(collet.empty((0, 3)))
    assert complex(collet.prod(np.empty((0, 2), "c16"))) == 1 and collet.sum(collet.empty((0, 3)), axis=0).shape == (3,)
    for name in "sum", "any", "argmax":
        with pytest.raises(ValueError):
            getattr(collet, name)(x, axis=2)


# ---- Dtypes and inspection


def test_dtypes():
    x = collet.asarray(np.ones(2, "f4"))
    assert x.dtype == collet.float32 and {collet.float32: 1}[x.dtype] == 1
    assert collet.astype(x, collet.int8).dtype == collet.int8 and collet.astype(x, "float32", copy=False) is x
    assert collet.astype(x, collet.float32) is not x and collet.astype(x, collet.complex64).dtype == np.complex64
    with pytest.raises(collet.DtypeError, match="take real"):
        collet.astype(np.ones(1, "c8"), "float32")
    assert collet.result_type(x, collet.int8, 2.5) == np.float32 and collet.result_type(collet.int8, "uint8") == np.int16
    assert collet.result_type(x, 1j) == np.complex64 and collet.result_type(1, 2.0) == np.float64
    assert collet.can_cast("float32", collet.float64) and not collet.can_cast(x, collet.int8)
    assert collet.isdtype(collet.int8, ("bool", "signed integer")) and not collet.isdtype(collet.int8, "real floating")
    assert collet.isdtype(x.dtype, collet.float32) and collet.isdtype(collet.complex64, "numeric")
    assert collet.finfo(x).max == float(np.finfo("f4").max) and collet.finfo("complex128").dtype == np.float64
    assert collet.iinfo(collet.uint8).max == 255
    for wrong in (lambda: collet.finfo("int8"), lambda: collet.iinfo("float32"), lambda: collet.isdtype("int8", "real")):
        with pytest.raises((collet.DtypeError, TypeError)):
            wrong()


def test_modules_list_their_functions_alone():
    for module, some in ((collet.fft, "fft irfftn fftfreq"), (collet.linalg, "eigh matmul vecdot LinAlgError SVDResult norm"),
                         (collet.random, "default_rng Generator normal")):
        assert {*some.split()} <= {*dir(module)}
        assert not {"np", "op", "math", "arrays", "converted", "zeros_as", "axes_of", "evaluate"} & {*dir(module)}
        assert all(callable(getattr(module, n)) and n[0] != "_" for n in dir(module))


def test_inspection():
    assert collet.__array_api_version__ == "2025.12" and collet.newaxis is None and collet.pi == np.pi
    info = collet.__array_namespace_info__()
    assert info.capabilities()["max dimensions"] == 8 and type(info.devices()) is tuple and "host" in info.devices()
    assert info.default_device() == "host"
    assert info.dtypes(kind="bool") == {"bool": np.dtype(bool)} and len(info.dtypes()) == len(DTYPES) - 1  # float16
    assert info.default_dtypes()["indexing"] == collet.argsort(collet.ones(2)).dtype
    with pytest.raises(ValueError, match="no kind 'text' of dtypes"):
        info.dtypes(kind="text")
    assert not hasattr(collet, "float16x")


def test_protocol():
    x = collet.ones(3)
    assert x.__array_namespace__() is collet and x.__array_namespace__(api_version="2025.12") is collet
    with pytest.raises(ValueError, match="2019.12 is not supported"):
        x.__array_namespace__(api_version="2019.12")
    assert x.to_device("host") is x and collet.zeros(2, device="host").device == "host"
    assert collet.full(2, 3).dtype == np.int64 and collet.full(2, True).dtype == np.bool_
    assert collet.full(2, 1j).dtype == np.complex128 and collet.full(2, np.float32(1)).dtype == np.float32
    assert collet.ones_like(x, dtype="int32").dtype == np.int32 and isinstance(collet.zeros_like(np.ones(2)), np.ndarray)
    with pytest.raises(ValueError, match="stream"):
        x.to_device("host", stream=1)
    with pytest.raises(ValueError, match="without a copy"):
        collet.asarray(x, dtype="f4", copy=False)
    for wrong in [300], 2**40, [[1, -129]]:
        with pytest.raises(collet.DtypeError):
            collet.asarray(wrong, dtype=collet.int8)
    assert collet.asarray([1, 2], dtype="int8").dtype == np.int8 and collet.asarray([2], dtype="bool").to_numpy()[0]
    assert collet.from_dlpack(x) is x and collet.from_dlpack(x, copy=True) is not x
    with pytest.raises(BufferError, match="copy is False"):
        collet.from_dlpack(x, device="opencl:0", copy=False)


def test_reshape():
    x = collet.asarray(np.arange(6).reshape(2, 3))
    assert collet.reshape(x, (3, -1)).shape == (3, 2) and collet.reshape(x.T, (6,)).to_numpy().tolist() == [0, 3, 1, 4, 2, 5]
    for kind in collet.asarray, np.asarray:
        with pytest.raises(ValueError):
            collet.reshape(kind(x.to_numpy()).T, (6,), copy=False)
        assert collet.reshape(kind(x.to_numpy()), (6,), copy=False).shape == (6,)
    with pytest.raises(ValueError):
        collet.reshape(x, (4, -1))
    copied = collet.reshape(x, (6,), copy=True)
    copied[0] = 9
    assert int(x[0, 0]) == 0 and collet.broadcast_shapes((2, 1), (3,)) == (2, 3)
