# SPDX-License-Identifier: Apache-2.0
"""Copies the documents into Sphinx's folder of sources and adds the pages that are made: a page for each op, each public header
and each module of the Python package, and the plots of figures."""

import inspect
import json
import pathlib
import re
import shutil

import collet
import headers
import plots
import prose

LETTERS = {"f": "f32", "d": "f64", "h": "f16", "b": "bf16", "c": "c64", "z": "c128", "a": "i8", "A": "u8", "s": "i16", "S": "u16",
           "i": "i32", "I": "u32", "l": "i64", "L": "u64", "B": "bool", "*": "any real", "?": "any", "=": "as the first"}
# A page that introduces a folder, and the other pages of the folder: their list of contents is added to the first page.
GROUPS = {"docs/python/README.md": "*", "docs/benchmarks/README.md": "*", "plugins/README.md": "../docs/plugins/*",
          "docs/KERNELS.md": "kernels/*", "CONTRIBUTING.md": "docs/contributing/*",
          "docs/tutorials/README.md": "../notebooks/trajectory\n../notebooks/scattering\n../notebooks/ternary\narrays\nbackend"}
NEXT = ",\n    "  # between parameters of a call
MODULES = ["bench", "fft", "linalg", "md", "md.analysis", "random", "scatter", "ternary"]


def write(path, text):
    """Writes the file only if the text has changed, so that Sphinx reads only what is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy(root, source):
    for path in (p for folder in ("docs", "examples") for p in (root / folder).rglob("*")):
        if path.is_file() and "site" not in path.relative_to(root).parts and path.suffix not in (".md", ".ipynb", ".pyc"):
            to = source / path.relative_to(root)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)
    texts = {path.relative_to(root): path.read_text() for path in [
        *root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md"), root / "core/DESIGN.md", root / "LICENSE",
        root / "plugins/README.md", root / "python/README.md", root / "python/cyrsoxs/README.md", root / "conformance/README.md"]}
    index = texts.pop(pathlib.Path("docs/site/index.md"))
    texts[pathlib.Path("index.md")] = index.replace("](../../", "](").replace("](../", "](docs/")
    for path, text in texts.items():
        if pages := GROUPS.get(str(path)):
            text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{pages}\n```\n"
        write(source / path, text.replace(".ipynb)", ".md)"))
    for path in (root / "docs/notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        text = "\n\n".join(f"```python\n{''.join(c['source'])}\n```" if c["cell_type"] == "code" else "".join(c["source"]) for c in cells)
        write(source / "docs/notebooks" / f"{path.stem}.md", text + "\n")


# ---- Ops ------------------------------------------------------------------------------------------


def backends(root):
    """{backend: its ops}, from the manifests of the build."""
    return {path.parent.name: set(json.loads(path.read_text())["kernels"])
            for path in sorted((root / "build/generated/manifests").glob("*/manifest.json"))}


def table(head, rows):
    cell = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def definitions(root, family, name):
    """The items of the family's page that define this op: the items that begin with its name, possibly with other
    names."""
    text = (root / f"docs/kernels/{family}.md").read_text()
    items = re.findall(r"^- (?:.|\n(?!- |\n|#))*", text, re.MULTILINE)
    return [item for item in items if f"`{name}`" in re.split(r"\. |[:=]| within ", item)[0]]


def dtypes(sigs):
    def words(letters):
        return ", ".join(LETTERS[letter] for letter in letters)
    return [[words(sig.partition(":")[0]), words(sig.partition(":")[2]) or "none"] for sig in sigs.split()]


def described(root):
    """The comments in front of ops, and the ops' typed calls in C, from include/collet/ops/*.def."""
    text = "".join(path.read_text() for path in sorted((root / "include/collet/ops").glob("*.def")))
    said = {name: headers.comment(comment) for comment, name in
            re.findall(r"(/\*(?:(?!\*/).)*\*/)\nCOLLET_OP\(\w+, \d+, (\w+),", text, re.DOTALL)}
    calls = {name: [*(f"collet_array *{o}" for o in outs.split(", ")), *(f"const collet_array *{i}" for i in ins.split(", ") if i),
                    *([f"const {params} *params"] if params else [])]
             for name, outs, ins, params in re.findall(r"COLLET_CALL(?:_PARAMS)?\(\w+, (\w+), \(([^)]*)\), \(([^)]*)\)(?:, (\w+))?\)", text)}
    for name, count in re.findall(r"COLLET_ELEMENTWISE\(\w+, \d+, (\w+), (\d)", text):
        calls[name] = ["collet_array *out", *(f"const collet_array *{i}" for i in "abc"[:int(count)])]
    return said, calls


def op_page(root, name, op, limits, has, said, calls):
    outputs, _, inputs = (part.strip() for part in op["shapes"].partition(":"))
    call = re.sub(r"\s+", " ", str(inspect.signature(getattr(collet.op, name))))
    # `orphan`: the page is in no list of contents, because each page would repeat the names of all ops.
    parts = [f"---\norphan: true\n---\n# {name}", f"An op of the family [{op['family']}](../{op['family']}.md): " + op["summary"]+ ".",
             f"```python\ncollet.op.{name}{call}\n```",
             f"```c\ncollet_status collet_op_{name}(\n    {NEXT.join(['collet_context *context', *calls[name]])});\n```" if name in calls else
             f"In C: `collet_op_{name}` in [collet/ops/{op['family']}.h](../../c/ops-{op['family']}.rst), or `collet_call`.",
             f"```{{eval-rst}}\n{prose.to_rst(said[name])}\n```" if name in said else "",
             "## Shapes\n\n" + table(["", "Operand and its axes"], [
                 *(["output", f"`{o}`"] for o in outputs.split()), *(["input", f"`{i}`"] for i in inputs.split())])
             + "\n`...`: any axes, broadcast; `*`: any axes; a letter: one extent, the same wherever it occurs; `?`: may be absent."]
    if op["fields"]:
        parts.append("## Parameters\n\n" + table(["Name", "Meaning", "Default"], [
            [f"`{f['name']}`", f["meaning"] + (f": {f['choices']}" if f["choices"] else ""), f["default"]] for f in op["fields"]]))
    parts.append("## Dtypes\n\n" + table(["Outputs", "Inputs"], dtypes(op["sigs"])))
    limit = limits.get(name)
    defined = definitions(root, op["family"], name)
    parts.append("## Definition and limits\n\n" + (f"The error of f32 and f64 is at most {limit} ulp.\n\n" if limit and limit != "0" else
                 "The result is exact, or the nearest number.\n\n" if limit else "") + "".join(item + "\n" for item in defined)
                 + f"\n[All definitions of the family {op['family']}](../../../kernels/{op['family']}.md) include the rules that hold for several ops.")
    parts.append("## Backends\n\n" + table(list(has), [["yes" if name in ops else "no" for ops in has.values()]]))
    return "\n\n".join(parts) + "\n"


def ops(root, source):
    limits = {row[0]: row[1] for row in re.findall(
        r"COLLET_ELEMENTWISE\(\w+, \d+, (\w+), \d, \w+, \w+, ([\d.]+),", (root / "include/collet/ops/elementwise.def").read_text())}
    has, families, (said, calls) = backends(root), {}, described(root)
    for name in sorted(collet.op.names()):
        op = collet.op.describe(name)
        families.setdefault(op["family"], []).append((name, op))
        write(source / f"docs/reference/ops/{op['family']}/{name}.md", op_page(root, name, op, limits, has, said, calls))
    for family, members in families.items():
        write(source / f"docs/reference/ops/{family}.md", f"# {family}\n\n[Definitions](../../kernels/{family}.md). Which backend has which op:\n\n" +
              table(["Op", "What it computes", *has], [[f"[{n}]({family}/{n}.md)", op["summary"], *("yes" if n in ops else "no" for ops in has.values())]
                                                       for n, op in members]))
    write(source / "docs/reference/ops.md", f"# Ops\n\n{sum(map(len, families.values()))} ops in {len(families)} families, from their descriptions "
          "in `include/collet/ops/`. In C they are called `collet_op_NAME`, in Python `collet.op.NAME`.\n\n" +
          table(["Family", "Ops"], [[f"[{f}](ops/{f}.md)", ", ".join(f"[{n}](ops/{f}/{n}.md)" for n, _ in m)] for f, m in families.items()])
          + "\n```{toctree}\n:hidden:\n:glob:\n\nops/*\n```\n")


# ---- The Python package ---------------------------------------------------------------------------


def python(root, source):
    """Writes a page for each module, and for `collet` itself a page for each first letter of its names."""
    def page(name, title, module, members):
        lines = [title, "=" * len(title), "", f".. py:currentmodule:: {module}", ""]
        if module != "collet":
            lines += [f".. automodule:: {module}", "   :no-index:", ""]
        for member in members:
            kind = "autoclass" if inspect.isclass(getattr(eval(module, {"collet": collet}), member)) else "autofunction"
            lines += [f".. {kind}:: {module}.{member}"] + (["   :members:"] if kind == "autoclass" else []) + [""]
        write(source / f"docs/reference/python/{name}.rst", "\n".join(lines))

    def documented(module):
        """The documented names of the module, without NumPy's classes that it exports."""
        members = [(n, getattr(module, n)) for n in dir(module) if not n.startswith("_")]
        return [n for n, value in members if callable(value) and getattr(value, "__doc__", None) and
                not (inspect.isclass(value) and not value.__module__.startswith("collet"))]
    own = documented(collet)
    classes = [n for n in own if inspect.isclass(getattr(collet, n))]
    page("collet-classes", "collet: classes and errors", "collet", classes)
    functions = sorted((n for n in own if not inspect.isclass(getattr(collet, n))), key=str.lower)
    for first, last in ("ac", "de", "fl", "mp", "qs", "tz"):
        page(f"collet-{first}", f"collet: functions, {first} to {last}", "collet", [n for n in functions if first <= n[0].lower() <= last])
    for name in MODULES:
        __import__(f"collet.{name}")
        module = eval(f"collet.{name}", {"collet": collet})
        page(name, f"collet.{name}", f"collet.{name}", documented(module))
    write(source / "docs/reference/python.md", "# The Python package\n\nFrom the docstrings. [Collet in Python](../python/README.md) has the examples and the context.\n\n"
          "```{toctree}\n:glob:\n:maxdepth: 1\n\npython/*\n```\n")


def make(root, source):
    copy(root, source)
    ops(root, source)
    python(root, source)
    for name, text in headers.pages(root):
        write(source / "docs/reference" / name, text)
    write(source / "docs/figures.md", plots.page(root, source / "pictures"))
