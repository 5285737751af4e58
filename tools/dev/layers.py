#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py [DIRECTORY]: checks the layers of the Python package, which python/layers.txt lists from the lowest on.

Each module of python/collet is in one layer and imports nothing from a higher layer. The rule includes imports in
functions, by importlib and by sys.modules. Code under TYPE_CHECKING never runs and is not checked. The package itself,
__init__.py, may import every module. A C file of the extension may import what the layer of its folder may import.
Exit status: 0 without faults, else 1."""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]) / "python"
LAYERS = [line.split() for line in (ROOT / "layers.txt").read_text().splitlines() if not line.startswith("#")]
RANKS = {name: rank for rank, (_, *names) in enumerate(LAYERS) for name in names}
FILES = {path.relative_to(ROOT / "collet").with_suffix("").as_posix(): path for path in (ROOT / "collet").rglob("*.py")}
CALLS = {"import_module", "importlib.import_module", "__import__", "sys.modules.get"}
faults = [f"layers.txt has {name} twice" for name in RANKS if sum(name in names for _, *names in LAYERS) > 1]


def rank(name):
    """The rank of a module of the package, given as a/b; None if no layer has the module."""
    return RANKS.get(name, RANKS.get(name.partition("/")[0] + "/"))


def is_type_checking(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def nodes(node):
    """Yields the node, and all nodes inside it whose code can run."""
    yield node
    for child in node.orelse if is_type_checking(node) else ast.iter_child_nodes(node):
        yield from nodes(child)


def start(node, package):
    """The beginning of a module's name in a call, as far as the text shows it; "collet" if it shows nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        dots = len(node.value) - len(node.value.lstrip("."))
        return ".".join(package[:len(package) - dots + 1]) + node.value[max(dots - 1, 0):] if dots else node.value
    if isinstance(node, ast.BinOp):
        return start(node.left, package)
    if isinstance(node, ast.JoinedStr):
        return start(node.values[0], package)
    return ".".join(package) if isinstance(node, ast.FormattedValue) and ast.unparse(node.value) == "__name__" else "collet"


def imported(node, name):
    """The modules that a node of the module `name` imports, as collet.a.b."""
    package = ["collet", *name.split("/")[:-1]]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = [*package[:len(package) - node.level + 1], *filter(None, [node.module])] if node.level else [node.module]
        return [".".join([*base, alias.name]) for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS:
        return [start(node.args[0], package)]
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules":
        return [start(node.slice, package)]
    return []


def module_of(dotted):
    """The module of the package with which the name begins, as a/b; None if it is of another package."""
    first, *rest = dotted.split(".")
    if first != "collet":
        return None
    for count in range(len(rest), 0, -1):
        name = "/".join(rest[:count])
        found = [n for n in (name, name + "/__init__") if n in FILES or n in RANKS]
        if found:
            return found[0]
    return "__init__"


def check(name, where, dotted):
    target = module_of(dotted)
    if target and rank(target) is not None and rank(target) > rank(name):
        faults.append(f"{where}: {LAYERS[rank(name)][0]} imports {dotted} of {LAYERS[rank(target)][0]} a layer above")


for name, path in sorted(FILES.items()):
    if rank(name) is None:
        faults.append(f"{path}: layers.txt has no layer for it")
    elif name != "__init__":
        for node in nodes(ast.parse(path.read_text())):
            for dotted in imported(node, name):
                check(name, f"{path}:{node.lineno}", dotted)
for path in sorted((ROOT / "src").glob("*/*.c")):
    for found in re.finditer(r'PyImport_ImportModule\("(collet[.\w]*)"', path.read_text()):
        check(f"src/{path.parent.name}", path, found[1])
faults += [f"layers.txt: {name} is not a module" for name in RANKS if not any(
    (ROOT / folder / name.rstrip("/")).with_suffix(suffix).exists() for folder in ("", "collet") for suffix in ("", ".py", ".pyi"))]
print("".join(f"FAULT: {fault}\n" for fault in faults), end="")
sys.exit(bool(faults))
