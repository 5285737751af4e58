# SPDX-License-Identifier: Apache-2.0
"""numpy.asarray and DLPack: which arrays share memory, and which may be written."""

import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest

import collet

API = ctypes.pythonapi
API.PyCapsule_GetPointer.argtypes, API.PyCapsule_GetPointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
API.PyCapsule_New.argtypes, API.PyCapsule_New.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
API.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAME = b"dltensor_versioned"
far = [d.choice for b in collet.backends() if b.state == "usable" for d in b.devices if d.own_memory]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("version", ctypes.c_uint32 * 2), ("manager", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64),
                    ("tensor", Tensor)]
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Exchange(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("previous", ctypes.c_void_p),
                ("allocate", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.POINTER(Managed)),
                                              ctypes.c_void_p, SET_ERROR)),
                ("from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))),
                ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.py_object))),
                ("borrow", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))),
                ("stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)))]


def of_capsule(capsule, name=NAME):
    return Managed.from_address(API.PyCapsule_GetPointer(capsule, name))


def host(values):
    """An Array in the host's memory, whatever the backend."""
    return collet.asarray(np.asarray(values)).to_device("host")


# ---- numpy.asarray


def test_view():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = host(a)
    for key in ((), (slice(None, None, -1), slice(1, None)), (0, 1, 2), (..., slice(3, 0, -2))):
        view = np.asarray(x[key])
        assert view.shape == a[key].shape and (view == a[key]).all() and view.flags.writeable
    assert (np.asarray(x.T) == a.T).all()
    view = np.asarray(x[1, ::-1])
    x[1] += 1  # allowed, and visible in the view
    assert (view == a[1, ::-1] + 1).all()
    assert np.shares_memory(np.asarray(x), view) and np.shares_memory(x.__array__(copy=False), view)
    for copied in (np.array(x), x.to_numpy(), x.__array__(copy=True)):
        assert copied.flags.writeable and not np.shares_memory(copied, view)


def test_view_keeps_the_memory():
    x = host(np.arange(10.0**6)) + 1
    view = np.asarray(x)
    before = collet.memory("host")["current"]
    del x
    gc.collect()
    assert collet.memory("host")["current"] == before and view[-1] == 10**6
    del view
    assert collet.memory("host")["current"] == before - 8 * 10**6


def test_view_of_memory_of_numpy():
    a = np.arange(5.0)
    assert np.shares_memory(np.asarray(collet.asarray(a, copy=False)), a)
    assert not np.shares_memory(np.asarray(collet.asarray(a)), a)


@pytest.mark.parametrize("dtype", "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16 bfloat16".split())
def test_dtypes_of_views(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = host([[0, 1, 2], [3, 0, 1]]).astype(dtype)
    view = np.asarray(x.T)
    assert view.dtype == x.dtype and np.array_equal(view, x.to_numpy().T)
    assert np.asarray(x, dtype="c16").dtype == np.complex128
    assert np.asarray(x[:, :0]).shape == (2, 0)


def test_refused_views():
    x = host([1.5, 2])
    with pytest.raises(ValueError, match="float64 and have to be copied to become f4"):
        x.__array__("f4", copy=False)
    assert x.__array__("f8", copy=False)[0] == 1.5 and x.__array__("f4").dtype == np.float32


@pytest.mark.skipif(not far, reason="no device has memory of its own")
def test_elements_on_a_device():
    for x in (collet.ones(3, device=far[0]), collet.empty(0, device=far[0]), collet.full_like(collet.ones(2), 2, device=far[0]),
              collet.eye(2, device=far[0]), collet.asarray([1, 2], device=far[0]), collet.from_dlpack(host([1.0]), device=far[0])):
        assert x.device == far[0] and x.to_device("host").device == "host"
    x = collet.ones(3, device=far[0])
    copied = np.asarray(x)
    assert copied.flags.writeable and copied.tolist() == [1, 1, 1]
    x = collet.ones(3, device=far[0])
    with pytest.raises(ValueError, match="the elements are on a device and have to be copied"):
        x.__array__(copy=False)


# ---- Tensors that Arrays make


def test_flags():
    x = host(np.arange(12.0).reshape(3, 4))[::2, 1:]
    capsule = x.__dlpack__(max_version=(1, 3))
    made = of_capsule(capsule)
    assert made.version[0] == 1 and made.flags == 0 and made.tensor.ndim == 2 and made.tensor.byte_offset == 0
    assert made.tensor.shape[:2] == [2, 3] and made.tensor.strides[:2] == [8, 1]
    capsule = x.__dlpack__(max_version=(1, 3), copy=True)  # the capsule has the only reference to the copy
    made = of_capsule(capsule)
    assert made.flags == 2 and made.tensor.data != np.asarray(x).ctypes.data
    x += 1
    capsule = x.broadcast_to(2, 2, 3).__dlpack__(max_version=(1, 3))
    assert of_capsule(capsule).flags == 1
    for shape in (), (0,), (3, 0), (1, 1):
        capsule = collet.ones(shape).__dlpack__(max_version=(1, 0))
        made = of_capsule(capsule).tensor
        assert made.ndim == len(shape) and made.strides and made.shape[:len(shape)] == list(shape)
    assert "versioned" not in repr(x.__dlpack__(max_version=(0, 8))) and "versioned" in repr(x.__dlpack__(max_version=(2, 0)))


def test_arguments():
    x = host([1.0, 2])
    assert x.__dlpack_device__() == (1, 0) and "dltensor" in repr(x.__dlpack__(dl_device=(1, 0), copy=False))
    for stream in None, -1, 1, 2**40:
        x.__dlpack__(stream=stream)
    for stream in "1", -2, True, 1.0:
        with pytest.raises(ValueError, match="it is None or an integer"):
            x.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="the array is on host"):
        x.__dlpack__(dl_device=(2, 0))
    if far:
        x = collet.ones(3, device=far[0])
        with pytest.raises(BufferError, match=f"the array is on {far[0]}"):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        assert collet._core.from_capsule(x.__dlpack__(dl_device=(1, 0), copy=True)).device == "host"


@pytest.mark.skipif(not far or not far[0].startswith("opencl"), reason="no device of OpenCL")
def test_asarray_of_tensors_on_a_device():
    class Foreign:
        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    x = collet.ones(3, device=far[0])
    y, shared = collet.asarray(Foreign(x), dtype="f4"), collet.asarray(Foreign(x), copy=False)
    assert y.device == far[0] and y.to_numpy().tolist() == [1, 1, 1] and y.dtype == "f4"
    assert shared.device == far[0] and shared.to_numpy().tolist() == [1, 1, 1]
    with pytest.raises(collet.BusyError):  # refused: Collet cannot order its work with the other library's work
        x += 1


# ---- Tensors that Arrays take


class Owner:
    """The owner of a DLPack tensor of the float64 elements 0 to 5. Tests can change the tensor's fields."""

    def __init__(self, name=NAME, **fields):
        self.values, self.deleted, self.name = (ctypes.c_double * 6)(*range(6)), 0, name
        self.shape, self.strides = (ctypes.c_int64 * 9)(2, 3, *[1] * 7), (ctypes.c_int64 * 9)(3, 1, *[1] * 7)
        self.made = Managed((1, 0), None, DELETER(self.delete), 0,
                            Tensor(ctypes.addressof(self.values), (1, 0), 2, 2, 64, 1, self.shape, self.strides, 0))
        for field, value in fields.items():
            setattr(self.made if hasattr(self.made, field) else self.made.tensor, field, value)

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return tuple(self.made.tensor.device)

    def __dlpack__(self, **_):
        return API.PyCapsule_New(ctypes.addressof(self.made), self.name, None)


def test_tensors_are_taken():
    owner = Owner()
    x = collet.from_dlpack(owner)
    assert x.to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    owner.values[0] = 9
    assert x[0, 0].to_numpy() == 9 and not owner.deleted
    y = x[1:]
    del x
    assert not owner.deleted
    del y
    assert owner.deleted == 1
    owner = Owner(flags=1)
    x = collet.from_dlpack(owner)
    with pytest.raises(collet.InvalidError, match="read-only"):
        x += 1
    owner, strideless = Owner(flags=2 | 4), Owner(strides=None)
    x = collet.from_dlpack(owner)
    x += 1
    assert x[1, 2].to_numpy() == 6 and collet.from_dlpack(strideless).shape == (2, 3)
    owner = Owner(byte_offset=8, ndim=1)
    assert collet.from_dlpack(owner).to_numpy().tolist() == [1, 4]
    copied = collet.from_dlpack(owner, copy=True)
    copied += 1
    assert owner.values[1] == 1 and owner.deleted == 2


@pytest.mark.parametrize("fields, text", [
    ({"version": (2, 0)}, "DLPack 2.0"), ({"version": (0, 9)}, "DLPack 0.9"), ({"ndim": -1}, "-1 axes"), ({"ndim": 9}, "9 axes"),
    ({"lanes": 4}, "vectors of 4"), ({"bits": 4, "code": 17}, "unknown type of 4 bits"), ({"shape": None}, "shape"),
    ({"data": None}, "data|NULL|address"), ({"device": (9, 0)}, "device 0 of DLPack's type 9"), ({"byte_offset": 2**64 - 8}, "address"),
    ({"data": 4097}, "align")])
def test_hostile_tensors(fields, text):
    values = {n: (ctypes.c_uint32 * 2)(*v) if n == "version" else (ctypes.c_int32 * 2)(*v) if n == "device" else v
              for n, v in fields.items()}
    owner = Owner(**values)
    with pytest.raises((collet.Error, BufferError), match=text):
        collet.from_dlpack(owner)
    assert not owner.deleted  # the capsule still owns the tensor


def test_hostile_shapes():
    for extents, strides in (((-1, 3), (3, 1)), ((2**62, 4), (4, 1)), ((2, 3), (2**62, 2**62)), ((2, 3), (-2**62, 1))):
        owner = Owner()
        owner.shape[:2], owner.strides[:2] = extents, strides
        with pytest.raises(collet.Error):
            collet.from_dlpack(owner)


def test_hostile_capsules():
    owner = Owner()
    capsule = owner.__dlpack__()
    collet._core.from_capsule(capsule)
    assert owner.deleted == 1
    for wrong in (capsule, API.PyCapsule_New(1, b"something", None), API.PyCapsule_New(1, None, None), 5, None):
        with pytest.raises(TypeError, match="no unused capsule of DLPack"):
            collet._core.from_capsule(wrong)
    for name in b"used_dltensor", b"dltensor_version":
        with pytest.raises(TypeError):
            collet.from_dlpack(Owner(name))
    for wrong in (np.arange, 3, [1, 2], "a"):
        with pytest.raises((TypeError, AttributeError)):
            collet.from_dlpack(wrong)


def test_old_libraries():
    class Old:
        """An array of a library older than DLPack 1."""

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, stream=None):
            return collet.ones(2).__dlpack__()

    found = collet.from_dlpack(Old())
    assert found.to_numpy().tolist() == [1, 1]
    with pytest.raises(collet.Error, match="read-only"):  # capsules of older versions, such as JAX's, are read-only
        found += 1


def test_copies_to_the_host_are_the_owners():
    class Far(Owner):
        asked = None

        def __dlpack_device__(self):
            return 8, 0

        def __dlpack__(self, **keywords):
            self.asked = keywords
            return super().__dlpack__()

    owner = Far()
    assert collet.from_dlpack(owner, device="host").device == "host"
    assert owner.asked["dl_device"] == (1, 0) and owner.asked["max_version"] >= (1, 0) and owner.asked["copy"] is None


# ---- The functions for other libraries


@pytest.fixture
def table():
    return Exchange.from_address(API.PyCapsule_GetPointer(collet.Array.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


def test_exchange(table):
    assert tuple(table.version) == (1, 3) and not table.previous
    x = host(np.arange(6.0).reshape(2, 3))[:, ::-1]
    made = ctypes.POINTER(Managed)()
    assert table.from_object(x, made) == 0 and made.contents.flags == 0 and made.contents.tensor.strides[:2] == [3, -1]
    back = ctypes.py_object()
    assert table.to_object(made, back) == 0 and type(back.value) is collet.Array
    assert back.value.to_numpy().tolist() == [[2, 1, 0], [5, 4, 3]] and np.shares_memory(np.asarray(back.value), np.asarray(x))
    lent = Tensor()
    assert table.borrow(x, lent) == 0 and lent.data == np.asarray(x).ctypes.data and lent.shape[:2] == [2, 3]
    del back, made
    stream = ctypes.c_void_p(1)
    assert table.stream(1, 0, stream) == 0 and stream.value is None


def test_exchange_of_what_is_no_array(table):
    made, lent = ctypes.POINTER(Managed)(), Tensor()
    for call in (lambda: table.from_object(np.ones(2), made), lambda: table.borrow(3, lent)):
        with pytest.raises(TypeError, match="is no collet.Array"):
            call()
    owner, back = Owner(lanes=2), ctypes.py_object()
    with pytest.raises(collet.UnsupportedError):
        table.to_object(owner.made, back)
    assert owner.deleted == 1
    with pytest.raises(BufferError, match="DLPack's type 77"):
        table.stream(77, 0, ctypes.c_void_p())


def test_allocation(table):
    made, said = ctypes.POINTER(Managed)(), []
    error = SET_ERROR(lambda context, kind, text: said.append((context, kind, text)))
    assert table.allocate(Owner().made.tensor, made, 5, error) == 0 and not said
    assert made.contents.flags == 2 and made.contents.tensor.shape[:2] == [2, 3] and made.contents.tensor.strides[:2] == [3, 1]
    ctypes.memset(made.contents.tensor.data, 0, 48)
    back = ctypes.py_object()
    assert table.to_object(made, back) == 0 and back.value.to_numpy().tolist() == [[0] * 3] * 2
    del back
    for fields in {"bits": 3}, {"device": (ctypes.c_int32 * 2)(77, 0)}, {"ndim": 99}:
        said.clear()
        assert table.allocate(Owner(**fields).made.tensor, made, 5, error) == -1 and not made
        assert said[0][0] == 5 and said[0][1] in (b"BufferError", b"ShapeError", b"InvalidError") and said[0][2]


# ---- Other libraries


CODE = """
import numpy as np, collet
x = collet.asarray(np.arange(6, dtype="f4").reshape(2, 3))
{}
print("done")
"""
OTHERS = {
    "torch": """
import torch
assert collet.from_dlpack(torch.from_dlpack(x).clone()).to_numpy().tolist() == x.to_numpy().tolist()
t = torch.arange(6.0).reshape(2, 3)
y = collet.from_dlpack(t.T)
y += 1
assert t[0, 0] == 1 and y.shape == (3, 2)
assert torch.asarray(np.asarray(x).copy()).sum() == 15
y, t = x + 1, torch.from_dlpack(x)
t[0, 0] = 10
x[0, 1] += 1
assert t.sum() == 26 and x.to_numpy().sum() == 26 and y.to_numpy().sum() == 21
z = collet.from_dlpack(torch.ones(2, dtype=torch.bfloat16))
assert z._dtype == "bfloat16" and collet.from_dlpack(t, copy=True).shape == (2, 3)
""", "jax": """
import jax.numpy as jnp
j = jnp.from_dlpack(x)
assert j.sum() == 15
y = collet.from_dlpack(j * 2)
assert y.to_numpy().tolist() == [[0, 2, 4], [6, 8, 10]]
assert jnp.asarray(x).sum() == 15 and np.asarray(x).sum() == 15
try:
    y += 1
except collet.InvalidError:
    pass
"""}


@pytest.mark.parametrize("library", OTHERS)
def test_with(library):
    other = pytest.importorskip(library)
    if library == "torch":
        try:
            other.ones(1).__dlpack__(max_version=(1, 0))
        except TypeError:
            pytest.skip("this PyTorch has no versioned DLPack, so its tensors are read-only in other libraries")
    done = subprocess.run([sys.executable, "-c", CODE.format(OTHERS[library])], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


def test_capsules_without_a_version_are_not_of_read_only_memory():
    """A library older than DLPack 1 cannot know that the memory of a capsule is read-only, and would write into it."""
    values = np.arange(4.0)
    values.flags.writeable = False
    for x in collet.asarray(values, copy=False), collet.from_dlpack(collet.asarray(values, copy=False)), \
            collet.asarray([1.0]).broadcast_to(3):
        with pytest.raises(BufferError, match="read-only.*max_version=.1, 0."):
            x.__dlpack__()
        with pytest.raises(BufferError, match="read-only"):
            x.__dlpack__(max_version=(0, 8))
        x.__dlpack__(max_version=(1, 0))
        x.__dlpack__(copy=True)
    assert values.tolist() == [0, 1, 2, 3]
    collet.asarray(values).__dlpack__()  # allowed, because the Array is a writable copy
