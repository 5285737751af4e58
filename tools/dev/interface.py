#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interface.py [FILE]: writes the frozen description of the C interface (default: tests/abi/interface.c).

The description is a C file. It compiles and links as long as everything that a compiled program relies on is unchanged:
functions with their types, members of structs with their types and offsets, sizes, enumerators, constants. The test
abi_interface compiles it with the current headers and links it with the current libraries. Run this script at a
release, and before the first release after each change of the interface. The interface of plugins (plugin.h,
extensions.h) is not described. Needs pycparser (Debian: python3-pycparser) and a C compiler.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from pycparser import c_ast, c_generator, c_parser

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDES = [ROOT / "include", *sorted(ROOT.glob("engines/*/include"))]
# Headers that are left out: the headers of the interface of plugins, and headers with only inline functions or
# descriptions of kernels.
NO_PART = ("collet/plugin.h", "collet/extensions.h", "collet/ops.h", "collet/ops/typed.h", "collet/floating.h")
# The types of the C library that the headers use, as names for the parser.
LIBRARY = {"stdint.h": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
           "stddef.h": "size_t", "fenv.h": "fenv_t"}
# These values change with new versions; programs do not rely on them.
COUNTS = re.compile(r"COLLET_(VERSION.*|ABI.*|DTYPE_COUNT)$")


def headers():
    found = [str(h.relative_to(d)) for d in INCLUDES for h in sorted((d / "collet").rglob("*.h"))]
    return [h for h in found if h not in NO_PART]


def preprocessed(*flags):
    """The public headers after the preprocessor, with stand-ins for the headers of the C library."""
    with tempfile.TemporaryDirectory() as stand_ins:
        for name, types in LIBRARY.items():
            text = "#pragma once\n" + "".join(f"typedef int {t};\n" for t in types.split())
            pathlib.Path(stand_ins, name).write_text(text)
        command = [os.environ.get("CC", "cc"), "-E", "-nostdinc", *flags, "-D__attribute__(x)=", "-D__extension__=",
                   f"-I{stand_ins}", *(f"-I{d}" for d in INCLUDES), "-x", "c", "-"]
        text = "".join(f"#include <{h}>\n" for h in headers())
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def declared(kind, name=""):
    """The C text of a declaration of `name` with the type `kind`; without a name, the text of the type."""
    def inner(node):
        if isinstance(node, c_ast.TypeDecl):
            return c_ast.TypeDecl(name, node.quals, node.align, node.type)
        copy = type(node)(**{s: getattr(node, s) for s in node.__slots__ if s not in ("coord", "__weakref__")})
        copy.type = inner(node.type)
        return copy
    kind = inner(kind)
    return c_generator.CGenerator().visit(c_ast.Decl(name, [], [], [], [], kind, None, None) if name else kind)


def structs(tree):
    """The name and the members of each struct that has a typedef."""
    bodies = {n.type.name: n.type for n in tree.ext if isinstance(n, c_ast.Decl) and isinstance(n.type, c_ast.Struct)}
    for node in tree.ext:
        if isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.TypeDecl):
            struct = node.type.type
            if isinstance(struct, c_ast.Struct):
                members = struct.decls or getattr(bodies.get(struct.name), "decls", None)
                if members:
                    yield node.name, members


def flat(members):
    """The members; a union is replaced by its own members, with names such as value.real."""
    for member in members:
        union = getattr(member.type, "type", None)
        if not isinstance(union, c_ast.Union):
            yield member
            continue
        for inner in union.decls:
            yield c_ast.Decl(f"{member.name}.{inner.name}", [], [], [], [], inner.type, None, None)


def of_structs(tree):
    """The C expression of each size or offset, and the line for it in the file, with a placeholder for the value."""
    for name, members in structs(tree):
        grows = members[0].name == "struct_size"
        yield f"sizeof({name})", f"STRUCT({name}, {'>=' if grows else '=='}, %s,"
        for member in flat(members):
            yield f"offsetof({name}, {member.name})", f"MEMBER({member.name}, %s, {declared(member.type)})"


def functions(tree):
    """The names of the functions of each type."""
    found = {}
    for node in tree.ext:
        declaration = node.decl if isinstance(node, c_ast.FuncDef) else node
        if isinstance(declaration, c_ast.Decl) and isinstance(declaration.type, c_ast.FuncDecl):
            kind = c_ast.ArrayDecl(c_ast.PtrDecl([], declaration.type), None, [])
            found.setdefault(declared(kind, "functions_%d"), []).append(declaration.name)
    return found


def types(tree):
    """Rows for the types of callbacks and of numbers."""
    for node in tree.ext:
        kind = node.type if isinstance(node, c_ast.Typedef) else None
        number = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
        if node.name.startswith("collet_") if number or isinstance(kind, c_ast.PtrDecl) else False:
            yield f"TYPE({node.name}, {declared(kind)})\n"


def enumerators(tree):
    for node in tree.ext:
        enum = getattr(node, "type", None)
        while not isinstance(enum, c_ast.Enum) and getattr(enum, "type", None) is not None:
            enum = enum.type
        if isinstance(enum, c_ast.Enum) and enum.values:
            yield from (e.name for e in enum.values.enumerators)


def constants():
    """The names of macros whose value is a number or a sum of numbers."""
    for line in preprocessed("-dM").splitlines():
        found = re.fullmatch(r"#define (COLLET_[A-Z0-9_]+) ([-+*/()0-9xuUlL <|]+)", line)
        if found:
            yield found[1]


def measured(texts):
    """The values of constants, offsets and sizes, which a compiled program prints."""
    lines = [f'printf("%lld\\n", (long long)({text}));' for text in texts]
    text = HEAD.replace("HEADERS", "".join(f"#include <{h}>\n" for h in headers())) + \
        "#include <stdio.h>\nint main(void) { " + "\n".join(lines) + " return 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a")
        source.write_text(text)
        # Inline functions that nothing calls need no library.
        subprocess.run([os.environ.get("CC", "cc"), "-O1", *(f"-I{d}" for d in INCLUDES), source, "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()


HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface as it was frozen; tools/dev/interface.py wrote this file. check.sh compiles and links it. */
#include <stddef.h>
HEADERS"""

MACROS = """
/* The size of a struct (>=: struct_size tells how much of it a caller has, so it may grow), and its members. */
#define STRUCT(type, relation, size, ...) \\
    void check_##type(void) \\
    { \\
        typedef type whole; \\
        _Static_assert(sizeof(whole) relation(size), #type ": size"); \\
        __VA_ARGS__ \\
    }
#define MEMBER(name, offset, ...) \\
    _Static_assert(offsetof(whole, name) == (offset), #name ": offset"); \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(((whole *)0)->name), __VA_ARGS__), #name ": type");
#define TYPE(name, ...) _Static_assert(__builtin_types_compatible_p(name, __VA_ARGS__), #name);
#define VALUE(name, value) _Static_assert((name) == (value), #name);

"""


def filled(words, indent="", end="", start=""):
    """The words in lines of 120 characters; a word is not broken."""
    words = [w.replace(" ", "\0") for w in words]
    lines = textwrap.fill(" ".join(words) + end, 120, initial_indent=start, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)
    return lines.replace("\0", " ") + "\n"


def main():
    if len(sys.argv) > 2 or "-h" in sys.argv or "--help" in sys.argv:
        sys.exit(__doc__)
    tree = c_parser.CParser().parse(preprocessed("-P"))
    names = sorted(n for n in {*enumerators(tree), *constants()} if n.startswith("COLLET_") and not COUNTS.match(n))
    rows = list(of_structs(tree))
    values = measured([*names, *(text for text, _ in rows)])
    out = [HEAD.replace("HEADERS", "".join(f"#include <{h}>\n" for h in headers())), MACROS]
    out += filled(f"VALUE({n}, {v})" for n, v in zip(names, values))
    texts = [text % value for (_, text), value in zip(rows, values[len(names):])]
    starts = [i for i, text in enumerate(texts) if text.startswith("STRUCT")]
    out += [filled(texts[i:k], "    ", ")") for i, k in zip(starts, [*starts[1:], len(texts)])]
    calls = functions(tree)
    out += [*types(tree), "\n/* Each function must have this type, and the libraries must export it. */\n"]
    for i, (kind, same) in enumerate(calls.items()):
        listed = ", ".join(same)
        out.append(f"{kind % i} = {{{listed}}};\n" if len(same) == 1 else f"{kind % i} = {{\n" + filled(listed.split(), "    ", "};", "    "))
    out.append("\nint main(void)\n{\n    return 0;\n}\n")
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/abi/interface.c"
    target.write_text("".join(out))
    print(f"interface.py: {target}: {len(names)} constants, {len(rows)} sizes and members, {sum(map(len, calls.values()))} functions")


main()
