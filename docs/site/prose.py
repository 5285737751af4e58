# SPDX-License-Identifier: Apache-2.0
"""The plain text of comments and docstrings as reStructuredText."""

import re
import textwrap

NAMED = re.compile(r"^([\w.*]+(?:, [\w.*]+)*)(?::|  +)\s*(\S.*)$")  # "mask: a pixel is ..." or "mask    a pixel is ..."


def escaped(text):
    """Text in backticks becomes literal, and no other character has a meaning: FILE:TENSOR is no link."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(f"``{part.strip('`')}``" if i % 2 else re.sub(r"([\\*_|`<>]|:(?=\w))", r"\\\1", part) for i, part in enumerate(parts))


def literal(lines):
    return ".. code-block:: text\n\n" + textwrap.indent(textwrap.dedent("\n".join(lines)), "   ")


def paragraph(lines):
    """Doctests and text that is indented stay as they are. Lines "name: meaning" become a list."""
    if lines[0].startswith(">>>"):  # Pygments 2.21 does not end with some tracebacks
        language = "text" if any(line.startswith("Traceback") for line in lines) else "pycon"
        return f".. code-block:: {language}\n\n" + textwrap.indent("\n".join(lines), "   ")
    if all(line.startswith("    ") for line in lines) or sum(bool(re.match(r" {2,}\S+ {2,}\S", line)) for line in lines) > 1:
        return literal(lines)
    items = []  # the first lines of items, with the lines that follow, which are indented
    for line in lines:
        bullet, named = re.match(r"\s*- (.*)", line), NAMED.match(line)
        if bullet:
            items.append(escaped(bullet[1]))
        elif named and len(lines) > 1 and not line.endswith(".") or named and items:
            items.append(f"``{named[1]}``: {escaped(named[2])}")
        elif items and line.startswith(" "):
            items[-1] += " " + escaped(line.strip())
        elif items:
            return escaped(" ".join(line.strip() for line in lines))
        elif len(lines) > 1 and re.match(r"\s", lines[1]) and line == lines[0]:
            return "\n\n".join([escaped(line), paragraph(textwrap.dedent("\n".join(lines[1:])).split("\n"))])
        else:
            return escaped(" ".join(line.strip() for line in lines))
    return "\n".join("- " + item for item in items)


def to_rst(text):
    text = re.sub(r"^(\w[\w ]*)\n-{3,}\n", r"\1:\n\n", text, flags=re.MULTILINE)  # headings of numpydoc
    text = re.sub(r"(\n {2,}[^\n]*)\n(?=\S)(?!.*\n {2})", r"\1\n\n", "\n" + text)  # a table ends where the indentation does
    parts = [part.rstrip().split("\n") for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip()]
    return "\n\n".join(paragraph(part) for part in parts)
