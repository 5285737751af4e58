# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_listing.py
"""dir() of a module: its public names, without the names that it imports for its own use."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def own(members: Mapping[str, Any], more: Iterable[str] = ()) -> list[str]:
    """Selects from the members of a module the functions, classes and constants that it defines, and adds
    `more`."""
    module = members["__name__"]
    return sorted({*more, *(n for n, value in members.items() if n[0] != "_" and
                            (n.isupper() and n != "TYPE_CHECKING" or getattr(value, "__module__", "") == module))})
