# SPDX-License-Identifier: Apache-2.0
"""dlpack_numpy.py LIBCORE PLUGIN: NumPy and libcore share arrays by DLPack, in both directions."""
import ctypes
import sys

try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)
if not hasattr(np, "from_dlpack"):
    print("NumPy", np.__version__, "has no DLPack; 1.22 has it")
    sys.exit(77)
VERSIONED = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)

core = ctypes.CDLL(sys.argv[1])
api = ctypes.pythonapi
pointer, i32, i64, u32, u64 = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32,
                               ctypes.c_uint64)
READ, WRITE = 1, 2
READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
NAME = b"dltensor_versioned" if VERSIONED else b"dltensor"
for function in ("PyCapsule_New", "PyCapsule_GetPointer"):
    getattr(api, function).restype = ctypes.c_void_p
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [pointer, ctypes.c_char_p, pointer]
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
core.collet_last_error.restype = ctypes.c_char_p


class Options(ctypes.Structure):
    _fields_ = [("struct_size", u32), ("reserved", u32), ("plugin_path", ctypes.c_char_p),
                ("config_file", ctypes.c_char_p), ("backend", ctypes.c_char_p), ("log", pointer),
                ("log_user", pointer), ("settings", pointer), ("defaults", pointer)]


def good(status):
    if status:
        sys.exit("status %d: %s" % (status, core.collet_last_error(context)))


# Older NumPys use the unversioned struct DLManagedTensor: tensor, manager, deleter. libcore uses
# DLManagedTensorVersioned: version, manager, deleter, flags, tensor.
DELETER = ctypes.CFUNCTYPE(None, pointer)
TENSOR = 48  # bytes of DLTensor


class Old(ctypes.Structure):
    _fields_ = [("tensor", ctypes.c_char * TENSOR), ("manager", pointer), ("deleter", DELETER)]


class New(ctypes.Structure):
    _fields_ = [("version", u32 * 2), ("manager", pointer), ("deleter", DELETER), ("flags", u64),
                ("tensor", ctypes.c_char * TENSOR)]


kept = {}


def converted(address, kind, made):
    """Copies the tensor at `address` (of type `kind`) to `made`. Deleting the copy deletes the original."""
    def delete(_):
        given.deleter(address)
        del kept[ctypes.addressof(made)]

    given = kind.from_address(address)
    ctypes.memmove(ctypes.addressof(made) + type(made).tensor.offset, address + kind.tensor.offset, TENSOR)
    made.deleter = DELETER(delete)
    kept[ctypes.addressof(made)] = made
    return ctypes.addressof(made)


class Lent:
    """An object that np.from_dlpack accepts."""

    def __init__(self, array, access):
        self.tensor = pointer()
        good(core.collet_array_to_dlpack(context, array, ctypes.byref(self.tensor), b"host", access))
        flags = u64.from_address(self.tensor.value + 24).value  # after version, manager, deleter
        assert flags == (0 if access & WRITE else READ_ONLY), flags

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        address = self.tensor.value if VERSIONED else converted(self.tensor.value, New, Old())
        return api.PyCapsule_New(address, NAME, None)


def to_collet(values):
    capsule = values.__dlpack__(**({"max_version": (1, 0)} if VERSIONED else {}))
    array = pointer()
    address = api.PyCapsule_GetPointer(capsule, NAME)
    if not VERSIONED:
        address = converted(address, Old, New(version=(1, 0)))
    good(core.collet_array_from_dlpack(context, ctypes.byref(array), pointer(address)))
    api.PyCapsule_SetName(capsule, b"used_" + NAME)
    return array


runtime, context = pointer(), pointer()
options = Options(ctypes.sizeof(Options), 0, sys.argv[2].encode())
assert core.collet_runtime_create(ctypes.byref(runtime), ctypes.byref(options), None) == 0
assert core.collet_context_create(runtime, ctypes.byref(context), None) == 0

for dtype in ("f2", "f4", "f8", "c8", "c16", "i1", "u1", "i4", "u4", "i8", "u8"):
    values = np.arange(24).astype(dtype).reshape(4, 6)[::-1, ::2]
    before = sys.getrefcount(values)
    array = to_collet(values)
    assert sys.getrefcount(values) > before
    back = np.from_dlpack(Lent(array, READ))
    assert back.dtype == values.dtype and (back == values).all(), dtype
    assert back.__array_interface__["data"][0] == values.__array_interface__["data"][0]
    assert back.strides == values.strides and not back.flags.writeable
    core.collet_array_destroy(array)
    assert (back == values).all()
    del back
    assert sys.getrefcount(values) == before



def add(out, *terms):
    """collet_call of COLLET_OP_ADD."""
    return core.collet_call(context, 3, (pointer * 1)(out), (pointer * 2)(*terms), None)


a, b = np.arange(6, dtype="f4"), np.zeros(6, dtype="f4")
x, y = to_collet(a), to_collet(b)
good(add(y, x, x))
view = np.from_dlpack(Lent(y, WRITE))
# NumPy before 2.2.5 makes every view from np.from_dlpack read-only, even of its own arrays (NumPy issue 28599).
writeable = np.from_dlpack(np.zeros(1)).flags.writeable
assert (view == 2 * np.arange(6)).all() and view.flags.writeable == writeable
if writeable:
    view[0] = 7
assert add(y, x, x) == 16  # BUSY: NumPy has it
del view
assert b[0] == (7 if writeable else 0)
if VERSIONED:  # the unversioned struct cannot mark a tensor read-only, and NumPy refuses to export it
    a.flags.writeable = False
    z = to_collet(a)
    assert add(z, x, x) == 1  # INVALID: read-only
    core.collet_array_destroy(z)
for array in (x, y):
    core.collet_array_destroy(array)
assert not kept
core.collet_context_destroy(context)
core.collet_runtime_destroy(runtime)
print("NumPy", np.__version__)
