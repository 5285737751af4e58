# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_lazy.py
"""If an error of a lazy Array occurs late, adds to its text the place in the program that made the Array."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


def _line(code: CodeType, offset: int) -> int:
    lines = (line for start, end, line in code.co_lines() if start <= offset < end and line)
    return next(lines, code.co_firstlineno)


def explain(kind: type[BaseException], error: Any, code: CodeType, offset: int) -> Any:
    """Appends the file and line of the code at an offset to the text of the exception. Exceptions of other
    packages stay unchanged."""
    if not issubclass(kind, _core.Error):
        return error
    text = (f"{error} (while evaluating a lazy Array that was made in {code.co_filename}, line "
            f"{_line(code, offset)})")
    return kind(text) if isinstance(error, BaseException) else text
