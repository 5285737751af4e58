#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a new process needs until its first kernel has run, with warm caches.

    opencl_start.py [--library build/lib/libcollet-core.so] [--rounds 9] [--json]

Two programs take turns, each run in a new process: Collet's backend opencl, and the same steps through the OpenCL API
alone, with clCreateProgramWithBinary. No build and no test runs this script. It needs Python 3. Times are in
milliseconds, from the search for a device to the end of the first kernel, without the loading of libraries. The first
round fills the caches and does not count.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

COUNT = 1024
F32 = 3  # COLLET_F32
ADD = 3  # COLLET_OP_ADD
SOURCE = b"__kernel void sum(__global float *y, __global const float *a, __global const float *b)" \
         b" { y[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)]; }"
DEVICE_TYPE_ALL = 0xFFFFFFFF
MEM_READ_WRITE = 1
PROGRAM_BINARY_SIZES = 0x1165
PROGRAM_BINARIES = 0x1166


def handle(library, name, *arguments):
    """Calls a function that returns a handle, and whose last argument receives the error."""
    error = ctypes.c_int(0)
    function = getattr(library, name)
    function.restype = ctypes.c_void_p
    result = function(*arguments, ctypes.byref(error))
    if error.value != 0:
        sys.exit(f"opencl_start.py: {name}: error {error.value}")
    return ctypes.c_void_p(result)


def check(name, error):
    if error != 0:
        sys.exit(f"opencl_start.py: {name}: error {error}")


def device_of(library):
    """The first device of the first platform that has a device."""
    count = ctypes.c_uint(0)
    check("clGetPlatformIDs", library.clGetPlatformIDs(0, None, ctypes.byref(count)))
    platforms = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count, platforms, None)
    device = ctypes.c_void_p()
    for platform in platforms:
        if library.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_uint64(DEVICE_TYPE_ALL), 1,
                                  ctypes.byref(device), None) == 0:
            return device
    sys.exit("opencl_start.py: no OpenCL device")


def binary_of(library, program):
    size = ctypes.c_size_t(0)
    check("clGetProgramInfo", library.clGetProgramInfo(program, PROGRAM_BINARY_SIZES, 8,
                                                       ctypes.byref(size), None))
    room = ctypes.create_string_buffer(size.value)
    pointer = ctypes.c_void_p(ctypes.addressof(room))
    check("clGetProgramInfo", library.clGetProgramInfo(program, PROGRAM_BINARIES, 8,
                                                       ctypes.byref(pointer), None))
    return room.raw


def program_of(library, context, device, path):
    """Makes the program from the binary at `path`, or from the source if that file does not exist yet."""
    if not os.path.exists(path):
        text = ctypes.c_char_p(SOURCE)
        program = handle(library, "clCreateProgramWithSource", context, 1, ctypes.byref(text), None)
    else:
        with open(path, "rb") as file:
            binary = file.read()
        size, bytes_of = ctypes.c_size_t(len(binary)), ctypes.c_char_p(binary)
        program = handle(library, "clCreateProgramWithBinary", context, 1, ctypes.byref(device),
                         ctypes.byref(size), ctypes.byref(bytes_of), None)
    check("clBuildProgram", library.clBuildProgram(program, 1, ctypes.byref(device), None, None,
                                                   None))
    return program


def bare(path):
    """The seconds that a start through the API alone takes. Writes the binary if it does not exist."""
    library = ctypes.CDLL("libOpenCL.so.1")
    begin = time.perf_counter()
    device = device_of(library)
    context = handle(library, "clCreateContext", None, 1, ctypes.byref(device), None, None)
    queue = handle(library, "clCreateCommandQueue", context, device, ctypes.c_uint64(0))
    program = program_of(library, context, device, path)
    kernel = handle(library, "clCreateKernel", program, b"sum")
    for index in range(3):
        buffer = handle(library, "clCreateBuffer", context, ctypes.c_uint64(MEM_READ_WRITE),
                        ctypes.c_size_t(4 * COUNT), None)
        check("clSetKernelArg", library.clSetKernelArg(kernel, index, ctypes.c_size_t(8),
                                                       ctypes.byref(buffer)))
    extent = ctypes.c_size_t(COUNT)
    check("clEnqueueNDRangeKernel",
          library.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(extent), None, 0,
                                         None, None))
    check("clFinish", library.clFinish(queue))
    seconds = time.perf_counter() - begin
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(binary_of(library, program))
    return seconds


def collet(path):
    """The seconds that a start of Collet takes, from the choice of the backend on."""
    library = ctypes.CDLL(path)
    library.collet_last_error.restype = ctypes.c_char_p
    runtime, context = ctypes.c_void_p(), ctypes.c_void_p()
    check("collet_runtime_create", library.collet_runtime_create(ctypes.byref(runtime), None, None))
    check("collet_context_create",
          library.collet_context_create(runtime, ctypes.byref(context), None))

    def call(name, *arguments):
        if getattr(library, name)(context, *arguments) != 0:
            sys.exit(f"opencl_start.py: {name}: {library.collet_last_error(context).decode()}")

    shape = (ctypes.c_int64 * 1)(COUNT)
    begin = time.perf_counter()
    call("collet_set_backend", b"opencl")
    arrays = [ctypes.c_void_p() for _ in range(3)]
    for array in arrays:
        call("collet_array_create", ctypes.byref(array), F32, 1, shape)
    call("collet_call", ADD, (ctypes.c_void_p * 1)(arrays[0]), (ctypes.c_void_p * 2)(*arrays[1:]), None)
    call("collet_finish")
    return time.perf_counter() - begin


def child(kind, path):
    run = subprocess.run([sys.executable, __file__, "--child", kind, path], stdout=subprocess.PIPE,
                         check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return 1e3 * float(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default="build/lib/libcollet-core.so")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, path = options.child
        print(bare(path) if kind == "bare" else collet(path))
        return
    figures = {"bare": [], "collet": []}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(options.rounds + 1):
            for kind, times in figures.items():
                path = os.path.join(directory, "binary") if kind == "bare" else options.library
                took = child(kind, path)
                if number > 0:
                    times.append(took)
    report = {kind: {"median_ms": statistics.median(times), "min_ms": min(times),
                     "max_ms": max(times)} for kind, times in figures.items()}
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        for kind, figure in report.items():
            print(f"{kind:7} median {figure['median_ms']:.2f} ms, "
                  f"{figure['min_ms']:.2f} to {figure['max_ms']:.2f}")


if __name__ == "__main__":
    main()
