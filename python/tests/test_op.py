# SPDX-License-Identifier: Apache-2.0
"""collet.op calls any op on NumPy arrays. It uses only the op's description."""

import contextlib
import copy
import ctypes
import functools
import inspect
import os
import pathlib
import pickle
import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import op, random


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape, dtype=int), dtype="f4").reshape(shape)


def test_every_op_has_a_function_with_a_text():
    assert {"add", "matmul", "rmsd", "scatter_ewald", "ternary_linear"} <= set(op.names())
    for name in op.names():
        function = op
        for part in name.split("."):
            function = getattr(function, part)
        about = op.describe(name)
        parameters = inspect.signature(function).parameters
        for operand in about["operands"]:
            assert operand["output"] or operand["name"] in parameters, name
            assert operand["name"] in function.__doc__
        for field in about["fields"]:
            assert field["kind"] == "rank" or field["name"] in parameters, name
        assert about["summary"] in function.__doc__
        assert function.__name__ == name


def test_results_are_numpy_arrays():
    a, b = f32(2, 3), f32(3)
    c = op.add(a, b)
    assert type(c) is np.ndarray and c.dtype == np.float32 and (c == a + b).all()
    assert (op.matmul(a, a.T) == a @ a.T).all()
    assert op.add(b=b, a=a).tolist() == c.tolist()
    assert op.dot(b, b).shape == ()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_dtypes(dtype):
    a = np.array([1, 2, 3], dtype)
    if dtype != "f2" or collet.backends()[0].kernel_count:
        assert (op.add(a, a) == 2 * a).all()
        assert op.add(a, a).dtype == dtype


def test_integer_dtypes_go_through():
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        a = np.arange(5).astype(dtype)
        assert (op.transpose(a.reshape(5, 1)) == a.reshape(1, 5)).all()
        assert op.copy(a, dtype="float64").dtype == np.float64


def test_bools():
    a = np.array([[0.0, 2.0, np.nan]])
    b = op.copy(a, dtype=bool)
    assert b.dtype == bool and b.tolist() == [[False, True, True]]
    assert (op.transpose(b) == b.T).all()
    assert op.copy(b, dtype="int32").tolist() == [[0, 1, 1]]
    assert op.fill(value=True, shape=(2,), dtype="bool").tolist() == [True, True]
    assert collet.asarray(b).dtype == bool


def test_bfloat16():
    types = pytest.importorskip("ml_dtypes")
    a = np.arange(4).astype(types.bfloat16)
    assert op.add(a, a).dtype == a.dtype and (op.add(a, a) == a + a).all()


@pytest.mark.parametrize("dtype", ["M8[s]", "O", "S3", "f4,f4", "g"])
def test_dtypes_that_there_are_not(dtype):
    with pytest.raises(collet.DtypeError, match="a is"):
        op.add(np.zeros(3, dtype), np.zeros(3))


def test_layouts():
    a = f32(4, 6)
    aligned = np.zeros(4 * 24 + 1, "u1")[1:].view("f4").reshape(4, 6)
    aligned[...] = a
    record = np.zeros((4, 6), [("x", "f4"), ("y", "u1")])["x"]
    record[...] = a
    views = [a[::-1], a[:, ::2], a[::-2, ::-3], a.T, np.asfortranarray(a), a.astype(">f4"), aligned,
             record, np.broadcast_to(f32(6), (4, 6)), a[:0], a[1:2, 3:4], a[None, :, None]]
    for view in views:
        kept = view.copy()
        assert (op.neg(view) == -view).all()
        assert (view == kept).all()


def test_nothing_is_copied_where_the_layout_allows():
    a = f32(1000)
    target = np.zeros(2000, "f4")[::2]
    before = collet.memory()["peak"]
    assert op.neg(a[::-1], out=target) is target
    assert (target == -a[::-1]).all()
    assert collet.memory()["peak"] == before


def test_out():
    a, out = f32(3), np.zeros(3, "f4")
    assert op.add(a, a, out=out) is out and (out == 2 * a).all()
    assert op.add(a, a, out=a) is a and (a == [2, 4, 6]).all()
    b = f32(4)
    op.add(b[:3], b[:3], out=b[1:])  # overlap
    assert (b == [1, 2, 4, 6]).all()
    kept = out.copy()
    with pytest.raises(collet.ShapeError):
        op.add(f32(4), f32(4), out=out)
    with pytest.raises(collet.DtypeError):
        op.add(a, a, out=np.zeros(3))
    with pytest.raises(TypeError, match="an output is"):
        op.add(a, a, out=[0, 0, 0])
    out.flags.writeable = False
    with pytest.raises(collet.InvalidError, match="read-only"):
        op.add(a, a, out=out)
    with pytest.raises(collet.InvalidError, match="not aligned"):
        op.add(a, a, out=np.zeros(3, ">f4"))
    assert (out == kept).all()


@pytest.mark.parametrize("call", [
    "op.fill(value=1, out=out)", "op.uniform(out=out, seed=1)", "op.normal(out=out, seed=1)",
    "op.copy(x, out=out)", "op.add(x, x, out=out)", "op.add(x, 1.0, out=out)"])
def test_out_in_the_first_call_of_a_process(call):
    text = f"""import numpy as np, collet
from collet import op
x, out = collet.ones(2), np.zeros(2)
assert {call} is out and out.all()"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_several_outputs():
    a = np.array([[2.0, 0], [0, 3]])
    values, vectors, info = result = op.eigh(a)
    assert result.values is values and (values == [2, 3]).all() and info == 0
    assert [x.tolist() for x in pickle.loads(pickle.dumps(result))] == [x.tolist() for x in result]
    w = np.empty(2)
    assert op.eigh(a, out=(w, None, None)).values is w
    with pytest.raises(ValueError, match="3 outputs"):
        op.eigh(a, out=(w,))


def test_optional_operands():
    r = np.random.default_rng(1).normal(size=(2, 5, 3))
    m = np.ones(5)
    result = op.observables(r, m)
    assert result.com.shape == (2, 3) and result.L is None and result.torque is None
    result = op.observables(r, m, r)
    assert result.L.shape == (2, 3) and result.torque is None and result.kinetic.shape == (2, 3)
    result = op.observables(r, m, velocities=r, out=(None, None, False, False, False))
    assert result.L is None and result.inertia.shape == (2, 3, 3)
    assert op.rmsd(r, None, r[0]).rmsd[0] == pytest.approx(0, abs=1e-6)
    codes = op.ternary_quantize(f32(2, 256)).codes
    packed = op.ternary_pack(codes, format="t2").bytes
    assert (op.ternary_unpack(packed, format="t2").codes == codes).all()


def test_parameters():
    a = f32(2, 3)
    assert (op.sum(a) == a.sum()) and op.sum(a).shape == ()
    assert (op.sum(a, axes=-1) == a.sum(-1)).all()
    assert op.sum(a, axes=(0, 1), keepdims=True).shape == (1, 1)
    assert op.sum(a, dtype="float64").dtype == np.float64
    assert (op.transpose(f32(2, 3, 4), perm=(1, -1, 0)) == f32(2, 3, 4).transpose(1, 2, 0)).all()
    assert (op.axpy(a, a, alpha=2) == 3 * a).all()
    assert (op.sort(-a, axis=0) == np.sort(-a, axis=0)).all()
    assert (op.argsort(a, descending=True) == [[2, 1, 0]] * 2).all()
    assert (op.partition(a, kth=-1)[:, -1] == a.max(1)).all()
    assert (op.searchsorted(a[0], a, right=True) == np.searchsorted(a[0], a, "right")).all()
    assert (op.fill(value=2**63 + 1, shape=2, dtype="uint64") == 2**63 + 1).all()
    assert (op.fill(value=1 - 2j, shape=(2,), dtype=np.complex64) == 1 - 2j).all()
    assert (op.uniform(shape=4, dtype=float, seed=2**64 - 1) ==
            op.uniform(shape=(4,), dtype="f8", seed=2**64 - 1)).all()
    assert (op.fft(op.fft(a.astype("c8"), last_axes=2), last_axes=2, inverse=True) == pytest.approx(a))


@pytest.mark.parametrize("arguments, error, text", [
    ({"axes": 2}, ValueError, "no axis 2"), ({"axes": (0, 0)}, ValueError, "axes that differ"),
    ({"axes": 0.5}, ValueError, "integer"), ({"axis": 0}, TypeError, "no parameter 'axis'"),
    ({"a": 1}, TypeError, "twice"), ({"shape": "x"}, TypeError, "integer"),
    ({"dtype": "f5"}, TypeError, "f5"), ({"shape": (-1,)}, collet.InvalidError, "sum")])
def test_wrong_parameters(arguments, error, text):
    with pytest.raises(error, match=text):
        op.sum(f32(2, 3), **arguments)


def test_wrong_calls():
    with pytest.raises(TypeError, match="the argument 'b' is missing"):
        op.add(f32(3))
    with pytest.raises(TypeError, match="takes 2 arrays"):
        op.add(f32(3), f32(3), f32(3))
    with pytest.raises(TypeError, match="needs the keyword value"):
        op.fill(shape=3)
    with pytest.raises(ValueError, match="one of"):
        op.ternary_pack(np.zeros((1, 256), "i1"), format="t3")
    with pytest.raises(ValueError, match="range"):
        op.fft(f32(4).astype("c8"), last_axes=2**40)
    with pytest.raises(collet.ShapeError, match="at most 8"):
        op.neg(np.zeros((1,) * 9))
    with pytest.raises(AttributeError, match="nearest is matmul"):
        op.matmull
    with pytest.raises((collet.ShapeError, collet.DtypeError)):
        op.uniform(seed=1)


def test_errors_have_the_librarys_text_and_a_status():
    with pytest.raises(collet.ShapeError, match=r"add: b \(input 1\) is 4, a \(input 0\) is 3") as caught:
        op.add(f32(3), f32(4))
    assert caught.value.status == 2 and isinstance(caught.value, ValueError)
    assert issubclass(collet.ShapeError, collet.Error)


def test_numbers_and_lists():
    a = f32(3)
    assert op.mul(a, 2).dtype == np.float32 and (op.mul(2.5, a) == 2.5 * a).all()
    assert op.add(a.astype("c8"), 1j).dtype == np.complex64
    assert op.add(a.astype("f2"), 1).dtype == np.float16
    assert op.add([1.0, 2.0], [1.0, 2.0]).tolist() == [2, 4]
    assert op.add(1.0, 2.0).tolist() == 3
    assert op.add(np.float64(1), np.ones(2)).tolist() == [2, 2]
    mask = a > 1  # the condition is bool in every signature of where
    for x in a, a.astype("c16"), a.astype("i2"):
        for numbers in (x, 0), (0, x):
            assert op.where(mask, *numbers).dtype == x.dtype
            assert op.where(collet.asarray(mask), *numbers).to_numpy().tolist() == np.where(mask, *numbers).tolist()
    assert op.where(mask, 1.0, 0.0).dtype == np.float64 and op.logical_and(mask, 1).tolist() == mask.tolist()
    with pytest.raises(collet.DtypeError, match="c is float64, which cannot be converted to int64"):
        op.where(mask, np.arange(3), 0.5)
    with pytest.raises(collet.DtypeError, match="b is beyond the range"):
        op.add(a, 10**400)


def test_a_failing_call_leaves_the_inputs_and_outputs():
    a, out = f32(3), f32(2)
    with pytest.raises(collet.Error):
        op.add(a, f32(4), out=out)
    assert (a == f32(3)).all() and (out == f32(2)).all()


@pytest.mark.skipif(not shutil.which("cc") or "libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="no C compiler, or one without the sanitizer")
def test_ops_of_plugins(tmp_path):
    root = pathlib.Path(__file__).parents[2]
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{root}/include", f'-DCOLLET_MANIFEST_DIRECTORY="{root}/examples/plugin"',
                    root / "examples/plugin/plugin.c", "-o", tmp_path / "example.so", "-lm"],
                   check=True)
    done = subprocess.run([sys.executable, "-c", """if True:
        import numpy as np, collet
        from collet import op
        x = np.array([-3, 0.5, 3], "f4")
        print(op.example.clamp(x, lower=-1, upper=2))
        print(collet.last_backend(), dir(op.example), "example.clamp" in op.names())
        print(op.example.clamp.__doc__.splitlines()[0], op.example.clamp.__text_signature__)
        try:
            op.example.clam
        except AttributeError as error:
            print(error)
        assert op.get("example.clamp") is op.example.clamp
        import multiprocessing, pickle
        clamp, vendor = pickle.loads(pickle.dumps((op.example.clamp, op.example)))
        assert clamp is op.example.clamp is vendor.clamp
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.map(clamp, [x])[0].tolist() == [0, 0, 0]
    """], capture_output=True, text=True, env={**os.environ, "COLLET_PLUGIN_PATH": f"+{tmp_path}"})
    assert done.stdout.splitlines() == [
        "[-1.   0.5  2. ]", "example ['clamp'] True",
        "The op example.clamp of a plugin. (a, *, lower=0.0, upper=0.0, out=None, dtype=None, "
        "shape=None)",
        "collet.op has no op 'example.clam'; the nearest is example.clamp"], done.stderr


def test_pickles_and_copies():
    for function in (op.neg, op.eigh):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(function, protocol)) is function
        owner = function.__self__
        for twice in (copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
            assert twice(function) is function and twice(owner) is owner
        partial = pickle.loads(pickle.dumps(functools.partial(function, out=None)))
        assert partial.func is function and partial.keywords == {"out": None}
    lost = pickle.dumps(op.neg).replace(b"neg", b"nog")
    with pytest.raises(collet.NotFoundError, match="nog"):
        pickle.loads(lost)
    with pytest.raises(AttributeError):
        op.neg.__self__.add
    try:
        op.add(np.ones(3), np.ones(2))
    except collet.Error as error:
        error.note = 1
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and (again.status, again.note) == (error.status, 1)


def test_an_unknown_keyword_is_told_with_the_signature():
    with pytest.raises(TypeError, match=r"sum\(\) has no parameter 'axis'; it is sum\(a, \*, axes="):
        op.sum(np.ones(3), axis=0)
    with pytest.raises(TypeError, match="value is 'x'; it must be a number"):
        op.fill(value="x", out=collet.empty(3))


# The caller's rounding mode does not change results, and a call does not change that mode.

UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine())
_libm = ctypes.CDLL(None)


@contextlib.contextmanager
def rounding_upward():
    _libm.fesetround(UPWARD)
    try:
        yield
        assert _libm.fegetround() == UPWARD
    finally:
        _libm.fesetround(0)


def bytes_of(array):
    return np.asarray(array).tobytes()


@pytest.mark.skipif(UPWARD is None, reason="FE_UPWARD is not known here")
def test_rounding_of_numbers():
    ones = collet.ones(3, "float32")
    wanted = bytes_of(op.mul(ones, 0.1))
    with rounding_upward():
        found = op.mul(ones, 0.1)
    assert bytes_of(found) == wanted


@pytest.mark.skipif(UPWARD is None, reason="FE_UPWARD is not known here")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_of_norms(dtype):
    vectors = [collet.asarray([float(i), 1, 1], dtype=dtype) for i in range(1, 30)]
    wanted = [bytes_of(collet.linalg.norm(v)) for v in vectors]
    with rounding_upward():
        found = [collet.linalg.norm(v) for v in vectors]
    assert list(map(bytes_of, found)) == wanted


@pytest.mark.skipif(UPWARD is None, reason="FE_UPWARD is not known here")
def test_rounding_of_functions_and_random_numbers():
    x = collet.asarray(np.linspace(-50, 50, 10_000))
    wanted = bytes_of(op.exp(x)), bytes_of(op.sin(x)), bytes_of(random.normal(size=1000, seed=3))
    with rounding_upward():
        found = op.exp(x), op.sin(x), random.normal(size=1000, seed=3)
    assert tuple(map(bytes_of, found)) == wanted
