# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_stubs.py
"""stubs.py DIRECTORY LIST: writes the stubs of collet.functions, fft, linalg and of the elementwise functions there.

Names, parameters and defaults are read from the sources, elementwise functions from LIST, collet/ops/elementwise.def.
The tables below add the types: of parameters by the name of the parameter, of results by the name of the function.
"""

import ast
import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).parent / "collet"

# The parameters of each type: `function.name` is a parameter of one function, `name` of all others. If the default is
# None, `| None` is added.
TYPES = {
    "Any": "constant_values histogram.bins histogram2d.bins histogram2d.range ord pad_width cond.p",
    "_Operand": "A a a1 a2 append ar1 ar2 arr arrays b bins f fp indices p prepend q rtol sorter v values weights x x1 x2 xp y",
    "bool": "bias compute_uv copy density descending digitize.right endpoint equal_nan full_matrices include_initial invert "
            "keepdims lower returned rowvar stable unit_diagonal upper",
    "complex": "fill_value start step stop",
    "complex | _Operand": "linspace.start linspace.stop",
    "float": "allclose.rtol atol correction d ddof discont dx isclose.rtol left nan neginf period posinf rcond right",
    "float | Sequence[float]": "nanpercentile.q nanquantile.q",
    "float | _Operand": "default varargs",
    "int": "axis axis1 axis2 cov.ddof edge_order ind k minlength n n_cols n_rows num offset",
    "int | Sequence[int]": "all.axis any.axis average.axis count_nonzero.axis destination expand_dims.axis fftshift.axes "
                           "flip.axis gradient.axis ifftshift.axes indices_or_sections kth max.axis mean.axis median.axis "
                           "min.axis nanmax.axis nanmean.axis nanmedian.axis nanmin.axis nanpercentile.axis nanprod.axis "
                           "nanquantile.axis nanstd.axis nansum.axis nanvar.axis norm.axis percentile.axis prod.axis "
                           "ptp.axis quantile.axis repetitions roll.axis shape shift sliding_window_view.axis source "
                           "squeeze.axis std.axis sum.axis tensorsolve.axes var.axis vector_norm.axis window_shape",
    "int | Sequence[int] | slice | _Operand": "obj",
    "int | _Operand": "repeats",
    "int | str": "trans",
    "int | tuple[Sequence[int], Sequence[int]]": "tensordot.axes",
    "npt.DTypeLike": "dtype",
    "Sequence[int]": "axes eigh.subset_by_index s shapes",
    "Sequence[int] | None": "fft2.axes ifft2.axes irfft2.axes rfft2.axes",
    "Sequence[_Operand]": "choicelist column_stack.tup condlist",
    "str | _Operand": "eigh.b eigvalsh.b",
    "str": "UPLO device indexing method mode norm side subscripts",
    "tuple[float, float]": "histogram.range",
}
TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names.split()}
# Parameters whose type depends on the other arguments: the type if one of them is an Array, and the type if none is.
TYPES_OF_BOTH = {"out": ("Array", "_Result"), "min": ("_Operand", "npt.ArrayLike"), "max": ("_Operand", "npt.ArrayLike")}

# Parameters that are a sequence or tuple of Arrays.
HOLDERS = {"arrays": "Sequence[%s]", "c_and_lower": "tuple[%s, bool]", "lu_and_piv": "tuple[%s, %s]", "tup": "Sequence[%s]"}

# The type of each result if an argument is an Array, and if none is; "": the same for all arguments.
RESULTS = {
    ("Array", ""): "arange eye fftfreq linspace rfftfreq",
    ("Array", "Any"): "all any append argmax argmin cho_solve column_stack concat cond convolve count_nonzero delete det "
                      "dot einsum hstack inner interp intersect1d lu_solve matmul matrix_norm matrix_rank max mean median "
                      "min multi_dot nanargmax nanargmin nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile "
                      "nanstd nansum nanvar norm percentile prod ptp quantile setdiff1d stack std sum take tensordot trace "
                      "trapezoid union1d unwrap var vdot vecdot vector_norm vstack",
    ("Any", ""): "atleast_1d atleast_2d average gradient select",
    ("EigResult[Array]", "EigResult[_Result]"): "eig",
    ("EighResult[Array]", "EighResult[_Result]"): "eigh",
    ("LstsqResult[Array]", "LstsqResult[_Result]"): "lstsq",
    ("LUResult[Array]", "LUResult[_Result]"): "lu",
    ("SlogdetResult[Array]", "SlogdetResult[Any]"): "slogdet",
    ("_UniqueAllResult[Array]", "_UniqueAllResult[_Result]"): "unique_all",
    ("_UniqueCountsResult[Array]", "_UniqueCountsResult[_Result]"): "unique_counts",
    ("_UniqueInverseResult[Array]", "_UniqueInverseResult[_Result]"): "unique_inverse",
    ("bool", ""): "allclose array_equal",
    ("list[Array]", "list[_Result]"): "split",
    ("tuple[Any, _Result, _Result]", ""): "histogram2d",
    ("tuple[Array, ...]", "tuple[Any, ...]"): "broadcast_arrays meshgrid",
    ("tuple[Array, ...]", "tuple[_Result, ...]"): "nonzero unstack",
    ("tuple[Array, Array]", "tuple[_Result, _Result]"): "histogram lu_factor",
    ("tuple[Array, bool]", "tuple[_Result, bool]"): "cho_factor",
    ("tuple[int, ...]", ""): "broadcast_shapes",
}
RESULTS_OF = {name: results for results, names in RESULTS.items() for name in names.split()}
# Functions of `a` whose result depends on an option: the other parameters, and the result.
OPTIONS = {
    "qr": {"mode: Literal['reduced', 'complete'] = 'reduced'": "QRResult[%s]", "mode: Literal['r']": "%s"},
    "svd": {"full_matrices: bool = True, compute_uv: Literal[True] = True": "SVDResult[%s]",
            "full_matrices: bool = True, *, compute_uv: Literal[False]": "%s",
            "full_matrices: bool, compute_uv: Literal[False]": "%s"},
}

HEAD = '''# Made by python/stubs.py.
from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
%s
_Operand: TypeAlias = Array | npt.ArrayLike
_Result: TypeAlias = npt.NDArray[Any]
_A = TypeVar("_A")
'''


def members(path):
    return ast.parse((PACKAGE / path).read_text()).body


def parameters(name, arguments, given, with_array):
    """The parameters with their types; given: the types of the parameters that determine the result's type."""
    def typed(argument, default):
        key, value = argument.arg, default and ast.unparse(default)
        if key in given:
            return f"{key}: {given[key]}"
        if key in TYPES_OF_BOTH:
            kind = TYPES_OF_BOTH[key][not with_array]
        else:
            kind = TYPE_OF.get(f"{name}.{key}") or TYPE_OF.get(key)
        if not kind:
            sys.exit(f"stubs.py: the parameter {key} of {name} has no type: add it to TYPES")
        kind += " | None" if value == "None" and kind != "Any" else ""
        return f"{key}: {kind}" + (f" = {value}" if default else "")

    plain = [*arguments.posonlyargs, *arguments.args]
    words = list(map(typed, plain, [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults))
    if arguments.posonlyargs:
        words.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg or arguments.kwonlyargs:
        words.append("*" + (typed(arguments.vararg, None) if arguments.vararg else ""))
    return ", ".join(words + list(map(typed, arguments.kwonlyargs, arguments.kw_defaults)))


def function(name, arguments):
    """The stub of a function: an overload for each parameter that may be the first Array, and one without an Array."""
    if name in OPTIONS:
        return "".join(f"@overload\ndef {name}(a: {kind}, {others}) -> {result % made}: ...\n"
                       for kind, made in (("Array", "Array"), ("npt.ArrayLike", "_Result")) for others, result in OPTIONS[name].items())
    array, other = RESULTS_OF.get(name, ("Array", "_Result"))
    if not other:
        return f"def {name}({parameters(name, arguments, {}, True)}) -> {array}: ...\n"
    plain = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    required = plain[:len(plain) - len(arguments.defaults)]
    several = [["condition", "x1", "x2"], ["x1", "x2", "x3"], ["x1", "x2"], ["a", "b"]]
    deciding = next((names for names in several if required[:len(names)] == names), plain[:1])
    if arguments.vararg or plain[0] in HOLDERS:
        deciding = [arguments.vararg.arg if arguments.vararg else plain[0]]
        kind = "%s" if arguments.vararg else HOLDERS[plain[0]]
        choices = [{deciding[0]: kind.replace("%s", item)} for item in ("Array", "_Operand")]
    else:
        choices = [{key: "npt.ArrayLike" if i < first else "Array" if i == first else "_Operand"
                    for i, key in enumerate(deciding)} for first in range(len(deciding) + 1)]
    return "".join(f"@overload\ndef {name}({parameters(name, arguments, given, given is not choices[-1])}) -> "
                   f"{other if given is choices[-1] else array}: ...\n" for given in choices)


def functions(body, names=None, private=""):
    """The stubs of all named tuples of a module, and of its functions: of the functions `names`, or of all public
    functions."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and (node.name in names if names else node.name[0] != "_"):
            yield function(node.name, node.args)
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("namedtuple("):
            fields = node.value.args[1].value.split()
            yield f"class {private}{node.targets[0].id}(NamedTuple, Generic[_A]):\n" + "".join(
                f"    {field}: _A\n" for field in fields)


def imports(path):
    """The imports of a module from modules of its folder: [(module, names)]."""
    return [(node.module, [a.name for a in node.names]) for node in members(path)
            if isinstance(node, ast.ImportFrom) and node.level == 1]


def composed():
    """collet.functions: what its __init__.py and _primitives.py import."""
    yield HEAD % "\nfrom .._standard.array import Array\n"
    for start in ("functions/__init__.py", "functions/_primitives.py"):
        for module, names in imports(start):
            if names != ["*"]:
                yield from functions(members(f"functions/{module}.py"), names, "_")


def elementwise():
    """The elementwise functions, which elementwise.py makes at run time from the list of ops, and the
    dtypes."""
    yield HEAD % "\nfrom .array import Array\n"
    tables = {node.targets[0].id: node.value for file in ("elementwise", "names") for node in members(f"_array/{file}.py")
              if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)}
    called = {op: name for name, op in ast.literal_eval(tables["_OPS"]).items()}
    ops = re.findall(r"^COLLET_ELEMENTWISE\([A-Z0-9_]+, [0-9]+, (\w+), ([1-3])", pathlib.Path(sys.argv[2]).read_text(), re.MULTILINE)
    for op, inputs in [*ops, ("copy", "1")]:
        words = {"clip": "x, /, min=None, max=None", "where": "condition, x1, x2, /"}.get(
            op, ("x", "x1, x2", "x1, x2, x3")[int(inputs) - 1] + ", /")
        name = called.get(op, op)
        yield function(name, ast.parse(f"def f({words}, *, out=None): ...").body[0].args)
    for dtype in sorted({dtype for kind in ast.literal_eval(tables["_KINDS"]).values() for dtype in kind}, key=len):
        yield f"{dtype}: np.dtype[{'Any' if dtype == 'bfloat16' else 'np.' + dtype}]\n"


def linalg():
    """collet.linalg: what its __init__.py and _primitives.py import."""
    body = members("linalg/__init__.py")
    listed = {node.value for node in ast.walk(body[-1]) if isinstance(node, ast.Constant)}  # by its __dir__
    [shared] = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "functions"]
    shared = [f"{a.name} as {a.name}" for a in shared.names if a.name in listed]
    yield HEAD % ("from numpy.linalg import LinAlgError as LinAlgError\n\nfrom .._standard.array import Array\n"
                  f"from ..functions import {', '.join(shared)}\n")
    for start in ("linalg/__init__.py", "linalg/_primitives.py"):
        for module, names in imports(start):
            if names != ["*"]:
                yield from functions(members(f"linalg/{module}.py"), names)


def fft():
    yield HEAD % "\nfrom ._standard.array import Array\n"
    yield from functions(members("fft.py"))


for path, parts in {"functions/__init__.pyi": composed(), "fft.pyi": fft(), "linalg/__init__.pyi": linalg(),
                    "_standard/typed.pyi": elementwise()}.items():
    stub = pathlib.Path(sys.argv[1], path)
    stub.unlink(missing_ok=True)
    stub.write_text("".join(parts))
