#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errors.py SOURCE: checks that the sources contain every message that docs/errors.md lists. "..." stands for a value."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sources = "\n".join(path.read_text() for folder in ("core", "engines", "plugins", "tools", "python")
                    for path in sorted((root / folder).rglob("*")) if path.suffix in (".c", ".h", ".py"))
sources = re.sub(r'%"\s*PRI[a-zA-Z0-9]+\s*"', "...", sources)    # a format between two literals
sources = re.sub(r'"\s*\n?\s*f?"', "", sources)                  # adjacent literals
sources = re.sub(r"%[-+ #0-9.*]*(?:ll|[lzhtj])?[a-zA-Z]|\{[^{}\n]*\}", "...", sources).replace('\\"', '"')
sources = re.sub(r"(?:\.\.\.)+", "...", sources)
messages = re.findall(r"^\| `([^`]+)` \|", (root / "docs/errors.md").read_text(), re.MULTILINE)
missing = [message for message in messages if message not in sources]
if missing or len(messages) < 30:
    sys.exit(f"docs/errors.md has {len(messages)} messages. The sources do not contain: " + "; ".join(missing))
print(len(messages), "messages are in the sources")
