# SPDX-License-Identifier: Apache-2.0
"""programs_calls.py LIBCORE PLUGINS HEADERS: passes a destroyed object to every object parameter of every public
function. With COLLET_LAYERS=programs the error names the object."""
import ctypes
import glob
import os
import re
import sys
import tempfile

LIBCORE, PLUGINS, HEADERS = sys.argv[1:]
core = ctypes.CDLL(LIBCORE)
for getter in "collet_last_error", "collet_status_name":
    getattr(core, getter).restype = ctypes.c_char_p
pointer, u32, i64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int64
OBJECTS = "runtime", "context", "array", "expression", "timestamp", "pinned", "recording"


class Options(ctypes.Structure):
    _fields_ = [("struct_size", u32), ("reserved", u32), ("plugin_path", ctypes.c_char_p),
                ("config_file", ctypes.c_char_p), ("backend", ctypes.c_char_p), ("log", pointer),
                ("log_user", pointer), ("settings", pointer), ("defaults", pointer)]


def functions():
    """(name, parameters) of each declaration. Each parameter is a pair (type, name)."""
    for path in sorted(glob.glob(HEADERS + "/*.h")):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        found = re.findall(r"COLLET_API\s[^;(]*?\b(collet_\w+)\s*\(([^;]*?)\)[\sA-Z_0-9(),]*;", text)
        declared = len(re.findall(r"^ *COLLET_API\s", text, flags=re.M))
        assert len(found) == declared, "%s: %d of %d declarations" % (path, len(found), declared)
        for name, parameters in found:
            parameters = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"*\1", " ".join(parameters.split()))
            yield name, [re.fullmatch(r"(.*?)(\w*)", p.strip()).groups() for p in parameters.split(",")]


def made(function, *arguments):
    out, error = pointer(), ctypes.create_string_buffer(4096)
    arguments = [out_of(a, out, error) for a in arguments]
    status = function(*arguments)
    assert status == 0, (function.__name__, status, error.raw[4:200])
    return out


def out_of(argument, out, error):
    return {"out": ctypes.byref(out), "error": error}.get(argument, argument) \
        if isinstance(argument, str) else argument


def recording_of(cx):
    """A complete recording with one input."""
    recording, value = made(core.collet_recording_create, cx, "out"), u32()
    made(core.collet_recording_input, cx, recording, ctypes.byref(value), u32(F32), 0, None)
    made(core.collet_recording_call, cx, recording, ctypes.byref(value), u32(ADD), (u32 * 2)(0, 0), None, None)
    made(core.collet_recording_complete, cx, recording, ctypes.byref(value), u32(1))
    return recording


def objects(rt):
    """One object of each kind; the "runtime" is a new one, not `rt`."""
    cx = made(core.collet_context_create, rt, "out", "error")
    return {"runtime": made(core.collet_runtime_create, "out", ctypes.byref(options), "error"),
            "context": made(core.collet_context_create, rt, "out", "error"),
            "array": made(core.collet_array_create, cx, "out", u32(F32), 0, None),
            "recording": recording_of(cx),
            "expression": made(core.collet_expression_parse, "out", b"2*x", "error"),
            "timestamp": made(core.collet_timestamp_take, cx, "out", None),
            "pinned": made(core.collet_pinned_create, cx, "out", ctypes.byref(pointer()), b"remote", 64)}


def argument(kind, name, value):
    """The C argument for a parameter of type `kind`. `value`: the object to pass, or None: any valid argument."""
    if value is not None:
        if "argument" in kind:  # name, array, spec, number
            return (ctypes.c_uint64 * 16)(0, value.value)
        return (pointer * 8)(value) if kind.count("*") == 2 else value
    if "*" in kind:
        return ctypes.create_string_buffer(4096)
    return ctypes.c_double(0) if "double" in kind else i64(ADD if name == "op" else name == "count")


def object_of(kind, name):
    """The kind of object that the parameter takes, or None."""
    if "collet_argument" in kind or (kind == "collet_array **" and name == "outs"):
        return "array"
    found = re.match(r"(?:const )?collet_(\w+) \*(const \*)?$", kind)
    return found[1] if found and found[1] in OBJECTS else None


F32 = 3
options = Options(struct_size=ctypes.sizeof(Options), plugin_path=PLUGINS.encode())
runtime = made(core.collet_runtime_create, "out", ctypes.byref(options), "error")
op = u32()
assert core.collet_ops_find(runtime, ctypes.byref(op), b"add", None) == 0
ADD = op.value
living, dead = objects(runtime), objects(runtime)
for kind in OBJECTS:
    getattr(core, "collet_%s_destroy" % kind)(dead[kind])

messages = tempfile.TemporaryFile()
os.dup2(messages.fileno(), 2)
sys.stderr = sys.stdout
wrong, count = [], 0
for name, parameters in functions():
    kinds = [object_of(*p) for p in parameters]
    for i, kind in enumerate(kinds):
        if not kind:
            continue
        print(name, *parameters[i], flush=True)  # the last line before a crash
        values = [(dead if k == i else living)[other] if other else None for k, other in enumerate(kinds)]
        messages.truncate(0)
        messages.seek(0)
        getattr(core, name)(*[argument(*p, v) for p, v in zip(parameters, values)])
        messages.seek(0)
        text = messages.read().decode()
        count += 1
        if "programs: %s (called" % name not in text or ": %s " % kind.replace("pinned", "page-locked memory") not in text:
            wrong.append("%s: %s %s: %r" % (name, *parameters[i], text))
for line in wrong:
    print("NOT NAMED:", line)
sys.exit(1 if wrong or count < 100 else 0)
