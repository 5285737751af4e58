# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_against.py
"""Collet, and the libraries that against.py compares with it. The libraries are called directly by ctypes. Each library
is a function of a job (the op, the shape and so on) and of the job's operands."""

import ctypes
import math
import os

import numpy as np
from collet_ctypes import Collet

KINDS = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128, "bf16": np.uint16, "i8": np.int8,
         "i32": np.int32}


# ---- Operands ------------------------------------------------------------------------------------

def updated(m, n):
    """The elements that elimination updates: the sum of (m - i)(n - i) over i < k."""
    k = min(m, n)
    return m * n * k - (m + n) * k * k / 2 + k ** 3 / 3


def layout(op, shape, dtype, axes):
    """(dtype, shape) of each output, of each input, and the number of operations, as backend-bench counts them."""
    info = ("i32", ())
    if op == "matmul":
        *batch, m, k, n = shape
        out = {"bf16": "f32", "i8": "i32"}.get(dtype, dtype)
        return [(out, (*batch, m, n))], [(dtype, (*batch, m, k)), (dtype, (*batch, k, n))], 2 * math.prod(shape)
    if op == "fft":
        half = {"f32": "c64", "f64": "c128"}.get(dtype)
        out = (*shape[:-1], shape[-1] // 2 + 1) if half else shape
        flops = (2.5 if half else 5) * math.prod(shape) * math.log2(math.prod(shape[-axes:]))
        return [(half or dtype, out)], [(dtype, shape)], flops
    if op == "solve":
        *batch, n, r = shape
        return ([(dtype, shape), ("i32", batch)], [(dtype, (*batch, n, n)), (dtype, shape)],
                math.prod(batch) * (2 * updated(n, n) + 2 * n * n * r))
    if op in ("eigh", "cholesky"):
        *batch, n = shape
        square, info = (dtype, (*shape, n)), ("i32", batch)
        outs = [square, info] if op == "cholesky" else [(dtype, shape), square, info]
        return outs, [square], math.prod(batch) * n ** 3 * (1 / 3 if op == "cholesky" else 9)
    *batch, m, n = shape
    k, info, count = min(m, n), ("i32", batch), math.prod(batch)
    left, right = (dtype, (*batch, m, k)), (dtype, (*batch, k, n))
    if op == "lu":
        return [("i32", (*batch, m)), left, right, info], [(dtype, shape)], count * 2 * updated(m, n)
    if op == "qr":
        return [left, right], [(dtype, shape)], count * 4 * (updated(m, n) + updated(m, k))
    return [left, (dtype, (*batch, k)), right, info], [(dtype, shape)], count * (14 * max(m, n) * k * k + 8 * k ** 3)


def operand(op, index, dtype, shape):
    """Numbers that are the same in every process: in [-1, 1), or for i8 in [-100, 100)."""
    generator = np.random.default_rng(index)
    x = generator.uniform(-1, 1, shape)
    if dtype[0] == "c":
        x = x + 1j * generator.uniform(-1, 1, shape)
    if op in ("eigh", "cholesky"):  # symmetric and positive definite
        x = x + np.swapaxes(x, -1, -2) + 4 * shape[-1] * np.eye(shape[-1])
    if dtype == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray((100 * x if dtype == "i8" else x).astype(KINDS[dtype]))


def digest(values):
    """Two numbers by which results are compared. The first is the root mean square of the values. The second is the sum
    of the values with pseudo-random signs, divided by the root of the count, so it depends on the order of the values.
    Differences are relative to the first number."""
    x = np.asarray(values).astype(np.complex128).reshape(-1).view(np.float64)
    signs = np.random.default_rng(0).integers(0, 2, x.size) * 2 - 1
    return [float(np.sqrt(np.mean(x * x))), float(np.sum(signs * x) / math.sqrt(x.size))]


def layout_of(job):
    return layout(job["op"], tuple(job["shape"]), job["dtype"], job["axes"])


def same_of(job):
    """The index of the output that is compared. None: LAPACK decomposes the transpose for this op, and the outputs of
    the transpose differ."""
    return {"matmul": 0, "fft": 0, "svd": 1, "eigh": 0}.get(job["op"])


# ---- Libraries: each returns a function that makes the call, a text on the library, and the output to compare -----

def load(job, *names):
    """The first of these libraries that exists on the system or in --libraries."""
    for name in names:
        try:
            return ctypes.CDLL(os.path.join(job["libraries"], name))
        except OSError as error:
            missing = error
    raise missing


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def collet(job, ins, outs):
    library = Collet(os.path.join(job["build"], "lib/libcollet-core.so"), job["backend"])
    made, given, _ = layout_of(job)
    outputs = [library.array(*out) for out in made]
    run = library.op(job["op"], outputs, [library.array(*like, x) for like, x in zip(given, ins)],
                     job["axes"] if job["op"] == "fft" else None)

    def call():
        run()
        library.finish()

    def result():
        out = outputs[same_of(job)]
        return np.frombuffer(out.read(), KINDS[out.dtype])
    call()
    return call, library.last_backend(), result


def product(function, integer, ins, outs):
    """cblas_?gemm of row-major matrices."""
    (m, k), n = ins[0].shape, ins[1].shape[1]
    real = ctypes.c_float if ins[0].dtype == np.float32 else ctypes.c_double
    given = [101, 111, 111, *map(integer, (m, n, k)), real(1), pointer(ins[0]), integer(k), pointer(ins[1]), integer(n), real(0),
             pointer(outs[0]), integer(n)]
    function.restype = None
    return lambda: function(*given)


def openblas(job, ins, outs):
    library = load(job, job["file"] or "libopenblas.so.0")
    prefix, suffix = next(((p, s) for p in ("", "scipy_") for s in ("", "64_") if hasattr(library, f"{p}openblas_get_config{s}")),
                          ("", ""))
    core, config = (getattr(library, f"{prefix}openblas_get_{what}{suffix}") for what in ("corename", "config"))
    core.restype = config.restype = ctypes.c_char_p
    core, wanted = core().decode(), os.environ.get("OPENBLAS_CORETYPE")
    if wanted and wanted.lower() != core.lower():
        raise OSError(f"it has no kernels for {wanted} and runs as {core}")
    letter = "s" if job["dtype"] == "f32" else "d"
    if job["op"] == "matmul":
        function = getattr(library, f"{prefix}cblas_{letter}gemm{suffix}")
        call = product(function, ctypes.c_int64 if suffix else ctypes.c_int, ins, outs)
    elif suffix:
        raise OSError("LAPACK with integers of 64 bits is not compared")
    else:
        call = lapack(library, prefix + letter, job["op"], ins[0], outs, *ins[1:])
    return call, f"core {core}, {config().decode()}", None


def lapack(library, prefix, op, matrix, outs, right=None):
    """Decompositions. LAPACK works in place, so a call first copies the input, as any caller must. LAPACK's matrices
    are column-major, and rows are passed as columns. So the routine decomposes the transpose, which takes the same
    number of operations."""
    m, n = matrix.shape
    k, most = min(m, n), max(m, n)
    a, tau, numbers = matrix.copy(), np.empty(most, matrix.dtype), np.empty(8 * most + 64, np.int32)
    work = np.empty(8 * most * most + 256 * most + 1024, matrix.dtype)  # enough for LAPACK with blocks of 64
    into = a

    def routine(name, *arguments):
        function, info = getattr(library, f"{prefix}{name}_"), ctypes.c_int()
        given = [ctypes.byref(ctypes.c_int(x)) if isinstance(x, int) else x if isinstance(x, bytes) else pointer(x)
                 for x in arguments]
        given += [ctypes.byref(info)] + [ctypes.c_size_t(1) for x in arguments if isinstance(x, bytes)]

        def call():
            function(*given)
            if info.value:
                raise ArithmeticError(f"{name} returned {info.value}")
        call.arguments = arguments  # keeps the arguments as long as the function exists
        return call
    if op == "lu":
        calls = [routine("getrf", m, n, a, m, numbers)]
    elif op == "solve":
        calls = [lambda: np.copyto(outs[0], right), routine("gesv", n, right.shape[1], a, n, numbers, outs[0], n)]
    elif op == "qr":
        calls = [routine("geqrf", m, n, a, m, tau, work, work.size), routine("orgqr", m, k, k, a, m, tau, work, work.size)]
    elif op == "svd":  # the transpose has the same singular values; U and V are exchanged
        calls = [routine("gesdd", b"S", n, m, a, n, outs[1], outs[2], n, outs[0], k, work, work.size, numbers)]
    elif op == "eigh":
        into = outs[1]  # the vectors overwrite the matrix
        calls = [routine("syevd", b"V", b"U", n, into, n, outs[0], work, work.size, numbers, numbers.size)]
    else:
        into = outs[0]
        calls = [routine("potrf", b"U", n, into, n)]

    def call():
        np.copyto(into, matrix)
        for step in calls:
            step()
    return call


def numpy_loop(_job, ins, outs):
    def call():
        outs[0], outs[1] = np.linalg.eigh(ins[0])
    return call, f"version {np.__version__}", None


def blis(job, ins, outs):
    library = load(job, "libblis.so.4")
    library.bli_init()  # otherwise arch_query_id aborts if BLIS_ARCH_TYPE is set
    library.bli_info_get_version_str.restype = library.bli_arch_string.restype = ctypes.c_char_p
    kernels = library.bli_arch_string(library.bli_arch_query_id()).decode()
    function = library.cblas_sgemm if job["dtype"] == "f32" else library.cblas_dgemm
    text = f"version {library.bli_info_get_version_str().decode()}, kernels {kernels}"
    return product(function, ctypes.c_int, ins, outs), text, None


def good(status):
    if status:
        raise OSError("it does not support this product")


def onednn(job, ins, outs):
    library = load(job, "libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2")
    library.dnnl_version.restype = ctypes.POINTER(ctypes.c_int * 3)
    version = list(library.dnnl_version().contents)
    text = "version {}.{}.{}, instruction set 0x{:x}".format(*version, library.dnnl_get_effective_cpu_isa())
    if job["dtype"] == "f32":
        (m, k), n = ins[0].shape, ins[1].shape[1]
        m, n, k = map(ctypes.c_int64, (m, n, k))
        given = [ctypes.c_char(b"N"), ctypes.c_char(b"N"), m, n, k, ctypes.c_float(1), pointer(ins[0]), k, pointer(ins[1]), n,
                 ctypes.c_float(0), pointer(outs[0]), n]
        return lambda: good(library.dnnl_sgemm(*given)), text, None
    return primitive(library, version[0], ins, outs), text, None


class Argument(ctypes.Structure):
    """dnnl_exec_arg_t"""
    _fields_ = [("which", ctypes.c_int), ("memory", ctypes.c_void_p)]


def primitive(dnnl, major, ins, outs):
    """The matmul primitive of oneDNN 2 or 3. The numbers are constants of dnnl_types.h, equal in both versions."""
    dtypes = {np.dtype(np.uint16): 2, np.dtype(np.float32): 3, np.dtype(np.int32): 4, np.dtype(np.int8): 5}
    size = 8192  # bytes; descriptions of version 2 are smaller
    engine, stream, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    plan, arguments, descriptions = ctypes.c_void_p(), (Argument * 3)(), []
    good(dnnl.dnnl_engine_create(ctypes.byref(engine), 1, ctypes.c_size_t(0)))
    good(dnnl.dnnl_stream_create(ctypes.byref(stream), engine, 1))
    for place, (which, array) in enumerate(((17, outs[0]), (1, ins[0]), (33, ins[1]))):  # target, source, weights
        dims, memory = (ctypes.c_int64 * 12)(*array.shape), ctypes.c_void_p()
        if major > 2:
            description = ctypes.c_void_p()
            good(dnnl.dnnl_memory_desc_create_with_tag(ctypes.byref(description), 2, dims, dtypes[array.dtype], 3))
        else:
            description = ctypes.create_string_buffer(size)
            good(dnnl.dnnl_memory_desc_init_by_tag(description, 2, dims, dtypes[array.dtype], 3))
        descriptions.append(description)
        good(dnnl.dnnl_memory_create(ctypes.byref(memory), description, engine, pointer(array)))
        arguments[place].which, arguments[place].memory = which, memory
    target, source, weights = descriptions
    if major > 2:
        good(dnnl.dnnl_matmul_primitive_desc_create(ctypes.byref(plan), engine, source, weights, None, target, None))
    else:
        description = ctypes.create_string_buffer(size)
        good(dnnl.dnnl_matmul_desc_init(description, source, weights, None, target))
        good(dnnl.dnnl_primitive_desc_create(ctypes.byref(plan), description, None, engine, None))
    good(dnnl.dnnl_primitive_create(ctypes.byref(made), plan))

    def call():
        good(dnnl.dnnl_primitive_execute(made, stream, 3, arguments))
        good(dnnl.dnnl_stream_wait(stream))
    return call


def fftw(job, ins, outs):
    wide, rank = job["dtype"] in ("f64", "c128"), job["axes"]
    name, prefix = ("libfftw3", "fftw_") if wide else ("libfftw3f", "fftwf_")
    plain, threads = load(job, name + ".so.3"), load(job, name + "_threads.so.3")
    getattr(threads, prefix + "init_threads")()
    getattr(threads, prefix + "plan_with_nthreads")(job["threads"])
    n, saved = ins[0].shape[-rank:], ins[0].copy()
    is_complex = ins[0].dtype.kind == "c"
    make = getattr(plain, prefix + ("plan_many_dft" if is_complex else "plan_many_dft_r2c"))
    make.restype = ctypes.c_void_p
    plan = make(rank, (ctypes.c_int * rank)(*n), ins[0].size // math.prod(n), pointer(ins[0]), None, 1, math.prod(n),
                pointer(outs[0]), None, 1, math.prod(outs[0].shape[-rank:]), *([-1] if is_complex else []), 0)
    if not plan:
        raise OSError("it does not support this plan")
    np.copyto(ins[0], saved)  # planning by measuring has overwritten it
    execute, plan = getattr(plain, prefix + "execute"), ctypes.c_void_p(plan)
    version = (ctypes.c_char * 64).in_dll(plain, prefix + "version").value.decode()
    return lambda: execute(plan), f"{version}, FFTW_MEASURE", None


def supports(*features):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        words = set(file.read().split())
    return words.issuperset(features)


AVX2, AVX512 = ("avx2", "fma"), ("avx512vl", "avx512dq", "avx512bw")
BF16 = (*AVX512, "avx512_bf16")
SOLVERS = "lu solve qr svd eigh cholesky"
# Ops and dtypes; the variable that chooses kernels; its values with the processor's features and the level of x86-64.
LIBRARIES = {
    "openblas": (openblas, {op: "f32 f64" for op in ["matmul", *SOLVERS.split()]}, "OPENBLAS_CORETYPE",
                 [("Nehalem", (), 2), ("Haswell", AVX2, 3), ("Zen", (*AVX2, "AuthenticAMD"), 3), ("SkylakeX", AVX512, 4),
                  ("Cooperlake", BF16, 4)]),
    # BLIS 0.9 treats some processors with AVX-512 as Haswell, which has the number 3 in BLIS.
    "blis": (blis, {"matmul": "f32 f64"}, "BLIS_ARCH_TYPE", [("3", AVX2, 3), ("0", AVX512, 4)]),
    "onednn": (onednn, {"matmul": "f32 bf16 i8"}, "DNNL_MAX_CPU_ISA",
               [("SSE41", (), 2), ("AVX2", AVX2, 3), ("AVX512_CORE_BF16", BF16, 4)]),
    "fftw": (fftw, {"fft": "f32 f64 c64 c128"}, None, []),
    "numpy": (numpy_loop, {"eigh": "f32 f64"}, None, [])}


def references(job, limit, builds):
    """(library, setting, file, threads) of each process to compare with. Kernels for SSE are far slower than others, so
    they are measured only if Collet is limited to the same level."""
    batch = len(job["shape"]) > {"matmul": 3, "eigh": 1, "cholesky": 1}.get(job["op"], 2)
    for name, (_, offers, variable, values) in LIBRARIES.items():
        if job["dtype"] not in offers.get(job["op"], "").split() or (job["op"] != "fft" and batch != (name == "numpy")):
            continue
        settings = [value for value, features, level in values
                    if level <= limit and (level != 2 or limit == 2) and supports(*features)]
        for file in [None, *(builds if name == "openblas" else [])]:
            for setting in ([None] if limit == 4 or not variable else []) + settings:
                yield name, setting, file, job["threads"]
        if name == "fftw" and job["threads"] > 1:
            yield name, "1 thread", None, 1
