# SPDX-License-Identifier: Apache-2.0
"""The functions of Collet's C interface that the scripts of this folder need, called by ctypes."""

import ctypes

DTYPES = {"bf16": 2, "f32": 3, "f64": 4, "c64": 5, "c128": 6, "i8": 7, "i32": 9, "i64": 11}  # collet/types.h
BYTES = {"bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "i8": 1, "i32": 4, "i64": 8}


class Error(Exception):
    """collet_error and its text."""

    class Struct(ctypes.Structure):
        """collet_error"""
        _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 1020)]


class Array:
    """An array that lives as long as the context."""

    def __init__(self, collet, dtype, shape):
        self.collet, self.dtype, self.shape = collet, dtype, tuple(shape)
        self.count = 1
        for extent in self.shape:
            self.count *= extent
        self.handle = ctypes.c_void_p()
        extents = (ctypes.c_int64 * max(1, len(self.shape)))(*self.shape)
        collet.check(collet.core.collet_array_create(
            collet.context, ctypes.byref(self.handle), DTYPES[dtype], len(self.shape), extents))

    def write(self, data):
        """Writes the elements of a contiguous buffer, which has the size of the array."""
        view = memoryview(data).cast("B")
        source = (ctypes.c_char * len(view)).from_buffer_copy(view)
        self.collet.check(self.collet.core.collet_array_write(
            self.collet.context, self.handle, source, ctypes.c_size_t(len(view))))
        return self

    def read(self):
        """The elements as bytes."""
        target = (ctypes.c_char * (self.count * BYTES[self.dtype]))()
        self.collet.check(self.collet.core.collet_array_read(
            self.collet.context, self.handle, target, ctypes.c_size_t(len(target))))
        return bytes(target)

    def __del__(self):
        self.collet.core.collet_array_destroy(self.handle)


class Collet:
    """A context, for one thread, and its runtime."""

    def __init__(self, library, backend):
        self.core = core = ctypes.CDLL(library)
        core.collet_last_error.restype = core.collet_last_backend.restype = ctypes.c_char_p
        core.collet_array_destroy.argtypes = [ctypes.c_void_p]
        error = Error.Struct()
        self.runtime, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        if core.collet_runtime_create(ctypes.byref(self.runtime), None, ctypes.byref(error)):
            raise Error(error.text.decode())
        if core.collet_context_create(self.runtime, ctypes.byref(self.context), ctypes.byref(error)):
            raise Error(error.text.decode())
        self.check(core.collet_set_backend(self.context, backend.encode()))

    def check(self, status):
        """Raises the context's last error unless the status is COLLET_OK."""
        if status:
            raise Error(self.core.collet_last_error(self.context).decode())

    def finish(self):
        """Waits for the calls."""
        self.check(self.core.collet_finish(self.context))

    def last_backend(self):
        """The name of the backend that ran the last call."""
        return self.core.collet_last_backend(self.context).decode()

    def array(self, dtype, shape, data=None):
        """A new array, with these elements."""
        made = Array(self, dtype, shape)
        return made if data is None else made.write(data)

    def op(self, name, outs, ins, axes=None):
        """A function that calls the op. `axes` has the form of the axes in the op's parameter block."""
        number, error = ctypes.c_uint32(), Error.Struct()
        params = (ctypes.c_uint32 * 64)()
        if self.core.collet_ops_find(self.runtime, ctypes.byref(number), name.encode(), ctypes.byref(error)):
            raise Error(error.text.decode())
        if self.core.collet_ops_defaults(self.runtime, number, params, ctypes.c_size_t(ctypes.sizeof(params)), len(ins[0].shape) if ins else 0, ctypes.byref(error)):
            raise Error(error.text.decode())
        if axes is not None:
            params[1] = axes  # collet_reduce_params.axes, collet_fft_params.last_axes

        def handles(arrays):
            return (ctypes.c_void_p * max(1, len(arrays)))(
                *[a.handle.value if a else None for a in arrays])

        call, context, check = self.core.collet_call, self.context, self.check
        to, of = handles(outs), handles(ins)

        def run():
            status = call(context, number, to, of, params)
            if status:
                check(status)
        run.arrays = (outs, ins)  # keeps the arrays as long as the function exists
        return run
