# SPDX-License-Identifier: Apache-2.0
"""Error messages use the names of the Python interface, not the names of C functions and constants."""

import ctypes
import pathlib
import re

import numpy as np
import pytest

import collet
from collet import _core, op, scatter, ternary

ROOT = pathlib.Path(__file__).parents[2]
if not hasattr(np, "from_dlpack"):
    pytest.skip("this NumPy has no from_dlpack", allow_module_level=True)
X = collet.asarray(np.arange(6.0).reshape(2, 3))


class Tensor:
    """A tensor of DLPack whose elements have a code, bits and lanes that no array has."""

    def __init__(self, *dtype):
        self.dtype = bytes(dtype)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        capsule = np.zeros(4).__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
        ctypes.memmove(pointer(capsule, b"dltensor") + 20, self.dtype, len(self.dtype))
        return capsule


def written_while_lent():
    lent = X._capsule(None, True, True)  # while this tensor exists, nothing else may use the memory
    op.neg(X, out=X)
    del lent


def written_read_only(function):
    values = np.zeros(3)
    values.flags.writeable = False
    function(collet.asarray(values, copy=False))


WRONG = {
    "lent": written_while_lent,
    "read-only": lambda: written_read_only(lambda x: op.neg(x, out=x)),
    "read-only write": lambda: written_read_only(lambda x: x._write(bytes(24))),
    "bool tensor": lambda: collet.from_dlpack(Tensor(6, 16)),
    "int128 tensor": lambda: collet.from_dlpack(Tensor(0, 128)),
    "f128 tensor": lambda: collet.from_dlpack(Tensor(2, 128)),
    "bytes": lambda: X._write(b"12"),
    "backend": lambda: collet.set_backend("nothing"), "memory": lambda: collet.memory("nothing"),
    "peak": lambda: collet.reset_peak("nothing"), "auto": lambda: collet.memory("auto"),
    "reshape": lambda: X.reshape(4), "permute": lambda: X.transpose(0, 0),
    "slice": lambda: X._slice(0, 5, 1, 1), "broadcast": lambda: X.broadcast_to(5, 5),
    "extent": lambda: collet.empty(-1), "size": lambda: collet.empty((2**40, 2**40)),
    "vectors": lambda: collet.from_dlpack(Tensor(2, 16, 4)),
    "memory of an array": lambda: collet.zeros(2**55), "op": lambda: op.get("nothing"),
    "shapes": lambda: op.add(np.ones(2), np.ones(3)), "dtypes": lambda: op.exp(np.ones(2, "i4")),
    "format": lambda: op.ternary_pack(np.zeros((1, 4), "i1"), format=9),
    "mode": lambda: op.ternary_quantize(np.zeros((1, 4)), mode=9),
    "activations": lambda: op.ternary_linear(np.zeros((1, 4), "u1"), np.zeros((1, 4), "f4"),
                                             activations=9),
    "rows": lambda: op.ternary_unpack(np.zeros((64, 2), "u1").T),
    "weights": lambda: ternary.Weights.quantize(np.full((1, 4), np.nan)),
    "codes": lambda: ternary.Weights.from_codes(np.full((1, 4), 3, "i1")),
    "network": lambda: ternary.Network([]), "file": lambda: ternary.File("/nowhere/a.t2"),
    "columns": lambda: ternary.Network([ternary.Linear(ternary.Weights.quantize(np.ones((1, 4))))
                                        ])(np.ones(3)),
    "pattern": lambda: scatter.read_pattern("/nowhere", 285.0, (2, 2)),
    "timestamp": lambda: _core.timestamp("nothing"), "queue": lambda: _core.native_queue("nothing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_have_no_names_of_c(case):
    with pytest.raises((collet.Error, ValueError, BufferError)) as caught:
        WRONG[case]()
    text = str(caught.value)
    assert text and not re.search(r"collet_|COLLET_|->|\bNULL\b|type code", text), text


def test_what_they_say():
    for case, error, text in (
            ("lent", collet.BusyError, "in use outside of libcore.*another library as a tensor of DLPack"),
            ("read-only", collet.InvalidError, "wraps read-only memory"),
            ("bool tensor", collet.UnsupportedError, "the tensor is bool of 16 bits"),
            ("int128 tensor", collet.UnsupportedError, "int of 128 bits.*convert it"),
            ("rows", collet.InvalidError, "stride along the last axis of bytes .input 0. is 2"),
            ("format", collet.InvalidError, "format is 9; it must be 0 .t2. to 4 .tq1_0.")):
        with pytest.raises(error, match=text):
            WRONG[case]()
    with pytest.raises(AttributeError, match=r"has no op 'nosuch'; dir\(collet.op\) lists them"):
        op.nosuch
    for values in (np.array(["a"]), np.array([None])):
        with pytest.raises(collet.DtypeError, match="numbers are needed"):
            op.neg(values)
    with pytest.raises(collet.DtypeError, match="^add: a .input 0. is complex128, b .input 1. is float64;"):
        op.add(np.ones(2, "c16"), np.ones(2))


def test_texts_in_c():
    """Messages in C name a C function only at their start, before a colon. The extension removes this prefix."""
    settings = re.findall(r'"(COLLET_[A-Z_]+)"', (ROOT / "core/settings/config.h").read_text())
    settings += ["COLLET_MPI", "COLLET_HDF5"]  # a setting of programs, and an option of the build
    wrong = []
    for file in [*ROOT.glob("core/**/*.c"), *ROOT.glob("engines/**/*.c")]:
        # Leaves out files whose messages are for authors of plugins, for users of programs, or for C programs
        # (COLLET_LAYERS=programs).
        if {"plugins", "mpi", "written.c"} & set(file.parts):
            continue
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"/\*.*?\*/", "", file.read_text(),
                                                              flags=re.S)):
            rest = re.sub(r"^collet_\w+(: |$)", "", text)
            names = [n for n in re.findall(r"\b(?:collet_[a-z]|COLLET_[A-Z])\w*", rest)
                     if n not in settings]
            if names:
                wrong.append(f"{file.relative_to(ROOT)}: {text}")
    assert not wrong, wrong
