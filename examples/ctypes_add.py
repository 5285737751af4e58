# SPDX-License-Identifier: Apache-2.0
"""Adds two arrays on any backend. Calls libcore by Python's ctypes, without the package collet.

python3 ctypes_add.py [path of libcollet-core.so]
"""
import ctypes
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

F32 = 3  # COLLET_F32 of collet/types.h
ADD = 3  # COLLET_OP_ADD: its id in collet/ops/elementwise.def
Numbers = ctypes.c_float * 3


class Error(ctypes.Structure):  # collet_error
    _fields_ = [("status", c_int32), ("text", c_char * 1020)]


core = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libcollet-core.so.0")


def declare(name, result, *arguments):
    """Without declarations ctypes would pass every pointer as a C int."""
    function = getattr(core, name)
    function.restype = result
    function.argtypes = arguments
    return function


runtime_create = declare("collet_runtime_create", c_int32, POINTER(c_void_p), c_void_p,
                         POINTER(Error))
runtime_destroy = declare("collet_runtime_destroy", None, c_void_p)
context_create = declare("collet_context_create", c_int32, c_void_p, POINTER(c_void_p),
                         POINTER(Error))
context_destroy = declare("collet_context_destroy", None, c_void_p)
last_error = declare("collet_last_error", c_char_p, c_void_p)
last_backend = declare("collet_last_backend", c_char_p, c_void_p)
array_from = declare("collet_array_from", c_int32, c_void_p, POINTER(c_void_p), c_int32, c_int32,
                     POINTER(c_int64), c_void_p)
array_read = declare("collet_array_read", c_int32, c_void_p, c_void_p, c_void_p, c_size_t)
array_destroy = declare("collet_array_destroy", None, c_void_p)
call = declare("collet_call", c_int32, c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_void_p),
               c_void_p)

runtime, context, err = c_void_p(), c_void_p(), Error()
if runtime_create(byref(runtime), None, byref(err)):
    sys.exit(err.text.decode())
if context_create(runtime, byref(context), byref(err)):
    sys.exit(err.text.decode())


def check(status):
    """Ends the program with the error's text, which the context keeps, if a function has failed."""
    if status:
        sys.exit(last_error(context).decode())


def array(*numbers):
    made = c_void_p()
    check(array_from(context, byref(made), F32, 1, (c_int64 * 1)(3), Numbers(*numbers)))
    return made


a, b = array(1, 2, 3), array(10, 20, 30)
check(call(context, ADD, (c_void_p * 1)(a), (c_void_p * 2)(a, b), None))  # outputs, inputs
sums = Numbers()
check(array_read(context, a, sums, ctypes.sizeof(sums)))
print(*sums, "by", last_backend(context).decode())

array_destroy(a)
array_destroy(b)
context_destroy(context)
runtime_destroy(runtime)
