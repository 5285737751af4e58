# SPDX-License-Identifier: Apache-2.0
"""The C reference: a page for each public header, with its comments as text and its declarations."""

import re
import textwrap

from prose import escaped, to_rst

# A comment at the start of a line, or a declaration up to the line that ends it.
PIECE = re.compile(r"^/\*.*?\*/[ \t]*\n|^#define (?:[^\n]*\\\n)*[^\n]*\n|^(?:static inline|COLLET_API|typedef|enum|struct|COLLET_ENUM).*?(?:^\}[^\n]*\n|;[^\n]*\n)",
                   re.DOTALL | re.MULTILINE)
PLAIN = re.compile(r"^(?:COLLET_API|typedef(?! (?:struct|enum|union) \w+ \{)|static inline)[^{]*?;[^\n]*\n", re.DOTALL | re.MULTILINE)


def comment(text):
    lines = text.strip()[2:-2].split("\n")
    return textwrap.dedent("\n".join([lines[0].strip(), *(re.sub(r"^ \* ?", "", line) for line in lines[1:])])).strip("\n")


def declaration(text, said):
    """A directive of Sphinx's domain c. Structures and enumerations are shown as in the source, because their members
    have comments."""
    code = ".. code-block:: c\n\n" + textwrap.indent(text.rstrip(), "   ") + "\n"
    head = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text.partition("{")[0], flags=re.DOTALL)).strip(" ;")
    head = re.sub(r"^(COLLET_API|static inline) | ?COLLET_(PRINTF|NORETURN)\([^)]*\)", "", head)
    if match := re.match(r"#define (\w+(?:\([^)]*\))?)", text):
        return "" if match[1].endswith("_H") else f".. c:macro:: {match[1]}\n\n" + textwrap.indent(code, "   ") if said else code
    if match := re.match(r"typedef (struct|union|enum) (\w+) \{", text):
        return f".. c:{match[1]}:: {match[2]}\n\n" + textwrap.indent(code, "   ")
    if match := re.match(r"typedef (?:struct|enum) (\w+) (\w+)$", head):
        return f".. c:type:: {match[2]}\n"
    if text.startswith(("COLLET_API", "static inline")):
        return f".. c:function:: {head}\n"
    return code


def pieces(text):
    at = 0
    while match := PIECE.search(text, at):
        plain = PLAIN.match(text, match.start())
        match = plain or match
        yield match.start(), match[0]
        at = match.end()


def page(title, text):
    head, *rest = pieces(text.partition("*/\n")[2])
    out, said, end = [title, "=" * len(title), "", to_rst(re.sub(r"^\S+ - ", "", comment(head[1]))), ""], None, 0
    body = text.partition("*/\n")[2]
    for start, piece in rest:
        gap = body[end:start].strip() if end else ""
        if said is not None and piece.startswith("/*"):  # a comment on all that follows, not on one declaration
            out += [to_rst(said), ""]
            said = None
        if piece.startswith("/*"):
            if heading := re.match(r"/\* -{3,} (.*?) -{3,}", piece):
                out += [escaped(heading[1]), "-" * len(escaped(heading[1])), ""]
            else:
                said = comment(piece)
        elif made := declaration(piece, said):
            out += [made, textwrap.indent(to_rst(said), "   ") if said else "", ""]
            if said and made.startswith(".. code-block"):
                out[-2:] = ["", to_rst(said), ""]
            said = None
        end = start + len(piece)
    return "\n".join(out + ([to_rst(said)] if said else [])) + "\n"


def pages(root):
    """Yields (name, text)."""
    found = sorted([*(root / "include/collet").glob("*.h"), *(root / "engines").glob("*/include/collet/*.h")], key=lambda path: path.name)
    for path in found:
        yield f"c/{path.stem}.rst", page(f"collet/{path.name}", path.read_text())
    for path in sorted((root / "include/collet/ops").glob("*.h")):
        yield f"c/ops-{path.stem}.rst", page(f"collet/ops/{path.name}", path.read_text())
    yield "c.md", ("# The C interface\n\nFrom the comments of the public headers. [Programs in C](../programs.md) begins, and "
                   "[the ops](ops.md) have the calls `collet_op_NAME`.\n\n```{toctree}\n:glob:\n:maxdepth: 1\n\nc/*\n```\n")
